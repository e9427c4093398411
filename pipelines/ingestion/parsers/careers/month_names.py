"""Months named in any language of LinkedIn, by the names in Unicode's CLDR."""

import re
from collections.abc import Sequence
from functools import cache

from pipelines.text import fold

# LinkedIn's languages. Where two explain the dates of a document equally well, the first does.
_LANGUAGES = "en es fr de pt it nl tr ko sv da no fi pl cs ro hu ru uk el ar he fa hi bn mr pa te th vi id ms tl ja zh"
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d[^\W\d]*")  # with what is written close to it, as in Korean


def months_named(dates: Sequence[str]) -> list[int]:
    """The month of each date, 1 to 12, in the one language that explains most of them; 0 where none is named."""
    points = [_YEAR.sub(" ", fold(date)) for date in dates]
    stated = sum(any(map(str.isalnum, point)) for point in points)
    best: list[int] = [0] * len(points)
    for language in _LANGUAGES.split() if stated else ():
        found = [_month(point, language) for point in points]
        if sum(map(bool, found)) > sum(map(bool, best)):
            best = found
        if sum(map(bool, best)) == stated:
            break
    return best


def _month(point: str, language: str) -> int:
    pattern, numbers = _names(language)
    match = pattern.search(point)
    return numbers[match[0]] if match else 0


@cache
def _names(language: str) -> tuple[re.Pattern[str], dict[str, int]]:
    """(what finds a month, the number of each name), folded; names as in a date, alone, and short."""
    from babel import Locale

    tables = Locale.parse(language).months
    numbers: dict[str, int] = {}
    for context, width in (("format", "wide"), ("stand-alone", "wide"), ("format", "abbreviated")):
        for number, name in tables[context][width].items():
            numbers.setdefault(fold(str(name)).rstrip("."), int(number))
    names = sorted(numbers, key=len, reverse=True)
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, names))})(?![^\W_])"), numbers
