"""Benchmark ingestion of many small documents, made of real text: against embedding alone, and each later run."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from llama_index.core.embeddings import BaseEmbedding

from config.settings import Settings
from pipelines.errors import ConfigError, FootnoteError, SourceError, StoreError
from pipelines.ingestion.loaders import load
from pipelines.ingestion.pipeline import embedded_text
from pipelines.ingestion.prepare import PreparedDocument, PrepareOptions, Task, prepare
from pipelines.ingestion.sources.files import list_files, read_file
from pipelines.models.embedding import build_embed_model, window_vectors
from pipelines.models.identity import identity
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.store.database import embedded_server, open_database
from pipelines.text import sentences

PARTS = 10  # folders side by side
SHORTEST, LONGEST = 600, 1500  # characters of a document, one passage more or less
_LEAST_PASSAGE, _LEAST_WORDS, _LEAST_TEXT = 40, 6, 10 * LONGEST
_READABLE = (".md", ".txt", ".html", ".xhtml", ".htm")
_BLANK = re.compile(r"\n[ \t]*\n")


def write_small_documents(locations: Sequence[str], folder: Path, count: int) -> list[Path]:
    """Write small documents with the text of these files and folders to a new folder; return their paths, by name.

    They are 600 to 1,500 characters each, half of them Markdown with a heading, in ten folders with folders in them.

    Raises:
        SourceError: If the files hold no text.
    """
    passages = list(read_passages(locations))
    if sum(map(len, passages)) < _LEAST_TEXT:
        raise SourceError("There is too little text to make documents from.", hint="Name a folder with more of it.")
    paths = []
    for number, body in enumerate(islice(bodies(passages), count)):
        place = folder / f"part-{number * PARTS // count}" / f"group-{number // 50:03}"
        path = place / f"{number:05}.{'txt' if number % 2 else 'md'}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {_heading(body)}\n\n{body}\n" if path.suffix == ".md" else f"{body}\n", encoding="utf-8")
        paths.append(path)
    return sorted(paths)


def read_passages(locations: Sequence[str]) -> Iterator[str]:
    """The paragraphs of prose in these files, in order, each once; white space folded, at most a document long."""
    known: set[str] = set()
    for location in locations:
        for item in list_files(location).items:
            if not item.name.lower().endswith(_READABLE):
                continue
            try:
                text = load(read_file(item, 10_000_000), item).text
            except FootnoteError:
                continue
            for paragraph in _BLANK.split(text):
                for passage in _cut(" ".join(paragraph.split())):
                    if passage not in known:
                        known.add(passage)
                        yield passage


def bodies(passages: Sequence[str]) -> Iterator[str]:
    """The texts of documents without end: first the passages in order, each in one document, then their sentences.

    These are shuffled again each time, so that no two documents share more than single sentences.
    """
    rolled = random.Random(0)  # noqa: S311 - for texts to be the same every time
    yield from _filled(passages, "\n\n", rolled)
    loose = [passage[start:end] for passage in passages for start, end in sentences(passage)]
    while True:
        yield from _filled(rolled.sample(loose, len(loose)), " ", rolled)


def _filled(parts: Sequence[str], between: str, rolled: random.Random) -> Iterator[str]:
    body, wanted = "", rolled.randint(SHORTEST, LONGEST)
    for part in parts:
        if len(body) >= SHORTEST and len(body) + len(part) - wanted > wanted - len(body):  # nearer without it
            yield body
            body, wanted = "", rolled.randint(SHORTEST, LONGEST)
        body = f"{body}{between}{part}" if body else part


def _cut(paragraph: str) -> Iterator[str]:
    """The paragraph, or its sentences packed where it is longer than a document; nothing of what is no prose."""
    if len(paragraph) < _LEAST_PASSAGE or len(paragraph.split()) < _LEAST_WORDS or paragraph[0] in "#|`<!-":
        return
    packed = ""
    for start, end in sentences(paragraph) if len(paragraph) > LONGEST else [(0, len(paragraph))]:
        sentence = paragraph[start:end]
        if len(sentence) > SHORTEST:
            continue
        if packed and len(packed) + len(sentence) > SHORTEST:
            yield packed
            packed = ""
        packed = f"{packed} {sentence}".strip()
    if packed:
        yield packed


def _heading(body: str) -> str:
    return " ".join(re.findall(r"\w+", body)[:6])


_PAUSE, _LONGEST_PAUSE = 0.2, 2.0  # seconds between two looks at the memory, which cost the system some milliseconds
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class CommandResult:
    """Output and cost of a finished command.

    Attributes:
        seconds: From its start to its end.
        cpu_seconds: Of the command and of every child that it waited for.
        postgres_cpu_seconds: Of the embedded server, as far as the last look saw it.
        memory_mb: The most that the command and its children held at once: PSS, where a page that several processes
            share counts once. 0 where the system does not tell.
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
            self.memory = max(self.memory, sum(map(_pss, set(_process_tree(self._root)) - set(server))))
            self.postgres = max(self.postgres, sum(map(_pss, server)))
            self.postgres_cpu = max(self.postgres_cpu, _cpu_seconds(server))

    def end(self) -> None:
        self._ended.set()
        self.join()


def _server(pid_file: Path) -> list[int]:
    try:
        return _process_tree(int(pid_file.read_text().split()[0]))
    except (OSError, ValueError, IndexError):
        return []


def _process_tree(root: int) -> list[int]:
    """A process and all below it."""
    found = [root]
    for pid in found:
        try:
            for children in Path(f"/proc/{pid}/task").glob("*/children"):
                found += map(int, children.read_text().split())
        except OSError:
            continue
    return found


def _pss(pid: int) -> int:
    """The proportional share of memory of a process, in bytes; 0 when it has gone."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def _cpu_seconds(pids: Sequence[int]) -> float:
    """The processor time of these processes and of the children that they waited for."""
    spent = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        spent += sum(map(int, fields[11:15]))
    return spent / _TICKS


OnProgress = Callable[[str, int, int], None]
_NEW_WORDS = "quixotic zephyranthes marmoset"
_SEARCH_SECONDS = 60


@dataclass(frozen=True, slots=True)
class _BenchHome:
    """A home and its own database, and the documents."""

    settings: Settings
    documents: Path

    def command(self, *arguments: str) -> CommandResult:
        """Run `footnote` there; it must end well.

        Raises:
            StoreError: If it does not.
        """
        ran = run_measured([sys.executable, "-m", "footnote", *arguments, "--json"], self._environment(), self.pid_file)
        if ran.code:
            raise StoreError(f"`footnote {' '.join(arguments)}` ended with {ran.code}: {ran.errors[-2000:]}")
        return ran

    @property
    def pid_file(self) -> Path:
        return self.settings.home / "postgres" / "data" / "postmaster.pid"

    def _environment(self) -> dict[str, str]:
        asked = {f"FOOTNOTE_EMBEDDING__{name.upper()}": str(value) for name, value in self.settings.embedding}
        # an empty DATABASE_URL is none, and stronger than the one of a .env file
        return {**os.environ, **asked, "FOOTNOTE_HOME": str(self.settings.home), "DATABASE_URL": ""}


def bench_ingest(
    settings: Settings, locations: Sequence[str], *, documents: int, on_progress: OnProgress
) -> dict[str, Any]:
    """Measure how fast small documents, made of the text of these files and folders, are added, changed and removed.

    Everything runs in a home of its own with an embedded Postgres of its own, which are deleted afterwards. Commands
    are processes of their own and are timed whole, start-up included. `ratio` compares the first run with embedding
    the same texts alone, half of them before that run and half after it. The empty database is there before.

    Raises:
        SourceError: If there is no text in these files.
        StoreError: If a command fails.
    """
    home = Path(tempfile.mkdtemp(prefix="footnote-bench-"))
    home.chmod(0o755)  # the account that runs Postgres must get in
    try:
        own = settings.model_copy(update={"home": home / "home", "database_url": None})
        place = _BenchHome(own, home / "documents")
        on_progress("writing documents", 0, 1)
        paths = write_small_documents(locations, place.documents, documents)
        on_progress("writing documents", 1, 1)
        _make_database(own)
        return _measure(place, paths, on_progress)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _make_database(settings: Settings) -> None:
    server = embedded_server(settings.home)
    open_database(settings).engine.dispose()
    server.release()


def _measure(place: _BenchHome, paths: Sequence[Path], on_progress: OnProgress) -> dict[str, Any]:
    model = build_embed_model(place.settings)
    texts = list(dict.fromkeys(_texts(place, on_progress)))
    on_progress("embedding alone", 0, 2)
    window_vectors(model, texts[:50])
    before = _embed(model, texts[::2])
    on_progress("embedding alone", 1, 2)
    done = iter(range(6))

    def advance() -> None:
        on_progress("running footnote", next(done), 5)

    advance()
    first = place.command("ingest", str(place.documents))
    advance()
    after = _embed(model, texts[1::2])
    on_progress("embedding alone", 2, 2)
    unchanged = place.command("ingest", str(place.documents))
    advance()
    shutil.rmtree(place.documents / "part-0")
    gone = place.command("ingest", str(place.documents))
    advance()
    removed = place.command("remove", "--source", str(place.documents / "part-1"), "--yes")
    shutil.rmtree(place.documents / "part-1")
    advance()
    changed = _change_one(place, paths[-1])
    advance()
    report = json.loads(first.output)
    pure, rate = len(texts) / (before[0] + after[0]), report["embedded"] / first.seconds
    return {
        "documents": len(paths),
        "nodes": report["nodes"],
        "failed": report["failed"],
        "embedded": report["embedded"],
        "texts": len(texts),
        "pure": {"nodes_per_second": round(pure, 1), "seconds": round(before[0] + after[0], 2),
                 "cpu_seconds": round(before[1] + after[1], 2)},
        "first": _spent(first) | {"nodes_per_second": round(rate, 1),
                                  "documents_per_second": round(len(paths) / first.seconds, 1)},
        "ratio": round(rate / pure, 4),
        "cpu_ratio": round((before[1] + after[1]) / (first.cpu_seconds + first.postgres_cpu_seconds), 4),
        "unchanged": _spent(unchanged) | _counts(unchanged, "unchanged", "embedded", "failed"),
        "changed": changed,
        "gone": _spent(gone) | _counts(gone, "removed"),
        "removed": _spent(removed) | {"removed": len(json.loads(removed.output)["removed"])},
        "peak_memory_mb": max(ran.memory_mb for ran in (first, unchanged, gone, removed)),
    }  # fmt: skip


def _texts(place: _BenchHome, on_progress: OnProgress) -> Iterator[str]:
    """The texts that a run will embed, in the order of the documents."""
    scratch = place.settings.model_copy(update={"home": place.settings.home.with_name("scratch")})
    options = PrepareOptions.of(scratch, identity(place.settings).slug)
    items = list_files(str(place.documents)).items
    for number, item in enumerate(items):
        prepared = prepare(Task(item, item.uri, place.settings.collection), options)
        if not isinstance(prepared, PreparedDocument) or prepared.nodes is None:
            raise ConfigError("These settings do not allow embedding the documents alone for comparison.")
        yield from map(embedded_text, prepared.nodes)
        on_progress("preparing", number + 1, len(items))


def _embed(model: BaseEmbedding, texts: Sequence[str]) -> tuple[float, float]:
    """(seconds, seconds of processor time) of embedding these texts and nothing else."""
    began, computed = time.perf_counter(), time.process_time()
    window_vectors(model, texts)
    return time.perf_counter() - began, time.process_time() - computed


def _change_one(place: _BenchHome, path: Path) -> dict[str, Any]:
    """Write new words into a document, bring it in, and search for them: in a process that ran, and in a new one."""
    server = embedded_server(place.settings.home)
    running = build_query_engine(place.settings)
    try:
        running.search("the weather")
        path.write_text(f"{path.read_text()}\nThe {_NEW_WORDS} came in.\n")
        began = time.perf_counter()
        ran = place.command("ingest", str(place.documents))
        seen = _until_found(running)
        in_running = time.perf_counter() - began
        searched = place.command("search", _NEW_WORDS)
    finally:
        running.database.engine.dispose()
        server.release()
    found = any(_NEW_WORDS in result["text"] for result in json.loads(searched.output)["results"])
    return {
        **_spent(ran),
        **_counts(ran, "updated", "unchanged", "embedded"),
        "seconds_until_a_running_process_finds_it": round(in_running, 3) if seen else None,
        "seconds_until_a_new_process_finds_it": round(ran.seconds + searched.seconds, 3) if found else None,
    }


def _until_found(engine: QueryEngine) -> bool:
    until = time.perf_counter() + _SEARCH_SECONDS
    while time.perf_counter() < until:
        if any(_NEW_WORDS in result.text for result in engine.search(_NEW_WORDS).results):
            return True
        time.sleep(0.05)
    return False


def _spent(ran: CommandResult) -> dict[str, Any]:
    names = ("seconds", "cpu_seconds", "postgres_cpu_seconds", "memory_mb", "postgres_mb")
    return {name: getattr(ran, name) for name in names}


def _counts(ran: CommandResult, *names: str) -> dict[str, Any]:
    report = json.loads(ran.output)
    return {name: report[name] for name in names}
