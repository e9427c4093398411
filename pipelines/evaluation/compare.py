"""Whether one system is better than another on the same topics."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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


def compare(baseline: Sequence[float], system: Sequence[float], *, seed: int = 7) -> Comparison:
    """Compare paired scores by randomisation (p) and bootstrap (interval), both seeded.

    Source: Smucker, Allan, Carterette, CIKM 2007, doi:10.1145/1321440.1321528.
    """
    gains = np.asarray(system, dtype=float) - np.asarray(baseline, dtype=float)
    if not len(gains):
        return Comparison(0.0, 0.0, 0.0, 1.0, 0, 0, 0)
    random = np.random.default_rng(seed)
    signs = random.choice([-1.0, 1.0], size=(_TRIALS, len(gains)))
    shuffled = np.abs((signs * gains).mean(axis=1))
    observed = abs(gains.mean())
    drawn = gains[random.integers(0, len(gains), size=(_TRIALS, len(gains)))].mean(axis=1)
    return Comparison(
        difference=float(gains.mean()),
        low=float(np.percentile(drawn, 2.5)),
        high=float(np.percentile(drawn, 97.5)),
        p=float((np.count_nonzero(shuffled >= observed - 1e-12) + 1) / (_TRIALS + 1)),
        wins=int((gains > 1e-9).sum()),
        ties=int((np.abs(gains) <= 1e-9).sum()),
        losses=int((gains < -1e-9).sum()),
    )
