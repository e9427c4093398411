"""Align a claim with its sources: features, probability of support and the best places."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, log, log1p

import numpy as np
from numpy.typing import NDArray

from pipelines.answers import Source
from pipelines.query.verification.normalise import (
    ambiguous_number_words,
    contains_name,
    names_in,
    normalise,
    numbers_in,
)
from pipelines.query.verification.words import read, years_in
from pipelines.store.tokens import tokenise
from pipelines.text import Span, token_number

Array = NDArray[np.float64]

_VOCABULARY = 100_256  # of cl100k
_UNKNOWN_RARITY = 1.1  # the rarity of a word that is several tokens
_HEADING_SPAN = (-1, -1)
_RARITY_POWER = 3  # the power of rarity by which a word counts


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A sentence of a source with its span in the snippet, or the headings of the source, which have no span."""

    n: int
    start: int
    end: int
    text: str
    terms: frozenset[str]

    @property
    def is_head(self) -> bool:
        return (self.start, self.end) == _HEADING_SPAN


@dataclass(frozen=True, slots=True)
class ClaimWord:
    """A word of a claim with its weight and detail; found if its first term is, or all its other terms are."""

    terms: tuple[str, ...]
    weight: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Alignment:
    """The words of a claim, in order, aligned with the lines of all sources, source by source.

    `weights` (words,) sum to 1; `held` (lines, words) is 1 if the line holds the word, else 0.
    """

    lines: tuple[SourceLine, ...]
    words: tuple[ClaimWord, ...]
    weights: Array
    held: Array

    def covered(self, chosen: Sequence[int] | slice) -> float:
        """The share (0..1) of the claim's weight that these lines cover together."""
        return float(self.held[chosen].max(axis=0, initial=0.0) @ self.weights)

    def of_each_source(self) -> Iterator[slice]:
        """The slice of lines of each source."""
        numbers = [line.n for line in self.lines]
        for n in dict.fromkeys(numbers):
            first = numbers.index(n)
            yield slice(first, first + numbers.count(n))


def align_claim(claim: str, sources: Sequence[Source]) -> Alignment:
    """Align a claim with the sentences of sources; the headings of a source are its first line."""
    lines = tuple(line for source in sources for line in source_lines(source))
    words = claim_words(claim)
    weights = np.array([word.weight for word in words], dtype=np.float64)
    held = [[contains_word(line.terms, word) for word in words] for line in lines]
    return Alignment(
        lines, words, weights / max(weights.sum(), 1e-9), np.array(held, np.float64).reshape(len(lines), -1)
    )


def contains_word(terms: frozenset[str], word: ClaimWord) -> bool:
    """True if a word is among terms: whole, or by all its parts or its long form."""
    whole, *parts = word.terms
    return whole in terms or (bool(parts) and terms.issuperset(parts))


def source_lines(source: Source) -> tuple[SourceLine, ...]:
    """The lines of a source, its title, headings and the years of its file's name first."""
    years = years_in(source.documentName)
    head = " ".join((source.title, *source.section_path, *years))
    return _cached_lines(source.n, head, source.snippet, tuple(source.sentences))


@lru_cache(maxsize=256)
def _cached_lines(n: int, head: str, snippet: str, own: tuple[Span, ...]) -> tuple[SourceLine, ...]:
    spans = [_HEADING_SPAN, *own]
    texts = [head, *(snippet[start:end] for start, end in spans[1:])]
    return tuple(
        SourceLine(n, start, end, text, frozenset(tokenise(text)))
        for (start, end), text in zip(spans, map(normalise, texts), strict=True)
    )


@lru_cache(maxsize=512)
def claim_words(claim: str) -> tuple[ClaimWord, ...]:
    """The words of a claim without stop words, each once, in order."""
    said, found = normalise(claim), dict[str, ClaimWord]()
    names = {term for name in names_in(said) for term in tokenise(name)}
    for word in read(said):
        if terms := tuple(tokenise(word.text)):
            detail = "number" if numbers_in(word.text) else "name" if terms[0] in names else ""
            found.setdefault(terms[0], ClaimWord(terms, rarity(word.text) ** _RARITY_POWER, detail))
    return tuple(found.values())


@lru_cache(maxsize=20_000)
def rarity(word: str) -> float:
    """Rarity of a word in general text, 0..1.1: log of its token number divided by log of the vocabulary size.

    Byte pair encoding numbers tokens by frequency. Numbers count as rare.
    """
    spellings = {word, word.lower(), word.capitalize()}
    numbers = [number for number in map(token_number, spellings) if number is not None]
    return log(min(numbers) + 1) / log(_VOCABULARY) if numbers else _UNKNOWN_RARITY


# Texts -> a unit vector of each, (n, dimension).
Embed = Callable[[Sequence[str]], np.ndarray]

_PASSAGE = 10  # neighbouring sentences
_COMPARED = 8  # sentences of most common words whose vectors are compared
_NEAREST = 3  # of them that are put together


@dataclass(frozen=True, slots=True)
class SupportModel:
    """A logistic model: 1 / (1 + exp(-(intercept + sum of weight * feature))), with a weight for each feature."""

    intercept: float
    weights: Mapping[str, float]


# The least probability of `supported` against all other claims, and of `partial` against unsupported ones. On 349
# claims (115 supported, 191 in part, 43 not) the verdicts, which also ask that the details agree, have the precision
# and recall .679 and .626, .986 and .461; by words alone .673 and .609, .979 and .454.
SUPPORTED_AT, PARTIAL_AT = 0.55, 0.4
# Fitted by `tests.bench.fit_weights grounding FILE` on these claims, the first with `--words`.
WORDS_MODEL = SupportModel(-2.339, {"together": 2.15, "passage": 3.156, "names": 0.999, "figures": 1.656})
VECTOR_MODELS: Mapping[str, SupportModel] = {
    "all-MiniLM-L6-v2": SupportModel(
        -4.462, {"together": 1.61, "passage": 2.721, "names": 0.968, "figures": 1.831, "similarity": 3.757}
    )
}


def probability(found: Mapping[str, float], model: SupportModel) -> float:
    """The probability (0..1) that a claim with these features is supported."""
    odds = model.intercept + sum(weight * found[name] for name, weight in model.weights.items())
    return 1 / (1 + exp(-max(min(odds, 50.0), -50.0)))


def features(claim: str, aligned: Alignment, embed: Embed | None = None) -> dict[str, float]:
    """Features by name; `similarity` only with vectors.

    - `together` (0..1): the share of the claim's pairs of words that stand in three neighbouring sentences.
    - `passage` (0..1): the share of the claim that the best ten neighbouring sentences hold.
    - `names`, `figures` (0 or less): -log(1 + how many names, numbers, of the claim stand nowhere).
    - `similarity` (0..1): the length of the claim's vector within the space of the three nearest sentences.
    """
    terms = frozenset().union(*(line.terms for line in aligned.lines))
    said = normalise(claim)
    cited = "\n".join(line.text for line in aligned.lines)
    held = numbers_in(cited) + ambiguous_number_words(cited)
    found = {
        "together": _together(aligned),
        "passage": _passage(aligned),
        "names": -log1p(sum(not contains_name(name, terms) for name in dict.fromkeys(names_in(said)))),
        "figures": -log1p(sum(number not in held for number in numbers_in(said))),
    }
    return found if embed is None else found | {"similarity": _similarity(said, aligned, embed)}


def _together(aligned: Alignment) -> float:
    padded = [np.pad(aligned.held[own], ((1, 1), (0, 0))) for own in aligned.of_each_source()]
    near = np.vstack([np.maximum(np.maximum(each[:-2], each[2:]), each[1:-1]) for each in padded])
    pairs = np.triu(np.outer(aligned.weights, aligned.weights), 1)
    if not pairs.any():
        return max(map(aligned.covered, ([row] for row in range(len(aligned.lines)))), default=0.0)
    return float(pairs[(near.T @ near) > 0].sum() / pairs.sum())


def _passage(aligned: Alignment) -> float:
    starts = ((own, first) for own in aligned.of_each_source() for first in range(own.start, own.stop))
    return max((aligned.covered(slice(first, min(first + _PASSAGE, own.stop))) for own, first in starts), default=0.0)


def _similarity(text: str, aligned: Alignment, embed: Embed) -> float:
    claim, others = nearest_vectors(text, aligned, embed)
    basis, _ = np.linalg.qr(others[np.argsort(-(others @ claim), kind="stable")[:_NEAREST]].T)
    return float(np.linalg.norm(basis.T @ claim))


def nearest_vectors(text: str, aligned: Alignment, embed: Embed) -> tuple[Array, Array]:
    """The vector (d,) of a claim, and those (n, d) of the eight lines that hold most of its words, those first."""
    best = np.argsort(-(aligned.held @ aligned.weights), kind="stable")[:_COMPARED]
    vectors = np.asarray(embed([text, *(aligned.lines[row].text for row in best)]), np.float64)
    return vectors[0], vectors[1:]


_MOST_PLACES = 3
_PLACE_GAIN = 0.1  # of the claim, for another place to be shown
_NEIGHBOUR_GAIN = 0.05  # of the claim, for a neighbour to be shown with a place
_COSINE_WEIGHT = 0.3  # of cosine beside the share of the claim that a sentence holds


def best_places(aligned: Alignment, claim: str = "", embed: Embed | None = None) -> list[slice]:
    """The places that support the claim: at most three, best first, each one line or two neighbouring lines.

    A line scores by the claim words that it holds, weighted by how few lines hold them, and with vectors by its cosine
    to the claim. Each further place must add a tenth of the claim.
    """
    rows = [row for row, line in enumerate(aligned.lines) if not line.is_head]
    few = np.log1p((len(rows) + 1) / (aligned.held[rows].sum(axis=0) + 1)) * np.cbrt(aligned.weights) ** 2
    left = few / max(few.sum(), 1e-9)
    near = _cosines(claim, aligned, rows, left, embed) if embed else np.zeros(len(rows))
    found: list[slice] = []
    for _ in range(_MOST_PLACES):
        gains = aligned.held[rows] @ left
        best = int(np.argmax(gains + _COSINE_WEIGHT * near))
        if found and gains[best] < _PLACE_GAIN:
            break
        found.append(_extended(rows[best], aligned, left))
        left = left * (1 - aligned.held[found[-1]].max(axis=0))
    return found


def _extended(row: int, aligned: Alignment, left: Array) -> slice:
    """The line, with the neighbour that adds most to the covered claim if it adds enough."""
    own = left * (1 - aligned.held[row])
    around = [other for other in (row - 1, row + 1) if 0 <= other < len(aligned.lines)]
    lines = aligned.lines
    beside = [other for other in around if not lines[other].is_head and lines[other].n == lines[row].n]
    added, other = max(((float(aligned.held[other] @ own), -other) for other in beside), default=(0.0, 0))
    return slice(min(row, -other), max(row, -other) + 1) if added >= _NEIGHBOUR_GAIN else slice(row, row + 1)


def _cosines(claim: str, aligned: Alignment, rows: Sequence[int], left: Array, embed: Embed) -> Array:
    """Cosine to the claim of the lines that hold most of it; 0 for all others."""
    best = np.argsort(-(aligned.held[rows] @ left), kind="stable")[:_COMPARED]
    vectors = np.asarray(embed([normalise(claim), *(aligned.lines[rows[row]].text for row in best)]), np.float64)
    near = np.zeros(len(rows))
    near[best] = vectors[1:] @ vectors[0]
    return near
