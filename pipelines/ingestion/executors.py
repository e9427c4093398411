"""Where documents are prepared: in this process, in worker processes that can be killed, or on a Ray cluster."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from config.settings import IngestionSettings
from pipelines.ingestion.failure import Failure
from pipelines.ingestion.lanes import Lanes
from pipelines.ingestion.prepare import Options, Prepared, Task, prepare
from pipelines.ingestion.workers import SHARED, Pool

Done = tuple[int, Prepared | Failure]  # the task's place among the tasks, and what came of it
Executor = Callable[[Iterable[tuple[int, Task]], Options], Iterator[Done]]

AHEAD = 24
_MOST_WORKERS = 8


def here(tasks: Iterable[tuple[int, Task]], options: Options) -> Iterator[Done]:
    """Each task in turn, in this process; nothing can be stopped but the process itself."""
    for place, task in tasks:
        yield place, prepare(task, options)


@dataclass(frozen=True, slots=True)
class Local:
    """Prepares documents in worker processes, which are kept for the next run.

    Results come in any order, and at most `workers` and `AHEAD` documents are under way or wait to be taken.

    Attributes:
        workers: How many documents are prepared at a time.
        pool: Where the workers come from.
    """

    workers: int
    pool: Pool = SHARED

    def __call__(self, tasks: Iterable[tuple[int, Task]], options: Options) -> Iterator[Done]:
        """Each task's place and what came of it; whoever takes no more stops what is under way.

        Raises:
            ConfigError: If the workers do not start.
        """
        left, under_way = iter(tasks), 0
        lanes = Lanes(self.workers, self.pool, options)
        try:
            while True:
                for place, task in islice(left, self.workers + AHEAD - under_way):
                    lanes.give(place, task)
                    under_way += 1
                if not under_way:
                    return
                done = lanes.take()
                under_way -= 1
                yield done
        finally:
            lanes.close()


def _local(settings: IngestionSettings) -> Executor:
    return Local(settings.workers or min(_cores(), _MOST_WORKERS))


def _cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


EXECUTORS: dict[str, Callable[[IngestionSettings], Executor]] = {
    "local": _local,
    "here": lambda settings: here,
    "ray": _local,  # of what is only looked at; a run's documents are carried out by `cluster.py`
}


def build_executor(settings: IngestionSettings) -> Executor:
    """The executor that the settings name, for documents that this machine prepares."""
    return EXECUTORS[settings.executor](settings)
