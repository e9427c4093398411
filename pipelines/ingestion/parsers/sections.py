"""Parse into short windows of characters that never cross a section."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import ClassVar

from pydantic import Field

from pipelines.blocks import blocks_of
from pipelines.headings import trim_span
from pipelines.ingestion.parsers.nodes import Limit, SpanParser
from pipelines.ingestion.parsers.pieces import Piece, Span, has_only_headings, join_tiny, sections_of
from pipelines.structure import sentences
from pipelines.types import Block, Document


def section_spans(text: str, blocks: Sequence[Block]) -> Iterator[tuple[tuple[str, ...], Span]]:
    """The path and the span of each section; a section of headings alone is joined to its subsection."""
    sections = join_tiny(sections_of(text, blocks), has_only_headings)
    return ((section.path, (section.start, section.end)) for section in sections)


def sentence_spans(text: str, span: Span) -> list[Span]:
    """The trimmed spans of the sentences in the span; together they leave out only white space."""
    start, end = trim_span(text, *span)
    ends = [start + finish for _, finish in sentences(text[start:end])] or [end]
    ends[-1] = end
    found: list[Span] = []
    for finish in ends:
        found.append((start, finish))
        start = _next_non_space(text, finish)
    return found


def windows(text: str, span: Span, limit: int, overlap: int) -> Iterator[Span]:
    """Windows of the span with at most `limit` characters; they end at sentences, else at spaces, else anywhere.

    Each further window begins with the sentences in the last `overlap` characters of the one before, or with the last
    words of a sentence that was cut.
    """
    start, end = trim_span(text, *span)
    found = sentence_spans(text, (start, end)) if end - start > limit else []
    begins, ends = [begin for begin, _ in found], [finish for _, finish in found]
    overlap = min(overlap, limit // 2)
    while end - start > limit:
        stop = _window_end(text, start, limit, ends)
        yield trim_span(text, start, stop)
        fresh = _next_non_space(text, stop)
        start = _overlap_start(text, (max(fresh - overlap, start + 1), stop), begins, ends) or fresh
    if start < end:
        yield start, end


def _window_end(text: str, start: int, limit: int, ends: Sequence[int]) -> int:
    """The end of a window that begins at `start`: as late as possible, but not in its first half."""
    least, most = start + limit // 2, start + limit
    at = bisect_right(ends, most) - 1
    if at >= 0 and ends[at] > least:
        return ends[at]
    space = max(text.rfind(" ", least + 1, most + 1), text.rfind("\n", least + 1, most + 1))
    return space if space > 0 else most


def _overlap_start(text: str, room: Span, begins: Sequence[int], ends: Sequence[int]) -> int | None:
    """The start of the overlap in the last characters of a window; None without an overlap."""
    first, stop = room
    sentence = bisect_left(begins, first)
    if sentence < len(begins) and begins[sentence] < stop:
        return begins[sentence]
    last = bisect_left(ends, stop)
    cut_short = last == len(ends) or ends[last] > stop
    places = range(max(first, 1), stop) if cut_short else ()
    return next((at for at in places if text[at - 1].isspace() and not text[at].isspace()), None)


def _next_non_space(text: str, start: int) -> int:
    """The offset of the next character that is not white space; the end of the text if there is none."""
    return next((at for at in range(start, len(text)) if not text[at].isspace()), len(text))


class SectionsParser(SpanParser):
    """Parse text whose sections are dense with facts into short nodes, each within one section.

    A heading begins the first node of its section; a heading with nothing below it is joined to its subsection.

    Attributes:
        characters: Maximum size of a node.
        overlap: Maximum number of characters that two nodes of one section share.
    """

    limit: ClassVar[Limit] = ("characters", len)
    name: str = "sections"
    version: int = 3
    characters: int = Field(default=400, ge=50)
    overlap: int = Field(default=100, ge=0)

    def split(self, document: Document) -> list[Piece]:
        """The pieces of the document."""
        return self.pieces(document.text, blocks_of(document))

    def pieces(self, text: str, blocks: Sequence[Block]) -> list[Piece]:
        """The pieces of a text with these blocks."""
        return [
            Piece(*window, path)
            for path, span in section_spans(text, blocks)
            for window in windows(text, span, self.characters, self.overlap)
        ]
