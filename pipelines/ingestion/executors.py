"""Where documents are prepared: in this process, in worker processes that can be killed, or on a Ray cluster."""

from collections.abc import Callable, Iterable, Iterator

from pipelines.ingestion.prepare import Failure, Options, Prepared, Task, prepare

Done = tuple[int, Prepared | Failure]  # the task's place among the tasks, and what came of it
Executor = Callable[[Iterable[tuple[int, Task]], Options], Iterator[Done]]


def here(tasks: Iterable[tuple[int, Task]], options: Options) -> Iterator[Done]:
    """Each task in turn, in this process; nothing can be stopped but the process itself."""
    for place, task in tasks:
        yield place, prepare(task, options)
