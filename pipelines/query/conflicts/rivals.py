"""RIVALS: whether two sentences name another person, place, title or sum for the same thing."""

from collections.abc import Iterator

from pipelines.query.conflicts.career_conflicts import other_title
from pipelines.query.conflicts.contradict import OTHER, Difference
from pipelines.query.conflicts.relations import Relation, relations
from pipelines.store.tokens import tokenise

_MOST_MORE = 2  # terms that one thing may have beside those of the other
_ROUNDED = 0.05  # share by which sums may be off
_ONCE = frozenset({"found", "write", "invent", "birth", "seat"})  # whatever the year
_SOME_DAYS = frozenset(
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


def rivals(one: str, other: str, *, same_subject: bool, told_apart: bool, same_time: bool) -> Difference | None:
    """What two sentences of two documents name differently; None where both may be right.

    Args:
        one: A sentence.
        other: A sentence of another document.
        same_subject: Whether the headings above both name one thing.
        told_apart: Whether they name different things.
        same_time: Whether the documents may be about one year.
    """
    if not same_time:
        return None
    return next(
        (
            Difference(mine.kind, mine.said, theirs.said)
            for mine, theirs in _pairs(one, other)
            if _same_thing(mine, theirs, same_subject, told_apart) and _differ(mine, theirs)
        ),
        None,
    )


def _pairs(one: str, other: str) -> Iterator[tuple[Relation, Relation]]:
    for mine in relations(one):
        for theirs in relations(other):
            same_years = mine.years == theirs.years or (mine.by in _ONCE and not (mine.years and theirs.years))
            if (mine.kind, mine.by) == (theirs.kind, theirs.by) and same_years:
                yield mine, theirs


def _same_thing(one: Relation, other: Relation, same_subject: bool, told_apart: bool) -> bool:
    small, large = sorted((one.thing, other.thing), key=len)
    more = large - small
    if not small <= large or len(more) > _MOST_MORE or more & OTHER:
        return False
    if one.by == "hours" and more & _SOME_DAYS:
        return False
    if (one.named - other.thing) or (other.named - one.thing):
        return False
    anchored = bool(one.named & other.named) or not told_apart
    return same_subject or (bool(small) and anchored)


def _differ(one: Relation, other: Relation) -> bool:
    if one.by == "hours":
        return one.value != other.value
    if one.kind == "number":
        return _sums_differ(one.said, other.said)
    if one.kind == "title":
        return other_title(one.said, other.said)
    nested = one.kind == "place" and bool(one.value & _COUNTRIES) != bool(other.value & _COUNTRIES)
    return one.value.isdisjoint(other.value) and not nested


def _sums_differ(one: str, other: str) -> bool:
    """Whether sums of one currency differ by more than a rounding, or equal ones have another currency."""
    (mine, currency), (theirs, second) = one.split(" "), other.split(" ")
    off = abs(float(mine) - float(theirs)) / max(float(mine), float(theirs), 1e-9)
    return off > _ROUNDED if currency == second else off == 0
