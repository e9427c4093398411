"""The MCP server, called by the client of the official SDK: in process, over HTTP, and as a process on stdio."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from pydantic import SecretStr

from app.access import Grant, all_scopes
from app.door import Door
from app.mcp import Doors, build_mcp, http_app
from app.worker import JobWorker
from config.settings import BearerToken, ServeSettings, Settings
from pipelines.ingestion.plan import Overrides
from pipelines.ingestion.run import ingest
from pipelines.query.engine import build_query_engine
from tests.conftest import MakeSettings
from tests.served import Served

ROOT = Path(__file__).parent.parent.parent
CRANE = "# Harbour crane\n\nMarit built the harbour crane controller in 2014. It moved 40 containers an hour.\n"
DIARY = "# Diary\n\nThe harbour crane failed in secret on a Sunday.\n"
RESUME = (
    "# Ines Varga\n\n## Experience\n\n### Engineer, Northmere Bridges\n\nMarch 2018 - May 2020\n\n- Inspected bridges\n"
)
QUESTION = "How many containers did the harbour crane move?"
OWNER, VISITOR = "owner-token-0123456789", "visitor-token-0123456789"
Talk = Callable[[Client], Awaitable[Any]]


@pytest.fixture(scope="module")
def taken_in(stock: MakeSettings, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Two public documents and a private one."""
    settings, folder = stock(), tmp_path_factory.mktemp("docs")
    for name, text in (("crane.md", CRANE), ("resume.md", RESUME)):
        (folder / name).write_text(text)
    ingest(settings, [str(folder / "crane.md"), str(folder / "resume.md")])
    (folder / "diary.md").write_text(DIARY)
    ingest(settings, [str(folder / "diary.md")], overrides=Overrides(visibility="private"))
    return settings


@pytest.fixture(scope="module")
def doors(taken_in: Settings) -> Iterator[Doors]:
    door = Door(build_query_engine(taken_in))
    yield Doors(lambda: door)
    door.close()


def talk(server: Any, conversation: Talk) -> Any:
    """What a conversation of a client with a server gives."""

    async def run() -> Any:
        async with Client(server) as client:
            return await conversation(client)

    return asyncio.run(run())


def call(server: Any, name: str, /, **given: Any) -> Any:
    """The result of one tool."""
    return talk(server, lambda client: client.call_tool(name, given))


@pytest.fixture
def owner(doors: Doors) -> Any:
    return build_mcp(doors, Grant(all_scopes("owner"), "owner"))


@pytest.fixture
def visitor(doors: Doors) -> Any:
    return build_mcp(doors, Grant(all_scopes("visitor"), "visitor"))


def test_an_answer_has_its_verdicts_spans_and_sources(owner: Any) -> None:
    result = call(owner, "ask", question=QUESTION)
    answer = result.structured_content
    assert "[1]" in result.content[0].text
    assert "crane.md" in result.content[0].text
    sentence = next(each for each in answer["sentences"] if "40 containers" in each["text"])
    assert (sentence["verdict"], sentence["text"]) == ("supported", "It moved 40 containers an hour.")
    cited, source = sentence["evidence"][0], answer["sources"][0]
    read = call(owner, "read_source", document=source["document_id"], start=cited["start"], end=cited["end"], around=30)
    assert read.structured_content["text"] == cited["quote"] == sentence["text"]
    assert read.structured_content["before"].endswith("in 2014. ")


def test_a_follow_up_is_read_with_its_history(owner: Any) -> None:
    history = [{"question": "Who built the harbour crane controller?", "answer": "Marit built it in 2014."}]
    answer = call(owner, "ask", question="How many containers did it move?", history=history).structured_content
    assert answer["condensed"]
    assert "40 containers" in answer["answer"]


def test_a_search_gives_ranked_passages_within_filters(owner: Any) -> None:
    found = call(owner, "search", question="harbour crane", top_n=1).structured_content
    assert [row["rank"] for row in found["results"]] == [1]
    only = call(owner, "search", question="harbour crane", filters={"document": ["resume.md"]}).structured_content
    assert {row["document_name"] for row in only["results"]} == {"resume.md"}


def test_facts_and_documents_are_listed(owner: Any) -> None:
    [person] = call(owner, "facts").structured_content["people"]
    assert (person["name"], person["experience"]["months"]) == ("Ines Varga", 27)
    listed = call(owner, "list_documents", limit=2).structured_content
    assert ([row["name"] for row in listed["documents"]], listed["total"]) == (["crane.md", "diary.md"], 3)


def test_a_document_is_a_resource(owner: Any) -> None:
    async def read(client: Client) -> tuple[list[str], str]:
        resources = (await client.list_resources()).resources
        crane = next(each for each in resources if each.name == "crane.md")
        return [each.name for each in resources], (await client.read_resource(crane.uri)).contents[0].text  # type: ignore[union-attr]

    names, text = talk(owner, read)
    assert names == ["crane.md", "diary.md", "resume.md"]
    assert text == CRANE


def test_a_visitor_sees_public_documents_and_no_paths(visitor: Any, doors: Doors) -> None:
    listed = call(visitor, "list_documents").structured_content["documents"]
    assert [(row["name"], row["uri"]) for row in listed] == [("crane.md", ""), ("resume.md", "")]
    found = call(visitor, "search", question="secret Sunday").structured_content
    assert not {row["document_name"] for row in found["results"]} & {"diary.md"}
    answer = call(visitor, "ask", question=QUESTION).structured_content
    assert {source["uri"] for source in answer["sources"]} == {""}
    diary = next(row for row in doors("owner").listed()["documents"] if row["name"] == "diary.md")
    refused = call(visitor, "read_source", document=diary["id"])
    assert (refused.is_error, refused.structured_content["error"]["type"]) == (True, "NotFound")

    async def read(client: Client) -> None:
        with pytest.raises(MCPError, match="no document"):
            await client.read_resource(f"footnote://documents/{diary['id']}")

    talk(visitor, read)


@pytest.mark.parametrize(
    ("name", "given", "kind", "said"),
    [
        ("ask", {"question": " "}, "RetrievalError", "The question is empty. Write a question."),
        ("ask", {"question": "x" * 2001}, "TooLarge", "The question has 2,001 characters"),
        ("read_source", {"document": "krane.md"}, "NotFound", "Did you mean crane.md?"),
        (
            "read_source",
            {"document": "crane.md", "start": 90, "end": 4000},
            "NotFound",
            "it ends at",
        ),
    ],
)
def test_an_error_says_what_happened_and_what_to_do(owner: Any, name: str, given: Any, kind: str, said: str) -> None:
    result = call(owner, name, **given)
    assert (result.is_error, result.structured_content["error"]["type"]) == (True, kind)
    assert said in result.content[0].text


def test_an_unknown_filter_is_refused(owner: Any) -> None:
    result = call(owner, "search", question="crane", filters={"categories": ["blog"]})
    assert result.is_error
    assert "categories" in result.content[0].text


def test_the_tools_only_read_unless_the_server_may_ingest(owner: Any, doors: Doors) -> None:
    tools = talk(owner, lambda client: client.list_tools()).tools
    assert {tool.name for tool in tools} == {"ask", "search", "read_source", "facts", "list_documents"}
    assert all(tool.annotations.read_only_hint for tool in tools)
    writing = build_mcp(doors, Grant(all_scopes("owner"), "owner"), may_ingest=True)
    more = {tool.name for tool in talk(writing, lambda client: client.list_tools()).tools}
    assert more - {tool.name for tool in tools} == {"ingest", "add_document", "job"}


def test_a_text_is_taken_in_by_the_worker(taken_in: Settings, make_settings: MakeSettings) -> None:
    settings = make_settings()
    door = Door(build_query_engine(settings))
    server = build_mcp(Doors(lambda: door), Grant(all_scopes("owner"), "owner"), may_ingest=True)
    number = call(server, "add_document", name="kiln.md", text="# Kiln\n\nRuth built it.\n").structured_content["job"]
    worker = JobWorker(settings)
    assert worker.work_once()
    worker.close()
    job = call(server, "job", number=number).structured_content
    assert (job["state"], [(file["name"], file["outcome"]) for file in job["outcomes"]]) == (
        "done", [("kiln.md", "added")]
    )  # fmt: skip
    assert call(server, "ingest", location="/etc/passwd").is_error
    door.close()


@pytest.fixture(scope="module")
def served(doors: Doors, taken_in: Settings) -> Iterator[str]:
    """The address of the server over HTTP, with a token of each audience."""
    tokens = (
        BearerToken(token=SecretStr(OWNER), scopes=frozenset({"read"}), audience="owner"),
        BearerToken(token=SecretStr(VISITOR)),
    )
    settings = taken_in.model_copy(update={"serve": ServeSettings(tokens=tokens)})
    server = build_mcp(doors, Grant(all_scopes("owner"), "owner"))
    with Served(http_app(server, settings, "owner")) as served:
        yield f"{served.url}/mcp"


def over_http(url: str, token: str, conversation: Talk) -> Any:
    """What a conversation with the served one gives, with a token."""
    import httpx2

    async def run() -> Any:
        http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=30)
        async with http, Client(streamable_http_client(url, http_client=http)) as client:
            return await conversation(client)

    return asyncio.run(run())


def test_over_http_the_token_says_the_audience_and_the_scopes(served: str) -> None:
    async def listed(client: Client) -> Any:
        documents = (await client.call_tool("list_documents", {})).structured_content
        resources = [each.name for each in (await client.list_resources()).resources]
        return (
            [row["name"] for row in documents["documents"]],
            resources,
            await client.call_tool(  # type: ignore[index]
                "ask", {"question": QUESTION}
            ),
        )

    names, resources, answer = over_http(served, VISITOR, listed)
    assert names == resources == ["crane.md", "resume.md"]
    assert not answer.is_error
    names, resources, refused = over_http(served, OWNER, listed)
    assert names == resources == ["crane.md", "diary.md", "resume.md"]
    assert (refused.is_error, refused.structured_content["error"]["type"]) == (True, "Forbidden")


def test_over_http_nobody_is_served_without_a_token(served: str) -> None:
    import httpx

    reply = httpx.post(served, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert (reply.status_code, reply.json()["error"]["type"]) == (401, "Unauthorized")
    wrong = {"Authorization": "Bearer wrong-token-0123456789"}
    assert httpx.post(served, json={}, headers=wrong).status_code == 401


def test_the_command_serves_stdin_and_stdout(taken_in: Settings, tmp_path: Path) -> None:
    assert taken_in.database_url
    environment = {
        "FOOTNOTE_HOME": str(taken_in.home), "DATABASE_URL": taken_in.database_url.get_secret_value(),
        "FOOTNOTE_EMBEDDING__PROVIDER": "hashed", "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "footnote", "mcp", "--visitor"], env=environment, cwd=tmp_path
    )
    answer = call(command, "ask", question=QUESTION).structured_content
    assert "40 containers" in answer["answer"]
    assert {source["uri"] for source in answer["sources"]} == {""}
