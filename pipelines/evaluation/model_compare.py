"""Compare two embedding models on the same questions: measures, overlap, and the documents that move most."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from pipelines.errors import RetrievalError, SourceError
from pipelines.evaluation.answers import RANKED, ranking_measures, right_document
from pipelines.evaluation.corpus import Progress, no_progress
from pipelines.evaluation.datasets import Topic
from pipelines.evaluation.experiment import paired_scores
from pipelines.evaluation.measures import Comparison, compare, means
from pipelines.query.engine import QueryEngine
from pipelines.store import documents as document_rows
from pipelines.store.database import reading
from pipelines.store.query_log import latest_queries
from pipelines.types import SearchResult

DEPTH = 10
MEASURES = (*RANKED, "document@5")
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
    searched: list[tuple[Topic, tuple[SearchResult, ...], tuple[SearchResult, ...]]] = []
    for done, topic in enumerate(topics, start=1):
        on_progress("comparing", done, len(topics))
        with suppress(RetrievalError):
            before, after = (engine.search(topic.question, top_n=DEPTH, record=False).results for engine in (a, b))
            searched.append((topic, before, after))
    judged = [(topic, before, after) for topic, before, after in searched if topic.quotes]
    first = {topic.id: _judged(topic, before) for topic, before, _ in judged}
    second = {topic.id: _judged(topic, after) for topic, _, after in judged}
    shares = [overlap(before, after) for _, before, after in searched if before or after]
    movers = sorted(
        (mover for pair in searched for mover in moved(*pair)),
        key=lambda each: (not each.right, -each.distance, each.question),
    )
    return ModelComparison(
        questions=len(searched),
        judged=len(judged),
        measures={a.identity.label: means(first), b.identity.label: means(second)} if judged else {},
        comparisons={name: compare(*paired_scores(first, second, name)) for name in MEASURES} if judged else {},
        overlap=sum(shares) / len(shares) if shares else 0.0,
        movers=tuple(movers[:_MOVERS]),
        skipped=len(topics) - len(searched),
    )


def _judged(topic: Topic, results: Sequence[SearchResult]) -> dict[str, float]:
    return {**ranking_measures(topic, results, RANKED), "document@5": float(right_document(topic, results[:5]))}


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
    with reading(engine.database.engine, "reading what is stored") as connection:
        stored = {document.name for document in document_rows.stored_documents(connection, engine.store.table)}
    if quoted and quoted <= stored:
        return list(sample)[:limit]
    asked = [row["question"] for row in latest_queries(engine.database.engine, _LOOKED_THROUGH * limit)]
    return [
        Topic(f"q{place}", question, True, "logged", (), ())
        for place, question in enumerate(list(dict.fromkeys(asked))[:limit], start=1)
    ]
