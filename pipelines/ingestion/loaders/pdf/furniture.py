"""Running headers, footers and page numbers, recognised by place and repetition."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from pipelines.ingestion.loaders.pdf.lines import PdfLine, usual_size
from pipelines.text import fold, is_page_number, pages_in

MIN_PAGES = 3

_OUTER_ROWS = 2
_SAME_ROW = 3.0
_BAND = 8.0
_GAP = 1.7
_WATERMARK = 2.0  # least size, as a multiple of the usual one
_NUMBER = re.compile(r"\d{1,6}")
Key = tuple[str, int]


def split_furniture(pages: Sequence[Sequence[PdfLine]]) -> tuple[list[list[PdfLine]], list[PdfLine]]:
    """(the lines of each page without furniture, the furniture in order).

    Furniture is in the two outermost rows of its page, set apart by a gap, and either states its page number, or
    repeats the same words at the same height on at least three pages (two if it is in small type or beside a page
    number). In the outermost row, in type no larger than the body's, numbers in it may count with the pages. A
    watermark (much larger than the body, and faint) is furniture wherever it stands. A page that would lose all its
    lines keeps them.
    """
    size = usual_size(list(chain.from_iterable(pages)))
    edges = [list(_edge(lines, size)) for lines in pages]
    places: dict[Key, set[int]] = {}
    for line, keys in chain.from_iterable(edges):
        for key in keys:
            places.setdefault(key, set()).add(line.page)
    kept: list[list[PdfLine]] = []
    furniture: list[PdfLine] = []
    for lines, edge in zip(pages, edges, strict=True):
        numbered = [line for line, _ in edge if _says_its_page(line, len(pages))]
        removed = [line for line, keys in edge if line in numbered or _repeats(line, keys, places, numbered, size)]
        removed += [line for line in lines if line.faint and line.size > _WATERMARK * size and line not in removed]
        removed = numbered if len(removed) == len(lines) else removed
        kept.append([line for line in lines if not any(line is other for other in removed)])
        furniture += removed
    return kept, furniture


def _repeats(
    line: PdfLine, keys: Sequence[Key], places: dict[Key, set[int]], numbered: Sequence[PdfLine], size: float
) -> bool:
    """True if the line is on enough pages: two if it is small or beside a page number, else three."""
    beside = any(abs(line.y - number.y) <= _SAME_ROW for number in numbered)
    least = 2 if beside or line.size < 0.95 * size else MIN_PAGES
    return any(len(places[key]) >= least for key in keys)


def _edge(lines: Sequence[PdfLine], size: float) -> Iterator[tuple[PdfLine, list[Key]]]:
    """The lines at the top and bottom that a gap sets apart, each with the keys that identify repeats."""
    rows: list[list[PdfLine]] = []
    for line in sorted(lines, key=lambda line: -line.y):
        if rows and rows[-1][0].y - line.y <= _SAME_ROW:
            rows[-1].append(line)
        else:
            rows.append([line])
    head = _apart(rows)
    foot = min(_apart(rows[::-1]), len(rows) - head)
    for number, row in enumerate(rows):
        if number < head or number >= len(rows) - foot:
            counts = number in (0, len(rows) - 1)
            for line in row:
                yield line, list(_keys(line, counts and line.size <= size))


def _apart(rows: Sequence[Sequence[PdfLine]]) -> int:
    """The number of the first two rows that come before a gap; a lone row counts."""
    for count in range(min(_OUTER_ROWS, len(rows) - 1), 0, -1):
        inner, outer = rows[count][0], rows[count - 1][0]
        if abs(outer.y - inner.y) > _GAP * max(outer.size, inner.size):
            return count
    return len(rows) if len(rows) == 1 else 0


def _keys(line: PdfLine, counts: bool) -> Iterator[Key]:
    """The wording, also with its first or last number relative to the page, in its height band and the next."""
    wording = fold(line.text)
    numbers = list(_NUMBER.finditer(wording)) if counts else []
    counted = {
        f"{wording[: found.start()]}\x00{int(found[0]) - line.page}\x00{wording[found.end() :]}"
        for found in [*numbers[:1], *numbers[-1:]]
    }
    band = int(line.y // _BAND)  # the next band too, so that band edges do not matter
    for words in {wording, *counted}:
        yield words, band
        yield words, band + 1


def _says_its_page(line: PdfLine, page_count: int) -> bool:
    return pages_in(line.text) == (line.page, page_count) or is_page_number(line.text)
