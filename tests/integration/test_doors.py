"""The same questions through every door: the command line, the HTTP API, the MCP server, the chat and a notebook."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client

import footnote
from app.access import Grant, all_scopes
from app.chat_engine import ChatEngine, build_chat_engine
from app.mcp import Doors, build_mcp
from app.server import build_server
from config.settings import Settings
from pipelines.answers import Answer
from pipelines.ingestion.run import ingest
from pipelines.query.answer import answer_json
from pipelines.types import Filters
from tests.conftest import MakeSettings
from tests.served import Served
from tests.shell import Shell

RESUME = """# Ines Varga

ines@varga.example

## Experience

### Senior Engineer, Northmere Bridges

March 2018 - May 2020

- Inspected forty bridges
- Wrote the load model in Python

### Engineer, Tidewright

January 2015 - February 2018

- Built tide gauges

## Education

MSc Civil Engineering, Leith College, 2014

## Skills

Python, Rust
"""
CRANE = """# Harbour crane

Ines built the harbour crane controller in C++ in 2014. It moved 40 containers an hour.

The harbour crane ran for six years without a fault.
"""
README = """# Tidegauge

Tidegauge is a command line tool that reads tide gauges. It is written in Rust.

## Licence

MIT
"""
GARDEN = "# Garden\n\nTomatoes need sun. Water them every morning and never at noon.\n"
FILES = {"resume.md": RESUME, "crane.md": CRANE, "README.md": README, "garden.md": GARDEN}
QUESTIONS = (
    "How many containers did the harbour crane move?", "How long did the harbour crane run?",
    "Where did Ines work before Northmere Bridges?", "How many years of Python?", "Who is Ines Varga?",
    "What did she study?", "Which skills does she have?", "What is Tidegauge?", "Under what licence is Tidegauge?",
    "When should tomatoes be watered?", "What do tomatoes need?", "How many documents are there?",
    "Which posts mention the crane?", "Which submarine volcanoes erupted near Kamchatka?", "What is her blood type?",
    "How long did she work at Tidewright?", "Hello", "Thanks", "Welche Brücken hat sie geprüft?", "tidegage language?",
)  # fmt: skip
ROOT = Path(__file__).parent.parent.parent
_CHANGING = {"trace_id", "timings_ms", "usage"}


@pytest.fixture(scope="module")
def taken_in(stock: MakeSettings, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    settings, folder = stock(), tmp_path_factory.mktemp("docs")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    ingest(settings, [str(folder)])
    return settings


@pytest.fixture(scope="module")
def chat(taken_in: Settings) -> Iterator[ChatEngine]:
    engine = build_chat_engine(taken_in)
    engine.try_questions()
    yield engine
    engine.close()


def same(answer: dict[str, Any]) -> dict[str, Any]:
    """The parts of an answer that do not change when it is asked for again."""
    return {name: value for name, value in answer.items() if name not in _CHANGING}


def test_the_same_questions_have_the_same_answer_through_every_door(
    chat: ChatEngine, taken_in: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server = build_mcp(Doors(lambda: chat), Grant(all_scopes("owner"), "owner"))

    async def by_mcp() -> list[Any]:
        async with Client(server) as client:
            return [(await client.call_tool("ask", {"question": each})).structured_content for each in QUESTIONS]

    agent = asyncio.run(by_mcp())
    with Served(build_server(chat)) as served, httpx.Client(base_url=served.url, timeout=30) as client:
        program = [client.post("/v1/ask", json={"question": each}).json() for each in QUESTIONS]
    reader = []
    for question in QUESTIONS:
        *_, answer = chat.answer(question, history=(), filters=Filters())
        assert isinstance(answer, Answer)
        reader.append(chat.answer_data(chat.with_follow_ups(answer, (), Filters())))
    notebook = footnote.build_query_engine(taken_in)
    cell = [answer_json(notebook.ask(question, follow_ups=True)) for question in QUESTIONS]
    shell = Shell(taken_in, monkeypatch, tmp_path)
    for at, question in enumerate(QUESTIONS):
        terminal = same(shell.json("ask", question))
        assert same(cell[at]) == terminal, question
        assert same(agent[at]) == terminal, question
        assert same(program[at]) == terminal, question
        assert same(reader[at]) == terminal, question
    assert sum(each["answered"] for each in program) > len(QUESTIONS) / 2


def test_facts_and_searches_are_the_same_through_every_door(
    chat: ChatEngine, taken_in: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server = build_mcp(Doors(lambda: chat), Grant(all_scopes("owner"), "owner"))

    async def by_mcp() -> tuple[Any, Any]:
        async with Client(server) as client:
            found = await client.call_tool("search", {"question": QUESTIONS[0]})
            return (await client.call_tool("facts", {})).structured_content, found.structured_content

    agent = asyncio.run(by_mcp())
    with Served(build_server(chat)) as served, httpx.Client(base_url=served.url, timeout=30) as client:
        program = client.get("/v1/facts").json(), client.post("/v1/search", json={"question": QUESTIONS[0]}).json()
    shell = Shell(taken_in, monkeypatch, tmp_path)
    terminal = shell.json("facts"), shell.json("search", QUESTIONS[0])
    assert agent[0] == program[0] == terminal[0]
    assert same(agent[1]) == same(program[1]) == same(terminal[1])


def test_the_command_line_asks_a_running_server(
    chat: ChatEngine, taken_in: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    here = Shell(taken_in, monkeypatch, tmp_path)
    own, text = same(here.json("ask", QUESTIONS[0])), here("ask", QUESTIONS[0])
    assert "# " not in here("search", QUESTIONS[0])[1]  # words, no markup
    assert here("ask", "Which submarine volcanoes erupted near Kamchatka?")[0] == 0  # an abstention is an answer
    with Served(build_server(chat)) as served:
        remote = Shell(
            taken_in, monkeypatch, tmp_path, FOOTNOTE_SERVER=served.url, DATABASE_URL="postgresql:///nowhere"
        )
        assert same(remote.json("ask", QUESTIONS[0])) == own
        assert remote("ask", QUESTIONS[0]) == text
        follow_up = ("ask", "And before that?", "--after", "Where did Ines work at Northmere Bridges?")
        after = here.json(*follow_up)
        assert "Tidewright" in after["answer"]
        assert same(remote.json(*follow_up)) == same(here.json(*follow_up))
        assert remote("ask", " ") == (2, "The question is empty. Write a question.")
        assert remote("ask", QUESTIONS[0], "--pack", "answer.zip")[0] == 3
    code, said = remote("ask", QUESTIONS[0])
    assert code == 5
    assert "footnote serve" in said


def test_a_question_to_a_server_loads_no_heavy_library() -> None:
    code = "import sys, app.cli.remote, app.wording, app.cli.rows, pipelines.query.layout; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    heavy = {"llama_index", "numpy", "sqlalchemy", "psycopg2", "onnxruntime", "streamlit", "httpx", "starlette"}
    assert not heavy & set(loaded.split())


def test_the_engine_of_the_chat_loads_no_library_of_another_model() -> None:
    code = "import sys, app.chat_engine, app.inspection; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert not {"openai", "httpx", "tiktoken", "streamlit", "docling", "pandas"} & set(loaded.split())
