"""Labelled questions, some without an answer in the corpus: measure how evidence strength separates them, refit it."""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from config.settings import Settings
from pipelines.errors import RetrievalError, SourceError
from pipelines.evaluation.corpus import QueryCache, document_id, index_dataset, with_caches
from pipelines.evaluation.datasets import Dataset, Item, load_beir, unreadable
from pipelines.evaluation.logistic import Array, auroc, balanced, fit_logistic, held_out, keeping, reliability
from pipelines.query.engine import QueryEngine
from pipelines.query.evidence import Calibration, Threshold, calibration, signals, strength, term_matches
from pipelines.types import MAX_QUESTION_CHARACTERS, Turn

_HINT = "Name a JSON Lines file (task_id, answerability, turns, contexts), or a folder in BEIR's form."

ANSWERABLE, UNANSWERABLE, WITHHELD = "ANSWERABLE", "UNANSWERABLE", "WITHHELD"
_TOP_N = 20  # deep enough that passages are left when those that answer are withheld
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question and whether the corpus answers it.

    Attributes:
        group: Its conversation; questions of one are never on both sides of a fit.
        label: ANSWERABLE, UNANSWERABLE, or what else a file says (PARTIAL, UNDERSPECIFIED).
        answers: The items that answer it; empty when none does, or none is known.
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

    Raises:
        SourceError: If a file is missing or a line is broken.
    """
    if path.is_dir():
        return _all_answerable(load_beir(path))
    try:
        raw = path.read_bytes()
        lines = raw.decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error, _HINT) from error
    items: dict[str, Item] = {}
    questions = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                question, contexts = _conversation(json.loads(line))
            except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
                raise SourceError(
                    f"Line {number} of {path} is not a labelled conversation: {error!r}.", hint=_HINT
                ) from error
            questions.append(question)
            for item in contexts:
                items.setdefault(item.id, item)
    name = f"{path.resolve().parent.name} {path.stem}"
    sha = hashlib.sha256(raw).hexdigest()[:12]
    return Collection(Dataset(name, sha, tuple(items.values()), {}, {}), tuple(questions))


def _all_answerable(dataset: Dataset) -> Collection:
    return Collection(
        dataset,
        tuple(
            LabelledQuestion(
                topic, topic, text, (), ANSWERABLE, tuple(item for item, grade in judged.items() if grade > 0)
            )
            for (topic, text), judged in zip(dataset.topics.items(), dataset.qrels.values(), strict=True)
        ),
    )


def _conversation(row: Mapping[str, Any]) -> tuple[LabelledQuestion, list[Item]]:
    *earlier, last = row["turns"]
    history: list[Turn] = []
    for turn in earlier:
        if turn["speaker"] == "user":
            history.append(Turn(turn["text"], ""))
        elif history:
            history[-1] = Turn(history[-1].question, turn["text"])
    contexts = [Item(str(one["document_id"]), one.get("title") or "", one["text"]) for one in row["contexts"]]
    answers = tuple(item.id for item in contexts)
    group = row["task_id"].split("<::>")[0]
    return LabelledQuestion(
        row["task_id"], group, last["text"], tuple(history), row["answerability"], answers
    ), contexts


def measure_evidence(settings: Settings, collection: Collection, on_progress: Progress) -> list[MeasuredQuestion]:
    """The evidence for every question of the base search, and for each answerable one again as `WITHHELD`.

    WITHHELD is the same search with the answering items taken out of the candidates.

    Raises:
        ConfigError: If the server does not let a database be made.
    """
    name = collection.dataset.name
    indexed = index_dataset(
        settings, collection.dataset, lambda done, total: on_progress(f"indexing {name}", done, total)
    )
    engine = with_caches(indexed, keep=True).with_changes({"escalation.mode": "off"})
    rows = []
    for done, question in enumerate(collection.questions, start=1):
        rows += _measured(engine, question)
        on_progress(name, done, len(collection.questions))
    if isinstance(engine.embed_model, QueryCache):
        engine.embed_model.save()
    return rows


def _measured(engine: QueryEngine, asked: LabelledQuestion) -> list[MeasuredQuestion]:
    model = engine.identity.model
    try:
        found = engine.examine(asked.question[:MAX_QUESTION_CHARACTERS], history=asked.history, top_n=_TOP_N)
    except RetrievalError:  # a question that cannot be searched has no evidence
        return [MeasuredQuestion(asked.id, asked.group, asked.label, {}, 0.0)]

    def weighed(label: str, without: set[str]) -> MeasuredQuestion:
        kept = [hit for hit in found.ranked if hit.node.metadata["document_id"] not in without]
        read = term_matches(kept, found.intent.terms, found.ledger, engine.indexes.current("owner"))
        seen = signals(read, found.ledger.background, calibration(model))
        parameters = calibration(model, dense="similarity" in seen)
        return MeasuredQuestion(asked.id, asked.group, label, seen, strength(seen, parameters))

    rows = [weighed(asked.label, set())]
    if asked.label == ANSWERABLE and asked.answers:
        rows.append(weighed(WITHHELD, {document_id(Item(item, "", "")) for item in asked.answers}))
    return rows


ANSWERED = 0.9  # of the answerable questions, where abstention is reported
KEPT = 0.95  # of the answerable questions that the floor lets through
_HIGH_ERROR = 0.05  # of the unanswerable ones that may be called high


def judge_strengths(rows: Sequence[MeasuredQuestion], parameters: Calibration) -> dict[str, Any]:
    """How well strengths tell the labels apart.

    `auroc` and `held_out` are, by every other label, the share of pairs in which the ANSWERABLE question is the
    stronger: under the committed parameters, and under parameters that were fitted without its conversation.
    `abstained` is the share of UNANSWERABLE (else WITHHELD) questions left unanswered where 90 % of the ANSWERABLE
    are answered, by the same two. `answered` is the share of each label that reaches the committed floor, and
    `reliability` compares predicted with observed shares in five bins.
    """
    by_label = _by_label(rows, [row.strength for row in rows])
    told = _told(rows)
    answers, matrix = _answers(told), _matrix(told, parameters)
    drawn = held_out(matrix, answers, [row.group for row in told])
    unseen = _by_label(told, drawn.tolist())
    return {
        "questions": dict(Counter(row.label for row in rows)),
        "auroc": _against(by_label),
        "held_out": _against(unseen),
        "abstained": {"committed": _abstained(by_label), "held_out": _abstained(unseen)},
        "answered": {label: _share(values, parameters.floor.at) for label, values in by_label.items()},
        "high": {label: _share(values, parameters.high.at) for label, values in by_label.items()},
        "reliability": reliability(np.array([row.strength for row in told]), answers),
    }


def refit(sets: Mapping[str, Sequence[MeasuredQuestion]], parameters: Calibration) -> dict[str, Any]:
    """Parameters fitted on all sets, each of equal weight, and by set the AUROC of a fit on the others.

    `floor` keeps 95 % of the ANSWERABLE questions, `high` at most 5 % of the UNANSWERABLE (of a set without any, of the
    WITHHELD); all are means over the sets. The scale of similarities stays as it is.
    """
    fitted = _fit(list(sets.values()), parameters)
    reached = [_by_label(rows, _reached(rows, fitted)) for rows in map(_told, sets.values())]
    right = [by_label[ANSWERABLE] for by_label in reached]
    wrong = [by_label.get(UNANSWERABLE) or by_label[WITHHELD] for by_label in reached]
    floor = math.floor(1000 * _keeping(right, KEPT)) / 1000
    rising = [floor, *(number / 1000 for number in range(math.ceil(1000 * floor), 1001))]
    high = next((at for at in rising if _mean_share(wrong, at) <= _HIGH_ERROR), 1.0)
    floor_bound, high_bound = (Threshold(at, _mean_share(right, at), _mean_share(wrong, at)) for at in (floor, high))
    others = {
        name: _against(_by_label(_told(given), _reached(_told(given), _fit(rest, parameters))))
        for name, given in sets.items()
        if (rest := [other for label, other in sets.items() if label != name])
    }
    return {"parameters": asdict(replace(fitted, floor=floor_bound, high=high_bound)), "by_the_other_sets": others}


def _keeping(groups: Sequence[Sequence[float]], share: float) -> float:
    """The highest value that keeps this share of each group's values, on average over the groups."""
    weight = [1 / len(values) for values in groups for _ in values]
    return keeping([value for values in groups for value in values], share, weight)


def _mean_share(groups: Sequence[Sequence[float]], at: float) -> float:
    return round(sum(_share(values, at) for values in groups) / len(groups), 4)


def _reached(rows: Sequence[MeasuredQuestion], parameters: Calibration) -> list[float]:
    return [strength(row.signals, parameters) for row in rows]


def _fit(sets: Sequence[Sequence[MeasuredQuestion]], parameters: Calibration) -> Calibration:
    told = [_told(rows) for rows in sets]
    weight = np.concatenate([balanced(_answers(rows)) for rows in told])
    matrix = np.vstack([_matrix(rows, parameters) for rows in told])
    found = fit_logistic(matrix, np.concatenate([_answers(rows) for rows in told]), weight)
    weights = {name: round(float(value), 3) for name, value in zip(parameters.weights, found.weights, strict=True)}
    return replace(parameters, intercept=round(found.intercept, 3), weights=weights)


def _told(rows: Sequence[MeasuredQuestion]) -> list[MeasuredQuestion]:
    """The rows that are clearly one or the other."""
    kept = [row for row in rows if row.label in (ANSWERABLE, UNANSWERABLE, WITHHELD)]
    if len({row.label == ANSWERABLE for row in kept}) < 2:
        raise SourceError("Questions of both kinds are needed.", hint=f"Label some {ANSWERABLE}, some {UNANSWERABLE}.")
    return kept


def _answers(rows: Sequence[MeasuredQuestion]) -> Array:
    return np.array([float(row.label == ANSWERABLE) for row in rows])


def _matrix(rows: Sequence[MeasuredQuestion], parameters: Calibration) -> Array:
    return np.array([[row.signals.get(name, 0.0) for name in parameters.weights] for row in rows])


def _by_label(rows: Sequence[MeasuredQuestion], values: Sequence[float]) -> dict[str, list[float]]:
    grouped: dict[str, list[float]] = {}
    for row, value in zip(rows, values, strict=True):
        grouped.setdefault(row.label, []).append(value)
    return grouped


def _against(by_label: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {label: auroc(by_label[ANSWERABLE], own) for label, own in by_label.items() if label != ANSWERABLE}


def _abstained(by_label: Mapping[str, Sequence[float]]) -> float:
    wrong = by_label.get(UNANSWERABLE) or by_label.get(WITHHELD) or []
    return 1 - _share(wrong, keeping(by_label[ANSWERABLE], ANSWERED))


def _share(values: Sequence[float], at: float) -> float:
    return round(sum(value >= at for value in values) / len(values), 4) if values else 0.0
