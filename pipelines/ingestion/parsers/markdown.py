"""Parse by heading: one section is one node; a long section is cut between blocks, with an overlap."""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from pydantic import Field

from pipelines.blocks import blocks_of, markdown_blocks
from pipelines.ingestion.parsers.nodes import Limit, SpanParser
from pipelines.ingestion.parsers.pieces import (
    Packing,
    Piece,
    Section,
    Span,
    content_kind,
    count_words,
    join_tiny,
    pack,
    sections_of,
)
from pipelines.text import plain, word_spans
from pipelines.types import Block, Document

TINY_WORDS = 15

_ENOUGH = 3_000


def is_tiny(text: str, section: Section) -> bool:
    """True if fewer than 15 words are below the headings; badges and comments do not count."""
    if section.end - section.start >= _ENOUGH:
        return False
    count = 0
    for block in section.body:
        if block.kind != "heading":
            count += count_words(plain(text[block.start : block.end]))
        if count >= TINY_WORDS:
            return False
    return True


def last_words(text: str, span: Span, count: int) -> int | None:
    """The start of the last `count` words of the span, fewer if they are long; None if not one is short enough."""
    window = max(span[0] + 1, span[1] - 40 * count)
    begins = [start for start, _ in word_spans(text, window, span[1]) if text[start - 1].isspace()]
    begins = begins[-count:] if count else []
    return next((begin for begin in begins if count_words(text[begin : span[1]]) <= count), None)


class MarkdownParser(SpanParser):
    """Parse Markdown, or text that was rendered as Markdown, into nodes by heading.

    A section of up to `max_words` is one node. A longer one is cut between its blocks at about `target_words`; each
    further node begins with the last `overlap_words` words of the one before. A table or code block is cut (at line
    ends) only if it alone exceeds `max_words`; the header of a later part of a table repeats its head. A section with
    fewer than 15 words below its heading is joined to the subsection that follows.
    """

    limit: ClassVar[Limit] = ("max_words", count_words)
    name: str = "markdown"
    version: int = 8
    target_words: int = Field(default=600, ge=20)
    max_words: int = Field(default=800, ge=20)
    overlap_words: int = Field(default=25, ge=0)

    def split(self, document: Document) -> list[Piece]:
        """The pieces of the document; without blocks, it is read as CommonMark."""
        text = document.text
        return self.pieces(text, blocks_of(document) if document.blocks else markdown_blocks(text))

    def pieces(self, text: str, blocks: Sequence[Block]) -> list[Piece]:
        """The pieces of a text with these blocks."""
        target, most = min(self.target_words, self.max_words), self.max_words
        packing = Packing(
            target, target, most, count_words, partial(last_words, count=min(self.overlap_words, most // 4))
        )
        pieces: list[Piece] = []
        for section in join_tiny(sections_of(text, blocks), partial(is_tiny, text)):
            if self.fits(text[section.start : section.end]):
                pieces.append(Piece(section.start, section.end, section.path, content_kind(section.body)))
            else:
                pieces.extend(pack(text, section.blocks, section.path, packing))
        return pieces
