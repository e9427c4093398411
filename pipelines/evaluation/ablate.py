"""What each part of retrieval is worth: the full system against itself without the part."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pipelines.evaluation.compare import Comparison, compare_sets
from pipelines.evaluation.experiment import mean_over_sets, paired
from pipelines.evaluation.judged import Judged, Progress, no_progress
from pipelines.evaluation.measures import means
from pipelines.evaluation.systems import Changes
from pipelines.query.parts import PARTS, changed

Status = Literal["off", "no effect", "measured"]
# These take nodes out of a ranking that is otherwise measured whole, so they are measured on what they leave.
CUTS = frozenset({"floor", "quota", "duplicates", "neighbours"})


@dataclass(frozen=True, slots=True)
class Effect:
    """What a part brings.

    Attributes:
        status: `off` = the full system is without it already; `no effect` = no ranking of these sets changes with it.
        full, without: Means of the measure, 0..1, every set of equal weight.
        gain: full - without, over all sets; above 0 the part helps.
        by_set: The gain on each set.
    """

    part: str
    status: Status
    full: float
    without: float
    gain: Comparison
    by_set: Mapping[str, float]


def ablate(
    sets: Sequence[Judged], full: Changes, measure: str = "nDCG@10", on_progress: Progress = no_progress
) -> list[Effect]:
    """The effect of each part on one measure, in the order of PARTS.

    Raises:
        ConfigError: If the measure or a setting of `full` does not exist.
    """
    return [_effect(sets, full, part, measure, on_progress) for part in PARTS]


def _effect(sets: Sequence[Judged], full: Changes, part: str, measure: str, on_progress: Progress) -> Effect:
    lesser, cut = {**full, **PARTS[part]}, part in CUTS
    is_off = all(changed(one.engine.settings, lesser) == changed(one.engine.settings, full) for one in sets)
    whole = [one.scores(full, [measure], cut=cut, label="full", on_progress=on_progress) for one in sets]
    left = [one.scores(lesser, [measure], cut=cut, label=f"no {part}", on_progress=on_progress) for one in sets]
    same = all(_orders(one, full, cut) == _orders(one, lesser, cut) for one in sets)
    return Effect(
        part=part,
        status="off" if is_off else "no effect" if same else "measured",
        full=mean_over_sets([means(scores) for scores in whole])[measure],
        without=mean_over_sets([means(scores) for scores in left])[measure],
        gain=compare_sets([paired(less, more, measure) for less, more in zip(left, whole, strict=True)]),
        by_set={
            one.dataset.name: means(more)[measure] - means(less)[measure]
            for one, less, more in zip(sets, left, whole, strict=True)
        },
    )


def _orders(one: Judged, changes: Changes, cut: bool) -> dict[str, list[str]]:
    return {topic: list(ranking) for topic, ranking in one.run(changes, cut=cut).items()}
