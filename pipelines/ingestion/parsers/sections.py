"""PARSE to short windows of characters that never cross a section."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from pydantic import Field

from pipelines.ingestion.parsers.cuts import Piece, Span, is_bare, joined, sections_of
from pipelines.ingestion.parsers.nodes import SpanParser
from pipelines.ingestion.structure import blocks_of, text_blocks, trimmed
from pipelines.text import sentences
from pipelines.types import Block, Document

_WORD = re.compile(r"(?<=\s)\S")
_SOLID = re.compile(r"\S")


def split_sections(
    text: str, blocks: Sequence[Block] | None = None, *, characters: int = 400, overlap: int = 100
) -> list[Piece]:
    """Windows of at most `characters`, in order, each within one section and under its path, covering all of the text.

    A heading opens the first window of its section; one with nothing under it opens that of a section below it.

    Args:
        text: Canonical text.
        blocks: Its blocks; None = those of plain text.
        characters: The most that a window holds.
        overlap: The most that two windows of one section share.
    """
    return [
        Piece(*window, path)
        for path, span in stretches(text, blocks)
        for window in windows(text, span, characters, overlap)
    ]


def stretches(text: str, blocks: Sequence[Block] | None) -> Iterator[tuple[tuple[str, ...], Span]]:
    """The path and the span of each section, one of headings alone in front of what lies below it."""
    sections = sections_of(text, text_blocks(text) if blocks is None else blocks)
    return ((section.path, (section.start, section.end)) for section in joined(sections, is_bare))


def whole_sentences(text: str, span: Span) -> list[Span]:
    """The sentences of the span, trimmed, each with the marks before it, the last with those after it."""
    start, end = trimmed(text, *span)
    ends = [start + finish for _, finish in sentences(text[start:end])] or [end]
    ends[-1] = end
    found: list[Span] = []
    for finish in ends:
        found.append((start, finish))
        start = _solid(text, finish)
    return found


def windows(text: str, span: Span, limit: int, overlap: int) -> Iterator[Span]:
    """Windows of the span of at most `limit` characters; they end at sentences, else at spaces, else anywhere.

    Each further one begins with the sentences in the last `overlap` characters of the one before; where a sentence was
    cut, with its last words if there are none.
    """
    start, end = trimmed(text, *span)
    found = whole_sentences(text, (start, end)) if end - start > limit else []
    begins, ends = [begin for begin, _ in found], [finish for _, finish in found]
    overlap = min(overlap, limit // 2)
    while end - start > limit:
        stop = _stop(text, start, limit, ends)
        yield trimmed(text, start, stop)
        fresh = _solid(text, stop)
        start = _shared(text, (max(fresh - overlap, start + 1), stop), begins, ends) or fresh
    if start < end:
        yield start, end


def _stop(text: str, start: int, limit: int, ends: Sequence[int]) -> int:
    """Where a window that begins at `start` ends: as late as it may, but not in its first half."""
    least, most = start + limit // 2, start + limit
    at = bisect_right(ends, most) - 1
    if at >= 0 and ends[at] > least:
        return ends[at]
    space = max(text.rfind(" ", least + 1, most + 1), text.rfind("\n", least + 1, most + 1))
    return space if space > 0 else most


def _shared(text: str, room: Span, begins: Sequence[int], ends: Sequence[int]) -> int | None:
    """Where in the last characters of a window the next one begins, if it shares any."""
    first, stop = room
    sentence = bisect_left(begins, first)
    if sentence < len(begins) and begins[sentence] < stop:
        return begins[sentence]
    last = bisect_left(ends, stop)
    cut_short = last == len(ends) or ends[last] > stop
    word = _WORD.search(text, first, stop) if cut_short else None
    return word.start() if word else None


def _solid(text: str, start: int) -> int:
    """Where the first character from `start` on is that is no white space; the end of the text if all is."""
    found = _SOLID.search(text, start)
    return found.start() if found else len(text)


class SectionsParser(SpanParser):
    """Nodes of about one thought, for text whose sections are dense with facts."""

    name: str = "sections"
    version: int = 2
    characters: int = Field(default=400, ge=50)
    overlap: int = Field(default=100, ge=0)

    def fits(self, text: str) -> bool:
        """Whether the text has at most `characters` characters."""
        return len(text) <= self.characters

    def split(self, document: Document) -> list[Piece]:
        """The pieces of the document."""
        return split_sections(document.text, blocks_of(document), characters=self.characters, overlap=self.overlap)
