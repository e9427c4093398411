"""RATES: what a number is per, and whether two texts agree on it."""

import re
from collections.abc import Iterator

_PERIODS = {
    unit: period
    for period, units in {
        "second": "seconds sec s", "minute": "minutes min", "hour": "hours hr h hourly", "day": "days daily",
        "night": "nights nightly", "week": "weeks weekly", "month": "months monthly", "quarter": "quarters quarterly",
        "year": "years yr yearly annually annum",
    }.items()
    for unit in (period, *units.split())
}  # fmt: skip
_PERIOD = "|".join(sorted(_PERIODS, key=len, reverse=True))
_RATE = re.compile(
    rf"(?<![\w.])(\d+(?:\.\d+)?)(?![\w]|\.\d)(?:\s[^\W\d][\w-]*){{0,3}}?"
    rf"(?:\s?/\s?([a-z]+)\b|\s(?:per|each)\s([a-z]+)\b|\s(?:an?|every)\s({_PERIOD})\b"
    r"|\s(hourly|daily|nightly|weekly|monthly|quarterly|yearly|annually)\b)",
    re.IGNORECASE,
)


def rates_differ(claim: str, text: str) -> bool:
    """Whether a number of a claim is per one thing, and the same number of a text only per others; both levelled."""
    held: dict[str, set[str]] = {}
    for number, per in _rates(text):
        held.setdefault(number, set()).add(per)
    return any(number in held and per not in held[number] for number, per in _rates(claim))


def _rates(text: str) -> Iterator[tuple[str, str]]:
    """(number, what it is per) of each rate."""
    for found in _RATE.finditer(text):
        per = next(filter(None, found.groups()[1:])).lower()
        yield found[1], _PERIODS.get(per, per)
