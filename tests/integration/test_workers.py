"""Documents are prepared by processes that can be killed: whatever a document does, it fails alone and says why."""

import itertools
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from config.settings import IngestionSettings, Settings
from pipelines.errors import ConfigError
from pipelines.ingestion import workers
from pipelines.ingestion.plan import Step
from pipelines.ingestion.prepare import PreparationFailure, PreparedDocument, PrepareOptions, Task
from pipelines.ingestion.workers import (
    QUEUE_AHEAD,
    LocalExecutor,
    Worker,
    WorkerPool,
    build_executor,
    prepare_in_process,
)
from pipelines.types import SourceItem

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "data" / "sample"
HOSTILE = (sys.executable, "-P", str(ROOT / "tests" / "fixtures" / "hostile_worker.py"))

MakeTask = Callable[..., Task]


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    """Workers that do what a text says."""
    pool = WorkerPool(HOSTILE)
    yield pool
    pool.close()


@pytest.fixture
def options(tmp_path: Path) -> PrepareOptions:
    settings = Settings(_env_file=None, home=tmp_path / "home")
    return limited(PrepareOptions.of(settings, "model"), document_memory_mb=600)


@pytest.fixture
def make_task(tmp_path: Path) -> MakeTask:
    """`make_task(text)`: the task of a new file with that text."""
    numbers = itertools.count(1)

    def made(text: str, name: str = "") -> Task:
        path = tmp_path / (name or f"{next(numbers)}.txt")
        path.write_text(text)
        return task_of(path)

    return made


def task_of(path: Path, **said: str) -> Task:
    item = SourceItem(path.as_uri(), path.name, path.parent.as_uri(), "file", "1:1")
    return Task(Step("add", item, "new", collection="default"), f"id of {path.name}", overrides=said)


def limited(options: PrepareOptions, **limits: float) -> PrepareOptions:
    return replace(options, limits=options.limits.model_copy(update=limits))


def run(
    pool: WorkerPool, options: PrepareOptions, *tasks: Task, count: int = 2
) -> list[PreparedDocument | PreparationFailure]:
    """What came of the tasks, in their order."""
    done = dict(LocalExecutor(count, pool)(enumerate(tasks), options))
    return [done[place] for place in range(len(tasks))]


def text_of(prepared: PreparedDocument | PreparationFailure) -> str:
    assert isinstance(prepared, PreparedDocument), prepared
    return prepared.document.text


def failure(pool: WorkerPool, options: PrepareOptions, task: Task) -> PreparationFailure:
    """The failure of that task, between two that do well."""
    item = replace(task.step.item, uri=(SAMPLE / "notes-on-mentoring.txt").as_uri())
    good = replace(task, step=replace(task.step, item=item))
    before, failed, after = run(pool, options, good, task, good, count=1)
    assert isinstance(before, PreparedDocument)
    assert isinstance(after, PreparedDocument)
    assert isinstance(failed, PreparationFailure)
    assert not failed.fatal
    return failed


class Lent(WorkerPool):
    """Another pool's workers, counted."""

    def __init__(self, pool: WorkerPool) -> None:
        super().__init__(pool.command)
        self._pool, self.taken = pool, 0

    def take(self) -> Worker:
        self.taken += 1
        return self._pool.take()

    def give_back(self, worker: Worker) -> None:
        self._pool.give_back(worker)


def is_gone(pid: int) -> bool:
    """Whether the process ended; one that nobody asks for its exit code stays in the list."""
    try:
        return "Z" in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True


def eventually(condition: Callable[[], bool], seconds: float = 20) -> bool:
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.02)
    return condition()


def test_a_parser_that_never_returns_is_stopped_with_what_it_started(
    pool: WorkerPool, options: PrepareOptions, make_task: MakeTask, tmp_path: Path
) -> None:
    told = tmp_path / "pids"
    failed = failure(pool, limited(options, document_seconds=2), make_task(f"child {told}", "slow.txt"))
    assert (failed.stage, failed.error) == ("load", "LoadError")
    assert failed.message == "slow.txt took longer than 2 seconds to be read, and was stopped."
    assert "FOOTNOTE_INGESTION__DOCUMENT_SECONDS" in failed.hint
    worker, child = (int(pid) for pid in told.read_text().split())
    assert is_gone(worker)
    assert eventually(lambda: is_gone(child))


@pytest.mark.trial
def test_a_child_in_a_group_of_its_own_holds_up_no_run(
    pool: WorkerPool, options: PrepareOptions, make_task: MakeTask, tmp_path: Path
) -> None:
    told = tmp_path / "pids"
    began = time.monotonic()
    (failed,) = run(pool, limited(options, document_seconds=2), make_task(f"detach {told}", "slow.txt"))
    assert time.monotonic() - began < 40
    os.kill(int(told.read_text().split()[1]), signal.SIGKILL)
    assert isinstance(failed, PreparationFailure)
    assert "took longer than 2 seconds" in failed.message


@pytest.mark.trial
def test_the_stage_is_the_one_it_was_stopped_in(pool: WorkerPool, options: PrepareOptions, make_task: MakeTask) -> None:
    failed = failure(pool, limited(options, document_seconds=2), make_task("never parsed", "slow.txt"))
    assert (failed.stage, failed.error) == ("parse", "ParseError")
    assert failed.message == "slow.txt took longer than 2 seconds to be parsed, and was stopped."


def test_what_needs_too_much_memory_is_told_so(pool: WorkerPool, options: PrepareOptions, make_task: MakeTask) -> None:
    failed = failure(pool, options, make_task("allocate", "large.txt"))
    assert (failed.stage, failed.error) == ("load", "LoadError")
    assert failed.message == "large.txt needed more than 600 MB of memory to be read."
    assert "FOOTNOTE_INGESTION__DOCUMENT_MEMORY_MB" in failed.hint


@pytest.mark.parametrize(
    ("verb", "how", "detail"),
    [
        ("segfault", "crashed (signal 11, Segmentation fault)", "Fatal Python error: Segmentation fault"),
        pytest.param("leave", "ended (exit code 3)", "", marks=pytest.mark.trial),
        pytest.param("quit", "ended (exit code 4)", "", marks=pytest.mark.trial),
    ],
)
def test_a_crash_is_a_failure_of_one_document(
    pool: WorkerPool, options: PrepareOptions, make_task: MakeTask, verb: str, how: str, detail: str
) -> None:
    failed = failure(pool, options, make_task(verb, "bad.txt"))
    assert (failed.stage, failed.error) == ("load", "LoadError")
    assert failed.message == f"bad.txt could not be read: its worker process {how}."
    assert detail in failed.detail


@pytest.mark.trial
def test_what_a_library_prints_harms_nothing(pool: WorkerPool, options: PrepareOptions, make_task: MakeTask) -> None:
    assert text_of(run(pool, options, make_task("print\nand a text"))[0]) == "print\nand a text"


@pytest.mark.trial
def test_what_is_too_large_to_hand_over_fails(pool: WorkerPool, options: PrepareOptions, make_task: MakeTask) -> None:
    failed = failure(pool, options, make_task("large", "wide.txt"))
    assert failed.stage == "parse"
    assert failed.message.endswith("bytes once it is parsed, over 1,000,000.")


@pytest.mark.trial
def test_a_worker_that_kept_much_memory_makes_way_for_another(
    pool: WorkerPool, options: PrepareOptions, make_task: MakeTask
) -> None:
    first, hoarded, second = run(pool, options, make_task("pid"), make_task("hoard"), make_task("pid"), count=1)
    assert isinstance(hoarded, PreparedDocument)
    assert text_of(first) != text_of(second)


def test_workers_are_kept_between_runs(pool: WorkerPool, options: PrepareOptions, make_task: MakeTask) -> None:
    first, second = (text_of(run(pool, options, make_task("pid"))[0]) for _ in range(2))
    assert first == second != str(os.getpid())


@pytest.mark.trial
def test_a_worker_killed_between_two_documents_is_replaced(
    pool: WorkerPool, options: PrepareOptions, make_task: MakeTask
) -> None:
    first = text_of(run(pool, options, make_task("pid"))[0])
    os.kill(int(first), signal.SIGKILL)
    assert text_of(run(pool, options, make_task("pid"))[0]) != first


@pytest.mark.trial
def test_a_worker_that_had_nothing_to_do_for_long_is_gone_and_replaced(
    pool: WorkerPool, options: PrepareOptions, make_task: MakeTask
) -> None:
    pid = text_of(run(pool, options, make_task("impatient"))[0])
    assert eventually(lambda: is_gone(int(pid)))
    assert text_of(run(pool, options, make_task("pid"))[0]) != pid


@pytest.mark.trial
def test_a_worker_killed_at_work_says_that_it_was_from_outside(
    pool: WorkerPool, options: PrepareOptions, make_task: MakeTask, tmp_path: Path
) -> None:
    told = tmp_path / "pids"

    def kill() -> None:
        assert eventually(told.exists)
        os.kill(int(told.read_text().split()[0]), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    (failed,) = run(pool, options, make_task(f"child {told}"))
    killer.join()
    assert isinstance(failed, PreparationFailure)
    assert "was killed from outside (signal 9)" in failed.message


PARENT = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background jobs ignore
from pathlib import Path
from tests.integration.test_workers import HOSTILE, LocalExecutor, PrepareOptions, Settings, WorkerPool, task_of
options = PrepareOptions.of(Settings(_env_file=None, home=Path(sys.argv[1]) / "home"), "model")
for _ in LocalExecutor(1, WorkerPool(HOSTILE))([(0, task_of(Path(sys.argv[1]) / "1.txt"))], options):
    pass
"""


@pytest.mark.trial
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_no_worker_outlives_its_parent(make_task: MakeTask, tmp_path: Path, how: signal.Signals) -> None:
    told = tmp_path / "pids"
    make_task(f"child {told}")
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path)], cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        assert eventually(told.exists, 60)
    finally:
        parent.send_signal(how)
        parent.wait(20)
    assert all(eventually(lambda pid=pid: is_gone(int(pid))) for pid in told.read_text().split())


@pytest.mark.trial
def test_a_worker_leaves_what_the_end_of_a_service_means_to_its_parent(
    pool: WorkerPool, options: PrepareOptions, make_task: MakeTask
) -> None:
    first = text_of(run(pool, options, make_task("pid"))[0])
    os.kill(int(first), signal.SIGTERM)
    assert text_of(run(pool, options, make_task("pid"))[0]) == first


FORKED = """
import os, sys
from pathlib import Path
from tests.integration.test_workers import HOSTILE, PrepareOptions, Settings, WorkerPool, run, task_of, text_of
options = PrepareOptions.of(Settings(_env_file=None, home=Path(sys.argv[1]) / "home"), "model")
pool, task = WorkerPool(HOSTILE), task_of(Path(sys.argv[1]) / "1.txt")
own = text_of(run(pool, options, task)[0])
child = os.fork()
theirs = text_of(run(pool, options, task)[0])
if child == 0:
    os._exit(0 if theirs != own else 7)
status = os.waitpid(child, 0)[1]
sys.exit(os.waitstatus_to_exitcode(status) or (0 if theirs == own else 8))
"""


@pytest.mark.trial
def test_a_forked_process_has_workers_of_its_own(make_task: MakeTask, tmp_path: Path) -> None:
    make_task("pid")
    subprocess.run([sys.executable, "-c", FORKED, str(tmp_path)], cwd=ROOT, check=True, timeout=120)


@pytest.mark.trial
def test_a_consumer_that_takes_no_more_stops_what_is_under_way(
    pool: WorkerPool, options: PrepareOptions, make_task: MakeTask, tmp_path: Path
) -> None:
    told = tmp_path / "pids"
    results = LocalExecutor(2, pool)(enumerate([make_task("a text"), make_task(f"child {told}")]), options)
    assert isinstance(next(results)[1], PreparedDocument)
    assert eventually(told.exists)
    results.close()
    assert is_gone(int(told.read_text().split()[0]))
    assert text_of(run(pool, options, make_task("another"))[0]) == "another"


@pytest.mark.trial
def test_no_more_is_begun_than_may_wait(pool: WorkerPool, options: PrepareOptions, make_task: MakeTask) -> None:
    begun = 0

    def tasks() -> Iterator[tuple[int, Task]]:
        nonlocal begun
        for place in range(3 * QUEUE_AHEAD):
            begun += 1
            yield place, make_task(f"text {place}")

    places = []
    for taken, (place, prepared) in enumerate(LocalExecutor(2, pool)(tasks(), options), start=1):
        assert text_of(prepared) == f"text {place}"
        assert begun <= taken + 2 + QUEUE_AHEAD
        places.append(place)
    assert sorted(places) == list(range(3 * QUEUE_AHEAD))


@pytest.mark.trial
def test_no_document_is_begun_while_much_is_ready(
    pool: WorkerPool, options: PrepareOptions, make_task: MakeTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_MAX_WAITING_BYTES", 1)
    tasks = [make_task(f"text {number}") for number in range(20)]
    results = LocalExecutor(2, pool)(enumerate(tasks), options)
    taken = [next(results)[0]]
    time.sleep(0.3)
    kept = [path for path in (options.home / "originals").rglob("*") if path.is_file()]
    assert len(kept) <= 1 + 2 * 2  # the one taken, and for each worker what is ready and what was begun before that
    taken += [place for place, _ in results]
    assert sorted(taken) == list(range(20))


@pytest.mark.trial
def test_no_more_workers_are_used_than_there_are_documents(
    pool: WorkerPool, options: PrepareOptions, make_task: MakeTask
) -> None:
    lent = Lent(pool)
    run(lent, options, make_task("one"), make_task("two"), count=8)
    assert 1 <= lent.taken <= 2


def test_nothing_to_do_starts_no_worker(options: PrepareOptions) -> None:
    pool = WorkerPool(("/no/such/program",))
    assert list(LocalExecutor(2, pool)([], options)) == []


@pytest.mark.trial
def test_two_runs_at_a_time_share_the_workers(pool: WorkerPool, options: PrepareOptions, make_task: MakeTask) -> None:
    tasks = [make_task(f"text {number}") for number in range(30)]
    found: dict[int, list[str]] = {}

    def one(number: int) -> None:
        found[number] = [text_of(prepared) for prepared in run(pool, options, *tasks, count=1)]

    threads = [threading.Thread(target=one, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {run: [f"text {number}" for number in range(30)] for run in range(2)}


def test_a_worker_makes_what_this_process_makes(options: PrepareOptions, tmp_path: Path) -> None:
    names = ("resume.pdf", "notes-on-mentoring.txt")
    empty = tmp_path / "Übersicht 🦦.txt"
    empty.write_bytes(b"")
    tasks = [*(task_of(SAMPLE / name) for name in names), task_of(empty), task_of(tmp_path / "gone.md")]
    assert all(
        map(
            same,
            run(workers.SHARED_POOL, options, *tasks),
            [done for _, done in prepare_in_process(enumerate(tasks), options)],
        )
    )


def same(one: PreparedDocument | PreparationFailure, other: PreparedDocument | PreparationFailure) -> bool:
    """Whether they are equal but for the moment at which they were made."""
    if isinstance(one, PreparationFailure) or isinstance(other, PreparationFailure):
        return one == other
    moment = other.document.ingested_at
    nodes = [node.model_copy(deep=True) for node in one.nodes or ()]
    for node in nodes:
        node.metadata["ingested_at"] = moment.isoformat() if moment else ""
    return replace(one, document=one.document.with_(ingested_at=moment), nodes=tuple(nodes)) == other


@pytest.mark.trial
def test_a_document_that_is_cut_by_meaning_comes_without_nodes(options: PrepareOptions) -> None:
    (prepared,) = run(workers.SHARED_POOL, options, task_of(SAMPLE / "notes-on-mentoring.txt", parser="semantic"))
    assert isinstance(prepared, PreparedDocument)
    assert prepared.embeds
    assert prepared.nodes is None


def test_no_key_and_no_password_reaches_a_worker(
    options: PrepareOptions, make_task: MakeTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("OPENAI_API_KEY", "DATABASE_URL", "FOOTNOTE_LLM__API_BASE", "PGPASSWORD", "GITHUB_TOKEN", "LANGUAGE")
    for name in names:
        monkeypatch.setenv(name, "hush")
    tell = "import os; raise SystemExit(f'seen: {[name for name, value in os.environ.items() if value == \"hush\"]}')"
    with pytest.raises(ConfigError) as caught:
        run(WorkerPool((sys.executable, "-c", tell)), options, make_task("a text"))
    assert "seen: ['LANGUAGE']" in caught.value.message


@pytest.mark.trial
def test_an_idle_worker_that_ended_does_not_stay_as_a_zombie(options: PrepareOptions, make_task: MakeTask) -> None:
    pool = WorkerPool(HOSTILE)
    pid = text_of(run(pool, options, make_task("impatient"))[0])
    assert eventually(lambda: not Path(f"/proc/{pid}").exists())
    pool.close()


@pytest.mark.trial
def test_what_a_loader_logs_is_logged_here(
    pool: WorkerPool, options: PrepareOptions, make_task: MakeTask, caplog: pytest.LogCaptureFixture
) -> None:
    logger = logging.getLogger("footnote")
    logger.addHandler(caplog.handler)
    try:
        run(pool, options, make_task("warn"))
    finally:
        logger.removeHandler(caplog.handler)
    record = next(record for record in caplog.records if record.message == "said by a loader")
    assert (record.levelname, record.fields) == ("WARNING", {"pages": 3})


@pytest.mark.trial
@pytest.mark.parametrize(
    ("command", "said"),
    [
        ((sys.executable, "-c", "raise SystemExit('a package is missing')"), "a package is missing"),
        (("/no/such/program",), "No such file"),
    ],
)
def test_a_worker_that_does_not_start_ends_the_run_with_the_reason(
    options: PrepareOptions, make_task: MakeTask, command: tuple[str, ...], said: str
) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        run(WorkerPool(command), options, make_task("a text"))
    assert "FOOTNOTE_INGESTION__EXECUTOR" in caught.value.hint


KILLED_WHILE = """
import os, runpy, signal, sys
from pathlib import Path
for kill in Path(sys.argv.pop(1)).iterdir():
    try:
        kill.unlink()
    except FileNotFoundError:  # the other worker took it
        continue
    os.kill(os.getpid(), signal.SIGKILL)
runpy.run_module("pipelines.ingestion.worker", run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize(("kills", "failed"), [(5, 0), pytest.param(50, 4, marks=pytest.mark.trial)])
def test_a_run_goes_on_with_fewer_workers_where_they_are_killed(
    options: PrepareOptions, make_task: MakeTask, tmp_path: Path, kills: int, failed: int
) -> None:
    folder = tmp_path / "kills"
    folder.mkdir()
    for number in range(kills):
        (folder / str(number)).touch()
    pool = WorkerPool((sys.executable, "-P", "-c", KILLED_WHILE, str(folder)))
    done = run(pool, options, *[make_task(f"text {number}") for number in range(4)])
    pool.close()
    failures = [each for each in done if isinstance(each, PreparationFailure)]
    assert len(failures) == failed
    assert all("3 workers were killed one after the other" in each.message for each in failures)
    assert all("FOOTNOTE_INGESTION__WORKERS" in each.hint and not each.fatal for each in failures)


def test_the_settings_choose_the_executor() -> None:
    assert build_executor(IngestionSettings(executor="here")) is prepare_in_process
    assert build_executor(IngestionSettings(workers=3)) == LocalExecutor(3)
    chosen = build_executor(IngestionSettings())
    assert isinstance(chosen, LocalExecutor)
    assert 1 <= chosen.workers <= 8


SCRIPT = """
import sys
from pathlib import Path
import pipelines
settings = pipelines.Settings(_env_file=None, home=Path(sys.argv[2]), database_url=sys.argv[3],
                              embedding={"provider": "hashed"})
report = pipelines.ingest(settings, [sys.argv[1]])
print(report.count("added"), report.count("failed"))
"""


@pytest.mark.trial
def test_a_script_without_a_main_guard_can_ingest(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('a worker must not import what lies beside the documents')")
    (tmp_path / "note.md").write_text("# Note\n\nAbout Rust.\n")
    script = tmp_path / "elsewhere" / "script.py"
    script.parent.mkdir()
    script.write_text(SCRIPT)
    url = settings.database_url.get_secret_value()
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "note.md"), str(settings.home), url],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.stdout.split() == ["1", "0"], done.stderr
