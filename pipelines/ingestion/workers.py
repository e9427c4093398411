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
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Condition, Lock, Thread
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
from pipelines.ingestion.worker import STAGE_BYTES
from pipelines.observe import log

COMMAND = (sys.executable, "-P", "-m", "pipelines.ingestion.worker")
HINT = "Repair the installation, or set FOOTNOTE_INGESTION__EXECUTOR=here."
QUEUE_AHEAD = 24  # documents that are queued or wait to be taken, beside those that are being prepared

PrepareResult = tuple[int, PreparedDocument | PreparationFailure]  # (the index given with the task, its outcome)
PrepareResults = Generator[PrepareResult, None, None]
Executor = Callable[[Iterable[tuple[int, Task]], PrepareOptions], PrepareResults]

_MAX_WORKERS = 8
_MAX_WAITING_BYTES = 64_000_000  # of results not taken yet: above it no further document is begun
_ATTEMPTS = 3
_KILLS = (-signal.SIGKILL, -signal.SIGTERM)  # exit codes of a process that something else ended
_START_SECONDS = 120.0
_END_SECONDS = 5.0
_OUTPUT_TAIL = 4_000  # bytes
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
        output: The end of what the process printed; empty until it is closed.
        closed: True if it can take no further document.
        killed: True if something else than this process ended it.
    """

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        ours, theirs = socket.socketpair()
        watched, self._lifeline = os.pipe()
        self._connection: Connection = Connection(ours.detach())
        # `_release` closes both
        self._printed, self._reached = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115
        self._sent_options: PrepareOptions | None = None
        self._is_ready = False  # once it has imported what every document needs
        self.output, self.closed, self.killed = "", False, False
        given = (theirs.fileno(), watched, self._reached.fileno())
        try:
            self._process = subprocess.Popen(
                [*command, *map(str, given)], env=environment(os.environ), cwd="/", stdin=subprocess.DEVNULL,
                stdout=self._printed, stderr=self._printed, pass_fds=given, process_group=0,
            )  # fmt: skip
        except OSError:
            self._release()
            raise
        finally:
            theirs.close()
            os.close(watched)
        self._reaper = Thread(target=self._reap, name="worker reaper", daemon=True)
        self._reaper.start()

    @property
    def alive(self) -> bool:
        """True while the process is running."""
        return self._process.poll() is None

    @property
    def _stage(self) -> str:
        """The stage that the document has reached; empty where it was not begun."""
        return os.pread(self._reached.fileno(), STAGE_BYTES, 0).decode().strip()

    def prepare(self, task: Task, options: PrepareOptions) -> bytes | PreparationFailure | None:
        """The pickled PreparedDocument, or why there is none; None if the worker did not begin.

        A worker that takes too long is stopped. Afterwards the worker may be closed.
        """
        name, seconds = task.step.item.name, options.limits.document_seconds
        os.ftruncate(self._reached.fileno(), 0)
        try:
            self._connection.send((task, None if self._sent_options == options else options))
            self._sent_options = options
            return self._receive_result(seconds)
        except TimeoutError:
            stage = self._stage
            self.close()
            return out_of_time(stage, name, seconds) if stage else None
        except (EOFError, OSError):
            stage, code = self._stage, self.close(_END_SECONDS)
            return crashed(stage, name, code, self.output) if stage else None

    def _receive_result(self, seconds: float) -> bytes:
        """Wait for the result of the document; log what the worker logs meanwhile.

        Raises:
            TimeoutError: If the worker does not get ready, or takes longer than so many seconds once it is.
            EOFError: If the worker is gone.
        """
        until = time.monotonic() + (seconds if self._is_ready else _START_SECONDS)
        while self._connection.poll(max(until - time.monotonic(), 0.0)):
            match self._connection.recv():
                case ("ready",):
                    self._is_ready, until = True, time.monotonic() + seconds
                case ("log", level, event, fields):
                    log(level, event, **fields)
                case ("done", bytes(payload), stays):
                    if not stays:
                        self.close()
                    return payload
        raise TimeoutError

    def _reap(self) -> None:
        """Wait for the process, so that it leaves no zombie, and end its children."""
        self._process.wait()
        if not self.closed:  # else `close` did, and the number of the process may be another's by now
            self.stop()

    def stop(self) -> None:
        """Kill the process and its children at once; the thread that waits for its result closes it."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def close(self, grace: float = 0.0) -> int:
        """End the process, after at most this many seconds in which it may end by itself; return its exit code."""
        with suppress(subprocess.TimeoutExpired):
            self.killed = self._process.wait(grace) in _KILLS
        if self._reaper.is_alive():
            self.stop()
        code = self._process.wait()
        self._reaper.join()
        printed = self._printed.fileno()
        end = os.fstat(printed).st_size
        self.output = os.pread(printed, _OUTPUT_TAIL, max(end - _OUTPUT_TAIL, 0)).decode("utf-8", "replace")
        self._release()
        return code

    def forget(self) -> None:
        """Release the descriptors in a forked process, which does not own the worker."""
        self._process.returncode = 0
        self._release()

    def _release(self) -> None:
        if not self.closed:
            self.closed = True
            self._connection.close()
            self._printed.close()
            self._reached.close()
            os.close(self._lifeline)


class WorkerPool:
    """The idle workers of this process, kept for the next run; threads may share a pool."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        self.command = command
        self._lock = Lock()
        self._idle: list[Worker] = []
        self._all: WeakSet[Worker] = WeakSet()
        atexit.register(self.close)
        os.register_at_fork(after_in_child=self._forked)

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

    def close(self) -> None:
        """End the idle workers; a busy one ends with the run that gave it its document."""
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.close()

    def _forked(self) -> None:
        """Start empty in a forked process: the workers belong to its parent."""
        self._lock, self._idle = Lock(), []
        for worker in list(self._all):
            worker.forget()
        self._all = WeakSet()


SHARED_POOL = WorkerPool()


class _Dispatcher:
    """Prepares documents in worker processes, at most so many at a time."""

    def __init__(self, most: int, pool: WorkerPool, options: PrepareOptions) -> None:
        self._most, self._pool, self._options = most, pool, options
        self._ahead = most + QUEUE_AHEAD
        self._threads = ThreadPoolExecutor(most, "dispatcher")
        self._ready: SimpleQueue[tuple[int, Future[bytes | PreparationFailure]]] = SimpleQueue()
        self._changed = Condition()
        self._waiting_bytes = 0
        self._closed = False
        self._busy: set[Worker] = set()
        self._working = 0

    def results(self, tasks: Iterable[tuple[int, Task]]) -> Iterator[PrepareResult]:
        """Yield each task's index and result, in any order.

        Raises:
            ConfigError: If the workers do not start.
        """
        left, under_way = iter(tasks), 0
        while True:
            for place, task in islice(left, self._ahead - under_way):
                done = self._threads.submit(self._prepare, task)
                done.add_done_callback(partial(lambda place, done: self._ready.put((place, done)), place))
                under_way += 1
            if not under_way:
                return
            place, done = self._ready.get()
            under_way -= 1
            answer = done.result()
            if isinstance(answer, PreparationFailure):
                yield place, answer
                continue
            with self._changed:
                self._waiting_bytes -= len(answer)
                self._changed.notify_all()
            yield place, pickle.loads(answer)  # noqa: S301 - our own worker made it

    def close(self) -> None:
        """Stop what is under way; idle workers stay in the pool."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            for worker in self._busy:
                worker.stop()
        self._threads.shutdown(cancel_futures=True)

    def _prepare(self, task: Task) -> bytes | PreparationFailure:
        """Prepare a document once not too many results wait; where workers are killed, with one worker fewer.

        Raises:
            ConfigError: If the workers do not start.
        """
        name, attempts, killed, output = task.step.item.name, 0, 0, ""
        while True:
            with self._turn():
                worker = self._pool.take()
                try:
                    with self._changed:
                        self._assert_open()
                        self._busy.add(worker)
                    answer = worker.prepare(task, self._options)
                finally:
                    with self._changed:
                        self._busy.discard(worker)
                    if not worker.closed:
                        self._pool.give_back(worker)
                if answer is not None:
                    with self._changed:
                        self._waiting_bytes += len(answer) if isinstance(answer, bytes) else 0
                    return answer
            attempts, killed, output = attempts + 1, killed + worker.killed, worker.output.strip() or output
            if attempts < _ATTEMPTS:
                continue
            if killed < attempts:
                raise ConfigError(f"The processes that read documents do not start: {output[-500:]}", hint=HINT)
            reason, attempts, killed = f"{_ATTEMPTS} workers were killed one after the other", 0, 0
            with self._changed:
                if self._most == 1:
                    message = f"{name} was not begun: {reason}, as a machine does that has no memory left."
                    hint = "Run `footnote ingest --retry-failed` later, or set FOOTNOTE_INGESTION__WORKERS to fewer."
                    return PreparationFailure("read", "LoadError", message, hint)
                self._most -= 1
            log("warning", "a worker fewer", reason=reason, left=self._most)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait until few enough documents are under way and few enough bytes of results wait."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._closed or (self._working < self._most and self._waiting_bytes < _MAX_WAITING_BYTES)
            )
            self._assert_open()
            self._working += 1
        try:
            yield
        finally:
            with self._changed:
                self._working -= 1
                self._changed.notify_all()

    def _assert_open(self) -> None:
        if self._closed:  # no result is taken any more
            raise CancelledError


def prepare_in_process(tasks: Iterable[tuple[int, Task]], options: PrepareOptions) -> PrepareResults:
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

    def __call__(self, tasks: Iterable[tuple[int, Task]], options: PrepareOptions) -> PrepareResults:
        """Yield each task's index and result; closing the generator stops what is under way.

        Raises:
            ConfigError: If the workers do not start.
        """
        with closing(_Dispatcher(self.workers, self.pool, options)) as dispatcher:
            yield from dispatcher.results(tasks)


def build_executor(settings: IngestionSettings) -> Executor:
    """The executor of the settings, for documents that this machine prepares, such as those of a preview with Ray."""
    if settings.executor == "here":
        return prepare_in_process
    usable_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return LocalExecutor(settings.workers or min(usable_cores, _MAX_WORKERS))
