"""Topics with quoted answers: success of the search, facts in the answer, abstention; and the gate of the tests."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from config.settings import Settings
from pipelines.answers import Answer
from pipelines.errors import SourceError
from pipelines.evaluation.corpus import QueryCache, ingest_folder, with_caches
from pipelines.evaluation.datasets import Quote, Topic, load_topics
from pipelines.evaluation.experiment import Changes, Progress, index_judged_set, no_progress, paired_scores
from pipelines.evaluation.measures import Comparison, compare, means, per_topic
from pipelines.query.engine import QueryEngine
from pipelines.store import documents as document_rows
from pipelines.store.database import reading
from pipelines.store.query_log import fingerprint
from pipelines.text import fold
from pipelines.types import Band, SearchResult

RANKED = ("success@1", "success@5", "RR@10", "nDCG@10")
COMPARED = (*RANKED, "document@5", "answered", "facts")
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AnswerReport:
    """The measures of systems on topics with quoted answers.

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
) -> QueryEngine:
    """An engine for evaluation over a folder, ingested in a database of its own; what is unchanged there stays.

    Raises:
        SourceError: If the folder cannot be read, or one of its documents cannot be ingested.
        ConfigError: If the server does not let a database be made.
    """
    return with_caches(ingest_folder(settings, name, documents, on_progress=on_progress), keep=True)


def evaluate_answers(
    engine: QueryEngine,
    topics: Sequence[Topic],
    systems: Mapping[str, Changes],
    *,
    baseline: str = "",
    on_progress: Progress = no_progress,
) -> AnswerReport:
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
    return AnswerReport(
        topics=len(topics),
        systems={name: summary(list(by_topic.values())) for name, by_topic in rows.items()},
        per_topic=rows,
        misses={name: misses(list(by_topic.values())) for name, by_topic in rows.items()},
        comparisons={
            name: {
                measure: compare(*paired_scores(measured[baseline], measured[name], measure)) for measure in COMPARED
            }
            for name in systems
            if baseline and name != baseline
        },
        fingerprint=fingerprint({"settings": engine.fingerprint, "systems": dict(systems)}),
    )


def _judge_all(engine: QueryEngine, topics: Sequence[Topic], label: str, on_progress: Progress) -> dict[str, Row]:
    rows: dict[str, Row] = {}
    for done, topic in enumerate(topics, start=1):
        rows[topic.id] = judge_topic(engine, topic)
        on_progress(label, done, len(topics))
    return rows


def judge_topic(engine: QueryEngine, topic: Topic) -> Row:
    """Judge the results and the answer for a topic; ranked measures are included if it is answerable."""
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
        **ranking_measures(topic, first, ("success@1", "success@5")),
        **ranking_measures(topic, more, ("RR@10", "nDCG@10")),
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


def ranking_measures(topic: Topic, results: Sequence[SearchResult], names: Sequence[str] = RANKED) -> dict[str, float]:
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
    """True if a result from the quote's document holds the quote, or at least half of it from an edge."""
    return result.document_name == quote.document and holds(quote, result.text)


def holds(quote: Quote, text: str) -> bool:
    """True if a text holds the quote, or at least half of it from an edge."""
    wanted, held = fold(quote.text), fold(text)
    half = len(wanted) // 2
    edges = wanted[:half].strip(), wanted[half:].strip()
    return any(edge in held for edge in edges)


def right_document(topic: Topic, results: Sequence[SearchResult]) -> bool:
    """True if a quoted document is among the results."""
    return bool({quote.document for quote in topic.quotes} & {result.document_name for result in results})


def right_quote(topic: Topic, results: Sequence[SearchResult]) -> bool:
    """True if a result overlaps a quote."""
    return any(overlaps(quote, result) for quote in topic.quotes for result in results)


def has_facts(topic: Topic, answer: Answer) -> bool:
    """True if the question was answered and the answer contains every fact."""
    said = fold(" ".join(sentence.text for sentence in answer.sentences))
    return answer.answered and all(fold(fact) in said for fact in topic.facts)


def _answerable(rows: Mapping[str, Row]) -> dict[str, dict[str, float]]:
    return {topic: {name: float(row[name]) for name in COMPARED} for topic, row in rows.items() if row["answerable"]}


def _assert_quotable(engine: QueryEngine, topics: Sequence[Topic]) -> None:
    wanted = {quote.document for topic in topics for quote in topic.quotes}
    with reading(engine.database.engine, "reading what is stored") as connection:
        held = {document.name for document in document_rows.stored_documents(connection, engine.store.table)}
    if wanted and not wanted & held:
        raise SourceError(
            f"None of the {len(wanted)} quoted documents is there: {', '.join(sorted(wanted)[:3])}.",
            hint="Name the folder that holds them with --documents.",
        )


MEASURES = {"portfolio": "success@5", "small": "nDCG@10"}
Scores = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """A set's mean (0..1) compared with its baseline."""

    name: str
    measure: str
    baseline: float
    now: float
    change: Comparison


def measure_gate(settings: Settings, data: Path, on_progress: Progress = no_progress) -> dict[str, dict[str, float]]:
    """By set, by topic: success@5 over the portfolio of `data`/sample, nDCG@10 over `data`/eval/small.

    Both are indexed in databases of their own, where what is unchanged stays from one call to the next.

    Raises:
        SourceError: If a file of `data` is missing, or a document of the sample cannot be ingested.
        ConfigError: If the server does not let a database be made.
    """
    small = index_judged_set(settings, data / "eval" / "small", on_progress)
    ranked = small.scores({}, [MEASURES["small"]], label="small", on_progress=on_progress)
    return {
        "portfolio": _portfolio(settings, data, on_progress),
        "small": {topic: round(row[MEASURES["small"]], 4) for topic, row in ranked.items()},
    }


def compare_gate(baseline: Mapping[str, Scores], now: Mapping[str, Scores]) -> list[GateVerdict]:
    """Each set's verdict.

    Raises:
        SourceError: If the topics are not those of the baseline.
    """
    verdicts = []
    for name, measure in MEASURES.items():
        then = baseline.get(name, {})
        if then.keys() != now[name].keys():
            odd = sorted(then.keys() ^ now[name].keys())
            raise SourceError(
                f"The topics of {name} are not those of the baseline: {', '.join(odd[:5])}.",
                hint="Run `footnote eval baseline --write` and commit the file.",
            )
        change = compare([then[topic] for topic in then], [now[name][topic] for topic in then])
        verdicts.append(GateVerdict(name, measure, _mean(then), _mean(now[name]), change))
    return verdicts


def read_baseline(path: Path) -> dict[str, dict[str, float]]:
    """The committed scores, by set, by topic; empty when none were ever written.

    Raises:
        SourceError: If the file cannot be read.
    """
    try:
        gate: dict[str, dict[str, float]] = json.loads(path.read_text(encoding="utf-8")).get("gate", {})
    except (OSError, ValueError) as error:
        raise SourceError(f"{path} cannot be read.", hint="It is part of the project: check it out again.") from error
    return gate


def write_baseline(path: Path, scores: Mapping[str, Scores]) -> None:
    """Put these scores in the place of the gate's baseline; the rest of the file stays."""
    held = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**held, "gate": scores}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _portfolio(settings: Settings, data: Path, on_progress: Progress) -> dict[str, float]:
    engine = portfolio_engine(settings, data / "sample", on_progress=on_progress)
    topics = [topic for topic in load_topics(data / "eval" / "topics.jsonl") if topic.answerable]
    scores = {}
    for done, topic in enumerate(topics, start=1):
        scores[topic.id] = float(right_quote(topic, engine.search(topic.question, top_n=5, record=False).results))
        on_progress("portfolio", done, len(topics))
    return scores


def _mean(scores: Scores) -> float:
    return sum(scores.values()) / len(scores) if scores else 0.0
