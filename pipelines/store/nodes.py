"""NodeStore: PGVectorStore's table with one-transaction replace, bound-parameter filters and windows."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
from llama_index.core.schema import BaseNode, NodeWithScore, TextNode
from llama_index.core.vector_stores.utils import metadata_dict_to_node
from numpy.typing import NDArray
from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Integer,
    String,
    and_,
    cast,
    column,
    delete,
    func,
    insert,
    select,
    table,
    text,
    true,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from config.settings import Settings
from pipelines.errors import StoreError
from pipelines.store import documents as document_rows
from pipelines.store import tables
from pipelines.store.database import Database, reading, translate
from pipelines.store.lexical import LexicalIndexes, Parameters
from pipelines.store.node_table import NodeTable, node_table
from pipelines.store.tokens import TOKENISER_VERSION, tokenise
from pipelines.text import searchable
from pipelines.types import Audience, Document, EmbeddingIdentity, Filters

_NODE_METADATA_OF_DOCUMENT = ("collection", "category", "subcategory", "visibility", "source", "title")
_EXACT_BELOW = 5000
Within = Callable[[Connection], None]
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
    where = hashlib.sha256(database.url.encode()).hexdigest()[:12]
    return LexicalIndexes(
        settings.home.resolve() / "lexical" / where / store.table,
        store.version,
        store.segments,
        Parameters(settings.retrieval.bm25_k1, settings.retrieval.bm25_b),
    )


class NodeStore:
    """The nodes of one embedding model; every read takes filters and an audience, every write is one transaction."""

    def __init__(self, engine: Engine, table: str, dimension: int, *, versions_kept: int = 5) -> None:
        self.engine = engine
        self.table = table
        self.dimension = dimension
        self._versions_kept = versions_kept
        self._shape = NodeTable(engine, table, dimension)
        self._rows: Any = self._shape.rows
        self._windows = self._shape.windows

    def ensure(self, provider: str, model: str) -> None:
        """Make the tables of this model's nodes when they are missing.

        Raises:
            ConfigError: If they hold vectors of another dimension.
        """
        self._shape.ensure(provider, model)

    # Writing

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
            within: Called with the open connection before the commit, for the run's own rows.

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
                    document_rows.write(connection, document, keep=self._versions_kept)
                    self._swap_nodes(connection, document, nodes, vectors)
                    document_rows.write_index(
                        connection, document.id, self.table, **state, parser=made_by.parser, nodes=len(nodes),
                        covered=covered_characters(document.text, nodes),
                        characters=sum(map(len, document.text.split())),
                    )  # fmt: skip
                    _bump(connection)
                if within:
                    within(connection)
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
                document_rows.delete_document(connection, document_id, keep=self._versions_kept)
                _bump(connection)
                if within:
                    within(connection)
        except DBAPIError as error:
            raise translate(error, f"removing document {document_id}") from error
        return gone

    def update_metadata(self, document: Document, within: Within | None = None) -> int:
        """Write a document's facts to its row and its nodes, vectors untouched; returns the nodes changed.

        Both copies of a node's metadata are changed: the columns that filters read, and LlamaIndex's own node.
        """
        facts = {name: getattr(document, name) for name in _NODE_METADATA_OF_DOCUMENT}
        rows = self._rows.__table__
        inner = cast(rows.c.metadata_["_node_content"].astext, JSONB)
        patched = func.jsonb_set(inner, "{metadata}", inner["metadata"].op("||")(cast(facts, JSONB)))
        try:
            with self.engine.begin() as connection:
                _lock_document(connection, document.id)
                document_rows.write(connection, document, keep=self._versions_kept)
                changed = connection.execute(
                    update(rows)
                    .where(self._key("document_id") == document.id)
                    .values(
                        metadata_=func.jsonb_set(
                            rows.c.metadata_.op("||")(cast(facts, JSONB)),
                            "{_node_content}",
                            func.to_jsonb(cast(patched, String)),
                        )
                    )
                )
                _bump(connection)
                if within:
                    within(connection)
        except DBAPIError as error:
            raise translate(error, f"updating {document.name}") from error
        return int(changed.rowcount)

    # Reading

    def dense(
        self, vector: Sequence[float], k: int, *, look: int, filters: Filters, audience: Audience
    ) -> list[NodeWithScore]:
        """The k nodes nearest to `vector`, best first; scores are cosine similarities in -1..1.

        `look` is how many the index examines (its ef_search); filtered searches go on until k are found.
        """
        distance = self._windows.c.embedding.cosine_distance(vector).label("distance")
        statement = (
            select(self._rows.node_id, self._rows.text, self._rows.metadata_, distance)
            .join(self._windows, self._windows.c.node_id == self._rows.node_id)
            .where(self.visible(filters, audience))
            .order_by(distance)
        )
        best: dict[str, Any] = {}
        rows = 2 * k  # a node may come by several of its windows
        with self._reading("searching by vector") as connection:
            reach = {"look": str(min(max(look, k, 1), 1000))}
            connection.execute(text("SELECT set_config('hnsw.ef_search', :look, true)"), reach)
            if self._is_narrow(connection, filters, audience):
                connection.execute(text("SET LOCAL enable_indexscan = off"))
            while len(best) < k:
                found = connection.execute(statement.limit(rows)).all()
                best = {row.node_id: row for row in reversed(found)}
                if len(found) < rows:
                    break
                rows *= 4
        ranked = sorted(best.values(), key=lambda row: (row.distance, row.node_id))[:k]
        return [NodeWithScore(node=_node(row), score=1.0 - float(row.distance)) for row in ranked]

    def _is_narrow(self, connection: Connection, filters: Filters, audience: Audience) -> bool:
        """Whether so few nodes pass that comparing all of them is exact and cheap."""
        if not filters and audience == "owner":
            return False
        passing = select(self._rows.node_id).where(self.visible(filters, audience)).limit(_EXACT_BELOW + 1)
        counted = connection.execute(select(func.count()).select_from(passing.subquery())).scalar_one()
        return int(counted) <= _EXACT_BELOW

    def similarities(self, vector: Sequence[float], node_ids: Sequence[str]) -> dict[str, float]:
        """The cosine similarity (-1..1) of each of these nodes' nearest window to `vector`; gone nodes are missing.

        Takes no filters: the caller has the ids from reads that did.
        """
        windows = self._windows.c
        nearest = func.min(windows.embedding.cosine_distance(vector)).label("distance")
        statement = (
            select(windows.node_id, nearest).where(windows.node_id.in_(list(node_ids))).group_by(windows.node_id)
        )
        with self._reading("comparing vectors") as connection:
            return {row.node_id: 1.0 - float(row.distance) for row in connection.execute(statement)}

    def fetch(self, node_ids: Iterable[str], *, filters: Filters, audience: Audience) -> dict[str, TextNode]:
        """The nodes of these ids that this audience may see; ids that are gone are missing."""
        wanted = list(node_ids)
        if not wanted:
            return {}
        with self._reading("fetching nodes") as connection:
            rows = connection.execute(
                self._select().where(self._rows.node_id.in_(wanted), self.visible(filters, audience))
            ).all()
        return {row.node_id: _node(row) for row in rows}

    def matching_ids(self, filters: Filters, audience: Audience) -> set[str]:
        """The ids of all nodes that pass the filters."""
        with self._reading("filtering nodes") as connection:
            found = connection.execute(select(self._rows.node_id).where(self.visible(filters, audience)))
            return set(found.scalars())

    def window(
        self, document_id: str, ordinal: int, width: int, *, filters: Filters, audience: Audience
    ) -> list[TextNode]:
        """A node with up to `width` neighbours on each side, in document order."""
        place = cast(self._key("ordinal"), Integer)
        with self._reading("fetching neighbours") as connection:
            rows = connection.execute(
                self._select()
                .where(
                    self._key("document_id") == document_id,
                    place.between(ordinal - width, ordinal + width),
                    self.visible(filters, audience),
                )
                .order_by(place)
            ).all()
        return [_node(row) for row in rows]

    def all_nodes(self, document_id: str) -> list[TextNode]:
        """Every node of a document in order; for the audit, which sees everything."""
        return self.window(document_id, 0, 2**30, filters=Filters(), audience="owner")

    def segments(self, audience: Audience) -> list[tuple[str, str]]:
        """(node id, terms) of every node of an audience, for the lexical index, ordered by id.

        Nodes that were tokenised by older rules are tokenised again.
        """
        held, rows = tables.lexical_segments, self._rows.__table__
        with self._reading("reading the lexical segments") as connection:
            found = connection.execute(
                select(held.c.node_id, held.c.tokens, held.c.tokeniser)
                .join(rows, rows.c.node_id == held.c.node_id)
                .where(held.c.node_table == self.table, self.visible(Filters(), audience))
                .order_by(held.c.node_id)
            ).all()
        stale = [row.node_id for row in found if row.tokeniser != TOKENISER_VERSION]
        fresh = self.fetch(stale, filters=Filters(), audience="owner")
        again = {node_id: segment(node, node.metadata["mime"]) for node_id, node in fresh.items()}
        return [(row.node_id, again.get(row.node_id, row.tokens)) for row in found]

    def count(self) -> int:
        """How many nodes there are."""
        with self._reading("counting nodes") as connection:
            return int(connection.execute(select(func.count()).select_from(self._rows)).scalar_one())

    def version(self) -> int:
        """The corpus version: raised in the same transaction as any change of nodes."""
        with self._reading("reading the corpus version") as connection:
            return int(connection.execute(select(tables.corpus_version.c.version)).scalar_one())

    def visible(self, filters: Filters, audience: Audience) -> ColumnElement[bool]:
        """The one condition that every read passes: bound parameters only, for these filters and this audience.

        Raises:
            RetrievalError: If a filter value cannot be compared (a NUL, a broken date).
        """
        conditions: list[ColumnElement[bool]] = []
        if audience != "owner":
            conditions.append(self._key("visibility") == "public")
        for name in ("collection", "category", "kind"):
            if values := getattr(filters, name):
                conditions.append(self._key(name).in_(values))
        if filters.year:
            conditions.append(self._key("year").in_([str(year) for year in filters.year]))
        if chosen := document_rows.matching(filters):
            conditions.append(self._key("document_id").in_(select(tables.documents.c.id).where(*chosen)))
        return and_(true(), *conditions)

    def _key(self, name: str) -> ColumnElement[str]:
        key: ColumnElement[str] = self._rows.__table__.c.metadata_[name].astext
        return key

    def _select(self) -> Any:
        return select(self._rows.node_id, self._rows.text, self._rows.metadata_)

    def _reading(self, doing: str) -> AbstractContextManager[Connection]:
        return reading(self.engine, doing)


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


def segment(node: BaseNode, mime: str) -> str:
    """A node's index terms, joined by spaces; terms hold none."""
    return " ".join(tokenise(searchable(node.metadata["header"], node.get_content(), mime)))


def _node(row: Any) -> TextNode:
    node = metadata_dict_to_node(row.metadata_)
    if not isinstance(node, TextNode):
        raise StoreError(f"Row {row.node_id} is no text node.", hint="Run `footnote audit`.")
    node.set_content(row.text)
    return node


def _lock_document(connection: Connection, document_id: str) -> None:
    connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:id, 0))"), {"id": document_id})


def _bump(connection: Connection) -> None:
    """Raise the corpus version; last in a transaction, since it makes the others wait."""
    connection.execute(update(tables.corpus_version).values(version=tables.corpus_version.c.version + 1))
