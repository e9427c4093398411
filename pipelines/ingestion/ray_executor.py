"""RAY EXECUTOR: executes the documents of a plan as Ray tasks, on this machine or on a cluster.

The driver lists, plans, removes and reports. It sends documents with the bytes of their files to the workers, and each
worker writes its own transactions to Postgres.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from config.settings import Settings
from pipelines.errors import ConfigError, FootnoteError, ServiceUnavailable
from pipelines.ingestion.execute import PlanExecution, StepResult
from pipelines.ingestion.prepare import PrepareOptions, Task, read_bytes
from pipelines.observe import log
from pipelines.store.database import reading
from pipelines.store.originals import keep_original
from pipelines.store.runs import logged_items

_DOCUMENTS, _BYTES = 8, 8_000_000  # of one Ray task, at most, but for a single larger file
_ROUNDS = 2  # of tasks for each core of the cluster that are under way
_RETRIES = 5  # of a task whose machine died


Batch = list[tuple[int, Task]]  # of one Ray task, each with the index of its step
Build = Callable[[Settings], Any]


@dataclass(frozen=True, slots=True)
class RayExecutor:
    """Executes documents on a Ray cluster.

    Attributes:
        settings: With a database that every machine of the cluster can reach.
        build: Builds a worker's ingestion from the settings; pickled by name.
        address: Of a running cluster; empty = one that is started here for the run.
    """

    settings: Settings
    build: Build
    address: str = ""

    def items(self, execution: PlanExecution) -> Iterator[StepResult]:
        """Yield (index of the step, its outcome) once it is committed; ends early when a stop is asked for.

        Raises:
            ConfigError: If Ray is missing, or a worker's settings do not fit.
            ServiceUnavailable: If the cluster, the database or a model cannot be reached; finished documents stay.
        """
        yield from replace(execution, tasks=()).items()
        if execution.tasks and not execution.pipeline.stop.is_set():
            ray, ours = self._connect()
            try:
                yield from self._submit(ray, execution)
            finally:
                if ours:
                    ray.shutdown()

    def _connect(self) -> tuple[Any, bool]:
        """Return Ray, and whether this run connected it."""
        try:
            ray: Any = import_module("ray")
        except ImportError as error:
            raise ConfigError("Ray is not installed.", hint="Run `pip install 'footnote[ray]'`.") from error
        if ray.is_initialized():
            return ray, False
        quiet: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
        try:
            ray.init(address=self.address or "local", **({} if self.address else {"include_dashboard": False}), **quiet)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise ServiceUnavailable(
                f"The Ray cluster {self.address or 'of this machine'} cannot be reached: {error}"[:500],
                hint="Check FOOTNOTE_INGESTION__RAY_ADDRESS; `ray status` shows whether it runs.",
            ) from error
        return ray, True

    def _submit(self, ray: Any, execution: PlanExecution) -> Iterator[StepResult]:
        remote = ray.remote(max_retries=_RETRIES)(execute_batch)
        settings, stop = ray.put(self.settings), execution.pipeline.stop
        batches = _batches(execution)
        most = _ROUNDS * max(int(ray.cluster_resources().get("CPU", 1)), 1)
        under_way: set[Any] = set()
        try:
            while True:
                while len(under_way) < most and not stop.is_set() and (batch := next(batches, None)):
                    under_way.add(remote.remote(settings, self.build, execution.run_id, batch))
                if not under_way:
                    return
                done, rest = ray.wait(list(under_way), num_returns=1)
                under_way = set(rest)
                try:
                    yield from ray.get(done[0])
                except ray.exceptions.RayTaskError as error:
                    raise error.cause from error
                except ray.exceptions.RayError as error:
                    raise ServiceUnavailable(
                        f"The Ray cluster lost some documents {_RETRIES + 1} times: {error}"[:500],
                        hint="Finished documents are stored; run the same command to continue.",
                    ) from error
        finally:
            for task in under_way:
                with suppress(ray.exceptions.RayError):
                    ray.cancel(task)


def _batches(run: PlanExecution) -> Iterator[Batch]:
    """Split the documents into batches of a few, with the bytes of their files."""
    batch, size = Batch(), 0
    for place, task in run.tasks:
        data = _bytes_of(task, run.pipeline.options)
        if batch and (len(batch) == _DOCUMENTS or size + len(data or b"") > _BYTES):
            yield batch
            batch, size = [], 0
        batch.append((place, replace(task, data=data)))
        size += len(data or b"")
    if batch:
        yield batch


def _bytes_of(task: Task, options: PrepareOptions) -> bytes | None:
    """Read a file or a stored original, and keep it; None if the worker has to read it, or to fail."""
    try:
        data = read_bytes(task, options)
    except FootnoteError:
        return None
    if options.keep and len(data) <= options.limits.most_bytes:
        keep_original(options.home, hashlib.sha256(data).hexdigest(), data, name=task.step.item.name)
    return data


# What runs on the cluster


def execute_batch(settings: Settings, build: Build, run_id: int, batch: Batch) -> list[StepResult]:
    """Execute a batch; return (index of the step, its outcome) for each document.

    A batch that is executed again, because its machine died, continues after what was committed.

    Raises:
        ConfigError, ServiceUnavailable: What ends the run.
    """
    ingestion = _ingestion(settings, build)
    keys = {place: (task.step.collection, task.step.item.uri) for place, task in batch}
    with reading(ingestion.database.engine, "reading what is done") as connection:
        logged = logged_items(connection, run_id, [uri for _, uri in keys.values()])
    items = {place: logged[key] for place, key in keys.items() if key in logged}
    left = [(place, task) for place, task in batch if place not in items]
    options = replace(ingestion.options, keep=any(task.data is None for _, task in batch))
    steps = {place: task.step for place, task in left}
    known = {task.document_id: task.stored for _, task in left if task.stored}
    execution = PlanExecution(replace(ingestion.pipeline, options=options), run_id, steps, left, known)
    return sorted({**items, **dict(execution.items())}.items())


@lru_cache(maxsize=1)
def _ingestion(settings: Settings, build: Build) -> Any:
    return build(settings)


def build_ray_executor(settings: Settings, url: SecretStr, build: Build) -> RayExecutor:
    """Build the executor of the settings; its workers prepare one document at a time, and write to the database `url`.

    Raises:
        ConfigError: If the settings name a cluster, and only this machine can reach the database.
    """
    ingestion = settings.ingestion
    if ingestion.ray_address and settings.database_url is None:
        raise ConfigError(
            "A Ray cluster's machines cannot reach the embedded Postgres.",
            hint="Set DATABASE_URL to a Postgres with pgvector that all of them reach.",
        )
    local = ingestion.model_copy(update={"executor": "local", "workers": 1})
    settings = settings.model_copy(
        update={"database_url": url, "ingestion": local, "home": Path(settings.home).absolute()}
    )
    log("debug", "documents are carried out by Ray", address=ingestion.ray_address or "local")
    return RayExecutor(settings, build, ingestion.ray_address)
