"""Headers that a language model writes, over real HTTP to a fake server."""

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from typer.testing import CliRunner

from app import cli
from config.prompts import HEADER_VERSION
from config.settings import HeaderSettings, LLMSettings, ParsingSettings, Settings, get_settings
from pipelines.errors import ConfigError
from pipelines.ingestion.context_header import HEADER_TOKENS, RateLimit, shortened
from pipelines.ingestion.preview import preview
from pipelines.ingestion.run import Ingestion, build_ingestion
from pipelines.store.schema import headers
from pipelines.types import Document, Filters
from tests.fake_openai import FakeOpenAI, Fault

SECTIONS = {
    "Crane": " ".join(["The crane moved 40 containers an hour."] * 5),
    "Garden": " ".join(["Tomatoes need sun every day."] * 6),
}
SIZES = ParsingSettings(markdown_target_words=20, markdown_max_words=50)
POST = "# Field notes\n\n" + "\n\n".join(f"## {name}\n\n{text}" for name, text in SECTIONS.items()) + "\n"


def about(body: Mapping[str, Any]) -> str:
    """The model's reply: a sentence that names the passage which it was asked about."""
    passage = body["messages"][-1]["content"].rpartition("<<passage")[2]
    return f"It is about the {next(name for name in SECTIONS if name in passage).lower()} of 2014."


@pytest.fixture
def openai() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(reply=about) as fake:
        yield fake


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "notes.md").write_text(POST)
    return tmp_path


@pytest.fixture
def ingestion(make_settings: Callable[..., Settings], openai: FakeOpenAI) -> Ingestion:
    return build_ingestion(writing(make_settings, openai))


def writing(make_settings: Callable[..., Settings], openai: FakeOpenAI, **given: Any) -> Settings:
    llm = LLMSettings(provider="openai", model="writer", api_base=openai.url, retries=0)
    return make_settings(llm=llm, parsing=SIZES, headers=HeaderSettings(**{"mode": "llm", "per_minute": 0, **given}))


def run(ingestion: Ingestion, folder: Path) -> Any:
    return ingestion.run(ingestion.plan([str(folder)]))


def stored(ingestion: Ingestion) -> dict[str, str]:
    """Section -> header of the stored nodes."""
    ids = ingestion.store.matching_ids(Filters(), "owner")
    nodes = ingestion.store.fetch(ids, filters=Filters(), audience="owner").values()
    return {node.metadata["section"]: node.metadata["header"] for node in nodes}


def test_a_language_model_adds_a_line_to_the_deterministic_header(
    ingestion: Ingestion, folder: Path, openai: FakeOpenAI
) -> None:
    run(ingestion, folder)
    assert stored(ingestion) == {
        "Crane": "Field notes > Crane\nIt is about the crane of 2014.",
        "Garden": "Field notes > Garden\nIt is about the garden of 2014.",
    }
    for request in openai.requests:
        assert all(text in request.body["messages"][1]["content"] for text in SECTIONS.values())
        assert request.body["max_tokens"] == HEADER_TOKENS


def test_what_was_written_is_kept_by_document_node_prompt_and_model(
    ingestion: Ingestion, folder: Path, openai: FakeOpenAI
) -> None:
    run(ingestion, folder)
    with ingestion.database.engine.connect() as connection:
        rows = connection.execute(select(headers.c.prompt_version, headers.c.model)).all()
    assert rows == [(HEADER_VERSION, "writer")] * 2
    (folder / "notes.md").write_text(POST.replace("every day", "every morning"))
    run(ingestion, folder)
    assert len(openai.requests) == 3


def test_a_document_that_did_not_change_costs_nothing(ingestion: Ingestion, folder: Path, openai: FakeOpenAI) -> None:
    run(ingestion, folder)
    assert run(ingestion, folder).count("unchanged") == 1
    assert len(openai.requests) == 2


def test_other_headers_are_another_recipe(
    make_settings: Callable[..., Settings], openai: FakeOpenAI, folder: Path
) -> None:
    settings = writing(make_settings, openai)
    plain = build_ingestion(settings.model_copy(update={"headers": HeaderSettings()}))
    run(plain, folder)
    assert stored(plain)["Crane"] == "Field notes > Crane"
    assert run(build_ingestion(settings), folder).count("updated") == 1
    assert run(plain, folder).count("updated") == 1
    assert stored(plain)["Crane"] == "Field notes > Crane"


@pytest.mark.parametrize("fault", [Fault("status", status=500), Fault("slow", seconds=1.5), Fault("empty")])
def test_a_failure_leaves_the_deterministic_header_and_is_tried_again(
    make_settings: Callable[..., Settings], openai: FakeOpenAI, folder: Path, fault: Fault
) -> None:
    ingestion = build_ingestion(writing(make_settings, openai, concurrency=1, seconds=0.7))
    openai.fail(fault)
    assert run(ingestion, folder).count("added") == 1
    assert stored(ingestion) == {
        "Crane": "Field notes > Crane",
        "Garden": "Field notes > Garden\nIt is about the garden of 2014.",
    }
    run(ingestion, folder)
    assert stored(ingestion)["Crane"].endswith("It is about the crane of 2014.")
    assert run(ingestion, folder).count("unchanged") == 1


def test_a_server_that_only_fails_is_not_asked_for_ever(
    make_settings: Callable[..., Settings], openai: FakeOpenAI, tmp_path: Path
) -> None:
    (tmp_path / "long.md").write_text("".join(f"# Crane {n}\n\n{f'It moved {n} boxes. ' * 8}\n\n" for n in range(40)))
    ingestion = build_ingestion(writing(make_settings, openai, concurrency=2))
    openai.fail(*(Fault("status", status=503) for _ in range(100)))
    report = run(ingestion, tmp_path)
    assert (report.count("added"), report.nodes) == (1, 40)
    assert len(openai.requests) < 10


def test_a_server_that_only_fails_is_left_alone_by_the_next_documents_too(
    make_settings: Callable[..., Settings], openai: FakeOpenAI, tmp_path: Path
) -> None:
    for n in range(12):
        (tmp_path / f"{n}.md").write_text(f"# Crane {n}\n\nIt moved {n} boxes.\n")
    ingestion = build_ingestion(writing(make_settings, openai, concurrency=1))
    openai.fail(*(Fault("status", status=503) for _ in range(100)))
    assert run(ingestion, tmp_path).count("added") == 12
    assert len(openai.requests) < 10
    openai.faults.clear()
    assert ingestion.header_writer is not None
    ingestion.header_writer.breaker.seconds = 0.0
    ingestion.header_writer.breaker.note(failed=True)  # a while later
    assert run(ingestion, tmp_path).count("updated") == 12


def test_the_plan_says_how_often_the_model_would_be_asked(
    ingestion: Ingestion, folder: Path, openai: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = preview(ingestion, ingestion.plan([str(folder)]))
    assert (seen.headers.calls, seen.headers.tokens > 2 * 100, openai.requests) == (2, True, [])
    assert run(ingestion, folder).embedded == seen.embeddings == 2
    (folder / "notes.md").write_text(POST.replace("every day", "every morning"))
    seen = preview(ingestion, ingestion.plan([str(folder)]))
    assert (seen.headers.calls, seen.embeddings, seen.cost) == (1, 1, None)
    settings = ingestion.settings
    given = {"FOOTNOTE_HOME": settings.home, "DATABASE_URL": settings.database_url.get_secret_value(),
             "FOOTNOTE_EMBEDDING__PROVIDER": "hashed", "FOOTNOTE_HEADERS__MODE": "llm", "FOOTNOTE_LLM__MODEL": "writer",
             "FOOTNOTE_PARSING__MARKDOWN_TARGET_WORDS": 20, "FOOTNOTE_PARSING__MARKDOWN_MAX_WORDS": 50,
             "FOOTNOTE_LLM__PROVIDER": "openai", "FOOTNOTE_LLM__API_BASE": openai.url}  # fmt: skip
    for name, value in given.items():
        monkeypatch.setenv(name, str(value))
    get_settings.cache_clear()
    monkeypatch.setattr(sys, "argv", ["footnote"])
    shown = json.loads(CliRunner().invoke(cli.app, ["ingest", str(folder), "--plan", "--json"]).stdout)
    assert (shown["header_calls"], shown["counts"]["update"]) == (1, 1)
    assert (shown["embeddings"], shown["estimated"], shown["cost"]["total"]) == (1, True, None)
    monkeypatch.setenv("FOOTNOTE_LLM__PRICE", "2.5")
    get_settings.cache_clear()
    shown = json.loads(CliRunner().invoke(cli.app, ["ingest", str(folder), "--plan", "--json"]).stdout)
    most = shown["header_tokens"] + HEADER_TOKENS
    assert shown["cost"]["headers"] == pytest.approx(most * 2.5 / 1_000_000, abs=1e-6)
    assert run(ingestion, folder).embedded == 1


def test_what_was_written_goes_with_its_document(ingestion: Ingestion, folder: Path) -> None:
    run(ingestion, folder)
    ingestion.remove([document.id for document in ingestion.known()])
    with ingestion.database.engine.connect() as connection:
        assert connection.execute(select(headers)).all() == []


def test_headers_by_a_language_model_need_one(make_settings: Callable[..., Settings]) -> None:
    with pytest.raises(ConfigError, match="Headers by a language model need one"):
        build_ingestion(make_settings(headers=HeaderSettings(mode="llm")))


def test_a_document_that_is_longer_than_the_model_s_window_is_shown_around_the_node(ingestion: Ingestion) -> None:
    from pipelines.ingestion.parsers.nodes import make_nodes
    from pipelines.ingestion.parsers.pieces import Piece

    assert ingestion.header_writer is not None
    text = " ".join(f"word{n}" for n in range(20_000))
    start = text.index("word15000")
    document = Document(id="d", text=text, source_uri="u", source="s", source_kind="file", name="n", mime="text/plain",
                        bytes=1, file_sha="f", title="Long")  # fmt: skip
    (node,) = make_nodes(document, [Piece(start, text.index(" word15050"))], "generic", 1)
    _, (_, asked) = ingestion.header_writer.messages(document, node)
    assert "word14900 " in asked
    assert "word15100 " in asked
    assert "word100 " not in asked
    assert ingestion.header_writer.tokens(document, node) < ingestion.header_writer.llm.metadata.context_window


def test_a_reply_is_one_short_line() -> None:
    assert shortened(' "It is\nabout  a\x00 crane." ') == "It is about a crane."
    assert len(shortened("word " * 200)) <= 400
    assert shortened("word " * 200).endswith("word")


def test_requests_keep_their_pace() -> None:
    pace, began = RateLimit(per_minute=1200), time.monotonic()
    for _ in range(5):
        pace.wait()
    assert time.monotonic() - began >= 4 * 60 / 1200
