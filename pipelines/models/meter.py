"""METER: the tokens that models read and write for one answer, however often they are asked."""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal, TypeVar

_Event = TypeVar("_Event")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Call:
    """A request to a model and its tokens; `estimated` where its server did not say how many they were."""

    kind: Literal["llm", "embedding"]
    read: int
    written: int = 0
    estimated: bool = False


class Meter:
    """Adds up the requests that are made while it counts (`metering`, `metered`)."""

    def __init__(self) -> None:
        self._calls: list[Callable[[], Call | None]] = []

    def add(self, call: Callable[[], Call | None]) -> None:
        """Count a request; it is asked for its tokens when the sum is taken, and is None when it came to nothing."""
        self._calls.append(call)

    def usage(self) -> dict[str, int]:
        """Tokens so far; empty when no model was asked.

        `prompt_tokens`, `completion_tokens` and `total_tokens` are the language model's, over `calls` requests;
        `embedding_tokens` are those of a remote embedding model. `estimated_tokens` says how many of all are estimates
        (cl100k), and is left out when none are.
        """
        calls = [call for call in (made() for made in tuple(self._calls)) if call is not None]
        said = [call for call in calls if call.kind == "llm"]
        read, written = sum(call.read for call in said), sum(call.written for call in said)
        embedded = sum(call.read for call in calls if call.kind == "embedding")
        estimated = sum(call.read + call.written for call in calls if call.estimated)
        usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
        return {
            **(usage | {"calls": len(said)} if said else {}),
            **({"embedding_tokens": embedded} if embedded else {}),
            **({"estimated_tokens": estimated} if estimated else {}),
        }


_METER: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def metering(meter: Meter) -> Iterator[None]:
    """Count what is asked inside on this meter."""
    before = _METER.set(meter)
    try:
        yield
    finally:
        _METER.reset(before)


def metered(meter: Meter, events: Generator[_Event, None, _Result]) -> Generator[_Event, None, _Result]:
    """The same events and result; what is asked to make them is counted, and nothing that is asked between them."""
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
    """Count a request on the meter that counts here, if one does."""
    meter = _METER.get()
    if meter is not None:
        meter.add(call)
