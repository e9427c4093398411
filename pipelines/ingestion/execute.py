"""EXECUTE: the steps of a plan, each document wholly or not at all; small ones are embedded and written together.

Three things happen side by side: documents are prepared by an executor, embedded in one thread, and written in another.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from sqlalchemy import Connection, update

from pipelines.errors import ConfigError, ServiceUnavailable, StoreError
from pipelines.ingestion.pipeline import DocumentPipeline
from pipelines.ingestion.plan import Step
from pipelines.ingestion.prepare import PreparationFailure, PreparedDocument, PrepareOptions, Task
from pipelines.ingestion.sources.files import is_unchanged
from pipelines.ingestion.workers import Executor, PrepareResult, PrepareResults
from pipelines.models.embedding import group_size
from pipelines.observe import log
from pipelines.store import documents as document_rows
from pipelines.store.database import writing
from pipelines.store.documents import StoredDocument
from pipelines.store.node_writer import Replacement, remove_documents, replace_documents, update_metadata
from pipelines.store.runs import LoggedItem, write_items
from pipelines.store.schema import documents
from pipelines.types import IngestItem

FATAL_ERRORS = (ConfigError, ServiceUnavailable)  # errors that would hit every other document too
_GROUP_CHARACTERS = 256_000  # of the documents that are embedded together
_REMOVALS_PER_TRANSACTION = 50
_GROUPS_AHEAD = 2  # groups that wait, beside the two that the stages are working on

StepResult = tuple[int, IngestItem]  # the index of a step, and its outcome

Item = TypeVar("Item")
Result = TypeVar("Result")
Intermediate = TypeVar("Intermediate")


def assert_as_planned(connection: Connection, steps: Mapping[str, Step]) -> None:
    """Refuse to overwrite what another run has written since the plan was made, unless the source still agrees.

    `steps` are those of documents, by id, that the transaction of the connection is about to change.

    Raises:
        StoreError: If one of the documents was added, changed or removed meanwhile.
    """
    now = document_rows.written_at(connection, steps)
    for document_id, step in steps.items():
        written = now.get(document_id)
        # A fetched document or an original cannot be compared with its source.
        provable = not step.original and step.item.source_kind == "file"
        if written != step.held_since and not (provable and is_unchanged(step.item)):
            change = "removed" if written is None else "added" if step.held_since is None else "changed"
            raise _concurrent_change(step, change)


def _concurrent_change(step: Step, change: str) -> StoreError:
    message = f"{step.item.name} was {change} by another run since the plan was made, and was left unchanged."
    return StoreError(message, hint="Run the same command again.")


# Groups


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
    ended = threading.Event(), threading.Event()  # a stage, by an error; both, because nobody wants more

    def run(stage: int, given: Callable[[], Any]) -> Any:
        if any(event.is_set() for event in ended[stage:]):
            raise CancelledError
        try:
            return (first, second)[stage](given())
        except BaseException:
            ended[stage].set()
            raise

    under_way: deque[Future[Iterable[Result]]] = deque()
    group: list[Item] = []
    weight = 0.0
    made: Future[Intermediate] | None = None
    threads = [ThreadPoolExecutor(1, f"flow-{name}") for name in ("first", "then")]

    def submit() -> Future[Intermediate]:
        closed = group.copy()
        made = threads[0].submit(run, 0, lambda: closed)
        under_way.append(threads[1].submit(run, 1, made.result))
        group.clear()
        return made

    try:
        for item in arriving:
            group.append(item)
            weight += weigh(item)
            while under_way and under_way[0].done():
                yield from under_way.popleft().result()
            if weight >= 1 or ((made is None or made.done()) and len(under_way) < 2):
                made, weight = submit(), 0.0
            while len(under_way) > _GROUPS_AHEAD + 2:
                yield from under_way.popleft().result()
        if group:
            submit()
        while under_way:
            yield from under_way.popleft().result()
    finally:
        ended[1].set()
        for thread in threads:
            thread.shutdown(cancel_futures=True)


# The execution of a plan


@dataclass(frozen=True, slots=True)
class PlanExecution:
    """One run under way.

    Attributes:
        pipeline: Prepares documents, completes and embeds their nodes.
        run_id: The run's row.
        steps: The steps of the plan by their index, or some of them.
        tasks: What is to be prepared, each with the index of its step.
        known: What is stored, by document id.
    """

    pipeline: DocumentPipeline
    run_id: int
    steps: Mapping[int, Step]
    tasks: Sequence[tuple[int, Task]]
    known: Mapping[str, StoredDocument]

    def items(self) -> Iterator[StepResult]:
        """Yield (index of the step, its outcome) once it is committed; ends early when a stop is asked for.

        Raises:
            ConfigError, ServiceUnavailable: What every other document would meet too; what was under way is finished.
        """
        stages = run_stages(self._prepared(), self._embed, self._write, weigh=partial(group_share, self.pipeline))
        with closing(stages) as written:
            for place, item in chain(self._without_parsing(), written):
                log("info", item.outcome, document=item.document, nodes=item.nodes, seconds=item.seconds)
                yield place, item

    def _without_parsing(self) -> Iterator[StepResult]:
        removed: list[tuple[int, Step]] = []
        for place, step in self.steps.items():
            if self.pipeline.stop.is_set():
                return
            if step.action == "remove":
                removed.append((place, step))
            elif step.action not in ("add", "update"):
                yield place, self._fail_or_keep(step)
        for start in range(0, len(removed), _REMOVALS_PER_TRANSACTION):
            if self.pipeline.stop.is_set():
                return
            yield from run_batch(removed[start : start + _REMOVALS_PER_TRANSACTION], self._remove, self._not_written)

    def _fail_or_keep(self, step: Step) -> IngestItem:
        if isinstance(step.error, FATAL_ERRORS):
            raise step.error
        if step.error is not None:
            return self._fail(step, PreparationFailure.of(step.error, step.stage, step.item.name))
        if step.held_since is None:  # no source says anything of it, but somebody asked
            item = IngestItem(step.item.name, "unchanged", message=step.reason, document_id=step.document_id)
            self._log_alone([(step, item)])
            return item
        if (stored := self.known.get(step.document_id)) is None:
            return self._fail(step, PreparationFailure.of(_concurrent_change(step, "removed"), "store", step.item.name))
        if stored.stamp != step.item.stamp:  # of a file that was touched: the next run need not read it
            stamped = update(documents).where(documents.c.id == stored.id).values(stamp=step.item.stamp)
            with writing(self.pipeline.store.engine, "noting a file's time") as connection:
                connection.execute(stamped)
        return IngestItem(step.item.name, "unchanged", document_id=step.document_id, nodes=stored.nodes)

    def _remove(self, steps: Sequence[tuple[int, Step]]) -> list[StepResult]:
        began, items = time.perf_counter(), dict[int, IngestItem]()
        ids = [step.document_id for _, step in steps]
        for place, step in steps:
            stored = self.known.get(step.document_id)
            nodes = stored.nodes if stored else 0
            items[place] = IngestItem(step.item.name, "removed", document_id=step.document_id, nodes=nodes)
        done = self._change(items, partial(remove_documents, self.pipeline.store, ids))
        return _timed(done, (time.perf_counter() - began) / len(steps))

    # Documents: prepared by the executor, embedded in one thread and written in another

    def _prepared(self) -> Iterator[PrepareResult]:
        pipeline = self.pipeline
        if pipeline.stop.is_set():
            return
        with closing(prepare_all(pipeline.executor, self.tasks, pipeline.options)) as results:
            for result in results:
                yield result
                if pipeline.stop.is_set():
                    return

    def _embed(self, group: Sequence[PrepareResult]) -> tuple[list[PrepareResult], float]:
        """Complete and embed the nodes of documents; also return the seconds that each took."""
        began = time.perf_counter()
        states = embed_group(self.pipeline, [prepared for prepared in group if not self.pipeline.stop.is_set()])
        return states, (time.perf_counter() - began) / max(len(states), 1)

    def _write(self, embedded: tuple[Sequence[PrepareResult], float]) -> list[StepResult]:
        began, (states, seconds) = time.perf_counter(), embedded
        new = [(place, state) for place, state in states if isinstance(state, PreparedDocument) and state.vectors]
        items = dict(run_batch(new, self._store, self._not_written))
        for place, state in states:
            if isinstance(state, PreparationFailure):
                items[place] = self._fail(self.steps[place], state)
            elif place not in items:
                items |= run_batch([(place, state)], self._store_metadata, self._not_written)
        seconds += (time.perf_counter() - began) / max(len(states), 1)
        return _timed([(place, items[place]) for place, _ in states], seconds)

    def _store(self, embedded: Sequence[tuple[int, PreparedDocument]]) -> list[StepResult]:
        items = {
            place: IngestItem(
                self.steps[place].item.name, "updated" if one.document.id in self.known else "added",
                document_id=one.document.id, nodes=len(one.vectors), embedded=one.embedded,
            )
            for place, one in embedded
        }  # fmt: skip
        new = [Replacement(one.document, one.nodes or (), one.vectors, one.parser, one.recipe) for _, one in embedded]
        return self._change(items, partial(replace_documents, self.pipeline.store, new))

    def _store_metadata(self, documents: Sequence[tuple[int, PreparedDocument]]) -> list[StepResult]:
        ((place, prepared),) = documents
        stored, name = self.known.get(prepared.document.id), self.steps[place].item.name
        nodes = stored.nodes if stored else 0
        item = IngestItem(name, "metadata", document_id=prepared.document.id, nodes=nodes)
        return self._change({place: item}, partial(update_metadata, self.pipeline.store, prepared.document))

    # Writes, and the run log

    def _change(self, items: Mapping[int, IngestItem], write: Callable[..., Collection[str]]) -> list[StepResult]:
        """Write documents and their rows of the run log in one transaction.

        `write` is a write of the store, which returns the ids of what it changed: the rest is unchanged, because
        another run did the same meanwhile.
        """
        steps = {item.document_id: self.steps[place] for place, item in items.items()}
        by_id = {item.document_id: item for item in items.values()}
        written = write(
            within=lambda connection, versions: self._log(
                connection, [(steps[each], by_id[each], version) for each, version in versions.items()]
            ),
            check=lambda connection, ids: assert_as_planned(connection, {each: steps[each] for each in ids}),
        )
        done = {
            place: item if item.document_id in written else replace(item, outcome="unchanged")
            for place, item in items.items()
        }
        self._log_alone([(self.steps[place], item) for place, item in done.items() if item.outcome == "unchanged"])
        return list(done.items())

    def _not_written(self, at: tuple[int, object], error: Exception) -> StepResult:
        step = self.steps[at[0]]
        return at[0], self._fail(step, PreparationFailure.of(error, "store", step.item.name))

    def _fail(self, step: Step, failure: PreparationFailure) -> IngestItem:
        """Log a failed document; return its item."""
        item = failure.item(step.item.name, step.document_id)
        log("debug", "document failed", document=step.item.name, traceback=failure.detail)
        self._log_alone([(step, item)])
        return item

    def _log_alone(self, done: Sequence[tuple[Step, IngestItem]]) -> None:
        """Log what changed nothing, in a transaction of its own."""
        if done:
            with writing(self.pipeline.store.engine, "logging a document") as connection:
                self._log(connection, [(step, item, None) for step, item in done])

    def _log(self, connection: Connection, done: Sequence[tuple[Step, IngestItem, int | None]]) -> None:
        rows = [LoggedItem(step.collection, step.item, item, version) for step, item, version in done]
        write_items(connection, self.run_id, rows)


def group_share(pipeline: DocumentPipeline, prepared: PrepareResult) -> float:
    """The share of a group that a document takes."""
    share, state = 1 / group_size(pipeline.model), prepared[1]
    if not isinstance(state, PreparedDocument) or state.metadata_only:
        return share
    if state.nodes is None:
        return 1.0
    return max(len(state.nodes) * share, len(state.document.text) / _GROUP_CHARACTERS)


def embed_group(pipeline: DocumentPipeline, group: Sequence[PrepareResult]) -> list[PrepareResult]:
    """Complete and embed the nodes of documents, together if that goes well; one that fails stops only itself.

    Raises:
        ConfigError, ServiceUnavailable: What every other document would meet too.
    """
    states, parsed = dict(group), list[tuple[int, PreparedDocument]]()
    for place, state in group:
        if isinstance(state, PreparedDocument) and not state.metadata_only:
            stages = ["parse"]
            try:
                parsed.append((place, pipeline.complete_nodes(state, stages.append)))
            except FATAL_ERRORS:
                raise
            except Exception as error:  # noqa: BLE001 - one bad document stops only itself
                states[place] = PreparationFailure.of(error, stages[-1], state.document.name)

    def embed(some: Sequence[tuple[int, PreparedDocument]]) -> list[PrepareResult]:
        embedded = pipeline.embed([state for _, state in some])
        return [(place, state) for (place, _), state in zip(some, embedded, strict=True)]

    def failed(one: tuple[int, PreparedDocument], error: Exception) -> PrepareResult:
        return one[0], PreparationFailure.of(error, "embed", one[1].document.name)

    states |= run_batch(parsed, embed, failed)
    return list(states.items())


def prepare_all(executor: Executor, tasks: Sequence[tuple[int, Task]], options: PrepareOptions) -> PrepareResults:
    """Prepare documents; closing the generator stops what is under way.

    Raises:
        ConfigError: For a failure that every other document would have too.
    """
    with closing(executor(tasks, options)) as results:
        for place, state in results:
            if isinstance(state, PreparationFailure) and state.fatal:
                raise ConfigError(state.message, hint=state.hint)
            yield place, state


def _timed(done: Sequence[StepResult], seconds: float) -> list[StepResult]:
    return [(place, replace(item, seconds=round(seconds, 3))) for place, item in done]
