import json
import math
from pathlib import Path

import pytest

from pipelines.errors import SourceError
from pipelines.evaluation.answerability import (
    ANSWERABLE,
    UNANSWERABLE,
    WITHHELD,
    MeasuredQuestion,
    judge_strengths,
    load_collection,
)
from pipelines.query.evidence import Calibration, Threshold
from tests.unit.evaluation.test_datasets import write_beir


def line(task: str, label: str, said: list[tuple[str, str]], contexts: list[tuple[str, str]]) -> str:
    return json.dumps(
        {
            "task_id": task,
            "answerability": label,
            "turns": [{"speaker": speaker, "text": text} for speaker, text in said],
            "contexts": [{"document_id": one, "title": "", "text": text} for one, text in contexts],
        }
    )


# Loading


def test_conversations_become_questions_with_their_history_over_one_corpus(tmp_path: Path) -> None:
    path = tmp_path / "set" / "dev.jsonl"
    path.parent.mkdir()
    talk = [("user", "Who built it?"), ("agent", "Ruth."), ("user", "When?")]
    path.write_text(
        line("c1<::>2", ANSWERABLE, talk, [("k", "The kiln."), ("r", "Ruth.")])
        + "\n\n"
        + line("c2<::>1", "PARTIAL", [("user", "Why?")], [("k", "The kiln.")])
    )
    collection = load_collection(path)
    first, second = collection.questions
    assert collection.dataset.name == "set dev"
    assert [item.id for item in collection.dataset.corpus] == ["k", "r"]
    assert (first.id, first.group, first.question, first.label) == ("c1<::>2", "c1", "When?", ANSWERABLE)
    assert [(turn.question, turn.answer) for turn in first.history] == [("Who built it?", "Ruth.")]
    assert first.answers == ("k", "r")
    assert (second.label, second.history) == ("PARTIAL", ())


def test_a_judged_set_is_a_collection_of_answerable_questions(tmp_path: Path) -> None:
    collection = load_collection(write_beir(tmp_path / "harbour"))
    assert {question.label for question in collection.questions} == {ANSWERABLE}
    assert all(question.answers for question in collection.questions)


@pytest.mark.parametrize("broken", ["{", "[]", '{"task_id": "a"}', line("a", "b", [], [])])
def test_a_broken_line_is_named(tmp_path: Path, broken: str) -> None:
    path = tmp_path / "dev.jsonl"
    path.write_text(f"{line('c', ANSWERABLE, [('user', 'Who?')], [])}\n{broken}\n")
    with pytest.raises(SourceError, match="Line 2"):
        load_collection(path)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="nowhere"):
        load_collection(tmp_path / "nowhere.jsonl")


# Judging

PARAMETERS = Calibration(0, 1, -2.5, {"support": 5.0}, Threshold(0.5), Threshold(0.9))


def measured(label: str, *supports: float) -> list[MeasuredQuestion]:
    """Questions of that label with these supports, each a conversation of its own."""
    return [
        MeasuredQuestion(
            f"{label}{n}", f"{label}{n}", label, {"support": value, "bm25": 0.0},
            1 / (1 + math.exp(-(PARAMETERS.intercept + 5.0 * value))),
        )
        for n, value in enumerate(supports)
    ]  # fmt: skip


ROWS = [
    *measured(ANSWERABLE, 0.3, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95),
    *measured(UNANSWERABLE, 0.1, 0.2, 0.3, 0.4, 0.58),
    *measured(WITHHELD, 0.0, 0.1, 0.2),
    *measured("PARTIAL", 0.5),
]


def test_every_other_label_is_measured_against_the_answerable() -> None:
    found = judge_strengths(ROWS, PARAMETERS)
    assert found["questions"] == {ANSWERABLE: 10, UNANSWERABLE: 5, WITHHELD: 3, "PARTIAL": 1}
    assert found["auroc"][UNANSWERABLE] == pytest.approx((8 * 5 + 4 + 2.5) / 50)
    assert (found["auroc"][WITHHELD], found["auroc"]["PARTIAL"]) == (1.0, 0.9)
    assert found["answered"] == {ANSWERABLE: 0.9, UNANSWERABLE: 0.2, WITHHELD: 0.0, "PARTIAL": 1.0}
    assert found["abstained"]["committed"] == pytest.approx(4 / 5)


def test_questions_of_one_kind_cannot_be_told_apart() -> None:
    with pytest.raises(SourceError, match="both kinds"):
        judge_strengths(measured(ANSWERABLE, 0.5, 0.6), PARAMETERS)
