"""What must hold after every fault, and after the run that follows it."""

import time
from dataclasses import replace

import psycopg2

from config.settings import Settings
from pipelines.query.engine import build_query_engine
from pipelines.store.audit import audit
from pipelines.types import Filters
from tests.faults.acts import ACTS
from tests.faults.matrix import MATRIX
from tests.faults.plays import Rehearsed
from tests.faults.seeds import Point
from tests.faults.stored import Stored, dsn, faults_of, sides

_LONGEST = 30.0  # seconds until a server has noticed that a client is gone
_QUESTION = "Who mended the harbour crane in Bergen?"


def whole_after(play: Rehearsed, settings: Settings, fault: str, point: Point, end: str) -> Stored:
    """What is stored after a fault; every document is wholly as it was or wholly as it was to be."""
    wait_until_alone(settings)
    found = play.stored(settings)
    of = sides(found, play.start, play.target)
    MATRIX.add(fault, point.stage, of.values(), end)
    assert set(of.values()) <= {"old", "new"}, (str(point), of)
    assert play.start.cached <= found.cached <= play.target.cached
    assert faults_of(settings) == []
    if play.target.runs:
        assert found.runs or "new" not in of.values(), "a run that the log does not know has written something"
    if ACTS[play.play.act].at_once:
        assert len(set(of.values())) == 1, of
    cut_off = end not in ("done", "not hurt") and "old" in of.values()
    assert not (cut_off and "done" in dict(found.runs).values()), "a run that was cut off says it is done"
    can_be_searched(settings)
    return found


def finishes(play: Rehearsed, settings: Settings) -> None:
    """The next run ends where an undisturbed one ends, and the one after it has nothing to do."""
    play.act(settings)
    assert same(play.stored(settings), play.target)
    again = play.act(settings)
    assert again["embedded"] == 0
    assert set(again["outcomes"].values()) <= {"unchanged", "failed"}
    assert same(play.stored(settings), play.target)
    wait_until_alone(settings)  # the server ends a closed connection's locks a moment later
    assert faults_of(settings) == []


def same(found: Stored, target: Stored) -> bool:
    """Whether two databases hold the same, whatever the runs were that brought them there."""
    of = sides(found, target, target)
    assert not of, of
    return replace(found, runs=(), last_run=0) == replace(target, runs=(), last_run=0)


def can_be_searched(settings: Settings) -> None:
    """A search gets whole passages of the text that is stored, and the audit finds nothing wrong."""
    engine = build_query_engine(settings)
    try:
        assert audit(engine.database.engine)["violations"] == []
        results = engine.search(_QUESTION, record=False).results
        stored = engine.store.fetch([found.node_id for found in results], filters=Filters(), audience="owner")
        assert [stored[found.node_id].get_content() for found in results] == [found.text for found in results]
        assert results or not engine.store.count()
    finally:
        engine.database.engine.dispose()


def wait_until_alone(settings: Settings) -> None:
    """Return once the server has ended every connection to this database."""
    until = time.monotonic() + _LONGEST
    connection = psycopg2.connect(dsn(settings))
    connection.autocommit = True
    try:
        with connection.cursor() as cursor:
            while time.monotonic() < until:
                cursor.execute(
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
                    "AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
                )
                if not cursor.fetchone()[0]:  # type: ignore[index]
                    return
                time.sleep(0.005)
    finally:
        connection.close()
    raise AssertionError("a connection of a run that is gone is still open")
