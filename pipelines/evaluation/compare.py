"""Whether one system is better than another on the same topics, of one set or averaged over several."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

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
        """Whether the system is worse by more than chance gives in one case of twenty."""
        return self.difference < 0 and self.p < 0.05


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
