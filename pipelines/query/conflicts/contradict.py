"""Whether two sentences say another date or number of the same thing: rather too seldom than wrongly."""

import math
from typing import NamedTuple

from pipelines.query.conflicts.statements import Amount, Date, Statement, When, statement
from pipelines.store.tokens import tokenise
from pipelines.types import ConflictKind

_ROUNDED = 0.05  # share by which a round number may be off
_ROUGH = 0.25  # share by which a rough one may
_MOST_MORE = 4  # terms that one sentence may have beside those of the other


def _stems(words: str) -> frozenset[str]:
    return frozenset(tokenise(words, aliases=False))


# What happens once: two years of it cannot both be right.
_ONCE = _stems(
    "founded born joined left launched started began ended graduated established retired died moved opened closed"
    " invented incorporated acquired merged hired promoted married elected completed finished introduced migrated"
    " became founded built created released published won switched adopted abandoned delivered received earned"
)
# What makes another thing of it.
OTHER = _stems(
    "first second third fourth last latest next previous former new old other another each early earlier late later"
    " north south east west upper lower internal external annual monthly weekly daily quarterly again more less average"
    " median maximum minimum peak total combined left right senior junior main secondary half"
)


class Difference(NamedTuple):
    """What two sentences say differently: each side's date or number, as digits and words that stand in it."""

    kind: ConflictKind
    one: str
    other: str


def contradiction(one: str, other: str, *, same_subject: bool, same_time: bool = True) -> Difference | None:
    """What two sentences cannot both be right about; None where they may.

    They must say the same in all but the value: the terms of one are among those of the other, which adds no place, no
    ordinal and no denial. Roundings, lists, plans and numbers of different years are no contradiction.

    Args:
        one: A sentence.
        other: A sentence of another document.
        same_subject: Whether the headings above both name one thing, so that the sentences need not name it.
        same_time: Whether the documents may be about one year; of two years numbers may differ.
    """
    mine, theirs = statement(one), statement(other)
    if mine is None or theirs is None or not _same_thing(mine, theirs, same_subject):
        return None
    dates = _dates_differ(mine, theirs)
    numbers = _amounts_differ(mine, theirs)
    if dates is not None:
        return Difference("dates", *dates) if numbers == [] else None
    if len(numbers) != 1 or not same_time or mine.when != theirs.when:
        return None
    return Difference("number", *numbers[0])


def _same_thing(one: Statement, other: Statement, same_subject: bool) -> bool:
    small, large = sorted((one, other), key=lambda each: len(each.terms))
    more = large.terms - small.terms
    if not small.terms <= large.terms or len(more) > min(_MOST_MORE, len(small.terms)):
        return False
    if more & (OTHER | large.qualifying) or one.denies != other.denies or one.labels != other.labels:
        return False
    shared = (one.names | one.opening) & (other.names | other.opening) & (one.names | other.names)
    anchored = bool(shared) or same_subject
    definite = bool((one.subject & other.definite) | (other.subject & one.definite))
    return len(small.terms) >= (2 if shared else 3) and (anchored or definite)


def _dates_differ(one: Statement, other: Statement) -> tuple[str, str] | None:
    """The dates of what happens once, or the ends of a range, where they differ; None where they may agree."""
    if one.when is None or other.when is None or one.when.role != other.when.role:
        return None
    mine, theirs = one.when, other.when
    if mine.last and theirs.last:
        together = mine.first[0] <= theirs.last[0] and theirs.first[0] <= mine.last[0]
        differs = _other(mine.first, theirs.first) or _other(mine.last, theirs.last)
        return (_spoken(mine), _spoken(theirs)) if differs and together else None
    once = mine.role in ("start", "end", "open") or one.terms & other.terms & _ONCE
    return (_spoken(mine), _spoken(theirs)) if once and _other(mine.first, theirs.first) else None


def _other(one: Date, other: Date) -> bool:
    """Whether two dates differ as far as both are precise."""
    return any(mine != theirs for mine, theirs in zip(one, other, strict=True) if mine and theirs)


def _spoken(when: When) -> str:
    dates = [" ".join(reversed([part for part in date if part])) for date in (when.first, when.last) if date]
    return " - ".join(dates)


def _amounts_differ(one: Statement, other: Statement) -> list[tuple[str, str]]:
    """The numbers that both have of the same unit, where they differ."""
    units = one.amounts.keys() & other.amounts.keys()
    return [
        (one.amounts[unit].said, other.amounts[unit].said)
        for unit in sorted(units)
        if not _goes_with(one.amounts[unit], other.amounts[unit])
    ]


def _goes_with(one: Amount, other: Amount) -> bool:
    """Whether one number may be a rounding of the other."""
    if one.value == other.value:
        return True
    off = abs(one.value - other.value) / max(abs(one.value), abs(other.value))
    rounded = any(_is_rounding(a.value, b.value) for a, b in ((one, other), (other, one)))
    return rounded or off <= (_ROUGH if one.rough or other.rough else _ROUNDED if _is_round(one, other) else 0.0)


def _is_round(one: Amount, other: Amount) -> bool:
    return any(each.value >= 10 and each.value % 10 == 0 for each in (one, other))


def _is_rounding(rounded: float, exact: float) -> bool:
    """Whether a number is another one, said with fewer digits: 1.2 of 1.23, 1,200,000 of 1,234,567."""
    if not rounded or not exact:
        return False
    text = f"{rounded:f}".rstrip("0").rstrip(".")
    digits = text.replace(".", "").strip("0")
    if len(digits) >= len(f"{exact:f}".replace(".", "").strip("0")) or len(digits) < 2:
        return False
    places = len(digits) - 1 - math.floor(math.log10(abs(exact)))
    return round(exact, places) == rounded
