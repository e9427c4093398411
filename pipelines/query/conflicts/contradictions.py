"""Decide whether two sentences of different documents contradict each other."""

import math
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from pipelines.answers import ConflictKind
from pipelines.query.careers.disagreements import is_other_title
from pipelines.query.conflicts.statements import (
    DENIED,
    HEDGED,
    Amount,
    Date,
    DateReference,
    Relation,
    Statement,
    find_relations,
    parse_statement,
)
from pipelines.query.verification.normalise import MONTHS, names_in, normalise
from pipelines.store.tokens import tokenise

_ROUNDED = 0.05  # share by which a round number may be off
_ROUGH = 0.25  # share by which a rough one may
_MOST_MORE = 4  # terms that one sentence may have beside those of the other


def _stemmed(words: str) -> frozenset[str]:
    return frozenset(tokenise(words, aliases=False))


# What happens once: two years of it cannot both be right.
_HAPPENS_ONCE = _stemmed(
    "founded born joined left launched started began ended graduated established retired died moved opened closed"
    " invented incorporated acquired merged hired promoted married elected completed finished introduced migrated"
    " became founded built created released published won switched adopted abandoned delivered received earned"
)
# What makes another thing of it.
DISTINGUISHING = _stemmed(
    "first second third fourth last latest next previous former new old other another each early earlier late later"
    " north south east west upper lower internal external annual monthly weekly daily quarterly again more less average"
    " median maximum minimum peak total combined left right senior junior main secondary half"
)


class Difference(NamedTuple):
    """The differing values of two sentences, in their own words."""

    kind: ConflictKind
    one: str
    other: str


def contradiction(one: str, other: str, *, same_subject: bool, same_time: bool = True) -> Difference | None:
    """The date or number on which two sentences contradict each other; None if both may be right.

    They must agree in all but the value: the terms of one are a subset of the other's, which adds no place, no ordinal
    and no negation. Roundings, lists, plans and numbers of different years are no contradiction.

    Args:
        one: A sentence.
        other: A sentence of another document.
        same_subject: True if the headings above both name one thing, so that the sentences need not name it.
        same_time: True if the documents may be about one year; of two years numbers may differ.
    """
    mine, theirs = parse_statement(one), parse_statement(other)
    if mine is None or theirs is None or not _is_same_statement(mine, theirs, same_subject):
        return None
    dates = _dates_differ(mine, theirs)
    numbers = _amounts_differ(mine, theirs)
    if dates is not None:
        return Difference("dates", *dates) if numbers == [] else None
    if len(numbers) != 1 or not same_time or mine.when != theirs.when:
        return None
    return Difference("number", *numbers[0])


def _is_same_statement(one: Statement, other: Statement, same_subject: bool) -> bool:
    small, large = sorted((one, other), key=lambda each: len(each.terms))
    more = large.terms - small.terms
    if not small.terms <= large.terms or len(more) > min(_MOST_MORE, len(small.terms)):
        return False
    if more & (DISTINGUISHING | large.qualifying) or one.denies != other.denies or one.labels != other.labels:
        return False
    shared = (one.names | one.opening) & (other.names | other.opening) & (one.names | other.names)
    anchored = bool(shared) or same_subject
    definite = bool((one.subject & other.definite) | (other.subject & one.definite))
    return len(small.terms) >= (2 if shared else 3) and (anchored or definite)


def _dates_differ(one: Statement, other: Statement) -> tuple[str, str] | None:
    """The differing dates of a single event or of a range; None if they may agree."""
    if one.when is None or other.when is None or one.when.role != other.when.role:
        return None
    mine, theirs = one.when, other.when
    if mine.last and theirs.last:
        together = mine.first[0] <= theirs.last[0] and theirs.first[0] <= mine.last[0]
        differs = _dates_conflict(mine.first, theirs.first) or _dates_conflict(mine.last, theirs.last)
        return (_date_words(mine), _date_words(theirs)) if differs and together else None
    once = mine.role in ("start", "end", "open") or one.terms & other.terms & _HAPPENS_ONCE
    return (_date_words(mine), _date_words(theirs)) if once and _dates_conflict(mine.first, theirs.first) else None


def _dates_conflict(one: Date, other: Date) -> bool:
    """True if two dates differ as far as both are precise."""
    return any(mine != theirs for mine, theirs in zip(one, other, strict=True) if mine and theirs)


def _date_words(when: DateReference) -> str:
    dates = [" ".join(reversed([part for part in date if part])) for date in (when.first, when.last) if date]
    return " - ".join(dates)


def _amounts_differ(one: Statement, other: Statement) -> list[tuple[str, str]]:
    """The differing numbers of the same unit."""
    units = one.amounts.keys() & other.amounts.keys()
    return [
        (one.amounts[unit].said, other.amounts[unit].said)
        for unit in sorted(units)
        if not _may_be_rounded(one.amounts[unit], other.amounts[unit])
    ]


def _may_be_rounded(one: Amount, other: Amount) -> bool:
    """True if one number may be a rounding of the other."""
    if one.value == other.value:
        return True
    off = abs(one.value - other.value) / max(abs(one.value), abs(other.value))
    rounded = any(_is_rounding(a.value, b.value) for a, b in ((one, other), (other, one)))
    is_round = any(each.value >= 10 and each.value % 10 == 0 for each in (one, other))
    return rounded or off <= (_ROUGH if one.rough or other.rough else _ROUNDED if is_round else 0.0)


def _is_rounding(rounded: float, exact: float) -> bool:
    """True if a number is a rounding of another: 1.2 of 1.23, 1,200,000 of 1,234,567."""
    if not rounded or not exact:
        return False
    text = f"{rounded:f}".rstrip("0").rstrip(".")
    digits = text.replace(".", "").strip("0")
    if len(digits) >= len(f"{exact:f}".replace(".", "").strip("0")) or len(digits) < 2:
        return False
    places = len(digits) - 1 - math.floor(math.log10(abs(exact)))
    return round(exact, places) == rounded


_LONGEST = 300
_NEGATION = re.compile(
    r"\b(?:(is|are|was|were|has|have|had|does|do|did|can)(?: been)? (?:not|never)(?: been)?|cannot|never)\b", re.I
)
_NEVER = re.compile(r"\bnever\b", re.IGNORECASE)
_PAST = re.compile(r"\b(?:was|were|had|did)\b", re.IGNORECASE)
_PRESENT = re.compile(r"\b(?:is|are|has|have|does|do|can)\b", re.IGNORECASE)
_REGULAR_PAST = re.compile(r"\b\w+ed\b", re.IGNORECASE)
# With these both may be right: it is so of a part, at a time, in a way, or under a condition.
_IN_PART = re.compile(
    r"\b(?:when|while|only|except|but|although|though|until|till|after|before|yet|still|anymore|longer|always|often"
    r"|usually|sometimes|necessarily|fully|entirely|completely|all|every|each|both|just|merely|alone|very|too|so|as"
    r"|enough|directly|now|then|currently|formerly|once|since|with|without|over|under|above|below|between|during|some"
    r"|most|many|more|less|than|or)\b",
    re.IGNORECASE,
)
_NAMELESS = re.compile(r"\W*(?:it|they|he|she|this|that|these|those|there|we|you|i)\b", re.IGNORECASE)
_DEFINITE = re.compile(r"\W*(?:the|our|its|their|his|her|my)\b", re.IGNORECASE)
_MONTHS = frozenset(tokenise(" ".join(MONTHS)))


def is_denial_of(one: str, other: str, *, same_subject: bool, told_apart: bool) -> bool:
    """True if one of two sentences denies what the other states; in doubt, no.

    The denial must have the same terms in the same order, about the same subject.

    Args:
        one: A sentence.
        other: A sentence of another document.
        same_subject: True if the headings above both name one thing.
        told_apart: True if they name different things.
    """
    denies = [bool(DENIED.search(normalise(text))) for text in (one, other)]
    if denies[0] == denies[1]:
        return False
    denial, said = (normalise(text) for text in ((one, other) if denies[0] else (other, one)))
    if not _is_plain_denial(denial, said):
        return False
    mine, theirs = _cached_terms(_NEGATION.sub(" ", denial)), _cached_terms(said)
    more = set(theirs) - set(mine)
    if len(mine) < 2 or mine[:1] != theirs[:1] or not _in_order(mine, theirs):
        return False
    if len(more) > min(_MOST_MORE, len(mine)) or more & DISTINGUISHING or more & (_name_terms(said) - _MONTHS):
        return False
    if _NAMELESS.match(denial) or _NAMELESS.match(said):
        return same_subject
    is_one_thing = not more or bool(_DEFINITE.match(denial) and _DEFINITE.match(said))
    return same_subject or bool(_name_terms(said) & _name_terms(denial)) or (is_one_thing and not told_apart)


def terms_without_negation(sentence: str) -> frozenset[str]:
    """The index terms of a sentence without its negation."""
    return frozenset(_cached_terms(_NEGATION.sub(" ", normalise(sentence))))


def _is_plain_denial(denial: str, said: str) -> bool:
    """True if both sentences are plain and in the same tense, and the denial has one negation."""
    found = _NEGATION.search(denial)
    if found is None or len(DENIED.findall(denial)) != 1 or max(len(denial), len(said)) > _LONGEST:
        return False
    if any(HEDGED.search(text) or _IN_PART.search(text) for text in (denial, said)):
        return False
    if _NEVER.search(denial):
        return True
    past, present = bool(_PAST.search(said)), bool(_PRESENT.search(said))
    if _PAST.search(denial):
        return past or not present
    return present or not (past or _REGULAR_PAST.search(said))


@lru_cache(maxsize=4_096)
def _cached_terms(text: str) -> tuple[str, ...]:
    return tuple(tokenise(text))


def _name_terms(text: str) -> set[str]:
    return set(tokenise(" ".join(names_in(text))))


def _in_order(few: Iterable[str], many: Iterable[str]) -> bool:
    """True if `few` is a subsequence of `many`."""
    left = iter(many)
    return all(term in left for term in few)


_MOST_MORE_OF_THING = 2  # terms that one thing may have beside those of the other
_TIMELESS = frozenset({"found", "write", "invent", "birth", "seat"})  # whatever the year
_DAY_WORDS = frozenset(
    tokenise(
        "monday tuesday wednesday thursday friday saturday sunday weekday weekdays weekend weekends holiday holidays"
        " winter summer spring autumn morning mornings afternoon evening evenings night today season school term"
    )
)
# Of these and of a town both can be right.
_COUNTRIES = frozenset(
    """africa america argentina asia australia austria belgium brazil canada chile china colombia croatia denmark egypt
    england estonia europe finland france germany ghana greece hungary iceland india indonesia ireland israel italy
    japan kenya latvia lithuania malaysia mexico morocco netherland nigeria norway pakistan peru philippin poland
    portug romania russia scandinavia scotland serbia singapor slovakia slovenia spain sweden switzerland thailand
    turkey ukrain us usa uk vietnam wale""".split()
)


def conflicting_relations(
    one: str, other: str, *, same_subject: bool, told_apart: bool, same_time: bool
) -> Difference | None:
    """The relation for which two sentences give different values; None if both may be right.

    Args:
        one: A sentence.
        other: A sentence of another document.
        same_subject: True if the headings above both name one thing.
        told_apart: True if they name different things.
        same_time: True if the documents may be about one year.
    """
    if not same_time:
        return None
    return next(
        (
            Difference(mine.kind, mine.said, theirs.said)
            for mine, theirs in _relation_pairs(one, other)
            if _is_same_relation(mine, theirs, same_subject, told_apart) and _values_differ(mine, theirs)
        ),
        None,
    )


def _relation_pairs(one: str, other: str) -> Iterator[tuple[Relation, Relation]]:
    for mine in find_relations(one):
        for theirs in find_relations(other):
            same_years = mine.years == theirs.years or (mine.by in _TIMELESS and not (mine.years and theirs.years))
            if (mine.kind, mine.by) == (theirs.kind, theirs.by) and same_years:
                yield mine, theirs


def _is_same_relation(one: Relation, other: Relation, same_subject: bool, told_apart: bool) -> bool:
    small, large = sorted((one.thing, other.thing), key=len)
    more = large - small
    if not small <= large or len(more) > _MOST_MORE_OF_THING or more & DISTINGUISHING:
        return False
    if one.by == "hours" and more & _DAY_WORDS:
        return False
    if (one.named - other.thing) or (other.named - one.thing):
        return False
    anchored = bool(one.named & other.named) or not told_apart
    return same_subject or (bool(small) and anchored)


def _values_differ(one: Relation, other: Relation) -> bool:
    if one.by == "hours":
        return one.value != other.value
    if one.kind == "number":
        return _sums_differ(one.said, other.said)
    if one.kind == "title":
        return is_other_title(one.said, other.said)
    nested = one.kind == "place" and bool(one.value & _COUNTRIES) != bool(other.value & _COUNTRIES)
    return one.value.isdisjoint(other.value) and not nested


def _sums_differ(one: str, other: str) -> bool:
    """True if sums of one currency differ by more than a rounding, or equal ones have another currency."""
    (mine, currency), (theirs, second) = one.split(" "), other.split(" ")
    off = abs(float(mine) - float(theirs)) / max(float(mine), float(theirs), 1e-9)
    return off > _ROUNDED if currency == second else off == 0
