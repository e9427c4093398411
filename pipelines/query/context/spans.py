"""Spans of documents: merged where they overlap or touch, and cut at sentence ends where they do not fit."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from llama_index.core.schema import NodeWithScore

from pipelines.text import sentences

Key = tuple[str, int, int]  # document id, start, end
_USEFUL = 200  # characters that are worth showing of a node that does not fit whole
_NEAR = 16  # characters of space that may stand between two neighbours


@dataclass(frozen=True, slots=True)
class Span:
    """A contiguous piece of a document, and the nodes that it was merged from, best first."""

    document_id: str
    start: int
    end: int
    nodes: tuple[NodeWithScore, ...]

    @property
    def key(self) -> Key:
        """What its text is read by."""
        return self.document_id, self.start, self.end


@dataclass(frozen=True, slots=True)
class Passage:
    """A span's stored text with what is shown of its document, the names of others that say nearly the same, where the
    document's pages begin, and where its lines are shown."""

    text: str
    name: str
    title: str
    uri: str
    content_sha: str
    category: str
    near_copies: tuple[str, ...] = ()
    pages: tuple[int, ...] = ()
    lines_uri: str = ""


Read = Callable[[Sequence[Key]], Mapping[Key, Passage]]


def span_of(hit: NodeWithScore) -> Span:
    """The span of one node."""
    meta = hit.node.metadata
    return Span(meta["document_id"], meta["start"], meta["end"], (hit,))


def merge_spans(spans: Sequence[Span], gap: Callable[[str, int, int], bool]) -> list[Span]:
    """Join overlapping and adjacent spans of a document, so that no character of it stands twice; best span first.

    Args:
        spans: Best first.
        gap: Whether nothing but space stands between two offsets of a document.
    """
    merged: list[Span] = []
    for span in sorted(spans, key=lambda span: span.key):
        last = merged[-1] if merged else None
        joins = (
            last is not None
            and last.document_id == span.document_id
            and (span.start <= last.end or gap(span.document_id, last.end, span.start))
        )
        if last is not None and joins:
            merged[-1] = replace(last, end=max(last.end, span.end), nodes=last.nodes + span.nodes)
        else:
            merged.append(span)
    order = {hit.node.node_id: place for place, hit in enumerate(hit for span in spans for hit in span.nodes)}

    def rank(hit: NodeWithScore) -> int:
        return order[hit.node.node_id]

    ranked = [replace(span, nodes=tuple(sorted(span.nodes, key=rank))) for span in merged]
    return sorted(ranked, key=lambda span: rank(span.nodes[0]))


def blank_gaps(spans: Sequence[Span], read: Read) -> set[Key]:
    """The gaps between neighbouring spans of a document that hold only space."""
    reached: dict[str, int] = {}
    gaps: list[Key] = []
    for span in sorted(spans, key=lambda span: span.key):
        end = reached.get(span.document_id, span.start)
        if 0 < span.start - end <= _NEAR:
            gaps.append((span.document_id, end, span.start))
        reached[span.document_id] = max(end, span.end)
    return {gap for gap, passage in read(gaps).items() if not passage.text.strip()} if gaps else set()


def is_unchanged(span: Span, text: str) -> bool:
    """Whether the stored text still holds the nodes: their document may have been replaced since they were found."""
    return all(
        text[hit.node.metadata["start"] - span.start : hit.node.metadata["end"] - span.start] == hit.node.get_content()
        for hit in span.nodes
    )


def fitted(span: Span, text: str, fits: Callable[[str], bool]) -> Span | None:
    """The part of a span that fits: it begins where a node begins and ends where a sentence does.

    The best node goes first, from its beginning, then what follows it, then what stands before it. None when less of
    that node fits than is worth showing.

    Args:
        span: With its nodes best first.
        text: Its own.
        fits: Whether there is room for a text; for a shorter beginning of one that has room, too.
    """
    if fits(text):
        return span
    best = span.nodes[0].node.metadata
    start, whole = best["start"] - span.start, best["end"] - best["start"]
    ends = [*dict.fromkeys([*(end for _, end in sentences(text) if end > start), len(text)])]
    place = bisect_left(ends, True, key=lambda end: not fits(text[start:end]))
    if not place or ends[place - 1] - start < min(_USEFUL, whole):
        return None
    end = ends[place - 1]
    starts = sorted({hit.node.metadata["start"] - span.start for hit in span.nodes})
    start = next(earlier for earlier in starts if earlier == start or fits(text[earlier:end]))
    return _within(span, span.start + start, span.start + end)


def _within(span: Span, start: int, end: int) -> Span:
    held = (hit for hit in span.nodes if hit.node.metadata["start"] < end and hit.node.metadata["end"] > start)
    return Span(span.document_id, start, end, tuple(held))


def sentence_spans(text: str, start: int) -> list[tuple[int, int]]:
    """The sentences of a text that begins at `start` of its document, as offsets there, ascending and apart."""
    return [(start + begin, start + end) for begin, end in sentences(text)]
