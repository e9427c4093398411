"""The MCP server: search, ask, sources, facts and documents as tools and resources of an agent.

The stdio transport has one caller, whose audience is an option of the command. Over streamable HTTP each request has
the scopes and the audience of its token (`app/access.py`). Nothing is written unless the server may ingest.
"""

import functools
import json
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from importlib.metadata import version
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import CallToolResult, Resource, TextContent, ToolAnnotations

from app.access import Grant, Guard, RequestRefused, error_data, need
from app.answer_markdown import numbered_markdown
from app.door import Door
from config.settings import Scope, Settings
from pipelines.errors import FootnoteError, NotFound
from pipelines.types import Audience, Filters, Mode, Turn

PATH = "/mcp"
_URI = "footnote://documents/"
_BODY = 1 << 20  # bytes of a request; the SDK has a limit of its own
_MOST_LISTED = 500  # documents in the list of resources
_NONE = Filters()
_INSTRUCTIONS = (
    "Answers questions about the stored documents (resumes, profiles, posts, notes, repositories). Use `ask` for an "
    "answer whose every sentence is checked against its sources, `search` for passages to read yourself, "
    "`read_source` for what stands around a passage, `facts` for jobs, studies, skills and durations. An answer with "
    "`answered: false` means that the documents do not say it: tell so, and do not guess."
)
_READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=True)
_caller: ContextVar[Grant] = ContextVar("footnote_caller")
Tool = Callable[..., CallToolResult]


class Doors:
    """The doors of all audiences to one engine, which is built when it is first needed; safe to share."""

    def __init__(self, build: Callable[[], Door]) -> None:
        self._build, self._lock = build, threading.Lock()
        self._built: Door | None = None

    def __call__(self, audience: Audience) -> Door:
        """The door of an audience; raises what `build_query_engine` raises."""
        with self._lock:
            self._built = self._built or self._build()
        return self._built.seen_by(audience)

    def warm(self) -> None:
        """Build the engine in the background; a failure is told to the first caller."""

        def build() -> None:
            try:
                self("owner")
            except FootnoteError:
                return

        threading.Thread(target=build, daemon=True).start()


class FootnoteServer(MCPServer[Any]):
    """An MCP server whose resources are the documents that the caller may see."""

    def __init__(self, doors: Doors, grant: Grant) -> None:
        """Serve callers without a token of their own by `grant`."""
        self._doors, self._grant = doors, grant
        super().__init__(
            "footnote", title="Footnote", instructions=_INSTRUCTIONS, version=version("footnote"),
            log_level="WARNING", middleware=[self._known],
        )  # fmt: skip

    async def _known(self, ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        """Note who calls, for the tools and resources of this request."""
        request = ctx.request
        token = _caller.set(request.scope["state"]["grant"] if request is not None else self._grant)
        try:
            return await call_next(ctx)
        finally:
            _caller.reset(token)

    def door(self, scope: Scope) -> Door:
        """The caller's door; raises RequestRefused if the scope is not granted."""
        grant = _caller.get()
        need(grant, scope)
        return self._doors(grant.audience)

    async def list_resources(self) -> list[Resource]:
        """The documents that the caller may see, at most `_MOST_LISTED`; the tool `list_documents` has all."""
        import anyio.to_thread

        rows = await anyio.to_thread.run_sync(lambda: self.door("read").listed(limit=_MOST_LISTED)["documents"])
        return [
            Resource(uri=_URI + row["id"], name=row["name"], title=row["title"] or None, mime_type="text/plain",
                     description=_about(row))
            for row in rows
        ]  # fmt: skip


def build_mcp(doors: Doors, grant: Grant, *, may_ingest: bool = False) -> FootnoteServer:
    """The server with its tools; those that write are there only if it may ingest.

    Args:
        doors: To the engine.
        grant: Of callers on stdio, and over HTTP where there are no tokens.
        may_ingest: A worker runs beside it.
    """
    server = FootnoteServer(doors, grant)
    tool = functools.partial(_add_tool, server)

    def search(
        question: str, filters: Filters = _NONE, mode: Mode | None = None, top_n: int | None = None
    ) -> CallToolResult:
        """Find the passages that answer a question best, ranked, without writing an answer.

        Each has its document, section, page, lines and offsets; `read_source` shows what stands around it. `filters`
        narrow by collection, category, year, author, since and until (YYYY-MM-DD), kind, document, phrase.
        """
        found = server.door("read").search(question, filters=filters, mode=mode, top_n=_within(top_n))
        passages = (
            f"{row['rank']}. {row['title'] or row['document_name']} ({row['document_name']}{_page(row)}, document_id "
            f"{row['document_id']}, characters {row['start']}-{row['end']})\n{row['text']}"
            for row in found["results"]
        )
        return _result("\n\n".join(passages) or "No passage was found.", found)

    def ask(question: str, filters: Filters = _NONE, history: Sequence[Turn] = ()) -> CallToolResult:
        """Answer a question from the documents; every sentence carries the numbers of its sources, checked by code.

        The structured content has each sentence with its verdict (supported, partial, misattributed, unsupported,
        uncited) and the exact spans that it cites, the sources, disagreements between them, and questions to ask next.
        `history` holds the turns before a follow-up, each with question and answer. Where the documents do not answer,
        `answered` is false.
        """
        door = server.door("ask")
        answer = door.whole_answer(question, history=history, filters=filters)
        return _result(numbered_markdown(answer), door.answer_data(answer))

    def read_source(document: str, start: int = 0, end: int | None = None, around: int = 500) -> CallToolResult:
        """Read characters `start` to `end` of a document, with the text around them.

        `document` is its id, name or title, as in sources, search results and `list_documents`; `around` is the number
        of characters shown on each side.
        """
        found = server.door("read").read_source(document, start, end, around)
        parts = (("Before", found["before"]), ("Text", found["text"]), ("After", found["after"]))
        shown = (f"{name}:\n{words}" for name, words in parts if words)
        return _result("\n\n".join((f"{found['document']}{_page(found)}", *shown)), found)

    def facts(filters: Filters = _NONE) -> CallToolResult:
        """The careers and projects that the documents state.

        Jobs, education, skills, talks, languages and projects of each person, how long each lasted (overlaps counted
        once), and the spans that state it.
        """
        found = server.door("read").careers(filters)
        return _result(json.dumps(found, ensure_ascii=False), found)

    def list_documents(category: str = "", collection: str = "", first: int = 0, limit: int = 200) -> CallToolResult:
        """The stored documents by name: id, title, category, collection, year, author, date, number of nodes.

        `first` counts from 0; `total` says how many fit the category and the collection.
        """
        found = server.door("read").listed(category=category, collection=collection, first=first, limit=limit)
        lines = (f"{row['name']}: {row['title']} ({_about(row)}, id {row['id']})" for row in found["documents"])
        return _result("\n".join(lines) or "No document.", found)

    for reading in (search, ask, read_source, facts, list_documents):
        tool(reading, _READS)

    @server.resource(_URI + "{document_id}", name="document", mime_type="text/plain")
    def document(document_id: str) -> str:
        """The text of a document, as it is quoted."""
        try:
            return str(server.door("read").read_source(document_id, around=0)["text"])
        except (NotFound, RequestRefused) as error:
            raise ResourceNotFoundError(f"There is no document {document_id[:200]!r} for you.") from error

    if may_ingest:
        _add_ingestion(server, tool)
    return server


def _add_ingestion(server: FootnoteServer, tool: Callable[[Tool, ToolAnnotations], None]) -> None:
    def ingest(location: str) -> CallToolResult:
        """Take in a link (https://...), `github:OWNER[/REPO]` or `notion:PAGE`; returns a job to look at."""
        return _started(server.door("ingest").jobs.ingest(location))

    def add_document(name: str, text: str) -> CallToolResult:
        """Take in a text under a file name such as `notes.md`; the same name again replaces it. Returns a job."""
        return _started(server.door("ingest").jobs.upload([(name, text.encode())]))

    def job(number: int) -> CallToolResult:
        """How far a job of `ingest` or `add_document` is: its state, and the outcome of each file."""
        data = server.door("ingest").jobs.progress(number)
        return _result(json.dumps(data, ensure_ascii=False), data)

    for writing, hints in ((ingest, _WRITES), (add_document, _WRITES), (job, _READS)):
        tool(writing, hints)


def _add_tool(server: FootnoteServer, function: Tool, hints: ToolAnnotations) -> None:
    """Add a tool whose errors have the shape of every door."""

    @functools.wraps(function)
    def told(*args: Any, **given: Any) -> CallToolResult:
        try:
            return function(*args, **given)
        except FootnoteError as error:
            return _failed(error_data(error, _caller.get().audience))
        except RequestRefused as refused:
            return _failed({"error": refused.error})

    server.add_tool(told, annotations=hints)


def _failed(data: dict[str, Any]) -> CallToolResult:
    text = " ".join(filter(None, (data["error"]["message"], data["error"]["hint"])))
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=data, is_error=True)


def _result(text: str, data: dict[str, Any]) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=data)


def _started(number: int) -> CallToolResult:
    return _result(f"Job {number} was started; the tool `job` says how far it is.", {"job": number})


def _within(top_n: int | None) -> int | None:
    return None if top_n is None else min(max(top_n, 1), 100)


def _page(row: dict[str, Any]) -> str:
    return f", p. {row['page']}" if row["page"] else ""


def _about(row: dict[str, Any]) -> str:
    return ", ".join(str(row[name]) for name in ("category", "year", "author") if row[name])


def http_app(server: FootnoteServer, settings: Settings, default: Audience) -> Any:
    """The streamable HTTP transport at `PATH`, behind the tokens of the settings."""
    app = server.streamable_http_app(
        streamable_http_path=PATH, stateless_http=True, json_response=True,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # the Guard's
    )  # fmt: skip
    return Guard(app, settings.serve, limits={"/": _BODY}, default=default)
