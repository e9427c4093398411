"""What the signals of labelled questions say: how well the committed parameters do, and parameters fitted anew."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from pipelines.errors import SourceError
from pipelines.evaluation.answerability import ANSWERABLE, UNANSWERABLE, WITHHELD, Measured
from pipelines.evaluation.logistic import Array, auroc, balanced, fit_logistic, held_out, keeping, reliability
from pipelines.query.searching.assess import strength
from pipelines.query.searching.calibration import Bound, Calibration

ANSWERED = 0.9  # of the answerable questions, where abstention is reported
KEPT = 0.95  # of the answerable questions that the floor lets through
_HIGH_ERROR = 0.05  # of the unanswerable ones that may be called high


def judge(rows: Sequence[Measured], parameters: Calibration) -> dict[str, Any]:
    """How well strengths tell the labels apart.

    `auroc` and `held_out` are, by every other label, the share of pairs in which the ANSWERABLE question is the
    stronger: under the committed parameters, and under parameters that were fitted without its conversation.
    `abstained` is the share of UNANSWERABLE (else WITHHELD) questions left unanswered where 90 % of the ANSWERABLE
    are answered, by the same two. `answered` is the share of each label that reaches the committed floor, and
    `reliability` compares predicted with observed shares in five bins.
    """
    by_label = _by_label(rows, [row.strength for row in rows])
    told = _told(rows)
    answers, matrix = _answers(told), _matrix(told, parameters)
    drawn = held_out(matrix, answers, [row.group for row in told])
    unseen = _by_label(told, drawn.tolist())
    return {
        "questions": dict(Counter(row.label for row in rows)),
        "auroc": _against(by_label),
        "held_out": _against(unseen),
        "abstained": {"committed": _abstained(by_label), "held_out": _abstained(unseen)},
        "answered": {label: _share(values, parameters.floor.at) for label, values in by_label.items()},
        "high": {label: _share(values, parameters.high.at) for label, values in by_label.items()},
        "reliability": reliability(np.array([row.strength for row in told]), answers),
    }


def refit(sets: Mapping[str, Sequence[Measured]], parameters: Calibration) -> dict[str, Any]:
    """Parameters fitted on all sets, each of equal weight, and by set the AUROC of a fit on the others.

    `floor` keeps 95 % of the ANSWERABLE questions, `high` at most 5 % of the UNANSWERABLE (of a set without any, of the
    WITHHELD); all are means over the sets. The scale of similarities stays as it is.
    """
    fitted = _fit(list(sets.values()), parameters)
    reached = [_by_label(rows, _reached(rows, fitted)) for rows in map(_told, sets.values())]
    right = [by_label[ANSWERABLE] for by_label in reached]
    wrong = [by_label.get(UNANSWERABLE) or by_label[WITHHELD] for by_label in reached]
    floor = math.floor(1000 * _keeping(right, KEPT)) / 1000
    rising = [floor, *(number / 1000 for number in range(math.ceil(1000 * floor), 1001))]
    high = next((at for at in rising if _mean_share(wrong, at) <= _HIGH_ERROR), 1.0)
    floor_bound, high_bound = (Bound(at, _mean_share(right, at), _mean_share(wrong, at)) for at in (floor, high))
    others = {
        name: _against(_by_label(_told(given), _reached(_told(given), _fit(rest, parameters))))
        for name, given in sets.items()
        if (rest := [other for label, other in sets.items() if label != name])
    }
    return {"parameters": asdict(replace(fitted, floor=floor_bound, high=high_bound)), "by_the_other_sets": others}


def _keeping(groups: Sequence[Sequence[float]], share: float) -> float:
    """The highest value that keeps this share of each group's values, on average over the groups."""
    weight = [1 / len(values) for values in groups for _ in values]
    return keeping([value for values in groups for value in values], share, weight)


def _mean_share(groups: Sequence[Sequence[float]], at: float) -> float:
    return round(sum(_share(values, at) for values in groups) / len(groups), 4)


def _reached(rows: Sequence[Measured], parameters: Calibration) -> list[float]:
    return [strength(row.signals, parameters) for row in rows]


def _fit(sets: Sequence[Sequence[Measured]], parameters: Calibration) -> Calibration:
    told = [_told(rows) for rows in sets]
    weight = np.concatenate([balanced(_answers(rows)) for rows in told])
    matrix = np.vstack([_matrix(rows, parameters) for rows in told])
    found = fit_logistic(matrix, np.concatenate([_answers(rows) for rows in told]), weight)
    weights = {name: round(float(value), 3) for name, value in zip(parameters.weights, found.weights, strict=True)}
    return replace(parameters, intercept=round(found.intercept, 3), weights=weights)


def _told(rows: Sequence[Measured]) -> list[Measured]:
    """The rows that are clearly one or the other."""
    kept = [row for row in rows if row.label in (ANSWERABLE, UNANSWERABLE, WITHHELD)]
    if len({row.label == ANSWERABLE for row in kept}) < 2:
        raise SourceError("Questions of both kinds are needed.", hint=f"Label some {ANSWERABLE}, some {UNANSWERABLE}.")
    return kept


def _answers(rows: Sequence[Measured]) -> Array:
    return np.array([float(row.label == ANSWERABLE) for row in rows])


def _matrix(rows: Sequence[Measured], parameters: Calibration) -> Array:
    return np.array([[row.signals.get(name, 0.0) for name in parameters.weights] for row in rows])


def _by_label(rows: Sequence[Measured], values: Sequence[float]) -> dict[str, list[float]]:
    grouped: dict[str, list[float]] = {}
    for row, value in zip(rows, values, strict=True):
        grouped.setdefault(row.label, []).append(value)
    return grouped


def _against(by_label: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {label: auroc(by_label[ANSWERABLE], own) for label, own in by_label.items() if label != ANSWERABLE}


def _abstained(by_label: Mapping[str, Sequence[float]]) -> float:
    wrong = by_label.get(UNANSWERABLE) or by_label.get(WITHHELD) or []
    return 1 - _share(wrong, keeping(by_label[ANSWERABLE], ANSWERED))


def _share(values: Sequence[float], at: float) -> float:
    return round(sum(value >= at for value in values) / len(values), 4) if values else 0.0
