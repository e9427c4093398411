"""A worker: an interpreter of its own that prepares documents, one after the other, until its parent is gone.

It is started as `python -m pipelines.ingestion.worker LINK LIFELINE PAGE` (see workers.py), three file descriptors.
Over LINK come pickled (Task, Options, or None for those that came last) and go ("log", level, event, fields) and, last
of each task, ("done", pickled Prepared | Failure, whether it stays). What a library prints cannot get between them.
Nothing ever comes over LIFELINE: its end is the parent's end, and the system then ends the worker, whatever code it is
in. PAGE says where it stands.
"""

import contextlib
import faulthandler
import fcntl
import logging
import os
import pickle
import resource
import select
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from pipelines.ingestion.whereabouts import Whereabouts

if TYPE_CHECKING:
    from pipelines.ingestion.prepare import Options, Task

MOST_BYTES = 256_000_000  # of a pickled result
_IDLE_SECONDS = 300.0
_FULL = 0.75  # of its memory: above it, at rest, a worker makes way for a new one


class Link:
    """The worker's end of the pipe; threads may say something at the same time."""

    def __init__(self, descriptor: int) -> None:
        self._connection: Connection = Connection(descriptor)
        self._lock = Lock()

    def say(self, *message: Any) -> None:
        """Send a message to the parent."""
        with self._lock:
            self._connection.send(message)

    def next(self) -> "tuple[Task, Options | None] | None":
        """The next task; None when the parent is gone, or has had none for five minutes."""
        try:
            return self._connection.recv() if self._connection.poll(_IDLE_SECONDS) else None
        except EOFError:
            return None


class _Forward(logging.Handler):
    """Sends Footnote's log lines to the parent, which knows where they go."""

    def __init__(self, link: Link) -> None:
        super().__init__()
        self._link = link

    def emit(self, record: logging.LogRecord) -> None:
        fields = {
            name: value if isinstance(value, str | int | float) else str(value)
            for name, value in getattr(record, "fields", {}).items()
        }
        if record.exc_info:
            fields["traceback"] = logging.Formatter().formatException(record.exc_info)
        self._link.say("log", record.levelname.lower(), record.getMessage(), fields)


def main(descriptor: int, lifeline: int, page: int) -> None:
    """Prepare what comes over the link until there is no more."""
    _live_as_long_as(lifeline)
    _settle()
    link, whereabouts = Link(descriptor), Whereabouts(page)
    logger = logging.getLogger("footnote")
    logger.addHandler(_Forward(link))
    logger.setLevel(logging.DEBUG)
    _warm_up()
    options: Options | None = None
    while job := link.next():
        task, options = job[0], job[1] or options
        assert options is not None
        payload, stays = answer(task, options, whereabouts.reach)
        link.say("done", payload, stays)
        if not stays:
            return


def answer(task: "Task", options: "Options", at: Callable[[str], None]) -> tuple[bytes, bool]:
    """(what came of the task, pickled; whether there is memory for another one); `at` is told each stage."""
    from pipelines.ingestion.failure import out_of_memory, too_large
    from pipelines.ingestion.prepare import prepare

    name, megabytes = task.item.name, options.limits.document_memory_mb
    _limit_memory(megabytes)
    try:
        payload = pickle.dumps(prepare(task, options, at))
    except MemoryError:
        payload = pickle.dumps(out_of_memory("parse", name, megabytes))
    if len(payload) > MOST_BYTES:
        payload = pickle.dumps(too_large(name, len(payload), MOST_BYTES))
    return payload, _held() < megabytes * 2**20 * _FULL  # what documents leave must not count against the next


def _live_as_long_as(lifeline: int) -> None:
    """End this process and what it started as soon as the other end of the lifeline is closed.

    The system sends SIGIO then, which ends a process that does not handle it; no code of ours needs to run, which a
    parser that never returns would keep from running.
    """
    with contextlib.suppress(OSError):
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    watch = select.poll()
    watch.register(lifeline, 0)
    if watch.poll(0):  # it was closed before the signal was asked for
        os._exit(0)


def _settle() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):  # which a service's end sends to all of its processes
        signal.signal(number, signal.SIG_IGN)  # the parent decides what they mean
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError):  # Linux, when memory runs out: rather this one than the database
        Path("/proc/self/oom_score_adj").write_text("500")


def _limit_memory(megabytes: int) -> None:
    """Let no more than so much memory be taken; macOS has no such limit."""
    if sys.platform == "darwin":
        return
    kind = getattr(resource, "RLIMIT_DATA", resource.RLIMIT_AS)
    most = resource.getrlimit(kind)[1]
    wanted = megabytes * 2**20
    resource.setrlimit(kind, (wanted if most == resource.RLIM_INFINITY else min(wanted, most), most))


def _held() -> int:
    """How many bytes count against the limit now; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", "rb", buffering=0) as told:
            return int(told.read().split()[5]) * resource.getpagesize()
    except OSError:
        return 0


def _warm_up() -> None:
    """Import what every document needs."""
    from pipelines.ingestion import prepare  # noqa: F401
    from pipelines.text import count_tokens

    count_tokens("warm")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
