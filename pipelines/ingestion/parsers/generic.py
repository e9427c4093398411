"""PARSE anything: paragraphs packed to a number of characters, each heading with what follows it."""

from collections.abc import Sequence

from pydantic import Field

from pipelines.ingestion.parsers.cuts import Piece, is_bare, joined, sections_of
from pipelines.ingestion.parsers.nodes import SpanParser
from pipelines.ingestion.parsers.pack import Packing, pack
from pipelines.ingestion.structure import blocks_of, text_blocks
from pipelines.types import Block, Document


def split_generic(text: str, blocks: Sequence[Block] | None = None, *, characters: int = 1000) -> list[Piece]:
    """Paragraphs packed into pieces of at most `characters`, in order, without overlap, covering all of the text.

    A heading begins a new piece and names the section of what follows; only one that stands right above another that
    lies below it is in one piece with that. A longer paragraph is cut at sentence ends, a longer sentence at spaces; a
    longer table between rows, its head being the `lead` of its later parts.

    Args:
        text: Canonical text.
        blocks: Its blocks; None = those of plain text.
        characters: The most that a piece holds.
    """
    packing = Packing(characters, characters, characters, len)
    sections = joined(sections_of(text, text_blocks(text) if blocks is None else blocks), is_bare)
    return [piece for section in sections for piece in pack(text, section.blocks, section.path, packing)]


class GenericParser(SpanParser):
    """Nodes of packed paragraphs, for any document."""

    name: str = "generic"
    version: int = 3
    characters: int = Field(default=1000, ge=50)

    def fits(self, text: str) -> bool:
        """Whether the text has at most `characters` characters."""
        return len(text) <= self.characters

    def split(self, document: Document) -> list[Piece]:
        """The pieces of the document."""
        return split_generic(document.text, blocks_of(document), characters=self.characters)
