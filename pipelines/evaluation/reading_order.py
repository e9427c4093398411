"""How like a document's text is to its twin in another format, word by word and in order."""

import re
from collections.abc import Iterable, Iterator

from rapidfuzz.distance import Indel

from pipelines.text import fold

_SPACED = 3


def reading_order(text: str, twin: str) -> float:
    """2 LCS / (words of the one + words of the other), from 0 to 1; 1 when the words are the same in the same order.

    LCS is the longest common subsequence. Words are runs of letters and digits, case and accents folded; a word that
    is set letter by letter ("S K I L L S") is one word.
    """
    return float(Indel.normalized_similarity(words_of(text), words_of(twin)))


def words_of(text: str) -> list[str]:
    """The words of a text in order, folded."""
    return list(_joined(re.findall(r"[^\W_]+", fold(text))))


def _joined(words: Iterable[str]) -> Iterator[str]:
    letters: list[str] = []
    for word in words:
        if len(word) == 1 and word.isalpha():
            letters.append(word)
            continue
        yield from _spelt(letters)
        letters = []
        yield word
    yield from _spelt(letters)


def _spelt(letters: list[str]) -> list[str]:
    return ["".join(letters)] if len(letters) >= _SPACED else letters
