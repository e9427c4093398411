"""INGEST: make and run plans; the functions that the command line, the chat and notebooks call."""

import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import count

from llama_index.core.embeddings import BaseEmbedding
from pydantic import SecretStr
from sqlalchemy import select

from config.settings import Settings
from pipelines.ingestion.context_header import HeaderWriter, build_header_writer
from pipelines.ingestion.execute import PlanExecution
from pipelines.ingestion.pipeline import DocumentPipeline
from pipelines.ingestion.plan import (
    NOTHING_STATED,
    Overrides,
    Plan,
    PlanContext,
    collection_chooser,
    locations_to_retry,
    make_plan,
    rule_overrides,
    stored_step,
)
from pipelines.ingestion.prepare import PrepareOptions, Task
from pipelines.ingestion.ray_executor import RayExecutor, build_ray_executor
from pipelines.ingestion.sources import Access, Sources, kind_of
from pipelines.ingestion.sources.base import SILENT, Reporter, throttled
from pipelines.ingestion.sources.files import is_missing, missing_path_error
from pipelines.ingestion.sources.locations import (
    configured_locations,
    declared_sources,
    location_key,
    unique_locations,
)
from pipelines.ingestion.workers import Executor, build_executor, prepare_in_process
from pipelines.models.embedding import build_embed_model
from pipelines.models.identity import identity, is_model_configured, with_identity
from pipelines.observe import log
from pipelines.store import documents as document_rows
from pipelines.store.database import Database, open_database, reading
from pipelines.store.documents import StoredDocument
from pipelines.store.embedding_models import model_to_use
from pipelines.store.fetch_cache import forget_fetched, recall_listings, remember_listing
from pipelines.store.index_snapshots import LexicalIndexes
from pipelines.store.node_table import make_vector_index, set_vector_index_aside
from pipelines.store.originals import named_place, named_uri
from pipelines.store.runs import FailedDocument, current_failures, finish_run, open_run, settle_failures
from pipelines.store.schema import documents
from pipelines.store.vector_store import (
    FootnoteVectorStore,
    build_lexical_indexes,
    build_vector_indexes,
    build_vector_store,
)
from pipelines.types import EmbeddingIdentity, IngestItem, IngestReport, RunKind

Progress = Callable[[int, int, IngestItem], None]
_USUAL = Settings.model_fields["collection"].default


@dataclass(slots=True)
class Ingestion:
    """Plans and runs ingestion into one database with one embedding model.

    Attributes:
        executor: Prepares documents.
        cluster: Executes a run's documents on a Ray cluster instead.
        stop: Once set, a run ends after the documents that are under way.
    """

    settings: Settings
    database: Database
    store: FootnoteVectorStore
    indexes: LexicalIndexes
    embed_model: BaseEmbedding
    identity: EmbeddingIdentity
    header_writer: HeaderWriter | None = None
    executor: Executor = prepare_in_process
    cluster: RayExecutor | None = None
    stop: threading.Event = field(default_factory=threading.Event)

    @property
    def options(self) -> PrepareOptions:
        """The options that are the same for every document."""
        headers = self.header_writer.recipe if self.header_writer else ""
        return PrepareOptions.of(self.settings, self.identity.slug, headers)

    @property
    def pipeline(self) -> DocumentPipeline:
        """The path of a document in a run of this ingestion."""
        return DocumentPipeline(
            self.store, self.embed_model, self.identity, self.header_writer, self.executor, self.options, self.stop
        )

    def plan(
        self,
        locations: Sequence[str],
        *,
        overrides: Overrides = NOTHING_STATED,
        verify: bool = False,
        allow_removals: bool = False,
        only_failed: bool = False,
        reporter: Reporter = SILENT,
    ) -> Plan:
        """Plan a run over these locations; writes nothing but the cache of what was fetched.

        Args:
            locations: None means those of the settings and every known one; with `only_failed` those of what failed.
            overrides: What the caller states of every document.
            verify: Read everything, even what its source says is unchanged.
            allow_removals: Remove even more than a fifth of a source.
            only_failed: Try only what failed the last time.
            reporter: Receives the reason of each wait, and the progress.

        Raises:
            ConfigError: If the file of sources that the settings name cannot be used.
            ServiceUnavailable: If the database cannot be reached.
        """
        began, options, stated = time.perf_counter(), self.options, self.stated_collection(overrides)
        mark = None if stated else self.store.mark()
        collection, known = overrides.collection or self.settings.collection, self.known(stated or None)
        with reading(self.database.engine, "reading what failed") as connection:
            failed = current_failures(connection, stated or None)
        if not locations:
            locations = locations_to_retry(failed) if only_failed else self.every_source(known)
        declared = declared_sources(self.settings)
        progress = reporter.progress or throttled(reporter.say)
        access = Access(self.settings, options.limits.most_bytes, declared, verify, reporter.say, self.stop, progress)
        with closing(Sources(access)) as sources:
            listings, hosts = sources.list(locations), self.settings.web.private_hosts
            named = {location_key(each.location, hosts): each.collection for each in declared.values()}
            by_source = {each.source: named.get(each.location_key, "") for each in listings}
            rules = self.settings.ingestion.rules
            terms = PlanContext(
                recipe_of=lambda parser, loaders: options.recipe(overrides.parser or parser, loaders),
                read=sources.read,
                overrides=overrides.stated,
                rules=lambda item: rule_overrides(item, rules),
                collection=collection,
                collections_of=collection_chooser(stated, collection, rules, by_source, known),
                verify=verify,
                allow_removals=allow_removals,
                failed={failure.source_uri: failure for failure in failed},
                only_failed=only_failed,
                last_listed=recall_listings(self.settings.home, collection),
            )
            plan = make_plan(listings, known, terms)
        return replace(plan, overrides=overrides, seconds=time.perf_counter() - began, known=(known, mark))

    def every_source(self, known: Sequence[StoredDocument]) -> Sequence[str]:
        """The sources of the settings, and those that stored documents came from, each once."""
        own = [named_place(each.source) for each in known if each.source_kind != document_rows.ADDED_NODES]
        return unique_locations((*configured_locations(self.settings), *own), self.settings.web.private_hosts)

    def stated_collection(self, overrides: Overrides) -> str:
        """The collection that the caller or the settings name for all documents; empty if it is left to each."""
        return overrides.collection or ("" if self.settings.collection == _USUAL else self.settings.collection)

    def assert_paths_known(self, locations: Sequence[str]) -> None:
        """Refuse a mistyped path: nothing is there, and nothing that is stored or failed came from there.

        Raises:
            SourceError: For the first such path.
        """
        missing = [location for location in locations if kind_of(location) == "file" and is_missing(location)]
        if missing:
            with reading(self.database.engine, "reading what failed") as connection:
                stored = connection.execute(select(documents.c.source, documents.c.source_uri))
                uris = {uri for row in stored for uri in row}
                uris |= {uri for failed in current_failures(connection) for uri in (failed.source, failed.source_uri)}
            for location in missing:
                uri = named_uri(location)
                if not any(known == uri or known.startswith(f"{uri}/") for known in uris):
                    raise missing_path_error(location)

    def run(
        self,
        plan: Plan,
        *,
        on_progress: Progress | None = None,
        kind: RunKind = "ingest",
        on_run: Callable[[int], None] | None = None,
    ) -> IngestReport:
        """Execute a plan; a document that fails is an item of the report, and the others go on.

        `on_run` is called with the run's number before anything is written.

        Raises:
            ServiceUnavailable: If the database or the embedding model is gone; finished documents stay.
            ConfigError: If the embedding model or a parser does not exist.
        """
        began = time.perf_counter()
        sources = list(dict.fromkeys(step.item.source for step in plan.steps))
        with open_run(self.database.engine, sources, kind=kind, undoes=plan.undoes, looked=plan.seconds) as run_id:
            if on_run:
                on_run(run_id)
            if plan.settled and not self.stop.is_set():  # stopped: what fails instead would not be logged
                settle_failures(self.database.engine, run_id, plan.settled)
            known = {document.id: document for document in self._known_now(plan)}
            steps, tasks = dict(enumerate(plan.steps)), self.tasks(plan, known)
            run = PlanExecution(self.pipeline, run_id, steps, tasks, known)
            set_vector_index_aside(self.database.engine, self.store.table, len(tasks))
            items: dict[int, IngestItem] = {}
            for place, item in self.cluster.items(run) if self.cluster else run.items():
                items[place] = item
                if on_progress:
                    on_progress(len(items), len(plan.steps), item)
            report = self._finish(run_id, [items[place] for place in sorted(items)], plan, began)
        if not report.stopped:
            self.remember_listings(plan)
        return report

    def _finish(self, run_id: int, items: Sequence[IngestItem], plan: Plan, began: float) -> IngestReport:
        """End a run: refresh the indexes, write the run's row, return its report."""
        with ThreadPoolExecutor(1) as background:
            indexed = background.submit(make_vector_index, self.database.engine, self.store.table, self.store.dimension)
            if any(item.outcome not in ("unchanged", "failed") for item in items):
                self.indexes.refresh("owner")
                build_vector_indexes(self.settings, self.database, self.store).prepare("owner")
            indexed.result()
        report = IngestReport(
            run_id,
            tuple(items),
            nodes=sum(item.nodes for item in items if item.outcome in ("added", "updated")),
            embedded=sum(item.embedded for item in items),
            seconds=round(plan.seconds + time.perf_counter() - began, 3),
            stopped=len(items) < len(plan.steps),
            looked=round(plan.seconds, 3),
        )
        finish_run(self.database.engine, report)
        log("info", "run finished", run=run_id, documents=len(items), seconds=report.seconds)
        return report

    def remember_listings(self, plan: Plan) -> None:
        """Remember what each remote source of a plan holds, for the plans of sources that hold the same documents.

        Raises:
            StoreError: If it cannot be written.
        """
        collection = plan.overrides.collection or self.settings.collection
        for source, uris in plan.listed.items():
            remember_listing(self.settings.home, collection, source, uris)

    def tasks(self, plan: Plan, known: Mapping[str, StoredDocument]) -> list[tuple[int, Task]]:
        """(index of the step, task) of every document that the plan adds or updates."""
        taken = {(document.collection, document.source_uri): document.id for document in known.values()}
        tasks, stated, rules = [], plan.overrides.stated, self.settings.ingestion.rules
        for place, step in enumerate(plan.steps):
            if step.action not in ("add", "update"):
                continue
            added = taken.get((step.collection, step.item.uri))  # by another run since the plan
            # of a new document, from its first URI; a numbered one if a moved document kept that URI's id
            minted = (uuid.uuid5(uuid.NAMESPACE_URL, f"{step.collection}|{step.item.uri}|{n or ''}") for n in count())
            document_id = step.document_id or added or next(str(each) for each in minted if str(each) not in known)
            stored = known.get(document_id)
            overrides = {**(stored.said if stored else {}), **stated}
            tasks.append((place, Task(step, document_id, overrides, rule_overrides(step.item, rules), stored)))
        return tasks

    def known(self, collection: str | None = None) -> list[StoredDocument]:
        """The stored documents with their state in this model's node table; of every collection unless one is named."""
        with reading(self.database.engine, "planning") as connection:
            return document_rows.stored_documents(connection, self.store.table, collection=collection)

    def _known_now(self, plan: Plan) -> list[StoredDocument]:
        """The documents of a plan with what changed since; all are read where that is not known."""
        known, mark = plan.known
        changed = self.store.changed_since(mark) if mark else None
        if changed is None:
            return self.known()
        with reading(self.database.engine, "reading what changed since the plan") as connection:
            fresh = document_rows.stored_documents(connection, self.store.table, ids=changed)
        return [*(each for each in known if each.id not in changed), *fresh]

    def remove(self, document_ids: Sequence[str], failures: Sequence[FailedDocument] = ()) -> IngestReport:
        """Remove these documents as a run of its own that can be rolled back; mark these failures as resolved."""
        known = {document.id: document for document in self.known()}
        steps = [stored_step("remove", known[each], "asked for") for each in document_ids if each in known]
        report = self.run(Plan(tuple(steps)), kind="remove")
        settle_failures(self.database.engine, report.run_id, dict.fromkeys(failures, "asked for"))
        left = {document.source_uri for document in self.known()}
        for uri in {step.item.uri for step in steps} - left:
            forget_fetched(self.settings.home, uri)
        return report


def build_ingestion(settings: Settings) -> Ingestion:
    """Build ingestion into the database of these settings, with its active embedding model.

    Raises:
        ConfigError: If the settings do not fit the database or a package is missing.
        ServiceUnavailable: If the database cannot be reached.
    """
    database = open_database(settings)
    model = model_to_use(database.engine, identity(settings), stated=is_model_configured(settings))
    store = build_vector_store(settings, database, model)
    indexes = build_lexical_indexes(settings, database, store)
    writer = build_header_writer(settings, database.engine)
    embed_model = build_embed_model(with_identity(settings, model))
    executor = build_executor(settings.ingestion)
    cluster = None
    if settings.ingestion.executor == "ray":
        url = SecretStr(database.engine.url.render_as_string(hide_password=False))
        cluster = build_ray_executor(settings, url, build_ingestion)
    return Ingestion(settings, database, store, indexes, embed_model, model, writer, executor, cluster)


def ingest(
    settings: Settings,
    locations: Sequence[str] = (),
    *,
    overrides: Overrides = NOTHING_STATED,
    verify: bool = False,
    allow_removals: bool = False,
    on_progress: Progress | None = None,
) -> IngestReport:
    """Plan and run; the report has one item a document.

    Args:
        settings: Where to, and how.
        locations: As on the command line: files, folders, `github:...`, `notion:...`, `https://...`; none = the sources
            of the settings and every known one.
        overrides: What to state of every document instead of detecting it.
        verify: Read everything, even what its source says is unchanged.
        allow_removals: Remove even more than a fifth of a source.
        on_progress: Called with (done, of how many, item) after each document.

    Raises:
        SourceError: If a location can never be a source; one that is only missing is a failed item of the report.
    """
    wanted = unique_locations(locations, settings.web.private_hosts)
    ingestion = build_ingestion(settings)
    plan = ingestion.plan(wanted, overrides=overrides, verify=verify, allow_removals=allow_removals)
    return ingestion.run(plan, on_progress=on_progress)
