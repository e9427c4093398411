"""TABLES: which pieces of a text are rows of a table, under which names of columns."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.sentences import Span
from pipelines.text import plain

_RULE = re.compile(r"^[ \t]*\|?[ \t]*:?-[-:| \t]*$", re.MULTILINE)
_CELL = re.compile(r"([^:;\n]{1,80}):[ \t]")
_BETWEEN = "; "


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table.

    Attributes:
        table: Where the first row of its table begins.
        columns: The words of the row that names the columns; empty where none does.
        is_head: Whether it is that row itself.
    """

    table: int
    columns: str = ""
    is_head: bool = False


def rows_of(text: str, spans: Sequence[Span]) -> list[Row | None]:
    """For each piece, the row that it is; None where it is none.

    A row has cells between bars, or values after the names of their columns (`Name: Ada; Born: 1815`), as tables of
    files are written. Rows on lines that follow each other are one table; a line of dashes lies below its head.
    """
    found: list[Row | None] = []
    kind, done = frozenset[str](), 0
    for place, (start, end) in enumerate(spans):
        own, gap = _kind(text[start:end]), text[done:start]
        held = found[-1] if found else None
        if not own:
            found.append(None)
        elif text[start] == "|" and _is_rule(text, spans, place):
            found.append(Row(start, " ".join(plain(text[start:end]).split()), is_head=True))
        elif held and own & kind and ("\n\n" not in gap or _RULE.search(gap)):
            found.append(Row(held.table, held.columns))
        else:
            found.append(Row(start))
        kind, done = own, end
    return found


def _kind(piece: str) -> frozenset[str]:
    """A bar for cells between bars, the columns' names for named values, nothing for what is no row."""
    if piece.startswith("|") or " | " in piece:
        return frozenset("|")
    names = frozenset(cell[1].strip() for part in piece.split(_BETWEEN) if (cell := _CELL.match(part)))
    return names if len(names) > 1 else frozenset()


def _is_rule(text: str, spans: Sequence[Span], place: int) -> bool:
    """Whether a line of dashes lies between this piece and the next one, or the end."""
    after = spans[place + 1][0] if place + 1 < len(spans) else len(text)
    return bool(_RULE.search(text, spans[place][1] + 1, after))
