"""Worker processes as their parent sees them: started, given a document, stopped; and the pool of those at rest."""

import atexit
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from threading import Lock
from typing import Any
from weakref import WeakSet

from pipelines.errors import ConfigError
from pipelines.ingestion.failure import Failure, crashed, out_of_time
from pipelines.ingestion.prepare import Options, Task
from pipelines.ingestion.whereabouts import SIZE, Whereabouts
from pipelines.observe import log

COMMAND = (sys.executable, "-P", "-m", "pipelines.ingestion.worker")
HINT = "Mend the installation, or set FOOTNOTE_INGESTION__EXECUTOR=here."

_START_SECONDS = 120.0
_END_SECONDS = 5.0
_TAIL, _LAST_READS = 4_000, 8
_KEPT = frozenset(
    "PATH HOME LANG LANGUAGE TZ TMPDIR LD_LIBRARY_PATH DYLD_LIBRARY_PATH PYTHONHOME PYTHONUTF8 PYTHONDONTWRITEBYTECODE"
    " VIRTUAL_ENV XDG_CACHE_HOME OMP_NUM_THREADS OMP_THREAD_LIMIT TESSDATA_PREFIX DOCLING_ARTIFACTS_PATH".split()
)


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """The variables that a worker gets: what programs and libraries are found by, and no key or password.

    It looks for modules where this process does, which need not be where an interpreter looks by itself.
    """
    kept = {name: value for name, value in given.items() if name in _KEPT or name.startswith("LC_")}
    return {**kept, "PYTHONPATH": os.pathsep.join(os.path.abspath(path) for path in sys.path)}


class Worker:
    """A worker process; one thread at a time may give it documents, any thread may stop it.

    Attributes:
        said: The last that it, or a library in it, printed.
        closed: Whether it can be given no further document.
    """

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        ours, theirs = socket.socketpair()
        watched, self._lifeline = os.pipe()
        self._printed, printed = os.pipe()
        self._connection: Connection = Connection(ours.detach())
        self._told: Options | None = None
        self.said, self.closed = b"", False
        with tempfile.TemporaryFile() as page:
            page.truncate(SIZE)
            self._whereabouts = Whereabouts(page.fileno())
            given = (theirs.fileno(), watched, page.fileno())
            try:
                self._process = subprocess.Popen(
                    [*command, *map(str, given)], env=environment(os.environ), cwd="/", stdin=subprocess.DEVNULL,
                    stdout=printed, stderr=printed, pass_fds=given, process_group=0,
                )  # fmt: skip
            except OSError:
                self._let_go()
                raise
            finally:
                theirs.close()
                os.close(watched)
                os.close(printed)

    @property
    def alive(self) -> bool:
        """Whether the process is still there."""
        return self._process.poll() is None

    def prepare(self, task: Task, options: Options) -> bytes | Failure | None:
        """The pickled Prepared or Failure of a document, or why there is none; None if the worker did not begin.

        A worker that takes too long is stopped; afterwards it may be closed.
        """
        name, seconds = task.item.name, options.limits.document_seconds
        self._whereabouts.clear()
        try:
            self._connection.send((task, None if self._told == options else options))
            self._told = options
            return self._answer(seconds)
        except TimeoutError:
            stage = self._whereabouts.stage
            self.close()
            return out_of_time(stage, name, seconds) if stage else None
        except (EOFError, OSError):
            stage = self._whereabouts.stage
            code = self.close(_END_SECONDS)
            return crashed(stage, name, code, self.said.decode("utf-8", "replace")) if stage else None

    def _answer(self, seconds: float) -> bytes:
        """What came of the document; what the worker logs meanwhile is logged here.

        Raises:
            TimeoutError: If the worker does not begin, or takes longer than so many seconds from its beginning.
            EOFError: If the worker is gone.
        """
        given = time.monotonic()
        while True:
            began = self._whereabouts.began
            until = began + seconds if began else given + _START_SECONDS
            try:
                message = self._next(until if began else min(until, time.monotonic() + seconds))
            except TimeoutError:
                if not began and time.monotonic() < until:
                    continue
                raise
            match message:
                case ("log", level, event, fields):
                    log(level, event, **fields)
                case ("done", bytes(payload), stays):
                    if not stays:
                        self.close()
                    return payload

    def _next(self, until: float) -> Any:
        """The next message; what is printed meanwhile is kept.

        Raises:
            TimeoutError: If there is none until then, as `time.monotonic` counts.
            EOFError: If the worker is gone.
        """
        while True:
            left = until - time.monotonic()
            sources: list[Any] = [self._connection, *([self._printed] if self._printed >= 0 else [])]
            ready = wait(sources, max(left, 0))
            if self._connection in ready:
                return self._connection.recv()
            if left <= 0:
                raise TimeoutError
            if ready:
                self._hear()

    def _hear(self) -> None:
        """Keep the end of what was printed since."""
        more = os.read(self._printed, 65_536)
        self.said = (self.said + more)[-_TAIL:]
        if not more:
            os.close(self._printed)
            self._printed = -1

    def stop(self) -> None:
        """End the process and what it started, at once; its thread finds out, and closes it."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def close(self, patience: float = 0.0) -> int:
        """The exit code, after at most so many seconds in which it may end by itself."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)  # what it started lives on without it
        code = self._process.wait()
        for _ in range(_LAST_READS):
            if self._printed >= 0 and wait([self._printed], 0):
                self._hear()
        self._let_go()
        return code

    def forget(self) -> None:
        """Let go of it in a forked process, whose worker it is not."""
        self._process.returncode = 0
        self._let_go()

    def _let_go(self) -> None:
        self.closed = True
        self._connection.close()
        self._whereabouts.close()
        for descriptor in (self._lifeline, self._printed):
            if descriptor >= 0:
                os.close(descriptor)
        self._lifeline = self._printed = -1


class Pool:
    """The workers of this process that are at rest, kept for the next run; threads may share it."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        self.command = command
        self._lock = Lock()
        self._idle: list[Worker] = []
        self._all: WeakSet[Worker] = WeakSet()
        _POOLS.add(self)

    def take(self) -> Worker:
        """A worker that has nothing to do; a new one where there is none.

        Raises:
            ConfigError: If no process can be started.
        """
        with self._lock:
            while self._idle:
                worker = self._idle.pop()
                if worker.alive:
                    return worker
                worker.close()
        try:
            worker = Worker(self.command)
        except OSError as error:
            raise ConfigError(f"No worker process can be started: {error.strerror}.", hint=HINT) from error
        with self._lock:
            self._all.add(worker)
        return worker

    def give_back(self, worker: Worker) -> None:
        """Keep a worker that has nothing to do."""
        with self._lock:
            self._idle.append(worker)

    def close(self) -> None:
        """End every worker; those that are at work are closed by who gave them their document."""
        with self._lock:
            idle, self._idle = self._idle, []
            everyone = list(self._all)
        for worker in everyone:
            worker.stop()
        for worker in idle:
            worker.close()

    def forked(self) -> None:
        """Begin anew in a forked process: the workers are those of its parent."""
        self._lock, self._idle = Lock(), []
        for worker in list(self._all):
            worker.forget()
        self._all = WeakSet()


_POOLS: WeakSet[Pool] = WeakSet()


def _everywhere(do: str) -> None:
    for pool in list(_POOLS):
        getattr(pool, do)()


SHARED = Pool()
atexit.register(_everywhere, "close")
os.register_at_fork(after_in_child=lambda: _everywhere("forked"))
