"""Benchmark parsing: speed of loading and parsing, and exactness of the nodes, without a database or a model."""

import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from llama_index.core.schema import TextNode

from pipelines.errors import ConfigError, FootnoteError
from pipelines.ingestion.change_detection import content_sha
from pipelines.ingestion.classify import classify
from pipelines.ingestion.loaders import Limits, load
from pipelines.ingestion.parsers import build_parser, parse, parser_for
from pipelines.ingestion.sources.files import list_files, read_file
from pipelines.store.node_writer import covered_characters
from pipelines.text import canonical
from pipelines.types import Document, SourceItem

OnProgress = Callable[[str, int, int], None]
STAGES = ("read", "load", "classify", "parse")


@dataclass
class _Tally:
    """The counts of a run."""

    documents: int = 0
    nodes: int = 0
    characters: int = 0
    covered: int = 0
    span_violations: int = 0
    over_limit: int = 0
    least: tuple[float, str] = (1.0, "")
    parsers: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))


@dataclass(frozen=True, slots=True)
class _Options:
    """The options of a run."""

    limits: Limits
    sizes: object | None
    parser: str
    category: str


def bench_parsing(
    locations: Sequence[str],
    *,
    sizes: object | None = None,
    limits: Limits | None = None,
    parser: str = "",
    category: str = "",
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
        parser: Parse all with this parser; empty = the one that suits each document.
        category: Take all for documents of this category; empty = by their own look.
        on_progress: Told how far it is.

    Raises:
        SourceError: If a location cannot be listed.
        ConfigError: If there is no such parser, or it cuts by meaning.
    """
    told = _Options(limits or Limits(), sizes, parser, category)
    items = _items(locations)
    _warm_up(items, told)
    floor = sum(_floor(item, told) for item in items)
    tally = _Tally()
    for number, item in enumerate(items, 1):
        _take(tally, item, told)
        on_progress("parsing", number, len(items))
    return _report(tally, len(items), floor)


def _items(locations: Sequence[str]) -> list[SourceItem]:
    listings = [list_files(location) for location in locations]
    for listing in listings:
        if listing.problems and not listing.items:
            raise listing.problems[0][1]
    return [item for listing in listings for item in listing.items]


def _warm_up(items: Iterable[SourceItem], told: _Options) -> None:
    """Load the libraries: the smallest document of each suffix goes through before the clock runs."""
    smallest: dict[str, SourceItem] = {}
    for item in sorted(items, key=lambda item: int(item.stamp.partition(":")[0] or 0), reverse=True):
        smallest[item.name.rpartition(".")[2].lower()] = item
    for item in smallest.values():
        _take(_Tally(), item, told)


def _floor(item: SourceItem, told: _Options) -> float:
    """Seconds for what nobody can do without: the bytes, decoded, as canonical text."""
    began = time.perf_counter()
    canonical(_read(item, told).decode("utf-8", "replace"))
    return time.perf_counter() - began


def _read(item: SourceItem, told: _Options) -> bytes:
    return read_file(item, told.limits.most_bytes)


def _take(tally: _Tally, item: SourceItem, told: _Options) -> None:
    times = [time.perf_counter()]
    try:
        data = _read(item, told)
        times.append(time.perf_counter())
        document = load(data, item, limits=told.limits)
        times.append(time.perf_counter())
        document = classify(document, category=told.category)
        times.append(time.perf_counter())
        chosen = told.parser or parser_for(document)
        document = document.with_(content_sha=content_sha(document, chosen))
        nodes = parse(document, chosen, told.sizes)
        times.append(time.perf_counter())
    except ConfigError:
        raise
    except Exception as error:  # noqa: BLE001 - as in ingestion, one bad document stops only itself
        said = error.message if isinstance(error, FootnoteError) else f"{type(error).__name__}: {error}"
        tally.reasons[said.replace(item.name, "it")] += 1
        tally.failed.append(item.name)
        return
    for stage, (before, after) in zip(STAGES, pairwise(times), strict=True):
        tally.seconds[stage] += after - before
    tally.parsers[chosen] += 1
    _count(tally, document.name, len(nodes), check_nodes(document, nodes, build_parser(chosen, told.sizes).fits))


@dataclass(frozen=True, slots=True)
class NodeCheck:
    """The coverage and the violations of one document's nodes; characters are counted without white space."""

    characters: int
    covered: int
    span_violations: int
    over_limit: int


def check_nodes(document: Document, nodes: Sequence[TextNode], fits: Callable[[str], bool]) -> NodeCheck:
    """How much of the text the nodes cover, and how many are no exact span, out of order, or over their limit."""
    text = document.text
    spans = [(node.metadata["start"], node.metadata["end"]) for node in nodes]
    inexact = sum(
        text[start:end] != node.text or not node.text.strip() for node, (start, end) in zip(nodes, spans, strict=True)
    )
    return NodeCheck(
        characters=sum(map(len, text.split())),
        covered=covered_characters(text, nodes),
        span_violations=inexact + sum(before[0] >= after[0] for before, after in pairwise(spans)),
        over_limit=sum(not fits(node.text) for node in nodes),
    )


def _count(tally: _Tally, name: str, nodes: int, judged: NodeCheck) -> None:
    tally.documents += 1
    tally.nodes += nodes
    tally.characters += judged.characters
    tally.covered += judged.covered
    tally.span_violations += judged.span_violations
    tally.over_limit += judged.over_limit
    tally.least = min(tally.least, (judged.covered / judged.characters if judged.characters else 1.0, name))


def _report(tally: _Tally, files: int, floor: float) -> dict[str, Any]:
    seconds = sum(tally.seconds.values())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "files": files,
        "documents": tally.documents,
        "nodes": tally.nodes,
        "parsers": dict(tally.parsers.most_common()),
        "documents_per_second": round(tally.documents / seconds, 1) if seconds else None,
        "seconds": {stage: round(tally.seconds[stage], 3) for stage in STAGES},
        "floor_seconds": round(floor, 3),
        "floor_ratio": round(seconds / floor, 1) if floor else None,
        "coverage": round(tally.covered / tally.characters, 6) if tally.characters else None,
        "least_coverage": {"document": tally.least[1], "coverage": round(tally.least[0], 6)},
        "span_violations": tally.span_violations,
        "over_limit": tally.over_limit,
        "failures": dict(tally.reasons.most_common()),
        "failed": tally.failed,
        "peak_memory_mb": round(peak / (1_000_000 if sys.platform == "darwin" else 1_000), 1),
    }
