"""Blocks packed into pieces of a size: each block whole where it fits, cut where it alone is too long."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from pipelines.ingestion.parsers.cuts import ATOMIC, Measure, Piece, Span, cut, head_of
from pipelines.ingestion.structure import trimmed
from pipelines.types import Block

Overlap = Callable[[str, Span], int | None]


@dataclass(frozen=True, slots=True)
class Packing:
    """How long pieces are, in the unit of `measure`.

    A piece is closed once it reaches `target`, or where one more block would pass `soft`, unless it is not half full;
    none passes `hard`. `measure` of a text must be at most the sum of that of its parts.
    """

    target: int
    soft: int
    hard: int
    measure: Measure
    overlap: Overlap | None = None

    def takes(self, size: int, more: int) -> bool:
        """Whether a piece of that size takes a block of that size."""
        total = size + more
        return size < self.target and total <= self.hard and (total <= self.soft or size * 2 <= self.target)


@dataclass(frozen=True, slots=True)
class Unit:
    """What is not cut further: a block, or a part of one.

    `body` is where it begins below the headings before it, `lead` what it repeats in its header.
    """

    start: int
    body: int
    end: int
    size: int
    kind: str
    lead: str = ""


def pack(text: str, blocks: Sequence[Block], path: tuple[str, ...], packing: Packing) -> Iterator[Piece]:
    """The pieces of one section, in order; each further one begins where `overlap` says, unless at a table or code.

    Args:
        text: Canonical text.
        blocks: The section's blocks, its heading first; at least one.
        path: The section's path.
        packing: The sizes.
    """
    packed: list[Unit] = []
    opened, size = blocks[0].start, 0
    for unit in units(text, blocks, packing):
        size += packing.measure(text[packed[-1].end : unit.start]) if packed else 0
        if packed and not packing.takes(size, unit.size):
            yield _piece(opened, packed, path)
            opened = _overlap(text, opened, packed, unit, packing)
            packed, size = [], packing.measure(text[opened : unit.start])
        packed.append(unit)
        size += unit.size
    yield _piece(opened, packed, path)


def units(text: str, blocks: Sequence[Block], packing: Packing) -> Iterator[Unit]:
    """The blocks, cut where one alone is over the hard limit; a heading stays with what follows it."""
    begin, waiting = 0, False
    for block in blocks:
        begin = begin if waiting else block.start
        waiting = block.kind == "heading"
        if waiting:
            continue
        lead = head_of(text, block)
        for start, end in _parts(text, begin, block, packing):
            body, again = max(start, min(block.start, end)), lead if start > block.start else ""
            yield Unit(start, body, end, packing.measure(text[start:end]), block.kind, again)
    if waiting:
        for start, end in cut(text, (begin, blocks[-1].end), packing.hard, packing.measure):
            yield Unit(start, end, end, packing.measure(text[start:end]), "heading")


def _parts(text: str, begin: int, block: Block, packing: Packing) -> list[Span]:
    """The block with the headings before it, cut if it must be; a table or code that fits alone is never cut."""
    atomic = block.kind in ATOMIC
    if atomic and begin < block.start and packing.measure(text[begin : block.end]) > packing.hard:
        headings = cut(text, trimmed(text, begin, block.start), packing.hard, packing.measure)
        return [*headings, *cut(text, (block.start, block.end), packing.hard, packing.measure, by_line=True)]
    return cut(text, (begin, block.end), packing.hard, packing.measure, by_line=atomic)


def kind_of(parts: Sequence[Block | Unit]) -> str:
    """`table` or `code` where there is nothing else, `text` otherwise; headings do not count."""
    kinds = {part.kind for part in parts} - {"heading"}
    return kinds.pop() if len(kinds) == 1 and kinds <= ATOMIC else "text"


def _piece(start: int, packed: Sequence[Unit], path: tuple[str, ...]) -> Piece:
    return Piece(start, packed[-1].end, path, kind_of(packed), lead=packed[0].lead)


def _overlap(text: str, opened: int, packed: Sequence[Unit], unit: Unit, packing: Packing) -> int:
    """Where the piece that opens with `unit` begins; no overlap takes in a heading, a table or code."""
    prose = list(takewhile(lambda before: before.kind not in ATOMIC, reversed(packed)))
    if packing.overlap is None or not prose or unit.kind in ATOMIC:
        return unit.start
    below = next((before.body for before in prose if before.body > before.start), prose[-1].start)
    start = packing.overlap(text, (below, packed[-1].end))
    if start is None or start <= opened or packing.measure(text[start : unit.start]) + unit.size > packing.hard:
        return unit.start
    return start
