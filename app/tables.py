"""Tables that a narrow terminal holds: short columns first, and what is long on lines of its own below its row."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from rich.cells import cell_len
from rich.padding import Padding
from rich.text import Text

from app import output

_INDENT = 4
_RIGHT = frozenset("run nodes embeddings embedded coverage took speed documents failed characters size".split())


class Entry(NamedTuple):
    """A row: its cells, of which the last may be of any length, and what is said of it below, in that style."""

    cells: Sequence[Any]
    below: str = ""
    style: str = "dim"


def print_entries(columns: Sequence[str], entries: Sequence[Entry], *, most: int | None = None) -> None:
    """The rows under the names of their columns; nothing where there are none, on a terminal at most `most` of them."""
    shown = entries[:most] if most is not None and output.console.is_terminal else entries
    rows = [["" if cell is None else str(cell) for cell in entry.cells] for entry in shown]
    widths = [max(map(cell_len, column)) for column in zip(columns, *rows, strict=True)][:-1]
    if rows:
        output.console.out(_aligned(columns, columns, widths), style="bold", highlight=False)
    for row, entry in zip(rows, shown, strict=True):
        output.console.out(_aligned(columns, row, widths), highlight=False)
        if entry.below:
            _print_below(entry)
    if len(shown) < len(entries):
        output.say(f"... and {len(entries) - len(shown):,} more; --json has all of them", "dim")


def _print_below(entry: Entry) -> None:
    """Indented; in lines as wide as a terminal, else in one."""
    if output.console.is_terminal:
        output.console.print(Padding(Text(entry.below, style=entry.style), (0, 0, 0, _INDENT), expand=False))
    else:
        output.console.out(" " * _INDENT + entry.below, highlight=False)


def _aligned(columns: Sequence[str], cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join([*_padded(columns, cells, widths), cells[-1]])


def _padded(columns: Sequence[str], cells: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    for column, cell, width in zip(columns, cells, widths, strict=False):
        space = " " * (width - cell_len(cell))
        yield space + cell if column in _RIGHT else cell + space
