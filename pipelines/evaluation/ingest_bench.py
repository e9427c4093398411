"""BENCH: ingesting many small documents: how near it comes to embedding alone, and what a later run costs."""

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llama_index.core.embeddings import BaseEmbedding

from config.settings import Settings
from pipelines.errors import ConfigError, StoreError
from pipelines.evaluation.processes import Ran, run_measured
from pipelines.evaluation.small_documents import write_small_documents
from pipelines.ingestion.embed import embedded_text
from pipelines.ingestion.prepare import Options, Prepared, Task, prepare
from pipelines.ingestion.sources.files import list_files
from pipelines.models.embed import build_embed_model, window_vectors
from pipelines.models.identity import identity
from pipelines.query.engine import Engine, build_query_engine
from pipelines.store.database import embedded_server, open_database

OnProgress = Callable[[str, int, int], None]
_NEW_WORDS = "quixotic zephyranthes marmoset"
_SEARCH_SECONDS = 60


@dataclass(frozen=True, slots=True)
class _Place:
    """A home and a database of its own, and the documents."""

    settings: Settings
    documents: Path

    def command(self, *arguments: str) -> Ran:
        """Run `footnote` there; it must end well.

        Raises:
            StoreError: If it does not.
        """
        ran = run_measured([sys.executable, "-m", "app.cli", *arguments, "--json"], self._environment(), self.pid_file)
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
    """How fast so many small documents, made of the text of these files and folders, come in, change and go.

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
        place = _Place(own, home / "documents")
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


def _measure(place: _Place, paths: Sequence[Path], on_progress: OnProgress) -> dict[str, Any]:
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


def _texts(place: _Place, on_progress: OnProgress) -> Iterator[str]:
    """What a run will embed, in the order of the documents."""
    scratch = place.settings.model_copy(update={"home": place.settings.home.with_name("scratch")})
    options = Options.of(scratch, identity(place.settings).slug)
    items = list_files(str(place.documents)).items
    for number, item in enumerate(items):
        prepared = prepare(Task(item, item.uri, place.settings.collection), options)
        if not isinstance(prepared, Prepared) or prepared.nodes is None:
            raise ConfigError("These settings do not let the documents be embedded alone, to compare with.")
        yield from map(embedded_text, prepared.nodes)
        on_progress("preparing", number + 1, len(items))


def _embed(model: BaseEmbedding, texts: Sequence[str]) -> tuple[float, float]:
    """(seconds, seconds of processor time) of embedding these texts and nothing else."""
    began, computed = time.perf_counter(), time.process_time()
    window_vectors(model, texts)
    return time.perf_counter() - began, time.process_time() - computed


def _change_one(place: _Place, path: Path) -> dict[str, Any]:
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


def _until_found(engine: Engine) -> bool:
    until = time.perf_counter() + _SEARCH_SECONDS
    while time.perf_counter() < until:
        if any(_NEW_WORDS in result.text for result in engine.search(_NEW_WORDS).results):
            return True
        time.sleep(0.05)
    return False


def _spent(ran: Ran) -> dict[str, Any]:
    names = ("seconds", "cpu_seconds", "postgres_cpu_seconds", "memory_mb", "postgres_mb")
    return {name: getattr(ran, name) for name in names}


def _counts(ran: Ran, *names: str) -> dict[str, Any]:
    report = json.loads(ran.output)
    return {name: report[name] for name in names}
