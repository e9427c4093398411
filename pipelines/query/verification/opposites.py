"""OPPOSITES: whether a claim says of a thing the contrary of what a passage says, by pairs of words."""

import re
from collections.abc import Sequence

from pipelines.text import fold

# Sides of which a thing can be on one only.
_PAIRS = (
    (
        "rise rises rising rose risen grow grows growing grew grown increase increases increasing increased climbed "
        "raise raises raising raised strengthen strengthens strengthened",
        "fall falls falling fell fallen shrink shrinks shrank shrunk decrease decreases decreasing decreased decline "
        "declines declining declined drop drops dropped lower lowers lowered lowering reduce reduced weaken weakens "
        "weakened",
    ),
    (
        "join joins joined start starts started begin begins began",
        "leave leaves leaving left quit resigned stopped ended",
    ),
    (
        "accept accepts accepted approve approves approved adopt adopted",
        "reject rejects rejected refuse refuses refused",
    ),
    ("pass passes passed passing succeed succeeds succeeded", "fail fails failed failing"),
    ("win wins won gain gains gained", "lose loses lost"),
    ("buy buys bought acquire acquired", "sell sells sold"),
    ("open opens opened", "close closes closed shut"),
    ("expand expands expanded enlarge enlarged extend extended", "shut closed demolished shrink shrank shrunk"),
    ("hire hires hired", "fire fires fired dismissed"),
    ("fast faster quick quicker", "slow slower"),
    ("taller longer", "shorter"),
    ("larger bigger", "smaller"),
    ("cheap cheaper", "expensive dearer costlier"),
    ("older", "younger newer"),
    ("warmer hotter", "colder cooler"),
    ("heavier", "lighter"),
    ("strong stronger", "weak weaker"),
    ("better", "worse"),
    ("above", "below"),
    ("add adds added", "remove removes removed drop dropped"),
    ("enable enables enabled", "disable disables disabled"),
    ("include includes included including", "exclude excludes excluded excluding"),
    (
        "allow allows allowed permit permits permitted",
        "forbid forbids forbade forbidden prohibit prohibited ban bans banned",
    ),
    ("import imports imported", "export exports exported"),
    ("uphold upholds upheld", "overturn overturns overturned"),
    ("lend lends lent", "borrow borrows borrowed"),
    ("arrive arrives arrived", "depart departs departed"),
    ("agree agrees agreed", "disagree disagrees disagreed"),
    ("support supports supported", "oppose opposes opposed"),
    ("maximum highest", "minimum lowest"),
    ("profit profits", "loss losses"),
    ("compulsory mandatory required", "optional voluntary"),
    ("mild slight minor", "severe serious major"),
    ("easy easier", "difficult harder"),
    ("full", "empty"),
    ("upstream", "downstream"),
    ("spring", "summer", "autumn", "winter"),
    ("red", "blue", "green", "yellow", "white", "black", "orange", "purple", "brown"),
    ("north northern", "south southern", "east eastern", "west western"),
    ("gold", "silver", "bronze"),
    ("delay delays delayed postpone postponed", "cancel cancels cancelled canceled"),
    ("at_least", "at_most"),
    ("is_later", "is_earlier"),
    ("is_on", "is_off"),
)
_SIDES = tuple(tuple(frozenset(side.split()) for side in sides) for sides in _PAIRS)
_PHRASES = (
    (re.compile(r"\b(?:at least|no (?:less|fewer) than|a minimum of|(?<!no )(?<!not )more than)\b"), "at_least"),
    (re.compile(r"\b(?:at most|no more than|up to|a maximum of|(?<!no )(?<!not )(?:less|fewer) than)\b"), "at_most"),
    (re.compile(r"\b(?:delay(?:s|ed)?|postpone[sd]?|deferred|put off|(?:pushed|put|moved) back)\b"), "is_later"),
    (re.compile(r"\b(?:(?:brought|moved|pulled|put) (?:forward|up)|advanced to)\b"), "is_earlier"),
    (re.compile(r"\b(?:switched|turned|switch|turn) on\b"), "is_on"),
    (re.compile(r"\b(?:switched|turned|switch|turn) off\b"), "is_off"),
)
_WORD = re.compile(r"[a-z]+")


def opposed(claim: str, passage: str) -> bool:
    """Whether of contrary words a claim has only the one and a passage only another."""
    said, held = _words(claim), _words(passage)
    return any(_is_another(said, held, sides) for sides in _SIDES)


def _is_another(said: set[str], held: set[str], sides: Sequence[frozenset[str]]) -> bool:
    mine, theirs = ([side for side in sides if side & words] for words in (said, held))
    return len(mine) == len(theirs) == 1 and mine != theirs


def _words(text: str) -> set[str]:
    folded = fold(text)
    return {*_WORD.findall(folded), *(name for phrase, name in _PHRASES if phrase.search(folded))}
