"""Benchmarks: ingestion, and asking beside searching."""

import hashlib
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from config.settings import Settings
from pipelines.errors import SourceError
from pipelines.evaluation.corpus import Progress
from pipelines.ingestion.preview import preview
from pipelines.ingestion.run import Overrides, build_ingestion
from pipelines.ingestion.sources.files import list_files
from pipelines.query.engine import QueryEngine
from pipelines.store.database import embedded_server
from pipelines.store.originals import path_of

Result = TypeVar("Result")


def bench_ingest(settings: Settings, locations: Sequence[str], on_progress: Progress) -> dict[str, Any]:
    """Time the ingestion of these files and folders in a home of its own: a plan of it, the run, an unchanged run.

    `ratio` of the plan and of the unchanged run compares with the floor beside it: reading the size and the SHA-256 of
    each file that is listed. The home and its embedded Postgres are deleted afterwards; the database is made before the
    clock runs.
    """
    home = Path(tempfile.mkdtemp(prefix="footnote-bench-"))
    home.chmod(0o755)  # the account that runs Postgres must get in
    own = settings.model_copy(update={"home": home / "home", "database_url": None})
    server = embedded_server(own.home)
    try:
        ingestion = build_ingestion(own)
        paths = [path_of(item.uri) for location in locations for item in list_files(location).items]
        planned, plan = _beside_floor(lambda: ingestion.plan(locations), paths)
        began = time.perf_counter()
        preview(ingestion, plan, Overrides(), lambda done, total: on_progress("planning", done, total), whole=False)
        foreseen = time.perf_counter() - began
        first = ingestion.run(plan, on_progress=lambda done, total, _: on_progress("ingesting", done, total))
        again, unchanged = _beside_floor(lambda: ingestion.run(ingestion.plan(locations)), paths)
        ingestion.database.engine.dispose()
    finally:
        server.release()
        shutil.rmtree(home, ignore_errors=True)
    return {
        "documents": len(first.items),
        "failed": first.count("failed"),
        "nodes": first.nodes,
        "seconds": round(first.seconds, 2),
        "documents_per_second": round(len(first.items) / first.seconds, 1),
        "plan": planned | {"preview_seconds": round(foreseen, 3)},
        "unchanged": again | {"embedded": unchanged.embedded},
    }


def _beside_floor(call: Callable[[], Result], paths: Sequence[Path]) -> tuple[dict[str, float], Result]:
    """Return the medians of three calls, each after its floor, in seconds, and the last result."""
    floors, spent = [], []
    for _ in range(3):
        floors.append(_read_sizes_and_hashes(paths))
        began = time.perf_counter()
        result = call()
        spent.append(time.perf_counter() - began)
    ratio = statistics.median(one / floor for one, floor in zip(spent, floors, strict=True))
    seconds, floor = statistics.median(spent), statistics.median(floors)
    return {"seconds": round(seconds, 3), "floor": round(floor, 3), "ratio": round(ratio, 2)}, result


def _read_sizes_and_hashes(paths: Sequence[Path]) -> float:
    """The seconds that reading the size and the SHA-256 of each of these files takes."""
    names = list(map(str, paths))
    began = time.perf_counter()
    for name in names:
        os.stat(name)
        with open(name, "rb") as file:
            hashlib.sha256(file.read()).hexdigest()
    return time.perf_counter() - began


def bench_ask(engine: QueryEngine, questions: Sequence[str], on_progress: Progress) -> dict[str, Any]:
    """Time a search and an ask of each question, both warm: each was searched and asked once before.

    `ratio` is the median time of an ask over that of a search. Nothing is logged. A SourceError without a question.
    """
    if not questions:
        raise SourceError("There is no question to ask.", hint="Name a topics file.")
    spent: dict[str, list[float]] = {"search": [], "ask": []}
    for done, question in enumerate((*questions, *questions), start=1):
        for name, call in (("search", engine.search), ("ask", engine.ask)):
            began = time.perf_counter()
            call(question, record=False)
            spent[name].append(1000 * (time.perf_counter() - began))
        on_progress("asking", done, 2 * len(questions))
    warm = {name: np.percentile(each[len(questions) :], (50, 95)).round(1).tolist() for name, each in spent.items()}
    times = {name: {"p50": median, "p95": slow} for name, (median, slow) in warm.items()}
    ratio = times["ask"]["p50"] / times["search"]["p50"]
    return {"questions": len(questions), "milliseconds": times, "ratio": round(ratio, 2)}
