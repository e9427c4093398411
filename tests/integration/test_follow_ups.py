import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.schema import QueryBundle
from sqlalchemy import update

from app.cli.ingest import ensure_sample
from config.settings import LLMSettings, Settings
from pipelines.answers import Answer
from pipelines.evaluation.answers import judge_topic
from pipelines.evaluation.datasets import Topic
from pipelines.ingestion.plan import Overrides
from pipelines.ingestion.run import ingest
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.query.search import Search, SearchOutcome
from pipelines.query.trace import Ledger
from pipelines.store.database import writing
from pipelines.store.query_log import latest_queries
from pipelines.store.questions import read_questions, untried_documents
from pipelines.store.schema import documents
from pipelines.types import Filters, Turn
from tests.fake_openai import FakeOpenAI

RESUME = """# Ann Bell

## Experience

### Reed Works | Voicer | Leith | Jan 2019 - Present

- Voices reeds for organs.

### Brass Bros | Tuner | Hull | Mar 2012 - Dec 2018

- Tuned organ pipes in forty churches.

## Education

### Leith College | BSc Acoustics | Leith | 2008 - 2011
"""
POST = """# On reeds

A reed is a strip of brass that speaks when wind bends it.

## Curving the brass

The brass is curved with a burnisher, a little at a time, until the reed speaks cleanly. The voicer listens, waits,
takes the tongue out again, and bends it less than before.

## Weather in the loft

Heat raises the pitch of the flue pipes, and the reeds stay behind. In August the loft is closed until noon.
"""
WHISTLE = "# whistle\n\nWhistle is a library that measures the pitch of organ pipes from a microphone.\n"
QUESTION, WHO = "What is a reed?", "How long did Ann work at Brass Bros?"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    for name, text in {"resume.md": RESUME, "reeds.md": POST, "whistle.md": WHISTLE}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def engine(corpus: Path, settings: Settings) -> QueryEngine:
    ingest(settings, [str(corpus)])
    return build_query_engine(settings)


def follow_ups(engine: QueryEngine, question: str, history: Sequence[Turn] = ()) -> tuple[str, ...]:
    return engine.suggest(engine.ask(question, history=history, record=False), history=history)


def test_what_is_suggested_is_answered_when_it_is_asked_next(engine: QueryEngine) -> None:
    suggested = [text for question in (QUESTION, WHO) for text in follow_ups(engine, question)]
    assert len(suggested) >= 3
    for question in suggested:
        assert engine.ask(question, record=False).answered, question


def test_nothing_that_was_asked_in_the_conversation_is_suggested_again(engine: QueryEngine) -> None:
    history: tuple[Turn, ...] = ()
    asked: list[str] = []
    question = WHO
    for _ in range(4):
        answer = engine.ask(question, history=history)
        asked.append(question)
        suggested = engine.suggest(answer, history=history)
        assert not {*asked} & {*suggested}
        history = (*history, Turn(question, answer.answer))
        if not suggested:
            break
        question = suggested[0]
    assert len(asked) > 1


def test_suggestions_wait_for_the_questions_of_every_engine_made_from_one(engine: QueryEngine) -> None:
    other = engine.with_changes({"answer.follow_ups": 1})
    with other.under_way.one():
        began = time.monotonic()
        engine.under_way.wait_for_none(0.2)
    assert time.monotonic() - began >= 0.2


def test_an_answer_comes_before_anything_is_suggested(engine: QueryEngine) -> None:
    answer = engine.ask(QUESTION)
    assert answer.follow_ups == ()
    before = len(latest_queries(engine.database.engine, 100))
    assert engine.suggest(answer)
    assert len(latest_queries(engine.database.engine, 100)) == before, "what is tried is not logged"


def test_a_question_is_tried_once_in_one_state_of_the_corpus(
    engine: QueryEngine, corpus: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    ask = QueryEngine.ask

    def counted(self: QueryEngine, question: str, **given: Any) -> Answer:
        tried.append(question)
        return ask(self, question, **given)

    answer = engine.ask(WHO)
    monkeypatch.setattr(QueryEngine, "ask", counted)
    first = engine.suggest(answer)
    assert len(tried) == len({*tried}) > 0
    tried.clear()
    assert (engine.suggest(answer), tried) == (first, [])
    (corpus / "whistle.md").write_text(f"{WHISTLE}\nIt is played at noon.\n")
    ingest(settings, [str(corpus)])
    engine.suggest(answer)
    assert tried


def test_the_setting_says_how_many_are_suggested(engine: QueryEngine) -> None:
    assert follow_ups(engine.with_changes({"answer.follow_ups": 0}), WHO) == ()
    assert len(follow_ups(engine.with_changes({"answer.follow_ups": 1}), WHO)) == 1


def test_a_greeting_suggests_nothing(engine: QueryEngine) -> None:
    assert follow_ups(engine, "Hello!") == ()


VOLCANO = "Which submarine volcano heated the reeds of Kamchatka?"


def test_an_abstention_offers_two_stored_questions_that_have_an_answer(engine: QueryEngine) -> None:
    engine.try_questions()
    answer = engine.ask(VOLCANO)
    assert (answer.answered, bool(answer.nearest), len(answer.follow_ups)) == (False, True, 2)
    assert "reeds" in answer.follow_ups[0], "what shares words with the question comes first"
    assert engine.suggest(answer) == answer.follow_ups
    for question in answer.follow_ups:
        assert engine.ask(question, record=False).answered, question
    again = engine.ask(VOLCANO, history=[Turn(answer.follow_ups[0], "It is curved.")])
    assert answer.follow_ups[0] not in again.follow_ups


def test_an_abstention_searches_nothing_for_the_questions_that_it_offers(
    engine: QueryEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.try_questions()
    searched: list[str] = []
    attempt = Search.attempt

    def counted(search: Search, query: QueryBundle, ledger: Ledger) -> SearchOutcome:
        searched.append(query.query_str)
        return attempt(search, query, ledger)

    monkeypatch.setattr(Search, "attempt", counted)
    assert engine.ask(VOLCANO).follow_ups
    assert [text for text in searched if "volcano" not in text] == []


def test_what_is_offered_stays_inside_the_filters_and_the_audience(corpus: Path, settings: Settings) -> None:
    ingest(settings, [str(corpus / "reeds.md")])
    ingest(settings, [str(corpus / "resume.md")], overrides=Overrides(visibility="private"))
    engine = build_query_engine(settings)
    engine.try_questions()
    only = engine.ask(VOLCANO, filters=Filters(document=("resume.md",))).follow_ups
    assert only
    assert all("Ann" in question for question in only)
    assert not [each for each in engine.ask(VOLCANO, audience="visitor").follow_ups if "Ann" in each]


def test_the_sample_comes_with_questions_that_a_chat_which_is_open_reads(
    corpus: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = build_query_engine(settings)
    assert not engine.stored_questions()
    monkeypatch.setattr("app.settings.SAMPLE", corpus)
    ensure_sample(settings)
    assert [each.question for each in engine.stored_questions() if each.is_sure]
    engine.ask(VOLCANO)
    with writing(engine.database.engine, "forgetting what was tried") as connection:
        connection.execute(update(documents).values({"metadata": {}}))
    assert not engine.stored_questions()


def test_a_document_that_changed_is_tried_again(engine: QueryEngine, corpus: Path, settings: Settings) -> None:
    engine.try_questions()
    assert untried_documents(engine.database.engine, 9) == []
    (corpus / "reeds.md").write_text(POST.replace("## Weather in the loft", "## Mice in the loft"))
    ingest(settings, [str(corpus)])
    assert len(untried_documents(engine.database.engine, 9)) == 1
    stored = read_questions(engine.store, Filters(), "owner")
    assert [each for each in stored if "reeds" in each.question] == []


def test_where_nothing_was_tried_an_abstention_is_followed_by_a_trial(engine: QueryEngine) -> None:
    answer = engine.ask(VOLCANO)
    assert answer.follow_ups == ()
    assert len(engine.suggest(answer)) == 2
    assert len(engine.ask(VOLCANO).follow_ups) == 2


def test_a_computed_answer_is_followed_up_by_the_rest_of_the_career(engine: QueryEngine) -> None:
    answer = engine.ask(WHO)
    assert answer.model == "career facts"
    assert any("Reed Works" in question or "Leith College" in question for question in engine.suggest(answer))


def test_a_visitor_is_not_told_of_what_is_private(corpus: Path, settings: Settings) -> None:
    ingest(settings, [str(corpus / "reeds.md")])
    for name in ("resume.md", "whistle.md"):
        ingest(settings, [str(corpus / name)], overrides=Overrides(visibility="private"))
    engine = build_query_engine(settings)
    for question in (QUESTION, "What measures the pitch of organ pipes?", "Who tuned pipes in forty churches?"):
        answer = engine.ask(question, audience="visitor")
        for suggested in engine.suggest(answer, audience="visitor"):
            assert not [name for name in ("whistle", "Ann", "Reed Works", "Brass", "Leith") if name in suggested]


def test_suggestions_stay_inside_the_filters(engine: QueryEngine) -> None:
    filters = Filters(document=("reeds.md",))
    suggested = engine.suggest(engine.ask(QUESTION, filters=filters), filters=filters)
    assert suggested
    assert not [question for question in suggested if "reeds" not in question.casefold()]


def test_no_language_model_is_asked_for_what_may_be_asked_next(
    corpus: Path, make_settings: Callable[..., Settings]
) -> None:
    with FakeOpenAI(reply="A reed is a strip of brass that speaks when wind bends it [1].") as fake:
        settings = make_settings(llm=LLMSettings(provider="openai", model="fake", api_base=fake.url, retries=0))
        ingest(settings, [str(corpus)])
        engine = build_query_engine(settings)
        answer = engine.ask(QUESTION)
        requests = len(fake.requests)
        assert engine.suggest(answer)
        assert len(fake.requests) == requests


def test_a_follow_up_is_looked_for_where_the_last_answer_stands(engine: QueryEngine) -> None:
    asked = "How does a burnisher curve the brass of a reed?"
    first = engine.ask(asked)
    found = engine.examine("Who listens to it then?", history=[Turn(asked, first.answer)])
    told = {hit.node.metadata["document_id"] for hit in found.ranking[:1]}
    assert found.intent.told
    assert told == set(found.intent.told)
    assert engine.examine("Who listens to it then?").intent.told == ()


def test_a_follow_up_without_a_word_of_its_own_is_answered_from_the_last_answers_document(engine: QueryEngine) -> None:
    history = [Turn("What happens in August?", "In August the loft is closed until noon. [1]")]
    assert "reeds stay behind" in engine.ask("And why is that?", history=history).answer


def test_a_clause_may_name_the_job_before_which_somebody_worked(engine: QueryEngine) -> None:
    answer = engine.ask("Where did Ann work before she came to Reed Works?").answer
    assert answer.startswith("Before Reed Works: Tuner at Brass Bros")
    assert "Brass Bros" in engine.ask("Which company did Ann work for before she became a voicer?").answer


def test_an_employer_whose_name_begins_like_a_clause_is_found(corpus: Path, settings: Settings) -> None:
    others = "### It Harbour | Clerk | Leith | Jan 2008 - Feb 2010\n\n- Kept the books.\n\n## Education"
    (corpus / "resume.md").write_text(RESUME.replace("## Education", others))
    ingest(settings, [str(corpus)])
    engine = build_query_engine(settings)
    for question in ("Where did Ann work after It Harbour?", "Where did Ann work after she left It Harbour?"):
        assert "Tuner at Brass Bros" in engine.ask(question).answer
    assert engine.ask("Where did Ann work after It Harbour?").answer.startswith("After It Harbour")


def test_a_visitor_s_follow_up_is_not_looked_for_in_what_is_private(corpus: Path, settings: Settings) -> None:
    ingest(settings, [str(corpus)], overrides=Overrides(visibility="private"))
    history = [Turn("What happens in August?", "In August the loft is closed until noon. [1]")]
    engine = build_query_engine(settings)
    assert engine.examine("And why is that?", history=history).intent.told
    assert engine.ask("And why is that?", history=history).answered
    assert not engine.ask("And why is that?", history=history, audience="visitor").answered


def test_a_topic_is_judged_with_the_questions_before_it(engine: QueryEngine) -> None:
    before = ("What happens in August?",)
    topic = Topic("t", "And why is that?", True, "followup", (), ("reeds stay behind",), before)
    assert judge_topic(engine, topic)["facts"] == 1.0
    assert judge_topic(engine, replace(topic, history=()))["facts"] == 0.0
