"""Labelled questions, some without an answer in the corpus: how well does the evidence tell them apart."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from config.settings import Settings
from pipelines.errors import RetrievalError, SourceError
from pipelines.evaluation.corpus import document_id, index_dataset
from pipelines.evaluation.datasets import Dataset, Item, load_beir
from pipelines.evaluation.remember import QueryCache, remembering
from pipelines.query.engine import Engine
from pipelines.query.searching.assess import readings, signals, strength
from pipelines.query.searching.calibration import calibration
from pipelines.types import Turn

ANSWERABLE, UNANSWERABLE, WITHHELD = "ANSWERABLE", "UNANSWERABLE", "WITHHELD"
_TOP_N = 20  # deep enough that passages are left when those that answer are withheld
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Labelled:
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
    questions: tuple[Labelled, ...]


@dataclass(frozen=True, slots=True)
class Measured:
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
        raise SourceError(f"{path} cannot be read: {error}.", hint="Name a folder or a JSON Lines file.") from error
    items: dict[str, Item] = {}
    questions = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                question, contexts = _conversation(json.loads(line))
            except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
                raise SourceError(f"Line {number} of {path} is no labelled conversation: {error!r}.") from error
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
            Labelled(topic, topic, text, (), ANSWERABLE, tuple(item for item, grade in judged.items() if grade > 0))
            for (topic, text), judged in zip(dataset.topics.items(), dataset.qrels.values(), strict=True)
        ),
    )


def _conversation(row: Mapping[str, Any]) -> tuple[Labelled, list[Item]]:
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
    return Labelled(row["task_id"], group, last["text"], tuple(history), row["answerability"], answers), contexts


def measure(settings: Settings, collection: Collection, on_progress: Progress) -> list[Measured]:
    """The evidence for every question of the base search, and for each answerable one again as `WITHHELD`.

    WITHHELD is the same search with the answering items taken out of the candidates.

    Raises:
        ConfigError: If the server does not let a database be made.
    """
    name = collection.dataset.name
    indexed = index_dataset(
        settings, collection.dataset, lambda done, total: on_progress(f"indexing {name}", done, total)
    )
    engine = remembering(indexed, keep=True).with_changes({"escalation.mode": "off"})
    rows = []
    for done, question in enumerate(collection.questions, start=1):
        rows += _measured(engine, question)
        on_progress(name, done, len(collection.questions))
    if isinstance(engine.embed_model, QueryCache):
        engine.embed_model.save()
    return rows


def _measured(engine: Engine, asked: Labelled) -> list[Measured]:
    model = engine.identity.model
    limit = engine.settings.analysis.max_question_characters
    try:
        found = engine.examine(asked.question[:limit], history=asked.history, top_n=_TOP_N)
    except RetrievalError:  # a question that cannot be searched has no evidence
        return [Measured(asked.id, asked.group, asked.label, {}, 0.0)]

    def weighed(label: str, without: set[str]) -> Measured:
        kept = [hit for hit in found.ranked if hit.node.metadata["document_id"] not in without]
        read = readings(kept, found.intent.terms, found.ledger, engine.indexes.current("owner"))
        seen = signals(read, found.ledger.background, calibration(model))
        parameters = calibration(model, dense="similarity" in seen)
        return Measured(asked.id, asked.group, label, seen, strength(seen, parameters))

    rows = [weighed(asked.label, set())]
    if asked.label == ANSWERABLE and asked.answers:
        rows.append(weighed(WITHHELD, {document_id(Item(item, "", "")) for item in asked.answers}))
    return rows
