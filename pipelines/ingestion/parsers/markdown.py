"""PARSE by heading: one section is one node; a long one is cut at its blocks, with an overlap."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pydantic import Field

from pipelines.ingestion.parsers.cuts import ATOMIC, Piece, Section, Span, cut, sections_of, words_in
from pipelines.ingestion.parsers.nodes import SpanParser
from pipelines.ingestion.structure import markdown_blocks
from pipelines.text import plain
from pipelines.types import Block, Document

TINY_WORDS = 15

_ENOUGH = 3_000
_LONG = 600
_WORD = re.compile(r"(?<!\S)\S+")


@dataclass(frozen=True, slots=True)
class _Unit:
    """What is not cut further; no overlap begins inside a table or code."""

    start: int
    end: int
    words: int
    kind: str


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
    ends) only where one alone exceeds `max_words`. A section with fewer than 15 words under its heading is put in
    front of the next one.

    Args:
        text: Canonical text.
        blocks: Its blocks; None = those of CommonMark.
        target_words: Where a long section is cut.
        max_words: The most that a piece holds.
        overlap_words: Words repeated between the pieces of one section; never across a heading.
    """
    sections = sections_of(text, markdown_blocks(text) if blocks is None else blocks)
    pieces: list[Piece] = []
    for section in _joined(text, sections):
        size = words_in(text[section.start : section.end])
        if size <= max_words:
            pieces.append(Piece(section.start, section.end, section.path, _kind(section.body)))
        else:
            pieces.extend(_cut_section(text, section, target_words, max_words, overlap_words))
    return pieces


def _joined(text: str, sections: Sequence[Section]) -> Iterator[Section]:
    """The sections, the tiny ones in front of the next; a heading at the very end stays with what precedes it."""
    waiting: Section | None = None
    done: Section | None = None
    for section in sections:
        current = _merge(waiting, section) if waiting else section
        waiting = None
        short = current.end - current.start < _ENOUGH
        if short and _body_words(text, current) < TINY_WORDS:
            waiting = current
            continue
        if done:
            yield done
        done = current
    if waiting and done and not _body_words(text, waiting):
        yield replace(done, body=(*done.body, *_as_body(waiting)))
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
    return Section(path, first.heading, (*first.body, *_as_body(second)))


def _as_body(section: Section) -> tuple[Block, ...]:
    return (section.heading, *section.body) if section.heading else section.body


def _body_words(text: str, section: Section) -> int:
    """The words under the headings; badges and comments do not count."""
    return sum(words_in(plain(text[block.start : block.end])) for block in section.body if block.kind != "heading")


def _kind(parts: Sequence[Block | _Unit]) -> str:
    kinds = {part.kind for part in parts}
    return kinds.pop() if len(kinds) == 1 and kinds <= ATOMIC else "text"


def _cut_section(text: str, section: Section, target: int, limit: int, overlap: int) -> Iterator[Piece]:
    overlap = min(overlap, limit // 4)
    packed: list[_Unit] = []
    opened, size = section.start, 0
    for unit in _units(text, section, limit - overlap):
        total = size + unit.words
        if packed and total > target and (size * 2 > target or total > limit - overlap):
            before = packed[-1]
            yield Piece(opened, before.end, section.path, _kind(packed))
            opened, size, packed = unit.start, 0, []
            if before.kind not in ATOMIC and unit.kind not in ATOMIC:
                opened = _last_words(text, (before.start, before.end), overlap) or unit.start
        packed.append(unit)
        size += unit.words
    yield Piece(opened, packed[-1].end, section.path, _kind(packed))


def _units(text: str, section: Section, limit: int) -> Iterator[_Unit]:
    """The blocks, cut where one alone is too long; a heading stays with what follows it."""
    begin: int | None = None
    for block in _as_body(section):
        start = block.start if begin is None else begin
        if block.kind == "heading":
            begin = start
            continue
        begin = None
        for part in cut(text, (start, block.end), limit, words_in, by_line=block.kind in ATOMIC):
            yield _Unit(*part, words_in(text[part[0] : part[1]]), block.kind)
    if begin is not None:
        for part in cut(text, (begin, section.end), limit, words_in):
            yield _Unit(*part, words_in(text[part[0] : part[1]]), "heading")


def _last_words(text: str, span: Span, count: int) -> int | None:
    """Where the last `count` words of the span begin, fewer where they are long; None where not one is short enough."""
    window = max(span[0] + 1, span[1] - 40 * count)
    begins = [match.start() for match in _WORD.finditer(text, window, span[1])][-count:] if count else []
    return next((begin for begin in begins if words_in(text[begin : span[1]]) <= count), None)


class MarkdownParser(SpanParser):
    """Nodes by heading for Markdown and for everything that is rendered as Markdown."""

    name: str = "markdown"
    version: int = 1
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
            document.blocks or None,
            target_words=self.target_words,
            max_words=self.max_words,
            overlap_words=self.overlap_words,
        )
