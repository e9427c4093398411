"""INGEST: executes a Plan, document by document, each in one transaction."""

import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from llama_index.core.embeddings import BaseEmbedding
from pydantic import SecretStr

from config.settings import Settings
from pipelines.ingestion.absent import sources_of
from pipelines.ingestion.cluster import Cluster, build_cluster
from pipelines.ingestion.execute import Execution
from pipelines.ingestion.executors import Executor, build_executor, here
from pipelines.ingestion.finish import Finisher
from pipelines.ingestion.guards import allow, assert_as_planned
from pipelines.ingestion.header_writer import HeaderWriter, build_header_writer
from pipelines.ingestion.plan import Plan, Step, Terms, make_plan, stored_step
from pipelines.ingestion.prepare import Options, Task
from pipelines.ingestion.rules import ruled
from pipelines.ingestion.sources import Access, Sources, each_once, kind_of
from pipelines.ingestion.sources.base import seldom
from pipelines.ingestion.sources.declared import declared_sources, own_locations
from pipelines.models.embed import build_embed_model
from pipelines.models.identity import identity, is_stated, with_identity
from pipelines.observe import log
from pipelines.store import documents as document_rows
from pipelines.store.database import Database, open_database, reading
from pipelines.store.documents import Known
from pipelines.store.failures import Standing, settle_failures, standing_failures
from pipelines.store.fetched import forget, recall_listings, remember_listing
from pipelines.store.lexical_snapshots import LexicalIndexes
from pipelines.store.models import serving
from pipelines.store.nodes import NodeStore, build_lexical_indexes, build_node_store
from pipelines.store.runs import finish_run, open_run
from pipelines.store.vector_index import make_vector_index, set_vector_index_aside
from pipelines.types import EmbeddingIdentity, IngestItem, IngestReport, RunKind, SourceItem

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
        cluster: What carries a run's documents out instead, where it is one of many machines.
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
    cluster: Cluster | None = None
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
        only_failed: bool = False,
        say: Callable[[str], None] = lambda said: None,
        far: Callable[[str], None] | None = None,
    ) -> Plan:
        """What a run over these locations would do; writes nothing but the cache of what was fetched.

        No locations mean the sources of the settings; with `only_failed` those of what failed. `say` is
        told why a look waits, in words for a person, and `far` at each document how far it is; without one, `say` is
        told that, every ten seconds.

        Raises:
            ConfigError: If the file of sources that the settings name cannot be used.
            ServiceUnavailable: If the database cannot be reached.
        """
        began, options, collection = time.perf_counter(), self.options, self.collection(overrides)
        with reading(self.database.engine, "reading what failed") as connection:
            failed = standing_failures(connection, collection)
        if not locations:
            locations = sources_of(failed) if only_failed else own_locations(self.settings)
        declared = declared_sources(self.settings)
        access = Access(self.settings, options.limits.most_bytes, declared, verify, say, self.stop, far or seldom(say))
        with Sources(access) as sources:
            terms = Terms(
                recipe_of=lambda parser: options.recipe(overrides.parser or parser),
                read=sources.read,
                said=overrides.said,
                ruled=lambda item: ruled(item, self.settings.ingestion.rules),
                verify=verify,
                allow_removals=allow_removals,
                failed={failure.source_uri: failure for failure in failed},
                only_failed=only_failed,
                held=recall_listings(self.settings.home, collection),
            )
            plan = make_plan(sources.list(locations), self.known(collection), terms)
        return replace(plan, seconds=time.perf_counter() - began)

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
        sources = list(dict.fromkeys(step.item.source for step in plan.steps))
        with open_run(self.database.engine, sources, kind=kind, looked=plan.seconds) as run_id:
            report = self._execute(run_id, plan, overrides, on_progress, kind)
        if not report.stopped:
            self.note_held(plan, overrides)
        return report

    def note_held(self, plan: Plan, overrides: Overrides) -> None:
        """Note what each remote source of a plan holds, for the plans of others that hold the same.

        Raises:
            StoreError: If it cannot be written.
        """
        for source, uris in plan.held.items():
            remember_listing(self.settings.home, self.collection(overrides), source, uris)

    def _execute(
        self, run_id: int, plan: Plan, overrides: Overrides, on_progress: Progress | None, kind: RunKind
    ) -> IngestReport:
        began = time.perf_counter()
        if plan.settled and not self.stop.is_set():  # else what fails instead is not written any more
            settle_failures(self.database.engine, run_id, self.collection(overrides), plan.settled)
        known = {document.id: document for document in self.known()}
        run = Execution(
            finisher=self.finisher,
            executor=self.executor,
            options=self.options,
            stop=self.stop,
            run_id=run_id,
            collection=self.collection(overrides),
            steps=plan.steps,
            tasks=self.tasks(plan, overrides, known),
            known=known,
            guard=allow if kind == "remove" else assert_as_planned,  # what a person wants gone goes, whoever changed it
        )
        set_vector_index_aside(self.database.engine, self.store.table, len(run.tasks))
        items: dict[int, IngestItem] = {}
        for place, item in self.cluster.items(run) if self.cluster else run.items():
            items[place] = item
            if on_progress:
                on_progress(len(items), len(plan.steps), item)
        in_order = [items[place] for place in sorted(items)]
        stopped = len(items) < len(plan.steps)
        return self.finish(run_id, in_order, began=began, stopped=stopped, looked=plan.seconds)

    def finish(
        self, run_id: int, items: Sequence[IngestItem], *, began: float, stopped: bool, looked: float = 0.0
    ) -> IngestReport:
        """End a run: its row, its report, and the indexes.

        Its steps `began` at that reading of the clock, after it had `looked` at its sources for so many seconds.
        """
        with ThreadPoolExecutor(1) as beside:
            made = beside.submit(make_vector_index, self.database.engine, self.store.table, self.store.dimension)
            if any(item.outcome not in ("unchanged", "failed") for item in items):
                self.indexes.refresh("owner")
            made.result()
        report = IngestReport(
            run_id,
            tuple(items),
            nodes=sum(item.nodes for item in items if item.outcome in ("added", "updated")),
            embedded=sum(item.embedded for item in items),
            seconds=round(looked + time.perf_counter() - began, 3),
            stopped=stopped,
            looked=round(looked, 3),
        )
        counts = Counter[str](item.outcome for item in items)
        finish_run(self.database.engine, report, counts, state="stopped" if report.stopped else "done")
        log("info", "run finished", run=run_id, documents=len(items), seconds=report.seconds)
        return report

    def tasks(self, plan: Plan, overrides: Overrides, known: Mapping[str, Known]) -> list[tuple[int, Task]]:
        """(place of the step, what is to be prepared) of every document that the plan adds or updates."""
        collection, rules = self.collection(overrides), self.settings.ingestion.rules
        taken = {(held.collection, held.source_uri): held.id for held in known.values()}
        return [
            (place, task_of(_placed(step, collection, taken), collection, known, overrides, ruled(step.item, rules)))
            for place, step in enumerate(plan.steps)
            if step.action in ("add", "update")
        ]

    def known(self, collection: str | None = None) -> list[Known]:
        """What is stored, as this model's nodes know it; of every collection unless one is named."""
        with reading(self.database.engine, "planning") as connection:
            return document_rows.known(connection, self.store.table, collection=collection)

    def remove(self, document_ids: Sequence[str], failures: Sequence[Standing] = ()) -> IngestReport:
        """Remove these documents, each in one transaction, as a run of its own that can be rolled back.

        Of `failures`, what failed and is not stored, it is noted that nobody wants it any more.
        """
        known = {document.id: document for document in self.known()}
        steps = [stored_step("remove", known[held], "asked for") for held in document_ids if held in known]
        report = self.run(Plan(tuple(steps), (), ()), kind="remove")
        for failure in failures:
            item = SourceItem(failure.source_uri, failure.document, failure.source, kind_of(failure.source))
            settle_failures(self.database.engine, report.run_id, failure.collection, {item: "asked for"})
        held = {document.source_uri for document in self.known()}
        for uri in {step.item.uri for step in steps} - held:
            forget(self.settings.home, uri)
        return report

    def collection(self, overrides: Overrides) -> str:
        """Where the documents of a run belong."""
        return overrides.collection or self.settings.collection


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
    executor = build_executor(settings.ingestion)
    cluster = None
    if settings.ingestion.executor == "ray":
        cluster = build_cluster(settings, SecretStr(database.engine.url.render_as_string(hide_password=False)))
    return Ingestion(settings, database, store, indexes, embed_model, model, writer, executor, cluster)


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
        locations: As on the command line: files, folders, `github:...`, `notion:...`, `https://...`; none = the sources
            of the settings.
        overrides: What to say of every document instead of finding it out.
        verify: Read everything, even what its source says is as it was.
        allow_removals: Remove even more than a fifth of a source.
        on_progress: Told (done, of how many, item) after each document.

    Raises:
        SourceError: If a location can never be a source; what merely is not there is an item of the report.
    """
    wanted = each_once(locations, settings.web.private_hosts)
    ingestion = build_ingestion(settings)
    plan = ingestion.plan(wanted, overrides=overrides, verify=verify, allow_removals=allow_removals)
    return ingestion.run(plan, overrides=overrides, on_progress=on_progress)


def _placed(step: Step, collection: str, taken: Mapping[tuple[str, str], str]) -> Step:
    """The step; an addition with the id of the document that another run put at its place since the plan."""
    if step.document_id:
        return step
    return replace(step, document_id=taken.get((step.collection or collection, step.item.uri), ""))


def task_of(
    step: Step, collection: str, known: Mapping[str, Known], overrides: Overrides, told: Mapping[str, object]
) -> Task:
    """What has to be prepared for a step that adds or updates; `told` is what rules say of the document."""
    collection = step.collection or collection
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
