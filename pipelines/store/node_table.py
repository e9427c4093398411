"""The tables of an embedding model's nodes: PGVectorStore's, and a table of the vectors that are searched.

A node that is longer than its model's window has several vectors. One row a vector finds more than one pooled vector
a node (docs/decisions/several-vectors-a-node.md), so the vectors that are searched have their own table and HNSW index.
The pooled vector in PGVectorStore's table keeps that table complete for a plain PGVectorStore.
"""

from collections.abc import Mapping, Sequence
from string import ascii_lowercase, digits
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pgvector.sqlalchemy import HALFVEC, Vector
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
    func,
    literal,
    select,
    table,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.exc import DBAPIError

from pipelines.errors import StoreError
from pipelines.observe import log
from pipelines.store.database import writing

HALFVEC_ABOVE = 2000  # an HNSW index takes at most 2,000 dimensions as float4, 4,000 as halfvec
Vectors = NDArray[np.float32]  # (windows, dimension)
Windows = Sequence[Mapping[str, Any]]  # rows: node_id, place among the node's windows, embedding
FILTER_COLUMNS = ("document_id", "collection", "category", "kind", "year")
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


def windows_table(nodes: Table, dimension: int) -> Table:
    """The table of the vectors of the nodes in a table of PGVectorStore's."""
    return Table(
        f"{nodes.name.removeprefix('data_')}_windows",
        MetaData(),
        Column("node_id", String, ForeignKey(nodes.c.node_id, ondelete="CASCADE"), primary_key=True),
        Column("place", SmallInteger, primary_key=True),
        Column("embedding", _vector(dimension), nullable=False),
    )


def pooled(vectors: Vectors) -> NDArray[np.float32]:
    """The direction of the mean of a node's vectors."""
    mean = vectors.mean(axis=0)
    return np.asarray(mean / (np.linalg.norm(mean) or 1.0), dtype=np.float32)


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
