"""The stage of the plays, each play rehearsed once, and the matrix of what came of every fault."""

import itertools
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache

import pytest

from pipelines.store.embedded import EmbeddedServer
from tests.conftest import open_folder
from tests.faults.disks import mounted
from tests.faults.matrix import MATRIX
from tests.faults.plays import PLAYS, Play, Rehearsed, Stage, rehearse
from tests.faults.servers import OwnServer

_numbers = itertools.count()
Rehearsal = Callable[[Play], Rehearsed]


@pytest.fixture(scope="session")
def stage(server: EmbeddedServer, migrated: str) -> Iterator[Stage]:
    """Where plays are played: the server of the other tests."""
    homes = open_folder("footnote-faults-")
    yield Stage(lambda name: f"postgresql://footnote@/{name}?host={server.socket_dir}", migrated, homes)
    shutil.rmtree(homes, ignore_errors=True)


@pytest.fixture(scope="session")
def rehearsal(stage: Stage) -> Iterator[Rehearsal]:
    """A play, rehearsed the first time it is asked for."""
    with rehearsals(stage, "shared") as rehearsed:
        yield rehearsed


@pytest.fixture(scope="session")
def own_server() -> Iterator[OwnServer]:
    """A server that a test may hurt, on a small disk of its own where mounting is allowed."""
    folder = open_folder("footnote-own-")
    with mounted(folder / "disk", megabytes=400) as tmpfs:
        own = OwnServer.start(folder / "disk", tmpfs=tmpfs)
        yield own
        own.server.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def own_rehearsal(own_server: OwnServer) -> Iterator[Rehearsal]:
    """A play, rehearsed on the server that may be hurt."""
    homes = open_folder("footnote-faults-")
    with rehearsals(own_server.stage(homes), "own") as rehearsed:
        yield rehearsed
    shutil.rmtree(homes, ignore_errors=True)


@contextmanager
def rehearsals(stage: Stage, name: str) -> Iterator[Rehearsal]:
    """Plays on a stage, each rehearsed the first time it is asked for, in databases whose names begin so."""
    made: list[Rehearsed] = []
    folder = open_folder("footnote-worlds-")

    @lru_cache
    def rehearsed(play: Play) -> Rehearsed:
        made.append(rehearse(play, stage, folder / f"world{len(made)}", f"faults_{name}_{len(made)}"))
        return made[-1]

    yield rehearsed
    for one in made:
        stage.drop(one.template)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def database(stage: Stage) -> Iterator[str]:
    """A name for a database that goes with the test."""
    name = f"faults_hurt_{next(_numbers)}"
    yield name
    stage.drop(name)


@pytest.fixture
def own_database(own_rehearsal: Rehearsal, own_server: OwnServer) -> Iterator[str]:
    """The same on the server that may be hurt."""
    name = f"faults_hurt_{next(_numbers)}"
    yield name
    own_server.disk.free()
    own_server.start_again()
    own_rehearsal(PLAYS[0]).stage.drop(name)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the matrix when it was asked for, and write it as JSON."""
    MATRIX.show(terminalreporter.write_line)
