"""Ingestion of many small documents, made of real text: against embedding alone, and each later run.

    python -m tests.bench.ingest data/sample --documents 100

Everything runs in a home of its own with an embedded Postgres of its own, which are deleted afterwards. Commands are
processes of their own and are timed whole, start-up included. `ratio` compares the first run with embedding the same
texts alone, half of them before that run and half after it. The empty database is there before.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from llama_index.core.embeddings import BaseEmbedding

from config.settings import Settings, get_settings
from data.make_documents import write_small_documents
from pipelines.errors import ConfigError, StoreError
from pipelines.evaluation.bench import own_home
from pipelines.ingestion.pipeline import embedded_text
from pipelines.ingestion.plan import Step
from pipelines.ingestion.prepare import PreparedDocument, PrepareOptions, Task, prepare
from pipelines.ingestion.sources.files import list_files
from pipelines.models.embedding import build_embed_model, window_vectors
from pipelines.models.identity import identity
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.store.database import embedded_server, open_database
from tests.bench import arguments, show

_PAUSE, _LONGEST_PAUSE = 0.2, 2.0  # seconds between two looks at the memory, which cost the system some milliseconds
_NEW_WORDS = "quixotic zephyranthes marmoset"
_SEARCH_SECONDS = 60


@dataclass(frozen=True, slots=True)
class CommandResult:
    """Output and cost of a finished command.

    Attributes:
        seconds: From its start to its end.
        cpu_seconds: Of the command and of every child that it waited for.
        postgres_cpu_seconds: Of the embedded server, as far as the last look saw it.
        memory_mb: The most that the command and its children held at once: PSS, where a page that several processes
            share counts once.
        postgres_mb: Likewise of the server.
    """

    code: int
    output: str
    errors: str
    seconds: float
    cpu_seconds: float
    postgres_cpu_seconds: float
    memory_mb: float
    postgres_mb: float

    def spent(self, *counts: str) -> dict[str, Any]:
        """Its times and memory, with these counts of its JSON."""
        report = json.loads(self.output)
        names = ("seconds", "cpu_seconds", "postgres_cpu_seconds", "memory_mb", "postgres_mb")
        return {name: getattr(self, name) for name in names} | {name: report[name] for name in counts}


def run_measured(command: Sequence[str], environment: Mapping[str, str], pid_file: Path) -> CommandResult:
    """Run a command to its end; `pid_file` is where the embedded server writes its number."""
    before = _cpu_seconds(_server(pid_file))
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        began = time.perf_counter()
        child = subprocess.Popen(command, stdout=output, stderr=errors, stdin=subprocess.DEVNULL, env=environment)
        watch = _ProcessMonitor(child.pid, pid_file)
        watch.start()
        _, status, spent = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        watch.end()
        output.seek(0)
        errors.seek(0)
        return CommandResult(
            code=child.returncode,
            output=output.read(),
            errors=errors.read(),
            seconds=round(seconds, 3),
            cpu_seconds=round(spent.ru_utime + spent.ru_stime, 2),
            postgres_cpu_seconds=round(max(watch.postgres_cpu - before, 0.0), 2),
            memory_mb=round(watch.memory / 1e6, 1),
            postgres_mb=round(watch.postgres / 1e6, 1),
        )


class _ProcessMonitor(threading.Thread):
    """Samples memory and CPU time of a command's processes until `end`."""

    def __init__(self, root: int, pid_file: Path) -> None:
        super().__init__(daemon=True)
        self.memory = self.postgres = 0
        self.postgres_cpu = 0.0
        self._root, self._pid_file = root, pid_file
        self._ended = threading.Event()

    def run(self) -> None:
        began = time.perf_counter()
        while not self._ended.wait(min(max(_PAUSE, (time.perf_counter() - began) / 20), _LONGEST_PAUSE)):
            server = _server(self._pid_file)
            self.memory = max(self.memory, _memory(set(_process_tree(self._root)) - set(server)))
            self.postgres = max(self.postgres, _memory(server))
            self.postgres_cpu = max(self.postgres_cpu, _cpu_seconds(server))

    def end(self) -> None:
        self._ended.set()
        self.join()


def _server(pid_file: Path) -> list[psutil.Process]:
    try:
        return _process_tree(int(pid_file.read_text().split()[0]))
    except (OSError, ValueError, IndexError):
        return []


def _process_tree(root: int) -> list[psutil.Process]:
    """A process and all below it; none when it has gone."""
    with suppress(psutil.Error):
        return [process := psutil.Process(root), *process.children(recursive=True)]
    return []


def _memory(processes: Iterable[psutil.Process]) -> int:
    held = 0
    for process in processes:
        with suppress(psutil.Error, OSError):
            held += process.memory_full_info().pss
    return held


def _cpu_seconds(processes: Sequence[psutil.Process]) -> float:
    """The processor time of these processes and of the children that they waited for."""
    spent = 0.0
    for process in processes:
        with suppress(psutil.Error):
            spent += sum(process.cpu_times()[:4])
    return spent


@dataclass(frozen=True, slots=True)
class _BenchHome:
    """A home and its own database, and the documents."""

    settings: Settings
    documents: Path

    def command(self, *words: str) -> CommandResult:
        """Run `footnote` there; it must end well.

        Raises:
            StoreError: If it does not.
        """
        wanted = {f"FOOTNOTE_EMBEDDING__{name.upper()}": str(value) for name, value in self.settings.embedding}
        # an empty DATABASE_URL is none, and stronger than the one of a .env file
        environment = {**os.environ, **wanted, "FOOTNOTE_HOME": str(self.settings.home), "DATABASE_URL": ""}
        pid_file = self.settings.home / "postgres" / "data" / "postmaster.pid"
        ran = run_measured([sys.executable, "-m", "footnote", *words, "--json"], environment, pid_file)
        if ran.code:
            raise StoreError(f"`footnote {' '.join(words)}` ended with {ran.code}: {ran.errors[-2000:]}")
        return ran


def bench_ingest(settings: Settings, locations: Sequence[str], *, documents: int) -> dict[str, Any]:
    """Measure how fast small documents, made of the text of these files and folders, are added, changed and removed.

    Raises:
        SourceError: If there is no text in these files.
        StoreError: If a command fails.
    """
    with own_home(settings) as own:
        place = _BenchHome(own, own.home.with_name("documents"))
        paths = write_small_documents(locations, place.documents, documents)
        server = embedded_server(own.home)
        open_database(own).engine.dispose()
        server.release()
        return _measure(place, paths)


def _measure(place: _BenchHome, paths: Sequence[Path]) -> dict[str, Any]:
    model = build_embed_model(place.settings)
    texts = list(dict.fromkeys(_texts(place)))
    window_vectors(model, texts[:50])
    before = _embed(model, texts[::2])
    first = place.command("ingest", str(place.documents))
    after = _embed(model, texts[1::2])
    unchanged = place.command("ingest", str(place.documents))
    shutil.rmtree(place.documents / "part-0")
    gone = place.command("ingest", str(place.documents))
    removed = place.command("remove", "--source", str(place.documents / "part-1"), "--yes")
    shutil.rmtree(place.documents / "part-1")
    changed = _change_one(place, paths[-1])
    report = json.loads(first.output)
    seconds, cpu_seconds = (one + other for one, other in zip(before, after, strict=True))
    pure, rate = len(texts) / seconds, report["embedded"] / first.seconds
    return {
        "documents": len(paths),
        "nodes": report["nodes"],
        "failed": report["failed"],
        "embedded": report["embedded"],
        "texts": len(texts),
        "pure": {"nodes_per_second": round(pure, 1), "seconds": round(seconds, 2),
                 "cpu_seconds": round(cpu_seconds, 2)},
        "first": first.spent() | {"nodes_per_second": round(rate, 1),
                                  "documents_per_second": round(len(paths) / first.seconds, 1)},
        "ratio": round(rate / pure, 4),
        "cpu_ratio": round(cpu_seconds / (first.cpu_seconds + first.postgres_cpu_seconds), 4),
        "unchanged": unchanged.spent("unchanged", "embedded", "failed"),
        "changed": changed,
        "gone": gone.spent("removed"),
        "removed": removed.spent() | {"removed": len(json.loads(removed.output)["removed"])},
        "peak_memory_mb": max(ran.memory_mb for ran in (first, unchanged, gone, removed)),
    }  # fmt: skip


def _texts(place: _BenchHome) -> Iterator[str]:
    """The texts that a run will embed, in the order of the documents."""
    scratch = place.settings.model_copy(update={"home": place.settings.home.with_name("scratch")})
    options = PrepareOptions.of(scratch, identity(place.settings).slug)
    for item in list_files(str(place.documents)).items:
        prepared = prepare(Task(Step("add", item, "new", collection=place.settings.collection), item.uri), options)
        if not isinstance(prepared, PreparedDocument) or prepared.nodes is None:
            raise ConfigError("These settings do not allow embedding the documents alone for comparison.")
        yield from map(embedded_text, prepared.nodes)


def _embed(model: BaseEmbedding, texts: Sequence[str]) -> tuple[float, float]:
    """(seconds, seconds of processor time) of embedding these texts and nothing else."""
    began, computed = time.perf_counter(), time.process_time()
    window_vectors(model, texts)
    return time.perf_counter() - began, time.process_time() - computed


def _change_one(place: _BenchHome, path: Path) -> dict[str, Any]:
    """Write new words into a document, ingest it, and search for them in a process that ran and in a new one."""
    server = embedded_server(place.settings.home)
    running = build_query_engine(place.settings)
    try:
        running.search("the weather")
        path.write_text(f"{path.read_text()}\nThe {_NEW_WORDS} came in.\n")
        began = time.perf_counter()
        ran = place.command("ingest", str(place.documents))
        in_running = _seconds_until(lambda: _finds(running), began)
        searched = place.command("search", _NEW_WORDS)
    finally:
        running.database.engine.dispose()
        server.release()
    found = any(_NEW_WORDS in result["text"] for result in json.loads(searched.output)["results"])
    return {
        **ran.spent("updated", "unchanged", "embedded"),
        "seconds_until_a_running_process_finds_it": in_running,
        "seconds_until_a_new_process_finds_it": round(ran.seconds + searched.seconds, 3) if found else None,
    }


def _finds(engine: QueryEngine) -> bool:
    return any(_NEW_WORDS in result.text for result in engine.search(_NEW_WORDS).results)


def _seconds_until(happens: Callable[[], bool], began: float) -> float | None:
    until = time.perf_counter() + _SEARCH_SECONDS
    while time.perf_counter() < until:
        if happens():
            return round(time.perf_counter() - began, 3)
        time.sleep(0.05)
    return None


if __name__ == "__main__":
    parser = arguments("ingest", __doc__)
    parser.add_argument("sources", nargs="+", help="files and folders whose text the documents are made of")
    parser.add_argument("--documents", type=int, default=10_000, help="how many (default: 10000)")
    given = parser.parse_args()
    show(bench_ingest(get_settings(), given.sources, documents=given.documents))
