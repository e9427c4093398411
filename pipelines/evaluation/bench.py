"""Benchmarks: ingestion, and asking beside searching."""

import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from config.settings import Settings
from pipelines.errors import SourceError
from pipelines.evaluation.corpus import Progress
from pipelines.ingestion.run import build_ingestion
from pipelines.query.engine import QueryEngine
from pipelines.store.database import embedded_server


def bench_ingest(settings: Settings, locations: Sequence[str], on_progress: Progress) -> dict[str, Any]:
    """Time the ingestion of these files and folders in a home of its own, and a second run that finds no change.

    The home and its embedded Postgres are deleted afterwards; the database is made before the clock runs.
    """
    home = Path(tempfile.mkdtemp(prefix="footnote-bench-"))
    home.chmod(0o755)  # the account that runs Postgres must get in
    own = settings.model_copy(update={"home": home / "home", "database_url": None})
    server = embedded_server(own.home)
    try:
        ingestion = build_ingestion(own)
        first, unchanged = (
            ingestion.run(
                ingestion.plan(locations), on_progress=lambda done, total, _: on_progress("ingesting", done, total)
            )
            for _ in range(2)
        )
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
        "nodes_per_second": round(first.nodes / first.seconds, 1),
        "unchanged": {"seconds": round(unchanged.seconds, 2), "embedded": unchanged.embedded},
        "peak_memory_mb": peak_memory(),
    }


def bench_ask(engine: QueryEngine, questions: Sequence[str], on_progress: Progress) -> dict[str, Any]:
    """Time a search and an ask of each question, both warm: each was searched and asked once before.

    `ratio` is the median time of an ask over that of a search. Nothing is logged.

    Raises:
        SourceError: If there is no question.
        RetrievalError: If a question cannot be searched.
    """
    if not questions:
        raise SourceError("There is no question to ask.", hint="Name a topics file.")
    seconds: dict[str, list[float]] = {"search": [], "ask": []}
    for done, question in enumerate((*questions, *questions), start=1):
        for name, call in (("search", engine.search), ("ask", engine.ask)):
            began = time.perf_counter()
            call(question, record=False)
            seconds[name].append(time.perf_counter() - began)
        on_progress("asking", done, 2 * len(questions))
    times = {
        name: {f"p{share}": round(1000 * float(np.percentile(spent[len(questions) :], share)), 1) for share in (50, 95)}
        for name, spent in seconds.items()
    }
    ratio = times["ask"]["p50"] / times["search"]["p50"]
    return {"questions": len(questions), "milliseconds": times, "ratio": round(ratio, 2)}


def peak_memory() -> float:
    """The peak memory of this process, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1_000_000 if sys.platform == "darwin" else 1_000), 1)
