"""PARSE by heading: one section is one node; a long one is cut at its blocks, with an overlap."""

import re
from collections.abc import Sequence
from functools import partial

from pydantic import Field

from pipelines.ingestion.parsers.cuts import Piece, Section, Span, joined, sections_of, words_in
from pipelines.ingestion.parsers.nodes import SpanParser
from pipelines.ingestion.parsers.pack import Packing, kind_of, pack
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
    """The pieces of a text by heading, in order, covering all of it.

    A section up to `max_words` is one piece. A longer one is cut between its blocks at about `target_words`, each
    further piece beginning with the last `overlap_words` words of the one before. Tables and code are cut (at line
    ends) only where one alone exceeds `max_words`; the later parts of a table have its head as their `lead`. A section
    with fewer than 15 words under its heading is put in front of one that lies below it.

    Args:
        text: Canonical text.
        blocks: Its blocks; None = those of CommonMark.
        target_words: Where a long section is cut.
        max_words: The most that a piece holds.
        overlap_words: Words repeated between the pieces of one section; never across a heading.
    """
    overlap = partial(last_words, count=min(overlap_words, max_words // 4))
    packing = Packing(min(target_words, max_words), min(target_words, max_words), max_words, words_in, overlap)
    pieces: list[Piece] = []
    sections = sections_of(text, markdown_blocks(text) if blocks is None else blocks)
    for section in joined(sections, partial(is_tiny, text)):
        if words_in(text[section.start : section.end]) <= max_words:
            pieces.append(Piece(section.start, section.end, section.path, kind_of(section.body)))
        else:
            pieces.extend(pack(text, section.blocks, section.path, packing))
    return pieces


def is_tiny(text: str, section: Section) -> bool:
    """Whether fewer than 15 words stand under the headings; badges and comments do not count."""
    if section.end - section.start >= _ENOUGH:
        return False
    count = 0
    for block in section.body:
        if block.kind != "heading":
            count += words_in(plain(text[block.start : block.end]))
        if count >= TINY_WORDS:
            return False
    return True


def last_words(text: str, span: Span, count: int) -> int | None:
    """Where the last `count` words of the span begin, fewer where they are long; None where not one is short enough."""
    window = max(span[0] + 1, span[1] - 40 * count)
    begins = [match.start() for match in _WORD.finditer(text, window, span[1])][-count:] if count else []
    return next((begin for begin in begins if words_in(text[begin : span[1]]) <= count), None)


class MarkdownParser(SpanParser):
    """Nodes by heading for Markdown and for everything that is rendered as Markdown."""

    name: str = "markdown"
    version: int = 3
    target_words: int = Field(default=600, ge=20)
    max_words: int = Field(default=800, ge=20)
    overlap_words: int = Field(default=25, ge=0)

    def fits(self, text: str) -> bool:
        """Whether the text has at most `max_words` words."""
        return words_in(text) <= self.max_words

    def split(self, document: Document) -> list[Piece]:
        """The pieces of the document."""
        return split_markdown(
            document.text,
            blocks_of(document) if document.blocks else None,
            target_words=self.target_words,
            max_words=self.max_words,
            overlap_words=self.overlap_words,
        )
