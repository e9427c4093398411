"""What a language model is told, what is read of its replies, and what becomes of what no source supports."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from config.prompts import NO_ANSWER, NO_MORE
from config.settings import AnswerSettings, EscalationSettings, LLMSettings, PersonaSettings, Settings
from pipelines.answers import Answer, Preview, Token
from pipelines.query.answer import answer_json, read_answer
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.store.query_log import read_query
from pipelines.text import count_tokens
from pipelines.types import Turn
from tests.conftest import Ingested, MakeSettings
from tests.fake_openai import FakeOpenAI, Fault
from tests.shell import Shell

QUESTION = "How many containers did the harbour crane move?"
TRUE = "The harbour crane moved 40 containers an hour"
FALSE = "The crane was painted pink by a travelling circus"


@pytest.fixture
def openai() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


@pytest.fixture(scope="module")
def stored(ingested: Ingested) -> Settings:
    """What the tests have copies of."""
    ships = "# Ships\n\nIn 2023 Marit moved to Garboard Systems. She leads five people there.\n"
    return ingested({"crane.md": f"# Crane\n\n{TRUE}. Marit built it in 2014.\n", "ship.md": ships})[1]


@pytest.fixture
def make_engine(stored: Settings, make_settings: MakeSettings, openai: FakeOpenAI) -> Callable[..., QueryEngine]:
    def make(llm: dict[str, Any] | None = None, **changes: Any) -> QueryEngine:
        given = {"model": "fake", "retries": 0} | (llm or {})
        model = LLMSettings(provider="openai", api_base=openai.url, **given)
        return build_query_engine(make_settings(stored, llm=model, **changes))

    return make


@pytest.fixture
def engine(make_engine: Callable[..., QueryEngine]) -> QueryEngine:
    return make_engine()


def prompt_of(openai: FakeOpenAI, place: int = -1) -> tuple[str, str]:
    system, asked = openai.requests[place].body["messages"][:2]
    return system["content"], asked["content"]


def crane(body: Any) -> str:
    """The number of the source that speaks of the crane."""
    return re.findall(r"<<source (\d+) \w+>>\n\[Source: crane\.md \(\w+\), Crane", body["messages"][1]["content"])[0]


# JSON


@pytest.mark.parametrize(
    "reply",
    [
        '{"answer": "@ [#].", "sources": [#]}',
        '```json\n{"answer": "@ [#].", "sources": [#],}\n```',
        'Here you are:\n{"answer": "@.", "sources": [{"documentName": "crane.md", "snippet": "40 containers"}]}\nBye.',
        '{"answer": "@.", "sources": ["crane.md"], "confidence": "high"}',
        '{"answer": "@ [#]."}',
        "{'answer': '@ [#].', 'sources': ['Source #']}",
        '{"answer": "@ [#].", "sources": [#',
        "@ [#].",
    ],
)
@pytest.mark.parametrize("output", ["prose", "json"])
def test_json_however_broken_is_read_and_never_shown(
    engine: QueryEngine, openai: FakeOpenAI, reply: str, output: str
) -> None:
    openai.reply = lambda body: reply.replace("@", TRUE).replace("#", crane(body))
    events = list(engine.with_changes({"answer.output": output}).answer(QUESTION, record=False))
    answer = events[-1]
    assert isinstance(answer, Answer)
    assert (answer.mode, answer.fallback_reason) == ("llm", "")
    (sentence,) = answer.sentences
    assert (sentence.text, sentence.verdict, len(sentence.citations)) == (f"{TRUE}.", "supported", 1)
    assert answer.sources[sentence.citations[0] - 1].documentName == "crane.md"
    assert not set("{}`") & set("".join(event.text for event in events if isinstance(event, Token)))


@pytest.mark.parametrize("reply", ['{"sources": [1]}', '{"answer": ""}', '{"answer": {"a": 1}}', '{"foo": "bar"}'])
def test_json_without_an_answer_is_reported_and_sentences_are_quoted(
    engine: QueryEngine, openai: FakeOpenAI, reply: str
) -> None:
    openai.reply = reply
    answer = engine.with_changes({"answer.output": "json"}).ask(QUESTION)
    assert answer.mode == "extractive"
    assert answer.fallback_reason.startswith("fake answered with JSON that cannot be read.")
    assert "FOOTNOTE_ANSWER__OUTPUT" in answer.fallback_reason
    assert "40 containers" in answer.answer


def test_a_model_that_only_marks_is_reported(engine: QueryEngine, openai: FakeOpenAI) -> None:
    openai.reply = "[1] [2]"
    answer = engine.ask(QUESTION)
    assert (answer.mode, "wrote no sentence" in answer.fallback_reason) == ("extractive", True)


def test_ask_json_asks_the_model_for_json_and_prints_an_answer_that_can_be_read_back(
    engine: QueryEngine, openai: FakeOpenAI, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", engine.settings.database_url.get_secret_value())
    for name, value in {"PROVIDER": "openai", "MODEL": "fake", "API_BASE": openai.url}.items():
        monkeypatch.setenv(f"FOOTNOTE_LLM__{name}", value)
    openai.reply = lambda body: json.dumps({"answer": f"{TRUE} [{crane(body)}].", "sources": [int(crane(body))]})
    shown = shell.json("ask", QUESTION)
    assert "exactly two keys" in prompt_of(openai, 0)[0]
    assert (shown["mode"], shown["answered"]) == ("llm", True)
    assert {"documentName", "snippet"} <= shown["sources"][0].keys()
    assert shown == answer_json(read_answer(shown))


@pytest.fixture
def shell(settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    return Shell(settings, monkeypatch, tmp_path)


@pytest.mark.parametrize("output", ["prose", "json"])
def test_the_markdown_of_a_reply_survives_with_its_footnotes(
    engine: QueryEngine, openai: FakeOpenAI, output: str
) -> None:
    def reply(body: Any) -> str:
        n = crane(body)
        text = f"## Crane\n\n- {TRUE} [{n}].\n- Marit built it in 2014 [{n}].\n\n```sh\ncrane --all\n```"
        return json.dumps({"answer": text, "sources": [int(n)]}) if output == "json" else text

    openai.reply = reply
    answer = engine.with_changes({"answer.output": output, "answer.unsupported": "mark"}).ask(QUESTION)
    n = answer.sentences[0].citations[0]
    assert answer.answer.startswith(
        f"## Crane\n\n- {TRUE}. [{n}]\n- Marit built it in 2014. [{n}]\n\n```sh\ncrane --all\n```"
    )
    assert [sentence.text for sentence in answer.sentences] == [f"{TRUE}.", "Marit built it in 2014.", "crane --all"]


# What is not borne out


def half_true(body: Any) -> str:
    return f"{TRUE} [{crane(body)}]. {FALSE} [{crane(body)}]."


def test_an_unsupported_sentence_is_marked_by_setting(engine: QueryEngine, openai: FakeOpenAI) -> None:
    engine = engine.with_changes({"answer.unsupported": "mark"})
    openai.reply = half_true
    answer = engine.ask(QUESTION)
    assert [sentence.verdict for sentence in answer.sentences] == ["supported", "unsupported"]


def test_an_unsupported_sentence_is_removed_by_setting_and_the_answer_says_so(
    engine: QueryEngine, openai: FakeOpenAI
) -> None:
    openai.reply = half_true
    answer = engine.with_changes({"answer.unsupported": "remove"}).ask(QUESTION)
    assert [sentence.text for sentence in answer.sentences] == [f"{TRUE}."]
    assert FALSE not in answer.answer
    assert any("1 sentence of the language model's answer was left out" in note for note in answer.notes)


def test_a_sentence_that_names_no_source_cites_the_one_that_bears_it_out(
    engine: QueryEngine, openai: FakeOpenAI
) -> None:
    openai.reply = lambda body: f"## Answer\n{TRUE}. {FALSE} [{crane(body)}].\n\n## Sources\n[1] crane.md"
    answer = engine.with_changes({"answer.unsupported": "remove"}).ask(QUESTION)
    (sentence,) = answer.sentences
    assert (sentence.text, sentence.verdict) == (f"{TRUE}.", "supported")
    assert [answer.sources[n - 1].documentName for n in sentence.citations] == ["crane.md"]
    assert any(note.startswith("1 sentence of the language model's answer named no source") for note in answer.notes)


@pytest.mark.parametrize("said", ["I'm sorry, I cannot help with that.", "null", "<think>The crane? 40.</think>null"])
def test_a_refusal_of_the_model_is_an_abstention(engine: QueryEngine, openai: FakeOpenAI, said: str) -> None:
    openai.reply = said
    answer = engine.ask(QUESTION)
    assert (answer.mode, answer.answered, answer.sentences) == ("llm", False, ())


def test_thoughts_of_the_model_are_neither_shown_nor_judged(engine: QueryEngine, openai: FakeOpenAI) -> None:
    openai.reply = lambda body: f"<think>Pink cranes fly.</think>\n{TRUE} [{crane(body)}]."
    events = list(engine.answer(QUESTION, record=False))
    assert "Pink" not in "".join(event.text for event in events if isinstance(event, Token))
    assert isinstance(events[-1], Answer)
    assert [(one.text, one.verdict) for one in events[-1].sentences] == [(f"{TRUE}.", "supported")]


def test_what_a_model_answers_stays_when_it_cannot_answer_the_rest(engine: QueryEngine, openai: FakeOpenAI) -> None:
    openai.reply = lambda body: f"{TRUE} [{crane(body)}]. {NO_ANSWER}"
    answer = engine.ask(QUESTION)
    assert ([sentence.text for sentence in answer.sentences], answer.answered) == ([f"{TRUE}."], True)
    assert NO_MORE in answer.notes
    openai.reply = NO_ANSWER
    assert not engine.ask(f"{QUESTION} Really?").answered


def test_what_a_terminal_would_obey_is_taken_out_of_a_model_s_words(engine: QueryEngine, openai: FakeOpenAI) -> None:
    openai.reply = lambda body: f"\x1b[31mThe \x07{TRUE.removeprefix('The ')} [{crane(body)}].\x1b[0m"
    events = list(engine.answer(QUESTION))
    said = "".join(event.text for event in events if isinstance(event, Token))
    assert not any(ord(letter) < 32 for letter in said)
    assert TRUE in said


def test_a_reply_of_which_nothing_is_supported_is_replaced_by_quotation(
    engine: QueryEngine, openai: FakeOpenAI
) -> None:
    openai.reply = lambda body: f"{FALSE} [{crane(body)}]."
    answer = engine.with_changes({"answer.unsupported": "remove"}).ask(QUESTION)
    assert (answer.answered, answer.mode, answer.sentences[0].verdict) == (True, "extractive", "supported")
    assert "40 containers" in answer.answer
    assert answer.notes[0] == "No source supports the language model's answer, so it was left out."


# Streams that end early


@pytest.mark.parametrize("kind", ["cut", "drop", "error"])
def test_a_stream_that_breaks_keeps_what_came_and_says_so(engine: QueryEngine, openai: FakeOpenAI, kind: Any) -> None:
    openai.reply = lambda body: f"{TRUE} [{crane(body)}]. And then [1, 2]."
    openai.fail(Fault(kind, after=9))
    answer = engine.ask(QUESTION)
    assert (answer.mode, answer.truncated) == ("llm", True)
    assert answer.sentences[0].text == f"{TRUE}."
    assert bool(answer.fallback_reason) == (kind != "cut")


def test_a_stream_that_is_cut_in_a_marker_ends_before_it(engine: QueryEngine, openai: FakeOpenAI) -> None:
    openai.reply = f"{TRUE} [1, 2, 3]."
    openai.fail(Fault("cut", after=9))
    answer = engine.ask(QUESTION)
    assert "[" not in answer.sentences[0].text


def test_a_model_that_runs_out_of_tokens_is_truncated(engine: QueryEngine, openai: FakeOpenAI) -> None:
    openai.reply, openai.finish_reason = f"{TRUE} [1].", "length"
    assert engine.ask(QUESTION).truncated


# What it is told


def test_the_persona_of_the_settings_speaks(make_engine: Callable[..., QueryEngine], openai: FakeOpenAI) -> None:
    persona = PersonaSettings(voice="first", name="Marit Solheim", tone="dry", links=("https://marit.example",))
    make_engine(persona=persona).ask(QUESTION, record=False)
    rules = prompt_of(openai)[0]
    assert rules.startswith("You are Marit Solheim,")
    assert "Your tone is dry." in rules
    assert "https://marit.example" in rules


def test_a_small_window_leaves_sources_out_and_the_ledger_says_which(
    make_engine: Callable[..., QueryEngine], openai: FakeOpenAI
) -> None:
    openai.reply = f"{TRUE} [1]."
    make_engine().ask(QUESTION, record=False)
    assert "<<source 2 " in prompt_of(openai)[1]
    room = sum(map(count_tokens, prompt_of(openai))) - 20  # a delimiter is not always as long
    answer = make_engine({"context_window": 16 + int(1.15 * room), "max_tokens": 16}).ask(QUESTION, record=False)
    assert (answer.mode, len(answer.sources)) == ("llm", 1)
    assert "<<source 2 " not in prompt_of(openai)[1]


def test_a_window_that_holds_no_source_is_reported(make_engine: Callable[..., QueryEngine], openai: FakeOpenAI) -> None:
    answer = make_engine({"context_window": 300}).ask(QUESTION, record=False)
    assert (answer.mode, openai.requests) == ("extractive", [])
    assert "FOOTNOTE_LLM__CONTEXT_WINDOW" in answer.fallback_reason


# Follow-ups

TURNS = (Turn("Where did Marit move in 2023?", "She moved to Garboard Systems.", ("Ships",)),)
WHOLE = "How many people does Marit lead at Garboard Systems?"


def condensing(said: str) -> Callable[[Any], str]:
    """A model that says this when it is to make a follow-up whole, and answers else."""
    return lambda body: said if "follow-up" in body["messages"][0]["content"] else "She leads five people there [1]."


def test_a_follow_up_is_made_whole_by_the_model_and_both_are_in_the_ledger(
    engine: QueryEngine, openai: FakeOpenAI
) -> None:
    openai.reply = condensing(f"Question: {WHOLE}")
    answer = engine.ask("And how many people does she lead?", history=TURNS)
    assert (answer.question, answer.condensed, answer.condensed_by) == (
        "And how many people does she lead?", WHOLE, "model",
    )  # fmt: skip
    intent = read_query(engine.database.engine, answer.trace_id)["trace"]["intent"]
    assert (intent["question"], intent["condensed"], intent["condensed_by"]) == (
        "And how many people does she lead?", WHOLE, "model",
    )  # fmt: skip
    _, asked = prompt_of(openai, 1)
    assert "User: Where did Marit move in 2023?\nAnswer: She moved to Garboard Systems." in asked
    assert f"Question: And how many people does she lead?\nIn the conversation this means: {WHOLE}\n" in asked


@pytest.mark.parametrize("said", ["She leads five people.", "How many people does Bob Smith lead?", "I'm sorry."])
def test_a_reply_that_is_no_such_question_leaves_it_to_the_rules(
    engine: QueryEngine, openai: FakeOpenAI, said: str
) -> None:
    openai.reply = condensing(said)
    answer = engine.ask("And how many people does she lead?", history=TURNS)
    assert answer.condensed_by == "rules"
    assert "Marit" in answer.condensed


def test_a_model_that_fails_to_condense_leaves_it_to_the_rules_and_the_answer_says_so(
    engine: QueryEngine, openai: FakeOpenAI
) -> None:
    openai.fail(Fault("status", 500))
    openai.reply = "She leads five people there [1]."
    answer = engine.ask("And how many people does she lead?", history=TURNS)
    assert (answer.condensed_by, answer.mode) == ("rules", "llm")
    assert any(note.startswith("The follow-up was made whole by rules") for note in answer.notes)


def test_by_setting_the_rules_alone_condense(engine: QueryEngine, openai: FakeOpenAI) -> None:
    ruled = engine.with_changes({"answer.condense": "rules"})
    answer = ruled.ask("And how many people does she lead?", history=TURNS, record=False)
    assert answer.condensed_by == "rules"
    assert len(openai.requests) == 1


def test_old_turns_beyond_the_budget_are_not_told(engine: QueryEngine, openai: FakeOpenAI) -> None:
    brief = engine.with_changes({"answer.history_tokens": 40, "answer.condense": "rules"})
    brief.ask(QUESTION, history=(Turn("Old?", "very old " * 40), *TURNS), record=False)
    asked = prompt_of(openai)[1]
    assert "Garboard" in asked.partition("<<source")[0]
    assert "very old" not in asked


# What became of it


WEAK = "Which painter taught the circus to juggle?"


def test_weak_evidence_is_read_by_the_model_which_may_refuse(engine: QueryEngine, openai: FakeOpenAI) -> None:
    openai.reply = NO_ANSWER
    plain = engine.with_changes({"escalation.mode": "off"})
    assert not plain.search(WEAK).evidence.sufficient
    answer = plain.ask(WEAK)
    assert (answer.answered, answer.mode, len(openai.requests)) == (False, "llm", 1)
    (reading,) = read_query(engine.database.engine, answer.trace_id)["trace"]["readings"]
    assert (reading["model"], reading["outcome"], reading["left_out"]) == ("fake", "refused", [NO_ANSWER])
    assert len(reading["sources"]) == len(answer.nearest)
    assert (reading["prompt"], reading["reply"]) == ([], "")


def test_what_no_source_supports_stands_in_the_trace(engine: QueryEngine, openai: FakeOpenAI) -> None:
    openai.reply = lambda body: f"{FALSE} [{crane(body)}]."
    answer = engine.ask(QUESTION)
    (reading,) = read_query(engine.database.engine, answer.trace_id)["trace"]["readings"]
    assert (reading["outcome"], reading["left_out"]) == ("unsupported", [f"{FALSE}."])


def test_the_prompt_and_the_reply_stand_in_the_trace_by_setting(
    make_engine: Callable[..., QueryEngine], openai: FakeOpenAI
) -> None:
    openai.reply = lambda body: f"{TRUE} [{crane(body)}]."
    engine = make_engine({"keep_prompts": True})
    answer = engine.ask(QUESTION)
    (reading,) = read_query(engine.database.engine, answer.trace_id)["trace"]["readings"]
    assert (reading["outcome"], reading["prompt"]) == (
        "answered",
        [["system", prompt_of(openai)[0]], ["user", prompt_of(openai)[1]]],
    )
    assert reading["reply"].startswith(TRUE)


def test_a_failed_request_stands_in_the_trace(engine: QueryEngine, openai: FakeOpenAI) -> None:
    openai.fail(Fault("status", 500))
    answer = engine.ask(QUESTION)
    (reading,) = read_query(engine.database.engine, answer.trace_id)["trace"]["readings"]
    assert (reading["outcome"], answer.mode) == ("failed", "extractive")


# Slow models


def test_a_quotation_is_shown_while_a_slow_model_reads(
    make_engine: Callable[..., QueryEngine], openai: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipelines.query.model_writer._SLOW", 0.05)
    openai.reply = lambda body: f"{TRUE} [{crane(body)}]."
    openai.fail(Fault("slow", seconds=0.5))
    first, *others = make_engine().answer(QUESTION)
    assert isinstance(first, Preview)
    assert (first.answer.mode, first.answer.sentences[0].verdict) == ("extractive", "supported")
    assert not any(isinstance(event, Preview) for event in others)
    answer = others[-1]
    assert isinstance(answer, Answer)
    assert (answer.mode, answer.notes) == ("llm", ())


def test_a_program_that_reads_only_the_answer_gets_no_preview(
    make_engine: Callable[..., QueryEngine], openai: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipelines.query.model_writer._SLOW", 0.05)
    monkeypatch.setattr("pipelines.query.answerers.model._quotation", lambda *_: pytest.fail("a quotation was made"))
    openai.reply = lambda body: f"{TRUE} [{crane(body)}]."
    openai.fail(Fault("slow", seconds=0.3))
    assert make_engine().ask(QUESTION).mode == "llm"


def test_an_endless_slow_reply_ends_with_what_came_in_time(
    make_engine: Callable[..., QueryEngine], openai: FakeOpenAI
) -> None:
    openai.reply = lambda body: f"{TRUE} [{crane(body)}]. " + " ".join(f"And word{n} follows." for n in range(5000))
    openai.pause = 0.02
    began = monotonic()
    answer = make_engine({"timeout_seconds": 3.0}).ask(QUESTION)
    assert monotonic() - began < 20  # the whole reply would take a hundred seconds
    assert (answer.mode, answer.truncated, answer.sentences[0].verdict) == ("llm", True, "supported")
    assert answer.fallback_reason.startswith("The language model took more than 3.0 s.")
    assert openai.broken.wait(3)  # the server was told


def test_an_endless_loop_is_cancelled_at_the_server(engine: QueryEngine, openai: FakeOpenAI) -> None:
    openai.reply = lambda body: f"{TRUE} [{crane(body)}]. " * 3000
    openai.pause = 0.01
    answer = engine.ask(QUESTION)
    assert (len(answer.sentences), answer.truncated) == (1, False)
    assert "The language model began to repeat itself and was stopped." in answer.notes
    assert openai.broken.wait(3)


def test_a_prompt_that_the_server_finds_too_long_is_sent_again_with_fewer_sources(
    engine: QueryEngine, openai: FakeOpenAI
) -> None:
    openai.reply = lambda body: f"{TRUE} [{crane(body)}]."
    openai.fail(Fault("status", 400, message="the request exceeds the available context size (1024 tokens)"))
    answer = engine.ask(QUESTION)
    assert (answer.mode, len(openai.requests)) == ("llm", 2)
    assert prompt_of(openai, 1)[1].count("<<source") < prompt_of(openai, 0)[1].count("<<source")


def test_a_quarter_of_a_small_window_is_for_the_reply(
    make_engine: Callable[..., QueryEngine], openai: FakeOpenAI
) -> None:
    openai.reply = lambda body: f"{TRUE} [{crane(body)}]."
    assert make_engine({"context_window": 1024}).ask(QUESTION).mode == "llm"
    assert openai.requests[-1].body["max_tokens"] == 256


def test_quotation_has_the_last_word_where_a_model_was_measured_to_refuse_too_often(
    make_engine: Callable[..., QueryEngine], openai: FakeOpenAI
) -> None:
    openai.reply = NO_ANSWER
    answer = make_engine({"model": "qwen2.5-coder-1.5b-instruct"}).ask(QUESTION)
    assert (answer.mode, "40 containers" in answer.answer) == ("extractive", True)
    assert answer.notes[0].startswith("The language model found no answer in the passages")
    assert make_engine({"model": "unknown"}).ask(QUESTION).answered is False


def test_a_reply_that_is_only_supported_in_part_is_no_answer_of_a_model_that_was_measured_to_err_often(
    make_engine: Callable[..., QueryEngine], openai: FakeOpenAI
) -> None:
    openai.reply = lambda body: f"{TRUE} because its crew was paid by a rich uncle [{crane(body)}]."
    assert [one.verdict for one in make_engine().ask(QUESTION).sentences] == ["partial"]
    events = list(make_engine({"model": "qwen2.5-coder-1.5b-instruct"}).answer(QUESTION))
    assert "uncle" not in "".join(event.text for event in events if isinstance(event, Token))
    assert isinstance(events[-1], Answer)
    assert (events[-1].mode, "uncle" in events[-1].answer) == ("extractive", False)


def test_a_wide_window_holds_more_of_the_documents_unless_the_settings_say_how_much(
    ingested: Ingested, make_settings: MakeSettings, openai: FakeOpenAI
) -> None:
    pages = {
        f"ship{n}.md": f"# Ship {n}\n\n" + f"The harbour crane number {n} moved {n}0 containers. " * 90
        for n in range(1, 7)
    }
    settings = ingested(pages)[1]

    def shown(window: int, **context: int) -> int:
        model = LLMSettings(provider="openai", api_base=openai.url, model="fake", retries=0, context_window=window)
        given = {"context": settings.context.model_copy(update=context)} if context else {}
        build_query_engine(make_settings(settings, llm=model, **given)).ask(QUESTION, record=False)
        return count_tokens(prompt_of(openai)[1])

    narrow, wide = shown(4_096), shown(8_192)
    assert narrow < 2_700 < 3_500 < wide < 4_300
    assert shown(8_192, max_tokens=1_000) < 1_300


CODE = "```sh\nmake setup\nmake chat\nmake test\n```"


@pytest.mark.parametrize("letters", [True, False])
def test_a_block_of_code_is_streamed_whole(
    make_engine: Callable[..., QueryEngine], openai: FakeOpenAI, letters: bool
) -> None:
    openai.letters = letters
    openai.reply = lambda body: f"{TRUE} [{crane(body)}].\n\n{CODE}\n\nMarit built it in 2014 [{crane(body)}]."
    *events, answer = make_engine(answer=AnswerSettings(unsupported="mark")).answer(QUESTION, record=False)
    shown = "".join(event.text for event in events if isinstance(event, Token))
    assert isinstance(answer, Answer)
    assert re.sub(r"\s|\[\d\]", "", answer.answer) == re.sub(r"\s", "", shown)
    assert CODE in shown


def test_words_after_a_header_of_a_source_are_the_answer(engine: QueryEngine, openai: FakeOpenAI) -> None:
    openai.reply = f"[Source: crane.md (doc)] {TRUE}."
    answer = engine.ask(QUESTION, record=False)
    assert (answer.mode, answer.sentences[0].text) == ("llm", f"{TRUE}.")


def test_a_reply_of_marks_alone_is_no_refusal(engine: QueryEngine, openai: FakeOpenAI) -> None:
    openai.reply = "<<source 1 4711>>"
    answer = engine.ask(QUESTION, record=False)
    assert (answer.mode, answer.answered) == ("extractive", True)


def test_a_reader_who_stops_ends_the_request(engine: QueryEngine, openai: FakeOpenAI) -> None:
    openai.reply, openai.pause = f"{TRUE}. " + "Marit built it in 2014. " + "And " * 4_000, 0.01
    events = engine.answer(QUESTION, record=False)
    assert isinstance(next(iter(events)), Token)
    events.close()  # type: ignore[attr-defined]
    assert openai.broken.wait(5)


def test_of_a_model_that_was_measured_to_invent_quotation_decides_whether_to_answer(
    make_engine: Callable[..., QueryEngine], openai: FakeOpenAI
) -> None:
    openai.reply = "Forty [1]."
    unknown = "Which submarine volcanoes erupted near Kamchatka?"
    engine = make_engine({"model": "qwen2.5-coder:1.5b"}, escalation=EscalationSettings(mode="off"))
    answer = engine.ask(unknown, record=False)
    assert (answer.answered, openai.requests) == (False, [])
    assert any("was not asked" in note for note in answer.notes)
