"""Jobs: what people asked to be taken in, one row a file, worked off by a process of its own.

A worker claims a job and renews its claim by a heartbeat. A job whose worker is silent for `SILENCE` is claimed by
another; what the silent one still writes is refused, as every write names its worker.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import Connection, Engine, and_, func, insert, or_, select, update

from pipelines.errors import RetrievalError
from pipelines.store.database import read_rows, writing
from pipelines.store.schema import job_files, jobs
from pipelines.types import IngestItem

JobKind = Literal["upload", "ingest", "refresh", "reread", "undo", "reindex", "evaluate"]
JobState = Literal["waiting", "running", "done", "cancelled", "failed"]
SILENCE = timedelta(seconds=15)
_MOST_LISTED = 20
ENDED: tuple[JobState, ...] = ("done", "cancelled", "failed")


@dataclass(frozen=True, slots=True)
class ClaimedJob:
    """A claimed job.

    Attributes:
        task: What is to be done, by kind: `locations`, `overrides`, `document`, `runs`.
        runs: The ids of the ingest runs that worked on it so far.
    """

    id: int
    kind: JobKind
    title: str
    task: Mapping[str, Any]
    runs: tuple[int, ...]
    worker: str


@dataclass(frozen=True, slots=True)
class JobFile:
    """A file of a job; its outcome is empty until it has one, `cancelled`, or that of its document."""

    place: int
    name: str
    uri: str
    outcome: str = ""
    message: str = ""
    hint: str = ""
    nodes: int = 0


@dataclass(frozen=True, slots=True)
class JobStatus:
    """A job as a list shows it; `files` are all of its files, `ended` and `failed` count them."""

    id: int
    kind: JobKind
    title: str
    state: JobState
    cancelled: bool
    message: str
    hint: str
    runs: tuple[int, ...]
    created_at: datetime
    files: int
    ended: int
    failed: int

    @property
    def is_over(self) -> bool:
        """True if nothing more will be done for it."""
        return self.state in ENDED


def add_job(
    engine: Engine, kind: JobKind, title: str, task: Mapping[str, Any], files: Sequence[tuple[str, str]] = ()
) -> int:
    """Store a job with its files, (name, URI) each, and return its id; a worker takes it up."""
    row = {"kind": kind, "title": title, "state": "waiting", "task": dict(task), "runs": [], "worker": "",
           "message": "", "hint": ""}  # fmt: skip
    with writing(engine, "storing a job") as connection:
        job_id = int(connection.execute(insert(jobs).values(row).returning(jobs.c.id)).scalar_one())
        _add_files(connection, job_id, files)
    return job_id


def claim_job(engine: Engine, worker: str) -> ClaimedJob | None:
    """The oldest job that waits or whose worker fell silent, now this worker's; None if there is none.

    Two workers never claim the same job.
    """
    j = jobs.c
    is_silent = and_(j.state == "running", j.beat_at < func.clock_timestamp() - SILENCE)
    free = select(j.id).where(or_(j.state == "waiting", is_silent)).order_by(j.id).limit(1)
    now = func.clock_timestamp()
    claim = (
        update(jobs)
        .where(j.id == free.with_for_update(skip_locked=True).scalar_subquery())
        .values(state="running", worker=worker, beat_at=now, started_at=func.coalesce(j.started_at, now))
        .returning(j.id, j.kind, j.title, j.task, j.runs)
    )
    with writing(engine, "claiming a job") as connection:
        row = connection.execute(claim).one_or_none()
    return None if row is None else ClaimedJob(row.id, row.kind, row.title, row.task, tuple(row.runs), worker)


def renew_claim(engine: Engine, job: ClaimedJob) -> Literal["go on", "cancelled", "lost"]:
    """Say that the worker lives; tells whether it should stop, because of a person or because the job is another's."""
    beat = update(jobs).where(*_mine(job)).values(beat_at=func.clock_timestamp()).returning(jobs.c.cancelled)
    with writing(engine, "renewing a claim") as connection:
        cancelled = connection.execute(beat).scalar_one_or_none()
    return "lost" if cancelled is None else "cancelled" if cancelled else "go on"


def add_run(engine: Engine, job: ClaimedJob, run_id: int) -> None:
    """Note a run that works on a job, so that the job can be undone.

    Raises:
        RetrievalError: If the job is another worker's by now.
    """
    with writing(engine, "noting a run of a job") as connection:
        _assert_mine(connection, job)
        grown = jobs.c.runs.op("||")(func.to_jsonb(run_id))
        connection.execute(update(jobs).where(jobs.c.id == job.id).values(runs=grown))


def expect_files(engine: Engine, job: ClaimedJob, files: Sequence[tuple[str, str]]) -> None:
    """Add the files, (name, URI) each, that a job turned out to have; those that it has stay."""
    with writing(engine, "noting the files of a job") as connection:
        _assert_mine(connection, job)
        f = job_files.c
        known = set(connection.execute(select(f.uri).where(f.job_id == job.id)).scalars())
        _add_files(connection, job.id, [each for each in files if each[1] not in known], first=len(known))


def end_files(engine: Engine, job: ClaimedJob, outcomes: Mapping[str, IngestItem]) -> None:
    """Store the outcomes of files of a job, by URI; one that has an outcome keeps it."""
    f = job_files.c
    with writing(engine, "storing the outcome of a file") as connection:
        _assert_mine(connection, job)
        for uri, item in outcomes.items():
            ended = update(job_files).where(f.job_id == job.id, f.uri == uri, f.outcome == "")
            connection.execute(
                ended.values(outcome=item.outcome, message=item.message, hint=item.hint, nodes=item.nodes)
            )


def end_job(engine: Engine, job: ClaimedJob, state: JobState, message: str = "", hint: str = "") -> bool:
    """Close a job; what has no outcome is `cancelled` then. False if it is another worker's by now."""
    closed = update(jobs).where(*_mine(job)).values(
        state=state, message=message, hint=hint, finished_at=func.clock_timestamp(), worker=""
    )  # fmt: skip
    with writing(engine, "closing a job") as connection:
        if not connection.execute(closed).rowcount:
            return False
        _cancel_files(connection, job.id)
    return True


def release_job(engine: Engine, job: ClaimedJob) -> None:
    """Give a job back as far as it is done; another worker goes on with it at once."""
    with writing(engine, "giving a job back") as connection:
        connection.execute(update(jobs).where(*_mine(job)).values(state="waiting", worker=""))


def cancel_job(engine: Engine, job_id: int) -> None:
    """Stop a job after the documents that are under way; one that waits ends at once."""
    j = jobs.c
    with writing(engine, "cancelling a job") as connection:
        waiting = update(jobs).where(j.id == job_id, j.state == "waiting")
        ended = connection.execute(
            waiting.values(state="cancelled", cancelled=True, finished_at=func.clock_timestamp())
        )
        if ended.rowcount:
            _cancel_files(connection, job_id)
        connection.execute(update(jobs).where(j.id == job_id, j.state == "running").values(cancelled=True))


def retry_job(engine: Engine, job_id: int) -> None:
    """Let a worker take up again what failed or was cancelled in a job that is over."""
    f, j = job_files.c, jobs.c
    with writing(engine, "retrying a job") as connection:
        again = update(jobs).where(j.id == job_id, j.state.in_(ENDED))
        waiting = again.values(state="waiting", cancelled=False, dismissed=False, message="", hint="", finished_at=None)
        if connection.execute(waiting).rowcount:
            left = update(job_files).where(f.job_id == job_id, f.outcome.in_(("failed", "cancelled")))
            connection.execute(left.values(outcome="", message="", hint="", nodes=0))


def dismiss_job(engine: Engine, job_id: int) -> None:
    """Show a job that is over no more."""
    with writing(engine, "dismissing a job") as connection:
        connection.execute(update(jobs).where(jobs.c.id == job_id, jobs.c.state.in_(ENDED)).values(dismissed=True))


def list_jobs(engine: Engine, *, ids: Collection[int] | None = None) -> list[JobStatus]:
    """The jobs that were not dismissed, the latest first; or those of these ids."""
    j, f = jobs.c, job_files.c
    counts = (
        select(
            f.job_id,
            func.count().label("files"),
            func.count().filter(f.outcome != "").label("ended"),
            func.count().filter(f.outcome == "failed").label("failed"),
        )
        .group_by(f.job_id)
        .subquery()
        .c
    )
    columns = (j.id, j.kind, j.title, j.state, j.cancelled, j.message, j.hint, j.runs, j.created_at)
    numbers = (func.coalesce(counts[name], 0).label(name) for name in ("files", "ended", "failed"))
    statement = select(*columns, *numbers).outerjoin(counts.job_id.table, counts.job_id == j.id)
    statement = statement.where(~j.dismissed) if ids is None else statement.where(j.id.in_(list(ids)))
    rows = read_rows(engine, "listing jobs", statement.order_by(j.id.desc()).limit(_MOST_LISTED))
    return [JobStatus(**{**row._mapping, "runs": tuple(row.runs)}) for row in rows]


def files_of_job(engine: Engine, job_id: int) -> list[JobFile]:
    """The files of a job, in their order."""
    f = job_files.c
    columns = (f.place, f.name, f.uri, f.outcome, f.message, f.hint, f.nodes)
    rows = read_rows(engine, "reading a job", select(*columns).where(f.job_id == job_id).order_by(f.place))
    return [JobFile(*row) for row in rows]


def waiting_files(engine: Engine, job: ClaimedJob) -> list[JobFile]:
    """The files of a job that have no outcome yet."""
    return [file for file in files_of_job(engine, job.id) if not file.outcome]


def _mine(job: ClaimedJob) -> tuple[Any, ...]:
    return jobs.c.id == job.id, jobs.c.worker == job.worker, jobs.c.state == "running"


def _assert_mine(connection: Connection, job: ClaimedJob) -> None:
    if connection.execute(select(jobs.c.id).where(*_mine(job)).with_for_update()).first() is None:
        raise RetrievalError(f"Job {job.id} was taken up by another worker.", hint="This one leaves it alone.")


def _add_files(connection: Connection, job_id: int, files: Sequence[tuple[str, str]], first: int = 0) -> None:
    if files:
        given = {"job_id": job_id, "outcome": "", "message": "", "hint": "", "nodes": 0}
        rows = [{**given, "place": place, "name": name, "uri": uri} for place, (name, uri) in enumerate(files, first)]
        connection.execute(insert(job_files), rows)


def _cancel_files(connection: Connection, job_id: int) -> None:
    f = job_files.c
    connection.execute(update(job_files).where(f.job_id == job_id, f.outcome == "").values(outcome="cancelled"))
