"""Parse by heading: one section is one node; a long section is cut between blocks, with an overlap."""

import re
from collections.abc import Sequence
from functools import partial

from pydantic import Field

from pipelines.ingestion.parsers.nodes import SpanParser
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
from pipelines.ingestion.structure import blocks_of, markdown_blocks
from pipelines.text import plain
from pipelines.types import Block, Document

TINY_WORDS = 15

_ENOUGH = 3_000
_WORD = re.compile(r"(?<!\S)\S+")


def split_markdown(
    text: str,
    blocks: Sequence[Block] | None = None,
    *,
    target_words: int = 600,
    max_words: int = 800,
    overlap_words: int = 25,
) -> list[Piece]:
    """Split a text by heading into pieces, in order, covering all of it.

    A section of up to `max_words` is one piece. A longer one is cut between its blocks at about `target_words`; each
    further piece begins with the last `overlap_words` words of the one before. A table or code block is cut (at line
    ends) only if it alone exceeds `max_words`; later parts of a table have its head as their `lead`. A section with
    fewer than 15 words below its heading is joined to the subsection that follows.

    Args:
        text: Canonical text.
        blocks: Its blocks; None = those of CommonMark.
        target_words: Target size of the pieces of a long section.
        max_words: Maximum size of a piece.
        overlap_words: Words that the pieces of one section share.
    """
    overlap = partial(last_words, count=min(overlap_words, max_words // 4))
    packing = Packing(min(target_words, max_words), min(target_words, max_words), max_words, count_words, overlap)
    pieces: list[Piece] = []
    sections = sections_of(text, markdown_blocks(text) if blocks is None else blocks)
    for section in join_tiny(sections, partial(is_tiny, text)):
        if count_words(text[section.start : section.end]) <= max_words:
            pieces.append(Piece(section.start, section.end, section.path, content_kind(section.body)))
        else:
            pieces.extend(pack(text, section.blocks, section.path, packing))
    return pieces


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
    begins = [match.start() for match in _WORD.finditer(text, window, span[1])][-count:] if count else []
    return next((begin for begin in begins if count_words(text[begin : span[1]]) <= count), None)


class MarkdownParser(SpanParser):
    """Parse Markdown, or text that was rendered as Markdown, into nodes by heading."""

    name: str = "markdown"
    version: int = 3
    target_words: int = Field(default=600, ge=20)
    max_words: int = Field(default=800, ge=20)
    overlap_words: int = Field(default=25, ge=0)

    def fits(self, text: str) -> bool:
        """True if the text has at most `max_words` words."""
        return count_words(text) <= self.max_words

    def split(self, document: Document) -> list[Piece]:
        """The pieces of the document."""
        return split_markdown(
            document.text,
            blocks_of(document) if document.blocks else None,
            target_words=self.target_words,
            max_words=self.max_words,
            overlap_words=self.overlap_words,
        )
