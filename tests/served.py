"""An ASGI application on loopback, by uvicorn in a thread, as long as `with` lasts."""

import socket
import threading
import time
from types import TracebackType
from typing import Any, Self

import uvicorn


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
