"""Judged dialogues: questions that stand alone are answered as they are alone, those that do not as if written out."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.conversation import Exchange, read_with
from config.settings import get_settings
from pipelines.answers import Answer
from pipelines.errors import SourceError
from pipelines.evaluation.answers import has_facts
from pipelines.evaluation.corpus import portfolio_engine
from pipelines.evaluation.datasets import Topic, json_lines, read_topic
from pipelines.query.engine import QueryEngine
from tests.bench import arguments, show, silent

DATA = Path(__file__).parents[2] / "data"
DIALOGUES = DATA / "eval" / "dialogues.jsonl"
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Questions asked one after the other, each with what its answer must hold; `standalone` is each written out.

    The kind of a topic is `first`, `independent` of the turns before it, or `dependent` on them.
    """

    id: str
    set: str
    topics: tuple[Topic, ...]
    standalone: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A question as it was answered in its dialogue and by itself, a dependent one written out.

    Attributes:
        group: `first`, `independent` or `dependent`, and `third` for whatever is asked after those.
        changed: Its sentences or its citations differ from those that it has by itself.
    """

    topic: Topic
    set: str
    group: str
    right: bool
    right_alone: bool
    changed: bool
    read_as: str


def load_dialogues(path: Path) -> list[Dialogue]:
    """The dialogues of a JSON Lines file, in order; data/README.md says what a line holds.

    Raises:
        SourceError: If the file cannot be read or a line is no dialogue.
    """
    return list(json_lines(path, _dialogue, "Name a file of dialogues; see data/README.md."))


def _dialogue(row: Mapping[str, Any]) -> Dialogue:
    topics = tuple(read_topic({"id": f"{row['id']}.{n}", **turn}) for n, turn in enumerate(row["turns"], start=1))
    standalone = tuple(turn.get("standalone", turn["question"]) for turn in row["turns"])
    return Dialogue(row["id"], row["set"], topics, standalone)


def measure_dialogues(
    engines: Mapping[str, QueryEngine], dialogues: Sequence[Dialogue], on_progress: Progress = silent
) -> dict[str, Any]:
    """Ask the dialogues of these engines' sets as the chat does, and each question by itself; see `reported`."""
    asked = [dialogue for dialogue in dialogues if dialogue.set in engines]
    outcomes = []
    for done, dialogue in enumerate(asked, start=1):
        outcomes += _asked(engines[dialogue.set], dialogue)
        on_progress("dialogues", done, len(asked))
    return reported(outcomes)


def _asked(engine: QueryEngine, dialogue: Dialogue) -> list[Outcome]:
    entries: list[Exchange] = []
    outcomes = []
    for place, (topic, standalone) in enumerate(zip(dialogue.topics, dialogue.standalone, strict=True)):
        before = read_with(topic.question, entries)
        exchange = Exchange(topic.question, before=before)
        list(exchange.follow(engine.answer(topic.question, history=before, record=False)))
        entries.append(exchange)
        if not (said := exchange.answer):
            raise SourceError(f"{topic.id} was not answered: {exchange.problem}.")
        alone = engine.ask(standalone, record=False)
        outcomes.append(
            Outcome(
                topic, dialogue.set, topic.kind if place < 2 else "third", is_right(topic, said),
                is_right(topic, alone), _said(said) != _said(alone), said.condensed,
            )
        )  # fmt: skip
    return outcomes


def is_right(topic: Topic, answer: Answer) -> bool:
    """True if the answer holds every fact; where there is none to give, if it gives none."""
    return has_facts(topic, answer) if topic.answerable else not answer.answered


def _said(answer: Answer) -> tuple[Any, ...]:
    """The sentences of an answer and the spans that they cite."""
    spans = [(cited.document_id, cited.start, cited.end) for each in answer.sentences for cited in each.evidence]
    return answer.answered, [sentence.text for sentence in answer.sentences], spans


def reported(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """By group, of all sets and of each: how many there are, right, right by themselves, unchanged; and what failed.

    Failed has an independent question whose answer changed, and any other that is wrong in its dialogue; `alone` says
    whether it is right by itself, written out if it is dependent.
    """
    sets = {"all": list(outcomes)}
    for one in outcomes:
        sets.setdefault(one.set, []).append(one)
    return {
        "groups": {name: _groups(members) for name, members in sets.items()},
        "failed": [
            {"id": one.topic.id, "group": one.group, "question": one.topic.question, "read_as": one.read_as,
             "right": one.right, "alone": one.right_alone}
            for one in outcomes if (one.changed if one.group == "independent" else not one.right)
        ],
    }  # fmt: skip


def _groups(outcomes: Sequence[Outcome]) -> dict[str, dict[str, int]]:
    groups: dict[str, list[Outcome]] = {}
    for one in outcomes:
        groups.setdefault(one.group, []).append(one)
    return {
        name: {
            "questions": len(members),
            "right": sum(one.right for one in members),
            "right_alone": sum(one.right_alone for one in members),
            "unchanged": sum(not one.changed for one in members),
        }
        for name, members in groups.items()
    }


def _print(report: Mapping[str, Any]) -> None:
    for name, groups in report["groups"].items():
        for group, counts in groups.items():
            sys.stdout.write(f"{name:8}{group:13}{', '.join(f'{key} {value}' for key, value in counts.items())}\n")
    for one in report["failed"]:
        sys.stdout.write(f"{one['id']} ({one['group']}): {one['question']} -> {one['read_as'] or 'as asked'}\n")


if __name__ == "__main__":
    parser = arguments("dialogues", __doc__)
    parser.add_argument("--qa", type=Path, help="the documents of the set qa; its dialogues are left out without them")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    built = {"sample": portfolio_engine(get_settings(), DATA / "sample")}
    if given.qa:
        built["qa"] = portfolio_engine(get_settings(), given.qa, name="dialogues_qa")
    (show if given.json else _print)(measure_dialogues(built, load_dialogues(DIALOGUES)))
