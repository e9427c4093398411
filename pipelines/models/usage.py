"""Token usage of models: count it for one answer, price it, and learn how an endpoint counts prompt tokens."""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from ipaddress import ip_address
from threading import Lock
from typing import Literal, TypeVar
from urllib.parse import urlsplit

from config.settings import Settings
from pipelines.models.identity import LLMIdentity, llm_identity
from pipelines.types import EmbeddingIdentity

_Event = TypeVar("_Event")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Call:
    """A request to a model and its tokens; `estimated` if the server did not report them."""

    kind: Literal["llm", "embedding"]
    read: int
    written: int = 0
    estimated: bool = False


class Meter:
    """Sum of the requests made inside `metering` or `metered`."""

    def __init__(self) -> None:
        self._calls: list[Callable[[], Call | None]] = []

    def add(self, call: Callable[[], Call | None]) -> None:
        """Add a request; `call` is evaluated when the sum is taken, and returns None if the request failed."""
        self._calls.append(call)

    def usage(self) -> dict[str, int]:
        """Tokens so far; empty if no model was called.

        `prompt_tokens`, `completion_tokens` and `total_tokens` are the language model's, over `calls` requests;
        `embedding_tokens` are those of a remote embedding model. `estimated_tokens` says how many of all are estimates
        (cl100k), and is left out when none are.
        """
        calls = [call for call in (made() for made in tuple(self._calls)) if call is not None]
        replies = [call for call in calls if call.kind == "llm"]
        read, written = sum(call.read for call in replies), sum(call.written for call in replies)
        embedded = sum(call.read for call in calls if call.kind == "embedding")
        estimated = sum(call.read + call.written for call in calls if call.estimated)
        usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
        return {
            **(usage | {"calls": len(replies)} if replies else {}),
            **({"embedding_tokens": embedded} if embedded else {}),
            **({"estimated_tokens": estimated} if estimated else {}),
        }


_METER: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def metering(meter: Meter) -> Iterator[None]:
    """Count requests inside the block on this meter."""
    before = _METER.set(meter)
    try:
        yield
    finally:
        _METER.reset(before)


def metered(meter: Meter, events: Generator[_Event, None, _Result]) -> Generator[_Event, None, _Result]:
    """Yield the same events and return the same result; count only the requests made by the generator itself."""
    try:
        while True:
            with metering(meter):
                try:
                    event = next(events)
                except StopIteration as end:
                    result: _Result = end.value
                    return result
            yield event
    finally:
        events.close()


def count(call: Callable[[], Call | None]) -> None:
    """Count a request on the current meter, if there is one."""
    meter = _METER.get()
    if meter is not None:
        meter.add(call)


PRICES = {"text-embedding-3-small": 0.02, "text-embedding-3-large": 0.13, "text-embedding-ada-002": 0.10}


def embedding_price(model: EmbeddingIdentity, stated: float = 0.0) -> float | None:
    """US dollars per million tokens: 0 for a local model, else `stated`, else the known price, else None."""
    if model.provider in ("local", "hashed"):
        return 0.0
    return stated or PRICES.get(model.model.rsplit("/", 1)[-1])


def llm_price(model: LLMIdentity | None, stated: float = 0.0) -> float | None:
    """US dollars per million tokens: `stated`, else 0 for no model or a `:free` one, else None."""
    if model is None or (not stated and model.model.endswith(":free")):
        return 0.0
    return stated or None


def cost(tokens: int, price: float | None) -> float | None:
    """US dollars for these tokens, rounded to a millionth; 0 for no tokens, None for an unknown price."""
    if not tokens:
        return 0.0
    return None if price is None else round(tokens * price / 1_000_000, 6)


def answer_cost(usage: Mapping[str, int], settings: Settings, embedding: EmbeddingIdentity) -> float | None:
    """US dollars for an answer's tokens (`Meter.usage`), rounded to a billionth; None if a price is unknown.

    0 if no model was called, or only local ones. Completion tokens cost `completion_price`, else the prompt price.
    """
    asked = settings.llm
    read = asked.price if _is_here(settings) else llm_price(llm_identity(settings), asked.price)
    written = asked.completion_price or read
    priced = [
        (usage.get("prompt_tokens", 0), read),
        (usage.get("completion_tokens", 0), written),
        (usage.get("embedding_tokens", 0), embedding_price(embedding, settings.embedding.price)),
    ]
    total = 0.0
    for tokens, price in priced:
        if tokens and price is None:
            return None
        total += tokens * (price or 0.0) / 1_000_000
    return round(total, 9)


def _is_here(settings: Settings) -> bool:
    """True if the language model's server is on this machine."""
    llm = llm_identity(settings)
    return llm is not None and llm.provider == "openai" and is_here(settings.llm.api_base or settings.openai_api_base)


def is_here(url: str) -> bool:
    """True if an address is of this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


_DECAY = 0.9  # weight of an earlier request, against 1 for the next one
_HEADROOM = 1.05  # texts differ
_UNREPORTED = 1.15  # for a tokeniser that is not cl100k
_LEAST, _MOST = 0.5, 4.0  # plausible ratios
_SHORT = 200  # tokens; in a shorter prompt the endpoint's additions dominate


@dataclass(frozen=True, slots=True)
class _Seen:
    reported: float
    counted: float


_seen: dict[str, _Seen] = {}
_lock = Lock()


def record_token_counts(model: str, *, counted: int, reported: int) -> None:
    """Record a request's prompt tokens by our count and by the endpoint's; implausible and short ones are ignored."""
    if counted <= _SHORT or not _LEAST <= reported / counted <= _MOST:
        return
    with _lock:
        before = _seen.get(model, _Seen(0.0, 0.0))
        _seen[model] = _Seen(_DECAY * before.reported + reported, _DECAY * before.counted + counted)


def token_margin(model: str) -> float:
    """Endpoint tokens per token of ours for a model, with 5 % headroom; 1.15 before it has reported any."""
    seen = _seen.get(model)
    return _HEADROOM * seen.reported / seen.counted if seen else _UNREPORTED
