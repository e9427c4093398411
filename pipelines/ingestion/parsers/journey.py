"""PARSE a journey: paragraphs packed to a number of tokens, each piece beginning with the last sentences before it."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from pydantic import Field

from pipelines.facts import JourneyFacts
from pipelines.ingestion.parsers.cuts import Piece, Span, joined, sections_of, words_in
from pipelines.ingestion.parsers.markdown import is_tiny, last_words
from pipelines.ingestion.parsers.nodes import SpanParser
from pipelines.ingestion.parsers.pack import Packing, pack
from pipelines.ingestion.structure import blocks_of, covered, text_blocks
from pipelines.text import count_tokens, sentences
from pipelines.types import Block, Document

_CHARACTERS_PER_WORD = 40


def split_journey(
    text: str,
    blocks: Sequence[Block] | None = None,
    *,
    target_tokens: int = 450,
    soft_tokens: int = 500,
    hard_tokens: int = 600,
    overlap_words: int = 30,
    overlap_tokens: int = 50,
) -> list[Piece]:
    """Paragraphs packed into pieces by heading, in order, covering all of the text.

    A piece is closed once it has `target_tokens`, or where one more paragraph would take it past `soft_tokens`; while
    it is not half full it takes one up to `hard_tokens`. A paragraph over that is cut at sentence ends. Within a
    section each further piece begins with the last sentences of the one before.

    Args:
        text: Canonical text.
        blocks: Its blocks; None = those of plain text.
        target_tokens: How many cl100k tokens a piece aims at.
        soft_tokens: How many a paragraph may take it to.
        hard_tokens: The most that a piece holds.
        overlap_words: The most words that two pieces share ...
        overlap_tokens: ... and the most tokens; see `last_sentences`.
    """
    overlap = partial(last_sentences, words=overlap_words, tokens=min(overlap_tokens, hard_tokens // 4))
    soft = min(soft_tokens, hard_tokens)
    packing = Packing(min(target_tokens, soft), soft, hard_tokens, _size, overlap)
    pieces: list[Piece] = []
    for section in joined(sections_of(text, text_blocks(text) if blocks is None else blocks), partial(is_tiny, text)):
        pieces.extend(pack(text, section.blocks, section.path, packing))
    return pieces


def last_sentences(text: str, span: Span, *, words: int, tokens: int) -> int | None:
    """Where the last whole sentences of the span begin that have at most so many words and tokens.

    Where not even the last one is that short, its last words; None where not one word is.
    """
    start, end = span
    window = max(start, end - _CHARACTERS_PER_WORD * words)
    found: int | None = None
    for at, _ in reversed(sentences(text[window:end])):
        stretch = text[window + at : end]
        if words_in(stretch) > words or count_tokens(stretch) > tokens or (not at and window > start):
            break
        found = window + at
    while found is None and words > 0:
        begin = last_words(text, span, words)
        if begin is None or count_tokens(text[begin:end]) <= tokens:
            return begin
        words -= 1
    return found


def _size(text: str) -> int:
    """The tokens of a text, one more because where two texts meet there may be one that neither has."""
    return count_tokens(text) + 1 if text else 0


class JourneyParser(SpanParser):
    """Nodes of reflections: whole paragraphs, numbered, with the fiscal year that they are about."""

    name: str = "journey"
    version: int = 2
    target_tokens: int = Field(default=450, ge=20)
    soft_tokens: int = Field(default=500, ge=20)
    hard_tokens: int = Field(default=600, ge=20)
    overlap_words: int = Field(default=30, ge=0)
    overlap_tokens: int = Field(default=50, ge=0)

    def fits(self, text: str) -> bool:
        """Whether the text has at most `hard_tokens` tokens."""
        return count_tokens(text) <= self.hard_tokens

    def split(self, document: Document) -> list[Piece]:
        """The pieces of the document, each with its part, its paragraphs and its fiscal year."""
        text, blocks = document.text, blocks_of(document)
        pieces = split_journey(text, blocks, **{name: getattr(self, name) for name in self.own_fields()})
        paragraphs = [block for block in covered(text, blocks) if block.kind != "heading"] or list(blocks)
        starts, ends = [block.start for block in paragraphs], [block.end for block in paragraphs]
        return [
            replace(
                piece,
                facts=JourneyFacts(
                    fiscal_year=(year := _fiscal_year(document, piece.section_path)),
                    part=part,
                    parts=len(pieces),
                    first_paragraph=min(bisect_right(ends, piece.start) + 1, len(paragraphs)),
                    last_paragraph=max(bisect_left(starts, piece.end), 1),
                ),
                year=year,
            )
            for part, piece in enumerate(pieces, 1)
        ]


def _fiscal_year(document: Document, path: Sequence[str]) -> int | None:
    """The fiscal year of the nearest heading that names one, else the document's."""
    from pipelines.ingestion.year import fiscal_year  # it may look at sections, whose names live in this package

    named = next((year for title in reversed(path) if (year := fiscal_year(title))), None)
    stated = document.metadata.get("fiscal_year")
    return named or (stated if isinstance(stated, int) else None)
