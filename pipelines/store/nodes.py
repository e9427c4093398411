"""NodeStore: writes documents and nodes, each document in one transaction; `reads.py` has the reads."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from llama_index.core.schema import BaseNode, TextNode
from numpy.typing import NDArray
from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Integer,
    String,
    cast,
    column,
    delete,
    func,
    insert,
    literal,
    select,
    table,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from config.settings import Settings
from pipelines.errors import StoreError
from pipelines.store import documents as document_rows
from pipelines.store import tables
from pipelines.store.database import Database, translate
from pipelines.store.facts import write_facts
from pipelines.store.families import forget_families, write_families
from pipelines.store.headers import forget_headers
from pipelines.store.lexical import Parameters
from pipelines.store.lexical_snapshots import LexicalIndexes
from pipelines.store.node_table import node_table
from pipelines.store.reads import NodeReader, segment
from pipelines.store.space import Spaces
from pipelines.store.tokens import TOKENISER_VERSION
from pipelines.types import Document, EmbeddingIdentity

_NODE_METADATA_OF_DOCUMENT = ("collection", "category", "subcategory", "visibility", "source", "title")
Within = Callable[[Connection, int | None], None]
Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Made:
    """What made a document's nodes: the parser's name, and the recipe of code versions and sizes."""

    parser: str
    recipe: str


def build_node_store(settings: Settings, database: Database, identity: EmbeddingIdentity) -> "NodeStore":
    """The store of this embedding model's nodes, its table in place."""
    store = NodeStore(
        database.engine,
        node_table(identity.slug),
        identity.dimension,
        versions_kept=settings.ingestion.versions_kept,
    )
    store.ensure(identity.provider, identity.model)
    return store


def build_lexical_indexes(settings: Settings, database: Database, store: "NodeStore") -> LexicalIndexes:
    """The BM25 snapshots of this store, kept under FOOTNOTE_HOME."""
    bm25 = settings.retrieval
    return LexicalIndexes(
        snapshots(settings, database, store),
        store.version,
        store.segments,
        Parameters(bm25.bm25_k1, bm25.bm25_b, bm25.header_weight, bm25.pair_weight),
    )


def build_spaces(settings: Settings, database: Database, store: "NodeStore") -> Spaces:
    """What the vectors of this store have in common, kept under FOOTNOTE_HOME."""
    return Spaces(snapshots(settings, database, store), store.some_vectors, store.version)


def snapshots(settings: Settings, database: Database, store: "NodeStore") -> Path:
    """The folder of what is derived from this store and kept between processes."""
    where = hashlib.sha256(database.url.encode()).hexdigest()[:12]
    return settings.home.resolve() / "lexical" / where / store.table


class NodeStore(NodeReader):
    """The nodes of one embedding model; what it adds to reading them are writes, each one transaction."""

    def __init__(self, engine: Engine, table: str, dimension: int, *, versions_kept: int = 5) -> None:
        super().__init__(engine, table, dimension)
        self._versions_kept = versions_kept

    def ensure(self, provider: str, model: str) -> None:
        """Make the tables of this model's nodes when they are missing.

        Raises:
            ConfigError: If they hold vectors of another dimension.
        """
        self._shape.ensure(provider, model)

    def replace(
        self,
        document: Document,
        nodes: Sequence[TextNode],
        vectors: Sequence[Vectors],
        made_by: Made,
        within: Within | None = None,
    ) -> bool:
        """Make `nodes` the nodes of `document`, in one transaction; the old version is kept for undo.

        Args:
            document: The new version; its row is written in the same transaction.
            nodes: In order, each a span of the document's text.
            vectors: For each node, its windows' vectors, (windows, dimension), normalised.
            made_by: What made the nodes; stored, and compared by the next plan.
            within: Called with the open connection and the id of the version that was kept, before the commit, for
                the run's own rows; not when nothing is written.

        Returns:
            False when another process had already written just this version.

        Raises:
            StoreError: If a span, an id or a vector breaks the contract, or the database refuses; nothing is written.
            ServiceUnavailable: If the database cannot be reached; nothing is written.
        """
        self._assert_contract(document, nodes, vectors)
        state = {"content_sha": document.content_sha, "recipe": made_by.recipe}
        try:
            with self.engine.begin() as connection:
                _lock_document(connection, document.id)
                written = document_rows.index_state(connection, document.id, self.table) != state
                if written:
                    version = document_rows.write(connection, document, keep=self._versions_kept)
                    self._drop_elsewhere(connection, document.id)
                    self._swap_nodes(connection, document, nodes, vectors)
                    write_facts(connection, document.id, nodes)
                    write_families(connection, document.id, document.mime, nodes)
                    document_rows.write_index(
                        connection, document.id, self.table, **state, parser=made_by.parser, nodes=len(nodes),
                        covered=covered_characters(document.text, nodes),
                        characters=sum(map(len, document.text.split())),
                    )  # fmt: skip
                    if within:
                        within(connection, version)
                    _bump(connection, document.id)
        except DBAPIError as error:
            raise translate(error, f"writing {document.name}") from error
        return written

    def _assert_contract(self, document: Document, nodes: Sequence[TextNode], vectors: Sequence[Vectors]) -> None:
        if not nodes:
            raise StoreError(f"{document.name} has no nodes.", hint="A document without text is a failure, not empty.")
        if len({node.node_id for node in nodes}) != len(nodes):
            raise StoreError(f"Two nodes of {document.name} have the same id.")
        for node, windows in zip(nodes, vectors, strict=True):
            start, end, ordinal = (node.metadata[name] for name in ("start", "end", "ordinal"))
            if node.metadata["document_id"] != document.id or document.text[start:end] != node.text:
                raise StoreError(f"Node {ordinal} of {document.name} is not its span {start}:{end}.")
            if windows.ndim != 2 or not len(windows) or windows.shape[1] != self.dimension:
                raise StoreError(f"Node {ordinal} of {document.name} has no {self.dimension}-d vector.")
            if not np.isfinite(windows).all():
                raise StoreError(f"A vector of node {ordinal} of {document.name} is not finite.")

    def _swap_nodes(
        self, connection: Connection, document: Document, nodes: Sequence[TextNode], vectors: Sequence[Vectors]
    ) -> None:
        self._delete_nodes(connection, document.id, self.table)
        with Session(bind=connection) as session:
            session.add_all([self._shape.row(node, windows) for node, windows in zip(nodes, vectors, strict=True)])
            session.flush()
        connection.execute(insert(self._windows), _placed(nodes, vectors))
        segments = [
            {
                "node_table": self.table,
                "node_id": node.node_id,
                "document_id": document.id,
                "tokeniser": TOKENISER_VERSION,
                "tokens": segment(node, document.mime),
            }
            for node in nodes
        ]
        connection.execute(insert(tables.lexical_segments), segments)

    def _drop_elsewhere(self, connection: Connection, document_id: str) -> None:
        """Delete what other models' tables hold of a document that changes here: it would be of an older text."""
        for other in document_rows.node_tables(connection, document_id) - {self.table}:
            self._delete_nodes(connection, document_id, other)
            document_rows.delete_index(connection, document_id, other)

    def _delete_nodes(self, connection: Connection, document_id: str, node_table: str) -> int:
        segments = tables.lexical_segments
        connection.execute(
            delete(segments).where(segments.c.document_id == document_id, segments.c.node_table == node_table)
        )
        rows = table(f"data_{node_table}", column("metadata_", JSONB))
        gone = connection.execute(delete(rows).where(rows.c.metadata_["document_id"].astext == document_id))
        return int(gone.rowcount)

    def remove(self, document_id: str, within: Within | None = None) -> int:
        """Delete a document with its nodes in every table, in one transaction; returns its node count here."""
        try:
            with self.engine.begin() as connection:
                _lock_document(connection, document_id)
                gone = self._delete_nodes(connection, document_id, self.table)
                for other in document_rows.node_tables(connection, document_id) - {self.table}:
                    self._delete_nodes(connection, document_id, other)
                forget_families(connection, document_id)
                forget_headers(connection, document_id)
                version = document_rows.delete_document(connection, document_id, keep=self._versions_kept)
                if within:
                    within(connection, version)
                _bump(connection, document_id)
        except DBAPIError as error:
            raise translate(error, f"removing document {document_id}") from error
        return gone

    def update_metadata(self, document: Document, within: Within | None = None) -> int:
        """Write a document's facts to its row and its nodes, vectors untouched; returns the nodes changed.

        Both copies of a node's metadata are changed: the columns that filters read, and LlamaIndex's own node. Line
        numbers move with what stands before the text.
        """
        rows = self._rows.__table__
        inner = cast(rows.c.metadata_["_node_content"].astext, JSONB)
        try:
            with self.engine.begin() as connection:
                _lock_document(connection, document.id)
                facts = self._facts_of(document, document_rows.first_line(connection, document.id))
                patched = func.jsonb_set(inner, "{metadata}", inner["metadata"].op("||")(facts))
                version = document_rows.write(connection, document, keep=self._versions_kept)
                self._drop_elsewhere(connection, document.id)
                changed = connection.execute(
                    update(rows)
                    .where(self._key("document_id") == document.id)
                    .values(
                        metadata_=func.jsonb_set(
                            rows.c.metadata_.op("||")(facts),
                            "{_node_content}",
                            func.to_jsonb(cast(patched, String)),
                        )
                    )
                )
                if within:
                    within(connection, version)
                _bump(connection, document.id)
        except DBAPIError as error:
            raise translate(error, f"updating {document.name}") from error
        return int(changed.rowcount)

    def _facts_of(self, document: Document, first_line: int) -> ColumnElement[Any]:
        """What a node's metadata says of its document, as JSONB, where the text began at another line before."""
        facts = {name: getattr(document, name) for name in _NODE_METADATA_OF_DOCUMENT}
        held, moved = self._rows.__table__.c.metadata_, document.first_line - first_line
        lines = [(name, cast(held[name].astext, Integer) + moved) for name in ("line_start", "line_end")]
        return cast(facts, JSONB).op("||")(func.jsonb_build_object(*(part for pair in lines for part in pair)))


def _placed(nodes: Sequence[TextNode], vectors: Sequence[Vectors]) -> list[dict[str, Any]]:
    """A row for each distinct vector of a document, under the first node that has it.

    Thousands of equal vectors (a log, a table of zeros) tear an HNSW graph apart: nothing else is found any more.
    """
    rows: dict[bytes, dict[str, Any]] = {}
    for node, windows in zip(nodes, vectors, strict=True):
        for place, vector in enumerate(windows):
            rows.setdefault(vector.tobytes(), {"node_id": node.node_id, "place": place, "embedding": vector})
    return list(rows.values())


def covered_characters(document_text: str, nodes: Sequence[BaseNode]) -> int:
    """How many characters of the text, spaces apart, stand in at least one node."""
    covered = 0
    done = 0
    for start, end in sorted((node.metadata["start"], node.metadata["end"]) for node in nodes):
        begin = max(start, done)
        if begin < end:
            covered += sum(map(len, document_text[begin:end].split()))
            done = end
    return covered


def _lock_document(connection: Connection, document_id: str) -> None:
    connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:id, 0))"), {"id": document_id})


def _bump(connection: Connection, document_id: str) -> None:
    """Raise the corpus version, and note which document changed; last in a transaction: it makes the others wait."""
    version = tables.corpus_version.c.version
    raised = update(tables.corpus_version).values(version=version + 1).returning(version).cte("raised")
    noted = select(raised.c.version, literal(document_id))
    connection.execute(insert(tables.corpus_changes).from_select(["version", "document_id"], noted))
