"""Put a text together from blocks: paragraphs, list items and tables, with the exact span of each."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from pipelines.bullets import BULLETS
from pipelines.headings import is_capitals
from pipelines.text import canonical
from pipelines.types import Block, BlockKind

_MAX_COLUMNS = 16_384  # of a sheet of an office program
_MAX_LAYOUT_COLUMNS = 4
_NOTE_LINES = 3
_NOTE_CHARACTERS = 60
_LINE_CHARACTERS = 120
_HEAVY_CHARACTERS = 300
_HEAD_CHARACTERS = 40
DATED = re.compile(r"\b(?:19|20)\d\d\b|\b\d{1,2}/\d{2,4}\b|(?<!\w)['’]\d\d\b")
_BARE_DATE = 30
_STOPS = tuple(".!?:;,")


class RenderedPart(NamedTuple):
    """A block to be added: text, kind, heading level, and whether it follows on the very next line."""

    text: str
    kind: BlockKind = "paragraph"
    level: int = 0
    close: bool = False


class Rendering:
    """Collects blocks; list items follow each other line by line, everything else after a blank line."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []
        self._pages: list[int] = []
        self._opened = 0
        self._line = self._first_line = 1

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._parts)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks so far, ascending and apart."""
        return tuple(self._blocks)

    @property
    def first_line(self) -> int:
        """The line of the file on which the text begins, from 1."""
        return self._first_line

    @property
    def pages(self) -> tuple[int, ...]:
        """Start of each opened page; a page without a block starts where the next one does."""
        return (*self._pages, *[self._length] * self._opened)

    def open_page(self) -> None:
        """Make the next block start a page."""
        self._opened += 1

    def add(
        self, text: str, kind: BlockKind, level: int = 0, *, indent: str = "", close: bool = False, line: int = 0
    ) -> int | None:
        """Add a block and return its start; None, with nothing added, if it has no readable text.

        Args:
            text: Its text; white space at both ends is dropped.
            kind: Kind of block.
            level: Level of a heading, from 1.
            indent: White space before it, outside of its span.
            close: True to put it on the very next line, as list items always are.
            line: Line of the file, from 1, on which it must not stand earlier; blank lines are inserted as needed.
        """
        text = canonical(text).strip()
        if not text:
            return None
        if self._blocks:
            close = close or (kind == "list" and self._blocks[-1].kind == "list")
            self._append("\n" * max(1 if close else 2, line - self._line))
        else:
            self._line = self._first_line = max(line, 1)
        self._pages.extend([self._length] * self._opened)
        self._opened = 0
        self._append(indent)
        start = self._length
        self._append(text)
        self._blocks.append(Block(start, self._length, kind, level))
        return start

    def add_code(self, text: str) -> None:
        """Add a fenced code block, unless it is blank."""
        fence = "~~~" if "```" in text else "```"
        if text.strip():
            self.add(f"{fence}\n{text.rstrip()}\n{fence}", "code")

    def extend(self, parts: Iterable[RenderedPart]) -> None:
        """Add these blocks in order."""
        for part in parts:
            self.add(part.text, part.kind, part.level, close=part.close)

    def as_parts(self) -> list[RenderedPart]:
        """The blocks so far as parts, to be added to another rendering."""
        text, parts, done = self.text, list[RenderedPart](), 0
        for block in self._blocks:
            close = bool(parts) and block.kind != "list" and text.count("\n", done, block.start) == 1
            parts.append(RenderedPart(text[block.start : block.end], block.kind, block.level, close))
            done = block.end
        return parts

    def _append(self, part: str) -> None:
        self._parts.append(part)
        self._length += len(part)
        self._line += part.count("\n")


def tidy_lines(text: str) -> str:
    """Collapse spaces and tabs, strip each line and drop blank lines."""
    lines = (
        "\t".join(filter(None, (" ".join(part.split()) for part in line.split("\t")))) for line in text.splitlines()
    )
    return "\n".join(line for line in lines if line)


def line_parts(text: str, finds_headings: bool = False) -> list[RenderedPart]:
    """One part per line; a bullet makes a list item, and capitals a heading if `finds_headings`."""
    parts: list[RenderedPart] = []
    for line in tidy_lines(text).splitlines():
        close = bool(parts)
        if line[0] in BULLETS and line[1:2].isspace():
            parts.append(RenderedPart(line, "list", close=close))
        elif finds_headings and is_capitals(line):
            parts.append(RenderedPart(line, "heading", 1, close))
        else:
            parts.append(RenderedPart(line, "paragraph", close=close))
    return parts


@dataclass(frozen=True, slots=True)
class Cell:
    """The parts of a table cell, its place, the rows it spans, and whether it is marked as a header."""

    row: int
    column: int
    rows: int
    parts: tuple[RenderedPart, ...]
    is_head: bool = False

    @property
    def size(self) -> int:
        """Number of characters."""
        return sum(len(part.text) for part in self.parts)


def table_parts(cells: Sequence[Cell], rows: int, columns: int) -> list[RenderedPart]:
    """One `table` part of pipe rows, or, for a table used as page layout, the parts of its cells row by row."""
    filled = [cell for cell in cells if cell.parts]
    if not filled:
        return []
    if _is_layout(filled, rows, columns):
        ordered = sorted(filled, key=lambda cell: (cell.row, cell.column))
        return [part for _, row in groupby(ordered, key=lambda cell: cell.row) for part in _row_parts(list(row))]
    return [RenderedPart(pipe_table(_grid(filled, rows, columns)), "table")]


def _row_parts(cells: Sequence[Cell]) -> Iterator[RenderedPart]:
    """Cells one after the other; a cell of a few short lines goes, line by line, beside the largest cell."""
    main = max(cells, key=lambda cell: cell.size)
    beside = [cell for cell in cells if cell is not main and _stands_beside(cell, main)]
    lines = list(main.parts)
    left = [cell for cell in beside if cell.column < main.column]
    right = [cell for cell in beside if cell.column > main.column]
    for cell in cells:
        if cell is main:
            yield from _interleave(left, lines, right)
        elif cell not in beside:
            yield from cell.parts


def _stands_beside(cell: Cell, main: Cell) -> bool:
    """True if the cell's lines annotate those of the main cell (a date, a place) rather than label them."""
    short = len(cell.parts) <= _NOTE_LINES and all(
        part.kind == "paragraph" and len(part.text) <= _NOTE_CHARACTERS for part in cell.parts
    )
    return short and (cell.column > main.column or any(DATED.search(part.text) for part in cell.parts))


def _interleave(left: Sequence[Cell], lines: Sequence[RenderedPart], right: Sequence[Cell]) -> Iterator[RenderedPart]:
    count = max([len(cell.parts) for cell in (*left, *right)], default=0)
    for number in range(max(count, len(lines))):
        before = [cell.parts[number].text for cell in left if number < len(cell.parts)]
        after = [cell.parts[number].text for cell in right if number < len(cell.parts)]
        line = lines[number] if number < len(lines) else None
        if line and line.kind in ("paragraph", "heading") and len(line.text) <= _LINE_CHARACTERS:
            yield line._replace(text="\t".join([*before, line.text, *after]))
            continue
        if before or after:
            yield RenderedPart("\t".join([*before, *after]))
        if line:
            yield line


def _is_layout(cells: Sequence[Cell], rows: int, columns: int) -> bool:
    if any(cell.is_head for cell in cells) or columns > _MAX_LAYOUT_COLUMNS:
        return False
    if columns == 1 or rows == 1 or _has_dated_column(cells):
        return True
    heavy = {cell.row for cell in cells if _is_heavy(cell)}
    several = {cell.row for cell in cells if len(cell.parts) > 1}
    filled = len({cell.row for cell in cells})
    return 3 * len(heavy) >= filled or (2 * len(several) >= filled and not _has_head(cells, columns))


def _has_head(cells: Sequence[Cell], columns: int) -> bool:
    first = [cell for cell in cells if cell.row == 0]
    short = all(
        len(cell.parts) == 1 and cell.size <= _HEAD_CHARACTERS and "@" not in cell.parts[0].text for cell in first
    )
    return short and len(first) == columns


def _has_dated_column(cells: Sequence[Cell]) -> bool:
    """True if the first or last column holds only dates, from the first row on (so it has no header)."""
    columns = sorted({cell.column for cell in cells})
    for column in {columns[0], columns[-1]} if len(columns) in (2, 3) else ():
        dates = [cell for cell in cells if cell.column == column]
        others = max(cell.size for cell in cells if cell.column != column)
        if dates[0].row == 0 and others > _BARE_DATE and all(_is_dated(cell) for cell in dates):
            return True
    return False


def _is_dated(cell: Cell) -> bool:
    return (
        len(cell.parts) <= _NOTE_LINES
        and len(cell.parts[0].text) <= _BARE_DATE
        and bool(DATED.search(cell.parts[0].text))
    )


def _is_heavy(cell: Cell) -> bool:
    count = len(cell.parts)
    return (
        count > _NOTE_LINES
        or (count > 1 and cell.size > _HEAVY_CHARACTERS)
        or any(part.kind == "heading" for part in cell.parts)
    )


def pipe_table(grid: Sequence[Sequence[str]], *, keep_blank: bool = False) -> str:
    """A Markdown table whose first row is the header; rows without text are left out unless `keep_blank`."""
    head, *body = [[" ".join(cell.replace("|", "\\|").split()) for cell in row] for row in grid]
    lines = [f"| {' | '.join(row)} |" for row in [head, *(row for row in body if keep_blank or any(row))]]
    lines.insert(1, "|" + " --- |" * len(head))
    return "\n".join(lines)


def _grid(cells: Sequence[Cell], rows: int, columns: int) -> list[list[str]]:
    """The text of each cell, repeated in every row that it spans; side by side where spans are impossible."""
    if max(cell.column for cell in cells) >= columns or columns > _MAX_COLUMNS:
        lines = [[_flat(cell.parts) for cell in cells if cell.row == row] for row in range(rows)]
        columns = max(map(len, lines))
        return [[*line, *[""] * (columns - len(line))] for line in lines]
    grid = [[""] * columns for _ in range(rows)]
    for cell in cells:
        for row in range(cell.row, min(cell.row + cell.rows, rows)):
            grid[row][cell.column] = _flat(cell.parts)
    return grid


def _flat(parts: Sequence[RenderedPart]) -> str:
    """The parts on one line; a nested table as its rows, a list without its marks."""
    flat = ""
    for part in parts:
        text = part.text.removeprefix("- ")
        if part.kind == "table":
            rows = [row for row in text.split("\n") if row.strip(" |-")]
            text = "; ".join(row.strip("| ").replace(" | ", ", ") for row in rows)
        gap = " " if part.close or flat.endswith(_STOPS) else "; "
        flat += (gap if flat else "") + " ".join(text.split())
    return flat
