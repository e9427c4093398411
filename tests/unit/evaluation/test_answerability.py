import json
import math
from pathlib import Path

import numpy as np
import pytest

from pipelines.errors import SourceError
from pipelines.evaluation.answerability import (
    ANSWERABLE,
    KEPT,
    UNANSWERABLE,
    WITHHELD,
    MeasuredQuestion,
    judge_strengths,
    load_collection,
    refit,
)
from pipelines.evaluation.logistic import auroc, balanced, fit_logistic, held_out, keeping, reliability
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


# Arithmetic


def test_auroc_is_the_share_of_pairs_in_order_with_ties_half() -> None:
    assert auroc([3, 2], [1, 2]) == (1 + 1 + 1 + 0.5) / 4
    assert auroc([], [1]) == 0


def test_keeping_finds_the_highest_score_that_still_keeps_the_share() -> None:
    scores = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert keeping(scores, 0.9) == 0.2
    assert keeping(scores, 0.85) == 0.2
    assert keeping(scores, 1.0) == 0.1
    assert keeping([0.9, 0.5, 0.1], 0.5, weight=[1, 1, 6]) == 0.1


def test_the_fit_finds_the_odds_of_a_table_whatever_the_scale() -> None:
    # of 100 rows each, x = 0 is right in 20 and x = 1 in 80: log-odds of -ln 4 and ln 4
    x = np.repeat([0.0, 0.0, 1.0, 1.0], [80, 20, 20, 80])
    right = np.repeat([0.0, 1.0, 0.0, 1.0], [80, 20, 20, 80])
    for scale in (1.0, 1000.0):
        found = fit_logistic(scale * x[:, None], right, balanced(right), penalty=1e-9)
        assert found.intercept == pytest.approx(-np.log(4), abs=1e-5)
        assert scale * found.weights[0] == pytest.approx(2 * np.log(4), abs=1e-5)


def test_the_penalty_draws_weights_to_nothing() -> None:
    x, right = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0.0, 1.0, 0.0, 1.0])
    x[1] = 0.5
    loose, tight = (abs(fit_logistic(x, right, balanced(right), penalty=p).weights[0]) for p in (0.01, 100.0))
    assert tight < loose / 10


def test_rows_that_are_told_apart_by_their_group_alone_are_not_told_apart_when_it_is_held_out() -> None:
    # each group's own column gives its rows away; a fit that has not seen the group cannot know that
    groups = [f"g{number}" for number in range(20) for _ in range(2)]
    right = np.array([float(number % 2) for number in range(20) for _ in range(2)])
    rows = np.repeat(np.eye(20), 2, axis=0)
    seen = fit_logistic(rows, right, balanced(right), penalty=0.01).probabilities(rows)
    assert auroc(seen[right == 1], seen[right == 0]) == 1.0
    unseen = held_out(rows, right, groups)
    assert auroc(unseen[right == 1], unseen[right == 0]) <= 0.6
    assert (unseen == held_out(rows, right, groups)).all()


def test_reliability_compares_what_was_predicted_with_what_was_there_classes_weighing_alike() -> None:
    bins = reliability(np.array([0.1, 0.1, 0.1, 0.95, 1.0]), np.array([0.0, 0.0, 1.0, 0.0, 0.0]))
    assert [(row["from"], row["to"], row["count"]) for row in bins] == [(0.0, 0.2, 3), (0.8, 1.0, 2)]
    assert bins[0]["predicted"] == pytest.approx(0.1)
    assert bins[0]["observed"] == pytest.approx(0.5 / (0.5 + 2 * 0.5 / 4))
    assert bins[1]["observed"] == 0.0


# Judging and fitting

PARAMETERS = Calibration(0, 1, -2.5, {"support": 5.0}, Threshold(0.5), Threshold(0.9))


def measured(label: str, *supports: float) -> list[MeasuredQuestion]:
    parameters = PARAMETERS
    return [
        MeasuredQuestion(
            f"{label}{n}", f"{label}{n}", label, {"support": value, "bm25": 0.0},
            1 / (1 + float(np.exp(-(parameters.intercept + 5.0 * value)))),
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
    assert set(found["held_out"]) == {UNANSWERABLE, WITHHELD}


def test_a_fit_states_its_bounds_with_what_reaches_them() -> None:
    found = refit({"one": ROWS}, PARAMETERS)["parameters"]
    assert found["weights"]["support"] > 0
    assert found["floor"]["answerable"] == math.ceil(KEPT * 10) / 10
    assert found["floor"]["unanswerable"] < 1.0
    assert found["high"]["unanswerable"] == 0.0
    assert found["floor"]["at"] <= found["high"]["at"]
    assert (found["far"], found["near"]) == (PARAMETERS.far, PARAMETERS.near)
    assert found == refit({"one": ROWS}, PARAMETERS)["parameters"]


def test_each_of_several_sets_is_judged_by_a_fit_on_the_others() -> None:
    upside_down = [*measured(ANSWERABLE, 0.1, 0.2, 0.3), *measured(UNANSWERABLE, 0.7, 0.8, 0.9)]
    found = refit({"one": ROWS, "other": upside_down}, PARAMETERS)["by_the_other_sets"]
    assert found["other"][UNANSWERABLE] == 0.0
    assert found["one"][UNANSWERABLE] < 0.2
    assert refit({"one": ROWS}, PARAMETERS)["by_the_other_sets"] == {}


def test_the_floor_keeps_the_share_on_average_over_sets_of_any_size() -> None:
    small, large = ROWS, [*ROWS[:10] * 5, *ROWS[10:] * 5]
    one = refit({"small": small}, PARAMETERS)["parameters"]["floor"]
    both = refit({"small": small, "large": large}, PARAMETERS)["parameters"]["floor"]
    assert both["answerable"] == one["answerable"] == math.ceil(KEPT * 10) / 10
    assert both["unanswerable"] == one["unanswerable"]


def test_questions_of_one_kind_cannot_be_told_apart() -> None:
    with pytest.raises(SourceError, match="both kinds"):
        judge_strengths(measured(ANSWERABLE, 0.5, 0.6), PARAMETERS)
