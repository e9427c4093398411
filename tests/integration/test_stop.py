"""Ctrl-C and SIGTERM in a process of its own: the first ends a run after what is under way, the second at once."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import func, select, text

from config.settings import Settings
from pipelines.ingestion.run import ingest
from pipelines.store.database import open_database
from pipelines.store.schema import documents, ingest_runs

COUNT = 40
# A shell's background jobs ignore SIGINT, and so do their children unless they take it up again.
CHILD = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from pipelines.models import embedding as embed
quick = embed.hashed_vector
embed.hashed_vector = lambda *given: (time.sleep({pause}), quick(*given))[1]
from app import cli
sys.argv = ["footnote", "ingest", {folder!r}, "--json"]
cli.main()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(COUNT):
        (tmp_path / f"{number:02}.txt").write_text(f"A text about the number {number}.\n")
    return tmp_path


def command(settings: Settings, code: str) -> subprocess.Popen[str]:
    """A process that runs this code with the settings of a test."""
    given = {
        "FOOTNOTE_HOME": str(settings.home), "DATABASE_URL": settings.database_url.get_secret_value(),
        "FOOTNOTE_EMBEDDING__PROVIDER": "hashed", "FOOTNOTE_EMBEDDING__BATCH_SIZE": "1",
        "FOOTNOTE_INGESTION__EXECUTOR": "here",
    }  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | given,
    )  # fmt: skip


@pytest.fixture
def start(settings: Settings, folder: Path) -> Callable[[float], subprocess.Popen[str]]:
    """Starts to ingest the folder, with a pause before each text is embedded."""

    def begin(pause: float) -> subprocess.Popen[str]:
        code = CHILD.format(pause=pause, folder=str(folder))
        return command(settings, code)

    return begin


def until(settings: Settings, process: subprocess.Popen[str], table, wanted: int) -> None:
    """Wait until the table has so many rows."""
    engine, end = open_database(settings).engine, time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        with engine.connect() as connection:
            if connection.execute(select(func.count()).select_from(table)).scalar() >= wanted:
                return
        time.sleep(0.05)
    raise AssertionError(process.communicate()[1])


@pytest.mark.parametrize(
    ("how", "name", "code"),
    [(signal.SIGINT, "Ctrl-C", 130), pytest.param(signal.SIGTERM, "SIGTERM", 143, marks=pytest.mark.trial)],
)
def test_a_signal_ends_after_the_document_under_way_and_the_next_run_goes_on(
    settings: Settings,
    folder: Path,
    start: Callable[[float], subprocess.Popen[str]],
    how: signal.Signals,
    name: str,
    code: int,
) -> None:
    process = start(0.2)
    until(settings, process, documents, 3)
    process.send_signal(how)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    report = json.loads(out)
    assert report["stopped"]
    assert 3 <= report["added"] < COUNT
    assert f"Stopping after the documents that are under way; {name} again stops at once." in err
    again = ingest(settings, [str(folder)])
    assert (again.count("unchanged"), again.count("added")) == (report["added"], COUNT - report["added"])


@pytest.mark.trial
@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_second_signal_ends_at_once(
    settings: Settings, start: Callable[[float], subprocess.Popen[str]], how: signal.Signals, code: int
) -> None:
    process = start(120)
    until(settings, process, ingest_runs, 1)
    time.sleep(1)
    process.send_signal(how)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(2)
    process.send_signal(how)
    _, err = process.communicate(timeout=20)
    assert process.returncode == code
    assert "What was finished stays" in err
    assert "Traceback" not in err


def test_a_signal_that_meets_the_lock_of_a_wait_ends_it_all_the_same() -> None:
    code = (
        "import os, signal, threading\n"
        "from app.cli.signals import stopping\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "stop = threading.Event()\n"
        "with stopping(stop) as code:\n"
        "    with stop._cond:  # as a wait holds it for a moment\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    print(stop.wait(20), code())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=40)
    assert (done.returncode, done.stdout) == (0, "True 130\n"), done.stderr


@pytest.mark.trial
@pytest.mark.parametrize("verb", ["doctor", "audit"])
@pytest.mark.parametrize(("how", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_a_statement_that_is_under_way(
    settings: Settings, tmp_path: Path, verb: str, how: signal.Signals, code: int
) -> None:
    (tmp_path / "a.txt").write_text("A crane lifts.\n")
    ingest(settings, [str(tmp_path)])
    engine = open_database(settings).engine
    with engine.begin() as connection:
        connection.execute(text("LOCK TABLE facts, document_indexes IN ACCESS EXCLUSIVE MODE"))
        process = command(settings, f"""
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from app import cli
sys.argv = ["footnote", {verb!r}]
cli.main()
""")  # fmt: skip
        waiting = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
        deadline = time.monotonic() + 30
        while not connection.execute(waiting).scalar() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(how)
        try:
            _, said = process.communicate(timeout=10)
        finally:
            process.kill()
    assert (process.returncode, "Traceback" in said) == (code, False)
