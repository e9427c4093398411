"""LinkedIn's "Save to PDF": recognised by its sizes of type and its two columns, and read column by column.

The export is typeset alike in every language. At full scale the right column has the name in 26 points, titles of
sections in 15.75, organisations, headline and place in 12, positions in 11.5 and all else in 10.5; the left one has
titles in 13 and all else in 10.5; page numbers have 9. Both columns continue independently from page to page.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pipelines.ingestion.loaders.pdf.blocks import LineGroup, first_word
from pipelines.ingestion.loaders.pdf.lines import PdfLine, group_rows, merge_lines
from pipelines.ingestion.loaders.pdf.rows import is_item
from pipelines.types import BlockKind

NAME, SECTION, ORGANISATION, POSITION = 1, 2, 3, 4  # levels of headings

_NAME, _SECTION, _SIDE_TITLE, _ORGANISATION, _POSITION, _BODY, _FOOTER = 26.0, 15.75, 13.0, 12.0, 11.5, 10.5, 9.0
_RIGHT_SIZES = (_NAME, _SECTION, _ORGANISATION, _POSITION, _BODY, _FOOTER)
_LEFT_SIZES = (_SIDE_TITLE, _ORGANISATION, _POSITION, 11.0, _BODY, 10.0, 9.5, _FOOTER)  # only titles matter there
_TOLERANCE = 0.3
_SCALES = (0.4, 1.6)
_ALIGNED = 2.0
_LEAST_SHARE, _LEAST_APART = 0.95, 0.9
_LEFT_WIDTH, _RIGHT_WIDTH, _NEAR = 178.0, 345.0, 0.9  # of the columns, in points; a line so near the edge shows it
_SAME_LEADING = 1.12
_TOP_SKILLS = 3
_UNBROKEN = ("(", "（", "·")  # years of study and the like, whose spaces do not break


@dataclass(frozen=True, slots=True)
class LinkedInExport:
    """The blocks of an export, the left column first, and its page numbers."""

    groups: list[LineGroup]
    furniture: list[PdfLine]


@dataclass(frozen=True, slots=True)
class _ScaledLine:
    """A line of one column with the size that it has in an export at full scale."""

    line: PdfLine
    size: float


@dataclass(frozen=True, slots=True)
class _Column:
    """The rows of a column on all pages, how far right they may reach, and their least distance in type sizes.

    `items` is True for lists of short items.
    """

    rows: list[_ScaledLine]
    edge: float
    leading: float
    items: bool


def read_linkedin_export(pages: Sequence[Sequence[PdfLine]]) -> LinkedInExport | None:
    """The blocks of a profile that LinkedIn typeset; None for other documents."""
    lines = [line for page in pages for line in page]
    name = max(lines, key=lambda line: line.drawn, default=None)
    if name is None or any(line.turn for line in lines):
        return None
    scale = name.drawn / _NAME
    if not _SCALES[0] <= scale <= _SCALES[1]:
        return None
    edge = name.x0 - _ALIGNED * scale
    footers = [footer for page in pages for footer in _footers(page, scale)]
    kept = [[line for line in page if line not in footers] for page in pages]
    left = _rows((line for line in page if line.x0 < edge) for page in kept)
    right = _rows((line for line in page if line.x0 >= edge) for page in kept)
    sides = _sized(left, _LEFT_SIZES, scale), _sized(right, _RIGHT_SIZES, scale)
    if not _is_export(*sides, name, scale):
        return None
    side = _column(sides[0], _LEFT_WIDTH * scale, items=True)
    main = _column(sides[1], _RIGHT_WIDTH * scale, items=False)
    return LinkedInExport([*_side_groups(side), *_main_groups(main)], footers)


def _footers(page: Sequence[PdfLine], scale: float) -> Iterator[PdfLine]:
    """The line below all others that is in the size of page numbers and has the number of its page."""
    lowest = min(page, key=lambda line: line.y, default=None)
    if lowest and abs(lowest.drawn / scale - _FOOTER) <= _TOLERANCE and str(lowest.page) in lowest.text:
        yield lowest


def _rows(pages: Iterable[Iterable[PdfLine]]) -> list[PdfLine]:
    """The lines from the top of each page; pieces of one row are one line."""
    found: list[PdfLine] = []
    for page in pages:
        for row in group_rows(page):
            line = row[0]
            for piece in row[1:]:
                line = merge_lines(line, piece)
            found.append(line)
    return found


def _sized(lines: Sequence[PdfLine], sizes: Sequence[float], scale: float) -> list[_ScaledLine]:
    """The rows with the nearest of the sizes; 0 where none is near."""
    found = []
    for line in lines:
        nearest = min(sizes, key=lambda size: abs(line.drawn / scale - size))
        found.append(_ScaledLine(line, nearest if abs(line.drawn / scale - nearest) <= _TOLERANCE else 0.0))
    return found


def _is_export(left: Sequence[_ScaledLine], right: Sequence[_ScaledLine], name: PdfLine, scale: float) -> bool:
    """True if the two columns have the sizes of an export, at the places where it has them."""
    rows = [*left, *right]
    if (
        name.page != 1
        or not left
        or right[0].size != _NAME
        or sum(row.size > 0 for row in rows) < _LEAST_SHARE * len(rows)
    ):
        return False
    titled = {row.size for row in right if abs(row.line.x0 - name.x0) <= _ALIGNED * scale}
    beside = any(row.size == _SIDE_TITLE and row.line.page == 1 for row in left)
    apart = sum(row.line.x1 < name.x0 for row in left) >= _LEAST_APART * len(left)  # an address may be too long
    return beside and apart and {_NAME, _SECTION, _ORGANISATION} <= titled


def _column(rows: list[_ScaledLine], width: float, *, items: bool) -> _Column:
    begin = min(row.line.x0 for row in rows)
    reach = max(row.line.x1 for row in rows)
    steps = [_step(above, below) for above, below in pairwise(rows) if above.size == below.size]
    edge = reach if reach - begin > _NEAR * width else begin + width
    return _Column(rows, edge, min((step for step in steps if step > 1.0), default=1.3), items)


def _step(above: _ScaledLine, below: _ScaledLine) -> float:
    """The distance of two rows in type sizes; 0 on different pages."""
    if above.line.page != below.line.page:
        return 0.0
    return (above.line.y - below.line.y) / max(below.line.drawn, 1.0)


def _side_groups(column: _Column) -> Iterator[LineGroup]:
    """Titles as headings, every item below as a paragraph."""
    for number, (titles, rows) in enumerate(_titled(column.rows)):
        if titles:
            yield _group(titles, "heading", SECTION)
        for part in [[row] for row in rows] if number == 1 and _are_skills(rows) else _wrapped(column, rows):
            yield _group(part, "paragraph")


def _titled(rows: Sequence[_ScaledLine]) -> Iterator[tuple[list[_ScaledLine], list[_ScaledLine]]]:
    """(the lines of a title, the rows below it) of each list."""
    titles: list[_ScaledLine] = []
    below: list[_ScaledLine] = []
    for row in rows:
        if row.size == _SIDE_TITLE and below:
            yield titles, below
            titles, below = [], []
        (titles if row.size == _SIDE_TITLE else below).append(row)
    yield titles, below


def _are_skills(rows: Sequence[_ScaledLine]) -> bool:
    """True for three lines, none of which shows that it goes on: LinkedIn names three skills below the contact."""
    texts = [row.line.text for row in rows]
    return len(texts) == _TOP_SKILLS and not any("(" in text or text[0].islower() for text in texts)


def _main_groups(column: _Column) -> Iterator[LineGroup]:
    """The name, headline and place, then each section."""
    sections: list[list[_ScaledLine]] = [[]]
    for row in column.rows:
        if row.size == _SECTION:
            sections.append([])
        sections[-1].append(row)
    yield from _person(sections[0])
    for number, (title, *rows) in enumerate(sections[1:]):
        yield _group([title], "heading", SECTION)
        sizes = {row.size for row in rows}
        named = _ORGANISATION in sizes and (number > 0 or len(sizes) > 1)  # a summary may be in that size throughout
        yield from _entries(column, rows) if named else _prose(column, rows)


def _person(rows: Sequence[_ScaledLine]) -> Iterator[LineGroup]:
    """The name, the headline, and the place, which is the last line."""
    name = [row for row in rows if row.size == _NAME]
    about = [row for row in rows if row.size != _NAME]
    yield _group(name, "heading", NAME)
    for part in (about[:-1], about[-1:]) if len(about) > 1 else (about,):
        if part:
            yield _group(part, "paragraph")


def _entries(column: _Column, rows: Sequence[_ScaledLine]) -> Iterator[LineGroup]:
    """Organisations and positions as headings; below them the total duration, dates, place, degree, and the text."""
    runs: list[list[_ScaledLine]] = []
    for row in rows:
        if not runs or runs[-1][0].size != row.size:
            runs.append([])
        runs[-1].append(row)
    below = 0.0
    for run in runs:
        size = run[0].size
        if size == _POSITION:
            yield _group(run, "heading", POSITION)
        elif size == _ORGANISATION:
            for names in _wrapped(column, run):
                yield _group(names, "heading", ORGANISATION)
        elif below == _POSITION:  # the dates are a line of their own
            yield _group(run[:1], "paragraph")
            yield from _prose(column, run[1:])
        else:
            yield from _prose(column, run)
        below = size


def _prose(column: _Column, rows: Sequence[_ScaledLine]) -> Iterator[LineGroup]:
    for part in _wrapped(column, rows):
        yield _group(part, "list" if is_item(part[0].line.text) else "paragraph")


def _wrapped(column: _Column, rows: Sequence[_ScaledLine]) -> Iterator[list[_ScaledLine]]:
    """The rows of each paragraph: one goes on where its line is full, at the usual distance, in the same size."""
    part: list[_ScaledLine] = []
    for row in rows:
        if part and not _goes_on(part, row, column):
            yield part
            part = []
        part.append(row)
    if part:
        yield part


def _goes_on(part: Sequence[_ScaledLine], row: _ScaledLine, column: _Column) -> bool:
    last, line = part[-1].line, row.line
    if part[-1].size != row.size or is_item(line.text) or _step(part[-1], row) > _SAME_LEADING * column.leading:
        return False
    if column.items and last.text.endswith((")", "）")):  # a language with its level
        return False
    if line.text.startswith(_UNBROKEN):
        return True
    return last.x1 + first_word(line) > column.edge


def _group(rows: Sequence[_ScaledLine], kind: BlockKind, level: int = 0) -> LineGroup:
    return LineGroup(kind, [row.line for row in rows], level)
