"""Systems x topics -> run -> measures, per topic and mean, and the comparison with a baseline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from config.settings import Settings
from pipelines.evaluation.compare import Comparison, compare_sets
from pipelines.evaluation.datasets import Dataset
from pipelines.evaluation.judged import Judged, Progress, judged_sets, no_progress
from pipelines.evaluation.measures import DEFAULT, means, parse_measure
from pipelines.evaluation.systems import Changes, chosen
from pipelines.query.parts import TUNABLE, changed
from pipelines.store.queries import fingerprint

Scores = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Experiment:
    """What came of systems on one or several sets of topics.

    Attributes:
        dataset: The set's name; several are joined by ` + `.
        topics: How many.
        systems: By system, the mean of each measure, 0..1; every set has equal weight.
        per_topic: By set, by system, by topic, each measure.
        comparisons: By system, by measure, how it differs from the baseline.
        fingerprint: Of the settings, the corpora and the systems.
    """

    dataset: str
    topics: int
    systems: dict[str, dict[str, float]]
    per_topic: dict[str, dict[str, Scores]]
    comparisons: dict[str, dict[str, Comparison]]
    fingerprint: str

    def of(self, dataset: str) -> dict[str, dict[str, float]]:
        """The means of each system on one of the sets."""
        return {name: means(scores) for name, scores in self.per_topic[dataset].items()}

    def difference(self, dataset: str, baseline: str, name: str, measure: str) -> Comparison:
        """A system against the baseline on one of the sets."""
        return _difference({dataset: self.per_topic[dataset]}, baseline, name, measure)


def run_experiment(
    settings: Settings,
    datasets: Dataset | Path | Sequence[Dataset | Path],
    systems: Sequence[str] = (),
    *,
    measures: Sequence[str] = DEFAULT,
    baseline: str = "",
    overrides: Changes | None = None,
    on_progress: Progress = no_progress,
) -> Experiment:
    """Index the datasets where that is due, rank their documents with each system, and measure.

    Args:
        settings: Each dataset gets a database of its own beside the one of these settings.
        datasets: One or several; folders are read in BEIR's form.
        systems: Of SYSTEMS, in the order of the report; none = all.
        measures: Such as `nDCG@10`, `recall@100`.
        baseline: The system that the others are compared with; empty = no comparison.
        overrides: Settings by dotted name for each named system; without names they make the system `custom`.
        on_progress: Told (what, how much is done, of how much).

    Raises:
        ConfigError: If a system, a measure or a setting does not exist.
        SourceError: If a folder is no dataset.
    """
    given = [datasets] if isinstance(datasets, Dataset | Path) else list(datasets)
    wanted = chosen(systems, overrides or {}, baseline)
    check(settings, wanted, measures)
    return measured(judged_sets(settings, given, on_progress), wanted, measures, baseline, on_progress)


def check(settings: Settings, systems: Mapping[str, Changes], measures: Sequence[str]) -> None:
    """Refuse what cannot be measured before anything is indexed.

    Raises:
        ConfigError: If a setting of a system or a measure does not exist, or a value does not fit.
    """
    for changes in systems.values():
        changed(settings, changes)
    for measure in measures:
        parse_measure(measure)


def measured(
    sets: Sequence[Judged],
    systems: Mapping[str, Changes],
    measures: Sequence[str] = DEFAULT,
    baseline: str = "",
    on_progress: Progress = no_progress,
) -> Experiment:
    """The experiment with these systems on sets that are indexed."""
    scores: dict[str, dict[str, Scores]] = {
        one.dataset.name: {
            name: one.scores(changes, measures, label=name, on_progress=on_progress)
            for name, changes in systems.items()
        }
        for one in sets
    }
    return Experiment(
        dataset=" + ".join(scores),
        topics=sum(len(one.dataset.topics) for one in sets),
        systems={name: mean_over_sets([means(by[name]) for by in scores.values()]) for name in systems},
        per_topic=scores,
        comparisons={
            name: {measure: _difference(scores, baseline, name, measure) for measure in measures}
            for name in systems
            if baseline and name != baseline
        },
        fingerprint=_fingerprint(sets, systems),
    )


def mean_over_sets(sets: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each measure, every set of equal weight."""
    return {name: sum(one[name] for one in sets) / len(sets) for name in sets[0]}


def _difference(scores: Mapping[str, Mapping[str, Scores]], baseline: str, name: str, measure: str) -> Comparison:
    return compare_sets([paired(by[baseline], by[name], measure) for by in scores.values()])


def paired(baseline: Scores, other: Scores, measure: str) -> tuple[list[float], list[float]]:
    """A measure's values of two systems, topic by topic."""
    return [row[measure] for row in baseline.values()], [other[topic][measure] for topic in baseline]


def _fingerprint(sets: Sequence[Judged], systems: Mapping[str, Changes]) -> str:
    stated: dict[str, Any] = sets[0].engine.settings.model_dump(mode="json", include={*TUNABLE, "embedding"})
    return fingerprint({**stated, "corpora": [one.dataset.sha for one in sets], "systems": dict(systems)})
