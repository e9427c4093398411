"""Months: how long a stated range of months is, and how long several ranges are that may overlap."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date

_ISO = re.compile(r"(\d{4})(?:-(0[1-9]|1[0-2]))?")
_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MIDDLE = 7


@dataclass(frozen=True, slots=True, order=True)
class Stretch:
    """A range of months, counted from year 0; `exact` says that both of its ends name a month.

    Both of the months that are named count, as LinkedIn counts them: Jan to Dec 2020 is a year. A year without a month
    stands for its July, the middle: `2019` to `2021` is two years, a plain difference, each such end at most half a
    year off.
    """

    first: int
    last: int
    exact: bool = True

    @property
    def months(self) -> int:
        """How many months: Jan 2018 to Apr 2023 is 64, a single month is 1, 2019 to 2021 about 24."""
        return self.last - self.first + self.exact


def stretch(start: str, end: str | None, *, current: bool, today: date) -> Stretch | None:
    """The stretch from one stated month to another, each ISO to its precision (`2023-04`, `2023`).

    An open end (`current`) runs to today. None where an end is not stated or is no month, and where the end is before
    the start.
    """
    first, last = _number(start), _number(end or "")
    if last is None and current:
        last = (12 * today.year + today.month - 1, True)
    if first is None or last is None:
        return None
    exact = first[1] and last[1]
    from_, to = first[0], last[0]
    if to < from_ and to // 12 == from_ // 12 and not exact:  # `2021-10` to `2021`
        to = from_
    return Stretch(from_, to, exact) if from_ <= to else None


def _number(month: str) -> tuple[int, bool] | None:
    """(the month counted from year 0, whether the month itself is stated)."""
    stated = _ISO.fullmatch(month)
    if stated is None:
        return None
    return 12 * int(stated[1]) + int(stated[2] or _MIDDLE) - 1, stated[2] is not None


def union(stretches: Iterable[Stretch]) -> list[Stretch]:
    """The stretches with those joined that overlap, or of which one follows in the month after, ascending."""
    joined: list[Stretch] = []
    for each in sorted(stretches):
        last = joined[-1] if joined else None
        if last is not None and each.first <= last.last + 1:
            exact = last.exact and each.exact
            joined[-1] = replace(last, last=max(last.last, each.last), exact=exact)
        else:
            joined.append(each)
    return joined


def overlap(one: Stretch, other: Stretch) -> float:
    """The share (0..1) of the months of either that both have, each month counted whole."""
    shared = min(one.last, other.last) - max(one.first, other.first) + 1
    return max(shared, 0) / (max(one.last, other.last) - min(one.first, other.first) + 1)


def spoken(stretches: Iterable[Stretch]) -> str:
    """How long the stretches are together, overlaps counted once: `3 years 2 months`; `about` where a month is not
    stated; empty for none.
    """
    joined = union(stretches)
    if not joined:
        return ""
    months, exact = sum(each.months for each in joined), all(each.exact for each in joined)
    if not months:
        return "less than a year"
    years, rest = divmod(months, 12)
    parts = [_counted(years, "year"), _counted(rest, "month")]
    return " ".join(filter(None, ["" if exact else "about", *parts]))


def _counted(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'}" if number else ""


def agree(one: str | None, other: str | None) -> bool:
    """Whether two stated months are the same as far as both are precise; one that is not stated agrees with any."""
    return not one or not other or one.startswith(other) or other.startswith(one)


def named(month: str) -> str:
    """A stated month for people: `Apr 2023`, or `2023`."""
    stated = _ISO.fullmatch(month)
    if stated is None or stated[2] is None:
        return month
    return f"{_NAMES[int(stated[2]) - 1]} {stated[1]}"
