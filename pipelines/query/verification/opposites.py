"""OPPOSITES: whether a claim says of a thing the contrary of what a passage says, by pairs of words."""

import re

from pipelines.text import fold

_PAIRS = (
    (
        "rise rises rising rose risen grow grows growing grew grown increase increases increasing increased climbed "
        "raise raises raising raised",
        "fall falls falling fell fallen shrink shrinks shrank shrunk decrease decreases decreasing decreased decline "
        "declines declining declined drop drops dropped lower lowers lowered lowering reduce reduced",
    ),
    (
        "join joins joined start starts started begin begins began",
        "leave leaves leaving left quit resigned stopped ended",
    ),
    ("accept accepts accepted approve approves approved", "reject rejects rejected refuse refuses refused"),
    ("pass passes passed passing", "fail fails failed failing"),
    ("win wins won", "lose loses lost"),
    ("buy buys bought", "sell sells sold"),
    ("open opens opened", "close closes closed"),
    ("hire hires hired", "fire fires fired dismissed"),
    ("faster quicker", "slower"),
    ("better", "worse"),
    ("above", "below"),
    ("added", "removed"),
    ("delay delays delayed postpone postponed", "cancel cancels cancelled canceled"),
    ("at_least", "at_most"),
)
_SIDES = tuple((frozenset(one.split()), frozenset(other.split())) for one, other in _PAIRS)
_LIMITS = (
    (re.compile(r"\b(?:at least|no (?:less|fewer) than|a minimum of)\b"), "at_least"),
    (re.compile(r"\b(?:at most|no more than|up to|a maximum of)\b"), "at_most"),
)
_WORD = re.compile(r"[a-z]+")


def opposed(claim: str, passage: str) -> bool:
    """Whether of two contrary words the claim has only the one and the passage only the other."""
    said, held = _words(claim), _words(passage)
    return any(
        bool(said & one) != bool(said & other)
        and bool(held & one) != bool(held & other)
        and bool(said & one) != bool(held & one)
        for one, other in _SIDES
    )


def _words(text: str) -> set[str]:
    folded = fold(text)
    return {*_WORD.findall(folded), *(name for limit, name in _LIMITS if limit.search(folded))}
