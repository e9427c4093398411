"""Which kill points are tried: drawn from their seed, and those that once failed, which stay."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from tests.faults.injectors import Event

KEPT: tuple[int, ...] = ()
COUNT = int(os.environ.get("FOOTNOTE_FAULT_SEEDS", "0"))  # 0: a few, one or more of every stage
SEEDS = tuple(dict.fromkeys((*KEPT, *(range(COUNT) if COUNT else range(0, 25, 3)))))
FEW = range(max(2, COUNT // 20))  # of faults that take longer than a kill
_SLOTS = [  # the stages of so many seeds in a row, which hurt the same play: few plays need few rehearsals
    *("before COMMIT", "COMMIT under way", "after COMMIT", "in the transaction", "embedding") * 3,
    *("before parsing", "parsing", "any moment") * 2,
    *("in the transaction", "before COMMIT", "between documents", "lexical snapshot"),
]


@dataclass(frozen=True)
class Point:
    """Where a run is hurt: at the `nth` event of that label, or, without a label, after a share of its time."""

    stage: str
    label: str
    nth: int
    share: float = 0.0

    def __str__(self) -> str:
        return f"{self.label} ({self.nth})" if self.label else f"after {self.share:.0%} of its time"


def play_of(seed: int, plays: int) -> int:
    """Which of so many plays a seed hurts."""
    return seed // len(_SLOTS) % plays


def point_of(seed: int, events: Sequence[Event], *, moments: bool = True) -> Point:
    """The point that a seed draws: its stage, and one of the events of that; any event where the stage has none."""
    rng, stage = Random(f"point {seed}"), _SLOTS[seed % len(_SLOTS)]
    if stage == "any moment" and moments:
        return Point(stage, "", 0, rng.random())
    places = [place for place, event in enumerate(events) if event.stage == stage]
    place = rng.choice(places or range(len(events)))
    label = events[place].label
    return Point(events[place].stage, label, Counter(event.label for event in events[: place + 1])[label])
