"""Labelled questions, some without an answer in the corpus: measure how evidence strength separates them."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from config.settings import Settings
from pipelines.errors import RetrievalError, SourceError
from pipelines.evaluation.corpus import Progress, document_id, index_dataset
from pipelines.evaluation.datasets import Dataset, Item, file_sha, json_lines, load_beir
from pipelines.evaluation.measures import auroc
from pipelines.query.engine import QueryEngine
from pipelines.query.evidence import Calibration, calibration, signals, strength, term_matches
from pipelines.types import MAX_QUESTION_CHARACTERS, Turn

_HINT = "Name a JSON Lines file (task_id, answerability, turns, contexts), or a folder in BEIR's form."

ANSWERABLE, UNANSWERABLE, WITHHELD = "ANSWERABLE", "UNANSWERABLE", "WITHHELD"
ANSWERED = 0.9  # of the answerable questions, where abstention is reported
_TOP_N = 20  # deep enough that passages are left when those that answer are withheld


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question and whether the corpus answers it.

    `group` is its conversation: questions of one are never on both sides of a fit. `label` is ANSWERABLE, UNANSWERABLE,
    or what else a file says (PARTIAL, UNDERSPECIFIED); `answers` are the items that answer it, as far as known.
    """

    id: str
    group: str
    question: str
    history: tuple[Turn, ...]
    label: str
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Collection:
    """Labelled questions and the corpus that they are asked of."""

    dataset: Dataset
    questions: tuple[LabelledQuestion, ...]


@dataclass(frozen=True, slots=True)
class MeasuredQuestion:
    """One question, or the same with its answers withheld: the signals of its evidence, and the strength they give."""

    id: str
    group: str
    label: str
    signals: Mapping[str, float]
    strength: float


def load_collection(path: Path) -> Collection:
    """The questions of a JSON Lines file of conversations, or those of a folder in BEIR's form, all answerable.

    A line of a file has `task_id` (conversation<::>turn), `answerability`, `turns` (speaker, text; the last is the
    question) and `contexts` (document_id, title, text; those that answer). The corpus is all contexts together.
    """
    if path.is_dir():
        dataset = load_beir(path)
        return Collection(
            dataset,
            tuple(
                LabelledQuestion(id, id, text, (), ANSWERABLE, tuple(item for item in grades if grades[item] > 0))
                for (id, text), grades in zip(dataset.topics.items(), dataset.qrels.values(), strict=True)
            ),
        )
    rows = list(json_lines(path, _conversation, _HINT))
    items = {item.id: item for _, contexts in rows for item in contexts}
    name = f"{path.resolve().parent.name} {path.stem}"
    dataset = Dataset(name, file_sha(path), tuple(items.values()), {}, {})
    return Collection(dataset, tuple(question for question, _ in rows))


def _conversation(row: Mapping[str, Any]) -> tuple[LabelledQuestion, list[Item]]:
    *earlier, last = row["turns"]
    history: list[Turn] = []
    for turn in earlier:
        if turn["speaker"] == "user":
            history.append(Turn(turn["text"], ""))
        elif history:
            history[-1] = Turn(history[-1].question, turn["text"])
    contexts = [Item(str(one["document_id"]), one.get("title") or "", one["text"]) for one in row["contexts"]]
    answers, group = tuple(item.id for item in contexts), row["task_id"].split("<::>")[0]
    asked = LabelledQuestion(row["task_id"], group, last["text"], tuple(history), row["answerability"], answers)
    return asked, contexts


def measure_evidence(settings: Settings, collection: Collection, on_progress: Progress) -> list[MeasuredQuestion]:
    """The evidence for every question, and for each answerable one again as WITHHELD: without the items that answer
    it.
    """
    name = collection.dataset.name
    engine = index_dataset(settings, collection.dataset, on_progress).with_changes({"escalation.mode": "off"})
    rows = []
    for done, question in enumerate(collection.questions, start=1):
        rows += _measured(engine, question)
        on_progress(name, done, len(collection.questions))
    return rows


def _measured(engine: QueryEngine, asked: LabelledQuestion) -> list[MeasuredQuestion]:
    try:
        found = engine.examine(asked.question[:MAX_QUESTION_CHARACTERS], history=asked.history, top_n=_TOP_N)
    except RetrievalError:  # a question that cannot be searched has no evidence
        return [MeasuredQuestion(asked.id, asked.group, asked.label, {}, 0.0)]
    variants = {asked.label: set[str]()}
    if asked.label == ANSWERABLE and asked.answers:
        variants[WITHHELD] = set(map(document_id, asked.answers))
    rows = []
    for label, without in variants.items():
        kept = [hit for hit in found.ranked if hit.node.metadata["document_id"] not in without]
        read = term_matches(kept, found.intent.terms, found.ledger, engine.indexes.current("owner"))
        seen = signals(read, found.ledger.background, calibration(engine.identity.model))
        parameters = calibration(engine.identity.model, dense="similarity" in seen)
        rows.append(MeasuredQuestion(asked.id, asked.group, label, seen, strength(seen, parameters)))
    return rows


def judge_strengths(rows: Sequence[MeasuredQuestion], parameters: Calibration) -> dict[str, Any]:
    """How well strengths tell the labels apart.

    `auroc` is, by every other label, the share of pairs in which the ANSWERABLE question is the stronger. `abstained`
    is the share of UNANSWERABLE (else WITHHELD) questions left unanswered where 90 % of the ANSWERABLE are answered.
    `answered` is the share of each label that reaches the committed floor, `high` that reaches the bound of high
    confidence.
    """
    clear_rows(rows)
    strengths = by_label(rows, [row.strength for row in rows])
    return {
        "questions": dict(Counter(row.label for row in rows)),
        "auroc": against_answerable(strengths),
        "abstained": {"committed": abstained(strengths)},
        "answered": {label: share_from(values, parameters.floor.at) for label, values in strengths.items()},
        "high": {label: share_from(values, parameters.high.at) for label, values in strengths.items()},
    }


def clear_rows(rows: Sequence[MeasuredQuestion]) -> list[MeasuredQuestion]:
    """The rows that are clearly one or the other; a SourceError if there are none of one kind."""
    kept = [row for row in rows if row.label in (ANSWERABLE, UNANSWERABLE, WITHHELD)]
    if len({row.label == ANSWERABLE for row in kept}) < 2:
        raise SourceError("Questions of both kinds are needed.", hint=f"Label some {ANSWERABLE}, some {UNANSWERABLE}.")
    return kept


def by_label(rows: Sequence[MeasuredQuestion], values: Sequence[float]) -> dict[str, list[float]]:
    """The values of the rows, in order."""
    grouped: dict[str, list[float]] = defaultdict(list)
    for row, value in zip(rows, values, strict=True):
        grouped[row.label].append(value)
    return dict(grouped)


def against_answerable(strengths: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """By every other label, the AUROC of the ANSWERABLE against it."""
    return {label: auroc(strengths[ANSWERABLE], own) for label, own in strengths.items() if label != ANSWERABLE}


def abstained(strengths: Mapping[str, Sequence[float]]) -> float:
    """The share of the UNANSWERABLE (else WITHHELD) below the strength that 90 % of the ANSWERABLE reach."""
    kept = sorted(strengths[ANSWERABLE], reverse=True)[math.ceil(ANSWERED * len(strengths[ANSWERABLE])) - 1]
    return 1 - share_from(strengths.get(UNANSWERABLE) or strengths.get(WITHHELD) or [], kept)


def share_from(values: Sequence[float], at: float) -> float:
    """The share of the values that reach this one; 0 of none."""
    return round(sum(value >= at for value in values) / len(values), 4) if values else 0.0
