"""Chat completions as OpenAI's API has them: an answer as a message, its citations as annotations."""

import json
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from pydantic import BaseModel, ConfigDict

from app.wording import link, readable
from pipelines.answers import Answer, Footnote, Source, Token
from pipelines.errors import NotFound, RetrievalError
from pipelines.query.engine import Event
from pipelines.query.layout import spans_in
from pipelines.types import Turn

MODEL = "footnote"
_REFUSED = ("tools", "functions", "logprobs", "audio", "prediction", "web_search_options")  # would change the reply


class ChatMessage(BaseModel):
    """A message; `content` is a text, or parts of which each is one."""

    model_config = ConfigDict(extra="allow")

    role: str
    content: str | list[dict[str, Any]] | None = None

    @property
    def text(self) -> str:
        """The text of its parts."""
        parts = [{"text": self.content}] if isinstance(self.content, str) else self.content or []
        return "\n".join(str(part.get("text", "")) for part in parts)


class ChatRequest(BaseModel):
    """A request for a completion.

    The last message is the question, and the turns before it are its history. System messages, temperature and other
    numbers of a model have no effect: the rules of an answer are Footnote's.
    """

    model_config = ConfigDict(extra="allow")

    model: str = MODEL
    messages: list[ChatMessage]
    stream: bool = False
    n: int | None = None
    response_format: dict[str, Any] | None = None

    def asked(self) -> tuple[str, list[Turn]]:
        """(the question, the turns before it).

        Raises:
            NotFound: If another model is asked for.
            RetrievalError: If no question comes last, or the request asks for what is not done.
        """
        if self.model != MODEL:
            raise NotFound(f"There is no model {self.model[:80]!r}.", hint=f"The model is called {MODEL}.")
        refused = [name for name in _REFUSED if (self.model_extra or {}).get(name)]
        refused += ["n"] if (self.n or 1) > 1 else []
        refused += ["response_format"] if (self.response_format or {}).get("type", "text") != "text" else []
        if refused:
            raise RetrievalError(f"{', '.join(refused)} cannot be asked for.", hint="Leave them out.")
        spoken = [message for message in self.messages if message.role in ("user", "assistant")]
        if not spoken or spoken[-1].role != "user":
            raise RetrievalError("The last message is no question.", hint="Let a message of the user come last.")
        turns: list[Turn] = []
        for before, after in pairwise(spoken):
            if (before.role, after.role) == ("user", "assistant"):
                turns.append(Turn(before.text, after.text))
        return spoken[-1].text, turns


def model_list() -> dict[str, Any]:
    """The one model."""
    return {"object": "list", "data": [{"id": MODEL, "object": "model", "created": 0, "owned_by": MODEL}]}


def completion(answer: Answer, data: dict[str, Any]) -> dict[str, Any]:
    """An answer as a completion; `footnote` is the whole Answer, whose plain data are given."""
    message = {"role": "assistant", "content": answer.answer, "refusal": None,
               "annotations": annotations(answer.answer, answer)}  # fmt: skip
    choice = {"index": 0, "message": message, "finish_reason": _finish(answer), "logprobs": None}
    return {**_head(answer.trace_id, "chat.completion"), "choices": [choice], "usage": _usage(answer), "footnote": data}


class CompletionStream:
    """The chunks of a streamed completion, as server-sent events, from the events of an answer."""

    def __init__(self, request: ChatRequest) -> None:
        options = (request.model_extra or {}).get("stream_options")
        self._wants_usage = isinstance(options, dict) and bool(options.get("include_usage"))
        self._text, self._id = "", f"{time.time_ns():x}"

    def chunks(self, event: Event, data: dict[str, Any] | None = None) -> Iterator[str]:
        """The chunks for an event; the Answer, with its plain data, ends the stream."""
        match event:
            case Token() | Footnote():
                piece = event.text if isinstance(event, Token) else f" [{event.n}]"
                role = {} if self._text else {"role": "assistant"}
                self._text += piece
                yield self._chunk({**role, "content": piece})
            case Answer():
                delta = {"annotations": annotations(self._text, event)}
                yield self._chunk(delta, _finish(event), footnote=data)
                if self._wants_usage:
                    yield _sent({**_head(self._id, "chat.completion.chunk"), "choices": [], "usage": _usage(event)})
                yield "data: [DONE]\n\n"

    def _chunk(self, delta: dict[str, Any], finish: str | None = None, **more: Any) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return _sent({**_head(self._id, "chat.completion.chunk"), "choices": [choice], **more})


def annotations(text: str, answer: Answer) -> list[dict[str, Any]]:
    """A citation for each marker of the text: its place in the text, and the span that it cites with its verdict.

    A marker cites for the sentences before it, as far back as the marker before of the same source.
    """
    sources, made, done = {source.n: source for source in answer.sources}, [], dict[int, int]()
    starts = [start for start, _ in spans_in(text, [sentence.text for sentence in answer.sentences])]
    for n, start, stop in _markers(text, sources):
        source, before = sources[n], sum(0 <= each < start for each in starts)
        sentences = answer.sentences[done.get(n, 0) : before]
        evidence = [each for sentence in sentences for each in sentence.evidence if each.n == n]
        done[n] = before
        citation = {
            "start_index": start,
            "end_index": stop,
            "title": readable(source.title, source.documentName),
            "url": link(source, evidence) or f"footnote://documents/{source.document_id}",
            "document_id": source.document_id,
            "spans": [
                {"start": each.start, "end": each.end, "page": each.page, "quote": each.quote, "verdict": each.verdict}
                for each in evidence
            ],
        }
        made.append({"type": "url_citation", "url_citation": citation})
    return made


def _markers(text: str, sources: dict[int, Source]) -> Iterator[tuple[int, int, int]]:
    """(source, start, end) of each `[n]` of the text."""
    at = text.find("[")
    while at >= 0:
        end = text.find("]", at)
        inside = text[at + 1 : end]
        if inside.isdecimal() and int(inside) in sources:
            yield int(inside), at, end + 1
        at = text.find("[", at + 1)


def _head(number: str, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{number}", "object": kind, "created": int(time.time()), "model": MODEL}


def _finish(answer: Answer) -> str:
    return "length" if answer.truncated else "stop"


def _usage(answer: Answer) -> dict[str, int]:
    given: Sequence[int] = [answer.usage.get(name, 0) for name in ("prompt_tokens", "completion_tokens")]
    return {"prompt_tokens": given[0], "completion_tokens": given[1], "total_tokens": sum(given)}


def _sent(data: dict[str, Any]) -> str:
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n"
