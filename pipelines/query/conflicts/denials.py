"""DENIALS: whether one sentence denies what another says, in the same words."""

import re
from collections.abc import Iterable
from functools import lru_cache

from pipelines.query.conflicts.contradict import OTHER
from pipelines.query.conflicts.statements import DENIED, HEDGED
from pipelines.query.verification.agree import clear, names_in
from pipelines.store.tokens import tokenise

_MOST_MORE = 4  # terms that what is said may have beside those of its denial
_LONGEST = 300
_NOT = re.compile(
    r"\b(?:(is|are|was|were|has|have|had|does|do|did|can)(?: been)? (?:not|never)(?: been)?|cannot|never)\b", re.I
)
_NEVER = re.compile(r"\bnever\b", re.IGNORECASE)
_PAST = re.compile(r"\b(?:was|were|had|did)\b", re.IGNORECASE)
_PRESENT = re.compile(r"\b(?:is|are|has|have|does|do|can)\b", re.IGNORECASE)
_DID = re.compile(r"\b\w+ed\b", re.IGNORECASE)
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
_MONTHS = frozenset(tokenise("January February March April May June July August September October November December"))


def is_denied(one: str, other: str, *, same_subject: bool, told_apart: bool) -> bool:
    """Whether one of two sentences says what the other denies: rather too seldom than wrongly.

    The denial must say nothing else, in the same order, of the same subject.

    Args:
        one: A sentence.
        other: A sentence of another document.
        same_subject: Whether the headings above both name one thing.
        told_apart: Whether they name different things.
    """
    denies = [bool(DENIED.search(clear(text))) for text in (one, other)]
    if denies[0] == denies[1]:
        return False
    denial, said = (clear(text) for text in ((one, other) if denies[0] else (other, one)))
    if not _may_be_denied(denial, said):
        return False
    mine, theirs = _terms(_NOT.sub(" ", denial)), _terms(said)
    more = set(theirs) - set(mine)
    if len(mine) < 2 or mine[:1] != theirs[:1] or not _in_order(mine, theirs):
        return False
    if len(more) > min(_MOST_MORE, len(mine)) or more & OTHER or more & (_names(said) - _MONTHS):
        return False
    if _NAMELESS.match(denial) or _NAMELESS.match(said):
        return same_subject
    is_one_thing = not more or bool(_DEFINITE.match(denial) and _DEFINITE.match(said))
    return same_subject or bool(_names(said) & _names(denial)) or (is_one_thing and not told_apart)


def denied_terms(sentence: str) -> frozenset[str]:
    """What a sentence says or denies, in index terms."""
    return frozenset(_terms(_NOT.sub(" ", clear(sentence))))


def _may_be_denied(denial: str, said: str) -> bool:
    """Whether both are plain, the one denies once, and both speak of one time."""
    found = _NOT.search(denial)
    if found is None or len(DENIED.findall(denial)) != 1 or max(len(denial), len(said)) > _LONGEST:
        return False
    if any(HEDGED.search(text) or _IN_PART.search(text) for text in (denial, said)):
        return False
    if _NEVER.search(denial):
        return True
    past, present = bool(_PAST.search(said)), bool(_PRESENT.search(said))
    if _PAST.search(denial):
        return past or not present
    return present or not (past or _DID.search(said))


@lru_cache(maxsize=4_096)
def _terms(text: str) -> tuple[str, ...]:
    return tuple(tokenise(text))


def _names(text: str) -> set[str]:
    return set(tokenise(" ".join(names_in(text))))


def _in_order(few: Iterable[str], many: Iterable[str]) -> bool:
    """Whether all of the few stand among the many in their order."""
    left = iter(many)
    return all(term in left for term in few)
