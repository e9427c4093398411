"""Fit the committed weights of evidence or of verification by logistic regression, cross-validated; nothing is written.

    python -m tests.bench.fit_weights evidence FILE data/eval/small
    python -m tests.bench.fit_weights grounding FILE

`evidence` takes what `footnote eval answerability` takes: files of labelled conversations, and folders in BEIR's form,
one at least with unanswerable questions. `held_out` is the AUROC in ten folds by conversation, `by_the_other_sets` that
of each set by a fit on the others. `grounding` takes the claims of `footnote eval grounding`; its AUROC is in ten folds
by page, beside plain baselines (`--words`: without the embedding model).
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from config.settings import get_settings
from pipelines.evaluation.answerability import (
    ANSWERABLE,
    UNANSWERABLE,
    WITHHELD,
    MeasuredQuestion,
    abstained,
    against_answerable,
    by_label,
    clear_rows,
    load_collection,
    measure_evidence,
    share_from,
)
from pipelines.evaluation.datasets import Claim, load_claims
from pipelines.evaluation.grounding import SUPPORTED, as_source, auroc_of_labels
from pipelines.models.embedding import build_embed_model
from pipelines.models.identity import identity
from pipelines.query.evidence import Calibration, Threshold, calibration, strength
from pipelines.query.verification.normalise import normalise, numbers_in
from pipelines.query.verification.support import Embed, align_claim, features, nearest_vectors
from pipelines.query.verify import cached_embedding
from pipelines.store.tokens import tokenise
from tests.bench import arguments, show, silent

Array = NDArray[np.float64]
KEPT = 0.95  # of the answerable questions that the floor lets through
_HIGH_ERROR = 0.05  # of the unanswerable ones that may be called high
_STEPS, _STILL = 50, 1e-9
_FOLDS, _SEED = 10, 7
_CLAIMS_PENALTY = 10.0  # few claims, features that go together
_BASELINES = {"coverage": ("coverage",), "coverage + cosine + numbers": ("coverage", "cosine", "numbers")}


# Logistic regression


@dataclass(frozen=True, slots=True)
class Logistic:
    """Probability 1 / (1 + exp(-(intercept + x . weights)))."""

    intercept: float
    weights: Array

    def probabilities(self, rows: Array) -> Array:
        """Of each row, 0..1."""
        return np.asarray(1 / (1 + np.exp(-(self.intercept + rows @ self.weights))), dtype=np.float64)

    def rounded(self, names: Sequence[str]) -> tuple[float, dict[str, float]]:
        """(intercept, weight by name), as they are committed."""
        weights = {name: round(float(value), 3) for name, value in zip(names, self.weights, strict=True)}
        return round(self.intercept, 3), weights


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
    rows: Array, answers: Array, groups: Sequence[str], *, weight: Array | None = None, penalty: float = 1.0
) -> list[float]:
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
        if len(set(answers[seen].tolist())) == 2:
            own = balanced(answers[seen]) if weight is None else weight[seen]
            reached[~seen] = fit_logistic(rows[seen], answers[seen], own, penalty=penalty).probabilities(rows[~seen])
    return reached.tolist()


def keeping(groups: Sequence[Sequence[float]], share: float) -> float:
    """The highest value from which this share (0..1) of each group's values is kept, on average over the groups."""
    values = np.concatenate([np.asarray(group, dtype=float) for group in groups])
    weight = np.concatenate([np.full(len(group), 1 / len(group)) for group in groups])
    order = np.argsort(-values, kind="stable")
    kept = np.cumsum(weight[order]) / weight.sum()
    return float(values[order][min(int(np.searchsorted(kept, share - 1e-9)), len(values) - 1)])


# Evidence


def judge_held_out(rows: Sequence[MeasuredQuestion], parameters: Calibration) -> dict[str, Any]:
    """The AUROC by label, and the share left unanswered, under parameters fitted without a question's conversation."""
    clear = clear_rows(rows)
    reached = held_out(_matrix(clear, parameters), _answerable(clear), [row.group for row in clear])
    unseen = by_label(clear, reached)
    return {"auroc": against_answerable(unseen), "abstained": abstained(unseen)}


def refit_evidence(sets: Mapping[str, Sequence[MeasuredQuestion]], parameters: Calibration) -> dict[str, Any]:
    """Parameters fitted on all sets, each of equal weight, and by set the AUROC of a fit on the others.

    `floor` keeps 95 % of the ANSWERABLE questions, `high` at most 5 % of the UNANSWERABLE (of a set without any, of the
    WITHHELD); all are means over the sets. The scale of similarities stays as it is.
    """
    fitted = _fit_evidence(list(sets.values()), parameters)
    reached = [_reached(rows, fitted) for rows in sets.values()]
    right = [strengths[ANSWERABLE] for strengths in reached]
    wrong = [strengths.get(UNANSWERABLE) or strengths[WITHHELD] for strengths in reached]
    floor = math.floor(1000 * keeping(right, KEPT)) / 1000
    rising = [floor, *(number / 1000 for number in range(math.ceil(1000 * floor), 1001))]
    high = next((at for at in rising if _mean_share(wrong, at) <= _HIGH_ERROR), 1.0)
    floor_bound, high_bound = (Threshold(at, _mean_share(right, at), _mean_share(wrong, at)) for at in (floor, high))
    others = {
        name: against_answerable(_reached(given, _fit_evidence(rest, parameters)))
        for name, given in sets.items()
        if (rest := [other for label, other in sets.items() if label != name])
    }
    return {"parameters": asdict(replace(fitted, floor=floor_bound, high=high_bound)), "by_the_other_sets": others}


def _mean_share(groups: Sequence[Sequence[float]], at: float) -> float:
    return round(sum(share_from(values, at) for values in groups) / len(groups), 4)


def _reached(rows: Sequence[MeasuredQuestion], parameters: Calibration) -> dict[str, list[float]]:
    clear = clear_rows(rows)
    return by_label(clear, [strength(row.signals, parameters) for row in clear])


def _fit_evidence(sets: Sequence[Sequence[MeasuredQuestion]], parameters: Calibration) -> Calibration:
    clear = [clear_rows(rows) for rows in sets]
    answers = [_answerable(rows) for rows in clear]
    matrix = np.vstack([_matrix(rows, parameters) for rows in clear])
    fitted = fit_logistic(matrix, np.concatenate(answers), np.concatenate([*map(balanced, answers)]))
    intercept, weights = fitted.rounded(list(parameters.weights))
    return replace(parameters, intercept=intercept, weights=weights)


def _answerable(rows: Sequence[MeasuredQuestion]) -> Array:
    return np.array([float(row.label == ANSWERABLE) for row in rows])


def _matrix(rows: Sequence[MeasuredQuestion], parameters: Calibration) -> Array:
    return np.array([[row.signals.get(name, 0.0) for name in parameters.weights] for row in rows])


# Grounding


@dataclass(frozen=True, slots=True)
class FeaturedClaim:
    """What a fit sees of a claim.

    Attributes:
        page: Which page it cites; claims about one page are never on both sides of a fit.
        features: Those of the committed model.
        plain: What the baselines see: `coverage` and `numbers` (0..1), and with vectors `cosine`.
    """

    label: str
    page: str
    features: Mapping[str, float]
    plain: Mapping[str, float]


def featured(claim: Claim, embed: Embed | None) -> FeaturedClaim:
    """The features of a claim and of the page that it cites."""
    source, _ = as_source(claim.evidence)
    aligned = align_claim(claim.text, [source])
    terms, page = set(tokenise(claim.text)), frozenset[str]().union(*(line.terms for line in aligned.lines))
    numbers, held = set(numbers_in(claim.text)), numbers_in("\n".join(line.text for line in aligned.lines))
    plain = {
        "coverage": len(terms & page) / max(len(terms), 1),
        "numbers": sum(number in held for number in numbers) / len(numbers) if numbers else 1.0,
    }
    if embed:
        vector, others = nearest_vectors(normalise(claim.text), aligned, embed)
        plain["cosine"] = float(max(others @ vector, default=0.0))
    return FeaturedClaim(claim.label, source.snippet, features(claim.text, aligned, embed), plain)


def judge_claims(rows: Sequence[FeaturedClaim]) -> dict[str, dict[str, float]]:
    """The AUROC of the model's features, cross-validated, and of the baselines."""
    judged = {}
    table = [{**row.features, **row.plain} for row in rows]
    for name, columns in ({"cross-validated": tuple(rows[0].features)} | _BASELINES).items():
        if all(column in table[0] for column in columns):
            matrix = np.array([[row[column] for column in columns] for row in table])
            scores = matrix[:, 0].tolist() if len(columns) == 1 else _held_out_claims(rows, matrix)
            judged[name] = auroc_of_labels([row.label for row in rows], scores)
    return judged


def _held_out_claims(rows: Sequence[FeaturedClaim], matrix: Array) -> list[float]:
    pages = [row.page for row in rows]
    return held_out(matrix, _supported(rows), pages, weight=_claim_weight(rows), penalty=_CLAIMS_PENALTY)


def refit_claims(rows: Sequence[FeaturedClaim]) -> dict[str, Any]:
    """`intercept` and `weights` fitted on all claims, to be committed in `pipelines.query.verification.support`.

    The supported weigh as much as all others; of these, each label weighs the same.
    """
    names = list(rows[0].features)
    matrix = np.array([[row.features[name] for name in names] for row in rows])
    fitted = fit_logistic(matrix, _supported(rows), _claim_weight(rows), penalty=_CLAIMS_PENALTY)
    return dict(zip(("intercept", "weights"), fitted.rounded(names), strict=True))


def _supported(rows: Sequence[FeaturedClaim]) -> Array:
    return np.array([float(row.label == SUPPORTED) for row in rows])


def _claim_weight(rows: Sequence[FeaturedClaim]) -> Array:
    counts = Counter(row.label for row in rows)
    others = max(len(counts) - (SUPPORTED in counts), 1)
    return np.array([1 / counts[row.label] / (1 if row.label == SUPPORTED else others) for row in rows])


if __name__ == "__main__":
    options = arguments("fit_weights", __doc__)
    options.add_argument("of", choices=("evidence", "grounding"))
    options.add_argument("paths", nargs="+", type=Path)
    options.add_argument("--words", action="store_true", help="claims: use words only")
    given, settings = options.parse_args(), get_settings()
    model = identity(settings).model
    if given.of == "evidence":
        parameters = calibration(model, dense=settings.retrieval.mode != "sparse")
        collections = [load_collection(path) for path in given.paths]
        measured = {each.dataset.name: measure_evidence(settings, each, silent) for each in collections}
        judged = {name: judge_held_out(rows, parameters) for name, rows in measured.items()}
        show({"held_out": judged, **refit_evidence(measured, parameters)})
    else:
        embed = None if given.words else cached_embedding(build_embed_model(settings))
        claims = [featured(claim, embed) for path in given.paths for claim in load_claims(path)]
        show({"auroc": judge_claims(claims), "fit": refit_claims(claims)})
