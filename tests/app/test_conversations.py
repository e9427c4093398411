"""A conversation is found again: after a reload, in another tab, and with the answer that was interrupted."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

import pytest
from streamlit.runtime.scriptrunner_utils.exceptions import StopException
from streamlit.testing.v1 import AppTest

from app import session
from app.components.conversations import by_day, conversation_markdown
from app.conversation import Exchange, read_with
from pipelines.answers import Answer, Token
from pipelines.errors import ServiceUnavailable
from pipelines.query.question.followup import MOST_TURNS
from pipelines.store.conversations import Conversation, ConversationRow, Message
from pipelines.types import Filters, Turn
from tests.app.conftest import answers, ask, html, opened, words
from tests.app.fakes import RESUME, FakeArchive, FakeEngine, answered, sentence, source

Open = Callable[[], AppTest]
ORGANS, LEITH = "What did she do before Leith?", "Where does she live?"
resume = source(1, "resume.md", RESUME, "She tuned organs for nine years. In 2019 she moved to Leith.", page=2)
tuned = sentence("She tuned organs for nine years.", resume)
moved = sentence("In 2019 she moved to Leith.", resume)


@pytest.fixture(autouse=True)
def _script(engine: FakeEngine) -> None:
    engine.script = {ORGANS: answered(ORGANS, [tuned], [resume]), LEITH: answered(LEITH, [moved], [resume])}


def reload(chat: Open, at: AppTest) -> AppTest:
    """The chat in another tab, at the same address."""
    other = AppTest.from_file(at._script_path, default_timeout=30)
    for name, value in at.query_params.items():
        other.query_params[name] = value
    return other.run()


def keys(at: AppTest, begin: str) -> list[str]:
    return [button.key for button in at.button if button.key and button.key.startswith(begin)]


def test_a_reload_finds_the_conversation_with_its_answers(engine: FakeEngine, chat: Open) -> None:
    at = ask(ask(chat(), ORGANS), LEITH)
    assert at.query_params["c"] == "c1"
    before = [words(answer) for answer in answers(at)]
    again = reload(chat, at)
    assert [words(answer) for answer in answers(again)] == before
    assert len(engine.asked) == 2, "nothing is asked again"
    ask(again, ORGANS)
    assert engine.asked[2][1] == (Turn(ORGANS, tuned.text, (resume.title,)), Turn(LEITH, moved.text, (resume.title,)))
    assert not again.exception


def test_an_address_of_nobodys_conversation_begins_a_new_one(chat: Open) -> None:
    at = chat()
    at.query_params["c"] = "c7"
    at.run()
    assert "c" not in at.query_params
    assert "not here" in at.toast[0].value
    assert not at.exception


def test_conversations_are_listed_opened_renamed_and_deleted_with_an_undo(engine: FakeEngine, chat: Open) -> None:
    at = ask(chat(), ORGANS)
    at.button(key="clear").click().run()
    assert (answers(at), "c" in at.query_params) == ([], False)
    at = ask(at, LEITH)
    assert keys(at, "open_") == ["open_c2", "open_c1"]
    at.button(key="open_c1").click().run()
    assert [words(answer)[0][0] for answer in answers(at)] == [tuned.text]
    at.text_input(key="title_c1").set_value("Organs").run()
    assert at.button(key="open_c1").label == "Organs"
    at.button(key="delete_c1").click().run()
    assert keys(at, "open_") == ["open_c2"]
    assert answers(at) == []
    at.button(key="restore_deletion").click().run()
    assert [words(answer)[0][0] for answer in answers(at)] == [tuned.text]
    assert not keys(at, "restore")
    assert not at.exception


def test_the_search_narrows_the_list_and_says_if_nothing_is_there(chat: Open) -> None:
    at = ask(chat(), ORGANS)
    at.button(key="clear").click().run()
    at = ask(at, LEITH)
    at.text_input(key="conversation_search").set_value("before").run()
    assert keys(at, "open_") == ["open_c1"]
    at.text_input(key="conversation_search").set_value("clavichord").run()
    assert "No conversation has these words." in [caption.value for caption in at.sidebar.caption]
    assert not at.exception


def test_a_question_that_was_interrupted_is_asked_again_on_the_next_load(engine: FakeEngine, chat: Open) -> None:
    whole = engine.script[ORGANS]
    engine.script[ORGANS] = [Token("She tuned "), StopException()]
    at = opened(chat(), "filter_menu")
    at.multiselect(key="filter_year").select(2019).run()
    at.chat_input(key="question").set_value(ORGANS).run()
    [message] = engine.stored.kept["c1"][1]
    assert message.state == "asked"
    engine.script[ORGANS] = whole
    again = reload(chat, at)
    assert [words(answer) for answer in answers(again)] == [[(tuned.text, [1], "")]]
    assert [asked[2] for asked in engine.asked] == [Filters(year=(2019,))] * 2
    assert [message.state for message in engine.stored.kept["c1"][1]] == ["answered"]
    assert not again.exception


def test_a_question_that_was_stopped_is_not_asked_again(engine: FakeEngine, chat: Open) -> None:
    engine.script[ORGANS] = [Token("She tuned "), partial(session.stop, engine.stored), StopException()]
    again = reload(chat, ask(chat(), ORGANS))
    assert [answer["alerts"] for answer in answers(again)] == [
        ["Stopped. This is as far as it came; nothing in it was checked."]
    ]
    assert len(engine.asked) == 1
    assert not again.exception


def test_the_last_question_is_asked_again_in_place_of_its_answer(engine: FakeEngine, chat: Open) -> None:
    at = ask(ask(chat(), ORGANS), LEITH)
    at.button(key="again").click().run()
    assert [words(answer)[0][0] for answer in answers(at)] == [tuned.text, moved.text]
    assert [asked[0] for asked in engine.asked] == [ORGANS, LEITH, LEITH]
    assert engine.asked[2][1] == engine.asked[1][1], "it is read with the same turns"
    assert [message.question for message in engine.stored.kept["c1"][1]] == [ORGANS, LEITH]
    assert not at.exception


def test_the_last_question_can_be_edited_and_what_is_sent_takes_its_place(engine: FakeEngine, chat: Open) -> None:
    at = ask(chat(), ORGANS)
    at.button(key="edit").click().run()
    assert at.session_state["filled"] == (1, ORGANS)
    assert [words(answer)[0][0] for answer in answers(at)] == [tuned.text], "nothing is lost until it is sent"
    at.button(key="keep").click().run()
    assert at.session_state["filled"] == (2, "")
    assert "keep" not in [button.key for button in at.button]
    at.button(key="edit").click().run()
    at = ask(at, LEITH)
    assert [words(answer)[0][0] for answer in answers(at)] == [moved.text]
    assert engine.asked[-1][1] == ()
    assert [message.question for message in engine.stored.kept["c1"][1]] == [LEITH]
    assert "keep" not in [button.key for button in at.button]
    assert not at.exception


def test_another_tab_waits_for_the_answer_and_does_not_ask_it_again(engine: FakeEngine, chat: Open) -> None:
    engine.stored.kept["c1"] = ORGANS, [Message(ORGANS, id=1)]
    at = AppTest.from_file(chat()._script_path, default_timeout=30)
    at.query_params["c"] = "c1"
    with session.answering(1):
        at.run()
        assert "This question is being answered in another tab." in [caption.value for caption in at.caption]
        assert engine.asked == []
    *_, answer = engine.script[ORGANS]
    assert isinstance(answer, Answer)
    engine.stored.store(Message(ORGANS, state="answered", answer=answer, id=1))
    at.run()
    assert [words(answer)[0][0] for answer in answers(at)] == [tuned.text]
    assert engine.asked == []
    assert not at.exception


def test_an_answer_is_given_where_nothing_can_be_stored(
    engine: FakeEngine, chat: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> str:
        raise ServiceUnavailable("The disk is full.")

    monkeypatch.setattr(FakeArchive, "begin", fail)
    at = ask(chat(), ORGANS)
    assert [words(answer)[0][0] for answer in answers(at)] == [tuned.text]
    assert not at.exception


def test_an_answer_is_shared_by_a_link_until_that_is_revoked(engine: FakeEngine, chat: Open) -> None:
    at = opened(ask(ask(chat(), ORGANS), LEITH), "more_answer_1")
    at.button(key="link_answer_1").click().run()
    assert at.code[0].value.endswith("a=token2")
    shared = AppTest.from_file(at._script_path, default_timeout=30)
    shared.query_params["a"] = "token2"
    shared.run()
    assert [words(answer)[0][0] for answer in answers(shared)] == [moved.text]
    assert ORGANS not in html(shared)
    assert not shared.chat_input
    at.button(key="revoke_answer_1").click().run()
    shared.run()
    assert (answers(shared), "This link leads nowhere." in html(shared)) == ([], True)
    assert not shared.exception
    assert not at.exception


def test_what_is_stored_of_an_exchange_makes_it_again() -> None:
    exchange = Exchange(ORGANS, filters=Filters(year=(2019,)), before=(Turn("Who?", "Ann."),), reader="llama")
    for event in exchange.follow(iter(answered(ORGANS, [tuned], [resume]))):  # type: ignore[arg-type]
        assert event
    again = Exchange.of(exchange.message())
    assert (again.turn(), again.cited(), again.filters, again.before) == (
        exchange.turn(), exchange.cited(), exchange.filters, exchange.before
    )  # fmt: skip


def test_days_are_those_of_the_readers_clock() -> None:
    now, zone = datetime(2026, 3, 2, 23, 30, tzinfo=UTC), ZoneInfo("Europe/Zurich")
    hours = {"a": 0, "b": 3, "c": 30, "d": 24 * 60, "e": 24 * 62}
    rows = [ConversationRow(name, name, now - timedelta(hours=ago)) for name, ago in hours.items()]
    listed = {day: "".join(row.id for row in of_day) for day, of_day in by_day(rows, now, zone)}
    assert listed == {
        "Today": "a",
        "Yesterday": "b",
        "Sunday, 1 March": "c",
        "Friday, 2 January": "d",
        "Wednesday, 31 December 2025": "e",
    }


def test_a_conversation_is_exported_with_its_sources() -> None:
    *_, answer = answered(ORGANS, [tuned], [resume])
    assert isinstance(answer, Answer)
    text = conversation_markdown(Conversation("c1", "Organs", "", (Message(ORGANS, state="answered", answer=answer),)))
    assert text.startswith(f"# Organs\n\n## {ORGANS}\n\nShe tuned organs for nine years. [1]\n")
    assert "> She tuned organs for nine years." in text


def test_a_long_conversation_is_read_with_all_questions_and_its_last_answers() -> None:
    entries = [Exchange(f"Question {number}?", pieces=["Yes."]) for number in range(100)]
    read = read_with("And then?", entries)
    assert [turn.question for turn in read] == [entry.question for entry in entries]
    assert [turn.answer for turn in read] == [""] * (100 - MOST_TURNS) + ["Yes."] * MOST_TURNS
    last = Exchange("Last?")
    list(last.follow(iter(answered("Last?", [sentence("Yes.", None)], [], follow_ups=("Which?",)))))
    assert read_with("Which?", [*entries, last]) == ()
