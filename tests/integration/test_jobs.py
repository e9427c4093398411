"""A job is done once, by one worker at a time, and by another if that one dies."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine, text

from config.settings import Settings
from pipelines.errors import RetrievalError
from pipelines.store.database import open_database
from pipelines.store.jobs import (
    ClaimedJob,
    add_job,
    add_run,
    cancel_job,
    claim_job,
    dismiss_job,
    end_files,
    end_job,
    expect_files,
    files_of_job,
    list_jobs,
    renew_claim,
    retry_job,
    waiting_files,
)
from pipelines.types import IngestItem

FILES = [(name, f"file:///up/{name}") for name in ("a.md", "b.md", "c.md")]
ADDED, FAILED = (
    IngestItem("a.md", "added", nodes=2),
    IngestItem("b.md", "failed", message="It is empty.", hint="Fill it."),
)


@pytest.fixture
def engine(settings: Settings) -> Iterator[Engine]:
    database = open_database(settings)
    yield database.engine
    database.engine.dispose()


def upload(engine: Engine) -> int:
    return add_job(engine, "upload", "3 files", {}, FILES)


def claimed(engine: Engine, worker: str = "one") -> ClaimedJob:
    job = claim_job(engine, worker)
    assert job
    return job


def fall_silent(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("UPDATE jobs SET beat_at = beat_at - interval '16 seconds'"))


def test_two_workers_never_claim_the_same_job(engine: Engine) -> None:
    expected = {upload(engine) for _ in range(40)}

    def work(worker: str) -> list[int]:
        found = []
        while job := claim_job(engine, worker):
            found.append(job.id)
        return found

    with ThreadPoolExecutor(4) as workers:
        shares = list(workers.map(work, "abcd"))
    ids = [each for share in shares for each in share]
    assert (len(ids), set(ids)) == (40, expected)


def test_every_file_is_accounted_for(engine: Engine) -> None:
    upload(engine)
    job = claimed(engine)
    end_files(engine, job, {FILES[0][1]: ADDED, FILES[1][1]: FAILED})
    [status] = list_jobs(engine)
    assert (status.files, status.ended, status.failed, status.state) == (3, 2, 1, "running")
    assert [file.uri for file in waiting_files(engine, job)] == [FILES[2][1]]
    end_files(engine, job, {FILES[0][1]: FAILED, FILES[2][1]: ADDED})  # an outcome stays
    assert end_job(engine, job, "done")
    assert [(file.outcome, file.message, file.nodes) for file in files_of_job(engine, job.id)] == [
        ("added", "", 2), ("failed", "It is empty.", 0), ("added", "", 2)
    ]  # fmt: skip
    assert claim_job(engine, "two") is None


def test_the_job_of_a_silent_worker_is_anothers_and_the_silent_one_writes_nothing(engine: Engine) -> None:
    upload(engine)
    dead = claimed(engine)
    end_files(engine, dead, {FILES[0][1]: ADDED})
    add_run(engine, dead, 7)
    assert claim_job(engine, "two") is None
    fall_silent(engine)
    assert renew_claim(engine, dead) == "go on"
    assert claim_job(engine, "two") is None
    fall_silent(engine)
    job = claimed(engine, "two")
    assert (job.id, job.runs) == (dead.id, (7,))
    assert renew_claim(engine, dead) == "lost"
    for write in (lambda: end_files(engine, dead, {FILES[1][1]: ADDED}), lambda: add_run(engine, dead, 8)):
        with pytest.raises(RetrievalError, match="another worker"):
            write()
    assert not end_job(engine, dead, "done")
    assert len(waiting_files(engine, job)) == 2
    assert end_job(engine, job, "done")


def test_a_job_that_waits_is_cancelled_at_once_and_one_that_runs_is_told(engine: Engine) -> None:
    waiting = upload(engine)
    cancel_job(engine, waiting)
    assert claim_job(engine, "one") is None
    assert {file.outcome for file in files_of_job(engine, waiting)} == {"cancelled"}
    running = upload(engine)
    job = claimed(engine)
    cancel_job(engine, running)
    assert renew_claim(engine, job) == "cancelled"
    end_files(engine, job, {FILES[0][1]: ADDED})
    end_job(engine, job, "cancelled")
    assert [file.outcome for file in files_of_job(engine, running)] == ["added", "cancelled", "cancelled"]


def test_a_retry_takes_up_what_failed_and_nothing_else(engine: Engine) -> None:
    job_id = upload(engine)
    job = claimed(engine)
    retry_job(engine, job_id)  # it is not over
    end_files(engine, job, {FILES[0][1]: ADDED, FILES[1][1]: FAILED})
    end_job(engine, job, "done")
    dismiss_job(engine, job_id)
    assert list_jobs(engine) == []
    retry_job(engine, job_id)
    assert [file.name for file in waiting_files(engine, claimed(engine))] == ["b.md", "c.md"]
    assert [status.ended for status in list_jobs(engine)] == [1]


def test_files_that_show_later_are_added_once(engine: Engine) -> None:
    add_job(engine, "ingest", "github:ann", {"locations": ["github:ann"]})
    job = claimed(engine)
    expect_files(engine, job, FILES[:2])
    expect_files(engine, job, FILES)
    assert [(file.place, file.name) for file in files_of_job(engine, job.id)] == [(0, "a.md"), (1, "b.md"), (2, "c.md")]
