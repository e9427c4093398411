"""Where a page's columns begin in the reading order, and which column of the page before each one goes on with."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from pipelines.types import LineBox

_SHARED = 0.5


@dataclass(frozen=True, slots=True)
class Stretch:
    """A column of one page from its first line to its last: `before` is the stretch that it goes on with, or -1."""

    start: int
    end: int
    page: int
    x0: float
    x1: float
    before: int = -1


def stretches(boxes: Sequence[LineBox]) -> list[Stretch]:
    """The columns in reading order; one begins with each page, and where the text jumps up beside what it has read."""
    found: list[Stretch] = []
    last: LineBox | None = None
    for box in boxes:
        if box.end <= box.start:
            continue
        if last is None or box.page != last.page or _is_beside(found[-1], last, box):
            found.append(Stretch(box.start, box.end, box.page, box.x0, box.x1))
        else:
            now = found.pop()
            found.append(Stretch(now.start, box.end, box.page, min(now.x0, box.x0), max(now.x1, box.x1)))
        last = box
    pages: dict[int, list[int]] = defaultdict(list)
    for number, one in enumerate(found):
        pages[one.page].append(number)
    return [replace(one, before=_before(found, one, pages.get(one.page - 1, []))) for one in found]


def _is_beside(now: Stretch, last: LineBox, box: LineBox) -> bool:
    return box.y0 > last.y1 and (box.x0 >= now.x1 or box.x1 <= now.x0)


def _before(found: Sequence[Stretch], one: Stretch, earlier: Sequence[int]) -> int:
    """The stretch of the page before that it stands under: the one that begins most nearly at its left edge."""
    under = [place for place in earlier if _share(one, found[place]) >= _SHARED]
    return min(under, key=lambda place: (abs(found[place].x0 - one.x0), -place), default=-1)


def _share(one: Stretch, other: Stretch) -> float:
    """How much of the narrower one's width both have."""
    width = min(one.x1 - one.x0, other.x1 - other.x0)
    return max(0.0, min(one.x1, other.x1) - max(one.x0, other.x0)) / width if width > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Columns:
    """The stretches of a document, found by offset."""

    starts: tuple[int, ...]
    befores: tuple[int, ...]

    @classmethod
    def of(cls, boxes: Sequence[LineBox]) -> Self:
        """The columns of a document's lines; none where it has no boxes."""
        found = stretches(boxes)
        return cls(tuple(one.start for one in found), tuple(one.before for one in found))

    def at(self, offset: int) -> int:
        """The number of the stretch that holds the offset; -1 before the first one."""
        return bisect_right(self.starts, offset) - 1

    def before(self, number: int) -> int:
        """The stretch that this one goes on with; -1 where there is none."""
        return self.befores[number] if number >= 0 else -1
