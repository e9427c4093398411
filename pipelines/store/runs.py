"""The run log and the query log: what was ingested, what failed and why, what was asked."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Engine, func, insert, select, text, update

from pipelines.errors import RetrievalError
from pipelines.store.database import reading, writing
from pipelines.store.tables import document_versions, documents, ingest_items, ingest_runs, queries
from pipelines.types import Answer, IngestItem, IngestReport, RunKind, RunState, SourceItem, Trace

_DIGITS = frozenset("0123456789abcdef")  # of a query's id


def start_run(engine: Engine, sources: Sequence[str], *, kind: RunKind = "ingest", undoes: int | None = None) -> int:
    """Open a run of a kind, which may undo another run; its id."""
    with writing(engine, "opening a run") as connection:
        row = connection.execute(
            insert(ingest_runs)
            .values(
                sources=[_storable(source) for source in sources], counts={}, kind=kind, state="running", undoes=undoes
            )
            .returning(ingest_runs.c.id)
        )
        return int(row.scalar_one())


def _storable(text: str) -> str:
    """The text without halves of characters, which file names may hold and the database may not."""
    return text.encode("utf-8", "replace").decode()


def write_item(
    connection: Connection,
    run_id: int,
    collection: str,
    item: SourceItem,
    done: IngestItem,
    *,
    version_id: int | None = None,
) -> None:
    """Write what became of one document, in the transaction that made it so, and which version it took the place of."""
    connection.execute(
        insert(ingest_items).values(
            run_id=run_id, collection=collection, source=item.source, source_uri=item.uri, version_id=version_id,
            **asdict(done),
        )
    )  # fmt: skip
    if version_id is not None:
        kept = document_versions.c
        connection.execute(update(document_versions).where(kept.id == version_id).values(run_id=run_id))


def finish_run(engine: Engine, report: IngestReport, counts: Mapping[str, int], *, state: RunState = "done") -> None:
    """Close a run with its counts, and whether it was done or stopped."""
    with writing(engine, "closing a run") as connection:
        connection.execute(
            update(ingest_runs)
            .where(ingest_runs.c.id == report.run_id)
            .values(finished_at=datetime.now(UTC), counts=dict(counts), seconds=report.seconds, state=state)
        )


def standing_failures(engine: Engine, collection: str) -> list[dict[str, Any]]:
    """The documents whose last attempt failed, by name: an older version may still be stored.

    A place that could not even be listed is no document; its run says so.

    Each has `document`, `source_uri`, `stage`, `error`, `message`, `hint`, `at`, `stored` (whether a version serves).
    """
    newest = select(func.max(ingest_items.c.id)).where(ingest_items.c.collection == collection)
    last = newest.group_by(ingest_items.c.source_uri)
    with reading(engine, "reading the run log") as connection:
        rows = connection.execute(
            select(ingest_items, documents.c.id.label("stored"))
            .outerjoin(
                documents,
                (documents.c.source_uri == ingest_items.c.source_uri)
                & (documents.c.collection == ingest_items.c.collection),
            )
            .where(ingest_items.c.id.in_(last), ingest_items.c.outcome == "failed", ingest_items.c.stage != "list")
            .order_by(ingest_items.c.document)
        ).all()
    wanted = ("document", "source_uri", "stage", "error", "message", "hint")
    return [
        {name: getattr(row, name) for name in wanted} | {"at": row.at.isoformat(), "stored": row.stored is not None}
        for row in rows
    ]


def save_query(engine: Engine, trace: Trace, *, kind: str, answer: Answer | None = None) -> None:
    """Write a query's ledger, with its answer if there was one; a crash may lose the last moment's."""
    with reading(engine, "logging a query") as connection, connection.begin():
        connection.execute(text("SET LOCAL synchronous_commit = off"))
        connection.execute(
            insert(queries).values(
                id=trace.id,
                kind=kind,
                question=trace.intent.question,
                audience=trace.audience,
                corpus_version=trace.corpus_version,
                settings=trace.settings,
                trace=jsonable(trace),
                answer=None if answer is None else jsonable(answer),
                latency_ms=trace.timings_ms["total"],
                route="auto" if "auto" in trace.tags else "base",
                tags=list(trace.tags),
                timings_ms=dict(trace.timings_ms),
                usage={} if answer is None else dict(answer.usage),
                band=next((tried.evidence.band for tried in reversed(trace.attempts) if tried.kept), ""),
                answered=None if answer is None else answer.answered,
            )
        )


def latest_queries(engine: Engine, limit: int) -> list[dict[str, Any]]:
    """The last questions, newest first.

    Each has `id`, `asked_at`, `kind` (search or ask), `question`, `audience`, `route` (base or auto), `tags`,
    `latency_ms`, `band` (of the evidence), `answered` (None for a search).
    """
    wanted = ("id", "asked_at", "kind", "question", "audience", "route", "tags", "latency_ms", "band", "answered")
    with reading(engine, "reading the query log") as connection:
        rows = connection.execute(
            select(*(queries.c[name] for name in wanted)).order_by(queries.c.asked_at.desc(), queries.c.id).limit(limit)
        ).all()
    return [{name: jsonable(getattr(row, name)) for name in wanted} for row in rows]


def read_query(engine: Engine, named: str) -> dict[str, Any]:
    """One logged query with its `trace` and `answer`, by its id or by the beginning of one, if no other begins so.

    Raises:
        RetrievalError: If there is none, or there are several.
    """
    found: list[str] = []
    with reading(engine, "reading the query log") as connection:
        if named and set(named) <= _DIGITS:
            begins = queries.c.id.startswith(named)
            found = list(connection.execute(select(queries.c.id).where(begins).limit(6)).scalars())
        if len(found) > 1:
            raise RetrievalError(
                f"{named!r} could be {len(found)} queries or more: {', '.join(sorted(found)[:5])}.",
                hint="Give more of the id.",
            )
        if not found:
            raise RetrievalError(f"There is no query {named[:80]!r}.", hint="`footnote trace` lists the latest.")
        row = connection.execute(select(queries).where(queries.c.id == found[0])).one()
    return {name: jsonable(value) for name, value in row._mapping.items()}


def jsonable(value: Any) -> Any:
    """A value type as what `json.dumps` takes: dataclasses become objects, tuples lists, dates ISO strings."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: jsonable(item) for name, item in _shallow(value).items()}
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [jsonable(item) for item in value]
    return value.isoformat() if isinstance(value, datetime) else value


def _shallow(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


def fingerprint(settings: Mapping[str, Any]) -> str:
    """Twelve hex digits that tell two settings apart."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode()).hexdigest()[:12]
