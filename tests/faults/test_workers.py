"""Workers that are killed, and workers whose run is killed: documents are whole, and no process stays behind."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from config.settings import Settings
from tests.faults.checks import finishes, whole_after
from tests.faults.conftest import Rehearsal
from tests.faults.injectors import Event, kill
from tests.faults.plays import PLAYS
from tests.faults.seeds import COUNT, point_of

SEEDS = range(1 if COUNT <= 25 else 5)
_LONGEST = 20.0  # seconds until a worker has noticed that its run is gone


def workers_of(number: int) -> list[int]:
    """The processes that this one has started and that still run."""
    said = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=,ppid=,stat=,args="], capture_output=True, text=True, check=True
    )
    rows = [line.split(None, 3) for line in said.stdout.splitlines()]
    return [int(pid) for pid, parent, state, args in rows if parent == str(number) and "ingestion.worker" in args]


def with_workers(settings: Settings) -> Settings:
    """The settings, but files are read in two worker processes."""
    asked = settings.ingestion.model_copy(update={"executor": "local", "workers": 2})
    return settings.model_copy(update={"ingestion": asked})


def noting(path: Path, hurt: Callable[[list[int]], None]) -> Callable[[Any, Any], None]:
    """Hurts the workers there are, and notes their numbers."""

    def noted(*_: Any) -> None:
        found = workers_of(os.getpid())
        path.write_text(" ".join(map(str, found)))
        hurt(found)

    return noted


@pytest.mark.parametrize("seed", SEEDS)
def test_workers_end_with_the_run_that_is_killed(
    seed: int, rehearsal: Rehearsal, database: str, tmp_path: Path
) -> None:
    play = rehearsal(PLAYS[0])
    point = point_of(
        seed, _vectors(play.events)[:1], moments=False
    )  # later ones depend on which documents come together
    settings = play.copy(database)
    ended = play.hurt(
        with_workers(settings), point, noting(tmp_path / "workers", lambda _: kill(Event("embedding", ""), None))
    )
    assert ended.killed, ended
    workers = [int(number) for number in (tmp_path / "workers").read_text().split()]
    assert workers
    until = time.monotonic() + _LONGEST
    while left := [number for number in workers if _runs(number)]:
        assert time.monotonic() < until, left
        time.sleep(0.05)
    whole_after(play, settings, "an ingest with workers is killed", point, ended.how)
    finishes(play, settings)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_worker_that_is_killed_fails_at_most_the_document_that_it_had(
    seed: int, rehearsal: Rehearsal, database: str, tmp_path: Path
) -> None:
    play = rehearsal(PLAYS[0])
    point = point_of(
        seed, _vectors(play.events)[:1], moments=False
    )  # later ones depend on which documents come together
    settings = play.copy(database)

    def end_one(workers: list[int]) -> None:
        os.kill(workers[seed % len(workers)], signal.SIGKILL)

    ended = play.hurt(with_workers(settings), point, noting(tmp_path / "workers", end_one))
    assert not ended.error, ended.error
    assert (tmp_path / "workers").exists()
    failed = {item["document"] for item in ended.value["failed"]} - {item["document"] for item in play.told["failed"]}
    assert len(failed) <= 1, ended.value
    whole_after(play, settings, "an ingest loses a worker", point, ended.how)
    finishes(play, settings)


def _vectors(events: Sequence[Event]) -> list[Event]:
    """The events that come as often with workers as without."""
    return [event for event in events if event.label == "before a vector"]


def _runs(number: int) -> bool:
    said = subprocess.run(["ps", "-o", "stat=", "-p", str(number)], capture_output=True, text=True, check=False)
    return bool(said.stdout.strip()) and not said.stdout.startswith("Z")
