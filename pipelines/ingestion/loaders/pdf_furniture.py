"""Running headers, footers and page numbers: told by where they stand and that they come again."""

import re
from collections.abc import Iterator, Sequence

from pipelines.ingestion.loaders.pdf_lines import Line
from pipelines.text import fold

MIN_PAGES = 3

_OUTER_ROWS = 2
_SAME_ROW = 3.0
_BAND = 8.0
_DIGITS = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(
    r"(?:page|seite|página|pagina|p\.?)\s*\d+(?:\s*(?:of|/|von|sur|de|di)\s*\d+)?|\d+\s*/\s*\d+|[-–—]\s*\d+\s*[-–—]",
    re.IGNORECASE,
)


def split_furniture(pages: Sequence[Sequence[Line]]) -> tuple[list[list[Line]], list[Line]]:
    """(the lines of each page without furniture, the furniture in order).

    Furniture stands in the two outermost rows of its page, and either says which page it is or comes again at the
    same height on at least three pages, numbers apart. A page that would lose all its lines keeps them.
    """
    places: dict[tuple[str, int], set[int]] = {}
    outer = [[line for row in _outer_rows(lines) for line in row] for lines in pages]
    for edge in outer:
        for line in edge:
            for key in _keys(line):
                places.setdefault(key, set()).add(line.page)
    kept: list[list[Line]] = []
    lifted: list[Line] = []
    for lines, edge in zip(pages, outer, strict=True):
        gone = [line for line in edge if _repeats(line, places) or _PAGE_NUMBER.fullmatch(line.text)]
        if len(gone) == len(lines):
            gone = [line for line in gone if _PAGE_NUMBER.fullmatch(line.text)]
        kept.append([line for line in lines if not any(line is other for other in gone)])
        lifted += gone
    return kept, lifted


def _outer_rows(lines: Sequence[Line]) -> list[list[Line]]:
    """The two highest and the two lowest rows."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: -line.y):
        if rows and rows[-1][0].y - line.y <= _SAME_ROW:
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows if len(rows) <= 2 * _OUTER_ROWS else [*rows[:_OUTER_ROWS], *rows[-_OUTER_ROWS:]]


def _keys(line: Line) -> Iterator[tuple[str, int]]:
    """The wording without its numbers, in its band of the page and the next, so that no edge of a band matters."""
    wording = _DIGITS.sub("#", fold(line.text))
    band = int(line.y // _BAND)
    yield wording, band
    yield wording, band + 1


def _repeats(line: Line, places: dict[tuple[str, int], set[int]]) -> bool:
    return any(len(places[key]) >= MIN_PAGES for key in _keys(line))
