"""Parse a journey reflection: paragraphs packed to a number of tokens, with an overlap of whole sentences."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

from pydantic import Field

from pipelines.blocks import blocks_of, fill_gaps
from pipelines.facts import JourneyFacts
from pipelines.ingestion.parsers.markdown import is_tiny, last_words
from pipelines.ingestion.parsers.nodes import Limit, SpanParser
from pipelines.ingestion.parsers.pieces import Packing, Piece, Span, count_words, join_tiny, pack, sections_of
from pipelines.months import fiscal_year
from pipelines.structure import sentences
from pipelines.text import count_tokens
from pipelines.types import Block, Document

_CHARACTERS_PER_WORD = 40


def last_sentences(text: str, span: Span, *, words: int, tokens: int) -> int | None:
    """The start of the last whole sentences of the span that have at most `words` words and `tokens` tokens.

    If even the last sentence is longer, the start of its last words; None if not one word fits.
    """
    start, end = span
    window = max(start, end - _CHARACTERS_PER_WORD * words)
    found: int | None = None
    for at, _ in reversed(sentences(text[window:end])):
        passage = text[window + at : end]
        if count_words(passage) > words or count_tokens(passage) > tokens or (not at and window > start):
            break
        found = window + at
    while found is None and words > 0:
        begin = last_words(text, span, words)
        if begin is None or count_tokens(text[begin:end]) <= tokens:
            return begin
        words -= 1
    return found


def _size(text: str) -> int:
    """The tokens of a text, plus one, because joining two texts may add a token."""
    return count_tokens(text) + 1 if text else 0


class JourneyParser(SpanParser):
    """Parse reflections into nodes of whole paragraphs with their paragraph numbers and fiscal year.

    Attributes:
        target_tokens: A node is complete when it reaches this size in cl100k tokens.
        soft_tokens: It is also complete if one more paragraph would exceed this size, unless it is less than half full.
        hard_tokens: Maximum size; a longer paragraph is cut at sentence ends.
        overlap_words: Maximum number of words that two nodes of a section share: the last whole sentences of the first.
        overlap_tokens: Maximum number of tokens that they share.
    """

    category: ClassVar[str] = "journey"
    limit: ClassVar[Limit] = ("hard_tokens", count_tokens)
    name: str = "journey"
    version: int = 3
    target_tokens: int = Field(default=450, ge=20)
    soft_tokens: int = Field(default=500, ge=20)
    hard_tokens: int = Field(default=600, ge=20)
    overlap_words: int = Field(default=30, ge=0)
    overlap_tokens: int = Field(default=50, ge=0)

    def split(self, document: Document) -> list[Piece]:
        """The pieces of the document, each with its JourneyFacts."""
        text, blocks = document.text, blocks_of(document)
        pieces = self.pieces(text, blocks)
        paragraphs = [block for block in fill_gaps(text, blocks) if block.kind != "heading"] or list(blocks)
        starts, ends = [block.start for block in paragraphs], [block.end for block in paragraphs]
        stated = document.metadata.get("fiscal_year")
        stated, made = stated if isinstance(stated, int) else None, list[Piece]()
        for part, piece in enumerate(pieces, 1):
            # that of the nearest heading that names one, else the document's
            year = next((named for title in reversed(piece.section_path) if (named := fiscal_year(title))), stated)
            first, last = bisect_right(ends, piece.start) + 1, bisect_left(starts, piece.end)
            facts = JourneyFacts(
                fiscal_year=year, part=part, parts=len(pieces), first_paragraph=min(first, len(paragraphs)),
                last_paragraph=max(last, 1),
            )  # fmt: skip
            made.append(replace(piece, facts=facts, year=year))
        return made

    def pieces(self, text: str, blocks: Sequence[Block]) -> list[Piece]:
        """The pieces of a text with these blocks, without facts."""
        tokens = min(self.overlap_tokens, self.hard_tokens // 4)
        overlap = partial(last_sentences, words=self.overlap_words, tokens=tokens)
        soft = min(self.soft_tokens, self.hard_tokens)
        packing = Packing(min(self.target_tokens, soft), soft, self.hard_tokens, _size, overlap)
        sections = join_tiny(sections_of(text, blocks), partial(is_tiny, text))
        return [piece for section in sections for piece in pack(text, section.blocks, section.path, packing)]
