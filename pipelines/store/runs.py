"""The run log, as runs write it: when each began and ended, and what became of which document."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Connection, Engine, Executable, func, insert, select, text, update
from sqlalchemy.exc import DBAPIError

from pipelines.errors import FootnoteError
from pipelines.observe import log
from pipelines.store.copying import append_rows
from pipelines.store.database import translate, writing
from pipelines.store.snapshots import take_snapshot
from pipelines.store.tables import document_versions, ingest_items, ingest_runs
from pipelines.types import IngestItem, IngestReport, RunKind, RunState, SourceItem

IDS = 2**31  # run ids are below, as they are half of the key of an advisory lock
LOCK = 0x466F6F74  # with a run's id, the advisory lock that a run holds while it works


@contextmanager
def open_run(
    engine: Engine,
    sources: Sequence[str],
    *,
    kind: RunKind = "ingest",
    undoes: int | None = None,
    looked: float = 0.0,
) -> Iterator[int]:
    """The id of a new run, open as long as the block works; a run that ends by an error is `stopped`.

    It started when it began to look at its sources: `looked` seconds ago.

    A connection of its own holds a lock meanwhile, so that a run whose process was killed is known by its absence.

    Raises:
        ServiceUnavailable: If the database cannot be reached.
    """
    listed = [_storable(source) for source in sources]
    started = func.now() - timedelta(seconds=looked)
    row = insert(ingest_runs).values(
        sources=listed, counts={}, kind=kind, state="running", undoes=undoes, started_at=started
    )
    own, run_id = _opened(engine, row.returning(ingest_runs.c.id))
    try:
        yield run_id
    except BaseException:
        _stop(engine, run_id)
        raise
    finally:
        own.close()


def _opened(engine: Engine, row: Executable) -> tuple[Connection, int]:
    """(a connection that holds the lock of a new run until it is closed, the run's id)."""
    try:
        with ExitStack() as opening:
            own = opening.enter_context(engine.connect())
            own.detach()  # so that closing it really ends the session, and its lock
            run_id = int(own.execute(row).scalar_one())
            own.execute(text("SELECT pg_advisory_lock(:lock, :run)"), {"lock": LOCK, "run": run_id})
            own.commit()
            opening.pop_all()
    except DBAPIError as error:
        raise translate(error, "opening a run") from error
    return own, run_id


def _stop(engine: Engine, run_id: int) -> None:
    """Close a run that an error ended, if the database can still be reached."""
    runs = ingest_runs.c
    try:
        with writing(engine, "closing a run") as connection:
            counts = counts_by_outcome(connection, [run_id]).get(run_id, {})
            lasted = func.extract("epoch", func.clock_timestamp() - runs.started_at)
            connection.execute(
                update(ingest_runs)
                .where(runs.id == run_id, runs.state == "running")
                .values(state="stopped", finished_at=func.clock_timestamp(), seconds=lasted, counts=counts)
            )
    except FootnoteError as error:
        log("warning", "the run could not be closed", run=run_id, error=error.message)


def _storable(text: str) -> str:
    """The text without halves of characters, which file names may hold and the database may not."""
    return text.encode("utf-8", "replace").decode()


_DONE = tuple(field.name for field in fields(IngestItem))


class Logged(NamedTuple):
    """What became of a document, and the version that it took the place of."""

    collection: str
    item: SourceItem
    done: IngestItem
    version_id: int | None = None


def write_items(connection: Connection, run_id: int, logged: Sequence[Logged]) -> None:
    """Write what became of documents, in the transaction that made it so."""
    rows = [
        {"run_id": run_id, "collection": collection, "source": item.source, "source_uri": item.uri,
         "version_id": version_id, **{name: getattr(done, name) for name in _DONE}}
        for collection, item, done, version_id in logged
    ]  # fmt: skip
    append_rows(connection, ingest_items, rows)
    kept = [row["version_id"] for row in rows if row["version_id"] is not None]
    if kept:
        connection.execute(update(document_versions).where(document_versions.c.id.in_(kept)).values(run_id=run_id))


def logged_items(connection: Connection, run_id: int, uris: Sequence[str]) -> dict[str, IngestItem]:
    """What became of these documents in a run so far, by URI; those that it has not come to are missing."""
    row = ingest_items.c
    columns = [row[field.name] for field in fields(IngestItem)]
    found = connection.execute(
        select(row.source_uri, *columns).where(row.run_id == run_id, row.source_uri.in_(uris)).order_by(row.id)
    )
    return {uri: IngestItem(*rest) for uri, *rest in found}


def finish_run(engine: Engine, report: IngestReport, counts: Mapping[str, int], *, state: RunState = "done") -> None:
    """Close a run with its counts, and whether it was done or stopped; then take the day's snapshot, if that can be."""
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
    """How many documents a run added or changed a second; None where it did neither."""
    made = sum(counts.get(outcome, 0) for outcome in ("added", "updated", "metadata"))
    return round(made / seconds, 2) if made and seconds else None


def counts_by_outcome(connection: Connection, run_ids: Sequence[int]) -> dict[int, dict[str, int]]:
    """The logged documents of each of these runs, by outcome."""
    item = ingest_items.c
    counted = select(item.run_id, item.outcome, func.count()).where(item.run_id.in_(run_ids))
    found: dict[int, dict[str, int]] = {}
    for run_id, outcome, documents in connection.execute(counted.group_by(item.run_id, item.outcome)):
        found.setdefault(run_id, {})[outcome] = documents
    return found
