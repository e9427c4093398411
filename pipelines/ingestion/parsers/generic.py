"""Parse any document: paragraphs packed to a number of characters, headings with the text below them."""

from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from pipelines.blocks import blocks_of
from pipelines.ingestion.parsers.nodes import Limit, SpanParser
from pipelines.ingestion.parsers.pieces import Packing, Piece, has_only_headings, join_tiny, pack, sections_of
from pipelines.types import Block, Document


class GenericParser(SpanParser):
    """Parse any document into nodes of packed paragraphs, without overlap.

    A heading begins a new node and a new section; a heading with nothing but a subheading below it is joined to the
    subsection. A longer paragraph is cut at sentence ends, a longer sentence at spaces, a longer table between rows;
    the header of a later part of a table repeats its head.

    Attributes:
        characters: Maximum size of a node.
    """

    limit: ClassVar[Limit] = ("characters", len)
    name: str = "generic"
    version: int = 7
    characters: int = Field(default=1000, ge=50)

    def split(self, document: Document) -> list[Piece]:
        """The pieces of the document."""
        return self.pieces(document.text, blocks_of(document))

    def pieces(self, text: str, blocks: Sequence[Block]) -> list[Piece]:
        """The pieces of a text with these blocks."""
        packing = Packing(self.characters, self.characters, self.characters, len)
        sections = join_tiny(sections_of(text, blocks), has_only_headings)
        return [piece for section in sections for piece in pack(text, section.blocks, section.path, packing)]
