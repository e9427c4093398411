"""The portfolio topics: is the right document found, are the facts in the answer, is silence kept where it is due."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipelines.evaluation.datasets import Topic, load_topics
from pipelines.query.engine import Engine
from pipelines.text import fold
from pipelines.types import Answer, SearchResult


def evaluate(engine: Engine, path: Path) -> dict[str, Any]:
    """`measures` (shares 0..1) and `misses` (id, question, why) over all topics of a file.

    document@5: a quoted document is among the first five results. quote@5: a result overlaps a quote.
    facts: the share of answerable topics whose answer contains every fact. abstention_f1: of the topics without an
    answer, precision and recall of abstaining together.
    """
    topics = load_topics(path)
    judged = [_judge(engine, topic) for topic in topics]
    answerable = [row for row in judged if row["answerable"]]
    silent = [row for row in judged if not row["answered"]]
    right = sum(not row["answerable"] for row in silent)
    unanswerable = len(judged) - len(answerable)
    measures = {
        "document@5": _mean([row["document@5"] for row in answerable]),
        "quote@5": _mean([row["quote@5"] for row in answerable]),
        "answered": _mean([row["answered"] for row in answerable]),
        "facts": _mean([row["facts"] for row in answerable]),
        "abstained": right / unanswerable if unanswerable else 0.0,
        "abstention_f1": 2 * right / (len(silent) + unanswerable) if judged else 0.0,
    }
    misses = [
        {"id": row["id"], "question": row["question"], "why": why}
        for row in judged
        for why in ("document@5", "quote@5", "facts")
        if row["answerable"] and not row[why]
    ]
    misses += [
        {"id": row["id"], "question": row["question"], "why": "answered"}
        for row in judged
        if row["answerable"] != row["answered"]
    ]
    return {"topics": len(topics), "measures": measures, "misses": misses}


def _judge(engine: Engine, topic: Topic) -> dict[str, Any]:
    results = engine.search(topic.question, top_n=5).results
    answer = engine.ask(topic.question)
    return {
        "id": topic.id,
        "question": topic.question,
        "answerable": topic.answerable,
        "answered": answer.answered,
        "document@5": right_document(topic, results),
        "quote@5": right_quote(topic, results),
        "facts": has_facts(topic, answer),
    }


def right_document(topic: Topic, results: Sequence[SearchResult]) -> bool:
    """Whether a quoted document is among the results."""
    return bool({quote.document for quote in topic.quotes} & {result.document_name for result in results})


def right_quote(topic: Topic, results: Sequence[SearchResult]) -> bool:
    """Whether a result holds a quote of its document, or at least half of one from an edge."""
    for quote in topic.quotes:
        wanted = fold(quote.text)
        half = len(wanted) // 2
        for result in results:
            held = fold(result.text)
            if result.document_name == quote.document and (wanted[:half] in held or wanted[half:] in held):
                return True
    return False


def has_facts(topic: Topic, answer: Answer) -> bool:
    """Whether the answer was given and contains every fact."""
    said = fold(" ".join(sentence.text for sentence in answer.sentences))
    return answer.answered and all(fold(fact) in said for fact in topic.facts)


def _mean(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else 0.0
