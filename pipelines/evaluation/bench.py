"""Benchmarks: ingestion, and asking beside searching."""

import gc
import hashlib
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from sqlalchemy import event

from config.settings import Settings
from pipelines.errors import SourceError
from pipelines.evaluation.corpus import Progress
from pipelines.ingestion.preview import preview
from pipelines.ingestion.run import build_ingestion
from pipelines.ingestion.sources.files import list_files
from pipelines.query.engine import QueryEngine
from pipelines.store.database import embedded_server
from pipelines.store.node_table import checked
from pipelines.store.originals import path_of
from pipelines.store.tokens import tokenise

Result = TypeVar("Result")


@contextmanager
def own_home(settings: Settings) -> Iterator[Settings]:
    """These settings with a home of their own and no database yet, deleted at the end with all beside it."""
    folder = Path(tempfile.mkdtemp(prefix="footnote-bench-"))
    folder.chmod(0o755)  # the account that runs Postgres must get in
    try:
        yield settings.model_copy(update={"home": folder / "home", "database_url": None})
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def bench_ingest(settings: Settings, locations: Sequence[str], on_progress: Progress) -> dict[str, Any]:
    """Time the ingestion of these files and folders in a home of its own: a plan of it, the run, an unchanged run.

    `ratio` of the plan and of the unchanged run compares with the floor beside it: reading the size and the SHA-256 of
    each file that is listed. The home and its embedded Postgres are deleted afterwards; the database is made before the
    clock runs.
    """
    with own_home(settings) as own:
        server = embedded_server(own.home)
        try:
            ingestion = build_ingestion(own)
            paths = [path_of(item.uri) for location in locations for item in list_files(location).items]
            planned, plan = _beside_floor(lambda: ingestion.plan(locations), paths)
            began = time.perf_counter()
            preview(ingestion, plan, lambda done, total: on_progress("planning", done, total), whole=False)
            foreseen = time.perf_counter() - began
            first = ingestion.run(plan, on_progress=lambda done, total, _: on_progress("ingesting", done, total))
            again, unchanged = _beside_floor(lambda: ingestion.run(ingestion.plan(locations)), paths)
            ingestion.database.engine.dispose()
        finally:
            server.release()
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


_WARMING = 3  # questions that are not counted
_CANDIDATES = 20  # of each retriever of a search


def bench_ask(
    engine: QueryEngine,
    questions: Sequence[str],
    on_progress: Progress,
    others: Mapping[str, Callable[[str], Any]] = MappingProxyType({}),
) -> dict[str, Any]:
    """Time a search and an ask of each question beside their floor, in turn, in a process that is warm.

    The floor is what no search can do without: the question's vector, the raw SQL of the vector index and the raw
    look-up in the BM25 index, for twenty candidates each. No question is asked twice, so that nothing of it is kept;
    the first three only warm the process, unless there are no more; what they left is not looked through for garbage
    again, as in the chat. `ratios` are of medians and of 95th percentiles, `statements` medians of SQL statements.
    Nothing is logged. A SourceError without a question.

    Args:
        engine: Over the documents that are searched.
        questions: Each once.
        on_progress: Told of each question.
        others: Other systems by name, timed beside these.
    """
    if not questions:
        raise SourceError("There is no question to ask.", hint="Name a topics file.")
    with closing(engine.database.engine.raw_connection()) as connection:
        calls: dict[str, Callable[[str], Any]] = {
            "embed": engine.embed_model.get_query_embedding,
            "floor": partial(_floor, engine, connection),
            "search": partial(engine.search, record=False),
            "ask": partial(engine.ask, record=False),
            **others,
        }
        spent = _spent(engine, calls, questions, on_progress)
    counted = {name: each[_WARMING:] or each for name, each in spent.items()}
    times = {
        name: dict(
            zip(("p50", "p95"), np.percentile([one for one, _ in each], (50, 95)).round(2).tolist(), strict=True)
        )
        for name, each in counted.items()
    }
    ratios = {
        f"{name} by {base}": {cut: round(times[name][cut] / times[base][cut], 2) for cut in ("p50", "p95")}
        for name, base in (("search", "floor"), ("ask", "floor"), ("ask", "search"))
    }
    return {
        "questions": len(questions),
        "nodes": engine.store.count(),
        "milliseconds": times,
        "ratios": ratios,
        "statements": {name: statistics.median(n for _, n in counted[name]) for name in ("search", "ask")},
    }


def _spent(
    engine: QueryEngine, calls: Mapping[str, Callable[[str], Any]], questions: Sequence[str], on_progress: Progress
) -> dict[str, list[tuple[float, int]]]:
    """By name of a call, (milliseconds, SQL statements) of each question; each call is the first one in turn."""
    statements = [0]
    count = partial(_count, statements)
    spent: dict[str, list[tuple[float, int]]] = {name: [] for name in calls}
    event.listen(engine.database.engine, "before_cursor_execute", count)
    for done, question in enumerate(questions):
        if done == _WARMING:
            gc.collect()
            gc.freeze()
        order = [*calls][done % len(calls) :] + [*calls][: done % len(calls)]
        for name in order:
            statements[0], began = 0, time.perf_counter()
            calls[name](question)
            spent[name].append((1000 * (time.perf_counter() - began), statements[0]))
        on_progress("asking", done + 1, len(questions))
    event.remove(engine.database.engine, "before_cursor_execute", count)
    return spent


def _floor(engine: QueryEngine, connection: Any, question: str) -> None:
    vector = engine.embed_model.get_query_embedding(question)
    with connection.cursor() as cursor:
        nearest = "SELECT node_id FROM {}_windows ORDER BY embedding <=> %s LIMIT %s"
        cursor.execute(nearest.format(checked(engine.store.table)), (str(vector), _CANDIDATES))
        cursor.fetchall()
    engine.indexes.current("owner").search(tokenise(question), _CANDIDATES)


def _count(statements: list[int], *_: Any) -> None:
    statements[0] += 1
