"""Documents a second of an ingestion on Ray with 1, 2 and 4 workers, beside one process, in one run.

    python -m tests.bench.ray_workers ../blog_18f --documents 400

Each runs in a home of its own with an embedded Postgres of its own, which are deleted afterwards; each worker embeds
with one thread. The cluster of this machine runs before the clock, and a few documents went through its workers.
`efficiency` is the rate by that of one worker and the number of workers: more workers than cores cannot gain.
"""

import os
import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from config.settings import EmbeddingSettings, IngestionSettings, Settings
from data.make_documents import write_small_documents
from pipelines.evaluation.bench import own_home
from pipelines.ingestion.run import build_ingestion, ingest
from pipelines.store.database import embedded_server
from tests.bench import arguments, show

_WORKERS = (1, 2, 4)
_FIRST = 16  # documents a worker, two tasks, that start it


def rate(folder: Path, first: Path, **ingestion: Any) -> float:
    """Documents a second of a folder, after the documents of another one were ingested."""
    with own_home(Settings(embedding=EmbeddingSettings(threads=1), ingestion=IngestionSettings(**ingestion))) as own:
        server = embedded_server(own.home)
        try:
            ingest(own, [str(first)])
            running = build_ingestion(own)
            plan = running.plan([str(folder)])
            began = time.perf_counter()
            report = running.run(plan)
            spent = time.perf_counter() - began
            assert report.count("added") == len(report.items), "documents failed or were stored before"
            running.database.engine.dispose()
            return len(report.items) / spent
        finally:
            server.release()


def on_ray(workers: int, folder: Path, first: Path) -> float:
    """The same with that many workers of Ray."""
    import ray

    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, configure_logging=False)
    try:
        return rate(folder, first, executor="ray")
    finally:
        ray.shutdown()


def measure(sources: Sequence[str], documents: int) -> dict[str, Any]:
    """By number of workers, documents a second and the efficiency; and those of one process of this machine."""
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch)
        write_small_documents(sources, made / "all", documents + _FIRST * max(_WORKERS))
        paths = sorted(path for path in (made / "all").rglob("*") if path.is_file())
        (made / "first").mkdir()
        for path in paths[: _FIRST * max(_WORKERS)]:
            path.rename(made / "first" / path.name)
        alone = rate(made / "all", made / "first", executor="local", workers=1)
        rates = {workers: on_ray(workers, made / "all", made / "first") for workers in _WORKERS}
    return {
        "documents": documents,
        "cores": len(os.sched_getaffinity(0)),
        "documents a second in one process": round(alone, 1),
        "on Ray": {
            workers: {"documents a second": round(each, 1), "efficiency": round(each / rates[1] / workers, 2)}
            for workers, each in rates.items()
        },
    }


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    parser = arguments("ray_workers", __doc__)
    parser.add_argument("sources", nargs="+", help="files and folders whose text the documents are made of")
    parser.add_argument("--documents", type=int, default=400, help="how many (default: 400)")
    given = parser.parse_args()
    show(measure(given.sources, given.documents))
