"""A child of this warm process that does one thing and dies: by itself, or by what was done to it."""

import json
import os
import select
import signal
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_LONGEST = 120.0  # seconds; a child that takes longer hangs


@dataclass(frozen=True)
class Ended:
    """How a child ended.

    Attributes:
        killed: Whether SIGKILL ended it.
        value: What it returned, through JSON; None when it raised or was killed.
        error: The class and the text of what it raised; empty without.
        exit_code: That the command line would have given that error.
        seconds: How long it lived.
        hit: Whether it was hurt; a run whose threads take turns otherwise may not come by the point.
    """

    killed: bool
    value: Any
    error: str
    exit_code: int
    seconds: float
    hit: bool = True

    @property
    def how(self) -> str:
        """In a word: `killed`, `done`, the exit code, or `not hurt`."""
        return (
            "killed" if self.killed else f"exit {self.exit_code}" if self.error else "done" if self.hit else "not hurt"
        )


def in_child(do: Callable[[], Any], *, kill_after: float | None = None) -> Ended:
    """Do this in a fork of this process, which is killed after this many seconds if it lives that long.

    Nothing that the parent has open may be used in it: it makes its own connections.
    """
    began = time.monotonic()
    answer, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of 3.12: the parent's threads are idle
        number = os.fork()
    if not number:
        os.close(answer)
        _live(do, write)
    os.close(write)
    try:
        said = _hear(answer, began + (kill_after if kill_after is not None else _LONGEST))
        if said is None:
            os.kill(number, signal.SIGKILL)
    finally:
        os.close(answer)
        status = os.waitpid(number, 0)[1]
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    assert killed or os.WIFEXITED(status), f"the child ended with {status}"
    assert not (said is None and kill_after is None), "the child hangs"
    told = json.loads(said) if said else {}
    return Ended(killed, told.get("value"), told.get("error", ""), told.get("exit_code", 0), time.monotonic() - began)


def _hear(answer: int, until: float) -> bytes | None:
    """All that the child says; None when it is still silent at that time."""
    said = b""
    while True:
        ready, _, _ = select.select([answer], [], [], max(until - time.monotonic(), 0))
        if not ready:
            return None
        part = os.read(answer, 1 << 16)
        if not part:
            return said
        said += part


def _live(do: Callable[[], Any], write: int) -> None:
    from app.cli import exit_code
    from pipelines.errors import FootnoteError

    said: dict[str, Any]
    try:
        said = {"value": do()}
    except FootnoteError as error:
        said = {"error": f"{type(error).__name__}: {error}", "exit_code": exit_code(error)}
    except BaseException as error:  # noqa: BLE001 - whatever it is, the parent is to hear of it
        said = {"error": f"{type(error).__name__}: {error}", "exit_code": 1}
    with os.fdopen(write, "w") as pipe:
        json.dump(said, pipe)
    os._exit(0)
