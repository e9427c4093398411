"""Measures of a run against qrels by ir-measures, and significance tests between two systems."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pipelines.errors import ConfigError

if TYPE_CHECKING:
    from ir_measures import Measure

Qrels = Mapping[str, Mapping[str, int]]
Run = Mapping[str, Mapping[str, float]]
DEFAULT = ("nDCG@10", "recall@3", "recall@5", "recall@10", "recall@20", "recall@100", "success@5", "RR@3", "RR@10")
_TRIALS = 10_000


def parse_measure(name: str) -> "Measure":
    """The measure of ir-measures of a name such as `nDCG@10`, `RR@10`, recall@k (share of the relevant found) or
    success@k (any found).

    Raises:
        ConfigError: If there is no such measure, or ir-measures is not installed.
    """
    try:
        import ir_measures
    except ModuleNotFoundError as error:
        raise ConfigError("ir-measures is not installed.", hint="Run `pip install 'footnote[eval]'`.") from error
    try:
        return ir_measures.parse_measure(name.replace("recall@", "R@").replace("success@", "Success@"))
    except (NameError, ValueError, TypeError, AssertionError) as error:
        raise ConfigError(f"There is no measure {name!r}.", hint="Use nDCG@k, recall@k, success@k or RR@k.") from error


def per_topic(qrels: Qrels, run: Run, names: Sequence[str] = DEFAULT) -> dict[str, dict[str, float]]:
    """By topic, each measure's value (0..1); every topic of the qrels is there, found or not."""
    measures = {parse_measure(name): name for name in names}
    scores: dict[str, dict[str, float]] = {topic: dict.fromkeys(names, 0.0) for topic in qrels}
    found = {topic: dict(ranking) for topic, ranking in run.items() if ranking}  # an empty ranking is no run there
    from ir_measures import iter_calc

    for value in iter_calc(list(measures), {topic: dict(judged) for topic, judged in qrels.items()}, found):
        scores[value.query_id][measures[value.measure]] = float(value.value)
    return scores


def means(scores: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The mean of each measure over the topics."""
    names = next(iter(scores.values()), {})
    return {name: sum(row[name] for row in scores.values()) / len(scores) for name in names}


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """The share (0..1) of pairs in which the positive scores higher, ties half; 0.5 is chance, 0 without pairs.

    Source: Hanley, McNeil, Radiology 1982, doi:10.1148/radiology.143.1.7063747.
    """
    differences = np.subtract.outer(np.asarray(positive, dtype=float), np.asarray(negative, dtype=float))
    return float(np.heaviside(differences, 0.5).mean()) if differences.size else 0.0


@dataclass(frozen=True, slots=True)
class Comparison:
    """The mean difference (system - baseline), its 95 % interval, the two-sided p, and wins, ties and losses."""

    difference: float
    low: float
    high: float
    p: float
    wins: int
    ties: int
    losses: int

    def __str__(self) -> str:
        """The difference with its interval, its p, and on how many topics the system is better and worse."""
        interval = f"{self.difference:+.4f} [{self.low:+.4f}, {self.high:+.4f}]"
        return f"{interval} p={self.p:.4f}, {self.wins} better, {self.losses} worse"


def compare(baseline: Sequence[float], system: Sequence[float]) -> Comparison:
    """Compare paired scores by randomisation (p) and bootstrap (interval), both seeded.

    Source: Smucker, Allan, Carterette, CIKM 2007, doi:10.1145/1321440.1321528.
    """
    return compare_sets([(baseline, system)])


def compare_sets(pairs: Sequence[tuple[Sequence[float], Sequence[float]]]) -> Comparison:
    """Compare a system with a baseline on several sets of topics, each set of equal weight.

    The difference is the mean of the sets' mean differences; signs are flipped, and topics drawn, within each set.

    Args:
        pairs: By set, the scores of the baseline and of the system, topic by topic. Sets without topics do not count.
    """
    sets = [np.subtract(system, baseline, dtype=float) for baseline, system in pairs if len(baseline)]
    if not sets:
        return Comparison(0.0, 0.0, 0.0, 1.0, 0, 0, 0)
    random, shuffled, drawn = np.random.default_rng(7), np.zeros(_TRIALS), np.zeros(_TRIALS)
    for gains in sets:
        shuffled += (gains * (1 - 2 * random.integers(0, 2, (_TRIALS, len(gains))))).mean(axis=1) / len(sets)
        drawn += gains[random.integers(0, len(gains), (_TRIALS, len(gains)))].mean(axis=1) / len(sets)
    observed = float(np.mean([gains.mean() for gains in sets]))
    low, high = np.percentile(drawn, (2.5, 97.5))
    as_large = np.count_nonzero(np.abs(shuffled) >= abs(observed) - 1e-12)
    every = np.concatenate(sets)
    wins, losses = int((every > 1e-9).sum()), int((every < -1e-9).sum())
    p = float((as_large + 1) / (_TRIALS + 1))
    return Comparison(observed, float(low), float(high), p, wins, len(every) - wins - losses, losses)
