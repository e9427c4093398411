"""Inspect: how a past question was answered, as its owner reads it."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from app.components.waterfall import fates, waterfall
from app.inspection import CandidatePassage, RankChange
from pipelines.errors import RetrievalError
from tests.app.conftest import answers, ask, html
from tests.app.fakes import FakeEngine, FakeInspection, answered, logged_query, sentence

Open = Callable[[], AppTest]


@pytest.fixture
def inspect(engine: FakeEngine, chat: Open) -> Callable[..., AppTest]:
    """Opens the page, for one question where it is named."""

    def opened(trace: str = "") -> AppTest:
        at = chat()
        if trace:
            at.query_params["trace"] = trace
        return at.switch_page("app_pages/inspect.py").run()

    return opened


def test_the_latest_questions_are_listed_and_open_on_a_press(engine: FakeEngine, inspect: Open) -> None:
    engine.inspection = FakeInspection([logged_query("a1", "Who tuned *organs*?"), logged_query("b2", "Which reeds?")])
    at = inspect()
    assert [each.label for each in at.button if (each.key or "").startswith("open_")] == [
        r"Who tuned \*organs\*?", "Which reeds?"
    ]  # fmt: skip
    at.button(key="open_b2").click().run()
    assert "Which reeds?" in html(at)
    at.button(key="back").click().run()
    assert len([each for each in at.button if (each.key or "").startswith("open_")]) == 2
    assert not at.exception


def test_a_question_shows_its_candidates_who_declined_and_its_times(
    engine: FakeEngine, inspect: Callable[[str], AppTest]
) -> None:
    engine.inspection = FakeInspection([logged_query("a1", "Who tuned organs?")])
    at = inspect("a1")
    shown = html(at)
    assert "no language model is set" in shown
    assert "12.5 ms" in shown
    assert "strength 0.60" in shown
    assert "She tuned organs" in shown
    at.pills(key="fate").select("ranked too low 1").run()
    assert "She tuned organs" not in html(at)
    assert not at.exception


def test_prompts_are_shown_only_where_they_were_kept(engine: FakeEngine, inspect: Callable[[str], AppTest]) -> None:
    row = logged_query("a1", "Who tuned organs?")
    reading = {"model": "m", "sources": [["resume.md", 0, 9]], "outcome": "refused", "left_out": [], "prompt": [],
               "reply": ""}  # fmt: skip
    row["trace"]["readings"] = [reading, reading | {"prompt": [["user", "the question"]], "reply": "NO"}]
    engine.inspection = FakeInspection([row])
    at = inspect("a1")
    assert [each.value for each in at.code] == ["the question", "NO"]
    assert not at.exception


def test_what_if_shows_the_ranks_that_move(engine: FakeEngine, inspect: Callable[[str], AppTest]) -> None:
    move = RankChange("n", "resume.md", "Resume", 3, 1, None, "cut: duplicate")
    engine.inspection = FakeInspection([logged_query("a1", "Who?")], moves=[move])
    at = inspect("a1")
    assert engine.inspection.asked == []
    at.multiselect(key="without").select("recency")
    at.button(key="search_again").click().run()
    assert engine.inspection.asked == [(("recency",), None)]
    assert list(at.table[0].value["Passage"]) == ["Resume · line 3 · says the same as a better one"]
    engine.inspection.fault = RetrievalError("No retriever is left.")
    at.multiselect(key="without").select("dense").run()
    at.button(key="search_again").click().run()
    assert "No retriever is left." in html(at)
    assert not at.exception


def test_an_unknown_question_is_said(engine: FakeEngine, inspect: Callable[[str], AppTest]) -> None:
    assert "There is no query" in html(inspect("ffff"))


def test_a_visitor_has_no_such_page(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch, chat: Open) -> None:
    monkeypatch.setenv("FOOTNOTE_CHAT__VISITOR", "true")
    engine.audience = "visitor"
    engine.inspection = FakeInspection([logged_query("a1", "Who?")])
    at = chat()
    with pytest.raises(ValueError, match="inspect"):
        at.switch_page("app_pages/inspect.py").run()


def test_a_factor_shows_what_it_adds_and_takes() -> None:
    candidate = {
        "node_id": "n", "title": "<b>", "dense": {"rank": 2, "score": 0.5}, "sparse": None, "fused": 0.5,
        "factors": {"named": 2.0, "recency": 0.5}, "final": 0.5, "fate": "merged into 3",
    }  # fmt: skip
    made = waterfall([candidate], {"n": CandidatePassage("d", "", "<i>words</i>")}, [0])
    assert 'class="fn-gain" style="left:50.0%;width:50.0%"' in made
    assert 'class="fn-loss" style="left:50.0%;width:50.0%"' in made
    assert "0.500 · named ×2.00 · recency ×0.50 = <b>0.500</b>" in made
    assert "&lt;i&gt;words" in made
    assert "<b>2</b>" in made
    assert "used in source 3" in made
    assert fates([candidate, {"fate": "cut: quota"}, {"fate": "cut: quota"}]) == {
        "used": 1, "its document had its share": 2
    }  # fmt: skip


def test_an_answer_links_to_its_ledger_for_the_owner_alone(
    engine: FakeEngine, chat: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.script["Who?"] = list(answered("Who?", [sentence("She tuned organs.", None)], (), trace_id="a1"))
    assert answers(ask(chat(), "Who?"))[0]["trace"] == "a1"
    monkeypatch.setenv("FOOTNOTE_CHAT__VISITOR", "true")
    engine.audience = "visitor"
    assert answers(ask(chat(), "Who?"))[0]["trace"] == ""
