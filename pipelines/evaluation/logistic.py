"""A small logistic regression, with cross-validated probabilities, AUROC, thresholds and reliability bins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_STEPS = 50
_FOLDS, _SEED = 10, 7  # of `held_out`
_STILL = 1e-9


@dataclass(frozen=True, slots=True)
class Logistic:
    """Probability 1 / (1 + exp(-(intercept + x . weights)))."""

    intercept: float
    weights: Array

    def probabilities(self, rows: Array) -> Array:
        """Of each row, 0..1."""
        return np.asarray(1 / (1 + np.exp(-(self.intercept + rows @ self.weights))), dtype=np.float64)


def balanced(answers: Array) -> Array:
    """Weights (n,) that sum to 1, half of it for each of the classes 0 and 1."""
    share = answers.mean()
    return np.asarray(np.where(answers == 1, 0.5 / share, 0.5 / (1 - share)) / len(answers), dtype=np.float64)


def fit_logistic(rows: Array, answers: Array, weight: Array, *, penalty: float = 1.0) -> Logistic:
    """Fit by Newton's steps; deterministic.

    Args:
        rows: (n, signals); they are standardised for the fit, the weights found are for rows as they are given.
        answers: (n,) of 0 and 1, both of them there.
        weight: (n,) of each row; only their proportions matter.
        penalty: L2 on the standardised weights, the intercept left out.

    Source: Hastie, Tibshirani, Friedman, The Elements of Statistical Learning, 2009, section 4.4.1.
    """
    weight = weight / weight.mean()
    mean, deviation = rows.mean(axis=0), np.maximum(rows.std(axis=0), 1e-9)
    design = np.column_stack([np.ones(len(rows)), (rows - mean) / deviation])
    ridge = penalty * np.diag([1e-9, *np.ones(rows.shape[1])])
    found = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        reached = 1 / (1 + np.exp(-design @ found))
        slope = design.T @ (weight * (answers - reached)) - ridge @ found
        curve = (design.T * (weight * reached * (1 - reached))) @ design + ridge
        step = np.linalg.solve(curve, slope)
        found = found + step
        if np.abs(step).max() < _STILL:
            break
    weights = found[1:] / deviation
    return Logistic(float(found[0] - weights @ mean), weights)


def held_out(
    rows: Array,
    answers: Array,
    groups: Sequence[str],
    *,
    weight: Array | None = None,
    penalty: float = 1.0,
) -> Array:
    """The probability of each row by a fit that saw no row of its group; the fold of a group is drawn at random.

    It is 0.5 where the other folds hold rows of one class only. Without `weight`, both classes weigh the same.
    """
    names = sorted(set(groups))
    drawn = np.random.default_rng(_SEED).permutation(len(names)) % min(_FOLDS, len(names))
    fold_of = dict(zip(names, drawn.tolist(), strict=True))
    fold = np.array([fold_of[group] for group in groups])
    reached = np.full(len(rows), 0.5)
    for number in sorted(set(fold.tolist())):
        seen = fold != number
        if len(set(answers[seen].tolist())) < 2:
            continue
        own = balanced(answers[seen]) if weight is None else weight[seen]
        fitted = fit_logistic(rows[seen], answers[seen], own, penalty=penalty)
        reached[~seen] = fitted.probabilities(rows[~seen])
    return reached


def auroc(positive: Sequence[float] | Array, negative: Sequence[float] | Array) -> float:
    """The share (0..1) of pairs in which the positive scores higher, ties half; 0.5 is chance, 0 without pairs.

    Source: Hanley, McNeil, Radiology 1982, doi:10.1148/radiology.143.1.7063747.
    """
    ours, theirs = np.asarray(positive, dtype=float), np.asarray(negative, dtype=float)
    if not len(ours) or not len(theirs):
        return 0.0
    above = (ours[:, None] > theirs).mean() + 0.5 * (ours[:, None] == theirs).mean()
    return float(above)


def keeping(scores: Sequence[float] | Array, share: float, weight: Sequence[float] | Array | None = None) -> float:
    """The highest score from which at least this share (0..1) of the scores, by weight, is kept."""
    given = np.asarray(scores, dtype=float)
    heavy = np.ones(len(given)) if weight is None else np.asarray(weight, dtype=float)
    order = np.argsort(-given, kind="stable")
    kept = np.cumsum(heavy[order]) / heavy.sum()
    return float(given[order][min(int(np.searchsorted(kept, share - 1e-9)), len(given) - 1)])


def reliability(probabilities: Array, answers: Array, *, bins: int = 5) -> list[Mapping[str, float]]:
    """By bin of equal width, lowest first: `from`, `to`, `count`, and the means `predicted` and `observed`.

    The classes weigh the same, as in the fit. Empty bins are left out.
    """
    weight = balanced(answers)
    place = np.minimum((probabilities * bins).astype(int), bins - 1)
    return [
        {
            "from": number / bins,
            "to": (number + 1) / bins,
            "count": int(mine.sum()),
            "predicted": float(np.average(probabilities[mine], weights=weight[mine])),
            "observed": float(np.average(answers[mine], weights=weight[mine])),
        }
        for number in range(bins)
        if (mine := place == number).any()
    ]
