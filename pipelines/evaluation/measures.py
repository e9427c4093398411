"""Measures of a run against qrels by ir-measures, and significance tests between two systems."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pipelines.errors import ConfigError

if TYPE_CHECKING:
    from ir_measures import Measure

Qrels = Mapping[str, Mapping[str, int]]
Run = Mapping[str, Mapping[str, float]]
DEFAULT = ("nDCG@10", "recall@3", "recall@5", "recall@10", "recall@20", "recall@100", "success@5", "RR@3", "RR@10")


@cache
def _kinds() -> "dict[str, Measure]":
    try:
        from ir_measures import RR, R, Success, nDCG
    except ModuleNotFoundError as error:
        raise ConfigError("ir-measures is not installed.", hint="Run `pip install 'footnote[eval]'`.") from error
    return {"ndcg": nDCG, "recall": R, "success": Success, "rr": RR}


def parse_measure(name: str) -> "Measure":
    """The measure of a name such as `nDCG@10`: nDCG, recall (share of the relevant found), success (any found), RR.

    Raises:
        ConfigError: If there is no such measure, or ir-measures is not installed.
    """
    kinds = _kinds()
    kind, _, cutoff = name.lower().partition("@")
    if kind not in kinds or not (cutoff.isdecimal() and 0 < int(cutoff) < 10_000):
        raise ConfigError(f"There is no measure {name!r}.", hint="Use nDCG@k, recall@k, success@k or RR@k.")
    return kinds[kind] @ int(cutoff)


def per_topic(qrels: Qrels, run: Run, names: Sequence[str] = DEFAULT) -> dict[str, dict[str, float]]:
    """By topic, each measure's value (0..1); every topic of the qrels is there, found or not."""
    measures = {name: parse_measure(name) for name in names}
    by_measure = {str(measure): name for name, measure in measures.items()}
    scores: dict[str, dict[str, float]] = {topic: dict.fromkeys(names, 0.0) for topic in qrels}
    # an empty run of a topic is no run to the provider, and its topics would be missing from the mean
    full = {topic: dict(ranking) for topic, ranking in run.items() if ranking}
    plain = {topic: dict(judged) for topic, judged in qrels.items()}
    from ir_measures import iter_calc

    for value in iter_calc(list(measures.values()), plain, full):
        scores[value.query_id][by_measure[str(value.measure)]] = float(value.value)
    return scores


def means(scores: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The mean of each measure over the topics."""
    if not scores:
        return {}
    names = next(iter(scores.values()))
    return {name: sum(row[name] for row in scores.values()) / len(scores) for name in names}


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """The share (0..1) of pairs in which the positive scores higher, ties half; 0.5 is chance, 0 without pairs.

    Source: Hanley, McNeil, Radiology 1982, doi:10.1148/radiology.143.1.7063747.
    """
    ours, theirs = np.asarray(positive, dtype=float), np.asarray(negative, dtype=float)
    if not len(ours) or not len(theirs):
        return 0.0
    return float((ours[:, None] > theirs).mean() + 0.5 * (ours[:, None] == theirs).mean())


_TRIALS = 10_000


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

    @property
    def fell(self) -> bool:
        """True if the system is worse by more than chance gives in one case of twenty."""
        return self.difference < 0 and self.p < 0.05

    def __str__(self) -> str:
        """The difference with its interval, its p, and on how many topics the system is better and worse."""
        interval = f"{self.difference:+.4f} [{self.low:+.4f}, {self.high:+.4f}]"
        return f"{interval} p={self.p:.4f}, {self.wins} better, {self.losses} worse"


def compare(baseline: Sequence[float], system: Sequence[float], *, seed: int = 7) -> Comparison:
    """Compare paired scores by randomisation (p) and bootstrap (interval), both seeded.

    Source: Smucker, Allan, Carterette, CIKM 2007, doi:10.1145/1321440.1321528.
    """
    return compare_sets([(baseline, system)], seed=seed)


def compare_sets(pairs: Sequence[tuple[Sequence[float], Sequence[float]]], *, seed: int = 7) -> Comparison:
    """Compare a system with a baseline on several sets of topics, each set of equal weight.

    The difference is the mean of the sets' mean differences; signs are flipped, and topics drawn, within each set.

    Args:
        pairs: By set, the scores of the baseline and of the system, topic by topic. Sets without topics do not count.
        seed: Of what is drawn at random.
    """
    sets = [np.asarray(system, dtype=float) - np.asarray(baseline, dtype=float) for baseline, system in pairs]
    sets = [gains for gains in sets if len(gains)]
    if not sets:
        return Comparison(0.0, 0.0, 0.0, 1.0, 0, 0, 0)
    observed = float(np.mean([gains.mean() for gains in sets]))
    shuffled, drawn = np.zeros(_TRIALS), np.zeros(_TRIALS)
    for number, gains in enumerate(sets):
        share = gains / len(gains) / len(sets)
        signs, counts = _draws(len(gains), seed + number)
        shuffled += signs @ share
        drawn += counts @ share
    every = np.concatenate(sets)
    return Comparison(
        difference=observed,
        low=float(np.percentile(drawn, 2.5)),
        high=float(np.percentile(drawn, 97.5)),
        p=float((np.count_nonzero(np.abs(shuffled) >= abs(observed) - 1e-12) + 1) / (_TRIALS + 1)),
        wins=int((every > 1e-9).sum()),
        ties=int((np.abs(every) <= 1e-9).sum()),
        losses=int((every < -1e-9).sum()),
    )


@lru_cache(maxsize=4)
def _draws(topics: int, seed: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """(signs for the randomisation, how often each topic is drawn for the bootstrap), both (trials, topics)."""
    random = np.random.default_rng(seed)
    signs = random.choice(np.array([-1.0, 1.0], dtype=np.float32), size=(_TRIALS, topics))
    counts = np.zeros((_TRIALS, topics), dtype=np.float32)
    for row, drawn in enumerate(random.integers(0, topics, size=(_TRIALS, topics))):
        counts[row] = np.bincount(drawn, minlength=topics)
    return signs, counts
