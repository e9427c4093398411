"""Reading order of a PDF page's lines: column by column, side notes with the text they belong to.

A column of side notes (dates, labels, places) is read row by row with the text beside it. True columns and sidebars are
read one after the other, each whole, between the lines that span both.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from pipelines.ingestion.loaders.pdf.lines import HEADING_SIZE, PdfLine, group_rows, same_row, usual_size
from pipelines.ingestion.loaders.pdf.rows import body_edge, read_rows
from pipelines.ingestion.loaders.pdf.titles import Band, bands_of, titles_in_row
from pipelines.ingestion.loaders.rendering import DATED
from pipelines.text import has_words

_MEAN_NOTE_WORDS = 4.5
_LEAST_LABELS = 3
_PROSE_WORDS = 5.0
_LEAST_ROWS = 3
_LEAST_LINES = 12
_LEAST_SHARE = 0.35
_GUTTER = 0.5
_OVERHANG = 0.15
_MAX_DEPTH = 4
_MOST_LINES = 1_500  # on a page of text; drawings have more
_MOST_STARTS = 60
_LEAST_WIDTH = 3.0
_LEAST_HEADINGS = 2
_LEAST_BESIDE = 0.3  # of the rows of a column have text beside them
_MAX_HEADING_WORDS = 5


@dataclass(frozen=True, slots=True)
class Gutter:
    """A cut of a page into lines above, a left and a right column, and lines below; the right one begins at `x`."""

    x: float
    above: list[PdfLine]
    left: list[PdfLine]
    right: list[PdfLine]
    below: list[PdfLine]

    @property
    def size(self) -> int:
        """Number of lines in the columns."""
        return len(self.left) + len(self.right)


def read_pages(pages: Sequence[Sequence[PdfLine]]) -> list[PdfLine]:
    """The lines of all pages in reading order; rotated text comes after the rest of its page."""
    turns = [_group_by_turn(lines) for lines in pages]
    bands = bands_of([page[0] if page else [] for page in turns])
    known = tuple(x for page in bands for band in page for x in _certain_gutters(band.lines))
    whole = [[*page, *(Band((), turned) for turned in turn[1:])] for page, turn in zip(bands, turns, strict=True)]
    columns = [[column for band in page for column in _band_columns(band, known)] for page in whole]
    edges = [edge for page in columns for lines in page if (edge := body_edge(group_rows(lines))) is not None]
    return [line for page in columns for number, lines in enumerate(page) for line in read_rows(lines, number, edges)]


def _band_columns(band: Band, known: Sequence[float]) -> list[list[PdfLine]]:
    """The title of a band, if it has one, and its columns."""
    return [list(band.title)] * bool(band.title) + _split_columns(band.lines, known)


def _group_by_turn(lines: Sequence[PdfLine]) -> list[list[PdfLine]]:
    """The lines by rotation, the most frequent first."""
    turns: dict[int, list[PdfLine]] = {}
    for line in lines:
        turns.setdefault(line.turn, []).append(line)
    return sorted(turns.values(), key=lambda lines: -sum(len(line.text) for line in lines))


def _certain_gutters(lines: Sequence[PdfLine]) -> list[float]:
    """The x position of a column that covers most of the page's lines; empty if there is none."""
    cut = _best_cut(lines, (), len(lines))
    return [cut.x] if cut and cut.size > 0.5 * len(lines) else []


def _split_columns(
    lines: Sequence[PdfLine], known: Sequence[float] = (), total: int = 0, depth: int = 0
) -> list[list[PdfLine]]:
    """The columns of a page in reading order; lines that span several are columns of their own.

    `known` says where columns begin on the document's other pages: on this one they may be short. Columns have a good
    share of the `total` lines of the page, or many; `depth` is how often it has been cut already.
    """
    total = total or len(lines)
    cut = (_best_cut(lines, known, total) or _cut_below_titles(lines)) if depth < _MAX_DEPTH else None
    if cut is None:
        return [list(lines)] if lines else []
    parts = (cut.above, cut.left, cut.right, cut.below)
    return [column for part in parts for column in _split_columns(part, known, total, depth + 1)]


def _best_cut(lines: Sequence[PdfLine], known: Sequence[float], total: int) -> Gutter | None:
    """The cut into true columns that covers most lines and that the drawing order crosses least."""
    rows = group_rows(lines)
    cuts = [cut for x in _starts(lines) if (cut := _cut(rows, x, known)) and _are_columns(cut, known)]
    cuts = [cut for cut in cuts if cut.size >= min(_LEAST_LINES, _LEAST_SHARE * total) or _is_known(cut.x, known)]
    if not cuts:
        return None
    most = max(cut.size for cut in cuts)
    good = [cut for cut in cuts if cut.size >= 0.85 * most]
    return min(
        good,
        key=lambda cut: (
            _crossings(cut.left, cut.right),
            -cut.size,
            _aligned_share(group_rows(cut.right), group_rows(cut.left)),
        ),
    )


def _cut_below_titles(lines: Sequence[PdfLine]) -> Gutter | None:
    """The cut into blocks that stand side by side below titles of sections in one row."""
    found = titles_in_row(lines)
    if found is None:
        return None
    x, above, inside = found
    taken = {id(line) for line in (*above, *inside)}
    left = [line for line in inside if line.x0 < x - 2]
    right = [line for line in inside if line.x0 >= x - 2]
    return Gutter(x, above, left, right, [line for line in lines if id(line) not in taken])


def _starts(lines: Sequence[PdfLine]) -> list[float]:
    """The possible left edges of a right column: the most frequent left edges except the first."""
    if len(lines) > _MOST_LINES:
        return []
    counts = Counter(round(line.x0) for line in lines)
    edges = sorted(edge for edge, _ in counts.most_common(_MOST_STARTS))
    return [float(edge) for before, edge in pairwise(edges) if edge - before > 1]


def _cut(rows: Sequence[Sequence[PdfLine]], x: float, known: Sequence[float]) -> Gutter | None:
    """The longest run of rows that nothing crosses at `x`; None if one side of it is too short."""
    least = 1 if _is_known(x, known) else _LEAST_ROWS
    reach = x + _OVERHANG * (max(line.x1 for row in rows for line in row) - x)
    best: Gutter | None = None
    bands: list[list[Sequence[PdfLine]]] = [[]]
    for row in rows:
        if any(_stands_across(line, x, reach, row) for line in row):
            bands.append([])
        else:
            bands[-1].append(row)
    for band in bands:
        inside = [line for row in band for line in row]
        if len(inside) < 2 * least or (best is not None and len(inside) <= best.size):
            continue
        left = [line for line in inside if line.x0 < x - 2]
        right = [line for line in inside if line.x0 >= x - 2]
        if min(len(left), len(right)) < least or min(_width(left), _width(right)) < _LEAST_WIDTH:
            continue
        if min(len(group_rows(left)), len(group_rows(right))) < least or not _side_by_side(left, right):
            continue
        top = max(line.y for line in inside)
        within = {id(line) for line in inside}
        rest = [line for row in rows for line in row if id(line) not in within]
        above = [line for line in rest if line.y >= top]
        best = Gutter(x, above, left, right, [line for line in rest if line.y < top])
    return best


def _stands_across(line: PdfLine, x: float, reach: float, row: Sequence[PdfLine]) -> bool:
    """True if the line crosses `x`."""
    if line.x0 >= x - 2 or line.x1 <= x - _GUTTER * line.size:
        return False
    alone = all(other is line or other.x0 < x - 2 for other in row)
    return not (alone and line.x1 <= min(reach, x + 0.35 * (x - line.x0)))


def _width(side: Sequence[PdfLine]) -> float:
    """The width of a side in multiples of its type size."""
    return (max(line.x1 for line in side) - min(line.x0 for line in side)) / max(usual_size(side), 1.0)


def _side_by_side(left: Sequence[PdfLine], right: Sequence[PdfLine]) -> bool:
    """True if the shorter column is beside the longer one, not above or below it."""
    top = min(max(line.top or line.y for line in side) for side in (left, right))
    foot = max(min(line.y for line in side) for side in (left, right))
    height = min(max(line.top or line.y for line in side) - min(line.y for line in side) for side in (left, right))
    return top - foot > 0.5 * height


def _is_known(x: float, known: Sequence[float]) -> bool:
    """True if a column of another page begins there."""
    return any(abs(x - other) < 6 for other in known)


def _are_columns(cut: Gutter, known: Sequence[float]) -> bool:
    """True if the two sides are read one after the other, and not row by row."""
    left, right = group_rows(cut.left), group_rows(cut.right)
    size = HEADING_SIZE * usual_size([*cut.left, *cut.right])
    few, many = sorted((left, right), key=len)
    on_the_right = few is right
    beside = _rows_with_text_beside(few, many)
    is_beside = len(beside) >= _LEAST_BESIDE * len(few) or _is_known(cut.x, known)
    if not is_beside or (_headings(left, size) and _headings(right, size) >= _LEAST_HEADINGS):
        return is_beside
    few = beside or few
    if not few or _are_dates_beside(cut) or _are_side_notes(few, many, on_the_right):
        return False
    level = _aligned_share(few, many)
    if level == 1 and len(few) == len(many) and max(_mean_words(few), _mean_words(many)) < _PROSE_WORDS:
        return False
    changes = _crossings(cut.left, cut.right)
    if changes <= max(2, 0.15 * len(few)) or _is_known(cut.x, known):
        return True
    if level < 0.7 or sum(map(_is_heading_like, few)) >= 2:
        return True
    return min(_mean_words(few), _mean_words(many)) >= _PROSE_WORDS and len(few) > 0.5 * len(many)


def _are_dates_beside(cut: Gutter) -> bool:
    """True if most of what stands first right of the cut, on rows with text left of it, are dates of that text.

    Dates with text on their right are of that.
    """
    rows = group_rows([*cut.left, *cut.right])
    first = [[line for line in row if line.x0 >= cut.x - 2] for row in rows if row[0].x0 < cut.x - 2 <= row[-1].x0]
    return 2 * sum(len(beside) == 1 and bool(DATED.search(beside[0].text)) for beside in first) > len(first) > 0


def _are_side_notes(few: Sequence[Sequence[PdfLine]], many: Sequence[Sequence[PdfLine]], on_the_right: bool) -> bool:
    """True if the side with fewer rows annotates the other side's rows."""
    usual = usual_size([row[0] for row in few])
    opening = [row for row in few if _opens_cell(row[0], few)]
    opening = [row for row in opening if row[0].size < HEADING_SIZE * usual] or opening  # headings are not notes
    cells = [row[0] for row in opening]
    beside = fmean(any(same_row(cell, line) for row in many for line in row) for cell in cells)
    if beside < 0.8 or _mean_words(few) > _MEAN_NOTE_WORDS:
        return False
    dated = sum(bool(DATED.search(row[0].text)) for row in few) / len(cells)
    level = _aligned_share(opening, many)
    labels = level == 1 and _LEAST_LABELS <= len(cells) == len(few) <= 0.6 * len(many)
    if labels or (dated >= 0.35 and level >= 0.8):
        return True
    ends = [row[-1].x1 for row in few]
    begins = [row[0].x0 for row in few]
    ragged = max(begins) - min(begins) > 12 and max(ends) - min(ends) < 4
    if on_the_right and ragged:
        return True
    lines = [line for row in many for line in row]
    size = usual_size(lines)
    changes = _crossings([line for row in few for line in row], lines)
    return len(few) <= 0.6 * len(many) and changes > len(cells) and not any(row[0].size > 1.5 * size for row in few)


def _rows_with_text_beside(few: list[list[PdfLine]], many: list[list[PdfLine]]) -> list[list[PdfLine]]:
    """The rows that have text beside them: a heading may be alone where the other side pauses."""
    heights = sorted(row[0].y for row in many)
    kept = []
    for row in few:
        place = bisect_left(heights, row[0].y)
        nearest = min(abs(y - row[0].y) for y in heights[max(place - 1, 0) : place + 1])
        if nearest < 0.9 * row[0].size:
            kept.append(row)
    return kept


def _opens_cell(line: PdfLine, rows: Sequence[Sequence[PdfLine]]) -> bool:
    """True if no line of the same column and size is closely above."""
    return not any(0.3 * line.size < row[0].y - line.y < 1.7 * line.size for row in rows if row[0].size == line.size)


def _aligned_share(few: Sequence[Sequence[PdfLine]], many: Sequence[Sequence[PdfLine]]) -> float:
    """The share of rows that are level with a row of the other side."""
    if not few:
        return 0.0
    return fmean(
        any(abs(row[0].y - other[0].y) <= max(0.15 * max(row[0].size, other[0].size), 1.0) for other in many)
        for row in few
    )


def _mean_words(rows: Sequence[Sequence[PdfLine]]) -> float:
    return fmean(sum(sum(map(has_words, line.text.split())) for line in row) for row in rows) if rows else 0.0


def _is_heading_like(row: Sequence[PdfLine]) -> bool:
    text = row[0].text
    return text.isupper() and sum(map(str.isalpha, text)) > 4 and not DATED.search(text)


def _headings(rows: Sequence[Sequence[PdfLine]], size: float) -> int:
    """The number of short rows in type of at least this size, without a date, at the left edge of the rows."""
    edge = min(row[0].x0 for row in rows)
    return sum(
        row[0].size >= size
        and row[0].x0 - edge < row[0].size
        and len(row[0].text.split()) <= _MAX_HEADING_WORDS
        and not DATED.search(row[0].text)
        for row in rows
    )


def _crossings(left: Iterable[PdfLine], right: Iterable[PdfLine]) -> int:
    """The number of times that the drawing order switches between the sides."""
    sides = sorted([(line.order, 0) for line in left] + [(line.order, 1) for line in right])
    return sum(one[1] != other[1] for one, other in pairwise(sides))
