"""INGEST: executes a Plan, document by document, each in one transaction."""

import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from llama_index.core.embeddings import BaseEmbedding
from sqlalchemy import Connection

from config.settings import Settings
from pipelines.errors import ConfigError, ServiceUnavailable
from pipelines.ingestion.executors import Executor, here
from pipelines.ingestion.finish import Finisher, Record
from pipelines.ingestion.header_writer import HeaderWriter, build_header_writer
from pipelines.ingestion.plan import Plan, Step, make_plan
from pipelines.ingestion.prepare import Failure, Options, Prepared, Task
from pipelines.ingestion.rules import ruled
from pipelines.ingestion.sources import list_sources
from pipelines.models.embed import build_embed_model
from pipelines.models.identity import identity, is_stated, with_identity
from pipelines.observe import log
from pipelines.store import documents as document_rows
from pipelines.store.database import Database, open_database, reading, writing
from pipelines.store.documents import Known
from pipelines.store.lexical_snapshots import LexicalIndexes
from pipelines.store.models import serving
from pipelines.store.nodes import NodeStore, build_lexical_indexes, build_node_store
from pipelines.store.runs import finish_run, start_run, write_item
from pipelines.types import EmbeddingIdentity, IngestItem, IngestReport, RunKind

Progress = Callable[[int, int, IngestItem], None]


@dataclass(frozen=True, slots=True)
class Overrides:
    """What the command line says of every document of a run, instead of what is found out."""

    collection: str = ""
    category: str = ""
    visibility: str = ""
    parser: str = ""

    @property
    def said(self) -> dict[str, str]:
        """What is said of the documents themselves, and kept with them."""
        given = {"category": self.category, "visibility": self.visibility, "parser": self.parser}
        return {name: value for name, value in given.items() if value}


@dataclass(slots=True)
class Ingestion:
    """Plans and runs ingestion into one database with one embedding model.

    Attributes:
        executor: Where documents are prepared.
        stop: Once set, a run ends after the documents that are under way.
    """

    settings: Settings
    database: Database
    store: NodeStore
    indexes: LexicalIndexes
    embed_model: BaseEmbedding
    identity: EmbeddingIdentity
    header_writer: HeaderWriter | None = None
    executor: Executor = here
    stop: threading.Event = field(default_factory=threading.Event)

    @property
    def options(self) -> Options:
        """What is the same for every document."""
        headers = self.header_writer.recipe if self.header_writer else ""
        return Options.of(self.settings, self.identity.slug, headers)

    @property
    def finisher(self) -> Finisher:
        """What embeds and stores a prepared document."""
        return Finisher(self.store, self.embed_model, self.identity, self.settings.parsing, self.header_writer)

    def plan(
        self,
        locations: Sequence[str],
        *,
        overrides: Overrides = Overrides(),
        verify: bool = False,
        allow_removals: bool = False,
    ) -> Plan:
        """What a run over these locations (none = the sources of the settings) would do; writes nothing."""
        options = self.options
        return make_plan(
            list_sources(locations or self.settings.ingestion.sources),
            self.known(self.collection(overrides)),
            recipe_of=lambda parser: options.recipe(overrides.parser or parser),
            limit=self.settings.ingestion.max_binary_bytes,
            said=overrides.said,
            ruled=lambda item: ruled(item, self.settings.ingestion.rules),
            verify=verify,
            allow_removals=allow_removals,
        )

    def run(
        self,
        plan: Plan,
        *,
        overrides: Overrides = Overrides(),
        on_progress: Progress | None = None,
        kind: RunKind = "ingest",
    ) -> IngestReport:
        """Do what the plan says; a document that fails is an item of the report, and the others go on.

        Raises:
            ServiceUnavailable: If the database or the embedding model is gone; finished documents stay.
            ConfigError: If the embedding model or a parser does not exist.
        """
        began = time.perf_counter()
        engine = self.database.engine
        run_id = start_run(engine, list(dict.fromkeys(step.item.source for step in plan.steps)), kind=kind)
        known = {document.id: document for document in self.known(self.collection(overrides))}
        run = _Run(self, run_id, self.collection(overrides), plan.steps, known, overrides)
        items: dict[int, IngestItem] = {}
        for place, item in run.items():
            items[place] = item
            if on_progress:
                on_progress(len(items), len(plan.steps), item)
        if any(item.outcome not in ("unchanged", "failed") for item in items.values()):
            self.indexes.refresh("owner")
        report = IngestReport(
            run_id,
            tuple(items[place] for place in sorted(items)),
            nodes=sum(item.nodes for item in items.values() if item.outcome in ("added", "updated")),
            embedded=sum(item.embedded for item in items.values()),
            seconds=round(time.perf_counter() - began, 3),
            stopped=len(items) < len(plan.steps),
        )
        counts = Counter[str](item.outcome for item in items.values())
        finish_run(engine, report, counts, state="stopped" if report.stopped else "done")
        log("info", "run finished", run=run_id, documents=len(items), seconds=report.seconds)
        return report

    def tasks(self, plan: Plan, overrides: Overrides = Overrides()) -> list[tuple[int, Task]]:
        """(place of the step, what is to be prepared) of every document that the plan adds or updates."""
        collection = self.collection(overrides)
        known = {document.id: document for document in self.known(collection)}
        rules = self.settings.ingestion.rules
        return [
            (place, task_of(step, collection, known, overrides, ruled(step.item, rules)))
            for place, step in enumerate(plan.steps)
            if step.action in ("add", "update")
        ]

    def known(self, collection: str | None = None) -> list[Known]:
        """What is stored, as this model's nodes know it; of every collection unless one is named."""
        with reading(self.database.engine, "planning") as connection:
            return document_rows.known(connection, self.store.table, collection=collection)

    def remove(self, document_ids: Sequence[str]) -> int:
        """Remove these documents, each in one transaction; how many there were."""
        for document_id in document_ids:
            self.store.remove(document_id)
        if document_ids:
            self.indexes.refresh("owner")
        return len(document_ids)

    def collection(self, overrides: Overrides) -> str:
        """Where the documents of a run belong."""
        return overrides.collection or self.settings.collection


@dataclass(slots=True)
class _Run:
    """One run under way."""

    ingestion: Ingestion
    run_id: int
    collection: str
    steps: Sequence[Step]
    known: Mapping[str, Known]
    overrides: Overrides

    def items(self) -> Iterator[tuple[int, IngestItem]]:
        """(place of the step, what became of it), as they end; ends early once a stop is asked for."""
        tasks: list[tuple[int, Task]] = []
        rules = self.ingestion.settings.ingestion.rules
        for place, step in enumerate(self.steps):
            if self.ingestion.stop.is_set():
                return
            if step.action in ("add", "update"):
                told = ruled(step.item, rules)
                tasks.append((place, task_of(step, self.collection, self.known, self.overrides, told)))
            else:
                yield place, self._timed(step, lambda stage, step=step: self._settle(step, stage))  # type: ignore[misc]
        for place, prepared in self.ingestion.executor(tasks, self.ingestion.options):
            step = self.steps[place]
            yield place, self._timed(step, lambda stage, s=step, p=prepared: self._finish(s, p, stage))  # type: ignore[misc]
            if self.ingestion.stop.is_set():
                return

    def _timed(self, step: Step, do: Callable[[list[str]], IngestItem]) -> IngestItem:
        began, stage = time.perf_counter(), ["plan"]
        try:
            item = do(stage)
        except (ConfigError, ServiceUnavailable):
            raise
        except Exception as error:  # noqa: BLE001 - one bad document stops only itself
            item = self._fail(step, Failure.of(error, stage[0], step.item.name))
        item = replace(item, seconds=round(time.perf_counter() - began, 3))
        log("info", item.outcome, document=item.document, nodes=item.nodes, seconds=item.seconds)
        return item

    def _settle(self, step: Step, stage: list[str]) -> IngestItem:
        """Do what needs no parsing."""
        if step.error is not None:
            stage[0] = "list"
            raise step.error
        if step.action == "unchanged":
            held = self.known[step.document_id]
            if held.stamp != step.item.stamp:
                document_rows.restamp(self.ingestion.database.engine, held.id, step.item.stamp)
            return IngestItem(step.item.name, "unchanged", document_id=step.document_id, nodes=held.nodes)
        stage[0] = "store"
        item = IngestItem(step.item.name, "removed", document_id=step.document_id)
        record = self._record(step)
        gone = self.ingestion.store.remove(step.document_id, within=lambda link, version: record(link, item, version))
        return replace(item, nodes=gone)

    def _finish(self, step: Step, prepared: Prepared | Failure, stage: list[str]) -> IngestItem:
        if isinstance(prepared, Failure):
            if prepared.fatal:
                raise ConfigError(prepared.message, hint=prepared.hint)
            return self._fail(step, prepared)
        finisher, record = self.ingestion.finisher, self._record(step)
        held = self.known.get(prepared.document.id)
        item = IngestItem(step.item.name, "updated" if held else "added")
        if prepared.metadata_only:
            stage[0] = "store"
            return finisher.store_metadata(prepared, replace(item, nodes=held.nodes if held else 0), record)

        def at(name: str) -> None:
            stage[0] = name

        embedded = finisher.embed(prepared, at)
        stage[0] = "store"
        item = finisher.store_nodes(embedded, item, record)
        if item.outcome == "unchanged":
            self._write(step, item)
        return item

    def _fail(self, step: Step, failure: Failure) -> IngestItem:
        """The item of a document that failed, written to the log."""
        item = IngestItem(
            document=step.item.name,
            outcome="failed",
            stage=failure.stage,
            error=failure.error,
            message=failure.message,
            hint=failure.hint,
            document_id=step.document_id,
        )
        log("debug", "document failed", document=step.item.name, traceback=failure.detail)
        self._write(step, item)
        return item

    def _record(self, step: Step) -> Record:
        def record(connection: Connection, item: IngestItem, version: int | None) -> None:
            write_item(connection, self.run_id, self.collection, step.item, item, version_id=version)

        return record

    def _write(self, step: Step, item: IngestItem) -> None:
        with writing(self.ingestion.database.engine, "logging a document") as connection:
            self._record(step)(connection, item, None)


def build_ingestion(settings: Settings) -> Ingestion:
    """Ingestion into the database of these settings, for the embedding model that serves there.

    Raises:
        ConfigError: If the settings do not fit the database or a package is missing.
        ServiceUnavailable: If the database cannot be reached.
    """
    database = open_database(settings)
    model = serving(database.engine, identity(settings), stated=is_stated(settings))
    store = build_node_store(settings, database, model)
    indexes = build_lexical_indexes(settings, database, store)
    writer = build_header_writer(settings, database.engine)
    embed_model = build_embed_model(with_identity(settings, model))
    return Ingestion(settings, database, store, indexes, embed_model, model, writer)


def ingest(
    settings: Settings,
    locations: Sequence[str] = (),
    *,
    overrides: Overrides = Overrides(),
    verify: bool = False,
    allow_removals: bool = False,
    on_progress: Progress | None = None,
) -> IngestReport:
    """Plan and run; the report has one item a document.

    Args:
        settings: Where to, and how.
        locations: Files and folders; none = the sources of the settings.
        overrides: What to say of every document instead of finding it out.
        verify: Read every file, even where size and time are as they were.
        allow_removals: Remove even more than a fifth of a source.
        on_progress: Told (done, of how many, item) after each document.
    """
    ingestion = build_ingestion(settings)
    plan = ingestion.plan(locations, overrides=overrides, verify=verify, allow_removals=allow_removals)
    return ingestion.run(plan, overrides=overrides, on_progress=on_progress)


def task_of(
    step: Step, collection: str, known: Mapping[str, Known], overrides: Overrides, told: Mapping[str, object]
) -> Task:
    """What has to be prepared for a step that adds or updates; `told` is what rules say of the document."""
    document_id = step.document_id or mint_id(collection, step.item.uri, known)
    held = known.get(document_id)
    return Task(
        item=step.item,
        document_id=document_id,
        collection=collection,
        said={**(held.said if held else {}), **overrides.said},
        ruled=told,
        indexed_sha=held.indexed_sha if held else "",
        indexed_recipe=held.recipe if held else "",
        original=step.original,
    )


def mint_id(collection: str, uri: str, known: Mapping[str, Known]) -> str:
    """A document id from its first URI; another one when that URI's id went with its file elsewhere."""
    for attempt in range(len(known) + 1):
        minted = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{collection}|{uri}|{attempt or ''}"))
        if minted not in known:
            return minted
    raise AssertionError("more ids than documents")
