"""The audit: compare nodes, vectors, terms, facts, originals and citations with the stored texts."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Integer, Row, cast, exists, func, select, text

from pipelines.store.database import reading
from pipelines.store.documents import ADDED_NODES, Places
from pipelines.store.embedding_models import active_table
from pipelines.store.node_table import node_rows, window_rows
from pipelines.store.originals import is_kept, keep_original, path_of
from pipelines.store.read_snapshot import read_snapshot
from pipelines.store.schema import document_indexes, documents, embedding_models, facts, families, lexical_segments
from pipelines.store.versions import version_text

Progress = Callable[[str, int, int], None]  # (what is checked, the number done, the number in all)
_AT_ONCE = 50  # documents whose texts are in memory
_COUNTED = ("documents", "nodes", "facts", "citations", "snippets", "unverifiable")
_SAME = 1e-4  # cosine distance between a vector and its copy


def damaged_documents(connection: Connection, table: str) -> list[str]:
    """The ids of the documents that are damaged in a table, in order.

    Nodes, vectors or terms are missing or too many, or a node is not its span of the document's text.
    """
    index = document_indexes.c
    indexed = set(connection.execute(select(index.document_id).where(index.node_table == table)).scalars())
    violations = (each for stored in _batches(connection) for each in _nodes(connection, table, stored, Counter()))
    altered = {document_id for document_id, each in violations if each.kind == "span"} & indexed
    return sorted({*miscounted(connection, table), *connection.execute(_unfit(table)).scalars(), *altered})


def miscounted(connection: Connection, table: str) -> list[str]:
    """The ids of the documents of which a table has more or fewer nodes than its index row says, in order."""
    index, rows = document_indexes.c, node_rows(table)
    owner = rows.c.metadata_["document_id"].astext
    stored = select(owner.label("id"), func.count().label("nodes")).group_by(owner).subquery()
    counted = (
        select(index.document_id)
        .outerjoin(stored, stored.c.id == index.document_id)
        .where(index.node_table == table, func.coalesce(stored.c.nodes, 0) != index.nodes)
    )
    return sorted(connection.execute(counted).scalars())


def _unfit(name: str) -> Any:
    """Select the documents with a node that has no terms or no vector, or with terms of no node."""
    rows, windows, terms = node_rows(name), window_rows(name), lexical_segments
    index = document_indexes.c
    owner = rows.c.metadata_["document_id"].astext
    indexed = exists().where(index.document_id == owner, index.node_table == name)
    has_terms = exists().where(terms.c.node_table == name, terms.c.node_id == rows.c.node_id)
    has_vector = exists().where(windows.c.node_id == rows.c.node_id)
    # A vector that several nodes of a document share is stored with the first. Each distinct vector is searched once
    # among those of its document: a file of repeated text has thousands of such nodes, and few vectors.
    blind = select(owner.label("owner"), rows.c.embedding).where(indexed, ~has_vector).distinct().cte("blind")
    stored = (
        select(owner.label("owner"), windows.c.embedding)
        .join_from(windows, rows, rows.c.node_id == windows.c.node_id)
        .where(owner.in_(select(blind.c.owner)))
        .cte("stored")
        .prefix_with("MATERIALIZED", dialect="postgresql")
    )
    shared = exists().where(stored.c.owner == blind.c.owner, stored.c.embedding.op("<=>")(blind.c.embedding) < _SAME)
    silent = select(owner).where(indexed, ~has_terms)
    lost = select(terms.c.document_id).where(
        terms.c.node_table == name, ~exists().where(rows.c.node_id == terms.c.node_id)
    )
    return silent.union(select(blind.c.owner).where(~shared), lost)


def missing_originals(connection: Connection, home: Path) -> list[tuple[str, str, str]]:
    """(name, URI, SHA-256 of the file) of the documents without their original, or with one of another length, by name.

    Only documents of sources whose originals are kept count.
    """
    d = documents.c
    wanted = select(d.name, d.source_uri, d.file_sha, d.bytes).where(d.source_kind.not_in(("eval", ADDED_NODES)))
    return [
        (row.name, row.source_uri, row.file_sha)
        for row in connection.execute(wanted.order_by(d.name, d.source_uri))
        if not is_kept(home, row.file_sha, row.bytes)
    ]


def recover_originals(connection: Connection, home: Path) -> None:
    """Keep the missing originals of unchanged files."""
    for name, uri, sha in missing_originals(connection, home):
        path = path_of(uri)
        if uri.startswith("file://") and path.is_file():
            data = path.read_bytes()
            if hashlib.sha256(data).hexdigest() == sha:
                keep_original(home, sha, data, name=name)


@dataclass(frozen=True, slots=True)
class Violation:
    """A contradiction in a document.

    `kind` is span (not its text), place (another line or page), visibility (another than its
    document's), orphan (of no document), duplicate, stale (of an older
    text), fact, family, segment (of no node), citation or snippet.
    """

    kind: str
    document: str
    said: str


_OF_DOCUMENT = "`footnote doctor --fix`; if it stays, `footnote remove DOCUMENT` and ingest it again"
_OF_ANSWER = "none of the documents is wrong; `footnote replay` or the question again gives a new answer"
_REPAIRS = {"citation": _OF_ANSWER, "snippet": _OF_ANSWER}


def audit(engine: Engine, on_progress: Progress = lambda *_: None) -> dict[str, Any]:
    """Counts of what was checked, and `violations`: `kind`, `document`, `said` and `repair` of each, by document.

    One state of the database is read, a few documents at a time. A citation or snippet of a version that is no longer
    kept counts as `unverifiable`.
    """
    seen: Counter[str] = Counter(dict.fromkeys(_COUNTED, 0))
    with read_snapshot(engine), reading(engine, "auditing") as connection:
        names = sorted(connection.execute(select(embedding_models.c.node_table)).scalars())
        found = [*_documents(connection, names, seen, on_progress)]
        for name in names:
            found += left_over(connection, name)
        if active := active_table(connection):
            found += _families(connection, active)
        found += _answers(connection, seen, on_progress)
    violations = [
        {**asdict(each), "repair": _REPAIRS.get(each.kind, _OF_DOCUMENT)}
        for each in sorted(found, key=lambda each: (each.document, each.kind, each.said))
    ]
    return {**seen, "violations": violations}


# Documents with their nodes and facts


def _documents(
    connection: Connection, tables: Sequence[str], seen: Counter[str], on_progress: Progress
) -> Iterator[Violation]:
    total = connection.execute(select(func.count()).select_from(documents)).scalar_one()
    for stored in _batches(connection):
        for name in tables:
            yield from (violation for _, violation in _nodes(connection, name, stored, seen))
        yield from _facts(connection, stored, seen)
        seen["documents"] += len(stored)
        on_progress("documents", seen["documents"], total)


def _batches(connection: Connection) -> Iterator[dict[str, Row[Any]]]:
    """All documents by id, a few at a time.

    Their nodes are compared with the texts here: Postgres would unpack the whole text again for each node.
    """
    d = documents.c
    statement = select(d.id, d.name, d.text, d.first_line, d.pages, d.visibility).execution_options(yield_per=_AT_ONCE)
    for batch in connection.execute(statement).partitions():
        yield {row.id: row for row in batch}


_PLACES = ("start", "end", "line_start", "line_end", "page")


def _nodes(
    connection: Connection, name: str, stored: dict[str, Row[Any]], seen: Counter[str]
) -> Iterator[tuple[str, Violation]]:
    """(document id, violation) of nodes of these documents."""
    rows = node_rows(name)
    true_places = {each.id: Places(each.text, each.first_line, each.pages) for each in stored.values()}
    owner = rows.c.metadata_["document_id"].astext
    places = [cast(rows.c.metadata_[each].astext, Integer).label(each) for each in _PLACES]
    seen_by = rows.c.metadata_["visibility"].astext.label("visibility")
    wanted = select(rows.c.node_id, rows.c.text, owner.label("owner"), seen_by, *places)
    wanted = wanted.where(owner.in_(list(stored)))
    for row in connection.execute(wanted.execution_options(yield_per=1000)):
        seen["nodes"] += 1
        document, node = stored[row.owner], f"node {row.node_id} of {name}"
        if row.visibility not in (None, document.visibility):
            said = f"{node} is {row.visibility}, and its document is {document.visibility}"
            yield row.owner, Violation("visibility", document.name, said)
        if row.start is None or row.end is None or document.text[row.start : row.end] != row.text:
            yield row.owner, Violation("span", document.name, f"{node} is not {row.start}:{row.end}")
            continue
        for place, true in true_places[row.owner].of(row.start, row.end).items():
            if getattr(row, place) not in (None, true):
                said = f"{node} says {place} {getattr(row, place)}, and it is {true}"
                yield row.owner, Violation("place", document.name, said)


def _facts(connection: Connection, stored: dict[str, Row[Any]], seen: Counter[str]) -> Iterator[Violation]:
    f = facts.c
    wanted = select(f.document_id, f.kind, f.ordinal, f.span_start, f.span_end).where(f.document_id.in_(list(stored)))
    for row in connection.execute(wanted):
        seen["facts"] += 1
        document = stored[row.document_id]
        if not 0 <= row.span_start < row.span_end <= len(document.text):
            said = f"{row.kind} {row.ordinal} stands at {row.span_start}:{row.span_end}, which is not in the text"
            yield Violation("fact", document.name, said)


# Rows without their counterpart


def left_over(connection: Connection, name: str) -> Iterator[Violation]:
    """Nodes of no document, nodes that are stored twice, terms of no node, and index rows of an older text."""
    rows, index, terms, d = node_rows(name), document_indexes.c, lexical_segments.c, documents.c
    owner = rows.c.metadata_["document_id"].astext
    lone = select(rows.c.node_id, owner).where(~exists().where(d.id == owner))
    for node, document in connection.execute(lone):
        yield Violation("orphan", document or "", f"node {node} of {name} has no document")
    twice = select(rows.c.node_id, func.count()).group_by(rows.c.node_id).having(func.count() > 1)
    for node, times in connection.execute(twice):
        yield Violation("duplicate", "", f"node {node} of {name} is stored {times} times")
    lost = select(terms.node_id, d.name).join(documents, d.id == terms.document_id)
    lost = lost.where(terms.node_table == name, ~exists().where(rows.c.node_id == terms.node_id))
    for node, document in connection.execute(lost):
        yield Violation("segment", document, f"the terms of node {node} are stored, and {name} has no such node")
    older = select(d.id, d.name).join(document_indexes, d.id == index.document_id)
    for _, document in connection.execute(older.where(index.node_table == name, index.content_sha != d.content_sha)):
        yield Violation("stale", document, f"what {name} holds is of an older text")


def _families(connection: Connection, name: str) -> Iterator[Violation]:
    """Members of families that are no nodes of the active table."""
    f, d = families.c, documents.c
    lost = select(f.member, d.name).join(documents, d.id == f.document_id)
    lost = lost.where(f.kind == "node", ~exists().where(node_rows(name).c.node_id == f.member))
    for member, document in connection.execute(lost):
        yield Violation("family", document, f"node {member} has near-copies, and {name} has no such node")


# Logged answers

# Citations are below sentences and conflicts, snippets below sources and nearest passages. Conflicts that older
# releases logged are strings.
_QUOTATIONS = text("""
    WITH quotation AS (
        SELECT id, 'citation' AS kind, quoted.value AS place, quoted.value ->> 'quote' AS words
        FROM queries, jsonb_array_elements(coalesce(answer -> 'sentences', '[]')) AS sentence,
             jsonb_array_elements(coalesce(sentence.value -> 'evidence', '[]')) AS quoted
        UNION ALL
        SELECT id, 'citation', quoted.value, quoted.value ->> 'quote'
        FROM queries, jsonb_array_elements(coalesce(answer -> 'conflicts', '[]')) AS conflict,
             jsonb_array_elements(coalesce(conflict.value -> 'sides', '[]')) AS quoted
        UNION ALL
        SELECT id, 'snippet', quoted.value, quoted.value ->> 'snippet'
        FROM queries,
             jsonb_array_elements(coalesce(answer -> 'sources', '[]') || coalesce(answer -> 'nearest', '[]')) AS quoted
    )
    SELECT quotation.id AS query, kind, words,
           place ->> 'document_id' AS document_id, place ->> 'content_sha' AS content_sha,
           (place ->> 'start')::integer AS start, (place ->> 'end')::integer AS "end",
           documents.name AS name, count(*) OVER () AS total
    FROM quotation LEFT JOIN documents ON documents.id = place ->> 'document_id'
    ORDER BY document_id, content_sha, query
""")


def _answers(connection: Connection, seen: Counter[str], on_progress: Progress) -> Iterator[Violation]:
    version: tuple[str, str] | None = None
    stored: str | None = None
    quotations = connection.execute(_QUOTATIONS.execution_options(yield_per=1000))
    for done, row in enumerate(quotations, start=1):
        if (row.document_id, row.content_sha) != version:
            version = (row.document_id, row.content_sha)
            stored = version_text(connection, *version)
        seen["citations" if row.kind == "citation" else "snippets"] += 1
        on_progress("quotations", done, row.total)
        if stored is None:
            seen["unverifiable"] += 1
        elif stored[row.start : row.end] != row.words:
            said = f"query {row.query} quotes {row.start}:{row.end}, which reads otherwise"
            yield Violation(row.kind, row.name or row.document_id, said)
