"""The rows of a table as sentences: each value with the name of its column."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pipelines.errors import LoadError
from pipelines.ingestion.loaders.rendering import Rendering

MAX_CELLS = 500_000

_MAX_PLACES = 20 * MAX_CELLS
_MAX_NAME = 80
_HEAD_SHARE = 0.6
_LOOKED_AT = 50
_YEAR = re.compile(r"(?:19|20)\d\d")
_STOPS = (".", "!", "?", "…", "。")
_UNNAMED_SHEET = re.compile(r"(?:sheet|table|tabelle|feuil|feuille|hoja|planilha|foglio|blad)[ _]?\d*", re.IGNORECASE)


class Value(NamedTuple):
    """What a cell shows, and whether that is words (not a number, a date, or true and false)."""

    text: str
    is_words: bool = True


NOTHING = Value("")
Row = Sequence[Value]


class Budget:
    """How many cells of a file may still be read.

    Raises:
        LoadError: When they are spent.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._cells = 0
        self._places = 0

    def spend(self, cells: int, places: int) -> None:
        """Count filled cells, and the places that they are spread over."""
        self._cells += cells
        self._places += places
        if self._cells > MAX_CELLS or self._places > _MAX_PLACES:
            said = f"more than {MAX_CELLS:,} cells" if self._cells > MAX_CELLS else "its cells spread too widely"
            raise LoadError(f"{self._name} is too large a table: {said}.", hint="Split it, or keep what matters of it.")


def is_unnamed(title: str) -> bool:
    """Whether a sheet has the name that every new sheet is given."""
    return bool(_UNNAMED_SHEET.fullmatch(title.strip()))


def add_rows(rendering: Rendering, rows: Iterable[Row], title: str = "", lines: Sequence[int] = ()) -> None:
    """Add a table: its title as a heading, what stands alone above a head as paragraphs, each row as a sentence.

    Blank rows part one table from the next; one that has no head of its own goes on with the last one's. With `lines`,
    which has every row's line of the file by the time that it was read, a row stands on it and keeps its line breaks.
    """
    names: list[str] = []
    for number, (first, stretch) in enumerate(_stretches(rows)):
        places = lines[first : first + len(stretch)] or [0] * len(stretch)
        if title and not number:
            rendering.add(title, "heading", 1)
        above = _captions(stretch)
        for row, line in zip(stretch[:above], places, strict=False):
            rendering.add(next(value.text for value in row if value.text), "paragraph", line=line)
        body = stretch[above:]
        found, heads = _head(body)
        names = found if heads or above else names
        for at, row in enumerate(body[heads:]):
            sentence = _sentence(names, row, "\n" if lines else " ")
            rendering.add(sentence, "table", close=bool(at), line=places[above + heads + at])


def _stretches(rows: Iterable[Row]) -> Iterator[tuple[int, list[Row]]]:
    """The rows between blank ones, with the number of the first of them, from 0."""
    stretch: list[Row] = []
    number = 0
    for number, row in enumerate(rows, start=1):
        if any(value.text for value in row):
            stretch.append(row)
        elif stretch:
            yield number - 1 - len(stretch), stretch
            stretch = []
    if stretch:
        yield number - len(stretch), stretch


def _captions(rows: Sequence[Row]) -> int:
    """How many rows stand above a table of several columns and hold one text each (as a merged cell does)."""
    counts = (len({value.text for value in row if value.text}) for row in rows)
    alone = next((number for number, count in enumerate(counts) if count > 1), 0)
    return alone if alone < len(rows) else 0


def _head(rows: Sequence[Row]) -> tuple[list[str], int]:
    """The names of the columns, and how many rows hold them; two rows where the upper one groups the lower."""
    if len(rows) < 2:
        return [], 0
    if _is_head(rows[0], rows[1:]):
        return [value.text for value in rows[0]], 1
    upper, lower = rows[0], rows[1]
    width = max(len(upper), len(lower))
    pairs = [(_at(upper, column), _at(lower, column)) for column in range(width)]
    both = [Value(" ".join(dict.fromkeys(filter(None, (a.text, b.text)))), a.is_words or b.is_words) for a, b in pairs]
    grouped = len({value.text for value in upper if value.text}) < sum(bool(value.text) for value in upper)
    if grouped and len(rows) > 2 and _is_head(both, rows[2:]):
        return [value.text for value in both], 2
    return [], 0


def _is_head(row: Row, below: Sequence[Row]) -> bool:
    """Whether a row names the columns: different short words over most of them, that none of them holds again."""
    filled = [(column, value) for column, value in enumerate(row) if value.text]
    columns = {column for other in below[:_LOOKED_AT] for column, value in enumerate(other) if value.text}
    texts = {value.text.casefold() for _, value in filled}
    named = all(
        (value.is_words or (number and _YEAR.fullmatch(value.text))) and len(value.text) <= _MAX_NAME
        for number, (_, value) in enumerate(filled)
    )
    again = any(_at(other, column).text == value.text for other in below[:_LOOKED_AT] for column, value in filled)
    enough = len(filled) >= max(2, _HEAD_SHARE * len(columns))
    return named and enough and len(texts) == len(filled) and not again


def _at(row: Row, column: int) -> Value:
    return row[column] if column < len(row) else NOTHING


def _sentence(names: Sequence[str], row: Row, break_: str) -> str:
    """The values with their columns' names; their own line breaks as `break_`."""
    said = []
    for column, value in enumerate(row):
        text = break_.join(" ".join(line.split()) for line in value.text.splitlines() if line.strip())
        name = " ".join(names[column].split()).rstrip(":") if column < len(names) else ""
        if text:
            said.append(f"{name}: {text}" if name else text)
    sentence = "; ".join(said)
    return sentence if sentence.endswith(_STOPS) else f"{sentence}."
