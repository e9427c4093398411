"""PARSE by heading: one section is one node; a long one is cut at its blocks, with an overlap."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from pydantic import Field

from pipelines.ingestion.parsers.cuts import Piece, Section, Span, sections_of, words_in
from pipelines.ingestion.parsers.nodes import SpanParser
from pipelines.ingestion.parsers.pack import Packing, kind_of, pack
from pipelines.ingestion.structure import blocks_of, markdown_blocks
from pipelines.text import plain
from pipelines.types import Block, Document

TINY_WORDS = 15

_ENOUGH = 3_000
_LONG = 600
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
    with fewer than 15 words under its heading is put in front of the next one.

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
    for section in joined(text, sections_of(text, markdown_blocks(text) if blocks is None else blocks)):
        if words_in(text[section.start : section.end]) <= max_words:
            pieces.append(Piece(section.start, section.end, section.path, kind_of(section.body)))
        else:
            pieces.extend(pack(text, section.blocks, section.path, packing))
    return pieces


def joined(text: str, sections: Sequence[Section]) -> Iterator[Section]:
    """The sections, the tiny ones in front of the next; a heading at the very end stays with what precedes it."""
    waiting: Section | None = None
    done: Section | None = None
    for section in sections:
        current = _merge(waiting, section) if waiting else section
        waiting = None
        if _is_tiny(text, current):
            waiting = current
            continue
        if done:
            yield done
        done = current
    if waiting and done and not _body_words(text, waiting):
        yield replace(done, body=(*done.body, *waiting.blocks))
        return
    if done:
        yield done
    if waiting:
        yield waiting


def _merge(first: Section, second: Section) -> Section:
    """One section; its path is the second's if that is below or much longer, else what both paths share."""
    shared = 0
    for one, other in zip(first.path, second.path, strict=False):
        if one != other:
            break
        shared += 1
    below = shared == len(first.path) or not shared or not first.body
    longer = second.end - second.start > _LONG
    path = second.path if below or longer else second.path[:shared]
    return Section(path, first.heading, (*first.body, *second.blocks))


def _is_tiny(text: str, section: Section) -> bool:
    """Whether there is next to nothing under the headings; badges and comments do not count."""
    if section.end - section.start >= _ENOUGH:
        return False
    return _body_words(text, section, TINY_WORDS) < TINY_WORDS


def _body_words(text: str, section: Section, enough: int = 1) -> int:
    """The words under the headings, counted until there are enough."""
    count = 0
    for block in section.body:
        if count >= enough:
            break
        if block.kind != "heading":
            count += words_in(plain(text[block.start : block.end]))
    return count


def last_words(text: str, span: Span, count: int) -> int | None:
    """Where the last `count` words of the span begin, fewer where they are long; None where not one is short enough."""
    window = max(span[0] + 1, span[1] - 40 * count)
    begins = [match.start() for match in _WORD.finditer(text, window, span[1])][-count:] if count else []
    return next((begin for begin in begins if words_in(text[begin : span[1]]) <= count), None)


class MarkdownParser(SpanParser):
    """Nodes by heading for Markdown and for everything that is rendered as Markdown."""

    name: str = "markdown"
    version: int = 2
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
