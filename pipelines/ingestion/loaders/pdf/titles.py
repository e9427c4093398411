"""Section titles in a column of their own at the left of a page, each beside the top of its section."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pipelines.ingestion.loaders.pdf.lines import HEADING_SIZE, PdfLine, same_row, usual_size
from pipelines.ingestion.loaders.rendering import DATED

_LEAST_TITLES = 3
_MOST_WORDS = 4
_GAP = 0.5
_ALIGNED = 3.0
_ABOVE = 0.3


@dataclass(frozen=True, slots=True)
class Band:
    """A stretch of a page: a section title at its left, or none, and its lines."""

    title: tuple[PdfLine, ...]
    lines: list[PdfLine]


def bands_of(pages: Sequence[Sequence[PdfLine]]) -> list[list[Band]]:
    """The bands of each page from the top; one band without a title where titles are not in a column of their own."""
    size = usual_size([line for lines in pages for line in lines])
    found = [[line for line in lines if _is_title(line, lines, size)] for lines in pages]
    edges = Counter(round(title.x0) for titles in found for title in titles)
    edge, _ = max(edges.items(), key=lambda item: item[1], default=(0, 0))
    kept = [[title for title in titles if abs(title.x0 - edge) < _ALIGNED] for titles in found]
    if sum(map(len, kept)) < _LEAST_TITLES:
        return [[Band((), list(lines))] for lines in pages]
    return [list(_page_bands(lines, titles)) for lines, titles in zip(pages, kept, strict=True)]


def _is_title(line: PdfLine, lines: Sequence[PdfLine], size: float) -> bool:
    """True if the line is short, in larger type, without a date, and has smaller text at some distance on its right."""
    if line.size < HEADING_SIZE * size or len(line.text.split()) > _MOST_WORDS or DATED.search(line.text):
        return False
    beside = [other for other in lines if other is not line and _is_beside(line, other)]
    return bool(beside) and all(other.x0 > line.x1 + _GAP * line.size and other.size < line.size for other in beside)


def _is_beside(title: PdfLine, other: PdfLine) -> bool:
    """True if both begin at about the same height, by baseline or by top."""
    return same_row(title, other) or (title.turn == other.turn and abs(title.top - other.top) < _ABOVE * title.size)


def _page_bands(lines: Sequence[PdfLine], titles: Sequence[PdfLine]) -> Iterator[Band]:
    """The bands of a page; a single one if anything but titles stands in their column."""
    titles = sorted(titles, key=lambda title: -title.y)
    body = min(
        (line.x0 for line in lines for title in titles if line is not title and _is_beside(title, line)), default=0.0
    )
    first = titles[0].top if titles else 0.0
    inside = [line for line in lines if line.top <= first + _ABOVE * line.size and line not in titles]
    left = [line for line in inside if line.x0 < body - _ALIGNED]
    wrapped = [[line for line in left if _goes_on(title, line)] for title in titles]
    if not titles or len(left) > sum(map(len, wrapped)):
        yield Band((), list(lines))
        return
    above = [line for line in lines if line not in titles and line not in inside]
    if above:
        yield Band((), above)
    tops = [*(title.top + _ABOVE * title.size for title in titles), -1.0]
    for number, (title, more) in enumerate(zip(titles, wrapped, strict=True)):
        held = [line for line in inside if tops[number] >= line.top > tops[number + 1] and line not in left]
        yield Band(tuple(replace(line, apart=True) for line in (title, *more)), held)


def _goes_on(title: PdfLine, line: PdfLine) -> bool:
    """True if the line is the second one of a wrapped title."""
    return line.size == title.size and abs(line.x0 - title.x0) < _ALIGNED and 0 < title.y - line.y < 1.5 * title.size
