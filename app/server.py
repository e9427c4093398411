"""The HTTP API: search, answers (whole or as events), documents, ingestion, facts and feedback, and chat completions.

Each request has the scopes and the audience of its token (`app/access.py`); every error has one shape.
"""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, FastAPI, File, Query, Request, UploadFile
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import text
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, StreamingResponse

from app.access import Grant, Guard, RequestRefused, error_data, error_response, need
from app.chat_engine import ChatEngine
from app.completions import ChatRequest, CompletionStream, completion, model_list
from app.door import Door
from app.metrics import Metrics
from config.settings import Scope
from pipelines.answers import Answer
from pipelines.errors import FootnoteError, NotFound
from pipelines.observe import log
from pipelines.query.engine import Event
from pipelines.store.database import reading
from pipelines.store.query_log import Feedback, FeedbackKind
from pipelines.types import Audience, Filters, Mode, Turn

AT_ONCE = 4  # questions that are answered together; more wait in line
MOST_WAITING = 500  # after which a question is refused
_PATIENCE = 1.0  # seconds between two looks whether a caller still waits
_BODY = 1 << 20  # bytes of a request that uploads nothing
_NONE = Filters()
_Made = TypeVar("_Made")
_EVENTS = "text/event-stream"
_WIDGET = Path(__file__).parent / "assets" / "widget.js"


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SearchRequest(_Given):
    """A question to search for."""

    question: str
    filters: Filters = _NONE
    mode: Mode | None = None
    top_n: int | None = Field(None, ge=1, le=100)


class AskRequest(_Given):
    """A question to answer. `history` holds the turns before a follow-up; with `stream` the reply is of events."""

    question: str
    filters: Filters = _NONE
    history: list[Turn] = []
    follow_ups: bool = Field(True, description="also try what may be asked next")
    stream: bool = Field(False, description="as server-sent events, as with `Accept: text/event-stream`")


class IngestRequest(_Given):
    """A link, `github:OWNER[/REPO]` or `notion:PAGE`; empty = every known source is looked at again."""

    location: str = ""


class FeedbackRequest(_Given):
    """Feedback on the answer with this `trace_id`: a thumb (1, -1), a wrong source, words; 0 or no words withdraws it.

    `session` tells readers apart; one has one thumb for each answer.
    """

    trace_id: str
    kind: FeedbackKind
    value: int = Field(1, ge=-1, le=1)
    source: int = Field(0, ge=0)
    words: str = ""
    session: str = Field("", max_length=80)


class QuestionThreads:
    """Threads that answer questions, at most so many at once; more wait in line, and too many are refused."""

    def __init__(self, at_once: int = AT_ONCE, most_waiting: int = MOST_WAITING) -> None:
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix="question")
        self._most = at_once + most_waiting
        self.under_way = 0

    async def run(self, work: Callable[[], _Made], gone: Callable[[], Awaitable[bool]] | None = None) -> _Made:
        """The result of work on one of the threads; it is not begun for a caller who has `gone` meanwhile."""
        self._enter()
        try:
            future = self._pool.submit(work)
            waiting = asyncio.wrap_future(future)
            while not (await asyncio.wait([waiting], timeout=_PATIENCE))[0]:
                if gone is not None and await gone():
                    future.cancel()
                    raise RequestRefused(499, "Gone", "The caller did not wait.")
            return await waiting
        finally:
            self.under_way -= 1

    async def stream(self, make: Callable[[], Iterator[_Made]]) -> AsyncIterator[_Made]:
        """The items of an iterator on one of the threads, as they come; it is closed when nobody listens any more."""
        self._enter()
        loop, left = asyncio.get_running_loop(), threading.Event()
        queue: asyncio.Queue[tuple[_Made | None, BaseException | None]] = asyncio.Queue()

        def work() -> None:
            ended: BaseException | None = None
            try:
                if left.is_set():
                    return
                with closing(make()) as made:  # type: ignore[type-var]
                    for each in made:
                        if left.is_set():
                            return
                        loop.call_soon_threadsafe(queue.put_nowait, (each, None))
            except BaseException as error:  # noqa: BLE001 - it is raised again where the events are read
                ended = error
            finally:
                if not loop.is_closed():
                    loop.call_soon_threadsafe(queue.put_nowait, (None, ended or StopAsyncIteration()))

        self._pool.submit(work)
        try:
            while True:
                each, ended = await queue.get()
                if isinstance(ended, StopAsyncIteration):
                    return
                if ended is not None:
                    raise ended
                yield each  # type: ignore[misc]
        finally:
            left.set()
            self.under_way -= 1

    def close(self) -> None:
        """Begin no more questions."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _enter(self) -> None:
        if self.under_way >= self._most:
            raise RequestRefused(503, "Busy", "Too many questions are waiting.", "Try again later.",
                                 {"Retry-After": "10"})  # fmt: skip
        self.under_way += 1


router = APIRouter()


async def _grant(request: Request) -> Grant:
    grant: Grant = request.scope["state"]["grant"]
    return grant


Caller = Annotated[Grant, Depends(_grant)]


def _door(request: Request, grant: Grant, scope: Scope) -> Door:
    """The caller's door, if its token has the scope."""
    need(grant, scope)
    chat: ChatEngine = request.app.state.chat
    return chat.seen_by(grant.audience)


async def _reading(request: Request, grant: Caller) -> Door:
    return _door(request, grant, "read")


async def _asking(request: Request, grant: Caller) -> Door:
    return _door(request, grant, "ask")


async def _owning(request: Request, grant: Caller) -> ChatEngine:
    need(grant, "ingest")  # which only tokens of the owner have
    chat: ChatEngine = request.app.state.chat
    return chat


Reading = Annotated[Door, Depends(_reading)]
Asking = Annotated[Door, Depends(_asking)]
Owning = Annotated[ChatEngine, Depends(_owning)]


# Questions


@router.post("/v1/search", tags=["questions"])
async def search(asked: SearchRequest, door: Reading, request: Request) -> JSONResponse:
    """The best passages, ranked: the JSON of `footnote search --json`."""
    threads: QuestionThreads = request.app.state.threads
    return JSONResponse(
        await threads.run(
            lambda: door.search(asked.question, filters=asked.filters, mode=asked.mode, top_n=asked.top_n),
            request.is_disconnected,
        )
    )


@router.post("/v1/ask", tags=["questions"], responses={200: {"content": {"application/json": {}, _EVENTS: {}}}})
async def ask(asked: AskRequest, door: Asking, request: Request) -> Any:
    """An answer whose every sentence is checked: the JSON of `footnote ask --json`, or events.

    The events are Preview (a quotation while a slow model reads), Token, Footnote, Verdict, and Answer, the last;
    Error in its place where the answer breaks off.
    """
    threads: QuestionThreads = request.app.state.threads
    if asked.stream or _EVENTS in request.headers.get("accept", ""):
        events = threads.stream(lambda: _events(door, asked))
        return await _streamed(events, lambda event: [_event(event, door)], request)

    def whole() -> tuple[Answer, dict[str, Any]]:
        answer = door.whole_answer(
            asked.question, history=asked.history, filters=asked.filters, follow_ups=asked.follow_ups
        )
        return answer, door.answer_data(answer)

    answer, data = await threads.run(whole, request.is_disconnected)
    request.app.state.metrics.answered(answer)
    return JSONResponse(data)


def _events(door: Door, asked: AskRequest) -> Iterator[Event]:
    for event in door.answer(asked.question, history=asked.history, filters=asked.filters):
        if isinstance(event, Answer) and asked.follow_ups:
            yield door.with_follow_ups(event, asked.history, asked.filters)
        else:
            yield event


def _event(event: Event, door: Door) -> str:
    return f"event: {type(event).__name__}\ndata: {json.dumps(door.event_data(event), ensure_ascii=False)}\n\n"


async def _streamed(events: AsyncIterator[Event], shown: Callable[[Event], Any], request: Request) -> StreamingResponse:
    """The events as they come; what fails before the first one has its own status."""
    first = await anext(events)
    audience = request.scope["state"]["grant"].audience

    async def body() -> AsyncIterator[str]:
        event = first
        try:
            while True:
                for piece in shown(event):
                    yield piece
                if isinstance(event, Answer):
                    request.app.state.metrics.answered(event)
                    return
                event = await anext(events)
        except FootnoteError as error:
            data = json.dumps(error_data(error, audience), ensure_ascii=False)
            yield f"event: Error\ndata: {data}\n\n"
        finally:
            await events.aclose()  # type: ignore[attr-defined]

    return StreamingResponse(body(), media_type=_EVENTS, headers={"Cache-Control": "no-store"})


@router.get("/v1/models", tags=["OpenAI"])
async def models(door: Asking) -> JSONResponse:
    """The one model, `footnote`."""
    return JSONResponse(model_list())


@router.post("/v1/chat/completions", tags=["OpenAI"])
async def chat_completions(asked: ChatRequest, door: Asking, request: Request) -> Any:
    """An answer as OpenAI's API has it, also streamed; citations are annotations, `footnote` is the whole Answer."""
    threads: QuestionThreads = request.app.state.threads
    question, history = asked.asked()
    if asked.stream:
        stream = CompletionStream(asked)

        def shown(event: Event) -> Iterator[str]:
            return stream.chunks(event, door.answer_data(event) if isinstance(event, Answer) else None)

        events = threads.stream(lambda: door.answer(question, history=history, filters=_NONE))
        return await _streamed(events, shown, request)

    def whole() -> tuple[Answer, dict[str, Any]]:
        answer = door.whole_answer(question, history=history, follow_ups=False)
        return answer, completion(answer, door.answer_data(answer))

    answer, data = await threads.run(whole, request.is_disconnected)
    request.app.state.metrics.answered(answer)
    return JSONResponse(data)


@router.post("/v1/feedback", tags=["questions"])
def feedback(given: FeedbackRequest, door: Asking, grant: Caller) -> JSONResponse:
    """Store a reader's feedback on an answer."""
    entry = Feedback(given.kind, given.value, given.source, given.words)
    door.feedback(given.trace_id, entry, f"api {given.session or grant.key}")
    return JSONResponse({"saved": True})


# Documents


@router.get("/v1/documents", tags=["documents"])
def documents(
    door: Reading,
    category: str = "",
    collection: str = "",
    first: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
) -> JSONResponse:
    """The stored documents by name."""
    return JSONResponse(door.listed(category=category, collection=collection, first=first, limit=limit))


@router.get("/v1/documents/{document}", tags=["documents"])
def document_text(
    document: str,
    door: Reading,
    start: Annotated[int, Query(ge=0)] = 0,
    end: Annotated[int | None, Query(ge=1)] = None,
    around: Annotated[int, Query(ge=0)] = 0,
) -> JSONResponse:
    """A document (by id, name or title) with its text, or with a span of it and the text around that."""
    return JSONResponse(door.read_source(document, start, end, around))


@router.get("/v1/facts", tags=["documents"])
def facts(door: Reading) -> JSONResponse:
    """Careers and projects that documents state: the JSON of `footnote facts --json`."""
    return JSONResponse(door.careers())


@router.post("/v1/documents", tags=["documents"], status_code=202)
def upload(files: Annotated[list[UploadFile], File()], chat: Owning) -> JSONResponse:
    """Take files in, as a job; a file of an earlier one's name replaces it."""
    job = chat.jobs.upload([(file.filename or "document", file.file.read()) for file in files])
    return JSONResponse({"job": job}, 202)


@router.delete("/v1/documents/{document}", tags=["documents"])
def remove(document: str, chat: Owning) -> JSONResponse:
    """Remove a document with all that was derived from it, as a run that `footnote rollback` undoes."""
    document_id = chat.find(document)
    chosen = [each for each in chat.shelf().documents if each.id == document_id]
    run_id = chat.remove(chosen)
    return JSONResponse({"run_id": run_id, "removed": [{"id": each.id, "document": each.name} for each in chosen]})


# Jobs


@router.post("/v1/ingest", tags=["jobs"], status_code=202)
def ingest(asked: IngestRequest, chat: Owning) -> JSONResponse:
    """Take a link in, or look at every known source again, as a job."""
    return JSONResponse({"job": chat.jobs.ingest(asked.location) if asked.location else chat.jobs.refresh()}, 202)


@router.get("/v1/ingest/{job}", tags=["jobs"])
def progress(job: int, chat: Owning) -> JSONResponse:
    """A job: its state, its files and the outcome of each."""
    return JSONResponse(chat.jobs.progress(job))


@router.delete("/v1/ingest/{job}", tags=["jobs"])
def cancel(job: int, chat: Owning) -> JSONResponse:
    """Stop a job after the documents that are under way."""
    chat.jobs.progress(job)  # refuses an unknown one
    chat.jobs.cancel(job)
    return JSONResponse(chat.jobs.progress(job))


@router.post("/v1/collections/{name}/reindex", tags=["jobs"], status_code=202)
def reindex(name: str, chat: Owning) -> JSONResponse:
    """Make the documents of a collection again where today's rules make other nodes, as a job."""
    known = sorted({document.collection for document in chat.shelf().documents})
    if name not in known:
        raise NotFound(f"There is no collection {name[:80]!r}.", hint=f"There are {', '.join(known) or 'none'}.")
    return JSONResponse({"job": chat.jobs.reindex(name)}, 202)


# The server


@router.get("/healthz", tags=["server"])
def health(request: Request) -> JSONResponse:
    """200 where questions can be answered; 503 without the database."""
    with reading(request.app.state.chat.database, "looking whether it answers") as connection:
        connection.execute(text("SELECT 1"))
    return JSONResponse({"status": "ok"})


@router.get("/metrics", tags=["server"])
async def metrics(request: Request) -> PlainTextResponse:
    """Requests, answers and verdicts since the server started, for Prometheus."""
    return PlainTextResponse(request.app.state.metrics.text(), media_type="text/plain; version=0.0.4")


@router.get("/widget.js", tags=["server"])
async def widget() -> FileResponse:
    """A question box for any page: `<footnote-ask>`."""
    return FileResponse(_WIDGET, media_type="text/javascript", headers={"Cache-Control": "max-age=3600"})


def build_server(chat: ChatEngine, default: Audience = "owner") -> Any:
    """The API over an engine, behind the tokens of its settings; without tokens callers are of the `default` audience.

    The engine is the owner's (`FOOTNOTE_CHAT__VISITOR` unset), and is closed with the server.
    """
    threads = QuestionThreads()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        threads.close()
        chat.close()

    app = FastAPI(
        title="Footnote", version=version("footnote"), lifespan=lifespan, docs_url=None, redoc_url=None,
        description="Answers whose every sentence is checked against its sources. Errors are "
        '`{"error": {"type", "message", "hint"}}`.',
    )  # fmt: skip
    app.include_router(router)
    app.state.chat, app.state.threads = chat, threads
    app.state.metrics = Metrics(lambda: threads.under_way)
    app.add_exception_handler(FootnoteError, _failed)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _bug)
    limits = {"/": _BODY, "/v1/documents": chat.settings.chat.max_upload_mb << 20}
    guarded = Guard(
        app, chat.settings.serve, unguarded=frozenset({"/healthz", "/widget.js"}), limits=limits, default=default
    )
    return app.state.metrics.around(guarded)


async def _failed(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, FootnoteError)
    return error_response(error, request.scope["state"]["grant"].audience)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"] if part != "body")
    said = f"{place}: {first['msg']}." if place else f"{first['msg']}."
    return error_response(RequestRefused(400, "InvalidRequest", said, "/openapi.json describes every request."))


async def _http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if isinstance(error, RequestRefused):
        return error_response(error)
    kind = {404: "NotFound", 405: "MethodNotAllowed"}.get(error.status_code, "InvalidRequest")
    said = f"{request.method} {request.url.path[:200]}: {error.detail}."
    refused = RequestRefused(error.status_code, kind, said, "/openapi.json describes every request.", error.headers)
    return error_response(refused)


async def _bug(request: Request, error: Exception) -> JSONResponse:
    log("error", "a request failed", path=request.url.path, error=f"{type(error).__name__}: {error}")
    return error_response(RequestRefused(500, "InternalError", "This is a fault of Footnote.", "Its log has more."))
