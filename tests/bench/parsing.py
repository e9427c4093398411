"""Measure how fast documents are read, loaded and parsed, and whether their nodes are exact and complete.

    python -m tests.bench.parsing FOLDER...

Nothing is stored and nothing embedded; the sizes of nodes are those of the settings.
"""

import resource
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from llama_index.core.schema import TextNode

from config.settings import Limits, get_settings
from pipelines.errors import ConfigError, FootnoteError
from pipelines.ingestion.change_detection import content_sha
from pipelines.ingestion.classify import classify
from pipelines.ingestion.loaders import load
from pipelines.ingestion.parsers import build_parser, parse, parser_for
from pipelines.ingestion.sources.files import list_files, read_file
from pipelines.store.node_writer import covered_characters
from pipelines.text import canonical
from pipelines.types import Document, SourceItem
from tests.bench import arguments, show

STAGES = ("read", "load", "classify", "parse")


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A document with its nodes and the seconds of each stage."""

    document: Document
    parser: str
    nodes: Sequence[TextNode]
    seconds: Sequence[float]


def bench_parsing(
    locations: Sequence[str], *, sizes: object | None = None, limits: Limits | None = None
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
    for item in items:
        parsed = _parse(item, sizes, most)
        if isinstance(parsed, str):
            failed.append((item.name, parsed))
        else:
            checks = check_nodes(parsed.document, parsed.nodes, build_parser(parsed.parser, sizes).fits)
            counts += checks + Counter(documents=1, nodes=len(parsed.nodes))
            parsers[parsed.parser] += 1
            stages = [spent + more for spent, more in zip(stages, parsed.seconds, strict=True)]
            least = min(least, (_share(checks["covered"], checks["characters"], 1.0), parsed.document.name))
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
        "peak_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000, 1),
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


if __name__ == "__main__":
    options = arguments("parsing", __doc__)
    options.add_argument("locations", nargs="+", help="files and folders")
    given, settings = options.parse_args(), get_settings()
    show(bench_parsing(given.locations, sizes=settings.parsing, limits=settings.ingestion))
