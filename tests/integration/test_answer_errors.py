"""Everything that can be missing or broken when a question is asked: each has a sentence that says what to do."""

from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import psycopg2
import pytest
from llama_index.core.schema import QueryBundle
from pydantic import SecretStr
from rich.console import Console

from app.answer import answer_data
from app.conversation import Exchange
from config.prompts import NO_DOCUMENTS, NOTHING_PASSES
from config.settings import EmbeddingSettings, LLMSettings, Settings
from pipelines.answers import Answer
from pipelines.errors import ModelError, RetrievalError, ServiceUnavailable
from pipelines.ingestion.plan import Overrides
from pipelines.ingestion.run import ingest
from pipelines.models.embedding import HashedEmbedding
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.store.embedded import EmbeddedServer
from pipelines.types import Filters
from tests.conftest import Ingested, MakeSettings
from tests.fake_openai import FakeOpenAI, Fault
from tests.integration.test_answer import POSTS
from tests.shell import Shell

QUESTION = "How many containers did the harbour crane move?"
NOBODY = "http://127.0.0.1:9/v1"


@pytest.fixture
def openai() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(dimension=256) as fake:
        yield fake


@pytest.fixture(scope="module")
def corpus(ingested: Ingested) -> Path:
    return ingested(POSTS)[0]


@pytest.fixture(scope="module")
def stored(ingested: Ingested) -> Settings:
    """What the tests have copies of."""
    return ingested(POSTS)[1]


@pytest.fixture
def make_engine(stored: Settings, make_settings: MakeSettings) -> Callable[..., QueryEngine]:
    def make(url: str = "", seconds: float = 5.0, **changes: Any) -> QueryEngine:
        model = LLMSettings(provider="openai", model="fake", api_base=url, retries=0, timeout_seconds=seconds)
        more = {"llm": model} if url else {}
        return build_query_engine(make_settings(stored, **more, openai_api_key=SecretStr("sk-secret"), **changes))

    return make


@pytest.fixture
def shell(settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    return Shell(settings, monkeypatch, tmp_path)


def in_chat(answer: Answer) -> list[str]:
    """What the chat tells above the line under an answer."""
    said = Exchange(QUESTION)
    list(said.follow(iter([answer])))
    return answer_data(said)["alerts"]


# Nothing to answer from


def test_without_any_document_the_answer_says_how_to_take_some_in(settings: Settings) -> None:
    answer = build_query_engine(settings).ask(QUESTION)
    assert (answer.answered, answer.answer) == (False, NO_DOCUMENTS)
    assert "footnote ingest" in NO_DOCUMENTS


def test_a_visitor_of_private_documents_alone_is_told_that_there_are_none(corpus: Path, settings: Settings) -> None:
    ingest(settings, [str(corpus)], overrides=Overrides(visibility="private"))
    assert build_query_engine(settings).ask(QUESTION, audience="visitor").answer == NO_DOCUMENTS


def test_where_no_document_passes_the_filters_the_answer_says_so(make_engine: Callable[..., QueryEngine]) -> None:
    answer = make_engine().ask(QUESTION, filters=Filters(year=(1900,)))
    assert (answer.answered, answer.answer) == (False, NOTHING_PASSES)


def test_the_command_line_says_that_there_are_no_documents(shell: Shell) -> None:
    code, out = shell("ask", QUESTION)
    assert (code, NO_DOCUMENTS in out) == (0, True)


# Questions that cannot be asked


@pytest.mark.parametrize(
    ("question", "said"),
    [("   ", "The question is empty. Write"), ("x" * 2_001, "2,000 is the limit. Shorten it")],
)
def test_a_question_that_cannot_be_asked_says_why_and_ends_the_command_with_2(
    make_engine: Callable[..., QueryEngine], shell: Shell, question: str, said: str
) -> None:
    with pytest.raises(RetrievalError, match=said):
        make_engine().ask(question)
    code, out = shell("ask", question)
    assert (code, said in out) == (2, True)


# The language model fails: sentences are quoted instead

FAILURES = [
    (Fault("status", 401), "refuses the key. Set OPENAI_API_KEY"),
    (Fault("status", 402), "wants payment: scripted failure. Add credit"),
    (Fault("status", 403), "does not let this key use fake"),
    (Fault("status", 404), "does not know the model fake. Check FOOTNOTE_LLM__MODEL"),
    (Fault("status", 404, message="File Not Found"), "has no such path. Check the path of the address"),
    (Fault("status", 429), "takes no more requests for now: scripted failure. Wait, or raise"),
    (Fault("status", 500), "fails with status 500: scripted failure. Try again later"),
    (Fault("garbage"), "did not answer in the form of a chat completion. Check that the address"),
    (Fault("empty"), "returned an empty answer. Try again, or choose another model"),
    (Fault("slow", seconds=1.5), "aise FOOTNOTE_LLM__TIMEOUT_SECONDS"),
]


@pytest.mark.parametrize(("fault", "said"), FAILURES, ids=[f"{f.kind}-{f.status}" for f, _ in FAILURES])
def test_each_failure_of_the_language_model_has_its_sentence_and_sentences_are_quoted_instead(
    make_engine: Callable[..., QueryEngine], openai: FakeOpenAI, fault: Fault, said: str
) -> None:
    engine = make_engine(openai.url, seconds=0.5 if fault.kind == "slow" else 10)
    openai.fail(fault)
    answer = engine.ask(QUESTION, record=False)
    assert (answer.answered, answer.mode) == (True, "extractive")
    assert "40 containers" in answer.answer
    assert said in answer.fallback_reason
    assert "sk-secret" not in answer.fallback_reason
    (note,) = [note for note in in_chat(answer) if said in note]
    assert note.startswith("The language model did not answer, so sentences are quoted instead.")


def test_a_language_model_that_is_down_is_told_with_its_address(make_engine: Callable[..., QueryEngine]) -> None:
    answer = make_engine(NOBODY).ask(QUESTION, record=False)
    assert answer.mode == "extractive"
    assert f"{NOBODY} cannot be reached" in answer.fallback_reason
    assert "the network and whether it runs." in answer.fallback_reason


def test_a_model_that_is_down_leaves_what_is_answered_without_one(make_engine: Callable[..., QueryEngine]) -> None:
    few = {"retrieval": {"top_n": 1}, "answer": {"passages": 3}}
    down, bare = make_engine(NOBODY, **few), make_engine(**few)
    answer, told = down.ask(QUESTION, record=False), bare.ask(QUESTION, record=False)
    assert [source.snippet for source in answer.sources] == [source.snippet for source in told.sources]
    assert len(answer.sources) > 1
    assert (answer.answer, answer.answered) == (told.answer, True)


def test_an_abstention_for_want_of_a_model_says_how_it_failed(make_engine: Callable[..., QueryEngine]) -> None:
    engine = make_engine(NOBODY)
    answer = engine.ask("Who won the harbour crane regatta of 1921?", record=False)
    assert not answer.answered
    assert f"{NOBODY} cannot be reached" in answer.fallback_reason
    (note,) = [note for note in in_chat(answer) if NOBODY in note]
    assert note.startswith("The language model did not answer, and no sentence that does was found.")


def test_the_command_line_tells_why_sentences_are_quoted(
    shell: Shell, corpus: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    shell("ingest", str(corpus))
    for name, value in {"PROVIDER": "openai", "MODEL": "fake", "API_BASE": NOBODY, "RETRIES": "0"}.items():
        monkeypatch.setenv(f"FOOTNOTE_LLM__{name}", value)
    code, out = shell("ask", QUESTION)
    assert (code, "40 containers" in out) == (0, True)
    assert f"{NOBODY} cannot be reached" in shell.json("ask", QUESTION)["fallback_reason"]


def test_a_terminal_shows_a_list_that_was_streamed_once(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = "# Crane\n\nThe harbour crane needs:\n\n- fresh grease every week\n- a crane driver with a licence\n"
    (tmp_path / "needs.md").write_text(page)
    shell("ingest", str(tmp_path / "needs.md"))
    seen = StringIO()
    monkeypatch.setattr("app.cli.output.console", Console(file=seen, force_terminal=True, highlight=False, width=200))
    code, _ = shell("ask", "What does the harbour crane need?")
    shown = seen.getvalue()
    assert (code, shown.count("fresh grease every week"), "The answer is:" in shown) == (0, 1, False)


def test_a_stream_that_broke_is_told_as_such(make_engine: Callable[..., QueryEngine], openai: FakeOpenAI) -> None:
    engine = make_engine(openai.url)
    openai.reply = "The harbour crane moved 40 containers an hour [1]. More to come."
    openai.fail(Fault("drop", after=10))
    answer = engine.ask(QUESTION, record=False)
    assert (answer.mode, answer.truncated) == ("llm", True)
    assert any(note.startswith("The language model broke off, and the answer ends there.") for note in in_chat(answer))
    openai.fail(Fault("drop", after=3))
    answer = engine.ask(QUESTION, record=False)
    assert (answer.mode, "40 containers" in answer.answer) == ("extractive", True)
    assert "broke off" in answer.fallback_reason


# The embedding server fails: the other leg answers


def test_when_the_embedding_server_is_down_the_words_are_searched_and_the_answer_says_so(
    corpus: Path, make_settings: MakeSettings
) -> None:
    with FakeOpenAI(dimension=256) as fake:
        embedding = EmbeddingSettings(provider="openai", model="m", dimension=256, pause_ms=0, retries=0)
        settings = make_settings(embedding=embedding, openai_api_base=fake.url, openai_api_key=SecretStr("sk-secret"))
        ingest(settings, [str(corpus)])
        engine = build_query_engine(settings)
    answer = engine.ask(QUESTION, record=False)
    assert "40 containers" in answer.answer
    (note,) = answer.notes
    assert note.startswith("The dense search failed")
    assert "cannot be reached" in note
    assert "the network and whether it runs." in note
    assert note in in_chat(answer)


class Spoilt(HashedEmbedding):
    """Makes this vector of every question once it is set."""

    instead: list[float] | None = None

    def _get_query_embedding(self, query: str) -> list[float]:
        return super()._get_query_embedding(query) if self.instead is None else self.instead


NUMBERS = [1.0] * 256
UNUSABLE = {
    "of-another-dimension": ([1.0] * 3, "has one of 3"),
    "empty": ([], "has one of 0"),
    "not-a-number": ([float("nan"), *NUMBERS[1:]], "not finite"),
    "infinite": ([*NUMBERS[1:], float("-inf")], "not finite"),
    "zeros": ([0.0] * 256, "only zeros"),
}


@pytest.mark.parametrize(("vector", "why"), UNUSABLE.values(), ids=UNUSABLE)
def test_with_an_unusable_vector_of_the_question_its_words_are_searched_and_the_reason_is_said(
    stored: Settings, make_settings: MakeSettings, vector: list[float], why: str
) -> None:
    model = Spoilt(dimension=256)
    engine = build_query_engine(make_settings(stored), embed_model=model)
    model.instead = vector
    report, answer = engine.search(QUESTION), engine.ask(QUESTION, record=False)
    assert "40 containers" in report.results[0].text
    assert "40 containers" in answer.answer
    for (note,) in (report.trace.notes, answer.notes):
        assert note.startswith("The dense search failed: The vector of the embedding model cannot be used")
        assert why in note
    with pytest.raises(ModelError, match=why):
        engine.search(QUESTION, mode="dense")


@pytest.mark.parametrize(("vector", "why"), UNUSABLE.values(), ids=UNUSABLE)
def test_an_unusable_vector_of_a_program_is_refused(
    make_engine: Callable[..., QueryEngine], vector: list[float], why: str
) -> None:
    bundle = QueryBundle(QUESTION, embedding=vector)
    with pytest.raises(RetrievalError, match=why):
        make_engine().as_retriever().retrieve(bundle)


# The database goes away


@pytest.fixture
def cut(server: EmbeddedServer) -> Iterator[Callable[[QueryEngine], None]]:
    """Ends every connection to an engine's database, and allows no new one until the test is over."""
    names: list[str] = []

    def administer(statement: str, name: str) -> None:
        connection = psycopg2.connect(host=str(server.socket_dir), user="footnote", dbname="postgres")
        connection.autocommit = True
        connection.cursor().execute(statement, (name,) if "%s" in statement else None)
        connection.close()

    def end(engine: QueryEngine) -> None:
        name = str(engine.database.engine.url.database)
        names.append(name)
        administer(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false', name)
        administer("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", name)

    yield end
    for name in names:
        administer(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true', name)


def test_a_database_that_is_gone_is_a_sentence_that_says_what_to_do(
    make_engine: Callable[..., QueryEngine], cut: Callable[[QueryEngine], None]
) -> None:
    engine = make_engine()
    cut(engine)
    with pytest.raises(ServiceUnavailable, match="database") as caught:
        engine.ask(QUESTION)
    assert caught.value.hint
    said = Exchange(QUESTION)
    list(said.follow(engine.answer(QUESTION)))
    assert said.problem == (caught.value.message, caught.value.hint)


def test_a_database_that_goes_while_the_model_writes_does_not_take_the_answer_along(
    make_engine: Callable[..., QueryEngine], openai: FakeOpenAI, cut: Callable[[QueryEngine], None]
) -> None:
    engine = make_engine(openai.url)

    def reply(body: object) -> str:
        cut(engine)
        return "It moved 40 containers an hour [1][2][3]."

    openai.reply = reply
    answer = engine.ask(QUESTION)
    assert [sentence.verdict for sentence in answer.sentences] == ["supported"]
    assert engine.suggest(answer) == ()
