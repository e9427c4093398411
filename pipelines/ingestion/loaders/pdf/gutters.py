"""Whether a gutter parts true columns, or hints from what they belong to."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from pipelines.ingestion.loaders.pdf.lines import Line, rows_of, same_row, usual_size
from pipelines.ingestion.loaders.pdf.rows import DATED

_HINT_WORDS = 4.5
_LEAST_LABELS = 3
_PROSE_WORDS = 5.0
_WORD = re.compile(r"\w[\w.,'’/-]*")


@dataclass(frozen=True, slots=True)
class Gutter:
    """A cut of a page into lines above, a left and a right column, and lines below; the right one begins at `x`."""

    x: float
    above: list[Line]
    left: list[Line]
    right: list[Line]
    below: list[Line]

    @property
    def size(self) -> int:
        """How many lines stand in the columns."""
        return len(self.left) + len(self.right)


def is_known(x: float, known: Sequence[float]) -> bool:
    """Whether a column of another page begins there."""
    return any(abs(x - other) < 6 for other in known)


def are_columns(cut: Gutter, known: Sequence[float]) -> bool:
    """Whether the two sides are read one after the other, and not row by row."""
    left, right = rows_of(cut.left), rows_of(cut.right)
    few, many = sorted((left, right), key=len)
    on_the_right = few is right
    few = _beside(few, many)
    if not few or _is_hints(few, many, on_the_right):
        return False
    level = aligned(few, many)
    if level == 1 and len(few) == len(many) and max(_words(few), _words(many)) < _PROSE_WORDS:
        return False
    changes = crossings(cut)
    if changes <= max(2, 0.15 * len(few)) or is_known(cut.x, known):
        return True
    if level < 0.7 or sum(map(_heads, few)) >= 2:
        return True
    return min(_words(few), _words(many)) >= _PROSE_WORDS and len(few) > 0.5 * len(many)


def _is_hints(few: Sequence[Sequence[Line]], many: Sequence[Sequence[Line]], on_the_right: bool) -> bool:
    """Whether the side with fewer rows says something of the other one's rows."""
    cells = [row[0] for row in few if _opens_cell(row[0], few)]
    beside = fmean(any(same_row(cell, line) for row in many for line in row) for cell in cells)
    if beside < 0.8 or _words(few) > _HINT_WORDS:
        return False
    dated = fmean(bool(DATED.search(row[0].text)) for row in few)
    level = aligned(few, many)
    labels = level == 1 and _LEAST_LABELS <= len(cells) == len(few) <= 0.6 * len(many)
    if labels or (dated >= 0.35 and level >= 0.8):
        return True
    ends = [row[-1].x1 for row in few]
    begins = [row[0].x0 for row in few]
    ragged = max(begins) - min(begins) > 12 and max(ends) - min(ends) < 4
    if on_the_right and ragged:
        return True
    size = usual_size([line for row in many for line in row])
    changes = _crossings_of([line for row in few for line in row], [line for row in many for line in row])
    return len(few) <= 0.6 * len(many) and changes > len(cells) and not any(row[0].size > 1.5 * size for row in few)


def _beside(few: list[list[Line]], many: list[list[Line]]) -> list[list[Line]]:
    """The rows that have text beside them: a heading may stand alone where both sides pause."""
    heights = sorted(row[0].y for row in many)
    kept = []
    for row in few:
        place = bisect_left(heights, row[0].y)
        nearest = min(abs(y - row[0].y) for y in heights[max(place - 1, 0) : place + 1])
        if nearest < 0.9 * row[0].size:
            kept.append(row)
    return kept if len(kept) >= 0.3 * len(few) else few


def _opens_cell(line: Line, rows: Sequence[Sequence[Line]]) -> bool:
    """Whether no line of the same column stands closely above."""
    return not any(0.3 * line.size < row[0].y - line.y < 1.7 * line.size for row in rows)


def aligned(few: Sequence[Sequence[Line]], many: Sequence[Sequence[Line]]) -> float:
    """The share of rows that stand on one row with something of the other side."""
    if not few:
        return 0.0
    return fmean(any(_level(row[0], other[0]) for other in many) for row in few)


def _level(one: Line, other: Line) -> bool:
    return abs(one.y - other.y) <= max(0.15 * max(one.size, other.size), 1.0)


def _words(rows: Sequence[Sequence[Line]]) -> float:
    return fmean(sum(len(_WORD.findall(line.text)) for line in row) for row in rows) if rows else 0.0


def _heads(row: Sequence[Line]) -> bool:
    text = row[0].text
    return text.isupper() and sum(map(str.isalpha, text)) > 4 and not DATED.search(text)


def crossings(cut: Gutter) -> int:
    """How often the file goes from one side to the other."""
    return _crossings_of(cut.left, cut.right)


def _crossings_of(left: Iterable[Line], right: Iterable[Line]) -> int:
    """How often the file goes from one side to the other."""
    sides = sorted([(line.order, 0) for line in left] + [(line.order, 1) for line in right])
    return sum(one[1] != other[1] for one, other in pairwise(sides))
