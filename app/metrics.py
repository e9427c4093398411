"""Counts and times of a server in the text format of Prometheus."""

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from pipelines.answers import Answer

_BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)  # seconds
_Labels = tuple[tuple[str, str], ...]


class Metrics:
    """The work of a server since it started; safe to share between threads."""

    def __init__(self, under_way: Callable[[], int]) -> None:
        self._lock, self._under_way = threading.Lock(), under_way
        self._counts: dict[str, Counter[_Labels]] = defaultdict(Counter)
        self._seconds: dict[str, Counter[float]] = defaultdict(Counter)  # by route, at most so many seconds
        self._sums: Counter[str] = Counter()

    def answered(self, answer: Answer) -> None:
        """Count an answer and the verdicts of its sentences."""
        with self._lock:
            self._counts["footnote_answers_total"][
                ("answered", str(answer.answered).lower()), ("mode", answer.mode)
            ] += 1
            for sentence in answer.sentences:
                self._counts["footnote_sentences_total"][(("verdict", sentence.verdict),)] += 1

    def requested(self, route: str, status: int, seconds: float) -> None:
        """Count a request and its time."""
        with self._lock:
            self._counts["footnote_requests_total"][("route", route), ("status", str(status))] += 1
            self._seconds[route].update(bound for bound in (*_BOUNDS, float("inf")) if seconds <= bound)
            self._sums[route] += seconds  # type: ignore[assignment]

    def text(self) -> str:
        """All of it, one series a line."""
        with self._lock:
            return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield "# TYPE footnote_questions_under_way gauge"
        yield f"footnote_questions_under_way {self._under_way()}"
        for name, counts in sorted(self._counts.items()):
            yield f"# TYPE {name} counter"
            yield from (f"{name}{_labelled(labels)} {count}" for labels, count in sorted(counts.items()))
        name = "footnote_request_seconds"
        yield f"# TYPE {name} histogram"
        for route, reached in sorted(self._seconds.items()):
            for bound in (*_BOUNDS, float("inf")):
                shown = "+Inf" if bound == float("inf") else str(bound)
                yield f"{name}_bucket{_labelled((('route', route), ('le', shown)))} {reached[bound]}"
            yield f"{name}_sum{_labelled((('route', route),))} {self._sums[route]:.6f}"
            yield f"{name}_count{_labelled((('route', route),))} {reached[float('inf')]}"

    def around(self, app: Any) -> Any:
        """The application with every request counted under its route, a refused one under none."""

        async def counted(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            began, status = time.perf_counter(), 500

            async def noted(message: Any) -> None:
                nonlocal status
                status = message.get("status", status)
                await send(message)

            try:
                await app(scope, receive, noted)
            finally:
                route = getattr(scope.get("route"), "path", "")
                self.requested(f"{scope['method']} {route}".rstrip(), status, time.perf_counter() - began)

        return counted


def _labelled(labels: _Labels) -> str:
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels) + "}"
