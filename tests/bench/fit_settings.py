"""Fit numeric settings of retrieval by coordinate search, judged by cross-validation; nothing is written.

    python -m tests.bench.fit_settings data/eval/small

Each folder is a judged set in BEIR's form; several have equal weight. `helps` says whether the interval of the gain on
topics that were held out lies above 0.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from config.settings import Settings, get_settings
from pipelines.evaluation.datasets import load_beir
from pipelines.evaluation.experiment import SYSTEMS, JudgedSet, index_judged_sets
from pipelines.evaluation.measures import Comparison, compare_sets
from pipelines.query.ablation import change_settings
from tests.bench import arguments, show

Scores = Mapping[str, float]
Scorer = Callable[[Mapping[str, Any]], Scores]  # settings by dotted name -> the score of each topic
Values = Mapping[str, Sequence[Any]]

FITTED: dict[str, tuple[Any, ...]] = {
    "retrieval.dense_weight": (0.4, 0.5, 0.6, 0.7),
    "retrieval.pair_weight": (0.0, 0.1, 0.2),
    "retrieval.whitening": (0.0, 0.25, 0.5),
}
_ROUNDS, _FOLDS, _SEED = 3, 5, 7
_MIN_GAIN = 1e-3  # a smaller one moves no setting


@dataclass(frozen=True, slots=True)
class Fit:
    """The settings that a search chose, and their gain on topics that it did not see.

    Attributes:
        chosen: The settings that would change, by dotted name; found on all topics.
        current: What these settings are now.
        seen: The mean score with `chosen` on all topics; flattering, since it was chosen on them.
        now: The mean score of the settings as they stand.
        held_out: By the folds: each topic under the settings that the topics of the other folds chose.
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


class _Scores:
    """Scores settings, each only once, whatever topics are looked at."""

    def __init__(self, sets: Mapping[str, Scorer], current: Mapping[str, Any]) -> None:
        self._sets, self._current = sets, current
        self._known: dict[tuple[tuple[str, Any], ...], dict[str, Scores]] = {}

    def of(self, values: Mapping[str, Any]) -> dict[str, Scores]:
        """By set, by topic."""
        key = tuple(sorted(values.items()))
        if key not in self._known:
            changes = {name: value for name, value in values.items() if value != self._current[name]}
            self._known[key] = {name: score(changes) for name, score in self._sets.items()}
        return self._known[key]

    def mean(self, values: Mapping[str, Any], topics: Mapping[str, Sequence[str]]) -> float:
        """Over these topics, every set of equal weight; sets without topics do not count."""
        found = self.of(values)
        means = [sum(found[name][topic] for topic in ids) / len(ids) for name, ids in topics.items() if ids]
        return sum(means) / len(means) if means else 0.0

    def best(self, values: Values, topics: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """The best settings on these topics that changing one at a time finds; a tie keeps what stands."""
        best, score = dict(self._current), self.mean(self._current, topics)
        for _ in range(_ROUNDS):
            before = dict(best)
            for name, value in ((name, value) for name, tried in values.items() for value in tried):
                reached = self.mean({**best, name: value}, topics)
                if reached > score + _MIN_GAIN:
                    best, score = {**best, name: value}, reached
            if best == before:
                break
        return best


def fit(sets: Mapping[str, Scorer], values: Values, settings: Settings) -> Fit:
    """Search the values of each setting in turn, from the settings as they stand.

    Args:
        sets: By name, what scores the topics of a set.
        values: By dotted name, the values to try; the value that stands is tried too.
        settings: As they stand.

    Raises:
        ConfigError: If a name is not a setting of a query, or a value does not fit it.
    """
    for name, value in ((name, value) for name, tried in values.items() for value in tried):
        change_settings(settings, {name: value})
    current = {name: getattr(getattr(settings, name.split(".")[0]), name.split(".")[1]) for name in values}
    scores = _Scores(sets, current)
    stand = scores.of(current)
    topics = {name: tuple(of_set) for name, of_set in stand.items()}
    dealt = {name: _deal(ids) for name, ids in topics.items()}
    every = scores.best(values, topics)
    held: dict[str, dict[str, float]] = {name: {} for name in topics}
    for fold in range(_FOLDS):
        found = scores.of(
            scores.best(values, {name: [t for t in ids if dealt[name][t] != fold] for name, ids in topics.items()})
        )
        for name, ids in topics.items():
            held[name] |= {topic: found[name][topic] for topic in ids if dealt[name][topic] == fold}
    others = {left: {name: ids for name, ids in topics.items() if name != left} for left in topics}
    return Fit(
        chosen={name: value for name, value in every.items() if value != current[name]},
        current=current,
        seen=scores.mean(every, topics),
        now=scores.mean(current, topics),
        held_out=_gain(topics, stand, held),
        by_set={
            left: _gain({left: topics[left]}, stand, scores.of(scores.best(values, rest)))
            for left, rest in others.items() if rest
        },
    )  # fmt: skip


def _gain(topics: Mapping[str, Sequence[str]], now: Mapping[str, Scores], then: Mapping[str, Scores]) -> Comparison:
    return compare_sets(
        [([now[name][topic] for topic in ids], [then[name][topic] for topic in ids]) for name, ids in topics.items()]
    )


def _deal(topics: Sequence[str]) -> dict[str, int]:
    """The fold of each topic, as even as can be."""
    shuffled = sorted(topics)
    random.Random(_SEED).shuffle(shuffled)
    return {topic: number % _FOLDS for number, topic in enumerate(shuffled)}


def fit_judged(settings: Settings, folders: Sequence[Path], system: str, measure: str) -> Fit:
    """Fit FITTED from a system on judged sets in BEIR's form."""

    def scorer(judged: JudgedSet) -> Scorer:
        return lambda changes: {
            topic: row[measure] for topic, row in judged.scores({**SYSTEMS[system], **changes}, [measure]).items()
        }

    sets = index_judged_sets(settings, [load_beir(folder) for folder in folders])
    standing = change_settings(settings, SYSTEMS[system])
    return fit({judged.dataset.name: scorer(judged) for judged in sets}, FITTED, standing)


if __name__ == "__main__":
    parser = arguments("fit_settings", __doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--system", default="default", choices=SYSTEMS, help="where the search begins")
    parser.add_argument("--measure", default="nDCG@10")
    given = parser.parse_args()
    fitted = fit_judged(get_settings(), given.folders, given.system, given.measure)
    show({**asdict(fitted), "helps": fitted.helps})
