from typing import Any

import pytest

from pipelines.evaluation.feedback_export import verdicts
from pipelines.store.query_log import AnswerFeedback

UP, DOWN = {"kind": "thumb", "value": 1, "source": 0}, {"kind": "thumb", "value": -1, "source": 0}


def opened(n: int) -> dict[str, Any]:
    return {"kind": "opened", "value": 1, "source": n}


def wrong(n: int) -> dict[str, Any]:
    return {"kind": "wrong_source", "value": 1, "source": n}


def said(*, answered: bool = True) -> AnswerFeedback:
    """An answer that cites sources 1 and 2; it was shown source 3, too."""
    sources = {n: {"n": n, "document_id": f"d{n}", "snippet": f"all of {n}"} for n in (1, 2, 3)}
    return AnswerFeedback("q", "Why?", "Why?", answered, False, sources, {1: ("one",), 2: ("two", "zwei")}, ())


ONE, TWO = {("d1", "one"): 1}, {("d2", "two"): 1, ("d2", "zwei"): 1}


@pytest.mark.parametrize(
    ("given", "votes"),
    [
        ([UP], ONE | TWO),
        ([UP, opened(1)], ONE),
        ([UP, opened(3)], ONE | TWO),
        ([UP, opened(1), opened(2), wrong(1)], {("d1", "one"): -1} | TWO),
        ([UP, opened(1), wrong(1)], {("d1", "one"): -1}),
        ([opened(1), opened(2)], {}),
        ([DOWN], {}),
        ([DOWN, opened(1)], {}),
        ([DOWN, wrong(2)], {("d2", "two"): -1, ("d2", "zwei"): -1}),
        ([wrong(3)], {("d3", "all of 3"): -1}),
        ([UP, wrong(9)], ONE | TWO),
        ([], {}),
    ],
    ids=[
        "thumb up: all that is cited", "thumb up: what was opened of it", "thumb up: what is not cited says nothing",
        "thumb up: but for what is wrong", "thumb up: nothing opened is right", "opened only", "thumb down",
        "thumb down: opened in vain", "thumb down: what is wrong", "a wrong source that is not cited: all of it",
        "a source that there is not", "nothing",
    ],
)  # fmt: skip
def test_what_a_reader_says_of_passages(given: list[dict[str, Any]], votes: dict[tuple[str, str], int]) -> None:
    assert verdicts(said(), given) == votes


def test_a_thumb_up_for_silence_makes_nothing_relevant() -> None:
    assert verdicts(said(answered=False), [UP, opened(1)]) == {}
