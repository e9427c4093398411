"""The kept versions of documents: what a run did to each, and what logged answers quoted of which version."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Row, func, or_, select, text

from pipelines.store.documents import MAKES_A_VERSION, from_row
from pipelines.store.filters import seen_by
from pipelines.store.schema import document_versions, documents, ingest_items, ingest_runs
from pipelines.types import Audience, Document, Outcome, SourceItem

_DATES = ("published_at", "modified_at", "ingested_at")
Effect = Literal["stands", "covered", "undone"]
State = Mapping[str, str]  # what tells two states of a document apart: the values of MAKES_A_VERSION


@dataclass(frozen=True, slots=True)
class Change:
    """What a run did to one document, and how the document stands now.

    Attributes:
        item: Where it was when the run wrote it.
        collection: Where it belonged then.
        document_id: Its identity.
        outcome: What the run made of it.
        version: The version that the run kept of it; None where there was none before or it was just this, 0 where no
            versions were kept.
        before: What that version holds; None where there is none any more.
        now: What is stored now; None for a document that is gone.
        effect: Whether what the run did still stands; `covered` where later runs changed it again.
        covered_by: The run that would have to be undone first.
        last: The row of the run log that last changed it.
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
    last: int = 0


def changes_of(connection: Connection, run_id: int) -> list[Change]:
    """What a run changed, the newest change first."""
    item, d, v = ingest_items.c, documents.c, document_versions.c
    statement = (
        select(
            item.document_id, item.document, item.collection, item.source, item.source_uri, item.outcome,
            item.version_id,
            func.coalesce(d.source_kind, v.row["source_kind"].astext, "file").label("source_kind"),
            v.id.label("kept"), d.id.label("held"),
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


def _change(run_id: int, row: Any, history: list[tuple[int, int, int | None]]) -> Change:
    logged = [(run, undoes) for _, run, undoes in history]
    effect, covered_by = effect_of(run_id, logged) if run_id in {run for run, _ in logged} else ("undone", 0)
    return Change(
        SourceItem(row.source_uri, row.document, row.source, row.source_kind),
        row.collection,
        row.document_id,
        row.outcome,
        row.version_id,
        None if row.kept is None else {name: getattr(row, f"before_{name}") for name in MAKES_A_VERSION},
        None if row.held is None else {name: getattr(row, f"now_{name}") for name in MAKES_A_VERSION},
        effect,
        covered_by,
        history[-1][0] if history else 0,
    )


def _changing() -> ColumnElement[bool]:
    """The rows of the run log after which a document was another than before."""
    item = ingest_items.c
    anew = item.outcome.in_(("updated", "metadata")) & item.version_id.is_not(None)
    return or_(item.outcome.in_(("added", "removed")), anew)


def _histories(connection: Connection, run_id: int) -> dict[str, list[tuple[int, int, int | None]]]:
    """(row of the log, run, the run that it undoes) of every change of every document that a run touched, in order."""
    item, touched = ingest_items.c, select(ingest_items.c.document_id).where(ingest_items.c.run_id == run_id)
    statement = (
        select(item.document_id, item.id, item.run_id, ingest_runs.c.undoes)
        .join(ingest_runs, ingest_runs.c.id == item.run_id)
        .where(item.document_id.in_(touched), item.document_id != "", _changing())
        .order_by(item.id)
    )
    found: dict[str, list[tuple[int, int, int | None]]] = {}
    for document_id, row, run, undoes in connection.execute(statement):
        found.setdefault(document_id, []).append((row, run, undoes))
    return found


def effect_of(run_id: int, changes: Sequence[tuple[int, int | None]]) -> tuple[Effect, int]:
    """(whether what a run did to a document still stands, the run to be undone first where others came on top).

    Each change makes a new state of the document, but for one that undoes a run: that goes back to the state before the
    run. So the states are a tree. A run that went on to another state stands while the present one comes from that; a
    run that went back stands while the present state does not come from the one that it left.

    Args:
        run_id: A run among the changes.
        changes: (the run, the run that it undoes) of each change of the document, oldest first.
    """
    parents, makers, now = [-1], [0], 0  # by state; the first is what was before the log
    before: dict[int, int] = {}
    after: dict[int, int] = {}
    for run, undoes in changes:
        before.setdefault(run, now)
        if undoes in before:
            now = before[undoes]
        elif makers[now] != run:
            parents.append(now)
            makers.append(run)
            now = len(parents) - 1
        after[run] = now
    lineage = _lineage(now, parents)
    went_on = before[run_id] in _lineage(after[run_id], parents)
    if (after[run_id] not in lineage) if went_on else (before[run_id] in lineage):
        return "undone", 0
    if after[run_id] == now:
        return "stands", 0
    return "covered", makers[now] if after[run_id] in lineage else changes[-1][0]


def _lineage(state: int, parents: Sequence[int]) -> set[int]:
    """A state and all that it came from."""
    found: set[int] = set()
    while state >= 0:
        found.add(state)
        state = parents[state]
    return found


def last_change(connection: Connection, document_id: str) -> tuple[int, int]:
    """(row of the run log, run) of the last change of a document; zeros for one that never changed."""
    item = ingest_items.c
    statement = select(item.id, item.run_id).where(item.document_id == document_id, _changing())
    row = connection.execute(statement.order_by(item.id.desc()).limit(1)).one_or_none()
    return (row.id, row.run_id) if row else (0, 0)


def read_version(connection: Connection, version_id: int) -> Document | None:
    """The Document that a kept version holds; None when it is no longer kept."""
    row = connection.execute(
        select(document_versions.c.row).where(document_versions.c.id == version_id)
    ).scalar_one_or_none()
    return None if row is None else from_row(dated(row))


def dated(row: Mapping[str, Any]) -> dict[str, Any]:
    """A version's row with moments instead of the texts that JSON has for them."""
    moments = {name: datetime.fromisoformat(row[name]) for name in _DATES if row.get(name)}
    return {**row, **moments}


def taken_by(connection: Connection, collection: str, source_uri: str, document_id: str) -> str | None:
    """The id of another document that stands at a URI; None where there is none."""
    d = documents.c
    other = select(d.id).where(d.collection == collection, d.source_uri == source_uri, d.id != document_id)
    return connection.execute(other).scalar_one_or_none()


# Citations stand below sentences and conflicts; what was shown to the writer, or came nearest, stands beside them.
# The conflicts that older releases logged were only told: they are strings.
_QUOTATIONS = text("""
    WITH quoted AS (
        SELECT id, 'citation' AS kind, own.value AS held, own.value ->> 'quote' AS said
        FROM queries, jsonb_array_elements(coalesce(answer -> 'sentences', '[]')) AS sentence,
             jsonb_array_elements(coalesce(sentence.value -> 'evidence', '[]')) AS own
        UNION ALL
        SELECT id, 'citation', own.value, own.value ->> 'quote'
        FROM queries, jsonb_array_elements(coalesce(answer -> 'conflicts', '[]')) AS conflict,
             jsonb_array_elements(coalesce(conflict.value -> 'sides', '[]')) AS own
        UNION ALL
        SELECT id, 'snippet', own.value, own.value ->> 'snippet'
        FROM queries,
             jsonb_array_elements(coalesce(answer -> 'sources', '[]') || coalesce(answer -> 'nearest', '[]')) AS own
    )
    SELECT quoted.id AS query, kind, said, held ->> 'document_id' AS document_id, held ->> 'content_sha' AS content_sha,
           (held ->> 'start')::integer AS start, (held ->> 'end')::integer AS "end", documents.name AS name,
           count(*) OVER () AS total
    FROM quoted LEFT JOIN documents ON documents.id = held ->> 'document_id'
    ORDER BY document_id, content_sha, query
""")


def quotations(connection: Connection) -> Iterator[Row[Any]]:
    """Every citation and snippet of the logged answers, one version of a document after the other.

    Each has `query`, `kind` (citation or snippet), `said` (the words), `document_id`, `content_sha`, `start`, `end`,
    the document's `name`, None for one that is gone, and the `total` of them all.
    """
    yield from connection.execute(_QUOTATIONS.execution_options(yield_per=1000))


def version_text(connection: Connection, document_id: str, content_sha: str) -> str | None:
    """The text of a version of a document, stored or kept; None when it is no longer kept."""
    d, v = documents.c, document_versions.c
    now = select(d.text).where(d.id == document_id, d.content_sha == content_sha)
    before = select(v.row["text"].astext).where(v.document_id == document_id, v.content_sha == content_sha).limit(1)
    held: str | None = connection.execute(now).scalar() or connection.execute(before).scalar()
    return held


@dataclass(frozen=True, slots=True)
class Hashes:
    """Which version of a document is stored: the hashes of its text and of its file, and when it was last added."""

    name: str
    content_sha: str
    file_sha: str
    added_at: datetime | None


def hashes_of(connection: Connection, document_ids: Collection[str], audience: Audience) -> dict[str, Hashes]:
    """The versions of these documents that are stored now; those that this audience cannot see are missing."""
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
