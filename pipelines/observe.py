"""OBSERVE: stage timers, and structured logs (rich on a terminal, JSON lines otherwise)."""

import json
import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_LOGGER = logging.getLogger("footnote")


class Timings:
    """Milliseconds by stage, in the order in which the stages began."""

    def __init__(self) -> None:
        self._ms: dict[str, float] = {}
        self._began = time.perf_counter()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time spent inside to `name`."""
        began = time.perf_counter()
        self._ms.setdefault(name, 0.0)
        try:
            yield
        finally:
            self._ms[name] += (time.perf_counter() - began) * 1000

    def as_dict(self) -> dict[str, float]:
        """Milliseconds by stage, and `total` since this object was made; 0.01 ms steps."""
        total = (time.perf_counter() - self._began) * 1000
        return {name: round(ms, 2) for name, ms in {**self._ms, "total": total}.items()}


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def configure_logging(level: str, style: str) -> None:
    """Send Footnote's logs to stderr: `rich` lines, or JSON lines; `auto` asks whether stderr is a terminal."""
    handler: logging.Handler
    if style == "rich" or (style == "auto" and sys.stderr.isatty()):
        from rich.console import Console
        from rich.logging import RichHandler

        handler = RichHandler(console=Console(stderr=True), show_path=False, markup=False)
        handler.setFormatter(_Fields("%(message)s"))
    else:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(_JsonLines())
    _LOGGER.handlers[:] = [handler]
    _LOGGER.setLevel(level.upper())
    _LOGGER.propagate = False


class _Fields(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = " ".join(f"{key}={value}" for key, value in getattr(record, "fields", {}).items())
        return f"{super().format(record)} {fields}".rstrip()


def log(level: str, event: str, /, **fields: Any) -> None:
    """Write one structured line: an event in a few words, and its facts."""
    _LOGGER.log(getattr(logging, level.upper()), event, extra={"fields": fields})


def log_failure(event: str, error: BaseException, /, **fields: Any) -> None:
    """Write an error as one warning line; its stack trace only at debug level."""
    _LOGGER.warning(event, extra={"fields": {**fields, "error": type(error).__name__, "message": str(error)}})
    _LOGGER.debug(event, exc_info=error, extra={"fields": fields})
