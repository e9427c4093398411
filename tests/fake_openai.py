"""A server on the loopback that speaks OpenAI's API: embeddings, chat, streams, and failures by script."""

import base64
import hashlib
import json
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, Literal

from tests.loopback import Loopback

Kind = Literal[
    "status", "garbage", "page", "count", "dimension", "nan", "shuffled", "empty", "cut", "drop", "slow", "error",
    "stall",
]  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one request.

    Attributes:
        kind: `status` answers with `status`; `garbage` with text that is not JSON, `page` with a web page; `count`,
            `dimension` and `nan` with wrong vectors; `shuffled` with the right vectors in another order; `empty` with
            a completion without words; `cut` ends a stream cleanly after `after` pieces, `drop` breaks the connection
            there, `error` sends an error in the stream there, `stall` waits `seconds` there; `slow` waits them first.
        retry_after: The header of that name, for `status`.
        message: What the error says; `{key}` stands for the key that the client sent.
    """

    kind: Kind
    status: int = 500
    retry_after: str = ""
    message: str = "scripted failure"
    code: str = ""
    after: int = 1
    seconds: float = 1.0
    texts: int = 0  # the least to embed of a request that meets it; those of fewer succeed meanwhile


@dataclass(frozen=True)
class Request:
    """A request as it arrived; the names of its headers are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


@dataclass
class FakeOpenAI(Loopback):
    """An OpenAI-compatible server; `with FakeOpenAI() as server:` listens at `server.url`.

    Attributes:
        dimension: Length of the vectors, unless a request asks for `dimensions`.
        reply: What the chat model says, or a function of the request's body that says it.
        letters: Whether it is streamed letter by letter, else word by word.
        pause: Seconds before each piece of a stream.
        models: What `/v1/models` lists.
        props: What llama.cpp's `/props` says; none = another server.
        broken: Set when a client goes away before the end of a stream.
        faults: One is taken from the left for each request; without any left, requests succeed.
        requests: Every request so far.
    """

    dimension: int = 1536
    reply: str | Callable[[Mapping[str, Any]], str] = "Ann joined Acme in 2021 [1]."
    letters: bool = False
    finish_reason: str = "stop"
    pause: float = 0.0
    models: list[dict[str, Any]] = field(default_factory=lambda: [{"id": "fake"}])
    props: dict[str, Any] = field(default_factory=dict)
    broken: threading.Event = field(default_factory=threading.Event)
    faults: deque[Fault] = field(default_factory=deque)
    requests: list[Request] = field(default_factory=list)

    def handled_by(self) -> type[BaseHTTPRequestHandler]:
        return _Handler

    @property
    def url(self) -> str:
        """The base address, for `api_base`."""
        return f"http://127.0.0.1:{self.port}/v1"

    def fail(self, *faults: Fault) -> None:
        """Script what the next requests meet."""
        self.faults.extend(faults)


def vector(text: str, dimension: int) -> list[float]:
    """The vector that the server gives a text: from its hash alone."""
    stream = hashlib.shake_128(text.encode()).digest(dimension)
    return [byte / 255 - 0.5 for byte in stream]


class _Handler(BaseHTTPRequestHandler):
    fake: FakeOpenAI
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        known = {"/v1/models": {"object": "list", "data": self.fake.models}, "/props": self.fake.props}
        found = known.get(self.path)
        self._json(200 if found else 404, found or {"error": {"message": "File Not Found", "code": 404}})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.fake.requests.append(Request(self.path, headers, body))
        faults = self.fake.faults
        waits = faults and faults[0] and len(body.get("input", ())) < faults[0].texts
        fault = faults.popleft() if faults and not waits else None
        kind = fault.kind if fault else ""
        if fault and kind == "slow":
            time.sleep(fault.seconds)
        if fault and kind == "status":
            self._refuse(fault)
        elif kind in ("garbage", "page"):
            self._send(200, b"<html>It works!</html>", "text/html" if kind == "page" else "application/json")
        elif self.path.endswith("/embeddings"):
            self._json(200, _embeddings(self.fake, body, kind))
        elif body.get("stream"):
            try:
                self._stream(_chunks(self.fake, body, kind), fault)
            except OSError:
                self.close_connection = True
                self.fake.broken.set()
        else:
            self._json(200, _chat(self.fake, body, kind))

    def _refuse(self, fault: Fault) -> None:
        key = self.headers.get("authorization", "").removeprefix("Bearer ")
        error = {"message": fault.message.replace("{key}", key), "type": "scripted", "code": fault.code or None}
        headers = {"Retry-After": fault.retry_after} if fault.retry_after else {}
        self._json(fault.status, {"error": error}, headers)

    def _json(self, status: int, value: object, headers: Mapping[str, str] | None = None) -> None:
        self._send(status, json.dumps(value).encode(), "application/json", headers)

    def _send(self, status: int, payload: bytes, mime: str, headers: Mapping[str, str] | None = None) -> None:
        try:
            self.send_response(status)
            for name, value in {"Content-Type": mime, "Content-Length": str(len(payload)), **(headers or {})}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(payload)
        except OSError:
            self.close_connection = True

    def _stream(self, chunks: Iterator[object], fault: Fault | None) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for index, chunk in enumerate(chunks):
            if fault and fault.kind in ("cut", "drop", "error") and index == fault.after:
                if fault.kind == "drop":
                    self.close_connection = True
                    return
                if fault.kind == "error":
                    self._event(json.dumps({"error": {"message": fault.message, "code": 502}}))
                break
            time.sleep(fault.seconds if fault and fault.kind == "stall" and index == fault.after else self.fake.pause)
            self._event(json.dumps(chunk))
        else:
            self._event("[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def _event(self, data: str) -> None:
        payload = f"data: {data}\n\n".encode()
        self.wfile.write(f"{len(payload):x}\r\n".encode() + payload + b"\r\n")


def _embeddings(fake: FakeOpenAI, body: Mapping[str, Any], kind: str) -> dict[str, Any]:
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    dimension = (body.get("dimensions") or fake.dimension) + (1 if kind == "dimension" else 0)
    vectors = [vector(text, dimension) for text in texts]
    if kind == "nan":
        vectors[-1][0] = float("nan")
    coded: list[Any] = list(vectors)
    if body.get("encoding_format") == "base64":
        coded = [base64.b64encode(struct.pack(f"<{dimension}f", *numbers)).decode() for numbers in vectors]
    data = [{"object": "embedding", "index": index, "embedding": numbers} for index, numbers in enumerate(coded)]
    if kind == "count":
        data.pop()
    if kind == "shuffled":
        data.reverse()
    usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
    return {"object": "list", "data": data, "model": body["model"], "usage": usage}


def _words(fake: FakeOpenAI, body: Mapping[str, Any], kind: str) -> list[str]:
    if kind == "empty":
        return []
    reply = fake.reply(body) if callable(fake.reply) else fake.reply
    if fake.letters:
        return list(reply)
    first, *rest = reply.split(" ")
    return [first, *(f" {word}" for word in rest)]


def _usage(words: list[str]) -> dict[str, int]:
    return {"prompt_tokens": 7, "completion_tokens": len(words), "total_tokens": 7 + len(words)}


def _chat(fake: FakeOpenAI, body: Mapping[str, Any], kind: str) -> dict[str, Any]:
    words = _words(fake, body, kind)
    message = {"role": "assistant", "content": "".join(words)}
    choice = {"index": 0, "message": message, "finish_reason": fake.finish_reason}
    head = {"id": "chat-1", "object": "chat.completion", "created": 0, "model": body["model"]}
    return {**head, "choices": [choice], "usage": _usage(words)}


def _chunks(fake: FakeOpenAI, body: Mapping[str, Any], kind: str) -> Iterator[dict[str, Any]]:
    head = {"id": "chat-1", "object": "chat.completion.chunk", "created": 0, "model": body["model"]}
    words = _words(fake, body, kind)
    for word in words:
        delta = {"role": "assistant", "content": word}
        yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": fake.finish_reason}]}
    if body.get("stream_options", {}).get("include_usage"):
        yield {**head, "choices": [], "usage": _usage(words)}
