"""Fit numeric settings by coordinate search, judged by cross-validation on held-out topics."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from config.settings import Settings
from pipelines.evaluation.measures import Comparison, compare_sets
from pipelines.query.ablation import change_settings

Scores = Mapping[str, float]
Scorer = Callable[[Mapping[str, Any]], Scores]  # settings by dotted name -> the score of each topic
Values = Mapping[str, Sequence[Any]]

# What `footnote eval beir --fit` tries.
FITTED: dict[str, tuple[Any, ...]] = {
    "retrieval.dense_weight": (0.4, 0.5, 0.6, 0.7),
    "retrieval.pair_weight": (0.0, 0.1, 0.2),
    "retrieval.whitening": (0.0, 0.25, 0.5),
}
_ROUNDS = 3
_WORTH = 1e-3  # a smaller gain moves no setting


@dataclass(frozen=True, slots=True)
class Fit:
    """The settings that a search chose, and their gain on topics that it did not see.

    Attributes:
        chosen: The settings that would change, by dotted name; found on all topics.
        current: What these settings are now.
        seen: The mean score with `chosen` on all topics; flattering, since it was chosen on them.
        now: The mean score of the settings as they stand.
        held_out: By the k folds: each topic under the settings that the topics of the other folds chose.
        by_set: Each set under the settings that the other sets chose; empty for one set.
    """

    chosen: dict[str, Any]
    current: dict[str, Any]
    seen: float
    now: float
    held_out: Comparison
    by_set: dict[str, Comparison]

    @property
    def helps(self) -> bool:
        """True if the interval of the held-out gain lies above 0."""
        return bool(self.chosen) and self.held_out.low > 0


def fit(
    sets: Mapping[str, Scorer],
    values: Values,
    settings: Settings,
    *,
    folds: int = 5,
    seed: int = 7,
    on_score: Callable[[int], None] = lambda _: None,
) -> Fit:
    """Search the values of each setting in turn, from the settings as they stand; nothing is written.

    Args:
        sets: By name, what scores the topics of a set. Sets have equal weight.
        values: By dotted name, the values to try; the value that stands is tried too.
        settings: As they stand.
        folds: Of the cross-validation; topics are dealt to them at random within each set.
        seed: Of that deal.
        on_score: Told how many settings were scored so far.

    Raises:
        ConfigError: If a name is not a setting of a query, or a value does not fit it.
    """
    for name, tried in values.items():
        for value in tried:
            change_settings(settings, {name: value})
    current = {name: _value(settings, name) for name in values}
    bench = _Bench(sets, current, on_score)
    topics = {name: tuple(scores) for name, scores in bench.scores(current).items()}
    dealt = {name: _deal(ids, folds, seed) for name, ids in topics.items()}
    every = search(bench, values, current, topics)
    held: dict[str, dict[str, float]] = {name: {} for name in topics}
    for fold in range(folds):
        learnt_on = {name: [t for t in ids if dealt[name][t] != fold] for name, ids in topics.items()}
        found = bench.scores(search(bench, values, current, learnt_on))
        for name, ids in topics.items():
            held[name] |= {topic: found[name][topic] for topic in ids if dealt[name][topic] == fold}
    stand = bench.scores(current)
    return Fit(
        chosen={name: value for name, value in every.items() if value != current[name]},
        current=current,
        seen=bench.mean(every, topics),
        now=bench.mean(current, topics),
        held_out=compare_sets([_pairs(stand[name], held[name], ids) for name, ids in topics.items()]),
        by_set=_leave_one_out(bench, values, current, topics) if len(topics) > 1 else {},
    )


def search(
    bench: "_Bench", values: Values, start: Mapping[str, Any], topics: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """The best settings on these topics that changing one at a time finds; a tie keeps what stands."""
    best, score = dict(start), bench.mean(start, topics)
    for _ in range(_ROUNDS):
        before = dict(best)
        for name, tried in values.items():
            for value in tried:
                reached = bench.mean({**best, name: value}, topics)
                if reached > score + _WORTH:
                    best, score = {**best, name: value}, reached
        if best == before:
            break
    return best


class _Bench:
    """Scores settings, each only once, whatever topics are looked at."""

    def __init__(self, sets: Mapping[str, Scorer], current: Mapping[str, Any], on_score: Callable[[int], None]) -> None:
        self._sets = sets
        self._current = current
        self._on_score = on_score
        self._known: dict[tuple[tuple[str, Any], ...], dict[str, Scores]] = {}

    def scores(self, values: Mapping[str, Any]) -> dict[str, Scores]:
        """By set, by topic."""
        key = tuple(sorted(values.items()))
        if key not in self._known:
            changes = {name: value for name, value in values.items() if value != self._current[name]}
            self._known[key] = {name: score(changes) for name, score in self._sets.items()}
            self._on_score(len(self._known))
        return self._known[key]

    def mean(self, values: Mapping[str, Any], topics: Mapping[str, Sequence[str]]) -> float:
        """Over these topics, every set of equal weight; sets without topics do not count."""
        found = self.scores(values)
        means = [sum(found[name][topic] for topic in ids) / len(ids) for name, ids in topics.items() if ids]
        return sum(means) / len(means) if means else 0.0


def _leave_one_out(
    bench: _Bench, values: Values, current: Mapping[str, Any], topics: Mapping[str, Sequence[str]]
) -> dict[str, Comparison]:
    found = {}
    for left, ids in topics.items():
        others = {name: those for name, those in topics.items() if name != left}
        tuned = bench.scores(search(bench, values, current, others))[left]
        found[left] = compare_sets([_pairs(bench.scores(current)[left], tuned, ids)])
    return found


def _pairs(now: Scores, then: Scores, topics: Sequence[str]) -> tuple[list[float], list[float]]:
    return [now[topic] for topic in topics], [then[topic] for topic in topics]


def _deal(topics: Sequence[str], folds: int, seed: int) -> dict[str, int]:
    """The fold of each topic, as even as can be."""
    shuffled = sorted(topics)
    random.Random(seed).shuffle(shuffled)  # noqa: S311
    return {topic: number % folds for number, topic in enumerate(shuffled)}


def _value(settings: Settings, name: str) -> Any:
    stage, _, field = name.partition(".")
    return getattr(getattr(settings, stage), field)
