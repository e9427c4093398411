"""Compare retrieval by the condensed question with retrieval by the last turn, on judged conversations."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from llama_index.core.llms import LLM

from config.settings import Settings, get_settings
from pipelines.errors import RetrievalError
from pipelines.evaluation.answerability import ANSWERABLE, Collection, LabelledQuestion, load_collection
from pipelines.evaluation.corpus import Progress, document_id, index_dataset
from pipelines.evaluation.measures import compare, means, per_topic
from pipelines.models.llm import build_llm
from pipelines.query.engine import QueryEngine
from pipelines.types import MAX_QUESTION_CHARACTERS
from tests.bench import arguments, show, silent

MEASURES = ("nDCG@10", "recall@5", "recall@10", "RR@10")
LAST, CONDENSED = "last turn", "condensed"
_ANSWERED = (ANSWERABLE, "PARTIAL")
_TOP_N = 20
Ranks = dict[str, float]


def measure_follow_ups(
    settings: Settings, collection: Collection, on_progress: Progress, llm: LLM | None = None
) -> dict[str, Any]:
    """What each later question with an answer, or part of one, finds alone and condensed with the turns before it.

    The corpus is all passages of the collection; the passages given for a question are its relevant ones. `groups`
    holds, for `all` later questions, those that were `changed` by condensing, and two halves of the conversations
    (`even`, `odd`): `questions`, the mean of each measure (0..1) with the `last turn` and `condensed`, and the paired
    comparison by nDCG@10. `by` counts how the questions were condensed.

    Args:
        settings: Of the user's database, which stays as it is.
        collection: The labelled conversations.
        on_progress: Told (what, how much is done, of how much).
        llm: Condenses; None = rules alone do.

    Raises:
        ConfigError: If the server does not let a database be made.
    """
    asked = [one for one in collection.questions if one.history and one.answers and one.label in _ANSWERED]
    name = collection.dataset.name
    indexed = index_dataset(settings, collection.dataset, on_progress)
    engine = replace(indexed.with_changes({"escalation.mode": "off"}), llm=llm)
    runs: dict[str, dict[str, Ranks]] = {LAST: {}, CONDENSED: {}}
    made: dict[str, str] = {}
    for done, question in enumerate(asked, start=1):
        runs[LAST][question.id], _ = _ranked(engine, replace(question, history=()))
        runs[CONDENSED][question.id], made[question.id] = _ranked(engine, question)
        on_progress(name, done, len(asked))
    return {"questions": len(asked), "by": _counted(made.values()), "groups": _groups(asked, runs, made)}


def _ranked(engine: QueryEngine, question: LabelledQuestion) -> tuple[Ranks, str]:
    """(the documents found with their scores, how the question was condensed: empty when it was not)."""
    try:
        found = engine.examine(question.question[:MAX_QUESTION_CHARACTERS], history=question.history, top_n=_TOP_N)
    except RetrievalError:
        return {}, ""
    ids = [hit.node.metadata["document_id"] for hit in found.ranked]
    return {document: 1.0 / place for place, document in enumerate(ids, start=1)}, found.intent.condensed_by


def _groups(
    asked: Sequence[LabelledQuestion], runs: Mapping[str, Mapping[str, Ranks]], made: Mapping[str, str]
) -> dict[str, Any]:
    qrels = {one.id: {document_id(item): 1 for item in one.answers} for one in asked}
    scores = {name: per_topic(qrels, run, MEASURES) for name, run in runs.items()}
    conversations = sorted({one.group for one in asked})
    half = {group: ("even", "odd")[place % 2] for place, group in enumerate(conversations)}
    members = {
        "all": [one.id for one in asked],
        "changed": [one.id for one in asked if made[one.id]],
        **{name: [one.id for one in asked if half[one.group] == name] for name in ("even", "odd")},
    }
    return {name: _judged(ids, scores) for name, ids in members.items() if ids}


def _judged(ids: Sequence[str], scores: Mapping[str, Mapping[str, Mapping[str, float]]]) -> dict[str, Any]:
    before, after = ([scores[name][one][MEASURES[0]] for one in ids] for name in (LAST, CONDENSED))
    return {
        "questions": len(ids),
        **{name: means({one: by_topic[one] for one in ids}) for name, by_topic in scores.items()},
        "difference": asdict(compare(before, after)),
    }


def _counted(values: Any) -> dict[str, int]:
    held = list(values)
    return {name or "as asked": held.count(name) for name in sorted(set(held))}


if __name__ == "__main__":
    parser = arguments("follow_ups", __doc__)
    parser.add_argument("conversations", type=Path, help="JSON Lines as `footnote eval answerability` reads them")
    given = parser.parse_args()
    show(measure_follow_ups(get_settings(), load_collection(given.conversations), silent, build_llm(get_settings())))
