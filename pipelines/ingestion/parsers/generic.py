"""PARSE anything: paragraphs packed to a number of characters, each heading with what follows it."""

from collections.abc import Iterator, Sequence

from pydantic import Field

from pipelines.ingestion.parsers.cuts import ATOMIC, Piece, Section, cut, sections_of
from pipelines.ingestion.parsers.nodes import SpanParser
from pipelines.ingestion.structure import text_blocks
from pipelines.types import Block, Document


def split_generic(text: str, blocks: Sequence[Block] | None = None, *, characters: int = 1000) -> list[Piece]:
    """Paragraphs packed into pieces of at most `characters`, in order, without overlap, covering all of the text.

    A heading begins a new piece and names the section of what follows. A longer paragraph is cut at sentence ends,
    a longer sentence at spaces. Headings with nothing under them join the next piece, or at the end the last one.

    Args:
        text: Canonical text.
        blocks: Its blocks; None = those of plain text.
        characters: The most that a piece holds.
    """
    pieces: list[Piece] = []
    bare: Piece | None = None
    for section in sections_of(text, text_blocks(text) if blocks is None else blocks):
        begin, named = section.start, section.start if section.heading is None else section.heading.end
        if bare and named - bare.start > characters // 2:
            pieces.append(bare)
        elif bare:
            begin = bare.start
        bare = None
        if section.body:
            pieces.extend(_pack(text, section, begin, characters))
        else:
            bare = Piece(begin, named, section.path)
    if bare and pieces and bare.end - pieces[-1].start <= characters:
        last = pieces.pop()
        bare = Piece(last.start, bare.end, last.section_path)
    return [*pieces, bare] if bare else pieces


def _pack(text: str, section: Section, begin: int, limit: int) -> Iterator[Piece]:
    """The pieces of one section; the first begins at `begin`, with the headings above it."""
    opened, filled = begin, False
    closed = section.heading.end if section.heading else begin
    for block in section.body:
        too_long = block.end - opened > limit
        if too_long and (filled or block.start - opened > limit // 2):
            yield Piece(opened, closed, section.path)
            opened = block.start
        if block.end - opened > limit:
            room = limit - (block.start - opened)
            *done, last = cut(text, (block.start, block.end), room, len, by_line=block.kind in ATOMIC)
            for start, end in done:
                yield Piece(min(opened, start) if start == block.start else start, end, section.path)
            opened = last[0] if done else opened
        closed, filled = block.end, True
    yield Piece(opened, closed, section.path)


class GenericParser(SpanParser):
    """Nodes of packed paragraphs, for any document."""

    name: str = "generic"
    version: int = 1
    characters: int = Field(default=1000, ge=50)

    def fits(self, text: str) -> bool:
        """Whether the text has at most `characters` characters."""
        return len(text) <= self.characters

    def split(self, document: Document) -> list[Piece]:
        """The pieces of the document."""
        return split_generic(document.text, document.blocks or None, characters=self.characters)
