"""Arithmetic of month ranges: length, overlap, union, and their text."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date

_ISO = re.compile(r"(\d{4})(?:-(0[1-9]|1[0-2]))?")
_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MIDDLE = 7
_YEAR_DIGITS = 4


@dataclass(frozen=True, slots=True, order=True)
class MonthRange:
    """A range of months, counted from year 0; `exact` is True if both ends state a month.

    Both end months count, as on LinkedIn: Jan to Dec 2020 is a year. A year without a month counts as its July: `2019`
    to `2021` is two years, and each such end is wrong by at most half a year.
    """

    first: int
    last: int
    exact: bool = True

    @property
    def months(self) -> int:
        """The number of months: Jan 2018 to Apr 2023 is 64, a single month is 1, 2019 to 2021 about 24."""
        return self.last - self.first + self.exact


def month_range(start: str, end: str | None, *, current: bool, today: date) -> MonthRange | None:
    """The range from one stated month to another, each in ISO 8601 (`2023-04`, `2023`).

    A range without end that is `current` ends today. None if an end is missing or invalid, or before the start.
    """
    first, last = _month_number(start), _month_number(end or "")
    if last is None and current:
        last = (12 * today.year + today.month - 1, True)
    if first is None or last is None:
        return None
    exact = first[1] and last[1]
    from_, to = first[0], last[0]
    if to < from_ and to // 12 == from_ // 12 and not exact:  # `2021-10` to `2021`
        to = from_
    return MonthRange(from_, to, exact) if from_ <= to else None


def ends_of(date_range: str) -> tuple[str, str]:
    """The two ends of a range as it is written: `Jan 2019 – present`; the second is empty where it is no range."""
    for sign in (" – ", " — ", " - ", " to ", "–", "—", "-"):
        first, found, last = date_range.partition(sign)
        end = last.partition("(")[0].strip()
        if found and sign not in last and not (end.isdigit() and len(end) < _YEAR_DIGITS):
            return first.strip(), end
    return date_range.strip(), ""


def _month_number(month: str) -> tuple[int, bool] | None:
    """(the month counted from year 0, True if the month itself is stated)."""
    stated = _ISO.fullmatch(month)
    if stated is None:
        return None
    return 12 * int(stated[1]) + int(stated[2] or _MIDDLE) - 1, stated[2] is not None


def merge_ranges(ranges: Iterable[MonthRange]) -> list[MonthRange]:
    """The ranges in ascending order; those that overlap or are adjacent are merged."""
    joined: list[MonthRange] = []
    for each in sorted(ranges):
        last = joined[-1] if joined else None
        if last is not None and each.first <= last.last + 1:
            exact = last.exact and each.exact
            joined[-1] = replace(last, last=max(last.last, each.last), exact=exact)
        else:
            joined.append(each)
    return joined


def overlap_share(one: MonthRange, other: MonthRange) -> float:
    """The shared months as a fraction (0 to 1) of the months from the first start to the last end."""
    shared = min(one.last, other.last) - max(one.first, other.first) + 1
    return max(shared, 0) / (max(one.last, other.last) - min(one.first, other.first) + 1)


def duration_text(ranges: Iterable[MonthRange]) -> str:
    """The total duration of the ranges, overlaps counted once: `3 years 2 months`, or `about 3 years`; "" for none."""
    joined = merge_ranges(ranges)
    if not joined:
        return ""
    months, exact = sum(each.months for each in joined), all(each.exact for each in joined)
    if not months:
        return "less than a year"
    years, rest = divmod(months, 12)
    parts = [_count_text(years, "year"), _count_text(rest, "month")]
    return " ".join(filter(None, ["" if exact else "about", *parts]))


def _count_text(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'}" if number else ""


def months_agree(one: str | None, other: str | None) -> bool:
    """True if two stated months are equal in their common precision; a missing month agrees with any."""
    return not one or not other or one.startswith(other) or other.startswith(one)


def month_text(month: str) -> str:
    """A stated month as text: `Apr 2023`, or `2023`."""
    stated = _ISO.fullmatch(month)
    if stated is None or stated[2] is None:
        return month
    return f"{_NAMES[int(stated[2]) - 1]} {stated[1]}"


def without_date(stem: str) -> str:
    """A file's name without the date that it begins with: "2014-03-12-coming-soon"; as it is without one, or more."""
    year, *parts = stem.replace("_", "-").replace(" ", "-").split("-", 3)
    is_dated = len(parts) == 3 and len(year) == 4 and all(map(str.isdecimal, (year, *parts[:2])))
    words = stem[len(stem) - len(parts[2]) :].lstrip("-_ ") if is_dated and max(map(len, parts[:2])) < 3 else ""
    return words or stem


_FISCAL = re.compile(r"(?<![a-z0-9])(?:fy[\s_-]*|fiscal year\s+)(\d{4}|\d{2})(?!\d)")


def fiscal_year(name: str) -> int | None:
    """The first year of a fiscal year in a name (`FY25-26` = 2025); None without `FY`."""
    match = _FISCAL.search(name.lower())
    if match is None:
        return None
    year = int(match[1])
    return year + 2000 if year < 100 else year
