"""WORKER: a separate interpreter that prepares documents one by one until its parent ends.

It is started as `python -m pipelines.ingestion.worker LINK LIFELINE STAGE` (see workers.py), three file descriptors.
Over LINK come pickled (Task, PrepareOptions, or None for those that came last) and go ("ready",) once,
("log", level, event, fields), and, last of each task, ("done", pickled PreparedDocument | Failure, whether the worker
stays). What a library prints cannot get between them. Nothing ever comes over LIFELINE: when the parent ends, the
system closes it and ends the worker, whatever code it is running. STAGE is a file that holds the name of the stage that
a task has reached, which the parent reads where no result comes: a message would wake it for each.
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

from pipelines.loading import loading

if TYPE_CHECKING:
    from pipelines.ingestion.prepare import PrepareOptions, Task

STAGE_BYTES = 5  # of the longest name of a stage
MAX_RESULT_BYTES = 256_000_000  # of a pickled result
_MAX_FILE_BYTES = 2**30  # of a file that it writes, what it prints included
_IDLE_SECONDS = 300.0
_FULL = 0.75  # share of its memory limit: a worker that holds more after a document is replaced


class WorkerPipe(logging.Handler):
    """The worker's end of the pipe, on which several threads may send, and the handler that sends log records."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._connection: Connection = Connection(descriptor)
        self._sending = Lock()

    def send(self, *message: Any) -> None:
        """Send a message to the parent."""
        with self._sending:
            self._connection.send(message)

    def next(self) -> "tuple[Task, PrepareOptions | None] | None":
        """The next task; None if the parent is gone, or sent none for five minutes."""
        try:
            return self._connection.recv() if self._connection.poll(_IDLE_SECONDS) else None
        except EOFError:
            return None

    def emit(self, record: logging.LogRecord) -> None:
        """Send a log record to the parent, which handles it."""
        fields = {
            name: value if isinstance(value, str | int | float) else str(value)
            for name, value in getattr(record, "fields", {}).items()
        }
        if record.exc_info:
            fields["traceback"] = logging.Formatter().formatException(record.exc_info)
        self.send("log", record.levelname.lower(), record.getMessage(), fields)


def main(descriptor: int, lifeline: int, stage: int) -> None:
    """Prepare the documents that arrive over the link until it closes."""
    _die_with_parent(lifeline)
    _configure_process()
    link = WorkerPipe(descriptor)
    logger = logging.getLogger("footnote")
    logger.addHandler(link)
    logger.setLevel(logging.DEBUG)

    with loading():
        from pipelines.ingestion import prepare  # noqa: F401 - what every document needs, before the first one arrives
        from pipelines.text import count_tokens

        count_tokens("warm")
    link.send("ready")
    options: PrepareOptions | None = None
    while job := link.next():
        task, options = job[0], job[1] or options
        assert options is not None
        payload, stays = answer(task, options, lambda name: os.pwrite(stage, name.ljust(STAGE_BYTES).encode(), 0))
        link.send("done", payload, stays)
        if not stays:
            return


def answer(task: "Task", options: "PrepareOptions", at: Callable[[str], object]) -> tuple[bytes, bool]:
    """Prepare a document; return the pickled result, and whether there is memory for another document.

    `at` is called with each stage.
    """
    from pipelines.ingestion.prepare import out_of_memory, prepare, too_large

    name, megabytes = task.step.item.name, options.limits.document_memory_mb
    _limit_memory(megabytes)
    try:
        payload = pickle.dumps(prepare(task, options, at))
    except MemoryError:
        payload = pickle.dumps(out_of_memory("parse", name, megabytes))
    if len(payload) > MAX_RESULT_BYTES:
        payload = pickle.dumps(too_large(name, len(payload), MAX_RESULT_BYTES))
    return payload, _memory_in_use() < megabytes * 2**20 * _FULL  # leftovers must not count against the next


def _die_with_parent(lifeline: int) -> None:
    """End this process and its children as soon as the other end of the lifeline is closed.

    The system then sends SIGIO, which ends a process that does not handle it. No Python code has to run, so this works
    even inside a parser that never returns.
    """
    with contextlib.suppress(OSError):
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    watch = select.poll()
    watch.register(lifeline, 0)
    if watch.poll(0):  # it was closed before the signal was set up
        os._exit(0)


def _configure_process() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):  # a service manager sends these to all processes
        signal.signal(number, signal.SIG_IGN)  # the parent decides what they mean
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MAX_FILE_BYTES, _MAX_FILE_BYTES))
    with contextlib.suppress(OSError):  # Linux, out of memory: kill this one before the database
        Path("/proc/self/oom_score_adj").write_text("500")


def _limit_memory(megabytes: int) -> None:
    """Limit the memory of this process; macOS has no such limit."""
    if sys.platform == "darwin":
        return
    kind = getattr(resource, "RLIMIT_DATA", resource.RLIMIT_AS)
    most = resource.getrlimit(kind)[1]
    wanted = megabytes * 2**20
    resource.setrlimit(kind, (wanted if most == resource.RLIM_INFINITY else min(wanted, most), most))


def _memory_in_use() -> int:
    """The bytes that count against the limit now; 0 if the system does not tell."""
    try:
        with open("/proc/self/statm", "rb", buffering=0) as statm:
            return int(statm.read().split()[5]) * resource.getpagesize()
    except OSError:
        return 0


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
