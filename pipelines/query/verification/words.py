"""The words, numbers and signs of a text, and the phrases of the word lists in it: what every check reads."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from pipelines.store.tokens import tokenise

LISTS: Mapping[str, Any] = {
    name: frozenset(own.split()) if isinstance(own, str) else own
    for name, own in json.loads(Path(__file__).with_name("words.json").read_text(encoding="utf-8")).items()
}
# A number, a word (Crumb-Co's, C++, .NET, k8s) or a sign.
_WORD = re.compile(r"\d++(?:[.,]\d++)*+(?!\w)|(?:(?<!\w)\.(?=[A-Z]))?\w+(?:[.'’&-]\w+)*(?:\+\+|#)?|[^\w\s]")
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


class TextWord(NamedTuple):
    """A word, number or sign at `text[start:end]` of its text."""

    text: str
    start: int
    end: int
    lower: str

    @property
    def is_number(self) -> bool:
        """True for digits with their separators."""
        return self.text[0].isdigit() and not self.text[-1].isalpha()

    @property
    def is_name(self) -> bool:
        """True for a word with a capital."""
        return self.text.lstrip(".")[:1].isupper()

    @property
    def is_sign(self) -> bool:
        """True for punctuation."""
        return not self.text[-1].isalnum() and len(self.text) == 1

    @property
    def is_year(self) -> bool:
        """True for 1500 to 2099."""
        return _YEAR.fullmatch(self.text) is not None


@lru_cache(maxsize=8_192)
def read(text: str) -> tuple[TextWord, ...]:
    """The words, numbers and signs of a text, in order."""
    return tuple(
        TextWord(found[0], found.start(), found.end(), found[0].lower().replace("’", "'"))
        for found in _WORD.finditer(text)
    )


def years_in(text: str) -> list[str]:
    """The years 1500 to 2099 in a text, also in a file's name."""
    return _YEAR.findall(text)


def lowered(text: str) -> list[str]:
    """The words of a text in lower case, and its signs; the parts of a word with hyphens are words."""
    return [part for word in read(text) for part in (word.lower.split("-") if "-" in word.lower[1:] else (word.lower,))]


class FoundPhrase(NamedTuple):
    """A phrase of a word list that stands at `words[start:end]`, and its name there."""

    start: int
    end: int
    name: str


@cache
def phrases_of(name: str) -> tuple[Mapping[tuple[str, ...], str], Mapping[str, Sequence[int]]]:
    """(the names of the phrases of a word list, by their words; the lengths of those that begin with a word).

    The phrases of a plain list are named by it; the longest length is first.
    """
    own = LISTS[name]
    groups = own if isinstance(own, dict) else {name: own}
    lists = {each: one.split() if isinstance(one, str) else one for each, one in groups.items()}
    phrases = {tuple(phrase.split()): each for each, listed in lists.items() for phrase in listed}
    lengths: dict[str, set[int]] = {}
    for words in phrases:
        lengths.setdefault(words[0], set()).add(len(words))
    return phrases, {word: sorted(sizes, reverse=True) for word, sizes in lengths.items()}


def find_phrases(words: Sequence[str], name: str) -> Iterator[FoundPhrase]:
    """The phrases of a word list in words of lower case, the longest at each place."""
    phrases, lengths = phrases_of(name)
    at = 0
    while at < len(words):
        for size in lengths.get(words[at], ()):
            if (found := phrases.get(tuple(words[at : at + size]))) is not None:
                yield FoundPhrase(at, at + size, found)
                at += size - 1
                break
        at += 1


def has_phrase(words: Sequence[str], name: str) -> bool:
    """True if a phrase of a word list stands in words of lower case."""
    return next(find_phrases(words, name), None) is not None


_GENERIC_TITLES = frozenset(tokenise(" ".join(LISTS["generic_titles"])))


def subject_terms(title: str) -> set[str]:
    """The index terms of a title or heading that name its subject; none for `Overview` or `Meeting notes`."""
    return set(tokenise(title)) - _GENERIC_TITLES
