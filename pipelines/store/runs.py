"""The run log: the start and end of each run, the outcome of each document, and the current failures."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, exists, func, insert, select, text, update
from sqlalchemy.exc import DBAPIError

from config.sources import kind_of
from pipelines.errors import FootnoteError, RetrievalError
from pipelines.observe import log, log_failure
from pipelines.store.database import append_rows, read_rows, reading, translate, writing
from pipelines.store.fetch_cache import normalised_source
from pipelines.store.originals import named_uri
from pipelines.store.schema import document_versions, documents, ingest_items, ingest_runs
from pipelines.store.statistics import take_snapshot
from pipelines.text import printable
from pipelines.types import IngestItem, IngestReport, RunKind, SourceItem

IDS = 2**31  # run ids are below, as they are half of the key of an advisory lock
LOCK = 0x466F6F74  # with a run's id, the advisory lock that a run holds while it works
# The ids of the runs whose processes are alive.
_WORKING = text(
    "SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND classid = :lock AND objsubid = 2 "
    "AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


@contextmanager
def open_run(
    engine: Engine, sources: Sequence[str], *, kind: RunKind = "ingest", undoes: int | None = None, looked: float = 0.0
) -> Iterator[int]:
    """The id of a new run, which is open during the block; an error makes it `stopped`.

    It started when it began to list its sources: `looked` seconds ago.

    Another connection holds a lock during the run, so that a run whose process was killed is known by the missing lock.

    Raises:
        ServiceUnavailable: If the database cannot be reached.
    """
    started, runs = func.now() - timedelta(seconds=looked), ingest_runs.c
    row = insert(ingest_runs).values(
        sources=[printable(source) for source in sources], counts={}, kind=kind, state="running", undoes=undoes,
        started_at=started,
    )  # fmt: skip
    try:
        with ExitStack() as opening:
            session = opening.enter_context(engine.connect())
            session.detach()  # so that closing it really ends the session, and its lock
            run_id = int(session.execute(row.returning(runs.id)).scalar_one())
            session.execute(text("SELECT pg_advisory_lock(:lock, :run)"), {"lock": LOCK, "run": run_id})
            session.commit()
            opening.pop_all()
    except DBAPIError as error:
        raise translate(error, "opening a run") from error
    try:
        yield run_id
    except BaseException:
        try:
            with writing(engine, "closing a run") as connection:
                counts = counts_by_outcome(connection, [run_id]).get(run_id, {})
                lasted = func.extract("epoch", func.clock_timestamp() - runs.started_at)
                stopped = update(ingest_runs).where(runs.id == run_id, runs.state == "running")
                connection.execute(
                    stopped.values(state="stopped", finished_at=func.clock_timestamp(), seconds=lasted, counts=counts)
                )
        except FootnoteError as error:
            log_failure("the run could not be closed", error, run=run_id)
        raise
    finally:
        session.close()


_DONE = tuple(field.name for field in fields(IngestItem))


class LoggedItem(NamedTuple):
    """The outcome of a document, and the version that it replaced."""

    collection: str
    item: SourceItem
    done: IngestItem
    version_id: int | None = None


def write_items(connection: Connection, run_id: int, logged: Sequence[LoggedItem]) -> None:
    """Write the outcomes of documents, in the transaction that wrote the documents."""
    rows = [
        {"run_id": run_id, "collection": collection, "source": item.source, "source_uri": item.uri,
         "version_id": version_id, **{name: getattr(done, name) for name in _DONE}}
        for collection, item, done, version_id in logged
    ]  # fmt: skip
    append_rows(connection, ingest_items, rows)
    kept = [row["version_id"] for row in rows if row["version_id"] is not None]
    if kept:
        connection.execute(update(document_versions).where(document_versions.c.id.in_(kept)).values(run_id=run_id))


def logged_items(connection: Connection, run_id: int, uris: Sequence[str]) -> dict[tuple[str, str], IngestItem]:
    """The outcomes of these documents in a run so far, by (collection, URI); those without one are missing."""
    row = ingest_items.c
    columns = [row[field.name] for field in fields(IngestItem)]
    found = connection.execute(
        select(row.collection, row.source_uri, *columns)
        .where(row.run_id == run_id, row.source_uri.in_(uris))
        .order_by(row.id)
    )
    return {(collection, uri): IngestItem(*rest) for collection, uri, *rest in found}


def finish_run(engine: Engine, report: IngestReport) -> None:
    """Close a run with its counts and its state; then take the day's snapshot, if that succeeds."""
    counts, state = Counter[str](item.outcome for item in report.items), "stopped" if report.stopped else "done"
    with writing(engine, "closing a run") as connection:
        connection.execute(
            update(ingest_runs)
            .where(ingest_runs.c.id == report.run_id)
            .values(finished_at=datetime.now(UTC), counts=dict(counts), seconds=report.seconds, state=state)
        )
    try:
        take_snapshot(engine, documents_per_second(counts, report.seconds))
    except FootnoteError as error:
        log("warning", "no snapshot was written", run=report.run_id, error=error.message)


def documents_per_second(counts: Mapping[str, int], seconds: float | None) -> float | None:
    """The documents per second that a run added or changed; None if it did neither."""
    made = sum(counts.get(outcome, 0) for outcome in ("added", "updated", "metadata"))
    return round(made / seconds, 2) if made and seconds else None


def counts_by_outcome(connection: Connection, run_ids: Sequence[int]) -> dict[int, dict[str, int]]:
    """The logged documents of each of these runs, by outcome."""
    item = ingest_items.c
    counted = select(item.run_id, item.outcome, func.count()).where(item.run_id.in_(run_ids))
    found: dict[int, dict[str, int]] = {}
    for run_id, outcome, count in connection.execute(counted.group_by(item.run_id, item.outcome)):
        found.setdefault(run_id, {})[outcome] = count
    return found


def list_runs(engine: Engine, limit: int) -> list[dict[str, Any]]:
    """The last runs, newest first.

    Each has `id`, `kind`, `state` (running, done, stopped; interrupted = its process died; failed = it ended, and every
    document failed), `started_at`, `finished_at`, `seconds`, `sources`, `counts` (documents by outcome), `nodes` and
    `embedded` of the documents it wrote, `documents_per_second`, `undoes` (the run that it undid) and `undone_by` (the
    runs that undid it).
    """
    with reading(engine, "reading the run log") as connection:
        newest = select(ingest_runs.c.id).order_by(ingest_runs.c.id.desc()).limit(limit)
        return _read_runs(connection, list(connection.execute(newest).scalars()))


def find_run(engine: Engine, run_id: int) -> dict[str, Any]:
    """A run in the form of `list_runs`.

    Raises:
        RetrievalError: If there is no such run.
    """
    with reading(engine, "reading the run log") as connection:
        found = _read_runs(connection, [run_id]) if 0 < run_id < IDS else []
    if not found:
        raise RetrievalError(f"There is no run {run_id}.", hint="`footnote runs` lists them.")
    return found[0]


def read_run(engine: Engine, run_id: int) -> dict[str, Any]:
    """A run in the form of `list_runs`, with its `items` in the order in which they ended.

    Each has `document`, `document_id`, `collection`, `source_uri`, `outcome`, `stage`, `error`, `error_class`, `hint`,
    `nodes`, `embedded`, `seconds`, `version` (the kept version that it replaced) and `at`. Documents that a plan left
    unchanged have none.

    Raises:
        RetrievalError: If there is no such run.
    """
    found, item = find_run(engine, run_id), ingest_items.c
    wanted = (
        item.document, item.document_id, item.collection, item.source_uri, item.outcome, item.stage,
        item.message.label("error"), item.error.label("error_class"), item.hint, item.nodes, item.embedded,
        item.seconds, func.nullif(item.version_id, 0).label("version"), item.at,
    )  # fmt: skip
    rows = read_rows(engine, "reading the run log", select(*wanted).where(item.run_id == run_id).order_by(item.id))
    return {**found, "items": [{**row._mapping, "at": row.at.isoformat()} for row in rows]}


def _read_runs(connection: Connection, run_ids: Sequence[int]) -> list[dict[str, Any]]:
    runs, item = ingest_runs.c, ingest_items.c
    rows = connection.execute(select(ingest_runs).where(runs.id.in_(run_ids)).order_by(runs.id.desc())).all()
    undone = connection.execute(select(runs.id, runs.undoes).where(runs.undoes.in_(run_ids)).order_by(runs.id)).all()
    sums = select(item.run_id, func.sum(item.nodes).label("nodes"), func.sum(item.embedded).label("embedded"))
    made = sums.where(item.run_id.in_(run_ids), item.outcome.in_(("added", "updated"))).group_by(item.run_id)
    work = {row.run_id: row for row in connection.execute(made)}
    counts, working = (
        counts_by_outcome(connection, run_ids),
        set(connection.execute(_WORKING, {"lock": LOCK}).scalars()),
    )

    def state(row: Any) -> str:
        if row.state == "running" and row.id not in working:
            return "interrupted"
        tried = [outcome for outcome, count in row.counts.items() if count]
        return "failed" if row.state == "done" and tried == ["failed"] else str(row.state)

    return [
        {
            **{name: getattr(row, name) for name in ("id", "kind", "seconds", "sources", "undoes")},
            "state": state(row),
            "started_at": row.started_at.isoformat(),
            "finished_at": row.finished_at.isoformat() if row.finished_at else None,
            "counts": row.counts or counts.get(row.id, {}),
            "nodes": int(work[row.id].nodes) if row.id in work else 0,
            "embedded": int(work[row.id].embedded) if row.id in work else 0,
            "documents_per_second": documents_per_second(row.counts, row.seconds),
            "undone_by": [run.id for run in undone if run.undoes == row.id],
        }
        for row in rows
    ]


@dataclass(frozen=True, slots=True)
class FailedDocument:
    """A document whose last attempt failed, with the reason; `stored` is True if an older version is stored.

    A source, or a part of one, that could not be listed is a failure, too.
    """

    collection: str
    source: str
    source_uri: str
    document: str
    stage: str
    error: str
    message: str
    hint: str
    at: datetime
    stored: bool

    @property
    def is_listing(self) -> bool:
        """True if it is a source, or a part of one, that could not be listed."""
        return self.stage == "list"


def current_failures(connection: Connection, collection: str | None = None) -> list[FailedDocument]:
    """The documents and listings whose last attempt failed, by name and address; of all collections if none is given.

    A listing's failure is current until its source is listed without it. A rollback is no attempt.
    """
    item, later, d = ingest_items.c, ingest_items.alias().c, documents.c
    rollbacks = select(ingest_runs.c.id).where(ingest_runs.c.kind == "rollback")
    tried_again = exists().where(
        later.collection == item.collection, later.source_uri == item.source_uri, later.id > item.id,
        later.run_id.not_in(rollbacks),
    )  # fmt: skip
    stored = exists().where(d.collection == item.collection, d.source_uri == item.source_uri)
    wanted = (item[name] for name in FailedDocument.__slots__ if name != "stored")
    statement = (
        select(*wanted, stored.label("stored"))
        .where(item.outcome == "failed", item.run_id.not_in(rollbacks), ~tried_again)
        .order_by(item.document, item.source_uri, item.id)
    )
    if collection is not None:
        statement = statement.where(item.collection == collection)
    return [FailedDocument(**row._mapping) for row in connection.execute(statement)]


def failures_named(failures: Iterable[FailedDocument], named: str) -> list[FailedDocument]:
    """The failures of one document, by its name or address, in all collections.

    Raises:
        RetrievalError: If it could be several documents.
    """
    found = [failure for failure in failures if named in (failure.document, failure.source_uri)]
    if len(addresses := dict.fromkeys(failure.source_uri for failure in found)) > 1:
        listed = ", ".join(list(addresses)[:5])
        raise RetrievalError(
            f"{named!r} could be {len(addresses)} documents that failed: {listed}.", hint="Give the address."
        )
    return found


def failures_from(failures: Iterable[FailedDocument], location: str) -> list[FailedDocument]:
    """The failures of a file, a folder with all below it, or a remote source; GitHub's names without case."""
    uri = named_uri(location)
    places = {normalised_source(location), uri}
    return [
        failure
        for failure in failures
        if not {normalised_source(failure.source), normalised_source(failure.source_uri)}.isdisjoint(places)
        or failure.source_uri.startswith(f"{uri}/")
    ]


def settle_failures(engine: Engine, run_id: int, settled: Mapping[FailedDocument, str]) -> None:
    """Log documents that failed before as unchanged, each with the reason; nothing else is written."""
    rows = [
        LoggedItem(
            failed.collection, SourceItem(failed.source_uri, failed.document, failed.source, kind_of(failed.source)),
            IngestItem(failed.document, "unchanged", message=why),
        )
        for failed, why in settled.items()
    ]  # fmt: skip
    if rows:
        with writing(engine, "settling past failures") as connection:
            write_items(connection, run_id, rows)
