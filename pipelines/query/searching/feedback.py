"""Feedback: what the best passages of a first search add to a question, without a language model."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float32]

_SHARPNESS = 10.0


def softmax(scores: Sequence[float], *, sharpness: float = _SHARPNESS) -> list[float]:
    """Weights that sum to 1, in the order of the scores; a score 0.1 higher weighs e times as much."""
    top = max(scores, default=0.0)
    raised = [math.exp(sharpness * (score - top)) for score in scores]
    total = sum(raised)
    return [value / total for value in raised]


def unit(vector: ArrayLike) -> Vector:
    """The vector at length 1; zeros stay zeros."""
    given = np.asarray(vector, dtype=np.float32)
    length = float(np.linalg.norm(given))
    return (given / length if length > 0 else given).astype(np.float32)


def mixed(question: ArrayLike, others: Sequence[tuple[ArrayLike, float]]) -> list[float]:
    """The unit vector of a question's direction plus each other direction times its weight."""
    total = unit(question)
    for vector, weight in others:
        total = total + weight * unit(vector)
    return [float(value) for value in unit(total)]


def rocchio(
    question: ArrayLike, passages: Sequence[ArrayLike], scores: Sequence[float], *, alpha: float
) -> list[float]:
    """The unit vector q + alpha * sum of w_i d_i, where the w_i are the softmax of the passages' scores.

    Only what was found counts; nothing is taken as irrelevant.

    Args:
        question: Its vector.
        passages: The best passages' vectors.
        scores: Their scores on a scale of 0..1.
        alpha: How much the passages weigh beside the question; 0 leaves it as it is.

    Source: Rocchio, in Salton (ed.), The SMART Retrieval System, 1971; beta = alpha and gamma = 0.
    """
    weights = softmax(scores)
    return mixed(question, [(passage, alpha * weight) for passage, weight in zip(passages, weights, strict=True)])


def relevance_model(
    passages: Sequence[Sequence[str]], scores: Sequence[float], weight: Callable[[str], float], *, count: int
) -> dict[str, float]:
    """The `count` terms that the best passages speak of, each with its share; the shares sum to 1.

    A term counts sum of P(term | passage) * P(passage), times its weight (idf), so that words which every passage
    has add nothing; the P(passage) are the softmax of the scores. Ties go to the term that sorts first.

    Args:
        passages: The terms of each of the best passages.
        scores: Their scores on a scale of 0..1.
        weight: The idf of a term.
        count: How many terms.

    Source: Lavrenko, Croft, SIGIR 2001, doi:10.1145/383952.383972 (RM1); the idf as in Rocchio's SMART weights.
    """
    model: dict[str, float] = {}
    for terms, share in zip(passages, softmax(scores), strict=True):
        for term, times in Counter(terms).items():
            model[term] = model.get(term, 0.0) + share * times / len(terms)
    weighted = {term: probability * weight(term) for term, probability in model.items()}
    best = sorted(weighted, key=lambda term: (-weighted[term], term))[:count]
    total = sum(weighted[term] for term in best)
    return {term: weighted[term] / total for term in best} if total > 0 else {}


def rm3(terms: Sequence[str], model: Mapping[str, float], *, mix: float) -> dict[str, float]:
    """The question's terms and those of a relevance model in one; a term's weight is relative to 1 for the question's.

    (1 - mix) P(term | question) + mix P(term | model), over (1 - mix) P of one question term, so that a question
    keeps its scores and the model adds to them.

    Args:
        terms: The question's, as often as they stand in it.
        model: Shares that sum to 1.
        mix: The model's share of the whole, 0 <= mix < 1.

    Raises:
        ValueError: If mix is not in 0..1, or 1.

    Source: Abdul-Jaleel et al., TREC 2004 (UMass, Novelty and HARD).
    """
    if not 0 <= mix < 1:
        raise ValueError(f"mix must be at least 0 and below 1, not {mix}")
    weights = {term: float(times) for term, times in Counter(terms).items()}
    mass = mix / (1 - mix) * len(terms)
    for term, share in model.items():
        weights[term] = weights.get(term, 0.0) + mass * share
    return {term: value for term, value in weights.items() if value > 0}


def likeness(left: ArrayLike, right: ArrayLike) -> float:
    """The cosine of two texts' vectors, negatives as 0."""
    return max(float(np.dot(unit(left), unit(right))), 0.0)


def lexical_likeness(left: Sequence[str], right: Sequence[str], weight: Callable[[str], float]) -> float:
    """The cosine (0..1) of two texts' idf vectors, for searches without embeddings; 0 when one has no terms."""
    one, other = ({term: weight(term) for term in dict.fromkeys(terms)} for terms in (left, right))
    shared = sum(value * other[term] for term, value in one.items() if term in other)
    lengths = math.hypot(*one.values()) * math.hypot(*other.values())
    return shared / lengths if lengths else 0.0


def expected(own: float, readings: Sequence[tuple[float, float]]) -> float:
    """The strength (0..1) to be expected when the question may mean itself or one of its readings.

    (own + sum of trust * strength) / (1 + sum of trust): the total probability over readings, where the question as
    it was asked has the weight 1.

    Args:
        own: The strength of the passages as evidence for the question as asked.
        readings: For each reading how far it is trusted to mean the question (0..1), and the passages' strength as
            evidence for it.
    """
    return (own + sum(trust * strength for trust, strength in readings)) / (1 + sum(trust for trust, _ in readings))
