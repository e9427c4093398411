"""The HTTP API, called over HTTP on loopback by httpx and by the openai client."""

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest
from pydantic import SecretStr, ValidationError

from app.access import CallerRates, assert_may_listen
from app.chat_engine import build_chat_engine
from app.server import QuestionThreads, RequestRefused, build_server
from app.worker import JobWorker
from config.settings import BearerToken, ServeSettings, Settings
from pipelines.errors import ConfigError
from pipelines.ingestion.plan import Overrides
from pipelines.ingestion.run import ingest
from pipelines.query.citation_markers import split_markers
from tests.conftest import MakeSettings
from tests.served import Served

CRANE = "# Harbour crane\n\nMarit built the harbour crane controller in 2014. It moved 40 containers an hour.\n"
DIARY = "# Diary\n\nThe harbour crane failed in secret on a Sunday.\n"
QUESTION = "How many containers did the harbour crane move?"
VOLCANOES = "Which submarine volcanoes erupted near Kamchatka?"
OWNER, READER, VISITOR = "owner-token-0123456789", "reader-token-0123456789", "visitor-token-0123456789"
SITE = "https://me.example"


def serve(settings: Settings, given: ServeSettings) -> Served:
    return Served(build_server(build_chat_engine(settings.model_copy(update={"serve": given}))))


@pytest.fixture(scope="module")
def taken_in(stock: MakeSettings, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A public document and a private one."""
    settings, folder = stock(), tmp_path_factory.mktemp("docs")
    (folder / "crane.md").write_text(CRANE)
    (folder / "diary.md").write_text(DIARY)
    ingest(settings, [str(folder / "crane.md")])
    ingest(settings, [str(folder / "diary.md")], overrides=Overrides(visibility="private", collection="notes"))
    return settings


@pytest.fixture(scope="module")
def url(taken_in: Settings) -> Iterator[str]:
    """A server with tokens."""
    tokens = (
        BearerToken(token=SecretStr(OWNER), scopes=frozenset({"read", "ask", "ingest"}), audience="owner"),
        BearerToken(token=SecretStr(READER), scopes=frozenset({"read"}), audience="owner"),
        BearerToken(token=SecretStr(VISITOR)),
    )
    with serve(taken_in, ServeSettings(tokens=tokens, origins=(SITE,), per_minute=0)) as served:
        yield served.url


def caller(url: str, token: str = OWNER, **headers: str) -> httpx.Client:
    known = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.Client(base_url=url, headers={**known, **headers}, timeout=30)


@pytest.fixture
def owner(url: str) -> Iterator[httpx.Client]:
    with caller(url) as client:
        yield client


@pytest.fixture
def visitor(url: str) -> Iterator[httpx.Client]:
    with caller(url, VISITOR) as client:
        yield client


def events(reply: httpx.Response) -> list[tuple[str, Any]]:
    """(name, data) of server-sent events."""
    parts = (block.split("\n") for block in reply.text.strip().split("\n\n"))
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in parts]


def test_an_answer_is_given_whole_or_as_events(owner: httpx.Client) -> None:
    whole = owner.post("/v1/ask", json={"question": QUESTION}).json()
    assert "40 containers" in whole["answer"]
    streamed = events(owner.post("/v1/ask", json={"question": QUESTION}, headers={"Accept": "text/event-stream"}))
    names = [name for name, _ in streamed]
    assert (names[0], names[-1], names.count("Verdict")) == ("Token", "Answer", len(whole["sentences"]))
    assert {"Footnote"} < set(names)
    said = "".join(data["text"] for name, data in streamed if name == "Token")
    assert all(sentence["text"] in said for sentence in whole["sentences"])
    last = streamed[-1][1]
    changing = ("trace_id", "timings_ms", "usage")
    assert {k: v for k, v in last.items() if k not in changing} == {k: v for k, v in whole.items() if k not in changing}


def test_an_abstention_is_an_answer(owner: httpx.Client) -> None:
    reply = owner.post("/v1/ask", json={"question": VOLCANOES})
    assert (reply.status_code, reply.json()["answered"]) == (200, False)


@pytest.mark.parametrize(
    ("path", "body", "status", "kind"),
    [
        ("/v1/ask", {"question": "  "}, 400, "RetrievalError"),
        ("/v1/ask", {"question": "x" * 2001}, 413, "TooLarge"),
        ("/v1/ask", {"question": "x" * 2_000_000}, 413, "TooLarge"),
        ("/v1/ask", {"question": "  ", "stream": True}, 400, "RetrievalError"),
        ("/v1/ask", {"query": "crane"}, 400, "InvalidRequest"),
        ("/v1/search", {"question": "crane", "filters": {"categories": ["blog"]}}, 400, "InvalidRequest"),
        ("/v1/search", {"question": "crane", "filters": {"since": "May"}}, 400, "RetrievalError"),
        ("/v1/nothing", {}, 404, "NotFound"),
        ("/v1/facts", {}, 405, "MethodNotAllowed"),
        ("/v1/feedback", {"trace_id": "0f", "kind": "thumb"}, 404, "NotFound"),
        ("/v1/collections/nowhere/reindex", {}, 404, "NotFound"),
        ("/v1/ingest", {"location": "/etc/passwd"}, 400, "SourceError"),
    ],
)
def test_an_error_has_one_shape(owner: httpx.Client, path: str, body: Any, status: int, kind: str) -> None:
    reply = owner.post(path, json=body)
    error = reply.json()["error"]
    assert (reply.status_code, error["type"]) == (status, kind)
    assert set(error) == {"type", "message", "hint"}
    assert error["message"].endswith(".")


@pytest.mark.parametrize(
    "path", ["/v1/documents/nowhere.md", "/v1/documents/crane.md?start=5&end=9000", "/v1/ingest/77"]
)
def test_what_does_not_exist_is_404(owner: httpx.Client, path: str) -> None:
    reply = owner.get(path)
    assert (reply.status_code, reply.json()["error"]["type"]) == (404, "NotFound")


def test_a_search_and_the_text_of_its_passage(owner: httpx.Client) -> None:
    found = owner.post("/v1/search", json={"question": "harbour crane", "top_n": 1}).json()
    [result] = found["results"]
    span = {"start": result["start"], "end": result["end"], "around": 5}
    read = owner.get(f"/v1/documents/{result['document_id']}", params=span).json()
    assert read["text"] == result["text"]


@pytest.mark.parametrize(
    ("token", "method", "path", "status"),
    [
        ("wrong-token-0123456789", "GET", "/v1/documents", 401),
        ("", "GET", "/metrics", 401),
        ("", "GET", "/healthz", 200),
        (READER, "GET", "/v1/documents", 200),
        (READER, "POST", "/v1/ask", 403),
        (READER, "DELETE", "/v1/documents/crane.md", 403),
        (VISITOR, "POST", "/v1/ingest", 403),
    ],
)
def test_a_token_has_its_scopes(url: str, token: str, method: str, path: str, status: int) -> None:
    with caller(url, token) as client:
        reply = client.request(method, path, json={"question": QUESTION})
    assert reply.status_code == status
    assert (reply.headers.get("www-authenticate") == "Bearer") == (status == 401)


def test_a_visitor_sees_public_documents_and_no_paths(visitor: httpx.Client, owner: httpx.Client) -> None:
    every = owner.get("/v1/documents").json()["documents"]
    assert [row["name"] for row in every] == ["crane.md", "diary.md"]
    listed = visitor.get("/v1/documents").json()
    assert [(row["name"], row["uri"]) for row in listed["documents"]] == [("crane.md", "")]
    answer = visitor.post("/v1/ask", json={"question": QUESTION}).json()
    assert {source["uri"] for source in answer["sources"]} == {""}
    streamed = events(visitor.post("/v1/ask", json={"question": QUESTION, "stream": True}))
    assert {data["source"]["uri"] for name, data in streamed if name == "Footnote"} == {""}
    assert "file://" not in json.dumps(streamed)
    assert visitor.get("/v1/documents/diary.md").status_code == 404
    saved = visitor.post("/v1/feedback", json={"trace_id": answer["trace_id"], "kind": "thumb", "value": 1})
    assert saved.json() == {"saved": True}


def test_pages_of_named_sites_alone_may_call(url: str) -> None:
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    with httpx.Client(base_url=url) as page:
        allowed = page.options("/v1/ask", headers={"Origin": SITE, **asked})
        assert (allowed.status_code, allowed.headers["access-control-allow-origin"]) == (200, SITE)
        refused = page.options("/v1/ask", headers={"Origin": "https://evil.example", **asked})
        assert (refused.status_code, "access-control-allow-origin" in refused.headers) == (403, False)
    with caller(url, VISITOR, Origin=SITE) as page:
        reply = page.post("/v1/ask", json={"question": QUESTION})
        assert (reply.status_code, reply.headers["access-control-allow-origin"]) == (200, SITE)
    with caller(url, VISITOR, Origin="https://evil.example") as page:
        assert page.post("/v1/ask", json={"question": QUESTION}).status_code == 403


def test_uploads_are_taken_in_reindexed_and_removed(make_settings: MakeSettings) -> None:
    settings = make_settings()
    with serve(settings, ServeSettings()) as served, httpx.Client(base_url=served.url, timeout=30) as client:
        worker = JobWorker(settings)
        kiln = {"files": ("kiln.md", b"# Kiln\n\nRuth Aldous built the kiln.\n")}
        started = client.post("/v1/documents", files=kiln)
        assert started.status_code == 202
        assert client.get(f"/v1/ingest/{started.json()['job']}").json()["state"] == "waiting"
        assert worker.work_once()
        job = client.get(f"/v1/ingest/{started.json()['job']}").json()
        assert (job["state"], [file["outcome"] for file in job["outcomes"]]) == ("done", ["added"])
        again = client.post("/v1/collections/default/reindex").json()["job"]
        assert worker.work_once()
        assert client.get(f"/v1/ingest/{again}").json()["ended"] == 1
        waiting = client.post("/v1/ingest", json={"location": "https://example.com/feed.xml"}).json()["job"]
        assert client.delete(f"/v1/ingest/{waiting}").json()["state"] == "cancelled"
        removed = client.delete("/v1/documents/kiln.md").json()
        assert [each["document"] for each in removed["removed"]] == ["kiln.md"]
        assert client.get("/v1/documents").json() == {"documents": [], "total": 0}
        worker.close()


def test_without_tokens_only_loopback_names_are_served(taken_in: Settings, make_settings: MakeSettings) -> None:
    with serve(make_settings(), ServeSettings()) as served, httpx.Client(base_url=served.url) as client:
        assert client.get("/v1/documents").status_code == 200
        assert client.get("/v1/documents", headers={"Host": "footnote.evil.example"}).status_code == 403
        assert client.get("/v1/documents", headers={"Origin": "https://evil.example"}).status_code == 403


def test_an_address_that_others_reach_needs_tokens() -> None:
    with pytest.raises(ConfigError, match="without tokens"):
        assert_may_listen(ServeSettings(host="0.0.0.0"))
    assert_may_listen(ServeSettings(host="0.0.0.0", tokens=(BearerToken(token=SecretStr(OWNER)),)))
    with pytest.raises(ValidationError, match="needs the audience owner"):
        BearerToken(token=SecretStr(OWNER), scopes=frozenset({"ingest"}))


def test_a_lost_database_is_503_and_tells_a_visitor_nothing_of_it(make_settings: MakeSettings) -> None:
    token = BearerToken(token=SecretStr(VISITOR))
    chat = build_chat_engine(make_settings().model_copy(update={"serve": ServeSettings(tokens=(token,))}))
    with Served(build_server(chat)) as served, caller(served.url, VISITOR) as client:
        chat.database.dispose()
        chat.database.pool = chat.database.pool.recreate()
        chat.database.pool._creator = _no_connection  # type: ignore[attr-defined]
        for reply in (client.post("/v1/ask", json={"question": QUESTION}), client.get("/v1/documents")):
            assert reply.status_code == 503
            assert reply.json()["error"] == {
                "type": "ServiceUnavailable", "message": "This cannot be answered now.", "hint": "Try again later.",
            }  # fmt: skip
            assert "retry-after" in reply.headers
        assert client.get("/healthz").status_code == 503


def _no_connection(*_: object) -> None:
    import psycopg2

    raise psycopg2.OperationalError("could not connect to server: Connection refused")


def test_rates_fill_again_evenly() -> None:
    rates = CallerRates(60)
    assert [rates.wait("a", 0.0) for _ in range(60)] == [0.0] * 60
    assert rates.wait("a", 0.0) == 1.0
    assert rates.wait("b", 0.0) == 0.0
    assert rates.wait("a", 1.0) == 0.0
    assert CallerRates(0).wait("a", 0.0) == 0.0


def test_a_caller_over_its_rate_is_told_when_to_come_again(taken_in: Settings, make_settings: MakeSettings) -> None:
    given = ServeSettings(tokens=(BearerToken(token=SecretStr(VISITOR)),), per_minute=2)
    with serve(make_settings(), given) as served, caller(served.url, VISITOR) as client:
        replies = [client.get("/v1/documents") for _ in range(3)]
    assert [reply.status_code for reply in replies] == [200, 200, 429]
    assert int(replies[2].headers["retry-after"]) == 30


def test_too_many_waiting_questions_are_refused() -> None:
    import asyncio

    async def ask() -> list[object]:
        threads = QuestionThreads(at_once=1, most_waiting=1)
        asked = (threads.run(lambda: time.sleep(0.05)) for _ in range(3))
        return await asyncio.gather(*asked, return_exceptions=True)

    refused = asyncio.run(ask())[2]
    assert isinstance(refused, RequestRefused)
    assert refused.status_code == 503


def test_a_question_is_not_begun_for_a_caller_who_left(monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    monkeypatch.setattr("app.server._PATIENCE", 0.01)
    begun = list[str]()

    async def ask() -> list[object]:
        async def gone() -> bool:
            return True

        threads = QuestionThreads(at_once=1)
        first = threads.run(lambda: time.sleep(0.1))
        return await asyncio.gather(first, threads.run(lambda: begun.append("second"), gone), return_exceptions=True)

    assert isinstance(asyncio.run(ask())[1], RequestRefused)
    assert begun == []


def test_metrics_count_requests_answers_and_verdicts(owner: httpx.Client) -> None:
    owner.post("/v1/ask", json={"question": QUESTION})
    lines = owner.get("/metrics").text.splitlines()
    values = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    assert int(values['footnote_requests_total{route="POST /v1/ask",status="200"}']) >= 1
    assert int(values['footnote_answers_total{answered="true",mode="extractive"}']) >= 1
    assert int(values['footnote_sentences_total{verdict="supported"}']) >= 1
    count = int(values['footnote_request_seconds_count{route="POST /v1/ask"}'])
    assert count == int(values['footnote_request_seconds_bucket{route="POST /v1/ask",le="+Inf"}'])


def test_the_description_names_every_path(owner: httpx.Client) -> None:
    paths = owner.get("/openapi.json").json()["paths"]
    assert {"/v1/ask", "/v1/search", "/v1/documents", "/v1/documents/{document}", "/v1/ingest", "/v1/ingest/{job}",
            "/v1/collections/{name}/reindex", "/v1/feedback", "/v1/facts", "/v1/chat/completions", "/healthz",
            "/metrics"} <= set(paths)  # fmt: skip


# The client of OpenAI


@pytest.fixture
def client(url: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{url}/v1", api_key=OWNER, max_retries=0) as client:
        yield client


def test_the_openai_client_gets_an_answer_with_citations_as_annotations(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["footnote"]
    done = client.chat.completions.create(model="footnote", messages=[{"role": "user", "content": QUESTION}])
    message = done.choices[0].message
    assert message.content
    assert message.annotations
    assert _spans([each.url_citation.model_extra for each in message.annotations])
    for each in message.annotations:
        cited = each.url_citation
        assert message.content[cited.start_index : cited.end_index] == "[1]"
        for span in (cited.model_extra or {})["spans"]:
            assert CRANE[span["start"] : span["end"]] == span["quote"]
            assert span["verdict"] == "supported"
            assert span["quote"] in message.content


def _spans(citations: list[Any]) -> list[Any]:
    return [span for citation in citations for span in citation["spans"]]


def _bare(text: str) -> str:
    return " ".join(split_markers(text)[0].split())


def test_the_openai_client_streams_the_same_answer(client: openai.OpenAI) -> None:
    asked: Any = {"model": "footnote", "messages": [{"role": "user", "content": QUESTION}]}
    whole = client.chat.completions.create(**asked).choices[0].message
    chunks = list(client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True}))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert _bare(text) == _bare(whole.content or "")
    last = next(chunk for chunk in chunks if chunk.choices and chunk.choices[0].finish_reason)
    assert last.choices[0].finish_reason == "stop"
    cited = [each["url_citation"] for each in (last.choices[0].delta.model_extra or {})["annotations"]]
    assert [text[each["start_index"] : each["end_index"]] for each in cited] == ["[1]"] * text.count("[1]")
    assert _spans(cited) == _spans([each.url_citation.model_extra for each in whole.annotations or ()]) != []
    assert chunks[-1].usage


def test_earlier_messages_are_the_history_of_a_follow_up(client: openai.OpenAI) -> None:
    done = client.chat.completions.create(
        model="footnote",
        messages=[
            {"role": "system", "content": "You are a pirate."},
            {"role": "user", "content": "Who built the harbour crane controller?"},
            {"role": "assistant", "content": "Marit built the harbour crane controller in 2014."},
            {"role": "user", "content": [{"type": "text", "text": "How many containers did it move?"}]},
        ],
    )
    assert "40 containers" in (done.choices[0].message.content or "")


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"model": "gpt-5"}, openai.NotFoundError, "no model"),
        ({"n": 2}, openai.BadRequestError, "n cannot be asked for"),
        ({"response_format": {"type": "json_object"}}, openai.BadRequestError, "response_format cannot"),
        ({"messages": [{"role": "assistant", "content": "Hello"}]}, openai.BadRequestError, "no question"),
    ],
)
def test_what_is_not_done_is_refused(
    client: openai.OpenAI, given: Any, error: type[openai.APIStatusError], said: str
) -> None:
    asked: Any = {"model": "footnote", "messages": [{"role": "user", "content": QUESTION}], **given}
    with pytest.raises(error, match=said):
        client.chat.completions.create(**asked)


def test_the_wrong_token_is_an_authentication_error(url: str) -> None:
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="wrong-token-0123456789", max_retries=0)
    with client, pytest.raises(openai.AuthenticationError, match="valid token"):
        client.models.list()
