"""What is said under an answer that rests on a page of which Notion gave only a part."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from app.answer import answer_data
from app.conversation import Exchange
from config.settings import NotionSettings, Settings
from pipelines.answers import Answer, Citation, Conflict, Sentence
from pipelines.ingestion.plan import Overrides
from pipelines.ingestion.run import ingest
from pipelines.query.cited_documents import note_partial_documents
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.query.trace import Ledger
from pipelines.store.query_log import read_query
from pipelines.types import Audience
from tests.fake_notion import TOKEN, FakeNotion, block
from tests.shell import Shell
from tests.unit.query.builders import source

QUESTION = "How many containers did the crane move?"
FACT = "The crane moved 40 containers an hour."
BESIDE = "What do tomatoes need every day?"
UNANSWERED = "Who won the crane regatta in Oslo?"
NOTE = "Only part of 'Roadmap' was given by its source (2 of its 3 blocks): what it does not say may stand in the rest."
LATER = "2024-04-01T09:00:00.000Z"


@pytest.fixture
def notion() -> Iterator[FakeNotion]:
    with FakeNotion() as fake:
        yield fake


@pytest.fixture
def settings(make_settings: Callable[..., Settings], notion: FakeNotion) -> Settings:
    return make_settings(notion_token=SecretStr(TOKEN), notion=NotionSettings(api_base=notion.url))


@pytest.fixture
def root(notion: FakeNotion) -> str:
    """A page with a block that the API does not give, and below it a whole one."""
    root = notion.page("Roadmap", block("paragraph", FACT), block("unsupported"))
    notion.page("Garden", block("paragraph", "Tomatoes need sun every day."), parent=root)
    return root


@pytest.fixture
def engine(settings: Settings, root: str) -> QueryEngine:
    ingest(settings, [f"notion:{root}"])
    return build_query_engine(settings)


@pytest.fixture
def shell(engine: QueryEngine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    return Shell(engine.settings, monkeypatch, tmp_path)


def documents(engine: QueryEngine) -> dict[str, str]:
    """The id of each page by its title."""
    return {each.title: each.document_id for each in engine.search("crane tomatoes", top_n=9).results}


def test_an_answer_and_its_ledger_name_the_page_that_it_cites_also_when_what_was_found_was_kept(
    engine: QueryEngine,
) -> None:
    for _ in range(2):
        answer = engine.ask(QUESTION)
        assert (answer.answer, answer.notes) == (f"{FACT} [1]", (NOTE,))
        assert read_query(engine.database.engine, answer.trace_id)["trace"]["notes"] == [NOTE]


def test_a_page_that_is_read_and_not_cited_is_not_named(engine: QueryEngine) -> None:
    answer = engine.ask(BESIDE)
    assert (answer.answered, answer.notes) == (True, ())


def test_an_abstention_names_the_page_among_what_came_nearest(engine: QueryEngine) -> None:
    answer = engine.ask(UNANSWERED)
    assert not answer.answered
    assert "Roadmap" in [each.title for each in answer.nearest]
    assert answer.notes == (NOTE,)


def test_a_page_that_is_given_as_a_whole_again_is_not_named_any_more(
    engine: QueryEngine, notion: FakeNotion, root: str
) -> None:
    assert engine.ask(QUESTION).notes == (NOTE,)
    notion.blocks[root] = [each for each in notion.blocks[root] if each["type"] != "unsupported"]
    notion.edit(root, LATER)
    ingest(engine.settings, [f"notion:{root}"])
    answer = engine.ask(QUESTION)
    assert (answer.answer, answer.notes) == (f"{FACT} [1]", ())


def test_the_command_line_the_json_and_the_pack_say_it(shell: Shell) -> None:
    assert f"Note: {NOTE}" in " ".join(shell("ask", QUESTION)[1].split())
    assert shell.json("ask", QUESTION, "--pack", "pack.json")["notes"] == [NOTE]
    assert json.loads(Path("pack.json").read_text())["answer"]["notes"] == [NOTE]


def test_the_chat_says_it_below_the_answer(engine: QueryEngine) -> None:
    said = Exchange(QUESTION)
    list(said.follow(engine.answer(QUESTION)))
    assert NOTE in answer_data(said)["alerts"]


@pytest.mark.parametrize("audience", ["owner", "visitor"])
def test_cited_sources_sides_of_conflicts_and_the_nearest_are_looked_at_for_whom_may_see_them(
    settings: Settings, root: str, audience: Audience
) -> None:
    ingest(settings, [f"notion:{root}"], overrides=Overrides(visibility="private"))
    engine = build_query_engine(settings)
    page = source(1, FACT, document_id=documents(engine)["Roadmap"], title="Roadmap")
    side = Citation(1, page.document_id, "c", 0, 5, FACT[:5], "supported", 1.0)
    cited, uncited = Sentence(FACT, (1,), "supported"), Sentence(FACT, (), "uncited")
    seen = [NOTE] if audience == "owner" else []

    def noted(answered: bool, sentence: Sentence, *conflicts: Conflict) -> list[str]:
        shown = {"sources": (page,)} if answered else {"sources": (), "nearest": (page,)}
        told = Answer(QUESTION, answered, "low", "llm", "", FACT, (sentence,) * answered, conflicts=conflicts, **shown)
        ledger = Ledger()
        note_partial_documents(told, engine.database.engine, audience, ledger)
        return ledger.notes

    of_conflict = Conflict("value", "40, 50", (side, side))
    assert noted(True, cited) == noted(True, uncited, of_conflict) == noted(False, uncited) == seen
    assert noted(True, uncited) == []
