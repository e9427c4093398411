"""Systems x topics -> run -> measures, per topic and mean, and the comparison with a baseline."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pipelines.errors import ConfigError
from pipelines.evaluation.compare import compare
from pipelines.evaluation.datasets import Dataset
from pipelines.evaluation.measures import DEFAULT, Run, means, per_topic
from pipelines.query.engine import Engine
from pipelines.store.documents import known
from pipelines.store.runs import fingerprint
from pipelines.types import Mode

DEPTH = 100
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class System:
    """A named configuration: which legs search, and the settings by dotted name that differ."""

    mode: Mode = "hybrid"
    changes: Mapping[str, Any] = field(default_factory=dict)


SYSTEMS: dict[str, System] = {
    "dense": System("dense"),
    "sparse": System("sparse"),
    "hybrid-rrf": System(changes={"retrieval.fusion": "rrf"}),
    "hybrid-convex": System(
        changes={"retrieval.fusion": "convex", "retrieval.complete": False, "retrieval.dense_weight": 0.6}
    ),
    "default": System(),
}


@dataclass(frozen=True, slots=True)
class Experiment:
    """What came of systems on a dataset: means and, by topic, each measure's value."""

    dataset: str
    systems: dict[str, dict[str, float]]
    per_topic: dict[str, dict[str, dict[str, float]]]
    fingerprint: str
    comparisons: dict[str, dict[str, Any]]


def run_experiment(
    engine: Engine,
    dataset: Dataset,
    names: Sequence[str],
    *,
    measures: Sequence[str] = DEFAULT,
    baseline: str = "",
    on_progress: Progress | None = None,
) -> Experiment:
    """Rank the dataset's documents for every topic with each system, and measure.

    Args:
        engine: Over the dataset's corpus.
        dataset: Its topics and qrels.
        names: Of SYSTEMS, in the order of the report.
        measures: Such as `nDCG@10`, `recall@100`.
        baseline: The system that the others are compared with; empty = no comparison.
        on_progress: Told (system, topics done, of how many).

    Raises:
        ConfigError: If a system or a measure does not exist.
    """
    unknown = [name for name in (*names, *filter(None, [baseline])) if name not in SYSTEMS]
    if unknown:
        raise ConfigError(f"There is no system {unknown[0]!r}.", hint=f"Systems: {', '.join(SYSTEMS)}.")
    wanted = list(dict.fromkeys((*filter(None, [baseline]), *names)))
    scores = {
        name: per_topic(dataset.qrels, run_system(engine, dataset, name, on_progress), measures) for name in wanted
    }
    compared = {
        name: {measure: asdict(compare(*_paired(scores[baseline], scores[name], measure))) for measure in measures}
        for name in wanted
        if baseline and name != baseline
    }
    stated = engine.settings.model_dump(mode="json", include={"retrieval", "embedding"})
    means_of = {name: means(rows) for name, rows in scores.items()}
    return Experiment(dataset.name, means_of, scores, fingerprint(stated), compared)


def run_system(engine: Engine, dataset: Dataset, name: str, on_progress: Progress | None = None) -> Run:
    """By topic, the score of the first 100 documents; a document scores as its best node."""
    system = SYSTEMS[name]
    tuned = engine.with_changes(system.changes)
    with engine.database.engine.connect() as connection:
        item_of = {document.id: document.name for document in known(connection, engine.store.table)}
    run: dict[str, dict[str, float]] = {}
    for done, (topic, question) in enumerate(dataset.topics.items(), start=1):
        ranking = tuned.rank(question[: tuned.settings.analysis.max_question_characters], mode=system.mode, k=DEPTH)
        best: dict[str, float] = {}
        for hit in ranking:
            best.setdefault(item_of[hit.node.metadata["document_id"]], float(hit.score or 0.0))
        run[topic] = dict(list(best.items())[:DEPTH])
        if on_progress:
            on_progress(name, done, len(dataset.topics))
    return run


def _paired(
    baseline: Mapping[str, Mapping[str, float]], system: Mapping[str, Mapping[str, float]], measure: str
) -> tuple[list[float], list[float]]:
    return [row[measure] for row in baseline.values()], [system[topic][measure] for topic in baseline]
