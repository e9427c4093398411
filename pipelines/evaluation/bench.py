"""Benchmarks: loading and parsing with the exactness of the nodes, ingestion, searching and asking."""

import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from llama_index.core.schema import TextNode

from config.settings import Settings
from pipelines.errors import ConfigError, FootnoteError, SourceError
from pipelines.ingestion.change_detection import content_sha
from pipelines.ingestion.classify import classify
from pipelines.ingestion.loaders import Limits, load
from pipelines.ingestion.parsers import build_parser, parse, parser_for
from pipelines.ingestion.run import build_ingestion
from pipelines.ingestion.sources.files import list_files, read_file
from pipelines.query.engine import QueryEngine
from pipelines.store.database import embedded_server
from pipelines.store.node_writer import covered_characters
from pipelines.text import canonical
from pipelines.types import Document, SourceItem

OnProgress = Callable[[str, int, int], None]
STAGES = ("read", "load", "classify", "parse")


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A document with its nodes and the seconds of each stage."""

    document: Document
    parser: str
    nodes: Sequence[TextNode]
    seconds: Sequence[float]


def bench_parsing(
    locations: Sequence[str],
    *,
    sizes: object | None = None,
    limits: Limits | None = None,
    on_progress: OnProgress = lambda what, done, total: None,
) -> dict[str, Any]:
    """Read, load, classify and parse every document of these folders once, one after the other, and count.

    `documents_per_second` is of all four stages, libraries being loaded before; `floor_ratio` is their time over that
    of reading, decoding and canonicalising the same bytes, measured in the same run. `coverage` is the share of the
    characters, white space apart, that stand in at least one node; a span violation is a node that is not the text
    between its offsets, or does not begin after the one before. What a loader refuses is counted by its reason and is
    in no rate. Peak memory is of the whole process, in MB.

    Args:
        locations: Files and folders.
        sizes: How long nodes may be; None = the parsers' own sizes.
        limits: How large a file may be.
        on_progress: Told how far it is.

    Raises:
        SourceError: If a location cannot be listed.
    """
    most, items = limits or Limits(), list(_items(locations))
    smallest = {item.name.rpartition(".")[2].lower(): item for item in sorted(items, key=_bytes, reverse=True)}
    for item in smallest.values():  # the libraries are loaded before the clock runs
        _parse(item, sizes, most)
    began = time.perf_counter()
    for item in items:
        canonical(read_file(item, most.most_bytes).decode("utf-8", "replace"))
    floor = time.perf_counter() - began
    failed: list[tuple[str, str]] = []
    parsers, counts, stages, least = Counter[str](), Counter[str](), [0.0] * len(STAGES), (1.0, "")
    for number, item in enumerate(items, 1):
        parsed = _parse(item, sizes, most)
        if isinstance(parsed, str):
            failed.append((item.name, parsed))
        else:
            checks = check_nodes(parsed.document, parsed.nodes, build_parser(parsed.parser, sizes).fits)
            counts += checks + Counter(documents=1, nodes=len(parsed.nodes))
            parsers[parsed.parser] += 1
            stages = [spent + more for spent, more in zip(stages, parsed.seconds, strict=True)]
            least = min(least, (_share(checks["covered"], checks["characters"], 1.0), parsed.document.name))
        on_progress("parsing", number, len(items))
    seconds = sum(stages)
    return {
        "files": len(items),
        "documents": counts["documents"],
        "nodes": counts["nodes"],
        "parsers": dict(parsers.most_common()),
        "documents_per_second": round(counts["documents"] / seconds, 1) if seconds else None,
        "seconds": {stage: round(spent, 3) for stage, spent in zip(STAGES, stages, strict=True)},
        "floor_seconds": round(floor, 3),
        "floor_ratio": round(seconds / floor, 1) if floor else None,
        "coverage": _share(counts["covered"], counts["characters"]),
        "least_coverage": {"document": least[1], "coverage": least[0]},
        "span_violations": counts["span_violations"],
        "over_limit": counts["over_limit"],
        "failures": dict(Counter(reason for _, reason in failed).most_common()),
        "failed": [name for name, _ in failed],
        "peak_memory_mb": _peak_memory(),
    }


def _items(locations: Sequence[str]) -> Iterator[SourceItem]:
    for listing in map(list_files, locations):
        if listing.problems and not listing.items:
            raise listing.problems[0][1]
        yield from listing.items


def _bytes(item: SourceItem) -> int:
    return int(item.stamp.partition(":")[0] or 0)


def _parse(item: SourceItem, sizes: object | None, limits: Limits) -> _Parsed | str:
    """The parsed document, or why it could not be."""
    times = [time.perf_counter()]
    try:
        data = read_file(item, limits.most_bytes)
        times.append(time.perf_counter())
        document = load(data, item, limits=limits)
        times.append(time.perf_counter())
        document = classify(document)
        times.append(time.perf_counter())
        parser = parser_for(document)
        document = document.with_(content_sha=content_sha(document, parser))
        nodes = parse(document, parser, sizes)
        times.append(time.perf_counter())
    except ConfigError:
        raise
    except Exception as error:  # noqa: BLE001 - as in ingestion, one bad document stops only itself
        reason = error.message if isinstance(error, FootnoteError) else f"{type(error).__name__}: {error}"
        return reason.replace(item.name, "it")
    return _Parsed(document, parser, nodes, [after - before for before, after in pairwise(times)])


def check_nodes(document: Document, nodes: Sequence[TextNode], fits: Callable[[str], bool]) -> Counter[str]:
    """How much of the text the nodes cover, and how many are no exact span, out of order, or over their limit.

    Characters are counted without white space.
    """
    text = document.text
    spans = [(node.metadata["start"], node.metadata["end"]) for node in nodes]
    inexact = sum(
        text[start:end] != node.text or not node.text.strip() for node, (start, end) in zip(nodes, spans, strict=True)
    )
    return Counter(
        characters=sum(map(len, text.split())),
        covered=covered_characters(text, nodes),
        span_violations=inexact + sum(before[0] >= after[0] for before, after in pairwise(spans)),
        over_limit=sum(not fits(node.text) for node in nodes),
    )


def _share(part: int, whole: int, of_nothing: float | None = None) -> Any:
    return round(part / whole, 6) if whole else of_nothing


def bench_ingest(settings: Settings, locations: Sequence[str], on_progress: OnProgress) -> dict[str, Any]:
    """Time the ingestion of these files and folders in a home of its own, and a second run that finds no change.

    The home and its embedded Postgres are deleted afterwards; the database is made before the clock runs.

    Raises:
        SourceError: If a location cannot be listed.
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
        "peak_memory_mb": _peak_memory(),
    }


def bench_ask(engine: QueryEngine, questions: Sequence[str], on_progress: OnProgress) -> dict[str, Any]:
    """Time a search and an ask of each question, both warm: each was searched and asked once before.

    `ratio` is the median time of an ask over that of a search. Nothing is logged, and no result comes from a cache.

    Raises:
        SourceError: If there is no question.
        RetrievalError: If a question cannot be searched.
    """
    if not questions:
        raise SourceError("There is no question to ask.", hint="Name a topics file.")
    still = engine.with_changes({"retrieval.cache_entries": 0})
    seconds: dict[str, list[float]] = {"search": [], "ask": []}
    for done, question in enumerate((*questions, *questions), start=1):
        for name, call in (("search", still.search), ("ask", still.ask)):
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


def _peak_memory() -> float:
    """Of this process, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1_000_000 if sys.platform == "darwin" else 1_000), 1)
