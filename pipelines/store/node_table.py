"""The tables of an embedding model's nodes: PGVectorStore's, and a table of the vectors that are searched.

A node that is longer than its model's window has several vectors. One row a vector finds more than one pooled vector
a node (docs/decisions/several-vectors-a-node.md), so the vectors that are searched have their own table and HNSW index.
The pooled vector in PGVectorStore's table keeps that table complete for a plain PGVectorStore.
"""

from collections.abc import Mapping, Sequence
from string import ascii_lowercase, digits
from typing import Any

import numpy as np
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores.utils import node_to_metadata_dict
from llama_index.vector_stores.postgres import PGVectorStore
from numpy.typing import NDArray
from pgvector.sqlalchemy import HALFVEC, Vector
from pydantic import PrivateAttr
from sqlalchemy import (
    Column,
    Connection,
    Engine,
    ForeignKey,
    MetaData,
    SmallInteger,
    String,
    Table,
    column,
    exists,
    func,
    literal,
    select,
    table,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.exc import DBAPIError

from pipelines.errors import ConfigError, StoreError
from pipelines.observe import log
from pipelines.store import schema as tables
from pipelines.store.database import append_rows, writing

HALFVEC_ABOVE = 2000  # an HNSW index takes at most 2,000 dimensions as float4, 4,000 as halfvec
Vectors = NDArray[np.float32]  # (windows, dimension)
Windows = Sequence[Mapping[str, Any]]  # rows: node_id, place among the node's windows, embedding
_FILTER_COLUMNS = ("document_id", "collection", "category", "kind", "year")
_IN_NAME = frozenset(f"{ascii_lowercase}{digits}_")
_MAX_NAME = 50


def node_table(slug: str, version: int = 1) -> str:
    """The table of an embedding model's nodes, without PGVectorStore's `data_` prefix."""
    return f"nodes_{slug}_v{version}"


def hnsw_statement(table: str, dimension: int) -> str:
    """The DDL of the vector index, with the operator class that the cosine query uses."""
    operators = "halfvec_cosine_ops" if dimension > HALFVEC_ABOVE else "vector_cosine_ops"
    return (
        f"CREATE INDEX IF NOT EXISTS {checked(table)}_hnsw ON {table}_windows "
        f"USING hnsw (embedding {operators}) WITH (m = 16, ef_construction = 64)"
    )


def checked(table: str) -> str:
    """The name, which is part of SQL text.

    Raises:
        StoreError: If it has a character that `node_table` does not use.
    """
    if not 0 < len(table) <= _MAX_NAME or not _IN_NAME.issuperset(table):
        raise StoreError(f"{table!r} is not a node table.", hint="Run `footnote doctor`.")
    return table


def node_rows(name: str) -> Any:
    """A node table by name, for statements that need no model."""
    return table(
        f"data_{checked(name)}", column("node_id"), column("text"), column("metadata_", JSONB), column("embedding")
    )


def window_rows(name: str, dimension: int | None = None) -> Any:
    """The vectors of a node table by name; reading or comparing them needs their dimension."""
    embedding = column("embedding", None if dimension is None else _vector(dimension))
    return table(f"{checked(name)}_windows", column("node_id"), embedding)


def _vector(dimension: int) -> HALFVEC | Vector:
    return HALFVEC(dimension) if dimension > HALFVEC_ABOVE else Vector(dimension)


def pooled(vectors: Vectors) -> NDArray[np.float32]:
    """The direction of the mean of a node's vectors."""
    mean = vectors.mean(axis=0)
    return np.asarray(mean / (np.linalg.norm(mean) or 1.0), dtype=np.float32)


class NodeTable(PGVectorStore):
    """The two tables of one model's nodes.

    PGVectorStore's own holds node_id, text, metadata_ and the pooled embedding; the other one holds the vectors that
    are searched, which are deleted with their node.
    """

    _windows: Table = PrivateAttr()
    _versions_kept: int = PrivateAttr(default=5)

    def __init__(self, engine: Engine, table: str, dimension: int) -> None:
        super().__init__(
            table_name=checked(table),
            embed_dim=dimension,
            perform_setup=False,
            use_jsonb=True,
            use_halfvec=dimension > HALFVEC_ABOVE,
        )
        self._engine = engine
        self._windows = Table(
            f"{table}_windows",
            MetaData(),
            Column("node_id", String, ForeignKey(self._nodes.c.node_id, ondelete="CASCADE"), primary_key=True),
            Column("place", SmallInteger, primary_key=True),
            Column("embedding", _vector(dimension), nullable=False),
        )

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex knows the class."""
        return cls.__name__

    @classmethod
    def from_params(cls, *args: Any, **kwargs: Any) -> PGVectorStore:
        """Refused: a node table belongs to an embedding model in a migrated database.

        Raises:
            ConfigError: Always.
        """
        raise ConfigError("A Footnote store has no from_params.", hint="Use build_vector_store.")

    @property
    def engine(self) -> Engine:
        """The engine of the database; the store never disposes of it."""
        assert self._engine is not None
        return self._engine

    @property
    def client(self) -> Engine:
        """The engine, under LlamaIndex's name."""
        return self.engine

    @property
    def table(self) -> str:
        """The name of the node table, without PGVectorStore's `data_` prefix."""
        return self.table_name

    @property
    def dimension(self) -> int:
        """The dimension of the vectors."""
        return self.embed_dim

    @property
    def versions_kept(self) -> int:
        """The number of versions of a document that are kept for undo."""
        return self._versions_kept

    @property
    def _nodes(self) -> Table:
        nodes: Table = self._table_class.__table__
        return nodes

    def append(self, connection: Connection, written: Sequence[tuple[TextNode, Vectors]], windows: Windows) -> None:
        """Add nodes, each under the mean of its windows' vectors, and the windows that are searched.

        The rows are those that PGVectorStore would write.
        """
        nodes = [
            {
                "node_id": node.node_id,
                "text": node.get_content(),
                "metadata_": node_to_metadata_dict(node, remove_text=True, flat_metadata=self.flat_metadata),
                "embedding": pooled(vectors),
            }
            for node, vectors in written
        ]
        append_rows(connection, self._nodes, nodes)
        append_rows(connection, self._windows, windows)

    def ensure(self, provider: str, model: str) -> None:
        """Make the tables and their indexes when they are missing; safe from several processes.

        Raises:
            ConfigError: If they hold vectors of another dimension.
        """
        name = self._nodes.name
        with self.engine.begin() as connection:
            if self._assert_dimension(connection):
                return
            connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:t, 0))"), {"t": name})
            self._nodes.create(connection, checkfirst=True)
            connection.execute(text(f"CREATE UNIQUE INDEX IF NOT EXISTS {name}_id ON {name} (node_id)"))
            self._windows.create(connection, checkfirst=True)
            connection.execute(text(hnsw_statement(self.table, self.dimension)))
            for key in _FILTER_COLUMNS:
                connection.execute(text(f"CREATE INDEX IF NOT EXISTS {name}_{key} ON {name} ((metadata_ ->> '{key}'))"))
            connection.execute(
                upsert(tables.embedding_models)
                .values(
                    node_table=self.table,
                    provider=provider,
                    model=model,
                    dimension=self.dimension,
                    active=~exists().where(tables.embedding_models.c.active),
                )
                .on_conflict_do_nothing()
            )

    def _assert_dimension(self, connection: Connection) -> bool:
        """True if the table exists.

        Raises:
            ConfigError: If it holds vectors of another dimension.
        """
        stored = stored_dimension(connection, self.table)
        if stored is not None and stored != self.dimension:
            raise ConfigError(
                f"The table {self._nodes.name} holds vectors of {stored} dimensions, and the model gives "
                f"{self.dimension}.",
                hint=f"Set FOOTNOTE_EMBEDDING__DIMENSION={stored}, or change FOOTNOTE_EMBEDDING__MODEL.",
            )
        return stored is not None


def stored_dimension(connection: Connection, table: str) -> int | None:
    """The dimension of a node table's vectors; None if there is no such table."""
    dimension: int | None = connection.execute(
        text("SELECT atttypmod FROM pg_attribute WHERE attrelid = to_regclass(:t) AND attname = 'embedding'"),
        {"t": f"data_{table}"},
    ).scalar()
    return dimension


_MANY = 256  # documents: fewer are added to the present index
_FEW = 5000  # vectors, which are compared in a few milliseconds
_PATIENCE = "1s"  # for searches to end


def set_vector_index_aside(engine: Engine, table: str, coming: int) -> None:
    """Drop the index if so many documents are coming that building it afterwards is cheaper than keeping it.

    It stays if the table holds many vectors already, or if a search keeps reading it.
    """
    if coming < _MANY:
        return
    try:
        with engine.begin() as connection:
            some = select(literal(1)).select_from(window_rows(table)).limit(_FEW + 1)
            stored = connection.execute(select(func.count()).select_from(some.subquery())).scalar_one()
            if stored <= min(coming, _FEW) and _has_index(connection, table):
                connection.execute(text(f"SET LOCAL lock_timeout = '{_PATIENCE}'"))
                connection.execute(text(f"DROP INDEX IF EXISTS {table}_hnsw"))
                log("info", "vector index set aside", table=table, vectors=stored)
    except DBAPIError as error:
        log("info", "vector index kept", table=table, error=type(error.orig).__name__)


def make_vector_index(engine: Engine, table: str, dimension: int) -> bool:
    """Build the index if it is missing, and return whether it was; searches continue meanwhile."""
    with writing(engine, "making the vector index") as connection:
        if _has_index(connection, table):
            return False
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:t, 0))"), {"t": f"{table}_hnsw"})
        connection.execute(text(hnsw_statement(table, dimension)))
    log("info", "vector index made", table=table)
    return True


def _has_index(connection: Connection, table: str) -> bool:
    return connection.execute(text("SELECT to_regclass(:name)"), {"name": f"{table}_hnsw"}).scalar() is not None
