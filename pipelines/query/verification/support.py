"""SUPPORT: how probable it is that sources bear a claim out, from a few features of how they hold its words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log1p

import numpy as np

from pipelines.query.verification.agree import clear, is_named, names_in, numbers_in
from pipelines.query.verification.claims import Alignment, Array
from pipelines.query.verification.figures import spoken_numbers

# Texts -> a unit vector of each, (n, dimension).
Embed = Callable[[Sequence[str]], np.ndarray]

_PASSAGE = 10  # neighbouring sentences
COMPARED = 8  # sentences of most common words whose vectors are compared
_NEAREST = 3  # of them that are put together


@dataclass(frozen=True, slots=True)
class Bound:
    """A probability, and how the verdict that begins there did on labelled claims; None = not measured."""

    at: float
    precision: float | None = None
    recall: float | None = None


@dataclass(frozen=True, slots=True)
class Weights:
    """A logistic model: 1 / (1 + exp(-(intercept + sum of weight * feature))), and where its verdicts begin.

    Attributes:
        intercept: The log-odds when every feature is 0.
        weights: By feature.
        supported: From here a claim whose details agree is supported; measured against the others.
        partial: From here a claim with no detail that is missing has some support; measured against none.
    """

    intercept: float
    weights: Mapping[str, float]
    supported: Bound
    partial: Bound


# Fitted by `footnote eval grounding wice/dev.jsonl --fit` on 349 claims: 115 supported, 191 in part, 43 not. Precision
# and recall are those of the verdicts, which also ask that the details agree. `--words` fits and measures the first.
WORDS = Weights(
    intercept=-2.339,
    weights={"together": 2.15, "passage": 3.156, "names": 0.999, "figures": 1.656},
    supported=Bound(0.55, 0.657, 0.600),
    partial=Bound(0.4, 0.978, 0.444),
)
VECTORS: Mapping[str, Weights] = {
    "all-MiniLM-L6-v2": Weights(
        intercept=-4.462,
        weights={"together": 1.61, "passage": 2.721, "names": 0.968, "figures": 1.831, "similarity": 3.757},
        supported=Bound(0.55, 0.673, 0.626),
        partial=Bound(0.4, 0.986, 0.448),
    ),
}


def probability(found: Mapping[str, float], model: Weights) -> float:
    """Of a claim with these features, 0..1: how probable it is that it is borne out."""
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
    said = clear(claim)
    cited = "\n".join(line.text for line in aligned.lines)
    held = numbers_in(cited) + spoken_numbers(cited)
    found = {
        "together": _together(aligned),
        "passage": _passage(aligned),
        "names": -log1p(sum(not is_named(name, terms) for name in dict.fromkeys(names_in(said)))),
        "figures": -log1p(sum(number not in held for number in numbers_in(said))),
    }
    return found if embed is None else found | {"similarity": _similarity(said, aligned, embed)}


def _together(aligned: Alignment) -> float:
    near = np.vstack([_with_neighbours(aligned.held[own]) for own in aligned.of_each_source()])
    pairs = np.triu(np.outer(aligned.weights, aligned.weights), 1)
    if not pairs.any():
        return max(map(aligned.covered, ([row] for row in range(len(aligned.lines)))), default=0.0)
    return float(pairs[(near.T @ near) > 0].sum() / pairs.sum())


def _with_neighbours(held: Array) -> Array:
    padded = np.pad(held, ((1, 1), (0, 0)))
    both: Array = np.maximum(np.maximum(padded[:-2], padded[2:]), held)
    return both


def _passage(aligned: Alignment) -> float:
    starts = ((own, first) for own in aligned.of_each_source() for first in range(own.start, own.stop))
    return max((aligned.covered(slice(first, min(first + _PASSAGE, own.stop))) for own, first in starts), default=0.0)


def _similarity(said: str, aligned: Alignment, embed: Embed) -> float:
    claim, others = nearest(said, aligned, embed)
    basis, _ = np.linalg.qr(others[np.argsort(-(others @ claim), kind="stable")[:_NEAREST]].T)
    return float(np.linalg.norm(basis.T @ claim))


def nearest(said: str, aligned: Alignment, embed: Embed) -> tuple[Array, Array]:
    """The vector (d,) of a claim, and those (n, d) of the eight lines that hold most of its words, those first."""
    best = np.argsort(-(aligned.held @ aligned.weights), kind="stable")[:COMPARED]
    vectors = np.asarray(embed([said, *(aligned.lines[row].text for row in best)]), np.float64)
    return vectors[0], vectors[1:]
