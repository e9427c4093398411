"""Which settings labelled questions and readers' feedback would change, and by how much; nothing is written."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pipelines.errors import SourceError
from pipelines.evaluation.datasets import Topic
from pipelines.evaluation.fit import Fit, Values, fit
from pipelines.evaluation.portfolio import holds
from pipelines.evaluation.remember import remembering
from pipelines.query.engine import Engine
from pipelines.store.passages import names

TUNED: dict[str, tuple[Any, ...]] = {
    "retrieval.dense_weight": (0.3, 0.4, 0.5, 0.6, 0.7),
    "retrieval.pair_weight": (0.0, 0.1, 0.2),
    "factors.resume": (1.0, 1.15, 1.3, 1.5),
    "factors.linkedin": (1.0, 1.1, 1.25, 1.5),
    "factors.journey": (1.0, 1.1, 1.2, 1.5),
    "factors.github": (1.0, 1.15, 1.3, 1.5),
    "factors.year": (1.0, 1.2, 1.5),
    "factors.named": (1.0, 1.2, 1.5),
    "factors.section": (1.0, 1.1, 1.3),
    "factors.recency": ("off", "asked", "steps", "decay"),
}
LEAST = 10
_DEPTH = 10


@dataclass(frozen=True, slots=True)
class Passage:
    """A ranked node: its document's id and name, and its text."""

    document_id: str
    document: str
    text: str


@dataclass(frozen=True, slots=True)
class Labelled:
    """A question, what should be found for it, and what should not; either may be unknown (None)."""

    id: str
    question: str
    good: Callable[[Passage], bool] | None
    bad: Callable[[Passage], bool] | None

    def score(self, ranking: Sequence[Passage]) -> float:
        """RR@10 of the first good passage, 1 - RR@10 of the first bad one, or their mean; 0..1."""
        parts = [_reciprocal_rank(ranking, self.good)] if self.good else []
        parts += [1 - _reciprocal_rank(ranking, self.bad)] if self.bad else []
        return sum(parts) / len(parts)


def labelled(topics: Sequence[Topic], feedback: Sequence[Mapping[str, Any]] = ()) -> list[Labelled]:
    """The answerable topics, found by a passage that overlaps a quote, and the questions of the feedback."""
    made = [Labelled(topic.id, topic.question, partial(_holds, topic), None) for topic in topics if topic.answerable]
    by_question: dict[str, dict[bool, set[str]]] = {}
    for row in feedback:
        by_question.setdefault(row["question"], {}).setdefault(row["good"], set()).add(row["document"])
    return made + [
        Labelled(f"feedback {question}", question, _one_of(judged.get(True)), _one_of(judged.get(False)))
        for question, judged in by_question.items()
    ]


def load_feedback(path: Path) -> list[dict[str, Any]]:
    """The rows of a JSON Lines file: {"question": ..., "document": id or name, "good": true or false}.

    Raises:
        SourceError: If the file is missing or a line is no feedback.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}.", hint="Name a feedback file.") from error
    rows = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            fits = all(isinstance(row[key], kind) for key, kind in _FEEDBACK.items())
        except (ValueError, KeyError, TypeError) as error:
            raise SourceError(f"Line {number} of {path} is no feedback.", hint=_FORM) from error
        if not (fits and row["question"].strip()):
            raise SourceError(f"Line {number} of {path} is no feedback.", hint=_FORM)
        rows.append({key: row[key] for key in _FEEDBACK})
    return rows


_FEEDBACK: dict[str, type] = {"question": str, "document": str, "good": bool}
_FORM = 'Write {"question": "...", "document": "id or name", "good": true}.'


def tune(
    engine: Engine,
    questions: Sequence[Labelled],
    values: Values = TUNED,
    *,
    on_score: Callable[[int], None] = lambda _: None,
) -> Fit:
    """What a search over `values` would change, judged on questions that it did not see.

    Escalation is off meanwhile: no language model is asked. Neither questions nor their vectors are kept.

    Raises:
        SourceError: If there are fewer than 10 questions.
        ConfigError: If a name of `values` is no setting of a query.
    """
    if len(questions) < LEAST:
        raise SourceError(
            f"{len(questions)} labelled questions are too few to learn from.", hint=f"Give at least {LEAST}."
        )
    bench = remembering(engine, keep=False).with_changes({"escalation.mode": "off"})

    def scores(changes: Mapping[str, Any]) -> dict[str, float]:
        tuned = bench.with_changes(changes)
        return {one.id: one.score(_ranked(tuned, one.question)) for one in questions}

    return fit({"topics": scores}, values, engine.settings, on_score=on_score)


def _ranked(engine: Engine, question: str) -> list[Passage]:
    options = engine.settings.retrieval
    hits = engine.rank(question, k=options.leg_factor * options.top_n)[:_DEPTH]
    with engine.database.engine.connect() as connection:
        named = names(connection, {hit.node.metadata["document_id"] for hit in hits}, "owner")
    return [
        Passage(hit.node.metadata["document_id"], named[hit.node.metadata["document_id"]], hit.node.get_content())
        for hit in hits
    ]


def _reciprocal_rank(ranking: Sequence[Passage], wanted: Callable[[Passage], bool]) -> float:
    return next((1 / rank for rank, passage in enumerate(ranking, start=1) if wanted(passage)), 0.0)


def _one_of(documents: set[str] | None) -> Callable[[Passage], bool] | None:
    if not documents:
        return None
    return lambda passage: bool({passage.document_id, passage.document} & documents)


def _holds(topic: Topic, passage: Passage) -> bool:
    return any(quote.document == passage.document and holds(quote, passage.text) for quote in topic.quotes)
