"""The kept versions of documents: the changes of a run, and the quotations of logged answers by version."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Row, func, or_, select, text

from pipelines.store.documents import MAKES_A_VERSION, from_row
from pipelines.store.filters import seen_by
from pipelines.store.schema import document_versions, documents, ingest_items, ingest_runs
from pipelines.types import Audience, Document, Outcome, SourceItem

_DATES = ("published_at", "modified_at", "ingested_at")
Effect = Literal["stands", "covered", "undone"]
State = Mapping[str, str]  # the values of MAKES_A_VERSION


@dataclass(frozen=True, slots=True)
class Change:
    """The effect of a run on one document, and the document's state now.

    Attributes:
        item: Its place when the run wrote it.
        collection: Its collection then.
        document_id: Its id.
        outcome: The outcome of the run.
        version: The version that the run kept; None if there was none or it was equal, 0 if no versions are kept.
        before: The state of that version; None if it is no longer stored.
        now: The stored state; None if the document is gone.
        effect: `stands` if the change is still in effect, `covered` if later runs changed the document again.
        covered_by: The run that has to be undone first.
        written_at: When the stored state was written; None if the document is gone.
    """

    item: SourceItem
    collection: str
    document_id: str
    outcome: Outcome
    version: int | None
    before: State | None
    now: State | None
    effect: Effect = "stands"
    covered_by: int = 0
    written_at: datetime | None = None


def changes_of(connection: Connection, run_id: int) -> list[Change]:
    """The changes of a run, the newest first."""
    item, d, v = ingest_items.c, documents.c, document_versions.c
    statement = (
        select(
            item.document_id, item.document, item.collection, item.source, item.source_uri, item.outcome,
            item.version_id,
            func.coalesce(d.source_kind, v.row["source_kind"].astext, "file").label("source_kind"),
            v.id.label("kept"), d.id.label("stored"), d.ingested_at,
            *(v.row[name].astext.label(f"before_{name}") for name in MAKES_A_VERSION),
            *(d[name].label(f"now_{name}") for name in MAKES_A_VERSION),
        )
        .distinct(item.document_id)
        .outerjoin(document_versions, (v.id == item.version_id) & (v.document_id == item.document_id))
        .outerjoin(documents, d.id == item.document_id)
        .where(item.run_id == run_id, item.outcome.in_(("added", "updated", "metadata", "removed")))
        .order_by(item.document_id, item.id)
        .add_columns(item.id)
    )  # fmt: skip
    rows = connection.execute(statement).all()
    histories = _histories(connection, run_id)
    return [_change(run_id, row, histories.get(row.document_id, [])) for row in sorted(rows, key=lambda row: -row.id)]


def _change(run_id: int, row: Any, history: list[tuple[int, int | None]]) -> Change:
    effect, covered_by = effect_of(run_id, history) if run_id in {run for run, _ in history} else ("undone", 0)
    return Change(
        SourceItem(row.source_uri, row.document, row.source, row.source_kind),
        row.collection,
        row.document_id,
        row.outcome,
        row.version_id,
        None if row.kept is None else {name: getattr(row, f"before_{name}") for name in MAKES_A_VERSION},
        None if row.stored is None else {name: getattr(row, f"now_{name}") for name in MAKES_A_VERSION},
        effect,
        covered_by,
        row.ingested_at,
    )


def _histories(connection: Connection, run_id: int) -> dict[str, list[tuple[int, int | None]]]:
    """(run, the run that it undoes) of every change of every document that a run touched, in order."""
    item, touched = ingest_items.c, select(ingest_items.c.document_id).where(ingest_items.c.run_id == run_id)
    replaced = item.outcome.in_(("updated", "metadata")) & item.version_id.is_not(None)
    changed = or_(item.outcome.in_(("added", "removed")), replaced)
    statement = (
        select(item.document_id, item.run_id, ingest_runs.c.undoes)
        .join(ingest_runs, ingest_runs.c.id == item.run_id)
        .where(item.document_id.in_(touched), item.document_id != "", changed)
        .order_by(item.id)
    )
    found: dict[str, list[tuple[int, int | None]]] = {}
    for document_id, run, undoes in connection.execute(statement):
        found.setdefault(document_id, []).append((run, undoes))
    return found


def effect_of(run_id: int, changes: Sequence[tuple[int, int | None]]) -> tuple[Effect, int]:
    """(the effect of a run on a document, the run that has to be undone first if others came after it).

    A state of the document is the sequence of the runs that led to it. Undoing a run goes back to the state before it;
    every other run adds itself. A run that went forward is in effect while the present state begins with its state; a
    run that went back is in effect while the present state does not begin with the state that it left.

    Args:
        run_id: A run among the changes.
        changes: (the run, the run that it undoes) of each change of the document, oldest first.
    """
    now: tuple[int, ...] = ()
    before: dict[int, tuple[int, ...]] = {}
    after: dict[int, tuple[int, ...]] = {}
    for run, undoes in changes:
        before.setdefault(run, now)
        if undoes in before:
            now = before[undoes]
        elif now[-1:] != (run,):
            now = (*now, run)
        after[run] = now
    left, reached = before[run_id], after[run_id]
    leads_here = now[: len(reached)] == reached
    went_on = reached[: len(left)] == left
    if not leads_here if went_on else now[: len(left)] == left:
        return "undone", 0
    if reached == now:
        return "stands", 0
    return "covered", now[-1] if leads_here else changes[-1][0]


def last_visibility(connection: Connection, document_id: str) -> str | None:
    """The visibility of the newest kept version of a document; None if there is none."""
    v = document_versions.c
    newest = select(v.row["visibility"].astext).where(v.document_id == document_id).order_by(v.id.desc()).limit(1)
    return connection.execute(newest).scalar()


def read_version(connection: Connection, version_id: int) -> Document | None:
    """The Document of a version; None if it is no longer stored."""
    row = connection.execute(
        select(document_versions.c.row).where(document_versions.c.id == version_id)
    ).scalar_one_or_none()
    return None if row is None else from_row(dated(row))


def dated(row: Mapping[str, Any]) -> dict[str, Any]:
    """A version's row with its dates parsed, which are strings in JSON."""
    return {**row, **{name: datetime.fromisoformat(row[name]) for name in _DATES if row.get(name)}}


def taken_by(connection: Connection, collection: str, source_uri: str, document_id: str) -> str | None:
    """The id of another document at a URI; None if there is none."""
    d = documents.c
    other = select(d.id).where(d.collection == collection, d.source_uri == source_uri, d.id != document_id)
    return connection.execute(other).scalar_one_or_none()


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


def quotations(connection: Connection) -> Iterator[Row[Any]]:
    """Every citation and snippet of the logged answers, ordered by version of document.

    Each has `query`, `kind` (citation or snippet), `words`, `document_id`, `content_sha`, `start`, `end`, the
    document's `name` (None if it is gone), and the `total` number of them.
    """
    yield from connection.execute(_QUOTATIONS.execution_options(yield_per=1000))


def version_text(connection: Connection, document_id: str, content_sha: str) -> str | None:
    """The text of a version of a document; None if it is no longer stored."""
    d, v = documents.c, document_versions.c
    now = select(d.text).where(d.id == document_id, d.content_sha == content_sha)
    before = select(v.row["text"].astext).where(v.document_id == document_id, v.content_sha == content_sha).limit(1)
    found: str | None = connection.execute(now).scalar() or connection.execute(before).scalar()
    return found


@dataclass(frozen=True, slots=True)
class Hashes:
    """The hashes of a stored version's text and file, and when the document was last added."""

    name: str
    content_sha: str
    file_sha: str
    added_at: datetime | None


def hashes_of(connection: Connection, document_ids: Collection[str], audience: Audience) -> dict[str, Hashes]:
    """The stored versions of these documents, by id; those that this audience may not see are missing."""
    d, item = documents.c, ingest_items.c
    added = (
        select(func.max(item.at)).where(item.document_id == d.id, item.outcome == "added").correlate(documents)
    ).scalar_subquery()
    statement = select(d.id, d.name, d.content_sha, d.file_sha, added.label("added_at")).where(
        d.id.in_(list(document_ids)), seen_by(audience)
    )
    return {
        row.id: Hashes(row.name, row.content_sha, row.file_sha, row.added_at) for row in connection.execute(statement)
    }
