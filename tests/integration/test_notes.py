"""What a reader is told of how an answer was found, and what a greeting is told."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from llama_index.core.base.embeddings.base import BaseEmbedding

from config.prompts import GREETING
from pipelines.errors import ServiceUnavailable
from pipelines.query.engine import QueryEngine, build_query_engine
from tests.conftest import Ingested, MakeSettings
from tests.shell import Shell

QUESTION = "How many containers did the crane move?"
FACT = "The crane moved 40 containers an hour."
GONE = "The embedding server is gone."
NOTE = f"The dense search failed: {GONE}"
Run = Callable[..., str]


class DeadEmbedding(BaseEmbedding):
    """Embeds nothing."""

    def _get_query_embedding(self, query: str) -> list[float]:
        raise ServiceUnavailable(GONE)

    def _get_text_embedding(self, text: str) -> list[float]:
        raise ServiceUnavailable(GONE)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        raise ServiceUnavailable(GONE)


@pytest.fixture
def engine(ingested: Ingested, make_settings: MakeSettings) -> QueryEngine:
    texts = {"crane.md": f"# Crane\n\n{FACT}\n", "garden.md": "# Garden\n\nTomatoes need sun every day.\n"}
    return build_query_engine(make_settings(ingested(texts)[1]))


@pytest.fixture
def footnote(engine: QueryEngine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs a verb in this process and returns its stdout."""
    shell = Shell(engine.settings, monkeypatch, tmp_path)

    def run(*words: str) -> str:
        code, out = shell(*words)
        assert code == 0, shell.err
        return out

    return run


@pytest.fixture
def bereft(footnote: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The same with an embedding model that fails."""
    monkeypatch.setattr("pipelines.query.active_index.build_embed_model", lambda _: DeadEmbedding(model_name="dead"))
    return footnote


def test_without_an_embedding_model_the_words_still_find_the_answer_and_the_answer_says_so(engine: QueryEngine) -> None:
    bereft = engine.with_parts(embed_model=DeadEmbedding(model_name="dead"))
    answer = bereft.ask(QUESTION)
    assert (answer.answered, answer.answer, answer.notes) == (True, f"{FACT} [1]", (NOTE,))
    assert answer.fallback_reason == ""
    report = bereft.search(QUESTION)
    assert (report.results[0].document_name, report.notes) == ("crane.md", (NOTE,))


def test_an_abstention_says_that_a_search_failed(engine: QueryEngine) -> None:
    answer = engine.with_parts(embed_model=DeadEmbedding(model_name="dead")).ask("Who won the regatta in Oslo?")
    assert (answer.answered, answer.notes) == (False, (NOTE,))


def test_when_nothing_failed_there_is_nothing_to_note(engine: QueryEngine) -> None:
    assert (engine.ask(QUESTION).notes, engine.search(QUESTION).notes) == ((), ())


def test_an_answer_says_which_word_it_took_for_another_also_when_it_was_kept(engine: QueryEngine) -> None:
    typo = QUESTION.replace("containers", "containres")
    first, again = engine.ask(typo), engine.ask(typo)
    assert FACT in first.answer
    assert first.notes == again.notes == ('"containres" was not found; searched for "containers".',)


def test_a_question_with_a_typo_gets_the_answer_of_the_question_without_it(engine: QueryEngine) -> None:
    right, wrong = engine.ask(QUESTION), engine.ask(QUESTION.replace("containers", "contaners"))
    assert (wrong.answer, wrong.confidence) == (right.answer, right.confidence)
    assert wrong.question == QUESTION.replace("containers", "contaners")


@pytest.mark.parametrize("verb", ["ask", "search"])
def test_both_verbs_note_a_failed_search_as_text_and_as_json(bereft: Run, verb: str) -> None:
    printed = bereft(verb, QUESTION)
    assert FACT in printed
    assert f"Note: {NOTE}\n" in printed
    assert json.loads(bereft(verb, QUESTION, "--json"))["notes"] == [NOTE]


def test_an_explained_search_notes_a_failure_once(bereft: Run) -> None:
    assert bereft("search", QUESTION, "--explain").count(NOTE) == 1
    assert json.loads(bereft("search", QUESTION, "--explain", "--json"))["notes"] == [NOTE]


def test_what_if_notes_what_failed_in_either_ranking_once(bereft: Run) -> None:
    assert bereft("search", QUESTION, "--without", "recency").count(f"Note: {NOTE}\n") == 1
    told = json.loads(bereft("search", QUESTION, "--without", "dense", "--json"))
    assert (told["base"]["notes"], told["without"]["notes"]) == ([NOTE], [])


@pytest.mark.parametrize("verb", ["ask", "search"])
def test_nothing_is_noted_when_nothing_failed(footnote: Run, verb: str) -> None:
    assert "Note:" not in footnote(verb, QUESTION)
    assert json.loads(footnote(verb, QUESTION, "--json"))["notes"] == []


@pytest.mark.parametrize("words", [("hi",), ("hi", "--without", "recency")])
def test_a_search_for_a_greeting_is_greeted(footnote: Run, words: tuple[str, ...]) -> None:
    printed = footnote("search", *words)
    assert GREETING in printed
    assert "Nothing was found" not in printed


def test_a_greeting_is_answered_without_a_confidence(footnote: Run) -> None:
    printed = footnote("ask", "hello")
    assert GREETING in printed
    assert "confidence" not in printed


def test_a_search_that_finds_nothing_says_so(footnote: Run) -> None:
    assert "No passage was found." in footnote("search", QUESTION, "--year", "1901")
