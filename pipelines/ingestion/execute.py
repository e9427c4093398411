"""EXECUTE: the steps of a plan, each document wholly or not at all; small ones are embedded and written together."""

import threading
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from pipelines.errors import ConfigError
from pipelines.ingestion.executors import Executor
from pipelines.ingestion.failure import Failure
from pipelines.ingestion.finish import Cut, Embedded, Finisher
from pipelines.ingestion.flow import flow
from pipelines.ingestion.guards import Guard, assert_as_planned, changed_meanwhile
from pipelines.ingestion.plan import Step
from pipelines.ingestion.prepare import Options, Prepared, Task
from pipelines.ingestion.together import FOR_ALL, together
from pipelines.models.embed import group_size
from pipelines.observe import log
from pipelines.store import documents as document_rows
from pipelines.store.database import writing
from pipelines.store.documents import Known, is_as_stored
from pipelines.store.nodes import Check
from pipelines.store.runs import Logged, write_items
from pipelines.types import IngestItem, Outcome

_CHARACTERS = 256_000  # of the documents of a group
_REMOVED_AT_ONCE = 50
Placed = tuple[int, IngestItem]  # the place of a step, and what became of it


@dataclass(frozen=True, slots=True)
class Piece:
    """A document on its way: prepared, then cut, then embedded, unless it fails; `seconds` is what it took so far."""

    place: int
    state: Prepared | Cut | Embedded | Failure
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Execution:
    """One run under way.

    Attributes:
        finisher: What embeds and stores.
        executor: Where documents are prepared.
        options: What is the same for every document.
        stop: Once set, nothing more is begun.
        run_id: The run's row.
        collection: Where documents belong that a step does not place elsewhere.
        steps: Of the plan.
        tasks: What is to be prepared, with the place of its step.
        known: What is stored, by document id.
        guard: Asked in the transaction of each change, before anything is written; it refuses one by an error.
    """

    finisher: Finisher
    executor: Executor
    options: Options
    stop: threading.Event
    run_id: int
    collection: str
    steps: Sequence[Step]
    tasks: Sequence[tuple[int, Task]]
    known: Mapping[str, Known]
    guard: Guard = assert_as_planned

    def items(self) -> Iterator[Placed]:
        """(place of the step, what became of it), once it is committed; ends early when a stop is asked for.

        Raises:
            ConfigError, ServiceUnavailable: What every other document would meet too; what was under way is finished.
        """
        for place, item in self._settled():
            yield place, _told(item)
        with closing(flow(self._prepared(), self._embed, self._write, weigh=self._weigh)) as written:
            for place, item in written:
                yield place, _told(item)

    # What needs no parsing

    def _settled(self) -> Iterator[Placed]:
        removed: list[int] = []
        for place, step in enumerate(self.steps):
            if self.stop.is_set():
                return
            if step.action == "remove":
                removed.append(place)
            elif step.action not in ("add", "update"):
                yield place, self._settle(step)
        for start in range(0, len(removed), _REMOVED_AT_ONCE):
            if self.stop.is_set():
                return
            yield from together(removed[start : start + _REMOVED_AT_ONCE], self._remove, self._not_removed)

    def _settle(self, step: Step) -> IngestItem:
        if isinstance(step.error, FOR_ALL):
            raise step.error
        if step.error is not None:
            return self._fail(step, Failure.of(step.error, step.stage, step.item.name))
        if (held := self.known.get(step.document_id)) is None:
            return self._fail(step, Failure.of(changed_meanwhile(step, "removed"), "store", step.item.name))
        if held.stamp != step.item.stamp:
            document_rows.restamp(self.finisher.store.engine, held.id, step.item.stamp)
        return IngestItem(step.item.name, "unchanged", document_id=step.document_id, nodes=held.nodes)

    def _remove(self, places: Sequence[int]) -> list[Placed]:
        began, steps = time.perf_counter(), {self.steps[place].document_id: self.steps[place] for place in places}
        items = {each: IngestItem(step.item.name, "removed", document_id=each) for each, step in steps.items()}

        def record(connection: Connection, versions: Mapping[str, int | None]) -> None:
            self._log(connection, [(steps[each], items[each], version) for each, version in versions.items()])

        gone = self.finisher.store.remove_all(list(steps), within=record, check=self._check(steps))
        seconds = (time.perf_counter() - began) / len(places)
        return [
            (place, _timed(replace(items[each], nodes=gone[each]), seconds))
            if (each := self.steps[place].document_id) in gone
            else (place, replace(items[each], outcome="unchanged"))
            for place in places
        ]

    def _not_removed(self, place: int, error: Exception) -> Placed:
        step = self.steps[place]
        return place, self._fail(step, Failure.of(error, "store", step.item.name))

    # What is prepared elsewhere, embedded in one thread and written in another

    def _prepared(self) -> Iterator[Piece]:
        if self.stop.is_set():
            return
        prepared = self.executor(self.tasks, self.options)
        try:
            for place, done in prepared:
                yield Piece(place, done)
                if self.stop.is_set():
                    return
        finally:
            if isinstance(prepared, Generator):
                prepared.close()

    def _weigh(self, piece: Piece) -> float:
        """What share of a group a document is."""
        share = 1 / group_size(self.finisher.model)
        if not isinstance(piece.state, Prepared) or piece.state.metadata_only:
            return share
        texts = len(piece.state.document.text) / _CHARACTERS
        return 1.0 if piece.state.nodes is None else max(len(piece.state.nodes) * share, texts)

    def _embed(self, group: Sequence[Piece]) -> list[Piece]:
        began = time.perf_counter()
        pieces = [self._cut(piece) for piece in _until_fatal(group) if not self.stop.is_set()]
        if not pieces:
            return []
        cut = [piece for piece in pieces if isinstance(piece.state, Cut)]
        embedded = {piece.place: piece for piece in together(cut, self._vectors, self._not_embedded)}
        seconds = (time.perf_counter() - began) / len(pieces)
        return [replace(embedded.get(piece.place, piece), seconds=seconds) for piece in pieces]

    def _cut(self, piece: Piece) -> Piece:
        """The document with its nodes, and what was written above them."""
        if not isinstance(piece.state, Prepared) or piece.state.metadata_only:
            return piece
        stage = ["parse"]
        try:
            return replace(piece, state=self.finisher.cut(piece.state, lambda name: stage.__setitem__(0, name)))
        except FOR_ALL:
            raise
        except Exception as error:  # noqa: BLE001 - one bad document stops only itself
            return replace(piece, state=Failure.of(error, stage[0], self.steps[piece.place].item.name))

    def _vectors(self, pieces: Sequence[Piece]) -> list[Piece]:
        embedded = self.finisher.vectors([piece.state for piece in pieces if isinstance(piece.state, Cut)])
        return [replace(piece, state=state) for piece, state in zip(pieces, embedded, strict=True)]

    def _not_embedded(self, piece: Piece, error: Exception) -> Piece:
        return replace(piece, state=Failure.of(error, "embed", self.steps[piece.place].item.name))

    def _write(self, pieces: Sequence[Piece]) -> list[Placed]:
        if not pieces:
            return []
        began = time.perf_counter()
        embedded = [piece for piece in pieces if isinstance(piece.state, Embedded)]
        items = dict(together(embedded, self._store, self._not_stored))
        for piece in pieces:
            if isinstance(piece.state, Failure):
                if piece.state.fatal:
                    raise ConfigError(piece.state.message, hint=piece.state.hint)
                items[piece.place] = self._fail(self.steps[piece.place], piece.state)
            elif piece.place not in items:
                items |= dict(together([piece], self._store_metadata, self._not_stored))
        seconds = (time.perf_counter() - began) / len(pieces)
        return [(piece.place, _timed(items[piece.place], piece.seconds + seconds)) for piece in pieces]

    def _store(self, pieces: Sequence[Piece]) -> list[Placed]:
        made = [(piece.state, self._item(piece)) for piece in pieces if isinstance(piece.state, Embedded)]
        steps = {
            embedded.document.id: self.steps[piece.place] for piece, (embedded, _) in zip(pieces, made, strict=True)
        }

        def record(connection: Connection, done: Sequence[tuple[IngestItem, int | None]]) -> None:
            self._log(connection, [(steps[item.document_id], item, version) for item, version in done])

        items = self.finisher.store_all(made, record, self._check(steps))
        self._log_alone([(steps[item.document_id], item) for item in items if item.outcome == "unchanged"])
        return [(piece.place, item) for piece, item in zip(pieces, items, strict=True)]

    def _store_metadata(self, pieces: Sequence[Piece]) -> list[Placed]:
        (piece,) = pieces
        prepared, item, step = piece.state, self._item(piece), self.steps[piece.place]
        assert isinstance(prepared, Prepared)
        held = self.known.get(prepared.document.id)
        if held and is_as_stored(prepared.document, held):
            item = replace(item, outcome="unchanged", document_id=held.id, nodes=held.nodes)
            self._log_alone([(step, item)])
            return [(piece.place, item)]

        def record(connection: Connection, done: IngestItem, version: int | None) -> None:
            self._log(connection, [(step, done, version)])

        item = replace(item, nodes=held.nodes if held else 0)
        done = self.finisher.store_metadata(prepared, item, record, self._check({prepared.document.id: step}))
        if done.outcome == "unchanged":
            self._log_alone([(step, done)])
        return [(piece.place, done)]

    def _item(self, piece: Piece) -> IngestItem:
        """What becomes of a document if all goes well."""
        assert not isinstance(piece.state, Failure)
        outcome: Outcome = "updated" if piece.state.document.id in self.known else "added"
        return IngestItem(self.steps[piece.place].item.name, outcome)

    def _not_stored(self, piece: Piece, error: Exception) -> Placed:
        step = self.steps[piece.place]
        return piece.place, self._fail(step, Failure.of(error, "store", step.item.name))

    # The log

    def _fail(self, step: Step, failure: Failure) -> IngestItem:
        """The item of a document that failed, written to the log."""
        item = failure.item(step.item.name, step.document_id)
        log("debug", "document failed", document=step.item.name, traceback=failure.detail)
        self._log_alone([(step, item)])
        return item

    def _check(self, steps: Mapping[str, Step]) -> Check:
        """Asks the guard of documents, by id."""
        return lambda connection, ids: self.guard(connection, {each: steps[each] for each in ids})

    def _log_alone(self, done: Sequence[tuple[Step, IngestItem]]) -> None:
        """Log what changed nothing, in a transaction of its own."""
        if done:
            with writing(self.finisher.store.engine, "logging a document") as connection:
                self._log(connection, [(step, item, None) for step, item in done])

    def _log(self, connection: Connection, done: Sequence[tuple[Step, IngestItem, int | None]]) -> None:
        rows = [Logged(step.collection or self.collection, step.item, item, version) for step, item, version in done]
        write_items(connection, self.run_id, rows)


def _until_fatal(group: Sequence[Piece]) -> Iterator[Piece]:
    for piece in group:
        yield piece
        if isinstance(piece.state, Failure) and piece.state.fatal:
            return


def _timed(item: IngestItem, seconds: float) -> IngestItem:
    return replace(item, seconds=round(seconds, 3))


def _told(item: IngestItem) -> IngestItem:
    log("info", item.outcome, document=item.document, nodes=item.nodes, seconds=item.seconds)
    return item
