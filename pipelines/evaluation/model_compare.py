"""Compare two embedding models on the same questions: measures, overlap, and the documents that move most."""

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
_MOVERS = 20
_LOOKED_THROUGH = 20  # logged questions for each that is wanted: many are asked more than once


@dataclass(frozen=True, slots=True)
class Mover:
    """A document whose rank differs; a rank is None below the tenth passage.

    `right` is True if the document answers the question, None where that was not judged.
    """

    question: str
    document: str
    before: int | None
    after: int | None
    right: bool | None

    @property
    def distance(self) -> int:
        """How many ranks it moved; out of the first ten counts as the eleventh."""
        return abs((self.after or DEPTH + 1) - (self.before or DEPTH + 1))


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """The results of two embedding models for the same questions, of which `judged` have quoted answers.

    `measures` are by model, A first; `comparisons` say how B differs from A. `overlap` is the share of the first ten
    passages that both find, the mean over questions that found any; `movers` moved most, those that answer first.
    """

    questions: int
    judged: int
    measures: dict[str, dict[str, float]]
    comparisons: dict[str, Comparison]
    overlap: float
    movers: tuple[Mover, ...]
    skipped: int


def compare_models(
    a: QueryEngine, b: QueryEngine, topics: Sequence[Topic], *, on_progress: Progress = no_progress
) -> ModelComparison:
    """Search every topic with both engines, which differ in their embedding model; nothing enters the query log.

    Raises:
        SourceError: If there is no question.
    """
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
    movers = [mover for topic, (before, after) in searched for mover in moved(topic, before, after)]
    movers.sort(key=lambda each: (not each.right, -each.distance, each.question))
    labels = (a.identity.label, b.identity.label) if judged else ()
    return ModelComparison(
        questions=len(searched),
        judged=len(judged),
        measures={label: {name: fmean(of[side]) for name, of in scores.items()} for side, label in enumerate(labels)},
        comparisons={name: compare(*of) for name, of in scores.items()},
        overlap=fmean([overlap(*rankings) for _, rankings in searched if any(rankings)] or [0.0]),
        movers=tuple(movers[:_MOVERS]),
        skipped=len(topics) - len(searched),
    )


def overlap(before: Sequence[SearchResult], after: Sequence[SearchResult]) -> float:
    """The share (0..1) of passages that both rankings have, of the longer one's; a passage is a span of a document."""
    one, other = ({(each.document_id, each.start, each.end) for each in ranking} for ranking in (before, after))
    return len(one & other) / max(len(one), len(other), 1)


def moved(topic: Topic, before: Sequence[SearchResult], after: Sequence[SearchResult]) -> list[Mover]:
    """The documents whose best passage has another rank, in the order of A's ranking, then of B's.

    A document that says nearly the same as a better one and was cut for it has that one's rank.
    """
    old, new = dict[str, int](), dict[str, int]()
    for ranks, ranking in ((old, before), (new, after)):
        for result in ranking:
            for name in (result.document_name, *result.near_copies):
                ranks.setdefault(name, result.rank)
    right = {quote.document for quote in topic.quotes}
    return [
        Mover(topic.question, name, old.get(name), new.get(name), name in right if topic.quotes else None)
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name)
    ]


def default_topics(engine: QueryEngine, sample: Sequence[Topic], limit: int) -> list[Topic]:
    """The sample's topics where all documents that they quote are stored, else the last questions that were asked."""
    quoted = {quote.document for topic in sample for quote in topic.quotes}
    if quoted and quoted <= stored_names(engine):
        return list(sample)[:limit]
    asked = [row["question"] for row in latest_queries(engine.database.engine, _LOOKED_THROUGH * limit)]
    return [Topic(question, question, True, "logged", (), ()) for question in list(dict.fromkeys(asked))[:limit]]
