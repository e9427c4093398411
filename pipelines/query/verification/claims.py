"""CLAIMS: a claim as weighted words, and sources as lines, in the terms in which the two are compared."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log

import numpy as np
from numpy.typing import NDArray

from pipelines.query.verification.agree import clear, names_in, numbers_in
from pipelines.store.tokens import tokenise
from pipelines.text import sentences, token_number
from pipelines.types import Source

Array = NDArray[np.float64]

_WORD = re.compile(r"\w+(?:[.'’-]\w+)*")
_TOKENS = 100_256  # of cl100k
_SEVERAL = 1.1  # the rarity of a word that is several tokens
_HEAD = (-1, -1)
_CONTRAST = 3  # the power of rarity by which a word counts


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence of a source with its span in the snippet, or the headings above it, which have none."""

    n: int
    start: int
    end: int
    text: str
    terms: frozenset[str]

    @property
    def is_head(self) -> bool:
        return (self.start, self.end) == _HEAD


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a claim: the terms of which the first or all others must be held, and how much it counts.

    `detail` is `name` or `number` where it is one, else empty.
    """

    terms: tuple[str, ...]
    weight: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Alignment:
    """Which word of a claim stands in which line.

    Attributes:
        lines: Those of all sources, source by source.
        words: Those of the claim, each once, in order.
        weights: (words,) how much each word of the claim counts, all together 1.
        held: (lines, words) 1 where a line has a word, else 0.
    """

    lines: tuple[Line, ...]
    words: tuple[Word, ...]
    weights: Array
    held: Array

    def covered(self, chosen: Sequence[int] | slice) -> float:
        """The share (0..1) of the claim that these lines hold together."""
        return float(self.held[chosen].max(axis=0, initial=0.0) @ self.weights)

    def of_each_source(self) -> Iterator[slice]:
        """The lines of one source after the other."""
        numbers = [line.n for line in self.lines]
        for n in dict.fromkeys(numbers):
            first = numbers.index(n)
            yield slice(first, first + numbers.count(n))


def align(claim: str, sources: Sequence[Source]) -> Alignment:
    """A claim laid over the sentences of sources, each source's headings before them as a line of their own."""
    lines = tuple(line for source in sources for line in lines_of(source))
    words = words_of(claim)
    weights = np.array([word.weight for word in words], dtype=np.float64)
    held = [[holds_word(line.terms, word) for word in words] for line in lines]
    return Alignment(
        lines, words, weights / max(weights.sum(), 1e-9), np.array(held, np.float64).reshape(len(lines), -1)
    )


def holds_word(terms: frozenset[str], word: Word) -> bool:
    """Whether a word is among terms: whole, or by all its parts or its long form."""
    whole, *parts = word.terms
    return whole in terms or (bool(parts) and terms.issuperset(parts))


def lines_of(source: Source) -> tuple[Line, ...]:
    """The lines of a source, its title and headings first."""
    return _lines(source.n, " ".join((source.title, *source.section_path)), source.snippet)


@lru_cache(maxsize=256)
def _lines(n: int, head: str, snippet: str) -> tuple[Line, ...]:
    spans = [_HEAD, *(sentences(snippet) or [(0, len(snippet))])]
    texts = [head, *(snippet[start:end] for start, end in spans[1:])]
    return tuple(
        Line(n, start, end, text, frozenset(tokenise(text)))
        for (start, end), text in zip(spans, map(clear, texts), strict=True)
    )


@lru_cache(maxsize=512)
def words_of(claim: str) -> tuple[Word, ...]:
    """The words of a claim without stop words, each once, in order."""
    said, found = clear(claim), dict[str, Word]()
    names = {term for name in names_in(said) for term in tokenise(name)}
    for match in _WORD.finditer(said):
        terms = tuple(tokenise(match[0]))
        if terms:
            detail = "number" if numbers_in(match[0]) else "name" if terms[0] in names else ""
            found.setdefault(terms[0], Word(terms, rarity(match[0]) ** _CONTRAST, detail))
    return tuple(found.values())


@lru_cache(maxsize=20_000)
def rarity(word: str) -> float:
    """How rare a word is in general text, 0..1.1: the log of its token's number over that of the last token's.

    The tokens of byte pair encoding are numbered by how often they were met. Numbers count as rare.
    """
    spellings = {word, word.lower(), word.capitalize()}
    numbers = [number for number in map(token_number, spellings) if number is not None]
    return log(min(numbers) + 1) / log(_TOKENS) if numbers else _SEVERAL
