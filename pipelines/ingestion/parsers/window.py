"""Parse into windows of tokens: overlapping spans of whole words, independent of the structure."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import ClassVar, NamedTuple

from pydantic import Field

from pipelines.blocks import blocks_of
from pipelines.ingestion.parsers.nodes import Limit, SpanParser
from pipelines.ingestion.parsers.pieces import Piece, Span, cut_span, sections_of
from pipelines.text import count_tokens, word_spans
from pipelines.types import Block, Document


class _Word(NamedTuple):
    """A word with its tokens at the start of a window (`alone`) and, with the space before it, after another word."""

    start: int
    end: int
    alone: int
    after: int


def _windows(text: str, limit: int, overlap: int) -> Iterator[Span]:
    words = list(_words(text, limit // 2))
    first = done = 0
    while done < len(words):
        last, size = first + 1, words[first].alone
        while last < len(words) and size + words[last].after <= limit:
            size += words[last].after
            last += 1
        while last > first + 1 and count_tokens(text[words[first].start : words[last - 1].end]) > limit:
            last -= 1  # tokens do not add up where a word was cut
        if last <= done:  # the overlap leaves no room for a further word
            first = done
            continue
        yield words[first].start, words[last - 1].end
        done, shared, least = last, 0, first + 1
        first = last
        while first > least and shared + words[first - 1].alone <= overlap:
            first -= 1
            shared += words[first].after


def _words(text: str, most: int) -> Iterator[_Word]:
    """The words; one with more than `most` tokens is cut."""
    count = lru_cache(maxsize=100_000)(count_tokens)
    before = 0
    for span in word_spans(text):
        for start, end in cut_span(text, span, most, count):
            yield _Word(start, end, count(text[start:end]), count(text[before:end]))
            before = end


class WindowParser(SpanParser):
    """Parse text without structure into overlapping nodes of equal size.

    A node begins and ends with a whole word, unless a word alone is too long; its section is that of its first word.

    Attributes:
        tokens: Maximum size of a node in cl100k tokens.
        overlap: Maximum number of tokens that two nodes share.
    """

    limit: ClassVar[Limit] = ("tokens", count_tokens)
    name: str = "window"
    version: int = 2
    tokens: int = Field(default=450, ge=20)
    overlap: int = Field(default=75, ge=0)

    def split(self, document: Document) -> list[Piece]:
        """The pieces of the document."""
        return self.pieces(document.text, blocks_of(document))

    def pieces(self, text: str, blocks: Sequence[Block]) -> list[Piece]:
        """The pieces of a text with these blocks."""
        sections = sections_of(text, blocks)
        starts = [section.start for section in sections]
        return [
            Piece(start, end, sections[bisect_right(starts, start) - 1].path)
            for start, end in _windows(text, self.tokens, min(self.overlap, self.tokens // 2))
        ]
