"""SWAPPED: whether two names or numbers of a claim stand in each other's place in a passage."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import combinations

from pipelines.query.verification.agree import bare, folded, names_in
from pipelines.query.verification.clauses import clauses
from pipelines.store.tokens import STOP_WORDS, tokenise

_COMPARED = 8  # names or numbers of a claim, and occurrences of each, that are looked at for a change of places
_LONGEST = 60  # words between two of them
# Stop words that say which of two names or numbers is which.
_DIRECTIONS = frozenset({"to", "from", "into"})
_DAYS = frozenset(
    tokenise(
        "Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August"
        " September October November December"
    )
)
_WORD = re.compile(r"\w+(?:[.'’-]\w+)*(?:\+\+|#)?")


def swapped(sentence: str, span: str) -> bool:
    """Whether two names or numbers of a clause change places around the same words (`Ann told Bo`, `Bo told Ann`).

    A passive (`Bo was told by Ann`) turns the order of names round.
    """
    text, common = in_stems(span), frozenset(word for word in _WORD.findall(span) if word.islower())
    return any(_swaps(clause.text, text, common) for clause in clauses((bare(sentence),)))


def _swaps(said: str, text: Sequence[str], common: frozenset[str]) -> bool:
    """Whether names or numbers of a clause change places; what is written small elsewhere is no name."""
    claim = in_stems(said)
    numbers = list(dict.fromkeys(word for word in claim if word[0].isdigit()))[:_COMPARED]
    names = list(
        dict.fromkeys(stem for name in names_in(said) if name.lower() not in common for stem in in_stems(name))
    )[:_COMPARED]
    pairs = [(pair, set[str]()) for pair in combinations(numbers, 2)]
    pairs += [
        (pair, set(names) | set(numbers)) for pair in combinations(names, 2) if not _is_day(pair[0]) ^ _is_day(pair[1])
    ]
    return any(_turned(one, other, ignored, claim, text) for (one, other), ignored in pairs)


def _is_day(stem: str) -> bool:
    return stem in _DAYS


def _turned(one: str, other: str, ignored: set[str], claim: Sequence[str], text: Sequence[str]) -> bool:
    """Whether around the same words a text has two words only in the other order than a claim."""
    ignored = ignored | (STOP_WORDS - _DIRECTIONS)
    orders = {
        in_order == (("by" in said[-2:]) == ("by" in held[-2:]))
        for in_order, pair in ((True, (one, other)), (False, (other, one)))
        for said in _between(one, other, claim)
        for held in _between(*pair, text)
        if (set(said) & set(held)) - ignored
    }
    return orders == {False}


def _between(one: str, other: str, words: Sequence[str]) -> list[Sequence[str]]:
    """What stands between each of the first occurrences of one word and the next of the other."""
    starts = [at for at, word in enumerate(words) if word == one]
    ends = [at for at, word in enumerate(words) if word == other]
    found = []
    for start in starts[:_COMPARED]:
        place = bisect_right(ends, start)
        if place < len(ends):
            found.append(words[start + 1 : ends[place]][:_LONGEST])
    return found


def in_stems(text: str) -> list[str]:
    """The words of a text in order, stemmed; stop words stay."""
    words = (word.group() for word in _WORD.finditer(folded(text)))
    return [next(iter(tokenise(word, aliases=False)), word) for word in words]
