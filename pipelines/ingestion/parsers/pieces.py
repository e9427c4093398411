"""Pieces of a document: its sections, cuts of a span that is too long, and blocks packed to a size."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from pipelines.blocks import fill_gaps, title_of
from pipelines.facts import Facts
from pipelines.headings import trim_span
from pipelines.structure import sentences
from pipelines.text import fold, line_breaks, plain
from pipelines.types import Block

ATOMIC = frozenset({"table", "code"})
_NAMED = ATOMIC | {"list"}  # kinds of nodes that hold nothing else

_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CHARACTERS_PER_WORD = 10
_MAX_HEAD = 500

Span = tuple[int, int]
Measure = Callable[[str], int]
Overlap = Callable[[str, Span], int | None]


@dataclass(frozen=True, slots=True)
class Piece:
    """A span of a document that becomes one node.

    `lead` is the line that its header repeats (a job line, a table head) if the span is a later part; `year` is the
    span's own year, None = the document's.
    """

    start: int
    end: int
    section_path: tuple[str, ...] = ()
    kind: str = "text"
    facts: Facts | None = None
    year: int | None = None
    lead: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with the blocks up to the next heading; before the first heading, blocks alone."""

    path: tuple[str, ...]
    heading: Block | None
    body: tuple[Block, ...]

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Heading and body."""
        return (self.heading, *self.body) if self.heading else self.body

    @property
    def start(self) -> int:
        """Start offset."""
        return self.heading.start if self.heading else self.body[0].start

    @property
    def end(self) -> int:
        """End offset."""
        return self.body[-1].end if self.body else self.heading.end if self.heading else 0


def sections_of(text: str, blocks: Sequence[Block]) -> list[Section]:
    """The sections of a text in order; each path ends with the section's own heading and is unique.

    A second "Usage" below the same headings is "Usage (2)".
    """
    found: list[Section] = []
    stack: list[tuple[int, str]] = []
    seen: dict[tuple[str, ...], int] = {}
    heading: Block | None = None
    body: list[Block] = []
    for block in fill_gaps(text, blocks):
        if block.kind != "heading":
            body.append(block)
            continue
        if heading or body:
            found.append(Section(tuple(title for _, title in stack), heading, tuple(body)))
        while stack and stack[-1][0] >= block.level:
            stack.pop()
        above = tuple(title for _, title in stack)
        stack.append((block.level, _unique_title(seen, above, title_of(text, block.start, block.end))))
        heading, body = block, []
    if heading or body:
        found.append(Section(tuple(title for _, title in stack), heading, tuple(body)))
    return found


def join_tiny(sections: Iterable[Section], is_tiny: Callable[[Section], bool]) -> Iterator[Section]:
    """The sections, each tiny one joined to the next section if that is a subsection, and with its path.

    Other sections are never joined, however short: a passage belongs to one heading and those above it.
    """
    waiting: Section | None = None
    for section in sections:
        current = section
        if waiting and section.path[: len(waiting.path)] == waiting.path:
            current = Section(section.path, waiting.heading, (*waiting.body, *section.blocks))
        elif waiting:
            yield waiting
        waiting = current if is_tiny(current) else None
        if not waiting:
            yield current
    if waiting:
        yield waiting


def has_only_headings(section: Section) -> bool:
    """True if the section has nothing but headings."""
    return all(block.kind == "heading" for block in section.body)


def _unique_title(seen: dict[tuple[str, ...], int], above: tuple[str, ...], title: str) -> str:
    """The title, with a number if the path was used before; `seen` counts the paths."""
    name, number = title, seen.get((*above, fold(title)), 0)
    while (*above, fold(name)) in seen:
        number += 1
        name = f"{title} ({number})"
    seen[(*above, fold(title))] = max(number, 1)
    seen.setdefault((*above, fold(name)), 1)
    return name


def count_words(text: str) -> int:
    """The number of words, at least one per CJK character and one per ten characters.

    The count of a text is at most the sum of the counts of its parts.
    """
    words = text.split()
    count = len(words) if text.isascii() else len(words) + len(_CJK.findall(text))
    return max(count, -(-sum(map(len, words)) // _CHARACTERS_PER_WORD))


def table_head(text: str, block: Block) -> str:
    """The head of a table, which its later parts repeat in their header; "" for other blocks."""
    if block.kind != "table":
        return ""
    head = text[block.start : min(block.end, block.start + _MAX_HEAD)]
    if head.startswith("<"):
        first, closed, _ = head.partition("</tr>")
        return " | ".join(plain(first).split("\n")) if closed else ""
    return head.partition("\n")[0].strip()


def cut_span(text: str, span: Span, limit: int, measure: Measure, *, by_line: bool = False) -> list[Span]:
    """Cut a span into parts of at most `limit`, at sentence ends (or line ends), else at spaces, else anywhere.

    Only white space between the parts is left out.
    """
    start, end = span
    if measure(text[start:end]) <= limit:
        return [span]
    lines = [start + place + 1 for place in line_breaks(text[start:end])] if by_line else []
    starts = lines if by_line else [start + at for at, _ in sentences(text[start:end])]
    bounds = [start, *(at for at in starts if at > start), end]
    parts: list[Span] = []
    opened, size = start, 0
    for sentence in pairwise(bounds):
        fits = measure(text[slice(*sentence)]) <= limit
        for begin, finish in [sentence] if fits else _halves(text, sentence, max(limit // 2, 1), measure):
            length = measure(text[begin:finish])
            if size and size + length > limit:
                parts.append(trim_span(text, opened, begin))
                opened, size = begin, 0
            size += length
    parts.append(trim_span(text, opened, end))
    return [part for part in parts if part[0] < part[1]]


def _halves(text: str, span: Span, limit: int, measure: Measure) -> Iterator[Span]:
    """The span halved at spaces until each part fits."""
    start, end = span
    if end - start < 2 or measure(text[start:end]) <= limit:
        yield span
        return
    middle = (start + end) // 2
    space = max(text.rfind(" ", start + 1, middle), text.rfind("\n", start + 1, middle))
    at = space if space > start + (middle - start) // 2 else middle
    yield from _halves(text, (start, at), limit, measure)
    yield from _halves(text, (at, end), limit, measure)


@dataclass(frozen=True, slots=True)
class Packing:
    """The sizes of pieces in the unit of `measure`.

    A piece is complete when it reaches `target`, or when one more block would exceed `soft`, unless it is less than
    half full; none exceeds `hard`. The measure of a text must be at most the sum of the measures of its parts.
    """

    target: int
    soft: int
    hard: int
    measure: Measure
    overlap: Overlap | None = None

    def takes(self, size: int, more: int) -> bool:
        """True if a piece of this size takes a further block of size `more`."""
        total = size + more
        return size < self.target and total <= self.hard and (total <= self.soft or size * 2 <= self.target)


@dataclass(frozen=True, slots=True)
class Unit:
    """A block, or a part of one, that is not cut further.

    `body` is its start below the headings before it, `lead` the line that its header repeats.
    """

    start: int
    body: int
    end: int
    size: int
    kind: str
    lead: str = ""


def pack(text: str, blocks: Sequence[Block], path: tuple[str, ...], packing: Packing) -> Iterator[Piece]:
    """Pack the blocks of a section into pieces, in order; pieces overlap, except at tables and code.

    The first of the blocks is the section's heading.
    """
    packed: list[Unit] = []
    opened, size = blocks[0].start, 0
    for unit in packing_units(text, blocks, packing):
        size += packing.measure(text[packed[-1].end : unit.start]) if packed else 0
        if packed and not packing.takes(size, unit.size):
            yield _packed_piece(opened, packed, path)
            opened = _overlap_start(text, opened, packed, unit, packing)
            packed, size = [], packing.measure(text[opened : unit.start])
        packed.append(unit)
        size += unit.size
    yield _packed_piece(opened, packed, path)


def packing_units(text: str, blocks: Sequence[Block], packing: Packing) -> Iterator[Unit]:
    """The blocks as units; one over the hard limit is cut, a heading belongs to the block that follows."""
    begin, waiting = 0, False
    for block in blocks:
        begin = begin if waiting else block.start
        waiting = block.kind == "heading"
        if waiting:
            continue
        lead = table_head(text, block)
        for start, end in _block_parts(text, begin, block, packing):
            body, again = max(start, min(block.start, end)), lead if start > block.start else ""
            yield Unit(start, body, end, packing.measure(text[start:end]), block.kind, again)
    if waiting:
        for start, end in cut_span(text, (begin, blocks[-1].end), packing.hard, packing.measure):
            yield Unit(start, end, end, packing.measure(text[start:end]), "heading")


def _block_parts(text: str, begin: int, block: Block, packing: Packing) -> list[Span]:
    """The block with the headings before it, cut if too long; a table or code block that fits alone is never cut."""
    atomic = block.kind in ATOMIC
    if atomic and begin < block.start and packing.measure(text[begin : block.end]) > packing.hard:
        headings = cut_span(text, trim_span(text, begin, block.start), packing.hard, packing.measure)
        return [*headings, *cut_span(text, (block.start, block.end), packing.hard, packing.measure, by_line=True)]
    return cut_span(text, (begin, block.end), packing.hard, packing.measure, by_line=atomic)


def content_kind(parts: Sequence[Block | Unit]) -> str:
    """`table`, `code` or `list` if there is nothing else, else `text`; headings do not count."""
    kinds = {part.kind for part in parts} - {"heading"}
    return kinds.pop() if len(kinds) == 1 and kinds <= _NAMED else "text"


def _packed_piece(start: int, packed: Sequence[Unit], path: tuple[str, ...]) -> Piece:
    return Piece(start, packed[-1].end, path, content_kind(packed), lead=packed[0].lead)


def _overlap_start(text: str, opened: int, packed: Sequence[Unit], unit: Unit, packing: Packing) -> int:
    """The start of the piece that begins with `unit`; the overlap never includes a heading, a table or code."""
    prose = list(takewhile(lambda before: before.kind not in ATOMIC, reversed(packed)))
    if packing.overlap is None or not prose or unit.kind in ATOMIC:
        return unit.start
    below = next((before.body for before in prose if before.body > before.start), prose[-1].start)
    start = packing.overlap(text, (below, packed[-1].end))
    if start is None or start <= opened or packing.measure(text[start : unit.start]) + unit.size > packing.hard:
        return unit.start
    return start
