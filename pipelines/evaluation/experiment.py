"""Compare retrieval systems on judged sets: systems, rankings, measures, and the ablation of each part."""

import time
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean, median
from typing import Any

import config
from config.parts import CUTS, PARTS
from config.settings import Settings
from pipelines.display import frame, html_table, markdown_table
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
    first; unless it is among the names, nothing overrides it. A ConfigError if a system does not exist.
    """
    names = list(names)
    if unknown := [name for name in (*names, *filter(None, [baseline])) if name not in SYSTEMS]:
        raise ConfigError(f"There is no system {unknown[0]!r}.", hint=f"Systems: {', '.join(SYSTEMS)}.")
    systems: dict[str, Changes] = {name: {**SYSTEMS[name], **overrides} for name in names or SYSTEMS}
    if overrides and not names:
        systems = {"default": {}, "custom": dict(overrides)}
    return ({baseline: systems.get(baseline, SYSTEMS[baseline])} if baseline else {}) | systems


def parse_overrides(given: Iterable[str]) -> dict[str, str]:
    """The settings that texts such as `retrieval.dense_weight=0.5` give, the last of a name counting.

    Raises:
        ConfigError: If one is not NAME=VALUE.
    """
    overrides = {}
    for text in given:
        name, sign, value = (part.strip() for part in text.partition("="))
        if not (name and sign):
            hint = "Write --set retrieval.dense_weight=0.5."
            raise ConfigError(f"{text!r} does not assign a value to a setting.", hint=hint)
        overrides[name] = value
    return overrides


DEPTH = 100
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

        With `cut`, quotas, duplicates and floors take their share, as before a reader; else all is ranked. A question
        that cannot be searched finds nothing.
        """
        settings = change_settings(self.engine.settings, changes)
        key = f"{settings.model_dump_json(exclude={'home', 'database_url', 'log', 'chat'})} {cut}"
        if key in self._runs:
            return self._runs[key]
        look = max(1, settings.retrieval.ann_factor // settings.retrieval.leg_factor)
        depth = {"retrieval.leg_factor": 1, "retrieval.ann_factor": look} if cut else _UNCUT
        engine = self.engine.with_changes({**changes, **depth})
        items = {document_id(item.id): item.id for item in self.dataset.corpus}
        run = dict[str, dict[str, float]]()
        for topic, question in self.dataset.topics.items():
            best = run[topic] = {}
            try:
                ranking = engine.rank(question[:MAX_QUESTION_CHARACTERS], k=DEPTH, cut=cut)
            except RetrievalError:
                ranking = []
            for hit in ranking:
                if len(best) < DEPTH:
                    best.setdefault(items[hit.node.metadata["document_id"]], float(hit.score or 0.0))
            self.on_progress(label, len(run), len(self.dataset.topics))
        self._runs[key] = run
        return run


def index_judged_sets(
    settings: Settings, datasets: Iterable[Dataset | Path], on_progress: Progress = no_progress
) -> list[JudgedSet]:
    """The datasets in order, each indexed in its own database unless that was done; of equal names the later has its
    sha.
    """
    sets: dict[str, JudgedSet] = {}
    for given in datasets:
        dataset = given if isinstance(given, Dataset) else load_beir(given)
        engine = index_dataset(settings, dataset, on_progress)
        if dataset.name in sets:
            dataset = replace(dataset, name=f"{dataset.name} {dataset.sha} {len(sets) + 1}")
        sets[dataset.name] = JudgedSet(dataset, engine, on_progress)
    return list(sets.values())


@dataclass(frozen=True, slots=True, repr=False)
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

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row for each system and a column for each measure."""
        return frame({"system": name, **measured} for name, measured in self.systems.items())

    def _table(self) -> tuple[list[str], list[list[Any]]]:
        measures = list(next(iter(self.systems.values()), {}))
        return ["system", *measures], [[name, *row.values()] for name, row in self.systems.items()]

    def __repr__(self) -> str:
        return f"<Experiment: {len(self.systems)} systems, {self.topics} topics of {self.dataset}>"

    def _repr_html_(self) -> str:
        return html_table(*self._table())

    def _repr_markdown_(self) -> str:
        return markdown_table(*self._table())


def run_experiment(
    settings: Settings,
    datasets: Dataset | Path | Sequence[Dataset | Path],
    systems: Sequence[str] | Mapping[str, Changes] = (),
    *,
    measures: Sequence[str] = DEFAULT,
    baseline: str = "",
    on_progress: Progress = no_progress,
) -> Experiment:
    """Index the datasets (folders in BEIR's form) where that is due, rank their documents with each system, and
    measure.

    Each dataset gets its own database beside the one of these settings. Systems are names of SYSTEMS, in the order of
    the report, none = all; or settings by dotted name for each. The others are compared with the baseline, if there is
    one.

    Raises:
        ConfigError: If a system, a measure or a setting does not exist.
        SourceError: If a folder is not a dataset.
    """
    given = [datasets] if isinstance(datasets, Dataset | Path) else datasets
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
    by_set = {name: [means(of_set[name]) for of_set in scores.values()] for name in systems}
    stated = sets[0].engine.settings.model_dump(mode="json", include={*TUNABLE, "embedding"})
    return Experiment(
        dataset=" + ".join(scores),
        topics=sum(len(one.dataset.topics) for one in sets),
        systems={name: {each: fmean(row[each] for row in rows) for each in measures} for name, rows in by_set.items()},
        per_topic=scores,
        comparisons=compare_systems(list(scores.values()), baseline, measures),
        fingerprint=fingerprint({**stated, "corpora": [one.dataset.sha for one in sets], "systems": dict(systems)}),
    )


def compare_systems(
    sets: Sequence[Mapping[str, Scores]], baseline: str, measures: Sequence[str]
) -> dict[str, dict[str, Comparison]]:
    """By system, by measure, how it differs from the baseline on all sets; nothing without a baseline."""
    others = [name for name in sets[0] if baseline and name != baseline]
    return {
        name: {each: compare_sets([_paired(of[baseline], of[name], each) for of in sets]) for each in measures}
        for name in others
    }


def _paired(baseline: Scores, other: Scores, measure: str) -> tuple[list[float], list[float]]:
    return [row[measure] for row in baseline.values()], [other[topic][measure] for topic in baseline]


def ablate(sets: Sequence[JudgedSet], full: Changes, measure: str = "nDCG@10") -> dict[str, Comparison]:
    """By part of retrieval, its gain by one measure over all sets: full - without; above 0 the part helps."""
    gains = {}
    for part, off in PARTS.items():
        pairs, cut = [], part in CUTS
        for one in sets:
            runs = one.run({**full, **off}, cut=cut, label=f"no {part}"), one.run(full, cut=cut, label="full")
            less, more = (per_topic(one.dataset.qrels, run, [measure]) for run in runs)
            pairs.append(_paired(less, more, measure))
        gains[part] = compare_sets(pairs)
    return gains


def part_costs(sets: Sequence[JudgedSet], full: Changes, *, limit: int = 40) -> dict[str, float]:
    """By part of retrieval, the milliseconds that it adds to a search, the median over the first topics of each set.

    Both searches of a topic follow one another, each first in half of the topics; its vector is known to both. Below 0,
    the part saves time.
    """
    spent: dict[str, list[float]] = {part: [] for part in PARTS}
    for one in sets:
        engines = {part: one.engine.with_changes({**full, **off}) for part, off in PARTS.items()}
        whole = one.engine.with_changes(full)
        for number, question in enumerate(list(one.dataset.topics.values())[:limit]):
            asked = question[:MAX_QUESTION_CHARACTERS]
            _seconds(whole, asked)  # its vector, and the pages that it reads, are in memory afterwards
            for part, engine in engines.items():
                pair = (whole, engine) if number % 2 else (engine, whole)
                seconds = {id(each): _seconds(each, asked) for each in pair}
                spent[part].append(1000 * (seconds[id(whole)] - seconds[id(engine)]))
            one.on_progress("costs", number + 1, min(limit, len(one.dataset.topics)))
    return {part: round(median(each), 2) for part, each in spent.items()}


def _seconds(engine: QueryEngine, question: str) -> float:
    began = time.perf_counter()
    with suppress(RetrievalError):
        engine.search(question, record=False)
    return time.perf_counter() - began
