"""NodeStore: writes documents and nodes, each document in one transaction; `reads.py` has the reads."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from llama_index.core.schema import BaseNode, TextNode
from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Integer,
    String,
    case,
    cast,
    delete,
    func,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.exc import DBAPIError

from config.settings import Settings
from pipelines.errors import StoreError
from pipelines.facts import repository_of
from pipelines.store import documents as document_rows
from pipelines.store import schema as tables
from pipelines.store.database import Database, append_rows, translate
from pipelines.store.embedding_models import active_since, assert_active, assert_inactive, every_table, other_tables
from pipelines.store.embedding_statistics import StatisticsCache
from pipelines.store.facts import write_facts
from pipelines.store.lexical_index import BM25Parameters
from pipelines.store.lexical_snapshots import LexicalIndexes
from pipelines.store.model_caches import forget_headers
from pipelines.store.near_duplicates import Member, forget_families, members_of, write_families
from pipelines.store.node_reader import NodeReader, segment
from pipelines.store.node_table import Vectors, node_rows, node_table
from pipelines.store.tokens import TOKENISER_VERSION
from pipelines.types import Document, EmbeddingIdentity

_NODE_METADATA_OF_DOCUMENT = ("collection", "category", "subcategory", "visibility", "source", "title")
Within = Callable[[Connection, int | None], None]
WithinAll = Callable[[Connection, Mapping[str, int | None]], None]  # told the version that was kept, by document
Check = Callable[[Connection, Sequence[str]], None]  # asked of documents that are locked; refuses by an error


@dataclass(frozen=True, slots=True)
class NodeRecipe:
    """What made a document's nodes: the parser's name, and the recipe of code versions and sizes."""

    parser: str
    recipe: str


@dataclass(frozen=True, slots=True)
class Replacement:
    """A new version of a document, with its nodes.

    Attributes:
        nodes: In order, each a span of the document's text.
        vectors: For each node, its windows' vectors, (windows, dimension), normalised.
        made_by: What made the nodes; stored, and compared by the next plan.
    """

    document: Document
    nodes: Sequence[TextNode]
    vectors: Sequence[Vectors]
    made_by: NodeRecipe

    @property
    def state(self) -> tuple[str, str]:
        """The content, and the recipe of its nodes."""
        return self.document.content_sha, self.made_by.recipe


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
        snapshot_folder(settings, database, store),
        store,
        BM25Parameters(b=bm25.bm25_b, header_weight=bm25.header_weight, pair_weight=bm25.pair_weight),
    )


def build_statistics(settings: Settings, database: Database, store: "NodeStore") -> StatisticsCache:
    """What the vectors of this store have in common, kept under FOOTNOTE_HOME."""
    return StatisticsCache(snapshot_folder(settings, database, store), store.some_vectors, store.version)


def snapshot_folder(settings: Settings, database: Database, store: "NodeStore") -> Path:
    """The folder of what is derived from this store and kept between processes; another one once it was promoted."""
    since = active_since(store.engine, store.table)
    return snapshot_folder_of(settings, database, store.table if since is None else f"{store.table}-{since}")


def snapshot_folder_of(settings: Settings, database: Database, name: str) -> Path:
    """A folder of what is derived from a store, by its name."""
    where = hashlib.sha256(database.url.encode()).hexdigest()[:12]
    return settings.home.resolve() / "lexical" / where / name


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
        made_by: NodeRecipe,
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
        one = Replacement(document, nodes, vectors, made_by)
        told = None if within is None else _alone(within, document.id)
        return bool(self.replace_all([one], told))

    def replace_all(
        self, new: Sequence[Replacement], within: WithinAll | None = None, check: Check | None = None
    ) -> set[str]:
        """Replace several documents, each once, in one transaction: all of them, or none where one is refused.

        Args:
            new: The new versions.
            within: As for `replace`, with the version that was kept of each document that is written.
            check: Whether those that are to be written may be.

        Returns:
            The ids of those that were written; the others another process had already written just so.

        Raises:
            StoreError, ServiceUnavailable: As for `replace`.
        """
        for one in new:
            self._assert_contract(one)
        # What takes long is worked out before anything is locked.
        members = {one.document.id: list(_members(one)) for one in new}
        segments = {one.document.id: self._segments(one) for one in new}
        try:
            with self.engine.begin() as connection:
                _lock_documents(connection, list(members))
                held = document_rows.index_states(connection, list(members), self.table)
                written = [one for one in new if held.get(one.document.id) != one.state]
                ids = [one.document.id for one in written]
                if written:
                    if check:
                        check(connection, ids)
                    versions = document_rows.write_documents(
                        connection, [one.document for one in written], keep=self._versions_kept
                    )
                    self._drop_elsewhere(connection, ids)
                    self._swap_nodes(connection, written, [row for each in ids for row in segments[each]])
                    write_facts(connection, {one.document.id: one.nodes for one in written})
                    write_families(connection, ids, [member for each in ids for member in members[each]])
                    self._write_indexes(connection, written)
                    if within:
                        within(connection, versions)
                    _bump(connection, ids)
                    assert_active(connection, self.table)
        except DBAPIError as error:
            raise translate(error, f"writing {_named(new)}") from error
        return set(ids)

    def index(
        self, document: Document, nodes: Sequence[TextNode], vectors: Sequence[Vectors], made_by: NodeRecipe
    ) -> bool:
        """Make `nodes` what this table, which does not serve, holds of a stored document, in one transaction.

        The document's row, its facts and its families stay: they are those of the table that serves, until this one
        is promoted. The corpus version stays too, as nothing changes for those who search.

        Returns:
            False, with nothing written, where the document is gone or no longer as it was read.

        Raises:
            ConfigError: If this table serves by now, or is gone.
            StoreError: If a span, an id or a vector breaks the contract, or the database refuses.
            ServiceUnavailable: If the database cannot be reached.
        """
        one = Replacement(document, nodes, vectors, made_by)
        self._assert_contract(one)
        segments = self._segments(one)
        try:
            with self.engine.begin() as connection:
                _lock_documents(connection, [document.id])
                assert_inactive(connection, self.table)
                if not document_rows.is_as_read(connection, document):
                    return False
                self._swap_nodes(connection, [one], segments)
                self._write_indexes(connection, [one])
        except DBAPIError as error:
            raise translate(error, f"writing {document.name} for another embedding model") from error
        return True

    def _write_indexes(self, connection: Connection, new: Sequence[Replacement]) -> None:
        """Note what this table holds of documents."""
        rows = [
            {"document_id": one.document.id, "node_table": self.table, "content_sha": one.document.content_sha,
             "recipe": one.made_by.recipe, "parser": one.made_by.parser, "nodes": len(one.nodes),
             "covered": covered_characters(one.document.text, one.nodes),
             "characters": sum(map(len, one.document.text.split()))}
            for one in new
        ]  # fmt: skip
        document_rows.write_indexes(connection, self.table, rows)

    def _assert_contract(self, one: Replacement) -> None:
        document, nodes, vectors = one.document, one.nodes, one.vectors
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
        self, connection: Connection, new: Sequence[Replacement], segments: Sequence[Mapping[str, Any]]
    ) -> None:
        self._delete_nodes(connection, [one.document.id for one in new], self.table)
        written = [row for one in new for row in zip(one.nodes, one.vectors, strict=True)]
        windows = [row for one in new for row in _placed(one.nodes, one.vectors)]
        self._shape.append(connection, written, windows)
        append_rows(connection, tables.lexical_segments, segments)

    def _segments(self, one: Replacement) -> list[dict[str, Any]]:
        """The rows of the nodes' index terms."""
        return [
            {
                "node_table": self.table,
                "node_id": node.node_id,
                "document_id": one.document.id,
                "tokeniser": TOKENISER_VERSION,
                "tokens": segment(node, one.document.mime),
            }
            for node in one.nodes
        ]

    def _drop_elsewhere(self, connection: Connection, document_ids: Sequence[str]) -> None:
        """Delete what other models' tables hold of documents that change here: it would be of an older text."""
        for other in other_tables(connection, document_ids, but=self.table):
            self._delete_nodes(connection, document_ids, other)
            document_rows.delete_indexes(connection, document_ids, other)

    def _delete_nodes(self, connection: Connection, document_ids: Sequence[str], node_table: str) -> Counter[str]:
        """Delete the nodes of documents; how many each had."""
        segments = tables.lexical_segments
        connection.execute(
            delete(segments).where(segments.c.document_id.in_(document_ids), segments.c.node_table == node_table)
        )
        rows = node_rows(node_table)
        owner = rows.c.metadata_["document_id"].astext
        return Counter(connection.execute(delete(rows).where(owner.in_(document_ids)).returning(owner)).scalars())

    def remove(self, document_id: str, within: Within | None = None) -> int | None:
        """Delete a document with its nodes in every table, in one transaction; returns its node count here.

        None, with nothing written, where there is no such document.
        """
        told = None if within is None else _alone(within, document_id)
        return self.remove_all([document_id], told).get(document_id)

    def remove_all(
        self, document_ids: Sequence[str], within: WithinAll | None = None, check: Check | None = None
    ) -> dict[str, int]:
        """Delete several documents in one transaction, if they may be; the node count here of each that there was."""
        try:
            with self.engine.begin() as connection:
                _lock_documents(connection, document_ids)
                there = document_rows.existing_ids(connection, document_ids)
                if check:
                    check(connection, there)
                gone = {each: self._delete_nodes(connection, there, each) for each in every_table(connection)}
                if there:
                    forget_families(connection, there)
                    forget_headers(connection, there)
                    versions = {
                        each: document_rows.delete_document(connection, each, keep=self._versions_kept)
                        for each in there
                    }
                    if within:
                        within(connection, versions)
                    _bump(connection, there)
        except DBAPIError as error:
            what = f"document {document_ids[0]}" if len(document_ids) == 1 else f"{len(document_ids)} documents"
            raise translate(error, f"removing {what}") from error
        return {each: gone.get(self.table, Counter[str]())[each] for each in there}

    def update_metadata(
        self, document: Document, within: Within | None = None, check: Check | None = None
    ) -> int | None:
        """Write a document's facts, if they may be, to its row and its nodes, vectors untouched; the nodes changed.

        None, with nothing written, where another process had already written just this. Both copies of a node's
        metadata are changed: the columns that filters read, and LlamaIndex's own node. Line numbers move with what
        stands before the text.
        """
        rows = self._rows.__table__
        inner = cast(rows.c.metadata_["_node_content"].astext, JSONB)
        try:
            with self.engine.begin() as connection:
                _lock_documents(connection, [document.id])
                if document_rows.is_written(connection, document):
                    return None
                if check:
                    check(connection, [document.id])
                facts = self._facts_of(document, document_rows.first_line(connection, document.id))
                patched = func.jsonb_set(inner, "{metadata}", inner["metadata"].op("||")(facts))
                version = document_rows.write_document(connection, document, keep=self._versions_kept)
                self._drop_elsewhere(connection, [document.id])
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
                _bump(connection, [document.id])
                assert_active(connection, self.table)
        except DBAPIError as error:
            raise translate(error, f"updating {document.name}") from error
        return int(changed.rowcount)

    def _facts_of(self, document: Document, first_line: int) -> ColumnElement[Any]:
        """What a node's metadata says of its document, as JSONB, where the text began at another line before.

        The facts of a repository are its document's; those of other kinds are the node's own.
        """
        facts = {name: getattr(document, name) for name in _NODE_METADATA_OF_DOCUMENT}
        held, moved = self._rows.__table__.c.metadata_, document.first_line - first_line
        lines = [(name, cast(held[name].astext, Integer) + moved) for name in ("line_start", "line_end")]
        told = cast(facts, JSONB).op("||")(func.jsonb_build_object(*(part for pair in lines for part in pair)))
        if (repository := repository_of(document.metadata)) is None:
            return told
        whole = told.op("||")(cast({"facts": repository.model_dump(mode="json")}, JSONB))
        is_its = held["facts"]["type"].astext == repository.type
        return case((is_its, whole), else_=told)


def _placed(nodes: Sequence[TextNode], vectors: Sequence[Vectors]) -> list[dict[str, Any]]:
    """A row of windows for each distinct vector of a document, under the first node that has it.

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


def _alone(within: Within, document_id: str) -> WithinAll:
    return lambda connection, versions: within(connection, versions[document_id])


def _members(one: Replacement) -> Iterator[Member]:
    return members_of(one.document.id, one.document.mime, one.nodes)


def _named(new: Sequence[Replacement]) -> str:
    first = new[0].document.name
    return first if len(new) == 1 else f"{first} and {len(new) - 1} other documents"


def _lock_documents(connection: Connection, document_ids: Sequence[str]) -> None:
    """Keep everyone else from writing these documents; in one order for all, so that nobody waits in a circle."""
    lock = text("SELECT pg_advisory_xact_lock(hashtextextended(id, 0)) FROM unnest(CAST(:ids AS text[])) AS id")
    connection.execute(lock, {"ids": sorted(document_ids)})


def _bump(connection: Connection, document_ids: Sequence[str]) -> None:
    """Raise the corpus version, and note which documents changed; last in a transaction: it makes the others wait."""
    version, count = tables.corpus_version.c.version, len(document_ids)
    raised = connection.execute(update(tables.corpus_version).values(version=version + count).returning(version))
    first = raised.scalar_one() - count + 1
    noted = [{"version": first + place, "document_id": each} for place, each in enumerate(document_ids)]
    append_rows(connection, tables.corpus_changes, noted)
