"""ASSEMBLE: ranked nodes -> numbered Context: overlaps merged, budget kept, document order."""

import math
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from llama_index.core.schema import NodeWithScore

from pipelines.query.context.quoted import harmless
from pipelines.query.context.shown import SEPARATOR, about, draw_delimiter, shown
from pipelines.query.context.spans import (
    Passage,
    Read,
    Span,
    blank_gaps,
    fitted,
    is_unchanged,
    merge_spans,
    sentence_spans,
    span_of,
)
from pipelines.query.trace import Ledger
from pipelines.text import count_tokens, fold
from pipelines.types import Context, Source

Names = Callable[[Collection[str]], Mapping[str, str]]
Found = tuple[Span, Passage]

_SAYS_MUCH = 40  # characters from which a text that stands in another document is a repetition
_WIDEST = 9_999  # the number and the page that a source is measured with
_SEAMS = 2  # tokens that come of putting a text into its frame
_tokens = lru_cache(maxsize=256)(count_tokens)


@dataclass(frozen=True, slots=True)
class Budget:
    """What a Context may hold: characters, and cl100k tokens, each of which counts `margin` times."""

    characters: int
    tokens: int
    margin: float = 1.0


def assemble(
    ranking: Sequence[NodeWithScore],
    read: Read,
    ledger: Ledger,
    budget: Budget,
    *,
    names: Names = lambda _: {},
    named: Collection[str] = (),
) -> Context:
    """The sources that a writer is shown, numbered in document order; all of its text is within the budget.

    Spans of a document that overlap or touch are one source, a passage that another document repeats stands once and
    names that document, and a source that does not fit is cut at a sentence's end, or dropped.

    Args:
        ranking: Best first.
        read: Stored passages of (document id, start, end); a span whose document is gone is missing.
        ledger: Told the fate of every node.
        budget: Of all that is shown, heads and delimiters too.
        names: The names of documents by id; one that must not be seen is missing.
        named: Ids of documents that the question names: of several, each has its share before any has more.
    """
    spans = [span_of(hit) for hit in ranking]
    gaps = blank_gaps(spans, read)
    merged = merge_spans(spans, lambda document, end, start: (document, end, start) in gaps)
    passages = read([span.key for span in merged])
    held = [(span, passages[span.key]) for span in merged if span.key in passages]
    stored = [(span, passage) for span, passage in held if is_unchanged(span, passage.text)]
    single = _collapsed(stored, ledger)
    ready = _with_names(single, ledger, names)
    delimiter = draw_delimiter([source_of(_WIDEST, span, passage) for span, passage in ready])
    kept = _filled(ready, budget, named, delimiter)
    reasons = (("document changed", stored), ("duplicate", single), ("budget", kept))
    dropped: dict[str, str] = {}
    for why, left in reasons:
        left_ids = {hit.node.node_id for span, _ in left for hit in span.nodes}
        ids = [hit.node.node_id for hit in ranking if hit.node.node_id not in left_ids]
        dropped |= {node_id: why for node_id in ids if node_id not in dropped}
    for node_id, why in dropped.items():
        ledger.cut(node_id, why)
    sources = _numbered(kept, ledger)
    befores = (None, *sources)
    text = SEPARATOR.join(shown(one, delimiter, before) for one, before in zip(sources, befores, strict=False))
    stand = tuple((source.n, *span) for source in sources for span in sentence_spans(source.snippet, source.start))
    size = math.ceil(count_tokens(text) * budget.margin)
    return Context(sources, text, delimiter, size, tuple(dropped.items()), stand)


def _collapsed(found: Sequence[Found], ledger: Ledger) -> list[Found]:
    """The passages without those whose words a better one of another document holds, which stands for both."""
    kept: list[tuple[Found, str]] = []
    for span, passage in found:
        words = fold(passage.text)
        holds = (
            better
            for (better, _), said in kept
            if better.document_id != span.document_id and len(words) >= _SAYS_MUCH and words in said
        )
        if better := next(holds, None):
            for hit in span.nodes:
                ledger.copied(hit.node.node_id, better.nodes[0].node.node_id)
        else:
            kept.append(((span, passage), words))
    return [pair for pair, _ in kept]


def _with_names(found: Sequence[Found], ledger: Ledger, names: Names) -> list[Found]:
    """The passages with the names of the documents that each also stands for."""
    others = [ledger.also_in([hit.node.node_id for hit in span.nodes], span.document_id) for span, _ in found]
    wanted = set().union(*others)
    known = names(wanted) if wanted else {}
    return [
        (span, replace(passage, near_copies=tuple(known[other] for other in ids if other in known)))
        for (span, passage), ids in zip(found, others, strict=True)
    ]


def _filled(found: Sequence[Found], budget: Budget, named: Collection[str], delimiter: str) -> list[Found]:
    """What fits of the passages, best first; each may be the part of its span that fits."""
    kept: dict[int, Found] = {}
    characters, tokens = budget.characters, budget.tokens / budget.margin
    for place, share in _turns(found, named):
        span, passage = found[place]
        frame = _frame(span, passage, delimiter)
        around, own = len(frame), _tokens(frame) + _SEAMS

        def fits(text: str, most: float = share * characters - around, room: float = share * tokens - own) -> bool:
            return len(harmless(text)) <= most and _tokens(harmless(text)) <= room

        if part := fitted(span, passage.text, fits):
            text = passage.text[part.start - span.start : part.end - span.start]
            kept[place] = part, replace(passage, text=text)
            characters -= around + len(harmless(text))
            tokens -= own + _tokens(harmless(text))
    return [kept[place] for place in sorted(kept)]


def _turns(found: Sequence[Found], named: Collection[str]) -> Iterator[tuple[int, float]]:
    """(place, the share of what is left that it may take) of each passage, in the order in which they are served.

    First the best one of each document that the question names, if it names several: the shortest first, each with
    an equal share; then all others, best first.
    """
    firsts: dict[str, int] = {}
    for place, (span, _) in enumerate(found):
        if span.document_id in named:
            firsts.setdefault(span.document_id, place)
    early = sorted(firsts.values(), key=lambda place: len(found[place][1].text)) if len(firsts) > 1 else []
    yield from ((place, 1 / (len(early) - served)) for served, place in enumerate(early))
    yield from ((place, 1.0) for place in range(len(found)) if place not in early)


def _frame(span: Span, passage: Passage, delimiter: str) -> str:
    """All that is shown with a span's text, at its longest."""
    paths = (tuple(hit.node.metadata["section_path"]) for hit in span.nodes)
    source = source_of(_WIDEST, span, passage)
    longest = max(paths, key=lambda path: sum(map(len, path)) + len(path))
    page = None if source.page is None else _WIDEST
    return shown(replace(source, page=page, section_path=longest, snippet=""), delimiter, None) + SEPARATOR


def _numbered(kept: Sequence[Found], ledger: Ledger) -> tuple[Source, ...]:
    """The sources from 1: a document after the other, the one with the best passage first, and each in its order."""
    best: dict[str, int] = {}
    for span, _ in kept:
        best.setdefault(span.document_id, len(best))
    ordered = sorted(kept, key=lambda pair: (best[pair[0].document_id], pair[0].start))
    for n, (span, _) in enumerate(ordered, start=1):
        for hit in span.nodes:
            ledger.kept(hit.node.node_id, n, merged=len(span.nodes) > 1)
    return tuple(source_of(n, span, passage) for n, (span, passage) in enumerate(ordered, start=1))


def source_of(n: int, span: Span, passage: Passage) -> Source:
    """A span as source n, with the page and the lines of its own first and last characters."""
    in_order = sorted(span.nodes, key=lambda hit: hit.node.metadata["start"])
    metas = [hit.node.metadata for hit in in_order]
    first = max((hit for hit in in_order if hit.node.metadata["start"] <= span.start), key=_start)
    ahead = first.node.get_content()[: span.start - _start(first)].count("\n")
    line_start = first.node.metadata["line_start"] + ahead
    return Source(
        n=n,
        document_id=span.document_id,
        documentName=passage.name,
        title=passage.title,
        uri=passage.uri,
        content_sha=passage.content_sha,
        category=passage.category,
        page=bisect_right(passage.pages, span.start) if passage.pages else first.node.metadata["page"],
        line_start=line_start,
        line_end=line_start + passage.text[:-1].count("\n"),
        section_path=_common([meta["section_path"] for meta in metas]),
        snippet=passage.text,
        start=span.start,
        end=span.end,
        node_ids=tuple(hit.node.node_id for hit in in_order),
        about=about(metas[0].get("facts")),
        page_breaks=tuple(page for page in passage.pages if span.start < page < span.end),
        near_copies=passage.near_copies,
        lines_uri=passage.lines_uri,
    )


def _start(hit: NodeWithScore) -> int:
    start: int = hit.node.metadata["start"]
    return start


def _common(paths: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The headings under which all of them stand."""
    shared = list(paths[0])
    for path in paths[1:]:
        pairs = enumerate(zip(shared, path, strict=False))
        shared = shared[: next((at for at, (one, other) in pairs if one != other), min(len(shared), len(path)))]
    return tuple(shared)
