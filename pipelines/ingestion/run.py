"""INGEST: executes a Plan, document by document, each in one transaction."""

import time
import traceback
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from llama_index.core.embeddings import BaseEmbedding

from config.settings import Settings
from pipelines.errors import ConfigError, FootnoteError, ParseError, ServiceUnavailable
from pipelines.ingestion.classify import classify
from pipelines.ingestion.embed import Embedder, TextEmbedder
from pipelines.ingestion.fingerprint import content_sha, meta_sha, recipe
from pipelines.ingestion.header_writer import HeaderCost, HeaderWriter, build_header_writer
from pipelines.ingestion.loaders import Limits, load
from pipelines.ingestion.parsers import parse, parser_for
from pipelines.ingestion.plan import Plan, Step, make_plan
from pipelines.ingestion.rules import ruled
from pipelines.ingestion.sources import SOURCES, list_sources
from pipelines.models.embed import build_embed_model
from pipelines.models.identity import identity
from pipelines.observe import log
from pipelines.store import documents as document_rows
from pipelines.store.database import Database, open_database, reading, writing
from pipelines.store.documents import Known
from pipelines.store.lexical_snapshots import LexicalIndexes
from pipelines.store.nodes import Made, NodeStore, build_lexical_indexes, build_node_store
from pipelines.store.originals import keep_original
from pipelines.store.runs import finish_run, start_run, write_item
from pipelines.types import Document, EmbeddingIdentity, IngestItem, IngestReport, Outcome

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
    """Plans and runs ingestion into one database with one embedding model."""

    settings: Settings
    database: Database
    store: NodeStore
    indexes: LexicalIndexes
    embed_model: BaseEmbedding
    identity: EmbeddingIdentity
    header_writer: HeaderWriter | None = None

    def plan(
        self,
        locations: Sequence[str],
        *,
        overrides: Overrides = Overrides(),
        verify: bool = False,
        allow_removals: bool = False,
    ) -> Plan:
        """What a run over these locations (none = the sources of the settings) would do; writes nothing."""
        return make_plan(
            list_sources(locations or self.settings.ingestion.sources),
            self.known(self._collection(overrides)),
            recipe_of=lambda parser: self._recipe(overrides.parser or parser),
            limit=self.settings.ingestion.max_binary_bytes,
            said=overrides.said,
            ruled=lambda item: ruled(item, self.settings.ingestion.rules),
            verify=verify,
            allow_removals=allow_removals,
        )

    def header_cost(self, plan: Plan, *, overrides: Overrides = Overrides()) -> HeaderCost:
        """How often a run of this plan would ask a language model for a header, and with how many tokens.

        Documents to be added or updated are loaded and parsed for it; one that cannot be is left out.
        """
        if self.header_writer is None:
            return HeaderCost(0, 0)
        known = {document.id: document for document in self.known(self._collection(overrides))}
        costs = [self._header_cost(step, known, overrides) for step in plan.steps if step.action in ("add", "update")]
        return HeaderCost(sum(cost.calls for cost in costs), sum(cost.tokens for cost in costs))

    def _header_cost(self, step: Step, known: dict[str, Known], overrides: Overrides) -> HeaderCost:
        assert self.header_writer is not None
        embedder = TextEmbedder(Embedder(self.embed_model, self.database.engine, self.identity))
        try:
            document, parser = self._read(step, known, overrides, [""])[1:]
            nodes = parse(document, parser, self.settings.parsing, embedder)
        except FootnoteError:
            return HeaderCost(0, 0)
        asked = self.header_writer.missing(document.id, nodes)
        return HeaderCost(len(asked), sum(self.header_writer.tokens(document, node) for node in asked))

    def run(
        self, plan: Plan, *, overrides: Overrides = Overrides(), on_progress: Progress | None = None
    ) -> IngestReport:
        """Do what the plan says; a document that fails is an item of the report, and the others go on.

        Raises:
            ServiceUnavailable: If the database or the embedding model is gone; finished documents stay.
            ConfigError: If the embedding model or a parser does not exist.
        """
        began = time.perf_counter()
        engine = self.database.engine
        sources = list(dict.fromkeys(step.item.source for step in plan.steps))
        run_id = start_run(engine, sources)
        known = {document.id: document for document in self.known(self._collection(overrides))}
        items: list[IngestItem] = []
        for done, step in enumerate(plan.steps, start=1):
            items.append(self._do(step, run_id, known, overrides))
            if on_progress:
                on_progress(done, len(plan.steps), items[-1])
        if any(item.outcome not in ("unchanged", "failed") for item in items):
            self.indexes.refresh("owner")
        report = IngestReport(
            run_id,
            tuple(items),
            nodes=sum(item.nodes for item in items if item.outcome in ("added", "updated")),
            embedded=sum(item.embedded for item in items),
            seconds=round(time.perf_counter() - began, 3),
        )
        finish_run(engine, report, Counter(item.outcome for item in items))
        log("info", "run finished", run=run_id, documents=len(items), seconds=report.seconds)
        return report

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

    # One document

    def _do(self, step: Step, run_id: int, known: dict[str, Known], overrides: Overrides) -> IngestItem:
        began = time.perf_counter()
        stage = ["plan"]
        try:
            item = self._carry_out(step, run_id, known, overrides, stage)
        except (ConfigError, ServiceUnavailable):
            raise
        except Exception as error:  # noqa: BLE001 - one bad document, whatever it does to a library, stops only itself
            item = _failed(step, error, stage[0])
            log("debug", "document failed", document=step.item.name, traceback=traceback.format_exception(error))
            self._record(run_id, step, item, overrides)
        item = replace(item, seconds=round(time.perf_counter() - began, 3))
        log("info", item.outcome, document=item.document, nodes=item.nodes, seconds=item.seconds)
        return item

    def _carry_out(
        self, step: Step, run_id: int, known: dict[str, Known], overrides: Overrides, stage: list[str]
    ) -> IngestItem:
        if step.error is not None:
            stage[0] = "list"
            raise step.error
        if step.action == "unchanged":
            item = IngestItem(step.item.name, "unchanged", document_id=step.document_id)
            held = known[step.document_id]
            if held.stamp != step.item.stamp:
                document_rows.restamp(self.database.engine, held.id, step.item.stamp)
            return replace(item, nodes=held.nodes)
        if step.action == "remove":
            stage[0] = "store"
            item = IngestItem(step.item.name, "removed", document_id=step.document_id)
            gone = self.store.remove(step.document_id, within=self._writer(run_id, step, item, overrides))
            return replace(item, nodes=gone)
        return self._bring_in(step, run_id, known, overrides, stage)

    def _bring_in(
        self, step: Step, run_id: int, known: dict[str, Known], overrides: Overrides, stage: list[str]
    ) -> IngestItem:
        data, document, parser = self._read(step, known, overrides, stage)
        held = known.get(document.id)
        made_by = self._recipe(parser)
        if held and held.indexed_sha == document.content_sha and held.recipe == made_by:
            stage[0] = "store"
            item = IngestItem(step.item.name, "metadata", document_id=document.id, nodes=held.nodes)
            self.store.update_metadata(document, within=self._writer(run_id, step, item, overrides))
            return item
        stage[0] = "parse"
        embedder = Embedder(self.embed_model, self.database.engine, self.identity)
        of_texts = TextEmbedder(embedder)
        nodes = parse(document, parser, self.settings.parsing, of_texts)
        if not nodes:
            raise ParseError(f"{step.item.name} has no text to index.", hint="Check that the file is not empty.")
        if self.header_writer:
            stage[0] = "header"
            nodes, failed = self.header_writer(document, nodes)
            made_by += f" but for {failed}" if failed else ""  # which the next run asks again
        stage[0] = "embed"
        vectors, embedded = embedder(nodes)
        embedded += of_texts.embedded
        stage[0] = "store"
        keep_original(self.settings.home, document.file_sha, data)
        outcome: Outcome = "updated" if held else "added"
        item = IngestItem(step.item.name, outcome, document_id=document.id, nodes=len(nodes), embedded=embedded)
        made = Made(parser, made_by)
        if not self.store.replace(document, nodes, vectors, made, within=self._writer(run_id, step, item, overrides)):
            item = replace(item, outcome="unchanged")  # another run has written just this meanwhile
            self._record(run_id, step, item, overrides)
        return item

    def _read(
        self, step: Step, known: dict[str, Known], overrides: Overrides, stage: list[str]
    ) -> tuple[bytes, Document, str]:
        """(the bytes, the document with its identity and hashes, the name of its parser)."""
        limits = self.settings.ingestion
        stage[0] = "read"
        data = SOURCES[step.item.source_kind].read(step.item, limits.max_binary_bytes)
        stage[0] = "load"
        loaded = load(
            data,
            step.item,
            limits=Limits(**{name: getattr(limits, name) for name in Limits.__slots__}),
        )
        document = self._identified(loaded, step, known, overrides)
        told = {**document.metadata.get("ruled", {}), **document.metadata.get("said", {})}
        parser = told.get("parser") or parser_for(document)
        return data, document.with_(content_sha=content_sha(document, parser), meta_sha=meta_sha(document)), parser

    def _identified(self, loaded: Document, step: Step, known: dict[str, Known], overrides: Overrides) -> Document:
        """The loaded document with its identity, its class and what the command line, else a rule, says of it."""
        collection = self._collection(overrides)
        document_id = step.document_id or mint_id(collection, step.item.uri, known)
        said = {**(known[document_id].said if document_id in known else {}), **overrides.said}
        rules = ruled(step.item, self.settings.ingestion.rules)
        told = {**rules, **said}
        document = classify(
            loaded.with_(year=told.get("year", loaded.year)),
            category=told.get("category", ""),
            visibility=told.get("visibility"),
        )
        kept = {name: value for name, value in (("said", said), ("ruled", rules)) if value}
        return document.with_(
            id=document_id,
            collection=collection,
            stamp=step.item.stamp,
            ingested_at=datetime.now(UTC),
            metadata={**document.metadata, **kept},
        )

    def _recipe(self, parser: str) -> str:
        headers = self.header_writer.recipe if self.header_writer else ""
        return recipe(parser, self.settings.parsing, self.identity.slug, headers)

    # The record

    def _collection(self, overrides: Overrides) -> str:
        return overrides.collection or self.settings.collection

    def _writer(self, run_id: int, step: Step, item: IngestItem, overrides: Overrides) -> Callable[[Any], None]:
        collection = self._collection(overrides)
        return lambda connection: write_item(connection, run_id, collection, step.item, item)

    def _record(self, run_id: int, step: Step, item: IngestItem, overrides: Overrides) -> None:
        with writing(self.database.engine, "logging a failure") as connection:
            self._writer(run_id, step, item, overrides)(connection)


def build_ingestion(settings: Settings) -> Ingestion:
    """Ingestion into the database of these settings.

    Raises:
        ConfigError: If the settings do not fit the database or a package is missing.
        ServiceUnavailable: If the database cannot be reached.
    """
    database = open_database(settings)
    model = identity(settings)
    store = build_node_store(settings, database, model)
    indexes = build_lexical_indexes(settings, database, store)
    writer = build_header_writer(settings, database.engine)
    return Ingestion(settings, database, store, indexes, build_embed_model(settings), model, writer)


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


def mint_id(collection: str, uri: str, known: dict[str, Known]) -> str:
    """A document id from its first URI; another one when that URI's id went with its file elsewhere."""
    for attempt in range(len(known) + 1):
        minted = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{collection}|{uri}|{attempt or ''}"))
        if minted not in known:
            return minted
    raise AssertionError("more ids than documents")


def _failed(step: Step, error: Exception, stage: str) -> IngestItem:
    known = isinstance(error, FootnoteError)
    return IngestItem(
        document=step.item.name,
        outcome="failed",
        stage=stage,
        error=type(error).__name__,
        message=error.message if isinstance(error, FootnoteError) else f"{step.item.name}: {error}"[:2000],
        hint=error.hint if known and isinstance(error, FootnoteError) else "This is a bug; --json has its class.",
        document_id=step.document_id,
    )
