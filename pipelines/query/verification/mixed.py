"""MIXED: a clause of a claim that says the contrary of the nearest clauses, or is put together from two of them."""

import re
from collections.abc import Sequence, Set
from functools import lru_cache

from pipelines.query.verification.claims import Array, Word, holds_word
from pipelines.query.verification.clauses import Clause
from pipelines.query.verification.opposites import opposed
from pipelines.query.verification.swapped import in_stems

_LABEL = re.compile(r"\b([A-Za-z][a-z]+) ([A-Z])\b(?![.&'’-]\w)")
_MOST = 0.6  # of a clause, for another to be about the same
_FEWEST = 3  # words of a clause that can be put together
_RUN = 3  # words in a row
_ARTICLES = frozenset({"a", "an", "the"})


def is_contrary(said: Clause, held: Sequence[Clause], shares: Array) -> bool:
    """Whether the clauses that hold most of one of a claim, by their shares of it, all say the contrary of it."""
    most = shares.max(initial=0.0)
    nearest = (clause for clause, share in zip(held, shares, strict=True) if share == most)
    return bool(most >= _MOST) and all(
        opposed(said.text, clause.text) or _relabelled(said.text, clause.text) for clause in nearest
    )


def _relabelled(claim: str, text: str) -> bool:
    """Whether a thing that a letter names has another letter in a text (`group A`, `group B`)."""
    mine, theirs = _labels(claim), _labels(text)
    return any(noun in theirs and letters.isdisjoint(theirs[noun]) for noun, letters in mine.items())


def _labels(text: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for noun, letter in _LABEL.findall(text):
        found.setdefault(noun.lower(), set()).add(letter)
    return found


def is_mixed(said: Clause, words: Sequence[Word], held: Sequence[Clause], holding: Array, skip: Set[int]) -> bool:
    """Whether a clause has other words between the same two, and another clause has those of the claim.

    `The landlord repairs the doors` of `The landlord repairs the roof, and tenants repair the doors`. Names and numbers
    are not looked at.

    Args:
        said: A clause of a claim.
        words: Its words.
        held: The clauses of the sources.
        holding: (clauses, words) 1 where a clause holds a word or brings it in.
        skip: The places of its names and numbers.
    """
    if len(words) < _FEWEST or (holding.min(axis=1) > 0).any():
        return False
    spoken = _in_order(said.text)
    for clause, row in zip(held, holding, strict=True):
        places = [place for place, has in enumerate(row) if not has]
        missing = [words[place] for place in places]
        if len(missing) > _RUN or not skip.isdisjoint(places):
            continue
        if _stands_between(missing, spoken, _in_order(clause.text), said.terms) and any(
            all(holds_word(other.terms, word) for word in missing) for other in held if other is not clause
        ):
            return True
    return False


def _stands_between(missing: Sequence[Word], spoken: Sequence[str], held: Sequence[str], terms: frozenset[str]) -> bool:
    """Whether the missing words stand in a row, and between the same neighbours there are others."""
    absent = {term for word in missing for term in word.terms}
    at = [place for place, word in enumerate(spoken) if word in absent]
    if not at or at[-1] - at[0] >= _RUN or len(at) != at[-1] - at[0] + 1:
        return False
    before, after = spoken[at[0] - 1], spoken[at[-1] + 1]
    starts = [place for place, word in enumerate(held) if word == before and (before or after)]
    return any(
        held[end] == after and terms.isdisjoint(held[start + 1 : end])
        for start in starts
        for end in range(start + 2, min(start + _RUN + 2, len(held)))
    )


@lru_cache(maxsize=4_096)
def _in_order(text: str) -> tuple[str, ...]:
    """The words of a text in order, stemmed, without articles, an empty one at each end."""
    return ("", *(stem for stem in in_stems(text) if stem not in _ARTICLES), "")
