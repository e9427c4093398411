"""PARSE anything: paragraphs packed to a number of characters, each heading with what follows it."""

from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field

from pipelines.ingestion.parsers.cuts import Piece, sections_of
from pipelines.ingestion.parsers.nodes import SpanParser
from pipelines.ingestion.parsers.pack import Packing, pack
from pipelines.ingestion.structure import blocks_of, text_blocks
from pipelines.types import Block, Document


def split_generic(text: str, blocks: Sequence[Block] | None = None, *, characters: int = 1000) -> list[Piece]:
    """Paragraphs packed into pieces of at most `characters`, in order, without overlap, covering all of the text.

    A heading begins a new piece and names the section of what follows. A longer paragraph is cut at sentence ends,
    a longer sentence at spaces; a longer table between rows, its head being the `lead` of its later parts. Headings
    with nothing under them join the next piece, or at the end the last one.

    Args:
        text: Canonical text.
        blocks: Its blocks; None = those of plain text.
        characters: The most that a piece holds.
    """
    packing = Packing(characters, characters, characters, len)
    pieces: list[Piece] = []
    bare: tuple[Block, ...] = ()
    path: tuple[str, ...] = ()
    for section in sections_of(text, text_blocks(text) if blocks is None else blocks):
        if bare and section.blocks[0].end - bare[0].start > characters // 2:
            pieces.extend(pack(text, bare, path, packing))
            bare = ()
        bare, path = (*bare, *section.blocks), section.path
        if section.body:
            pieces.extend(pack(text, bare, path, packing))
            bare = ()
    if bare and pieces and bare[-1].end - pieces[-1].start <= characters:
        pieces[-1] = replace(pieces[-1], end=bare[-1].end)
    elif bare:
        pieces.extend(pack(text, bare, path, packing))
    return pieces


class GenericParser(SpanParser):
    """Nodes of packed paragraphs, for any document."""

    name: str = "generic"
    version: int = 2
    characters: int = Field(default=1000, ge=50)

    def fits(self, text: str) -> bool:
        """Whether the text has at most `characters` characters."""
        return len(text) <= self.characters

    def split(self, document: Document) -> list[Piece]:
        """The pieces of the document."""
        return split_generic(document.text, blocks_of(document), characters=self.characters)
