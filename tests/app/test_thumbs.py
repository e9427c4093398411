"""A reader says what they think of an answer."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from app.components import feedback as thumbs
from app.conversation import Exchange
from app.session import Opened
from config.prompts import GREETING
from pipelines.answers import Token
from pipelines.errors import RetrievalError
from pipelines.store.query_log import Feedback
from tests.app.conftest import ask, html, opened_source
from tests.app.fakes import RESUME, FakeEngine, abstained, answered, sentence, source

Open = Callable[[], AppTest]
ORGANS = "What did she do before Leith?"
WHO = "Who?"
resume = source(1, "resume.md", RESUME, "She tuned organs for nine years. In 2019 she moved to Leith.", page=2)
tuned = sentence("She tuned organs for nine years.", resume)


@pytest.fixture(autouse=True)
def _script(engine: FakeEngine) -> None:
    unlogged = answered("Unlogged?", [tuned], [resume])
    engine.script = {
        ORGANS: answered(ORGANS, [tuned], [resume], trace_id="q1"),
        WHO: [Token("No."), *abstained(WHO, [resume], ["Who? (hybrid: nothing like it)"])[1:]],
        "Unlogged?": unlogged,
        "Hello": answered("Hello", (), (), trace_id="q3", answered=False, answer=GREETING),
    }


def thumb(at: AppTest, value: int | None) -> AppTest:
    return at.feedback(key="thumbs_q1").set_value(value).run()


def given(engine: FakeEngine) -> list[Feedback]:
    return [one for _, one, _ in engine.given]


def test_a_thumb_is_kept_thanked_for_and_can_be_changed(engine: FakeEngine, chat: Open) -> None:
    at = thumb(ask(chat(), ORGANS), 1)
    assert "Thank you." in html(at)
    assert not at.main.text_input
    at = thumb(thumb(at, 0), None)
    assert given(engine) == [Feedback("thumb", 1), Feedback("thumb", -1), Feedback("thumb", 0)]
    assert "Thank you." not in html(at)
    [(query, reader)] = {(query, session) for query, _, session in engine.given}
    assert query == "q1"
    assert "c1" not in reader
    assert ORGANS in html(at)
    assert len(engine.asked) == 1
    assert not at.exception


def test_after_a_thumb_down_a_reader_can_say_why(engine: FakeEngine, chat: Open) -> None:
    at = thumb(ask(chat(), ORGANS), 0)
    at.text_input(key="words_q1").set_value("  ").run()
    at = at.text_input(key="words_q1").set_value(" She left in 2018. ").run()
    assert given(engine) == [Feedback("thumb", -1), Feedback("text", words="She left in 2018.")]
    assert "Thank you." in html(at)
    assert not at.main.text_input
    assert not at.exception


def test_a_source_can_be_reported_and_that_taken_back(engine: FakeEngine) -> None:
    exchange = Exchange(ORGANS)
    list(exchange.follow(iter(engine.script[ORGANS])))  # type: ignore[arg-type]
    thumbs.report(engine, exchange, 1)  # type: ignore[arg-type]
    thumbs.report(engine, exchange, 1)  # type: ignore[arg-type]
    assert given(engine) == [Feedback("wrong_source", 1, 1), Feedback("wrong_source", 0, 1)]


def test_feedback_that_cannot_be_kept_is_said_and_shows_no_thumb(engine: FakeEngine, chat: Open) -> None:
    engine.given_fault = RetrievalError("This session has reached its limit of feedback; thank you.")
    at = thumb(ask(chat(), ORGANS), 1)
    assert at.toast[0].value == "This session has reached its limit of feedback; thank you."
    assert at.feedback(key="thumbs_q1").value is None
    assert "Thank you." not in html(at)
    assert not at.exception


def test_a_thumb_is_still_there_after_the_library(engine: FakeEngine, chat: Open) -> None:
    at = thumb(ask(chat(), ORGANS), 1)
    at = at.switch_page("app_pages/library.py").run().switch_page("app_pages/chat.py").run()
    assert at.feedback(key="thumbs_q1").value == 1
    assert not at.exception


def test_thumbs_and_reports_are_there_after_a_reload_and_in_no_other_conversation(
    engine: FakeEngine, chat: Open
) -> None:
    at = thumb(ask(chat(), ORGANS), 0)
    at.text_input(key="words_q1").set_value("No.").run()
    again = AppTest.from_file(at._script_path, default_timeout=30)
    again.query_params["c"] = "c1"
    again.run()
    assert again.feedback(key="thumbs_q1").value == 0
    assert "Thank you." in html(again)
    again.button(key="clear").click().run()
    assert ask(again, ORGANS).feedback(key="thumbs_q1").value is None
    assert len({reader for *_, reader in engine.given}) == 1
    assert not again.exception


@pytest.mark.parametrize("question", ["Unlogged?", "Hello"])
def test_there_is_nothing_to_say_of_a_greeting_or_an_answer_that_was_not_logged(chat: Open, question: str) -> None:
    at = ask(chat(), question)
    assert not at.get("feedback")
    assert not at.exception


def test_nobody_is_asked_where_the_settings_say_so(engine: FakeEngine, chat: Open) -> None:
    engine.feedback_limit = 0
    at = ask(chat(), ORGANS)
    at.session_state["opened"] = Opened(0, 1, 0)
    at.run()
    assert not at.get("feedback")
    shown = opened_source(at)
    assert shown is not None
    assert shown["reported"] is None
    assert not at.exception


def test_an_opened_footnote_is_kept_and_a_failure_of_that_disturbs_nobody(engine: FakeEngine) -> None:
    exchange = Exchange(ORGANS)
    list(exchange.follow(iter(engine.script[ORGANS])))  # type: ignore[arg-type]
    thumbs.note_opening(engine, exchange, Opened(0, 1, 0))  # type: ignore[arg-type]
    thumbs.note_opening(engine, exchange, Opened(0, 1))  # type: ignore[arg-type]
    assert given(engine) == [Feedback("opened", source=1, place="sentence"), Feedback("opened", source=1, place="list")]
    engine.given_fault = RetrievalError("No.")
    thumbs.note_opening(engine, exchange, Opened(0, 1, 0))  # type: ignore[arg-type]
