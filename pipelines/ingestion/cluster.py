"""CLUSTER: a plan's documents carried out by Ray tasks, on this machine or on many; each writes its own transactions.

The driver lists, plans, removes and reports. It hands out documents with the bytes of their files, and what was made
of them goes from the workers straight to Postgres.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from threading import Event
from typing import Any

from pydantic import SecretStr

from config.settings import Settings
from pipelines.errors import ConfigError, FootnoteError, ServiceUnavailable
from pipelines.ingestion.execute import Execution, Placed
from pipelines.ingestion.plan import Step
from pipelines.ingestion.prepare import Options, Task, read
from pipelines.observe import log
from pipelines.store.database import reading
from pipelines.store.documents import Known
from pipelines.store.originals import keep_original
from pipelines.store.runs import logged_items
from pipelines.types import IngestItem

_DOCUMENTS, _BYTES = 8, 8_000_000  # of one Ray task, at most, but for a single larger file
_ROUNDS = 2  # of tasks for each core of the cluster that are under way
_RETRIES = 5  # of a task whose machine died


@dataclass(frozen=True, slots=True)
class Part:
    """Some documents of a run, for one task: their steps, and what is to be prepared, in the same order."""

    run_id: int
    collection: str
    places: tuple[int, ...]
    steps: tuple[Step, ...]
    tasks: tuple[Task, ...]
    known: Mapping[str, Known]


@dataclass(frozen=True, slots=True)
class Trouble:
    """An error that ends the run, as it comes back from a worker."""

    error: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Cluster:
    """A Ray cluster that carries documents out.

    Attributes:
        settings: With a database that every machine of the cluster can reach.
        address: Of a running cluster; empty = one that is started here for the run.
    """

    settings: Settings
    address: str = ""

    def items(self, execution: Execution) -> Iterator[Placed]:
        """(place of the step, what became of it), once it is committed; ends early when a stop is asked for.

        Raises:
            ConfigError: If Ray is missing, or a worker's settings do not fit.
            ServiceUnavailable: If the cluster, the database or a model cannot be reached; finished documents stay.
        """
        yield from replace(execution, tasks=()).items()
        if execution.tasks and not execution.stop.is_set():
            ray, ours = self._connect()
            try:
                yield from self._hand_out(ray, execution)
            finally:
                if ours:
                    ray.shutdown()

    def _connect(self) -> tuple[Any, bool]:
        """(Ray, whether this run connected it)."""
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
                hint="Check FOOTNOTE_INGESTION__RAY_ADDRESS; `ray status` says whether it runs.",
            ) from error
        return ray, True

    def _hand_out(self, ray: Any, execution: Execution) -> Iterator[Placed]:
        carry_out = ray.remote(max_retries=_RETRIES)(carry_out_part)
        settings = ray.put(self.settings)
        parts = self._parts(execution)
        most = _ROUNDS * max(int(ray.cluster_resources().get("CPU", 1)), 1)
        under_way: set[Any] = set()
        try:
            while True:
                while len(under_way) < most and not execution.stop.is_set() and (part := next(parts, None)):
                    under_way.add(carry_out.remote(settings, part))
                if not under_way:
                    return
                done, rest = ray.wait(list(under_way), num_returns=1)
                under_way = set(rest)
                yield from _taken(ray, done[0])
        finally:
            for task in under_way:
                with suppress(ray.exceptions.RayError):
                    ray.cancel(task)

    def _parts(self, execution: Execution) -> Iterator[Part]:
        """The documents in parts of a few, with the bytes of their files."""
        places: list[int] = []
        tasks: list[Task] = []
        size = 0
        for place, task in execution.tasks:
            data = _bytes_of(task, execution.options)
            if places and (len(places) == _DOCUMENTS or size + len(data or b"") > _BYTES):
                yield _part(execution, places, tasks)
                places, tasks, size = [], [], 0
            places.append(place)
            tasks.append(replace(task, data=data))
            size += len(data or b"")
        if places:
            yield _part(execution, places, tasks)


def _bytes_of(task: Task, options: Options) -> bytes | None:
    """The bytes of a file or a stored original, kept here; None where the worker has to read them, or to fail."""
    try:
        data = read(task, options)
    except FootnoteError:
        return None
    if options.keep and len(data) <= options.limits.most_bytes:
        keep_original(options.home, hashlib.sha256(data).hexdigest(), data, name=task.item.name)
    return data


def _part(execution: Execution, places: Sequence[int], tasks: Sequence[Task]) -> Part:
    ids = [task.document_id for task in tasks]
    return Part(
        execution.run_id,
        execution.collection,
        tuple(places),
        tuple(execution.steps[place] for place in places),
        tuple(tasks),
        {each: execution.known[each] for each in ids if each in execution.known},
    )


def _taken(ray: Any, task: Any) -> Iterator[Placed]:
    try:
        answer = ray.get(task)
    except ray.exceptions.RayTaskError as error:
        raise error.as_instanceof_cause() from error
    except ray.exceptions.RayError as error:
        raise ServiceUnavailable(
            f"The Ray cluster lost some documents {_RETRIES + 1} times: {error}"[:500],
            hint="Finished documents stay; the same command goes on from there.",
        ) from error
    if isinstance(answer, Trouble):
        kind = ServiceUnavailable if answer.error == ServiceUnavailable.__name__ else ConfigError
        raise kind(answer.message, hint=answer.hint)
    yield from answer


# What runs on the cluster


def carry_out_part(settings: Settings, part: Part) -> list[Placed] | Trouble:
    """(place of the step, what became of it) of a part's documents, each committed; or what ends the run.

    A part that is carried out again, as its machine died, goes on after what was committed.
    """
    try:
        ingestion = _ingestion(settings)
        with reading(ingestion.database.engine, "reading what is done") as connection:
            uris = [step.item.uri for step in part.steps]
            done = logged_items(connection, part.run_id, uris)
        left = [place for place, step in enumerate(part.steps) if step.item.uri not in done]
        execution = Execution(
            finisher=ingestion.finisher,
            executor=ingestion.executor,
            options=replace(ingestion.options, keep=any(task.data is None for task in part.tasks)),
            stop=Event(),
            run_id=part.run_id,
            collection=part.collection,
            steps=[part.steps[place] for place in left],
            tasks=[(at, part.tasks[place]) for at, place in enumerate(left)],
            known=part.known,
        )
        items: dict[int, IngestItem] = {left[at]: item for at, item in execution.items()}
    except (ConfigError, ServiceUnavailable) as error:
        return Trouble(type(error).__name__, error.message, error.hint)
    items |= {place: done[step.item.uri] for place, step in enumerate(part.steps) if step.item.uri in done}
    return [(part.places[place], item) for place, item in sorted(items.items())]


@lru_cache(maxsize=1)
def _ingestion(settings: Settings) -> Any:
    from pipelines.ingestion.run import build_ingestion

    return build_ingestion(settings)


def build_cluster(settings: Settings, url: SecretStr) -> Cluster:
    """The cluster that the settings name; its workers prepare one document at a time, and write to the database `url`.

    Raises:
        ConfigError: If a cluster of other machines is named and the database is one that only this machine reaches.
    """
    asked = settings.ingestion
    if asked.ray_address and settings.database_url is None:
        raise ConfigError(
            "A Ray cluster's machines cannot reach the embedded Postgres.",
            hint="Set DATABASE_URL to a Postgres with pgvector that all of them reach.",
        )
    own = asked.model_copy(update={"executor": "local", "workers": 1})
    settings = settings.model_copy(
        update={"database_url": url, "ingestion": own, "home": Path(settings.home).absolute()}
    )
    log("debug", "documents are carried out by Ray", address=asked.ray_address or "local")
    return Cluster(settings, asked.ray_address)
