"""Benchmarks: ingestion, and asking beside searching."""

import shutil
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
        "unchanged": {"seconds": round(unchanged.seconds, 2), "embedded": unchanged.embedded},
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
