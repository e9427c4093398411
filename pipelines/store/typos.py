"""Spellings: the indexed terms that a word unknown to the index may have been meant for."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_lowercase

from pipelines.store.tokens import stems
from pipelines.text import count_tokens

_ONE_SLIP = 5  # letters of the word; among shorter ones too many are one slip from another real word
_TWO_SLIPS = 9  # letters of its stem
_LONGEST = 32  # letters; a longer run is no word, and has too many spellings
_MOST = 2


@dataclass(frozen=True, slots=True)
class Spelling:
    """A term, the spelling that led to it, and how like the word it is (0..1)."""

    term: str
    spelling: str
    similarity: float


def nearest(word: str, frequency: Callable[[str], int], terms: Callable[[str], Sequence[str]]) -> list[Spelling]:
    """The at most two terms that are one slip from a word, the likeliest first; two slips for a long word.

    A slip is a letter left out, added, wrong, or swapped with the next; the first letter is taken to be right. The
    slips are undone before the stem is taken: most of them break the ending that stemming would have taken off.

    A word that is one cl100k token is no typo, and a spelling has to take fewer tokens than the word: so a right word
    that the index merely lacks is seldom taken for another (2 to 6 in 100, by the size of the index, against 13 to 31).

    Args:
        word: In lower case.
        frequency: In how many nodes a term stands.
        terms: The terms that begin with a letter; those that no node holds any more are passed over.

    Source: Damerau, CACM 1964, doi:10.1145/363958.363994.
    """
    if not _ONE_SLIP <= len(word) <= _LONGEST or not (word.isascii() and word.isalpha()) or _tokens(word) == 1:
        return []
    found = _one_slip(word, frequency) or _two_slips(word, frequency, terms)
    return [spelling for spelling in found if _tokens(spelling.spelling) < _tokens(word)][:_MOST]


def _one_slip(word: str, frequency: Callable[[str], int]) -> list[Spelling]:
    spellings = list(dict.fromkeys(_undone(word)))
    found: dict[str, list[str]] = {}
    for spelling, stem in zip(spellings, stems(spellings), strict=True):
        if frequency(stem):
            found.setdefault(stem, []).append(spelling)
    best = {stem: min(forms, key=_tokens) for stem, forms in found.items()}
    ranked = sorted(best, key=lambda stem: (_tokens(best[stem]), -frequency(stem), stem))
    return [Spelling(stem, best[stem], 1 - 1 / max(len(word), len(best[stem]))) for stem in ranked]


def _undone(word: str) -> Iterator[str]:
    """The word with one slip undone: first without a letter, then with one more, with two swapped, with another."""
    halves = [(word[:place], word[place:]) for place in range(1, len(word) + 1)]
    yield from (head + tail[1:] for head, tail in halves if tail)
    yield from (head + letter + tail for head, tail in halves for letter in ascii_lowercase)
    yield from (head + tail[1] + tail[0] + tail[2:] for head, tail in halves if len(tail) > 1)
    yield from (head + letter + tail[1:] for head, tail in halves if tail for letter in ascii_lowercase)


def _two_slips(word: str, frequency: Callable[[str], int], terms: Callable[[str], Sequence[str]]) -> list[Spelling]:
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    (stem,) = stems([word])
    if len(stem) < _TWO_SLIPS:
        return []
    near = process.extract(stem, terms(word[0]), scorer=OSA.distance, score_cutoff=2, limit=None)
    ranked = sorted((distance, -times, term) for term, distance, _ in near if (times := frequency(term)))
    ending = word[len(stem) :] if word.startswith(stem) else ""
    return [Spelling(term, term + ending, 1 - distance / max(len(stem), len(term))) for distance, _, term in ranked]


@lru_cache(maxsize=10_000)
def _tokens(word: str) -> int:
    return min(count_tokens(f" {word}"), count_tokens(f" {word.title()}"))
