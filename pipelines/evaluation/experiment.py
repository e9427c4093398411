"""Compare retrieval systems on judged sets: systems, rankings, measures, and the ablation of each part."""

import contextvars
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

import config
from config.parts import CUTS, PARTS
from config.settings import Settings
from pipelines.errors import ConfigError, RetrievalError
from pipelines.evaluation.corpus import Progress, document_id, index_dataset, no_progress
from pipelines.evaluation.datasets import Dataset, load_beir
from pipelines.evaluation.measures import DEFAULT, Comparison, Run, compare_sets, means, parse_measure, per_topic
from pipelines.query.ablation import TUNABLE, change_settings, settings_without
from pipelines.query.engine import QueryEngine
from pipelines.store.query_log import fingerprint
from pipelines.types import MAX_QUESTION_CHARACTERS

Changes = Mapping[str, Any]
Scores = Mapping[str, Mapping[str, float]]  # by topic, each measure


def _systems() -> dict[str, Changes]:
    """The settings of each system of config/systems.toml, by its name."""
    stated = tomllib.loads((Path(config.__file__).parent / "systems.toml").read_text(encoding="utf-8"))
    newer = tuple(part for part in PARTS if part not in ("dense", "sparse"))
    plain = {**settings_without(newer), **stated["plain"]}
    return {name: {**(plain if own.pop("plain", False) else {}), **own} for name, own in stated["systems"].items()}


SYSTEMS = _systems()


def choose_systems(names: Iterable[str], overrides: Changes, baseline: str = "") -> dict[str, Changes]:
    """Systems by name with the overrides on each, in order; no names = all, or `default` and `custom`.

    Without names, overrides make the system `custom`: the settings as they stand, and these changes. The baseline comes
    first; unless it is among the names, nothing overrides it.

    Raises:
        ConfigError: If a system does not exist.
    """
    wanted = list(dict.fromkeys(names))
    for name in (*wanted, *filter(None, [baseline])):
        if name not in SYSTEMS:
            raise ConfigError(f"There is no system {name!r}.", hint=f"Systems: {', '.join(SYSTEMS)}.")
    systems: dict[str, Changes] = {name: {**SYSTEMS[name], **overrides} for name in wanted or SYSTEMS}
    if overrides and not wanted:
        systems = {"default": {}, "custom": dict(overrides)}
    first = {baseline: systems.get(baseline, SYSTEMS[baseline])} if baseline else {}
    return first | systems


def parse_overrides(given: Iterable[str]) -> dict[str, str]:
    """The settings that texts such as `retrieval.dense_weight=0.5` give, the last of a name counting.

    Raises:
        ConfigError: If one is not NAME=VALUE.
    """
    overrides = {}
    for text in given:
        name, _, value = (part.strip() for part in text.partition("="))
        if "=" not in text or not name:
            raise ConfigError(
                f"{text!r} does not assign a value to a setting.", hint="Write --set retrieval.dense_weight=0.5."
            )
        overrides[name] = value
    return overrides


DEPTH = 100
_WORKERS = 2
_UNCUT = settings_without(CUTS)


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """A dataset and an engine over its corpus; `on_progress` receives (label, topics done, of how many)."""

    dataset: Dataset
    engine: QueryEngine
    on_progress: Progress = no_progress
    _runs: dict[str, Run] = field(default_factory=dict)

    def scores(
        self, changes: Changes, measures: Sequence[str] = DEFAULT, label: str = ""
    ) -> dict[str, dict[str, float]]:
        """By topic, each measure's value under the settings as they stand with these changes."""
        return per_topic(self.dataset.qrels, self.run(changes, label=label), measures)

    def run(self, changes: Changes, *, cut: bool = False, label: str = "") -> Run:
        """By topic, the score of the first 100 documents; a document scores as its best node.

        With `cut`, quotas, duplicates and floors take their share, as before a reader; else all is ranked.
        """
        settings = change_settings(self.engine.settings, changes)
        key = f"{settings.model_dump_json(exclude={'home', 'database_url', 'log', 'chat'})} {cut}"
        if key not in self._runs:
            look = max(1, settings.retrieval.ann_factor // settings.retrieval.leg_factor)
            depth = {"retrieval.leg_factor": 1, "retrieval.ann_factor": look} if cut else _UNCUT
            self._runs[key] = self._rank(self.engine.with_changes({**changes, **depth}), cut, label)
        return self._runs[key]

    def _rank(self, engine: QueryEngine, cut: bool, label: str) -> Run:
        names = {document_id(item.id): item.id for item in self.dataset.corpus}

        def rank(question: str) -> dict[str, float]:
            best: dict[str, float] = {}
            try:
                ranking = engine.rank(question[:MAX_QUESTION_CHARACTERS], k=DEPTH, cut=cut)
            except RetrievalError:
                return best  # a question that cannot be searched finds nothing
            for hit in ranking:
                best.setdefault(names[hit.node.metadata["document_id"]], float(hit.score or 0.0))
            return dict(list(best.items())[:DEPTH])

        context, run = contextvars.copy_context(), dict[str, dict[str, float]]()
        with ThreadPoolExecutor(_WORKERS) as pool:  # one that failed, or Ctrl-C, cancels the rest
            rankings = pool.map(lambda question: context.copy().run(rank, question), self.dataset.topics.values())
            for topic, ranking in zip(self.dataset.topics, rankings, strict=True):
                run[topic] = ranking
                self.on_progress(label, len(run), len(self.dataset.topics))
        return run


def index_judged_sets(
    settings: Settings, datasets: Sequence[Dataset | Path], on_progress: Progress = no_progress
) -> list[JudgedSet]:
    """The datasets in order, each indexed in its own database unless an earlier call did that.

    Of two that share a name, the later carries its corpus's sha.
    """
    sets: dict[str, JudgedSet] = {}
    for given in datasets:
        dataset = given if isinstance(given, Dataset) else load_beir(given)
        engine = index_dataset(settings, dataset, on_progress)
        if dataset.name in sets:
            dataset = replace(dataset, name=f"{dataset.name} {dataset.sha} {len(sets) + 1}")
        sets[dataset.name] = JudgedSet(dataset, engine, on_progress)
    return list(sets.values())


@dataclass(frozen=True, slots=True)
class Experiment:
    """The measures of systems on one or several judged sets, whose names are joined by ` + `.

    `systems` are means (0..1) by system, every set of equal weight; `per_topic` is by set, system and topic;
    `comparisons` say by system and measure how it differs from the baseline.
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


def run_experiment(
    settings: Settings,
    datasets: Dataset | Path | Sequence[Dataset | Path],
    systems: Sequence[str] | Mapping[str, Changes] = (),
    *,
    measures: Sequence[str] = DEFAULT,
    baseline: str = "",
    on_progress: Progress = no_progress,
) -> Experiment:
    """Index the datasets where that is due, rank their documents with each system, and measure.

    Args:
        settings: Each dataset gets its own database beside the one of these settings.
        datasets: One or several; folders are read in BEIR's form.
        systems: Names of SYSTEMS, in the order of the report, none = all; or settings by dotted name for each system.
        measures: Such as `nDCG@10`, `recall@100`.
        baseline: The system that the others are compared with; empty = no comparison.
        on_progress: Told (what, how much is done, of how much).

    Raises:
        ConfigError: If a system, a measure or a setting does not exist.
        SourceError: If a folder is not a dataset.
    """
    given = [datasets] if isinstance(datasets, Dataset | Path) else list(datasets)
    wanted = systems if isinstance(systems, Mapping) else choose_systems(systems, {}, baseline)
    check_experiment(settings, wanted, measures)
    return measure_systems(index_judged_sets(settings, given, on_progress), wanted, measures, baseline)


def check_experiment(settings: Settings, systems: Mapping[str, Changes], measures: Sequence[str]) -> None:
    """Refuse what cannot be measured before anything is indexed."""
    for changes in systems.values():
        change_settings(settings, changes)
    for measure in measures:
        parse_measure(measure)


def measure_systems(
    sets: Sequence[JudgedSet], systems: Mapping[str, Changes], measures: Sequence[str] = DEFAULT, baseline: str = ""
) -> Experiment:
    """The experiment with these systems on sets that are indexed."""
    scores: dict[str, dict[str, Scores]] = {
        one.dataset.name: {name: one.scores(changes, measures, label=name) for name, changes in systems.items()}
        for one in sets
    }
    of_sets = {name: [means(by_system[name]) for by_system in scores.values()] for name in systems}
    stated = sets[0].engine.settings.model_dump(mode="json", include={*TUNABLE, "embedding"})
    return Experiment(
        dataset=" + ".join(scores),
        topics=sum(len(one.dataset.topics) for one in sets),
        systems={
            name: {measure: fmean(each[measure] for each in of_set) for measure in measures}
            for name, of_set in of_sets.items()
        },
        per_topic=scores,
        comparisons=compare_systems(list(scores.values()), baseline, measures),
        fingerprint=fingerprint({**stated, "corpora": [one.dataset.sha for one in sets], "systems": dict(systems)}),
    )


def compare_systems(
    sets: Sequence[Mapping[str, Scores]], baseline: str, measures: Sequence[str]
) -> dict[str, dict[str, Comparison]]:
    """By system, by measure, how it differs from the baseline on all sets; nothing without a baseline."""
    return {
        name: {
            measure: compare_sets([paired_scores(scores[baseline], scores[name], measure) for scores in sets])
            for measure in measures
        }
        for name in sets[0]
        if baseline and name != baseline
    }


def paired_scores(baseline: Scores, other: Scores, measure: str) -> tuple[list[float], list[float]]:
    """A measure's values of two systems, topic by topic."""
    return [row[measure] for row in baseline.values()], [other[topic][measure] for topic in baseline]


Status = Literal["off", "no effect", "measured"]


@dataclass(frozen=True, slots=True)
class PartEffect:
    """The gain of one part of retrieval: full - without, over all sets and on each; above 0 the part helps.

    `off` = the full system is without it already; `no effect` = no ranking of these sets changes with it.
    """

    part: str
    status: Status
    full: float
    without: float
    gain: Comparison
    by_set: Mapping[str, float]


def ablate(sets: Sequence[JudgedSet], full: Changes, measure: str = "nDCG@10") -> list[PartEffect]:
    """The effect of each part on one measure, in the order of PARTS."""
    effects, settings = [], sets[0].engine.settings
    for part, off in PARTS.items():
        lesser, cut = {**full, **off}, part in CUTS
        is_off = change_settings(settings, lesser) == change_settings(settings, full)
        pairs, same = [], True
        for one in sets:
            runs = (one.run(full, cut=cut, label="full"), one.run(lesser, cut=cut, label=f"no {part}"))
            same = same and all(list(runs[0][topic]) == list(runs[1][topic]) for topic in runs[0])
            more, less = (per_topic(one.dataset.qrels, run, [measure]) for run in runs)
            pairs.append(paired_scores(less, more, measure))
        without, whole = ([fmean(pair[side]) for pair in pairs] for side in (0, 1))
        status: Status = "off" if is_off else "no effect" if same else "measured"
        gains = {one.dataset.name: more - less for one, more, less in zip(sets, whole, without, strict=True)}
        effects.append(PartEffect(part, status, fmean(whole), fmean(without), compare_sets(pairs), gains))
    return effects
