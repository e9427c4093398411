"""WORKERS: the executors of this machine: worker processes, the pool of idle ones, and the threads that feed them."""

import atexit
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection, wait
from queue import SimpleQueue
from threading import Condition, Lock, Thread, current_thread
from typing import Any
from weakref import WeakSet

from config.settings import IngestionSettings
from pipelines.errors import ConfigError
from pipelines.ingestion.prepare import (
    PreparationFailure,
    PreparedDocument,
    PrepareOptions,
    Task,
    crashed,
    out_of_time,
    prepare,
)
from pipelines.ingestion.worker import PAGE_SIZE, ProgressPage
from pipelines.observe import log

COMMAND = (sys.executable, "-P", "-m", "pipelines.ingestion.worker")
HINT = "Repair the installation, or set FOOTNOTE_INGESTION__EXECUTOR=here."
QUEUE_AHEAD = 24  # documents that are queued or wait to be taken, beside those that are being prepared

PrepareResult = tuple[int, PreparedDocument | PreparationFailure]  # (the index given with the task, its outcome)
Executor = Callable[[Iterable[tuple[int, Task]], PrepareOptions], Iterator[PrepareResult]]

_MAX_WORKERS = 8
_MAX_WAITING_BYTES = 64_000_000  # of results not taken yet: above it no further document is begun
_ATTEMPTS = 3
_KILLS = (-signal.SIGKILL, -signal.SIGTERM)  # exit codes of a process that something else ended
_REAP_SECONDS = 5.0
_START_SECONDS = 120.0
_END_SECONDS = 5.0
_OUTPUT_TAIL, _LAST_READS = 4_000, 8
_KEPT_VARIABLES = frozenset(
    "PATH HOME LANG LANGUAGE TZ TMPDIR LD_LIBRARY_PATH DYLD_LIBRARY_PATH PYTHONHOME PYTHONUTF8 PYTHONDONTWRITEBYTECODE"
    " VIRTUAL_ENV XDG_CACHE_HOME OMP_NUM_THREADS OMP_THREAD_LIMIT TESSDATA_PREFIX DOCLING_ARTIFACTS_PATH".split()
)


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """The environment of a worker: what programs and libraries are found by, and no key or password.

    Its module path is that of this process.
    """
    kept = {name: value for name, value in given.items() if name in _KEPT_VARIABLES or name.startswith("LC_")}
    return {**kept, "PYTHONPATH": os.pathsep.join(os.path.abspath(path) for path in sys.path)}


class Worker:
    """A worker process as its parent sees it; one thread at a time may give it documents, any thread may stop it.

    Attributes:
        output: The end of what the process printed.
        closed: True if it can take no further document.
        killed: True if something else than this process ended it.
    """

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        ours, theirs = socket.socketpair()
        watched, self._lifeline = os.pipe()
        self._printed, printed = os.pipe()
        self._connection: Connection = Connection(ours.detach())
        self._sent_options: PrepareOptions | None = None
        self.output, self.closed, self.killed = b"", False, False
        with tempfile.TemporaryFile() as page:
            page.truncate(PAGE_SIZE)
            self._progress = ProgressPage(page.fileno())
            given = (theirs.fileno(), watched, page.fileno())
            try:
                self._process = subprocess.Popen(
                    [*command, *map(str, given)], env=environment(os.environ), cwd="/", stdin=subprocess.DEVNULL,
                    stdout=printed, stderr=printed, pass_fds=given, process_group=0,
                )  # fmt: skip
            except OSError:
                self._release()
                raise
            finally:
                theirs.close()
                os.close(watched)
                os.close(printed)

    @property
    def alive(self) -> bool:
        """True while the process is running."""
        return self._process.poll() is None

    def prepare(self, task: Task, options: PrepareOptions) -> bytes | PreparationFailure | None:
        """The pickled PreparedDocument, or why there is none; None if the worker did not begin.

        A worker that takes too long is stopped. Afterwards the worker may be closed.
        """
        name, seconds = task.item.name, options.limits.document_seconds
        self._progress.clear()
        try:
            self._connection.send((task, None if self._sent_options == options else options))
            self._sent_options = options
            return self._receive_result(seconds)
        except TimeoutError:
            stage = self._progress.stage
            self.close()
            return out_of_time(stage, name, seconds) if stage else None
        except (EOFError, OSError):
            stage = self._progress.stage
            code = self.close(_END_SECONDS)
            return crashed(stage, name, code, self.output.decode("utf-8", "replace")) if stage else None

    def _receive_result(self, seconds: float) -> bytes:
        """Wait for the result of the document; log what the worker logs meanwhile.

        Raises:
            TimeoutError: If the worker does not begin, or takes longer than so many seconds once it began.
            EOFError: If the worker is gone.
        """
        given = time.monotonic()
        while True:
            began = self._progress.began
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
        """Wait for the next message; keep what is printed meanwhile.

        Raises:
            TimeoutError: If there is none until then, by `time.monotonic`.
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
                self._read_output()

    def _read_output(self) -> None:
        """Read what was printed, and keep the end of it."""
        more = os.read(self._printed, 65_536)
        self.output = (self.output + more)[-_OUTPUT_TAIL:]
        if not more:
            os.close(self._printed)
            self._printed = -1

    def stop(self) -> None:
        """Kill the process and its children at once; the thread that waits for its result closes it."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def close(self, grace: float = 0.0) -> int:
        """End the process, after at most this many seconds in which it may end by itself; return its exit code."""
        with suppress(subprocess.TimeoutExpired):
            self.killed = self._process.wait(grace) in _KILLS
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)  # its children outlive it
        code = self._process.wait()
        for _ in range(_LAST_READS):
            if self._printed >= 0 and wait([self._printed], 0):
                self._read_output()
        self._release()
        return code

    def forget(self) -> None:
        """Release the descriptors in a forked process, which does not own the worker."""
        self._process.returncode = 0
        self._release()

    def _release(self) -> None:
        self.closed = True
        self._connection.close()
        self._progress.close()
        for descriptor in (self._lifeline, self._printed):
            if descriptor >= 0:
                os.close(descriptor)
        self._lifeline = self._printed = -1


class WorkerPool:
    """The idle workers of this process, kept for the next run; threads may share a pool."""

    def __init__(self, command: Sequence[str] = COMMAND, *, reap_seconds: float = _REAP_SECONDS) -> None:
        self.command = command
        self._reap_seconds = reap_seconds
        self._reaper: Thread | None = None
        self._lock = Lock()
        self._idle: list[Worker] = []
        self._all: WeakSet[Worker] = WeakSet()
        _POOLS.add(self)

    def take(self) -> Worker:
        """Take an idle worker, or start one.

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
        """Keep an idle worker."""
        with self._lock:
            self._idle.append(worker)
            if self._reaper is None:
                self._reaper = Thread(target=self._reap, name="worker reaper", daemon=True)
                self._reaper.start()

    def _reap(self) -> None:
        """Close idle workers that ended by themselves, which would stay as zombies; ends when none is idle."""
        while True:
            time.sleep(self._reap_seconds)
            with self._lock:
                if self._reaper is not current_thread():
                    return
                ended = [worker for worker in self._idle if not worker.alive]
                self._idle = [worker for worker in self._idle if worker not in ended]
                for worker in ended:
                    worker.close()
                if not self._idle:
                    self._reaper = None
                    return

    def close(self) -> None:
        """End every worker; a busy one is closed by the thread that gave it its document."""
        with self._lock:
            idle, self._idle = self._idle, []
            everyone = list(self._all)
        for worker in everyone:
            worker.stop()
        for worker in idle:
            worker.close()

    def forked(self) -> None:
        """Start empty in a forked process: the workers belong to its parent."""
        self._lock, self._idle, self._reaper = Lock(), [], None
        for worker in list(self._all):
            worker.forget()
        self._all = WeakSet()


_POOLS: WeakSet[WorkerPool] = WeakSet()


def _in_every_pool(method: str) -> None:
    for pool in list(_POOLS):
        getattr(pool, method)()


SHARED_POOL = WorkerPool()
atexit.register(_in_every_pool, "close")
os.register_at_fork(after_in_child=lambda: _in_every_pool("forked"))


class _WorkersKilled(Exception):
    """Workers start, and something else ends them before they begin: mostly a machine without memory left."""

    def __str__(self) -> str:
        return f"{_ATTEMPTS} workers were killed one after the other"

    def failure(self, task: Task) -> PreparationFailure:
        """The failure of a document that no worker was left for."""
        message = f"{task.item.name} was not begun: {self}, as a machine does that has no memory left."
        hint = "Run `footnote ingest --retry-failed` later, or set FOOTNOTE_INGESTION__WORKERS to fewer."
        return PreparationFailure("read", "LoadError", message, hint)


class Dispatcher:
    """Prepares documents in worker processes; each of its threads keeps one worker busy."""

    def __init__(self, most: int, pool: WorkerPool, options: PrepareOptions) -> None:
        self._most, self._pool, self._options = most, pool, options
        self._todo: SimpleQueue[tuple[int, Task] | None] = SimpleQueue()
        self._ready: SimpleQueue[tuple[int, bytes | PreparationFailure | Exception]] = SimpleQueue()
        self._changed = Condition()
        self._waiting_bytes = 0
        self._closed = False
        self._busy: set[Worker] = set()
        self._threads: list[Thread] = []
        self._working = 0

    def give(self, place: int, task: Task) -> None:
        """Queue a document."""
        self._todo.put((place, task))
        if len(self._threads) < self._most:
            thread = Thread(target=self._work, name=f"dispatcher {len(self._threads)}", daemon=True)
            self._threads.append(thread)
            with self._changed:
                self._working += 1
            thread.start()

    def take(self) -> tuple[int, PreparedDocument | PreparationFailure]:
        """Wait for the next result; they come in any order.

        Raises:
            ConfigError: If the workers do not start.
        """
        place, answer = self._ready.get()
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, PreparationFailure):
            return place, answer
        with self._changed:
            self._waiting_bytes -= len(answer)
            self._changed.notify_all()
        return place, pickle.loads(answer)  # noqa: S301 - our own worker made it

    def close(self) -> None:
        """Stop what is under way; idle workers stay in the pool."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            for worker in self._busy:
                worker.stop()
        for _ in self._threads:
            self._todo.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        """Give documents to a worker until there are no more, or its workers are killed and other threads are left."""
        worker: Worker | None = None
        while (job := self._todo.get()) is not None and self._may_begin():
            place, task = job
            answer: bytes | PreparationFailure | Exception
            try:
                worker, answer = self._prepare(task, worker)
            except _WorkersKilled as killed:
                with self._changed:
                    self._working -= 1
                    if self._working:
                        log("warning", "a worker fewer", reason=str(killed), left=self._working)
                        self._todo.put(job)
                        return
                    self._working += 1
                worker, answer = None, killed.failure(task)
            except Exception as error:  # noqa: BLE001 - it is raised by `take`
                answer = error
            with self._changed:
                self._waiting_bytes += len(answer) if isinstance(answer, bytes) else 0
            self._ready.put((place, answer))
        if worker is not None and not worker.closed:
            self._pool.give_back(worker)

    def _may_begin(self) -> bool:
        """Wait while too many results are waiting; True if another document may be begun."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._waiting_bytes < _MAX_WAITING_BYTES)
            return not self._closed

    def _prepare(self, task: Task, worker: Worker | None) -> tuple[Worker, bytes | PreparationFailure]:
        """Return the worker and its result; if a worker ends before it begins, another one is tried.

        Raises:
            ConfigError: If none begins.
            _WorkersKilled: If each of them was killed.
        """
        output, killed = "", 0
        for _ in range(_ATTEMPTS):
            worker = self._pool.take() if worker is None or worker.closed else worker
            answer = self._ask(worker, task)
            if answer is not None:
                return worker, answer
            if self._closed:  # the result is not taken, but the worker is kept
                return worker, PreparationFailure("read", "LoadError", f"{task.item.name} was not begun.")
            output = worker.output.decode("utf-8", "replace").strip() or output
            killed += worker.killed
        if killed == _ATTEMPTS:
            raise _WorkersKilled
        raise ConfigError(f"The processes that read documents do not start: {output[-500:]}", hint=HINT)

    def _ask(self, worker: Worker, task: Task) -> bytes | PreparationFailure | None:
        with self._changed:
            if self._closed:
                return None
            self._busy.add(worker)
        try:
            return worker.prepare(task, self._options)
        finally:
            with self._changed:
                self._busy.discard(worker)


def prepare_in_process(tasks: Iterable[tuple[int, Task]], options: PrepareOptions) -> Iterator[PrepareResult]:
    """Prepare each task in turn, in this process; a document that never ends cannot be stopped."""
    for place, task in tasks:
        yield place, prepare(task, options)


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """Prepares documents in worker processes, which are kept for the next run.

    Results come in any order, and at most `workers` + `QUEUE_AHEAD` documents are under way or wait to be taken.

    Attributes:
        workers: The number of documents that are prepared at a time.
        pool: Where the workers come from.
    """

    workers: int
    pool: WorkerPool = SHARED_POOL

    def __call__(self, tasks: Iterable[tuple[int, Task]], options: PrepareOptions) -> Iterator[PrepareResult]:
        """Yield each task's index and result; closing the generator stops what is under way.

        Raises:
            ConfigError: If the workers do not start.
        """
        left, under_way = iter(tasks), 0
        dispatcher = Dispatcher(self.workers, self.pool, options)
        try:
            while True:
                for place, task in islice(left, self.workers + QUEUE_AHEAD - under_way):
                    dispatcher.give(place, task)
                    under_way += 1
                if not under_way:
                    return
                done = dispatcher.take()
                under_way -= 1
                yield done
        finally:
            dispatcher.close()


def _local(settings: IngestionSettings) -> Executor:
    usable_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return LocalExecutor(settings.workers or min(usable_cores, _MAX_WORKERS))


EXECUTORS: dict[str, Callable[[IngestionSettings], Executor]] = {
    "local": _local,
    "here": lambda settings: prepare_in_process,
    "ray": _local,  # for previews; `ray_executor.py` executes the documents of a run
}


def build_executor(settings: IngestionSettings) -> Executor:
    """The executor of the settings, for documents that this machine prepares."""
    return EXECUTORS[settings.executor](settings)
