"""The portfolio topics: is the right place found, are the facts in the answer, is silence kept where it is due."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from config.settings import Settings
from pipelines.errors import SourceError
from pipelines.evaluation.compare import Comparison, compare
from pipelines.evaluation.corpus import ingest_folder
from pipelines.evaluation.datasets import Quote, Topic
from pipelines.evaluation.experiment import paired
from pipelines.evaluation.judged import Progress, no_progress
from pipelines.evaluation.measures import means, per_topic
from pipelines.evaluation.remember import QueryCache, remembering
from pipelines.evaluation.systems import Changes
from pipelines.query.engine import Engine
from pipelines.store import documents as document_rows
from pipelines.store.database import reading
from pipelines.store.queries import fingerprint
from pipelines.text import fold
from pipelines.types import Answer, Band, SearchResult

RANKED = ("success@1", "success@5", "RR@10", "nDCG@10")
COMPARED = (*RANKED, "document@5", "answered", "facts")
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Portfolio:
    """What came of systems on the topics.

    Attributes:
        topics: How many.
        systems: By system, each measure of `summary`, 0..1.
        per_topic: By system, by topic, what was found and said.
        misses: By system, the topics that were missed, with `id`, `question`, `why`.
        comparisons: By system, by measure, how it differs from the baseline on the answerable topics.
        fingerprint: Of the settings and the systems.
    """

    topics: int
    systems: dict[str, dict[str, float]]
    per_topic: dict[str, dict[str, Row]]
    misses: dict[str, list[dict[str, Any]]]
    comparisons: dict[str, dict[str, Comparison]]
    fingerprint: str


def portfolio_engine(
    settings: Settings, documents: Path, *, name: str = "portfolio", on_progress: Progress = no_progress
) -> Engine:
    """An engine for evaluation over a folder, ingested in a database of its own; what is unchanged there stays.

    Raises:
        SourceError: If the folder cannot be read, or one of its documents cannot be ingested.
        ConfigError: If the server does not let a database be made.
    """
    return remembering(ingest_folder(settings, name, documents, on_progress=on_progress), keep=True)


def evaluate(
    engine: Engine,
    topics: Sequence[Topic],
    systems: Mapping[str, Changes],
    *,
    baseline: str = "",
    on_progress: Progress = no_progress,
) -> Portfolio:
    """Search and ask every topic with every system; nothing enters the query log.

    Raises:
        SourceError: If no quoted document is in the database.
        ConfigError: If a setting of a system does not exist.
    """
    _assert_quotable(engine, topics)
    if isinstance(engine.embed_model, QueryCache):
        engine.embed_model.recall(topic.question for topic in topics)
    rows = {
        name: _judge_all(engine.with_changes(changes), topics, name, on_progress) for name, changes in systems.items()
    }
    if isinstance(engine.embed_model, QueryCache):
        engine.embed_model.save()
    measured = {name: _answerable(by_topic) for name, by_topic in rows.items()}
    return Portfolio(
        topics=len(topics),
        systems={name: summary(list(by_topic.values())) for name, by_topic in rows.items()},
        per_topic=rows,
        misses={name: misses(list(by_topic.values())) for name, by_topic in rows.items()},
        comparisons={
            name: {measure: compare(*paired(measured[baseline], measured[name], measure)) for measure in COMPARED}
            for name in systems
            if baseline and name != baseline
        },
        fingerprint=fingerprint({"settings": engine.fingerprint, "systems": dict(systems)}),
    )


def _judge_all(engine: Engine, topics: Sequence[Topic], label: str, on_progress: Progress) -> dict[str, Row]:
    rows: dict[str, Row] = {}
    for done, topic in enumerate(topics, start=1):
        rows[topic.id] = judge(engine, topic)
        on_progress(label, done, len(topics))
    return rows


def judge(engine: Engine, topic: Topic) -> Row:
    """What a system found and said for a topic; the ranked measures are there when it is answerable."""
    answer = engine.ask(topic.question, record=False)
    row = {
        "id": topic.id, "question": topic.question, "answerable": topic.answerable, "answered": answer.answered,
        "confidence": answer.confidence,
    }  # fmt: skip
    if not topic.answerable:
        return row
    first = engine.search(topic.question, top_n=5, record=False).results
    more = engine.search(topic.question, top_n=10, record=False).results
    return row | {
        **ranked(topic, first, ("success@1", "success@5")),
        **ranked(topic, more, ("RR@10", "nDCG@10")),
        "document@5": right_document(topic, first),
        "facts": has_facts(topic, answer),
    }


def summary(rows: Sequence[Row]) -> dict[str, float]:
    """The measures over all topics, shares 0..1; 0 where nothing counts.

    success@k: one of the first k results overlaps a quote, in any document that answers. RR@10 and nDCG@10 likewise;
    every quote is one relevant item, however many documents hold it. document@5: a quoted document is among the first
    five. answered: of the answerable topics. facts: the answer contains every fact. abstention: precision (of the
    topics that got no answer, those that have none), recall (of the topics that have none, those that got none), F1.
    right_high, right_medium, right_low: of the answers of that confidence, those that contain every fact.
    """
    answerable = [row for row in rows if row["answerable"]]
    silent = [row for row in rows if not row["answered"]]
    right = sum(not row["answerable"] for row in silent)
    unanswerable = len(rows) - len(answerable)
    found = means({row["id"]: {name: float(row[name]) for name in COMPARED} for row in answerable})
    return {
        **(found or dict.fromkeys(COMPARED, 0.0)),
        "abstention_precision": right / len(silent) if silent else 0.0,
        "abstention_recall": right / unanswerable if unanswerable else 0.0,
        "abstention_F1": 2 * right / (len(silent) + unanswerable) if silent or unanswerable else 0.0,
        **{f"right_{band}": _right(rows, band) for band in get_args(Band)},
    }


def _right(rows: Sequence[Row], band: str) -> float:
    said = [bool(row.get("facts")) for row in rows if row["answered"] and row["confidence"] == band]
    return sum(said) / len(said) if said else 0.0


def misses(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The topics that went wrong: `id`, `question` and `why` (document@5, success@5, answered, facts)."""
    wrong = {row["id"]: _wrong(row) for row in rows}
    return [{"id": row["id"], "question": row["question"], "why": wrong[row["id"]]} for row in rows if wrong[row["id"]]]


def _wrong(row: Row) -> list[str]:
    wrong = [name for name in ("document@5", "success@5") if row["answerable"] and not row[name]]
    if row["answered"] != row["answerable"]:
        return [*wrong, "answered"]
    return [*wrong, "facts"] if row["answerable"] and not row["facts"] else wrong


def ranked(topic: Topic, results: Sequence[SearchResult], names: Sequence[str] = RANKED) -> dict[str, float]:
    """Measures of a ranking: relevant is what overlaps a quote that nothing before it overlaps.

    A quote that several documents hold is one item, so that a ranking without duplicates loses nothing; a result that
    overlaps several stands for all of them. No node is named, so that the judgement survives another cutting.
    """
    items: dict[str, list[Quote]] = {}
    for quote in topic.quotes:
        items.setdefault(fold(quote.text), []).append(quote)
    order: dict[str, None] = {}
    for result in results:
        new = [item for item, quotes in items.items() if item not in order and any(overlaps(q, result) for q in quotes)]
        order |= dict.fromkeys(new or [result.node_id])
    run = {item: 1.0 / rank for rank, item in enumerate(order, start=1)}
    return per_topic({topic.id: dict.fromkeys(items, 1)}, {topic.id: run}, names)[topic.id]


def overlaps(quote: Quote, result: SearchResult) -> bool:
    """Whether a result of the quote's document holds the quote, or at least half of it from an edge."""
    return result.document_name == quote.document and holds(quote, result.text)


def holds(quote: Quote, text: str) -> bool:
    """Whether a text has the quote in it, or at least half of it from an edge."""
    wanted, held = fold(quote.text), fold(text)
    half = len(wanted) // 2
    edges = wanted[:half].strip(), wanted[half:].strip()
    return any(edge in held for edge in edges)


def right_document(topic: Topic, results: Sequence[SearchResult]) -> bool:
    """Whether a quoted document is among the results."""
    return bool({quote.document for quote in topic.quotes} & {result.document_name for result in results})


def right_quote(topic: Topic, results: Sequence[SearchResult]) -> bool:
    """Whether a result overlaps a quote."""
    return any(overlaps(quote, result) for quote in topic.quotes for result in results)


def has_facts(topic: Topic, answer: Answer) -> bool:
    """Whether the answer was given and contains every fact."""
    said = fold(" ".join(sentence.text for sentence in answer.sentences))
    return answer.answered and all(fold(fact) in said for fact in topic.facts)


def _answerable(rows: Mapping[str, Row]) -> dict[str, dict[str, float]]:
    return {topic: {name: float(row[name]) for name in COMPARED} for topic, row in rows.items() if row["answerable"]}


def _assert_quotable(engine: Engine, topics: Sequence[Topic]) -> None:
    wanted = {quote.document for topic in topics for quote in topic.quotes}
    with reading(engine.database.engine, "reading what is stored") as connection:
        held = {document.name for document in document_rows.known(connection, engine.store.table)}
    if wanted and not wanted & held:
        raise SourceError(
            f"None of the {len(wanted)} quoted documents is there: {', '.join(sorted(wanted)[:3])}.",
            hint="Name the folder that holds them with --documents.",
        )
