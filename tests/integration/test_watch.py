"""`ingest --watch`: real folders, a GitHub on the loopback, a real database."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import psycopg2
import pytest

from config.settings import GitHubSettings, IngestionSettings, Settings
from pipelines.errors import ConfigError, ServiceUnavailable
from pipelines.ingestion.plan import Overrides
from pipelines.ingestion.run import Ingestion, build_ingestion, ingest
from pipelines.ingestion.watch import Round, Watch
from pipelines.store.database import open_database, reading
from pipelines.store.embedded import EmbeddedServer
from pipelines.store.runs import current_failures, list_runs
from tests.fake_github import FakeGitHub, Fault, Repository

SOON = 30.0  # seconds: what is waited for at most, on a slow machine


class Watching:
    """A watch in a thread of its own; `next()` waits for a round that is news."""

    def __init__(self, watch: Watch) -> None:
        self._watch, self._found = watch, Queue[Round | BaseException]()
        self.all: list[Round] = []
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            for found in self._watch.rounds():
                self.all.append(found)
                if found.is_news:
                    self._found.put(found)
        except BaseException as error:  # noqa: BLE001 - the test is told
            self._found.put(error)

    def next(self) -> Round:
        found = self._found.get(timeout=SOON)
        if isinstance(found, BaseException):
            raise found
        return found

    def comes_to(self, **wanted: int) -> bool:
        """Whether the next rounds, on a busy machine maybe several, do just this."""
        done = Counter[str]()
        while done.total() < sum(wanted.values()):
            done.update(counts(self.next()))
        return done == wanted

    def is_silent(self, seconds: float) -> bool:
        try:
            self._found.get(timeout=seconds)
        except Empty:
            return True
        return False

    def end(self) -> None:
        self._watch.stop.set()
        self._thread.join(SOON)
        assert not self._thread.is_alive()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    for number in range(10):
        (tmp_path / "notes" / f"{number}.md").write_text(f"# Note {number}\n\nIts words.\n")
    return tmp_path / "notes"


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub(owners={"ann": [Repository("notes", "Her notes", {"README.md": b"# Notes"})]}) as server:
        yield server


Start = Callable[..., Watching]


@pytest.fixture
def start(make_settings: Callable[..., Settings], github: FakeGitHub) -> Iterator[Start]:
    opened: list[Watching] = []

    def begin(
        *locations: object, poll: float = 60, wait: float = 0, build: Any = build_ingestion, **given: Any
    ) -> Watching:
        settings = make_settings(
            github=GitHubSettings(api_base=github.url, wait_seconds=wait),
            ingestion=IngestionSettings(executor="here", poll_minutes=poll / 60),
        )
        watch = Watch(
            settings, [str(each) for each in locations], Overrides(),
            build=build, first_pause=0.05, tick=0.01, look=0.02, settle=0.05, **given,
        )  # fmt: skip
        opened.append(Watching(watch))
        return opened[-1]

    yield begin
    for each in opened:
        each.end()


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + SOON
    while not is_so() and time.monotonic() < end:
        time.sleep(0.01)


def remembered() -> tuple[list[Ingestion], Callable[[Settings], Ingestion]]:
    """(what is built, what builds it)."""
    built: list[Ingestion] = []

    def build(settings: Settings) -> Ingestion:
        built.append(build_ingestion(settings))
        return built[-1]

    return built, build


def runs_of(ingestion: Ingestion) -> list[Counter[str]]:
    """What each run counted, the first one first."""
    return [Counter(run["counts"]) for run in reversed(list_runs(ingestion.database.engine, 20))]


def counts(found: Round) -> dict[str, int]:
    assert found.report is not None
    names = ("added", "updated", "metadata", "removed", "failed")
    return {name: count for name in names if (count := found.report.count(name))}  # type: ignore[arg-type]


def test_each_change_of_a_folder_is_a_round_and_nothing_is_opened_twice(folder: Path, start: Start) -> None:
    built, build = remembered()
    watching = start(folder, build=build)
    assert counts(watching.next()) == {"added": 10}
    (folder / "0.md").write_text("# Note 0\n\nOther words.\n")
    (folder / "new.md").write_text("# New\n\nWords.\n")
    assert watching.comes_to(added=1, updated=1)
    (folder / "1.md").unlink()
    assert counts(watching.next()) == {"removed": 1}
    runs = len(list_runs(built[0].database.engine, 20))
    os.utime(folder / "2.md", (1, 1))
    wait_until(lambda: len(list_runs(built[0].database.engine, 20)) > runs)
    assert watching.is_silent(0.15)
    assert len(list_runs(built[0].database.engine, 20)) == runs + 1  # which notes the new time of the file
    assert len(built) == 1


@pytest.mark.trial
def test_what_stays_for_a_person_to_decide_is_said_once(folder: Path, start: Start) -> None:
    (folder / "half").mkdir()
    for number in range(5):
        (folder / f"{number}.md").rename(folder / "half" / f"{number}.md")
    watching = start(folder)
    watching.next()
    (folder / "half").rename(folder.with_name("elsewhere"))
    found = watching.next()
    assert [(documents, of) for _, documents, of in found.refused] == [(5, 10)]
    (folder / "9.md").write_text("# Note 9\n\nOther words.\n")
    found = watching.next()
    assert (counts(found), found.refused) == ({"updated": 1}, ())


def test_a_document_that_fails_is_said_once_and_again_after_it_was_well(folder: Path, start: Start) -> None:
    watching = start(folder)
    watching.next()
    (folder / "bad.md").write_bytes(b"\x00\x01")
    assert [item.document for item in watching.next().failed] == ["bad.md"]
    (folder / "0.md").write_text("# Note 0\n\nOther words.\n")
    found = watching.next()
    assert (counts(found), found.failed) == ({"updated": 1, "failed": 1}, ())
    (folder / "bad.md").write_text("# Good now")
    assert counts(watching.next()) == {"added": 1}
    (folder / "bad.md").write_bytes(b"\x00\x01")
    assert [item.document for item in watching.next().failed] == ["bad.md"]


@pytest.mark.trial
def test_a_folder_that_goes_is_said_each_time(folder: Path, start: Start) -> None:
    away = folder.with_name("away")
    folder.rename(away)
    watching = start(folder)
    assert [item.stage for item in watching.next().failed] == ["list"]
    away.rename(folder)
    assert counts(watching.next()) == {"added": 10}
    folder.rename(away)
    assert [item.stage for item in watching.next().failed] == ["list"]
    away.rename(folder)
    (folder / "new.md").write_text("# New")
    assert watching.comes_to(added=1)
    folder.rename(away)
    assert [item.stage for item in watching.next().failed] == ["list"]


@pytest.mark.trial
def test_a_remote_source_is_looked_at_in_its_interval(folder: Path, github: FakeGitHub, start: Start) -> None:
    watching = start("github:ann", folder, poll=0.1)
    assert [counts(watching.next()), counts(watching.next())] == [{"added": 10}, {"added": 1}]
    github.owners["ann"][0].push("README.md", b"# Notes\n\nMore of them.", "2026-05-01T00:00:00Z")
    assert counts(watching.next()) == {"updated": 1}
    github.owners["ann"].append(Repository("second", "Another one"))
    assert counts(watching.next()) == {"added": 1}


@pytest.mark.trial
def test_a_wait_for_a_rate_limit_holds_up_no_folder(folder: Path, github: FakeGitHub, start: Start) -> None:
    said: list[str] = []
    github.faults.append(Fault.secondary(600))
    watching = start("github:ann", folder, wait=600, say=said.append)
    assert counts(watching.next()) == {"added": 10}
    wait_until(lambda: bool(said))
    (folder / "0.md").write_text("# Note 0\n\nOther words.\n")
    assert counts(watching.next()) == {"updated": 1}
    (folder / "1.md").unlink()
    assert counts(watching.next()) == {"removed": 1}
    assert (said, len(github.requests)) == (["GitHub asks to wait 10 min (its rate limit) ..."], 1)
    watching.end()  # which does not wait, either


@pytest.mark.trial
def test_a_watch_that_is_given_up_leaves_no_look_behind(
    folder: Path, github: FakeGitHub, make_settings: Callable[..., Settings]
) -> None:
    github.faults.append(Fault.secondary(600))
    settings = make_settings(github=GitHubSettings(api_base=github.url))
    rounds = Watch(settings, ["github:ann", str(folder)], Overrides()).rounds()
    assert counts(next(rounds)) == {"added": 10}
    began = time.monotonic()
    rounds.close()
    assert time.monotonic() - began < SOON
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("looking")]


@pytest.mark.trial
def test_sources_of_one_kind_are_looked_at_one_after_the_other(github: FakeGitHub, start: Start) -> None:
    github.owners["bob"] = [Repository("boats", "His boats", {"README.md": b"# Boats"})]
    watching = start("github:ann", "github:bob", "github:ann/notes", poll=60)
    assert [counts(watching.next()) for _ in range(2)] == [{"added": 1}] * 2
    wait_until(lambda: len(watching.all) >= 3)
    owners = [request.path.split("/")[2] for request in github.requests]
    assert owners == [*sorted(owners[:-1]), "ann"]


@pytest.mark.trial
def test_a_source_that_is_always_due_starves_no_other_of_its_kind(github: FakeGitHub, start: Start) -> None:
    github.owners["bob"] = [Repository("boats", "His boats", {"README.md": b"# Boats"})]
    watching = start("github:ann", "github:bob", poll=0.001)
    assert [counts(watching.next()) for _ in range(2)] == [{"added": 1}] * 2


@pytest.mark.trial
def test_a_round_without_news_is_a_round(github: FakeGitHub, start: Start) -> None:
    watching = start("github:ann", poll=0.05)
    watching.next()
    wait_until(lambda: len(watching.all) >= 3)
    assert [(found.is_news, found.report) for found in watching.all[1:3]] == [(False, None)] * 2


def test_an_interval_of_its_own_holds_however_the_source_is_written(tmp_path: Path) -> None:
    (tmp_path / "sources.toml").write_text(
        '[[source]]\nlocation = "github:ann"\nevery = 5\n[[source]]\nlocation = "https://Example.org"\nevery = 7\n'
    )
    ingestion = IngestionSettings(sources_file=str(tmp_path / "sources.toml"), poll_minutes=60)
    settings = Settings(_env_file=None, home=tmp_path, ingestion=ingestion)
    watch = Watch(settings, ["github:Ann", "https://example.org/", "notes"], Overrides())
    assert watch.every == {"github:Ann": 300, "https://example.org/": 420, "notes": 3600}


@pytest.mark.trial
def test_what_is_to_be_verified_is_so_once(github: FakeGitHub, start: Start) -> None:
    watching = start("github:ann", poll=0.05, verify=True)
    assert counts(watching.next()) == {"added": 1}
    wait_until(lambda: len(github.requests) >= 6)
    assert [request.status for request in github.requests[:6]] == [200] * 3 + [304] * 3


@pytest.mark.trial
def test_a_source_that_is_down_is_said_once_and_tried_again(github: FakeGitHub, start: Start) -> None:
    github.faults.extend([Fault(422)] * 3)
    watching = start("github:ann")
    found = watching.next()
    assert ([item.stage for item in found.failed], found.again) == (["list"], 0.05)
    assert counts(watching.next()) == {"added": 1}
    assert [request.status for request in github.requests].count(422) == 3


@pytest.mark.trial
def test_a_source_that_refuses_a_key_is_asked_at_its_interval_and_fills_no_run_log(
    github: FakeGitHub, start: Start
) -> None:
    github.faults.extend([Fault(401)] * 4)
    built, build = remembered()
    watching = start("github:ann", poll=0.1, build=build)
    found = watching.next()
    assert ([item.stage for item in found.failed], found.again) == (["list"], pytest.approx(0.1))
    assert counts(watching.next()) == {"added": 1}
    assert [request.status for request in github.requests].count(401) == 4
    assert [(again.report, again.again) for again in watching.all[1:4]] == [(None, pytest.approx(0.1))] * 3
    assert [(run["added"], run["failed"]) for run in runs_of(built[0])] == [(0, 1), (1, 0)]


@pytest.mark.trial
def test_a_failure_that_another_process_settled_is_written_again(github: FakeGitHub, start: Start) -> None:
    built, build = remembered()
    github.owners.clear()
    watching = start("github:ann", poll=0.1, build=build)
    assert [item.stage for item in watching.next().failed] == ["list"]
    wait_until(lambda: len(watching.all) >= 3)
    assert [run["failed"] for run in runs_of(built[0])] == [1]
    with reading(built[0].database.engine, "reading what failed") as connection:
        built[0].remove([], current_failures(connection))
    wait_until(lambda: len(runs_of(built[0])) >= 3 and bool(runs_of(built[0])[2]))
    assert [run["failed"] for run in runs_of(built[0])] == [1, 0, 1]
    assert watching.is_silent(0.1)


@pytest.mark.trial
def test_a_source_that_asks_to_be_left_alone_for_long_is_left_alone(github: FakeGitHub, start: Start) -> None:
    github.faults.append(Fault.secondary(7200))
    watching = start("github:ann", poll=0.05)
    assert watching.next().again == 7200
    assert watching.is_silent(0.2)
    assert len(github.requests) == 1


@pytest.mark.trial
def test_a_failure_that_says_another_number_each_time_is_said_once(github: FakeGitHub, start: Start) -> None:
    github.faults.extend(Fault(422, message=f"{number} questions are left") for number in (30, 20, 10))
    watching = start("github:ann")
    assert [item.stage for item in watching.next().failed] == ["list"]
    assert counts(watching.next()) == {"added": 1}
    assert [request.status for request in github.requests].count(422) == 3


@pytest.mark.trial
def test_a_round_that_fails_as_a_whole_is_said_once_and_tried_again_with_all_opened_anew(
    folder: Path, start: Start
) -> None:
    times: list[float] = []

    def build(settings: Settings) -> Ingestion:
        times.append(time.monotonic())
        if len(times) < 4:
            raise ServiceUnavailable("The database is gone.")
        return build_ingestion(settings)

    watching = start(folder, build=build)
    found = watching.next()
    assert (str(found.error), found.report, found.again) == ("The database is gone.", None, 0.05)
    assert counts(watching.next()) == {"added": 10}
    pauses = [later - earlier for earlier, later in pairwise(times)]
    assert all(pause >= least for pause, least in zip(pauses, (0.05, 0.1, 0.2), strict=True))


@pytest.mark.trial
def test_a_database_that_goes_and_comes_back_is_worked_with_again(
    folder: Path, start: Start, server: EmbeddedServer
) -> None:
    built, build = remembered()

    def admit(*, admitted: bool) -> None:
        name = built[0].database.engine.url.database
        connection = psycopg2.connect(host=str(server.socket_dir), user="footnote", dbname="postgres")
        connection.autocommit = True
        connection.cursor().execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS {admitted}")
        connection.cursor().execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,)
        )
        connection.close()

    watching = start(folder, build=build)
    watching.next()
    admit(admitted=False)
    (folder / "new.md").write_text("# New\n\nWords.\n")
    found = watching.next()
    assert (found.report, found.error is not None) == (None, True)
    admit(admitted=True)
    assert counts(watching.next()) == {"added": 1}
    assert len(built) == 2


def test_settings_that_cannot_be_used_end_it_at_once(folder: Path, start: Start) -> None:
    def build(settings: Settings) -> Ingestion:
        raise ConfigError("There is no such model.")

    with pytest.raises(ConfigError):
        start(folder, build=build).next()


@pytest.mark.trial
@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_command_prints_json_lines_and_a_signal_ends_it_well(
    folder: Path, settings: Settings, how: signal.Signals, code: int
) -> None:
    run = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"sys.argv = ['footnote', 'ingest', {str(folder)!r}, '--watch', '--json']\n"
        "from app import cli; cli.main()"
    )
    given = {
        "FOOTNOTE_HOME": str(settings.home), "DATABASE_URL": settings.database_url.get_secret_value(),
        "FOOTNOTE_EMBEDDING__PROVIDER": "hashed", "FOOTNOTE_INGESTION__EXECUTOR": "here",
    }  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-c", run], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | given
    )
    try:
        begun, first = (json.loads(process.stdout.readline()) for _ in range(2))
        (folder / "new.md").write_text("# New\n\nWords.\n")
        second = json.loads(process.stdout.readline())
        process.send_signal(how)
        out, said = process.communicate(timeout=SOON)
    finally:
        process.kill()
    assert [watched["source"] for watched in begun["watching"]] == [str(folder)]
    assert (first["added"], second["added"], len(second["items"])) == (10, 1, 1)
    assert (process.returncode, out) == (code, ""), said
    runs = list_runs(open_database(settings).engine, 9)
    assert [(run["state"], run["counts"]["added"]) for run in runs] == [("done", 1), ("done", 10)]


@pytest.mark.trial
def test_a_source_that_could_not_be_listed_is_verified_once_it_can(
    github: FakeGitHub, make_settings: Callable[..., Settings]
) -> None:
    settings = make_settings(github=GitHubSettings(api_base=github.url))
    ingest(settings, ["github:ann"])
    github.requests.clear()
    github.faults.append(Fault(422))
    watch = Watch(settings, ["github:ann"], Overrides(), verify=True, first_pause=0.05, tick=0.01)
    rounds = watch.rounds()
    assert next(rounds).failed
    next(rounds)
    rounds.close()
    assert [request.status for request in github.requests] == [422, 200, 200, 200]
