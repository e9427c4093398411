"""Parse any document: paragraphs packed to a number of characters, headings with the text below them."""

from collections.abc import Sequence

from pydantic import Field

from pipelines.ingestion.parsers.nodes import SpanParser
from pipelines.ingestion.parsers.pieces import Packing, Piece, has_only_headings, join_tiny, pack, sections_of
from pipelines.ingestion.structure import blocks_of, text_blocks
from pipelines.types import Block, Document


def split_generic(text: str, blocks: Sequence[Block] | None = None, *, characters: int = 1000) -> list[Piece]:
    """Pack paragraphs into pieces of at most `characters`, in order, without overlap, covering all of the text.

    A heading begins a new piece and a new section; a heading with nothing but a subheading below it is joined to the
    subsection. A longer paragraph is cut at sentence ends, a longer sentence at spaces, a longer table between rows;
    later parts of a table have its head as their `lead`.

    Args:
        text: Canonical text.
        blocks: Its blocks; None = those of plain text.
        characters: Maximum size of a piece.
    """
    packing = Packing(characters, characters, characters, len)
    sections = join_tiny(sections_of(text, text_blocks(text) if blocks is None else blocks), has_only_headings)
    return [piece for section in sections for piece in pack(text, section.blocks, section.path, packing)]


class GenericParser(SpanParser):
    """Parse any document into nodes of packed paragraphs."""

    name: str = "generic"
    version: int = 3
    characters: int = Field(default=1000, ge=50)

    def fits(self, text: str) -> bool:
        """True if the text has at most `characters` characters."""
        return len(text) <= self.characters

    def split(self, document: Document) -> list[Piece]:
        """The pieces of the document."""
        return split_generic(document.text, blocks_of(document), characters=self.characters)
