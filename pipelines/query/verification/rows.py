"""The rows of tables and the labelled items of lists; claims that give one of them the values of another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import itemgetter

from pipelines.markup import CELL
from pipelines.query.verification.normalise import normalise, numbers_in
from pipelines.store.tokens import tokenise
from pipelines.structure import Element, Structure


@dataclass(frozen=True, slots=True)
class LabelledRow:
    """The terms of a row's first cell or label, and the terms and numbers of the rest."""

    key: frozenset[str]
    terms: frozenset[str]
    numbers: frozenset[str]


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A value on the line `text[start:end]`, and what names it: its label, or its row and, of several columns, its
    column.
    """

    names: tuple[str, ...]
    value: str
    start: int
    end: int


def named_values(structure: Structure) -> Iterator[NamedValue]:
    """The values of labelled lines, and of the rows of tables whose columns have names."""
    for _, element, columns, cells in _rows(structure):
        span = element.start, element.end
        if element.kind != "row":
            yield NamedValue((cells[0],), cells[1], *span)
        else:
            named = zip(columns[1:], cells[1:], strict=False)
            yield from (NamedValue((cells[0], column)[: len(columns) - 1], value, *span) for column, value in named)


def _rows(structure: Structure) -> Iterator[tuple[tuple[str, int], Element, Sequence[str], Sequence[str]]]:
    """(table or run of labels, element, names of its columns, cells) of each row, labelled line and labelled item."""
    columns: dict[int, Sequence[str]] = {}
    run = done = 0
    for element in structure.elements:
        if element.kind == "head":
            columns[element.of] = element.name.split(CELL)
        elif element.kind == "row" and element.end > 0:
            cells = structure.words(element.start, element.end).split(CELL)
            yield ("row", element.of), element, columns.get(element.of, ()), cells
        elif element.kind in ("label", "item") and element.name and not element.name[0].isdigit() and element.end > 0:
            run = run if structure.text[done : element.start].strip(" \n") == "" else element.start
            value = structure.words(element.body, element.end)
            value = value[len(element.name) :].lstrip(" :") if element.kind == "item" else value
            yield ("label", run), element, (), (element.name, value)
        done = max(element.end, 0)


def is_of_other_row(claim: str, structures: Sequence[Structure]) -> bool:
    """True if a claim names a row, and takes a value from another row that it does not name.

    A row is named if the claim holds every term of its first cell or label that is not in all labels of its table. The
    value is a number, or half of the terms that only one row of the table has.
    """
    said = normalise(claim)
    terms, numbers = frozenset(tokenise(said)), frozenset(numbers_in(claim)) & frozenset(numbers_in(said))
    return any(_takes_from_other(terms, numbers, table) for each in structures for table in tables_in(each))


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


def tables_in(structure: Structure) -> Iterator[tuple[LabelledRow, ...]]:
    """The tables, and the runs of labelled lines and items, of a text: two rows or more, without what every key has."""
    for _, group in groupby(_rows(structure), key=itemgetter(0)):
        rows = [
            LabelledRow(_terms_and_numbers(cells[0])[0], *_terms_and_numbers(" ".join(cells[1:])))
            for *_, cells in group
        ]
        if len(rows) > 1:
            common = frozenset.intersection(*(row.key for row in rows))
            yield tuple(LabelledRow(row.key - common, row.terms, row.numbers) for row in rows)


@lru_cache(maxsize=4_096)
def _terms_and_numbers(words: str) -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(tokenise(normalise(words))), frozenset(numbers_in(normalise(words)))
