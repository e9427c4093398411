"""An ASGI application on loopback, by uvicorn in a thread, or `footnote serve`, as long as `with` lasts."""

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import httpx
import uvicorn

_UP = 60.0  # seconds until a server answers


class Served:
    """Serves an application on a free port of 127.0.0.1."""

    def __init__(self, app: Any) -> None:
        self._server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=2))
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()


@contextmanager
def footnote_served(environment: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """The address and the process id of `footnote serve` in this environment, once it answers."""
    command = [sys.executable, "-m", "footnote", "serve", "--port", "0"]
    with subprocess.Popen(command, env=dict(environment), stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            said = next(line for line in process.stderr if "http://" in line)
            threading.Thread(target=process.stderr.read, daemon=True).start()  # a full pipe would stop it
            url, until = said.split()[1], time.monotonic() + _UP
            while time.monotonic() < until:
                try:
                    httpx.get(f"{url}/healthz", timeout=5).raise_for_status()
                    break
                except httpx.HTTPError:
                    time.sleep(0.05)
            yield url, process.pid
        finally:
            process.terminate()
            process.wait(30)
