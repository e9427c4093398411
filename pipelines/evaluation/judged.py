"""A judged set, indexed: it ranks its topics under any settings, each only once."""

import contextvars
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from config.settings import Settings
from pipelines.errors import RetrievalError
from pipelines.evaluation.corpus import document_id, index_dataset
from pipelines.evaluation.datasets import Dataset, load_beir
from pipelines.evaluation.measures import DEFAULT, Run, per_topic
from pipelines.evaluation.remember import QueryCache, remembering
from pipelines.query.engine import Engine
from pipelines.query.parts import changed

DEPTH = 100
_WORKERS = 2
_UNCUT = {"factors.floor": False, "factors.per_document": 0, "factors.duplicates": False, "factors.neighbours": 0}
Progress = Callable[[str, int, int], None]
Changes = Mapping[str, Any]


def no_progress(label: str, done: int, total: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A dataset and an engine over its corpus."""

    dataset: Dataset
    engine: Engine
    _runs: dict[str, Run] = field(default_factory=dict)

    def scores(
        self,
        changes: Changes,
        measures: Sequence[str] = DEFAULT,
        *,
        cut: bool = False,
        label: str = "",
        on_progress: Progress = no_progress,
    ) -> dict[str, dict[str, float]]:
        """By topic, each measure's value under the settings as they stand with these changes."""
        return per_topic(self.dataset.qrels, self.run(changes, cut=cut, label=label, on_progress=on_progress), measures)

    def run(self, changes: Changes, *, cut: bool = False, label: str = "", on_progress: Progress = no_progress) -> Run:
        """By topic, the score of the first 100 documents; a document scores as its best node.

        Args:
            changes: Settings by dotted name.
            cut: Whether quotas, duplicates and floors take their share, as before a reader; else all is ranked.
            label: What `on_progress` is told, with topics done and of how many.

        Raises:
            ConfigError: If a name is no setting of a query, or a value does not fit it.
        """
        settings = changed(self.engine.settings, changes)
        key = f"{settings.model_dump_json(exclude={'home', 'database_url', 'log', 'chat'})} {cut}"
        if key not in self._runs:
            self._runs[key] = self._rank(
                self.engine.with_changes({**changes, **_depth(settings, cut=cut)}), cut, label, on_progress
            )
        else:
            on_progress(label, len(self.dataset.topics), len(self.dataset.topics))
        return self._runs[key]

    def _rank(self, engine: Engine, cut: bool, label: str, on_progress: Progress) -> Run:
        names = {document_id(item): item.id for item in self.dataset.corpus}
        longest = engine.settings.analysis.max_question_characters

        def rank(question: str) -> dict[str, float]:
            best: dict[str, float] = {}
            try:
                ranking = engine.rank(question[:longest], k=DEPTH, cut=cut)
            except RetrievalError:
                return best  # a question that cannot be searched finds nothing
            for hit in ranking:
                best.setdefault(names[hit.node.metadata["document_id"]], float(hit.score or 0.0))
            return dict(list(best.items())[:DEPTH])

        topics = self.dataset.topics
        pool = ThreadPoolExecutor(_WORKERS)
        try:
            running = {
                pool.submit(contextvars.copy_context().run, rank, question): topic for topic, question in topics.items()
            }
            for done, future in enumerate(as_completed(running), start=1):
                future.result()
                on_progress(label, done, len(topics))
        finally:  # one that failed, or Ctrl-C, ends the rest; what was embedded stays
            pool.shutdown(cancel_futures=True)
            if isinstance(engine.embed_model, QueryCache):
                engine.embed_model.save()
        return {topic: future.result() for future, topic in running.items()}


def judged(settings: Settings, dataset: Dataset | Path, on_progress: Progress = no_progress) -> Judged:
    """The dataset, indexed in a database of its own unless an earlier call did that.

    Raises:
        SourceError: If the folder is no dataset in BEIR's form.
        ConfigError: If the server does not let a database be made.
    """
    loaded = dataset if isinstance(dataset, Dataset) else load_beir(dataset)
    label = f"indexing {loaded.name}"
    engine = remembering(
        index_dataset(settings, loaded, lambda done, total: on_progress(label, done, total)), keep=True
    )
    if isinstance(engine.embed_model, QueryCache):
        engine.embed_model.recall(loaded.topics.values())
    return Judged(loaded, engine)


def judged_sets(
    settings: Settings, datasets: Sequence[Dataset | Path], on_progress: Progress = no_progress
) -> list[Judged]:
    """The datasets in order, each with a name of its own: of two that share one, the later carries its corpus's sha."""
    sets: list[Judged] = []
    for dataset in datasets:
        one = judged(settings, dataset, on_progress)
        if one.dataset.name in {other.dataset.name for other in sets}:
            named = replace(one.dataset, name=f"{one.dataset.name} {one.dataset.sha} {len(sets) + 1}")
            one = Judged(named, one.engine)
        sets.append(one)
    return sets


def _depth(settings: Settings, *, cut: bool) -> dict[str, Any]:
    """What makes a ranking of 100 one that a cut leaves 100 of; without a cut, what spares its work."""
    if not cut:
        return _UNCUT
    options = settings.retrieval
    return {"retrieval.leg_factor": 1, "retrieval.ann_factor": max(1, options.ann_factor // options.leg_factor)}
