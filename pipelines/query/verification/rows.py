"""The rows of tables and the labelled items of lists; claims that give one of them the values of another."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pipelines.query.verification.normalise import normalise, numbers_in
from pipelines.store.tokens import tokenise

_ROW = re.compile(r"^[ \t]*\|(.+?)\|?[ \t]*$")
_ITEM = re.compile(
    r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])?[ \t]*(?:\*\*|__)?([^:|\n]{2,60}?)(?:\*\*|__)?:(?:\*\*|__)?[ \t]+(\S.*)$"
)
_RULE = re.compile(r"[ \t|:-]+")


@dataclass(frozen=True, slots=True)
class LabelledRow:
    """The terms of a row's first cell or label, and the terms and numbers of the rest."""

    key: frozenset[str]
    terms: frozenset[str]
    numbers: frozenset[str]


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A value on the line `text[start:end]`, and what names it: its label, or its row and its column.

    In a table of two columns the row alone is the name.
    """

    names: tuple[str, ...]
    value: str
    start: int
    end: int


def named_values(text: str) -> Iterator[NamedValue]:
    """The values of labelled lines, and of the rows of tables whose columns have names."""
    columns: Sequence[str] = ()
    above: Sequence[str] = ()
    start = 0
    for line in text.splitlines(keepends=True):
        shown, cells = line.strip(), _cells(line.rstrip()) or []
        first = start + line.index(shown)
        span = first, first + len(shown)
        if not shown.startswith("|"):
            columns = ()
            if cells:
                yield NamedValue((cells[0],), cells[1], *span)
        elif _RULE.fullmatch(shown):
            columns = above
        else:
            named = zip(columns[1:], cells[1:], strict=False)
            yield from (NamedValue((cells[0], column)[: len(columns) - 1], value, *span) for column, value in named)
        above = cells
        start += len(line)


def is_of_other_row(claim: str, snippets: Sequence[str]) -> bool:
    """True if a claim names a row, and takes a value from another row that it does not name.

    A row is named if the claim holds every term of its first cell or label that is not in all labels of its table. The
    value is a number, or half of the terms that only one row of the table has.
    """
    said = normalise(claim)
    terms, numbers = frozenset(tokenise(said)), frozenset(numbers_in(claim)) & frozenset(numbers_in(said))
    return any(_takes_from_other(terms, numbers, table) for snippet in snippets for table in tables_in(snippet))


def _takes_from_other(terms: frozenset[str], numbers: frozenset[str], table: Sequence[LabelledRow]) -> bool:
    named = [row for row in table if row.key and row.key <= terms]
    others = [row for row in table if row not in named]
    if not named or not others:
        return False
    own_numbers = frozenset[str]().union(*(row.numbers for row in named))
    if (numbers - own_numbers) & frozenset[str]().union(*(row.numbers for row in others)):
        return True
    own_terms = frozenset[str]().union(*(row.key | row.terms for row in named), *(row.key for row in table))
    values = [row.terms - own_terms for row in others]
    return any(value and 2 * len(value & terms) > len(value) for value in values)


@lru_cache(maxsize=256)
def tables_in(snippet: str) -> tuple[tuple[LabelledRow, ...], ...]:
    """The tables, and the runs of labelled items, of a text; of at least two rows each."""
    found: list[list[LabelledRow]] = [[]]
    before = ""
    for line in snippet.splitlines():
        cells = _cells(line)
        kind = "" if cells is None else "row" if line.lstrip().startswith("|") else "item"
        if kind != before and (kind or line.strip()):
            found.append([])
            before = kind
        if cells and _RULE.fullmatch(line):
            found[-1].clear()  # the names of the columns
        elif cells:
            values = normalise(" ".join(cells[1:]))
            found[-1].append(
                LabelledRow(
                    frozenset(tokenise(normalise(cells[0]))), frozenset(tokenise(values)), frozenset(numbers_in(values))
                )
            )
    return tuple(_distinct(rows) for rows in found if len(rows) > 1)


def _cells(line: str) -> list[str] | None:
    if row := _ROW.match(line):
        return [cell.strip() for cell in row[1].split("|")]
    item = _ITEM.match(line)
    return [item[1].strip("*_"), item[2]] if item and not item[1][0].isdigit() else None


def _distinct(rows: Sequence[LabelledRow]) -> tuple[LabelledRow, ...]:
    """The rows, their keys without the terms that every key has."""
    common = frozenset.intersection(*(row.key for row in rows))
    return tuple(LabelledRow(row.key - common, row.terms, row.numbers) for row in rows)
