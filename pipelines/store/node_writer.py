"""Every write of documents with their nodes and all that is derived from them, each one transaction."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from llama_index.core.schema import BaseNode, TextNode
from sqlalchemy import ColumnElement, Connection, Integer, String, case, cast, delete, func, select, update
from sqlalchemy.dialects.postgresql import JSONB

from pipelines.errors import StoreError
from pipelines.facts import repository_of
from pipelines.store import documents as document_rows
from pipelines.store import schema as tables
from pipelines.store.database import append_rows, lock_documents, writing
from pipelines.store.embedding_models import assert_active, assert_inactive, every_table
from pipelines.store.facts import write_facts
from pipelines.store.model_caches import forget_headers
from pipelines.store.near_duplicates import Member, forget_families, members_of, write_families
from pipelines.store.node_reader import NodeReader, segment
from pipelines.store.node_table import Vectors, node_rows
from pipelines.store.tokens import TOKENISER_VERSION
from pipelines.types import Document

_AS_READ = ("content_sha", "meta_sha", "source", "name", "ingested_at")
NODE_METADATA_OF_DOCUMENT = ("collection", "category", "subcategory", "visibility", "source", "title")
Within = Callable[[Connection, Mapping[str, int | None]], None]  # given the id of the kept version, by document
Check = Callable[[Connection, Sequence[str]], None]  # given locked documents; raises an error to refuse them


@dataclass(frozen=True, slots=True)
class Replacement:
    """A new version of a document, with its nodes: what the store takes, whole and ready to be written.

    Whoever embeds nodes makes one: an ingestion run from its `PreparedDocument`, another program's nodes, a trial. It
    has no state between: the store knows neither documents without nodes nor nodes without vectors.

    Attributes:
        nodes: In order, each a span of the document's text.
        vectors: For each node, its windows' vectors, (windows, dimension), normalised.
        parser: The parser of the nodes.
        recipe: The code versions and sizes of the nodes; stored, and compared by the next plan.
    """

    document: Document
    nodes: Sequence[TextNode]
    vectors: Sequence[Vectors]
    parser: str
    recipe: str


class PreparedRows(NamedTuple):
    """A new version with the rows of its terms and the signatures of its texts."""

    new: Replacement
    segments: Sequence[Mapping[str, Any]]
    members: Sequence[Member]


def metadata_of_document(document: Document) -> dict[str, Any]:
    """The metadata that every node has of its document."""
    written = document.ingested_at.isoformat() if document.ingested_at else ""
    shared = {name: getattr(document, name) for name in (*NODE_METADATA_OF_DOCUMENT, "mime")}
    return {"document_id": document.id, "ingested_at": written, **shared}


def replace_documents(
    store: NodeReader, new: Sequence[Replacement], within: Within | None = None, check: Check | None = None
) -> list[str]:
    """Write new versions of documents with their nodes in one transaction; the old versions are kept for undo.

    Args:
        new: The new versions, one a document.
        within: Called before the commit with the open connection and, for each document that is written, the id of
            the version that was kept, for the run's own rows.
        check: Called with the documents that are about to be written.

    Returns:
        The ids of the documents that were written; another process had already written the others equally.

    Raises:
        StoreError: If a span, an id or a vector breaks the contract, or the database refuses; nothing is written.
        ServiceUnavailable: If the database cannot be reached; nothing is written.
    """
    prepared = [prepare_rows(store, one) for one in new]  # what takes long is done before anything is locked
    first = new[0].document.name if new else ""
    named = first if len(new) == 1 else f"{first} and {len(new) - 1} other documents"
    with writing(store.engine, f"writing {named}") as connection:
        ids = [one.document.id for one in new]
        lock_documents(connection, ids)
        stored = document_rows.index_states(connection, ids, store.table)
        changed = [
            each
            for each in prepared
            if stored.get(each.new.document.id) != (each.new.document.content_sha, each.new.recipe)
        ]
        if changed:
            if check:
                check(connection, [each.new.document.id for each in changed])
            write_locked(store, connection, changed, within)
    return [each.new.document.id for each in changed]


def prepare_rows(store: NodeReader, new: Replacement) -> PreparedRows:
    """Check a new version, and make the rows that are derived from its nodes.

    Raises:
        StoreError: If a span, an id or a vector breaks the contract.
    """
    _assert_contract(new, store.dimension)
    document, nodes = new.document, new.nodes
    segments = [
        {"node_table": store.table, "node_id": node.node_id, "document_id": document.id,
         "tokeniser": TOKENISER_VERSION, "tokens": segment(node, document.mime)}
        for node in nodes
    ]  # fmt: skip
    return PreparedRows(new, segments, list(members_of(document.id, document.mime, nodes)))


def write_locked(
    store: NodeReader, connection: Connection, prepared: Sequence[PreparedRows], within: Within | None
) -> None:
    """Write locked documents with all that is derived from them, and raise the corpus version."""
    new = [each.new for each in prepared]
    ids = [one.document.id for one in new]
    versions = document_rows.write_documents(connection, [one.document for one in new], keep=store.versions_kept)
    _drop_elsewhere(store, connection, ids)
    _swap_nodes(store, connection, prepared)
    write_facts(connection, {one.document.id: one.nodes for one in new})
    write_families(connection, ids, [member for each in prepared for member in each.members])
    _finish(store, connection, versions, within)


def _finish(
    store: NodeReader, connection: Connection, versions: Mapping[str, int | None], within: Within | None
) -> None:
    """Write the run's own rows, and raise the corpus version."""
    if within:
        within(connection, versions)
    raise_version(connection, list(versions))
    assert_active(connection, store.table)


def index_document(store: NodeReader, new: Replacement) -> bool:
    """Write the nodes of a stored document to this table, which is not active, in one transaction.

    The document's row, its facts and its families stay those of the active table until this one is promoted. The
    corpus version stays too, as nothing changes for a search.

    Returns:
        False, with nothing written, if the document is gone or has changed since it was read.

    Raises:
        ConfigError: If this table is active by now, or is gone.
        StoreError: If a span, an id or a vector breaks the contract, or the database refuses.
        ServiceUnavailable: If the database cannot be reached.
    """
    prepared = prepare_rows(store, new)
    with writing(store.engine, f"writing {new.document.name} for another embedding model") as connection:
        lock_documents(connection, [new.document.id])
        assert_inactive(connection, store.table)
        if not document_rows.has_values(connection, new.document, _AS_READ):
            return False
        _swap_nodes(store, connection, [prepared])
    return True


def _assert_contract(one: Replacement, dimension: int) -> None:
    document, nodes, vectors = one.document, one.nodes, one.vectors
    if not nodes:
        raise StoreError(f"{document.name} has no nodes.", hint="A document without text is a failure, not empty.")
    if len({node.node_id for node in nodes}) != len(nodes):
        raise StoreError(f"Two nodes of {document.name} have the same id.")
    for node, windows in zip(nodes, vectors, strict=True):
        start, end, ordinal = (node.metadata[name] for name in ("start", "end", "ordinal"))
        if node.metadata["document_id"] != document.id or document.text[start:end] != node.text:
            raise StoreError(f"Node {ordinal} of {document.name} is not its span {start}:{end}.")
        if windows.ndim != 2 or not len(windows) or windows.shape[1] != dimension:
            raise StoreError(f"Node {ordinal} of {document.name} has no {dimension}-d vector.")
        if not np.isfinite(windows).all():
            raise StoreError(f"A vector of node {ordinal} of {document.name} is not finite.")


def _swap_nodes(store: NodeReader, connection: Connection, prepared: Sequence[PreparedRows]) -> None:
    """Replace the documents' nodes, vectors, terms and index rows in this table."""
    new = [each.new for each in prepared]
    _delete_nodes(connection, [one.document.id for one in new], store.table)
    nodes = [row for one in new for row in zip(one.nodes, one.vectors, strict=True)]
    store.append(connection, nodes, [row for one in new for row in _placed(one.nodes, one.vectors)])
    append_rows(connection, tables.lexical_segments, [row for each in prepared for row in each.segments])
    rows = [
        {"document_id": one.document.id, "node_table": store.table, "content_sha": one.document.content_sha,
         "recipe": one.recipe, "parser": one.parser, "nodes": len(one.nodes),
         "covered": covered_characters(one.document.text, one.nodes),
         "characters": sum(map(len, one.document.text.split()))}
        for one in new
    ]  # fmt: skip
    append_rows(connection, tables.document_indexes, rows)


def _drop_elsewhere(store: NodeReader, connection: Connection, document_ids: Sequence[str]) -> None:
    """Delete the documents from the tables of other models, which would keep nodes of the older text."""
    for other in every_table(connection):
        if other != store.table:
            _delete_nodes(connection, document_ids, other)


def _delete_nodes(connection: Connection, document_ids: Sequence[str], node_table: str) -> None:
    """Delete what a node table holds of documents: nodes, vectors, terms and index rows."""
    for derived in (tables.lexical_segments, tables.document_indexes):
        of_them = derived.c.document_id.in_(document_ids), derived.c.node_table == node_table
        connection.execute(delete(derived).where(*of_them))
    rows = node_rows(node_table)
    connection.execute(delete(rows).where(rows.c.metadata_["document_id"].astext.in_(document_ids)))


def remove_documents(
    store: NodeReader, document_ids: Sequence[str], within: Within | None = None, check: Check | None = None
) -> list[str]:
    """Delete documents with their nodes in every table, in one transaction; their versions are kept for undo.

    Returns the ids of those that were stored.
    """
    count = f"{len(document_ids)} documents"
    named = f"document {document_ids[0]}" if len(document_ids) == 1 else count
    with writing(store.engine, f"removing {named}") as connection:
        lock_documents(connection, document_ids)
        stored = list(document_rows.written_at(connection, document_ids))
        if check:
            check(connection, stored)
        remove_locked(store, connection, stored, within)
    return stored


def remove_locked(store: NodeReader, connection: Connection, stored: Sequence[str], within: Within | None) -> None:
    """Delete locked documents that are stored, with their index rows and segments."""
    if not stored:
        return
    for each in every_table(connection):
        _delete_nodes(connection, stored, each)
    forget_families(connection, stored)
    forget_headers(connection, stored)
    versions = {each: document_rows.keep_version(connection, each, store.versions_kept) for each in stored}
    connection.execute(delete(tables.documents).where(tables.documents.c.id.in_(stored)))
    _finish(store, connection, versions, within)


def update_metadata(
    store: NodeReader, document: Document, within: Within | None = None, check: Check | None = None
) -> list[str]:
    """Write a document's metadata to its row and its nodes, in one transaction; vectors stay.

    Both copies of a node's metadata are changed: the columns that filters read, and LlamaIndex's own node. Line
    numbers move with the first line of the text.

    Returns its id, or nothing if another process had already written just this.
    """
    rows = node_rows(store.table)
    inner = cast(rows.c.metadata_["_node_content"].astext, JSONB)
    with writing(store.engine, f"updating {document.name}") as connection:
        lock_documents(connection, [document.id])
        if document_rows.has_values(connection, document, document_rows.STATE):
            return []
        if check:
            check(connection, [document.id])
        d = tables.documents.c
        first_line = connection.execute(select(d.first_line).where(d.id == document.id)).scalar() or 1
        facts = _facts_of(document, rows.c.metadata_, first_line)
        patched = func.jsonb_set(inner, "{metadata}", inner["metadata"].op("||")(facts))
        versions = document_rows.write_documents(connection, [document], keep=store.versions_kept)
        _drop_elsewhere(store, connection, [document.id])
        whole = func.jsonb_set(
            rows.c.metadata_.op("||")(facts), "{_node_content}", func.to_jsonb(cast(patched, String))
        )
        of_it = rows.c.metadata_["document_id"].astext == document.id
        connection.execute(update(rows).where(of_it).values(metadata_=whole))
        _finish(store, connection, versions, within)
    return [document.id]


def _facts_of(document: Document, stored: ColumnElement[Any], first_line: int) -> ColumnElement[Any]:
    """The document's part of a node's metadata, as JSONB; `first_line` is that of the stored text.

    The facts of a repository are its document's, with the node's own project; those of other kinds are the node's.
    """
    facts = {name: getattr(document, name) for name in NODE_METADATA_OF_DOCUMENT}
    moved = document.first_line - first_line
    lines = [(name, cast(stored[name].astext, Integer) + moved) for name in ("line_start", "line_end")]
    patch = cast(facts, JSONB).op("||")(func.jsonb_build_object(*(part for pair in lines for part in pair)))
    if (repository := repository_of(document.metadata)) is None:
        return patch
    described = stored["facts"].op("||")(
        cast(repository.model_dump(mode="json", exclude={"project", "details"}), JSONB)
    )
    whole = patch.op("||")(func.jsonb_build_object("facts", described))
    return case((stored["facts"]["type"].astext == repository.type, whole), else_=patch)


def _placed(nodes: Sequence[TextNode], vectors: Sequence[Vectors]) -> list[dict[str, Any]]:
    """The rows of a document's windows; of nodes of one window that have the same vector, only the first has a row.

    With thousands of equal vectors (a log, a table of zeros) an HNSW search finds no other vectors any more. A node of
    several windows keeps each vector of its own, as nothing else has them when it is written again.
    """
    rows: dict[tuple[str, bytes], dict[str, Any]] = {}
    for node, windows in zip(nodes, vectors, strict=True):
        sharer = node.node_id if len(windows) > 1 else ""
        for place, vector in enumerate(windows):
            rows.setdefault((sharer, vector.tobytes()), {"node_id": node.node_id, "place": place, "embedding": vector})
    return list(rows.values())


def covered_characters(document_text: str, nodes: Sequence[BaseNode]) -> int:
    """Count the characters of the text, without white space, that are in at least one node."""
    covered = done = 0
    for start, end in sorted((node.metadata["start"], node.metadata["end"]) for node in nodes):
        begin = max(start, done)
        if begin < end:
            covered += sum(map(len, document_text[begin:end].split()))
            done = end
    return covered


def raise_version(connection: Connection, document_ids: Sequence[str]) -> int:
    """Raise the corpus version by one for each changed document, and return it.

    Last in a transaction, as other writers wait for it.
    """
    version, count = tables.corpus_version.c.version, len(document_ids)
    statement = update(tables.corpus_version).values(version=version + count).returning(version)
    raised = int(connection.execute(statement).scalar_one())
    changes = [{"version": raised - count + n, "document_id": each} for n, each in enumerate(document_ids, start=1)]
    append_rows(connection, tables.corpus_changes, changes)
    return raised
