"""The threads that keep workers busy while the caller embeds and stores what they made."""

import pickle
from queue import SimpleQueue
from threading import Condition, Thread

from pipelines.errors import ConfigError
from pipelines.ingestion.failure import Failure
from pipelines.ingestion.prepare import Options, Prepared, Task
from pipelines.ingestion.workers import HINT, Pool, Worker

_MOST_BYTES = 64_000_000  # of results that nobody took yet: above it no further document is begun
_ATTEMPTS = 3


class Lanes:
    """Documents go in, and come out prepared; one thread with one worker for each that is prepared at a time."""

    def __init__(self, most: int, pool: Pool, options: Options) -> None:
        self._most, self._pool, self._options = most, pool, options
        self._todo: SimpleQueue[tuple[int, Task] | None] = SimpleQueue()
        self._ready: SimpleQueue[tuple[int, bytes | Failure | Exception]] = SimpleQueue()
        self._changed = Condition()
        self._waiting_bytes = 0
        self._closed = False
        self._busy: set[Worker] = set()
        self._threads: list[Thread] = []

    def give(self, place: int, task: Task) -> None:
        """Have a document prepared as soon as there is a worker for it."""
        self._todo.put((place, task))
        if len(self._threads) < self._most:
            thread = Thread(target=self._work, name=f"lane {len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def take(self) -> tuple[int, Prepared | Failure]:
        """The next of those given that is prepared, with its place; waits for it.

        Raises:
            ConfigError: If the workers do not start.
        """
        place, answer = self._ready.get()
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Failure):
            return place, answer
        with self._changed:
            self._waiting_bytes -= len(answer)
            self._changed.notify_all()
        return place, pickle.loads(answer)  # noqa: S301 - our own worker made it

    def close(self) -> None:
        """Stop what is under way, and keep the workers that are not needed for it."""
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
        """Prepare documents until there are no more."""
        worker: Worker | None = None
        while (job := self._todo.get()) is not None and self._may_begin():
            place, task = job
            answer: bytes | Failure | Exception
            try:
                worker, answer = self._prepared(task, worker)
            except Exception as error:  # noqa: BLE001 - it is raised where the documents are taken
                answer = error
            with self._changed:
                self._waiting_bytes += len(answer) if isinstance(answer, bytes) else 0
            self._ready.put((place, answer))
        if worker is not None and not worker.closed:
            self._pool.give_back(worker)

    def _may_begin(self) -> bool:
        """Whether another document is wanted; waits while too much is ready."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._waiting_bytes < _MOST_BYTES)
            return not self._closed

    def _prepared(self, task: Task, worker: Worker | None) -> tuple[Worker, bytes | Failure]:
        """(the worker that was asked, what came of the task); if one has ended before it begins, another is asked.

        Raises:
            ConfigError: If none begins.
        """
        said = ""
        for _ in range(_ATTEMPTS):
            worker = self._pool.take() if worker is None or worker.closed else worker
            answer = self._ask(worker, task)
            if answer is not None:
                return worker, answer
            if self._closed:  # nobody takes what came of it, but the worker is to be kept
                return worker, Failure("read", "LoadError", f"{task.item.name} was not begun.")
            said = worker.said.decode("utf-8", "replace").strip() or said
        raise ConfigError(f"The processes that read documents do not start: {said[-500:]}", hint=HINT)

    def _ask(self, worker: Worker, task: Task) -> bytes | Failure | None:
        with self._changed:
            if self._closed:
                return None
            self._busy.add(worker)
        try:
            return worker.prepare(task, self._options)
        finally:
            with self._changed:
                self._busy.discard(worker)
