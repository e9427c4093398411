"""Compare two embedding models on the same questions: measures, and how much of what they find is the same."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from statistics import fmean

from pipelines.errors import RetrievalError, SourceError
from pipelines.evaluation.answers import FOUND, found_measures, stored_names
from pipelines.evaluation.corpus import Progress, no_progress
from pipelines.evaluation.datasets import Topic
from pipelines.evaluation.measures import Comparison, compare
from pipelines.query.engine import QueryEngine
from pipelines.store.query_log import latest_queries
from pipelines.types import SearchResult

DEPTH = 10
_MOST_DIFFERENT = 20  # questions that are named
_LOOKED_THROUGH = 20  # logged questions for each that is wanted: many are asked more than once


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """The results of two embedding models for the same questions, of which `judged` have quoted answers.

    `measures` are by model, A first; `comparisons` say how B differs from A. `overlap` is the share of the first ten
    passages that both find, the mean over questions that found any; `different` are those of least overlap.
    """

    questions: int
    judged: int
    measures: dict[str, dict[str, float]]
    comparisons: dict[str, Comparison]
    overlap: float
    different: dict[str, float]
    skipped: int


def compare_models(
    a: QueryEngine, b: QueryEngine, topics: Sequence[Topic], *, on_progress: Progress = no_progress
) -> ModelComparison:
    """Search every topic, at least one, with both engines, which differ in their embedding model; nothing is logged."""
    if not topics:
        raise SourceError("There is no question for the comparison.", hint="Name a topics file with --topics.")
    searched: list[tuple[Topic, list[tuple[SearchResult, ...]]]] = []
    for done, topic in enumerate(topics, start=1):
        on_progress("comparing", done, len(topics))
        with suppress(RetrievalError):
            rankings = [engine.search(topic.question, top_n=DEPTH, record=False).results for engine in (a, b)]
            searched.append((topic, rankings))
    judged = [[found_measures(topic, each) for each in rankings] for topic, rankings in searched if topic.quotes]
    scores = {name: [[float(row[side][name]) for row in judged] for side in (0, 1)] for name in FOUND if judged}
    labels = (a.identity.label, b.identity.label) if judged else ()
    shares = {topic.question: overlap(*rankings) for topic, rankings in searched if any(rankings)}
    return ModelComparison(
        questions=len(searched),
        judged=len(judged),
        measures={label: {name: fmean(of[side]) for name, of in scores.items()} for side, label in enumerate(labels)},
        comparisons={name: compare(*of) for name, of in scores.items()},
        overlap=fmean(shares.values()) if shares else 0.0,
        different=dict(sorted(shares.items(), key=lambda each: each[1])[:_MOST_DIFFERENT]),
        skipped=len(topics) - len(searched),
    )


def overlap(before: Sequence[SearchResult], after: Sequence[SearchResult]) -> float:
    """The share (0..1) of passages that both rankings have, of the longer one's; a passage is a span of a document."""
    one, other = ({(each.document_id, each.start, each.end) for each in ranking} for ranking in (before, after))
    return len(one & other) / max(len(one), len(other), 1)


def default_topics(engine: QueryEngine, sample: Sequence[Topic], limit: int) -> list[Topic]:
    """The sample's topics where all documents that they quote are stored, else the last questions that were asked."""
    quoted = {quote.document for topic in sample for quote in topic.quotes}
    if quoted and quoted <= stored_names(engine):
        return list(sample)[:limit]
    asked = [row["question"] for row in latest_queries(engine.database.engine, _LOOKED_THROUGH * limit)]
    return [Topic(question, question, True, "logged", (), ()) for question in list(dict.fromkeys(asked))[:limit]]
