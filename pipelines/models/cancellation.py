"""End the requests of a thread from another thread. Without the libraries of a model, which take long to load."""

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from pipelines.observe import log


class Cancellation:
    """Ends the requests that a thread makes inside `cancelled_by`, from another thread.

    Their connections are shut down, so that the server sees it and stops, too.
    """

    def __init__(self) -> None:
        self.is_cancelled = False
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()

    def cancel(self) -> None:
        """Shut the connections down, those that are opened later as well."""
        with self._lock:
            self.is_cancelled = True
            for each in self._sockets:
                _shut(each)

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Note a connection; httpx calls this as the request's `trace`."""
        if not event.endswith(("connect_tcp.complete", "connect_unix_socket.complete", "start_tls.complete")):
            return
        opened = info["return_value"].get_extra_info("socket")
        with self._lock:
            self._sockets = [opened] if opened else []
            if self.is_cancelled and opened:
                _shut(opened)


def _shut(opened: socket.socket) -> None:
    try:
        socket.socket.shutdown(opened, socket.SHUT_RDWR)  # of the socket below TLS, which another thread reads
    except OSError:
        log("debug", "a connection was closed before it was cancelled")


_CANCELLATION: ContextVar[Cancellation | None] = ContextVar("cancellation", default=None)


@contextmanager
def cancelled_by(cancellation: Cancellation) -> Iterator[None]:
    """Let `cancellation` end the requests of cancellable clients inside the block."""
    before = _CANCELLATION.set(cancellation)
    try:
        yield
    finally:
        _CANCELLATION.reset(before)


def cancellation_now() -> Cancellation | None:
    """The cancellation that `cancelled_by` set for this thread; None outside its blocks."""
    return _CANCELLATION.get()
