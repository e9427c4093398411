"""A table as a reader sees it: data as pipe rows, a layout as the blocks that it arranges."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from pipelines.ingestion.loaders.rendering import Part

_MAX_LAYOUT_COLUMNS = 4
_HINT_LINES = 3
_HINT_CHARACTERS = 60
_LINE_CHARACTERS = 120
_HEAVY_CHARACTERS = 300
_HEAD_CHARACTERS = 40
_DATE = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)|\b\d{1,2}[./]\d{2,4}\b")
_BARE_DATE = 30
_STOPS = tuple(".!?:;,")


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a cell, where it begins, how many rows it spans, and whether it is said to be a head."""

    row: int
    column: int
    rows: int
    parts: tuple[Part, ...]
    is_head: bool = False

    @property
    def size(self) -> int:
        """Its characters."""
        return sum(len(part.text) for part in self.parts)


def table_parts(cells: Sequence[Cell], rows: int, columns: int) -> list[Part]:
    """One `table` part of pipe rows, or the parts of a table that only arranges text on the page, row by row."""
    filled = [cell for cell in cells if cell.parts]
    if not filled:
        return []
    if _is_layout(filled, rows, columns):
        return [part for row in _by_row(filled) for part in _row_parts(row)]
    return [Part(pipe_table(_grid(filled, rows, columns)), "table")]


def pipe_table(grid: Sequence[Sequence[str]]) -> str:
    """Rows of cells as a Markdown table; its first row is the head, and rows without a word are left out."""
    head, *body = [[" ".join(cell.replace("|", "\\|").split()) for cell in row] for row in grid]
    lines = [f"| {' | '.join(row)} |" for row in [head, *(row for row in body if any(row))]]
    lines.insert(1, "|" + " --- |" * len(head))
    return "\n".join(lines)


def _grid(cells: Sequence[Cell], rows: int, columns: int) -> list[list[str]]:
    """The words of each cell where it begins, and again in each further row that it spans."""
    grid = [[""] * columns for _ in range(rows)]
    for cell in cells:
        for row in range(cell.row, min(cell.row + cell.rows, rows)):
            grid[row][cell.column] = _flat(cell.parts)
    return grid


def _flat(parts: Sequence[Part]) -> str:
    """The parts on one line; a table in the cell as its rows, a list without its marks."""
    flat = ""
    for part in parts:
        text = part.text.removeprefix("- ")
        if part.kind == "table":
            rows = [row for row in text.split("\n") if row.strip(" |-")]
            text = "; ".join(row.strip("| ").replace(" | ", ", ") for row in rows)
        gap = " " if part.close or flat.endswith(_STOPS) else "; "
        flat += (gap if flat else "") + " ".join(text.split())
    return flat


def _is_layout(cells: Sequence[Cell], rows: int, columns: int) -> bool:
    if any(cell.is_head for cell in cells) or columns > _MAX_LAYOUT_COLUMNS:
        return False
    if columns == 1 or rows == 1 or _has_dated_column(cells):
        return True
    heavy = {cell.row for cell in cells if _is_heavy(cell)}
    several = {cell.row for cell in cells if len(cell.parts) > 1}
    filled = len({cell.row for cell in cells})
    return 3 * len(heavy) >= filled or (2 * len(several) >= filled and not _has_head(cells, columns))


def _is_heavy(cell: Cell) -> bool:
    several = len(cell.parts) > 1
    return len(cell.parts) > _HINT_LINES or (several and cell.size > _HEAVY_CHARACTERS) or _has_heading(cell)


def _has_heading(cell: Cell) -> bool:
    return any(part.kind == "heading" for part in cell.parts)


def _has_dated_column(cells: Sequence[Cell]) -> bool:
    """Whether the first or the last column holds nothing but dates, from the first row on: no head names it."""
    columns = sorted({cell.column for cell in cells})
    for column in {columns[0], columns[-1]} if len(columns) in (2, 3) else ():
        dates = [cell for cell in cells if cell.column == column]
        others = max(cell.size for cell in cells if cell.column != column)
        if dates[0].row == 0 and others > _BARE_DATE and all(_is_dated(cell) for cell in dates):
            return True
    return False


def _is_dated(cell: Cell) -> bool:
    return (
        len(cell.parts) <= _HINT_LINES
        and len(cell.parts[0].text) <= _BARE_DATE
        and bool(_DATE.search(cell.parts[0].text))
    )


def _has_head(cells: Sequence[Cell], columns: int) -> bool:
    first = [cell for cell in cells if cell.row == 0]
    short = all(
        len(cell.parts) == 1 and cell.size <= _HEAD_CHARACTERS and "@" not in cell.parts[0].text for cell in first
    )
    return short and len(first) == columns


def _by_row(cells: Sequence[Cell]) -> Iterator[list[Cell]]:
    ordered = sorted(cells, key=lambda cell: (cell.row, cell.column))
    yield from (list(row) for _, row in groupby(ordered, key=lambda cell: cell.row))


def _row_parts(cells: Sequence[Cell]) -> Iterator[Part]:
    """The cells one after the other; a cell of a few short lines stands, line by line, beside the one it belongs to."""
    main = max(cells, key=lambda cell: cell.size)
    beside = [cell for cell in cells if cell is not main and _stands_beside(cell, main)]
    lines = list(main.parts)
    left = [cell for cell in beside if cell.column < main.column]
    right = [cell for cell in beside if cell.column > main.column]
    for cell in cells:
        if cell is main:
            yield from _beside(left, lines, right)
        elif cell not in beside:
            yield from cell.parts


def _stands_beside(cell: Cell, main: Cell) -> bool:
    """Whether the lines of the cell say when or where of those of the main one, rather than name them."""
    short = len(cell.parts) <= _HINT_LINES and all(
        part.kind == "paragraph" and len(part.text) <= _HINT_CHARACTERS for part in cell.parts
    )
    return short and (cell.column > main.column or any(_DATE.search(part.text) for part in cell.parts))


def _beside(left: Sequence[Cell], lines: Sequence[Part], right: Sequence[Cell]) -> Iterator[Part]:
    count = max([len(cell.parts) for cell in (*left, *right)], default=0)
    for number in range(max(count, len(lines))):
        before = [cell.parts[number].text for cell in left if number < len(cell.parts)]
        after = [cell.parts[number].text for cell in right if number < len(cell.parts)]
        line = lines[number] if number < len(lines) else None
        if line and line.kind in ("paragraph", "heading") and len(line.text) <= _LINE_CHARACTERS:
            yield line._replace(text="\t".join([*before, line.text, *after]))
            continue
        if before or after:
            yield Part("\t".join([*before, *after]))
        if line:
            yield line
