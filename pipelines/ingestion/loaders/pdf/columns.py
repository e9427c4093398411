"""The lines of a PDF page in the order in which they are read: column by column, but hints with what they stand beside.

A column of hints (dates, labels, places) goes row by row with the text that it belongs to. True columns and sidebars
are read one after the other, each whole, between the lines that reach over both.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from pipelines.ingestion.loaders.pdf.gutters import Gutter, aligned, are_columns, crossings, is_known
from pipelines.ingestion.loaders.pdf.lines import Line, rows_of, usual_size
from pipelines.ingestion.loaders.pdf.rows import body_edge, read_rows

_LEAST_ROWS = 3
_LEAST_LINES = 12
_LEAST_SHARE = 0.35
_GUTTER = 0.5
_POKES_OVER = 0.15
_MAX_DEPTH = 4
_MOST_LINES = 1_500  # of a page of text; drawings have more
_MOST_STARTS = 60
_LEAST_WIDTH = 3.0


def read_pages(pages: Sequence[Sequence[Line]]) -> list[Line]:
    """The lines of all pages in reading order; text that is turned comes after the rest of its page."""
    turns = [_by_turn(lines) for lines in pages]
    known = tuple(x for page in turns for lines in page[:1] for x in gutters_of(lines))
    columns = [[column for lines in page for column in columns_of(lines, known)] for page in turns]
    edges = [edge for page in columns for lines in page if (edge := body_edge(rows_of(lines))) is not None]
    return [line for page in columns for number, lines in enumerate(page) for line in read_rows(lines, number, edges)]


def _by_turn(lines: Sequence[Line]) -> list[list[Line]]:
    """The lines by how they are turned, the most usual first."""
    turns: dict[int, list[Line]] = {}
    for line in lines:
        turns.setdefault(line.turn, []).append(line)
    return sorted(turns.values(), key=lambda lines: -sum(len(line.text) for line in lines))


def gutters_of(lines: Sequence[Line]) -> list[float]:
    """Where the columns of a page begin that lie apart from each other for sure."""
    cut = _best_cut(lines, (), len(lines))
    return [cut.x] if cut and cut.size > 0.5 * len(lines) else []


def columns_of(lines: Sequence[Line], known: Sequence[float] = (), total: int = 0, depth: int = 0) -> list[list[Line]]:
    """The columns of a page in reading order; lines that reach over several are columns of their own.

    Args:
        lines: The lines of a page, of one turn.
        known: Where columns begin on the other pages of the document; on this page they may be short.
        total: How many lines the page has; columns are a good part of it, or many.
        depth: How often the page has been cut already.
    """
    total = total or len(lines)
    cut = _best_cut(lines, known, total) if depth < _MAX_DEPTH else None
    if cut is None:
        return [list(lines)] if lines else []
    parts = (cut.above, cut.left, cut.right, cut.below)
    return [column for part in parts for column in columns_of(part, known, total, depth + 1)]


def _best_cut(lines: Sequence[Line], known: Sequence[float], total: int) -> Gutter | None:
    """The cut into true columns that explains most lines and that the file's order crosses least."""
    rows = rows_of(lines)
    cuts = [cut for x in _starts(lines) if (cut := _cut(rows, x, known)) and are_columns(cut, known)]
    cuts = [cut for cut in cuts if cut.size >= min(_LEAST_LINES, _LEAST_SHARE * total) or is_known(cut.x, known)]
    if not cuts:
        return None
    most = max(cut.size for cut in cuts)
    good = [cut for cut in cuts if cut.size >= 0.85 * most]
    return min(good, key=lambda cut: (crossings(cut), aligned(rows_of(cut.right), rows_of(cut.left)), -cut.size))


def _starts(lines: Sequence[Line]) -> list[float]:
    """Where a right column might begin: the commonest left edges but the first."""
    if len(lines) > _MOST_LINES:
        return []
    counts = Counter(round(line.x0) for line in lines)
    edges = sorted(edge for edge, _ in counts.most_common(_MOST_STARTS))
    return [float(edge) for before, edge in pairwise(edges) if edge - before > 1]


def _cut(rows: Sequence[Sequence[Line]], x: float, known: Sequence[float]) -> Gutter | None:
    """The longest stretch of rows in which nothing stands across `x`; None if one side of it is too short."""
    least = 1 if is_known(x, known) else _LEAST_ROWS
    reach = x + _POKES_OVER * (max(line.x1 for row in rows for line in row) - x)
    best: Gutter | None = None
    bands: list[list[Sequence[Line]]] = [[]]
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
        if min(len(rows_of(left)), len(rows_of(right))) < least or not _side_by_side(left, right):
            continue
        top = max(line.y for line in inside)
        within = {id(line) for line in inside}
        rest = [line for row in rows for line in row if id(line) not in within]
        above = [line for line in rest if line.y >= top]
        best = Gutter(x, above, left, right, [line for line in rest if line.y < top])
    return best


def _stands_across(line: Line, x: float, reach: float, row: Sequence[Line]) -> bool:
    if line.x0 >= x - 2 or line.x1 <= x - _GUTTER * line.size:
        return False
    alone = all(other is line or other.x0 < x - 2 for other in row)
    return not (alone and line.x1 <= min(reach, x + 0.35 * (x - line.x0)))


def _width(side: Sequence[Line]) -> float:
    """How wide a side is, in sizes of its letters."""
    return (max(line.x1 for line in side) - min(line.x0 for line in side)) / max(usual_size(side), 1.0)


def _side_by_side(left: Sequence[Line], right: Sequence[Line]) -> bool:
    """Whether the shorter column stands beside the longer one, not above or below it."""
    top = min(max(line.top or line.y for line in side) for side in (left, right))
    foot = max(min(line.y for line in side) for side in (left, right))
    height = min(max(line.top or line.y for line in side) - min(line.y for line in side) for side in (left, right))
    return top - foot > 0.5 * height
