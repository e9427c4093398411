"""EXECUTE: the steps of a plan, each document wholly or not at all; small ones are embedded and written together.

Three things happen side by side: documents are prepared by an executor, embedded in one thread, and written in another.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from threading import Event
from typing import Generic, TypeVar

from sqlalchemy import Connection

from pipelines.errors import ConfigError, ServiceUnavailable, StoreError
from pipelines.ingestion.pipeline import DocumentPipeline, Record
from pipelines.ingestion.plan import Step
from pipelines.ingestion.prepare import PreparationFailure, PreparedDocument, PrepareOptions, Task
from pipelines.ingestion.sources.files import is_unchanged
from pipelines.ingestion.workers import Executor
from pipelines.models.embedding import group_size
from pipelines.observe import log
from pipelines.store import documents as document_rows
from pipelines.store.database import writing
from pipelines.store.documents import StoredDocument, is_as_stored
from pipelines.store.node_writer import Check
from pipelines.store.runs import LoggedItem, write_items
from pipelines.types import IngestItem, Outcome

FATAL_ERRORS = (ConfigError, ServiceUnavailable)  # errors that would hit every other document too
_GROUP_CHARACTERS = 256_000  # of the documents that are embedded together
_REMOVALS_PER_TRANSACTION = 50
_GROUPS_AHEAD = 2  # groups that wait, beside the two that the stages are working on

StepResult = tuple[int, IngestItem]  # the index of a step, and its outcome
# Raise an error to refuse steps, by document id; called in the transaction that is about to change these documents.
Guard = Callable[[Connection, Mapping[str, Step]], None]

Item = TypeVar("Item")
Result = TypeVar("Result")
Intermediate = TypeVar("Intermediate")


# Guards: keep a run from overwriting what another run wrote after the plan was made.


def allow_all(connection: Connection, steps: Mapping[str, Step]) -> None:
    """Refuse nothing."""


def assert_as_planned(connection: Connection, steps: Mapping[str, Step]) -> None:
    """Refuse to overwrite what another run has written since the plan was made, unless the source still agrees.

    Raises:
        StoreError: If one of the documents was added, changed or removed meanwhile.
    """
    now = document_rows.written_at(connection, steps)
    for document_id, step in steps.items():
        written = now.get(document_id)
        if written != step.held_since and not _source_unchanged(step):
            change = "removed" if written is None else "added" if step.held_since is None else "changed"
            raise concurrent_change(step, change)


def concurrent_change(step: Step, change: str) -> StoreError:
    """The error for a document that another run added, changed or removed since the plan was made."""
    message = f"{step.item.name} was {change} by another run since the plan was made, and was left unchanged."
    return StoreError(message, hint="Run the same command again.")


def _source_unchanged(step: Step) -> bool:
    """True if the source provably is as planned; a fetched document or an original cannot be checked."""
    return not step.original and step.item.source_kind == "file" and is_unchanged(step.item)


# Batches


def run_batch(
    items: Sequence[Item],
    do: Callable[[Sequence[Item]], list[Result]],
    on_failure: Callable[[Item, Exception], Result],
) -> list[Result]:
    """Process items together; if that fails, each alone, so that only the faulty one fails.

    Raises:
        ConfigError, ServiceUnavailable: What every other item would meet too.
    """
    try:
        return do(items) if items else []
    except FATAL_ERRORS:
        raise
    except Exception as error:  # noqa: BLE001 - one bad document, whatever it does, stops only itself
        if len(items) == 1:
            return [on_failure(items[0], error)]
        return [result for item in items for result in run_batch([item], do, on_failure)]


def run_stages(
    arriving: Iterable[Item],
    first: Callable[[Sequence[Item]], Intermediate],
    second: Callable[[Intermediate], Iterable[Result]],
    *,
    weigh: Callable[[Item], float],
) -> Generator[Result, None, None]:
    """Pass items through two stages in groups; yield the results in the order of arrival.

    Each stage has its own thread, so that `first` works on one group while `second` works on the one before. A group
    is closed when its weight reaches 1, or when `first` is idle and `second` has at most one group: what arrives slowly
    is not held back. The number of groups under way is bounded.

    The first error of any of the three ends it and is raised; the groups that the stages are working on are finished,
    and no other is begun. No thread is left behind.
    """
    under_way: deque[Future[Iterable[Result]]] = deque()
    group: list[Item] = []
    weight = 0.0
    with closing(_Stages(first, second)) as stages:
        for item in arriving:
            group.append(item)
            weight += weigh(item)
            while under_way and under_way[0].done():
                yield from under_way.popleft().result()
            if weight >= 1 or (stages.first_is_idle and len(under_way) < 2):
                under_way.append(stages.submit(group))
                group, weight = [], 0.0
            while len(under_way) > _GROUPS_AHEAD + 2:
                yield from under_way.popleft().result()
        if group:
            under_way.append(stages.submit(group))
        while under_way:
            yield from under_way.popleft().result()


class _Stages(Generic[Item, Intermediate, Result]):
    """Two stages, each in its own thread; after an error no other group is begun."""

    def __init__(
        self, first: Callable[[Sequence[Item]], Intermediate], second: Callable[[Intermediate], Iterable[Result]]
    ) -> None:
        self._first, self._second = first, second
        self._first_thread, self._second_thread = (ThreadPoolExecutor(1, f"flow-{name}") for name in ("first", "then"))
        self._first_failed, self._second_failed = Event(), Event()
        self._last: Future[Intermediate] | None = None

    @property
    def first_is_idle(self) -> bool:
        return self._last is None or self._last.done()

    def submit(self, group: Sequence[Item]) -> "Future[Iterable[Result]]":
        self._last = self._first_thread.submit(self._run_first, group)
        return self._second_thread.submit(self._run_second, self._last)

    def _run_first(self, group: Sequence[Item]) -> Intermediate:
        if self._first_failed.is_set() or self._second_failed.is_set():
            raise CancelledError
        try:
            return self._first(group)
        except BaseException:
            self._first_failed.set()
            raise

    def _run_second(self, made: "Future[Intermediate]") -> Iterable[Result]:
        intermediate = made.result()
        if self._second_failed.is_set():
            raise CancelledError
        try:
            return self._second(intermediate)
        except BaseException:
            self._second_failed.set()
            raise

    def close(self) -> None:
        self._first_failed.set()
        for thread in (self._first_thread, self._second_thread):
            thread.shutdown(cancel_futures=True)


# The execution of a plan


@dataclass(frozen=True, slots=True)
class PendingDocument:
    """A document on its way, with the index of its step and the seconds that it took so far."""

    place: int
    state: PreparedDocument | PreparationFailure
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class PlanExecution:
    """One run under way.

    Attributes:
        pipeline: Embeds and stores.
        executor: Prepares documents.
        options: What is the same for every document.
        stop: Once set, nothing more is begun.
        run_id: The run's row.
        collection: Where documents belong, unless their step names another collection.
        steps: The steps of the plan.
        tasks: What is to be prepared, each with the index of its step.
        known: What is stored, by document id.
        guard: Called in the transaction of each change before anything is written; it refuses by raising.
    """

    pipeline: DocumentPipeline
    executor: Executor
    options: PrepareOptions
    stop: threading.Event
    run_id: int
    collection: str
    steps: Sequence[Step]
    tasks: Sequence[tuple[int, Task]]
    known: Mapping[str, StoredDocument]
    guard: Guard = assert_as_planned

    def items(self) -> Iterator[StepResult]:
        """Yield (index of the step, its outcome) once it is committed; ends early when a stop is asked for.

        Raises:
            ConfigError, ServiceUnavailable: What every other document would meet too; what was under way is finished.
        """
        for place, item in self._without_parsing():
            yield place, _logged(item)
        with closing(run_stages(self._prepared(), self._embed, self._write, weigh=self._weigh)) as written:
            for place, item in written:
                yield place, _logged(item)

    # Steps that need no parsing

    def _without_parsing(self) -> Iterator[StepResult]:
        removed: list[int] = []
        for place, step in enumerate(self.steps):
            if self.stop.is_set():
                return
            if step.action == "remove":
                removed.append(place)
            elif step.action not in ("add", "update"):
                yield place, self._fail_or_keep(step)
        for start in range(0, len(removed), _REMOVALS_PER_TRANSACTION):
            if self.stop.is_set():
                return
            yield from run_batch(removed[start : start + _REMOVALS_PER_TRANSACTION], self._remove, self._not_written)

    def _fail_or_keep(self, step: Step) -> IngestItem:
        if isinstance(step.error, FATAL_ERRORS):
            raise step.error
        if step.error is not None:
            return self._fail(step, PreparationFailure.of(step.error, step.stage, step.item.name))
        if (stored := self.known.get(step.document_id)) is None:
            return self._fail(step, PreparationFailure.of(concurrent_change(step, "removed"), "store", step.item.name))
        if stored.stamp != step.item.stamp:
            document_rows.restamp(self.pipeline.store.engine, stored.id, step.item.stamp)
        return IngestItem(step.item.name, "unchanged", document_id=step.document_id, nodes=stored.nodes)

    def _remove(self, places: Sequence[int]) -> list[StepResult]:
        began, steps = time.perf_counter(), {self.steps[place].document_id: self.steps[place] for place in places}
        items = {each: IngestItem(step.item.name, "removed", document_id=each) for each, step in steps.items()}

        def record(connection: Connection, versions: Mapping[str, int | None]) -> None:
            self._log(connection, [(steps[each], items[each], version) for each, version in versions.items()])

        gone = self.pipeline.store.remove(list(steps), within=record, check=self._check(steps))
        seconds = (time.perf_counter() - began) / len(places)
        return [
            (place, _timed(replace(items[each], nodes=gone[each]), seconds))
            if (each := self.steps[place].document_id) in gone
            else (place, replace(items[each], outcome="unchanged"))
            for place in places
        ]

    def _not_written(self, place: int, error: Exception) -> StepResult:
        step = self.steps[place]
        return place, self._fail(step, PreparationFailure.of(error, "store", step.item.name))

    # Documents: prepared by the executor, embedded in one thread and written in another

    def _prepared(self) -> Iterator[PendingDocument]:
        if self.stop.is_set():
            return
        results = self.executor(self.tasks, self.options)
        try:
            for place, state in results:
                yield PendingDocument(place, state)
                if self.stop.is_set():
                    return
        finally:
            if isinstance(results, Generator):
                results.close()

    def _weigh(self, pending: PendingDocument) -> float:
        """The share of a group that a document takes."""
        share = 1 / group_size(self.pipeline.model)
        if not isinstance(pending.state, PreparedDocument) or pending.state.metadata_only:
            return share
        if pending.state.nodes is None:
            return 1.0
        return max(len(pending.state.nodes) * share, len(pending.state.document.text) / _GROUP_CHARACTERS)

    def _embed(self, group: Sequence[PendingDocument]) -> list[PendingDocument]:
        began = time.perf_counter()
        documents = [self._complete_nodes(one) for one in _until_fatal(group) if not self.stop.is_set()]
        if not documents:
            return []
        parsed = [one for one in documents if isinstance(one.state, PreparedDocument) and not one.state.metadata_only]
        embedded = {one.place: one for one in run_batch(parsed, self._add_vectors, self._not_embedded)}
        seconds = (time.perf_counter() - began) / len(documents)
        return [replace(embedded.get(one.place, one), seconds=seconds) for one in documents]

    def _complete_nodes(self, pending: PendingDocument) -> PendingDocument:
        if not isinstance(pending.state, PreparedDocument) or pending.state.metadata_only:
            return pending
        stages = ["parse"]
        try:
            return replace(pending, state=self.pipeline.complete_nodes(pending.state, stages.append))
        except FATAL_ERRORS:
            raise
        except Exception as error:  # noqa: BLE001 - one bad document stops only itself
            return replace(pending, state=PreparationFailure.of(error, stages[-1], self.steps[pending.place].item.name))

    def _add_vectors(self, documents: Sequence[PendingDocument]) -> list[PendingDocument]:
        embedded = self.pipeline.embed([one.state for one in documents if isinstance(one.state, PreparedDocument)])
        return [replace(one, state=state) for one, state in zip(documents, embedded, strict=True)]

    def _not_embedded(self, pending: PendingDocument, error: Exception) -> PendingDocument:
        return replace(pending, state=PreparationFailure.of(error, "embed", self.steps[pending.place].item.name))

    def _write(self, documents: Sequence[PendingDocument]) -> list[StepResult]:
        if not documents:
            return []
        began = time.perf_counter()
        embedded = [one for one in documents if isinstance(one.state, PreparedDocument) and one.state.vectors]
        items = dict(run_batch(embedded, self._store, lambda one, error: self._not_written(one.place, error)))
        for one in documents:
            if isinstance(one.state, PreparationFailure):
                if one.state.fatal:
                    raise ConfigError(one.state.message, hint=one.state.hint)
                items[one.place] = self._fail(self.steps[one.place], one.state)
            elif one.place not in items:
                items |= dict(
                    run_batch([one], self._store_metadata, lambda one, error: self._not_written(one.place, error))
                )
        seconds = (time.perf_counter() - began) / len(documents)
        return [(one.place, _timed(items[one.place], one.seconds + seconds)) for one in documents]

    def _store(self, documents: Sequence[PendingDocument]) -> list[StepResult]:
        embedded = [(one.state, self._item(one)) for one in documents if isinstance(one.state, PreparedDocument)]
        steps = {
            prepared.document.id: self.steps[one.place] for one, (prepared, _) in zip(documents, embedded, strict=True)
        }
        items = self.pipeline.store_all(embedded, self._record(steps), self._check(steps))
        self._log_alone([(steps[item.document_id], item) for item in items if item.outcome == "unchanged"])
        return [(one.place, item) for one, item in zip(documents, items, strict=True)]

    def _store_metadata(self, documents: Sequence[PendingDocument]) -> list[StepResult]:
        (pending,) = documents
        prepared, item, step = pending.state, self._item(pending), self.steps[pending.place]
        assert isinstance(prepared, PreparedDocument)
        stored = self.known.get(prepared.document.id)
        if stored and is_as_stored(prepared.document, stored):
            item = replace(item, outcome="unchanged", document_id=stored.id, nodes=stored.nodes)
            self._log_alone([(step, item)])
            return [(pending.place, item)]
        item, steps = replace(item, nodes=stored.nodes if stored else 0), {prepared.document.id: step}
        done = self.pipeline.store_metadata(prepared, item, self._record(steps), self._check(steps))
        if done.outcome == "unchanged":
            self._log_alone([(step, done)])
        return [(pending.place, done)]

    def _item(self, pending: PendingDocument) -> IngestItem:
        """The item of a document if all goes well."""
        assert isinstance(pending.state, PreparedDocument)
        outcome: Outcome = "updated" if pending.state.document.id in self.known else "added"
        return IngestItem(self.steps[pending.place].item.name, outcome)

    # The run log

    def _fail(self, step: Step, failure: PreparationFailure) -> IngestItem:
        """Log a failed document; return its item."""
        item = failure.item(step.item.name, step.document_id)
        log("debug", "document failed", document=step.item.name, traceback=failure.detail)
        self._log_alone([(step, item)])
        return item

    def _check(self, steps: Mapping[str, Step]) -> Check:
        """Make the check of the store's writes: ask the guard about documents, by id."""
        return lambda connection, ids: self.guard(connection, {each: steps[each] for each in ids})

    def _record(self, steps: Mapping[str, Step]) -> Record:
        """Make the function that logs documents, by id, in the transaction that writes them."""
        return lambda connection, done: self._log(
            connection, [(steps[item.document_id], item, version) for item, version in done]
        )

    def _log_alone(self, done: Sequence[tuple[Step, IngestItem]]) -> None:
        """Log what changed nothing, in a transaction of its own."""
        if done:
            with writing(self.pipeline.store.engine, "logging a document") as connection:
                self._log(connection, [(step, item, None) for step, item in done])

    def _log(self, connection: Connection, done: Sequence[tuple[Step, IngestItem, int | None]]) -> None:
        rows = [
            LoggedItem(step.collection or self.collection, step.item, item, version) for step, item, version in done
        ]
        write_items(connection, self.run_id, rows)


def _until_fatal(group: Sequence[PendingDocument]) -> Iterator[PendingDocument]:
    """The documents up to and including the first fatal failure."""
    for one in group:
        yield one
        if isinstance(one.state, PreparationFailure) and one.state.fatal:
            return


def _timed(item: IngestItem, seconds: float) -> IngestItem:
    return replace(item, seconds=round(seconds, 3))


def _logged(item: IngestItem) -> IngestItem:
    log("info", item.outcome, document=item.document, nodes=item.nodes, seconds=item.seconds)
    return item
