"""REINDEX: make stored documents again, by today's code and settings, or for another embedding model side by side."""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from config.settings import Settings
from pipelines.errors import FootnoteError, SourceError, StoreError
from pipelines.ingestion.change_detection import recipe_changes
from pipelines.ingestion.context_header import build_header_writer
from pipelines.ingestion.execute import FATAL_ERRORS, embed_group, group_share, run_stages
from pipelines.ingestion.loaders import loader_version
from pipelines.ingestion.parsers import parser_for
from pipelines.ingestion.plan import Plan, stored_step
from pipelines.ingestion.prepare import PreparationFailure, PreparedDocument, PrepareOptions, parse_document
from pipelines.ingestion.preview import texts_to_embed
from pipelines.ingestion.run import Ingestion
from pipelines.ingestion.sources.locations import normalized_location
from pipelines.ingestion.workers import PrepareResult
from pipelines.models.embedding import build_embed_model
from pipelines.models.identity import with_identity
from pipelines.models.usage import cost, embedding_price
from pipelines.observe import log, log_failure
from pipelines.store import documents as document_rows
from pipelines.store.added_nodes import remade
from pipelines.store.database import open_database, reading
from pipelines.store.documents import StoredDocument
from pipelines.store.embedding_models import active_table
from pipelines.store.known_values import assert_collection
from pipelines.store.node_table import node_table
from pipelines.store.node_writer import Replacement, index_document
from pipelines.store.originals import original_path
from pipelines.store.status import from_source, nothing_from
from pipelines.store.vector_store import FootnoteVectorStore, build_lexical_indexes
from pipelines.types import Document, EmbeddingIdentity

Progress = Callable[[int, int, str], None]  # (documents done, of how many, the last one's name)
_Outcome = (
    tuple[int, int] | PreparationFailure | None
)  # (nodes, embeddings), why it failed, or None if it changed meanwhile
_LOADERS = re.compile(r"loaders@[0-9]+")


# Reindexing: today's code and settings, the same embedding model


def plan_reindex(ingestion: Ingestion, source: str = "", collection: str = "") -> Plan:
    """Plan an update of every stored document, or of those of a source or a collection, from its stored original.

    Documents keep their identity, their place and their overrides; today's rules of the settings apply. A document
    whose original is missing fails; one made of added nodes has none, and stays. `Ingestion.run` executes the plan.

    Raises:
        RetrievalError: If no document came from that source, or there is no such collection.
    """
    if collection:
        assert_collection(ingestion.database.engine, collection)
    stored = ingestion.known(collection or None)
    known = [document for document in stored if document.source_kind != document_rows.ADDED_NODES]
    if source:
        with reading(ingestion.database.engine, "looking documents up") as connection:
            chosen = set(from_source(connection, normalized_location(source, ingestion.settings.web.private_hosts)))
        everything, known = known, [document for document in known if document.id in chosen]
        if not known:
            raise nothing_from(source, [document.source for document in everything])
    steps = []
    for document in known:
        if original_path(ingestion.settings.home, document.file_sha).is_file():
            today = ingestion.options.recipe(document.parser, loader_version(document))
            reason = recipe_changes(document.recipe, today) or "to be compared"
            steps.append(stored_step("update", document, reason, original=document.file_sha))
        else:
            missing = f"The stored original of {document.name} is missing."
            error = SourceError(missing, hint="Ingest it again from its source.")
            step = stored_step("fail", document, "its original is missing")
            steps.append(replace(step, error=error, stage="read"))
    return Plan(tuple(steps))


# Re-embedding: another embedding model, side by side with the active one


# A stored document that the new table lacks or holds under an outdated recipe, and what the active one holds of it.
StaleDocument = tuple[StoredDocument, StoredDocument | None]


@dataclass(frozen=True, slots=True)
class ReembeddingCost:
    """The cost of filling the table: texts that the embedding cache lacks, their cl100k tokens, and US dollars.

    `dollars` is None if the price of the model is not known.
    """

    documents: int
    texts: int
    tokens: int
    dollars: float | None


@dataclass(frozen=True, slots=True)
class ReembeddingReport:
    """The result of a run: the documents that were written with their nodes, and by name those that failed."""

    documents: int
    nodes: int
    embedded: int
    failed: Mapping[str, PreparationFailure]
    seconds: float


@dataclass(slots=True)
class Reembedding:
    """Fills the node table of another embedding model from the stored documents, while the active one keeps serving.

    No source and no original is read. What the table holds already stays, so an interrupted run can be continued.
    """

    ingestion: Ingestion

    def due(self) -> list[StaleDocument]:
        """The stored documents that have to be written to this table, by name."""
        with reading(self.ingestion.database.engine, "reading what is stored") as connection:
            table = active_table(connection)
            served = document_rows.stored_documents(connection, table) if table else []
        active = {each.id: each for each in served if each.indexed_sha == each.content_sha}
        due: list[StaleDocument] = []
        for stored in self.ingestion.known():
            now, is_current = active.get(stored.id), stored.indexed_sha == stored.content_sha
            if now and is_current:
                today = self.ingestion.options.recipe(now.parser, loader_version(now))
                is_current = stored.recipe == _with_stored_loaders(today, now)
            if not is_current:
                due.append((stored, now))
        return due

    def price(self, due: Sequence[StaleDocument], on_progress: Progress = lambda *_: None) -> ReembeddingCost:
        """The cost of embedding these documents; nothing is embedded.

        Raises:
            ConfigError: If a parser does not exist.
        """
        texts: dict[str, int] = {}
        for done, one in enumerate(due, start=1):
            try:
                prepared = self._prepared(one)
                texts |= texts_to_embed(self.ingestion, prepared) if prepared else {}
            except FATAL_ERRORS:
                raise
            except FootnoteError as error:
                log_failure("not foreseen", error, document=one[0].name)
            on_progress(done, len(due), one[0].name)
        settings, tokens = self.ingestion.settings, sum(texts.values())
        dollars = cost(tokens, embedding_price(self.ingestion.identity, settings.embedding.price))
        return ReembeddingCost(len(due), len(texts), tokens, dollars)

    def run(self, on_progress: Progress = lambda *_: None) -> ReembeddingReport:
        """Write every document that is due, each in one transaction; also those that change meanwhile.

        Raises:
            ServiceUnavailable: If the database or the embedding model is gone; finished documents stay.
            ConfigError: If the model cannot be used, or was promoted or dropped meanwhile.
        """
        began, pipeline = time.perf_counter(), self.ingestion.pipeline
        self.ingestion.store.ensure(self.ingestion.identity.provider, self.ingestion.identity.model)
        done, nodes, embedded, failed = 0, 0, 0, dict[str, PreparationFailure]()
        finished: set[tuple[str, str]] = set()
        while due := [one for one in self.due() if (one[0].id, one[0].content_sha) not in finished]:
            total = len(finished) + len(due)
            stages = run_stages(
                self._parsed(due),
                partial(embed_group, pipeline),  # the texts of small documents are embedded together
                lambda group: [(place, self._index(state)) for place, state in group],
                weigh=partial(group_share, pipeline),
            )
            with closing(stages) as written:
                for place, outcome in written:
                    one, _ = due[place]
                    if outcome is None:
                        continue  # it changed, and is due again
                    finished.add((one.id, one.content_sha))
                    if isinstance(outcome, PreparationFailure):
                        failed[one.name] = outcome
                    else:
                        done, nodes, embedded = done + 1, nodes + outcome[0], embedded + outcome[1]
                    on_progress(len(finished), total, one.name)
        seconds = round(time.perf_counter() - began, 3)
        log("info", "node table filled", table=self.ingestion.store.table, documents=done, seconds=seconds)
        return ReembeddingReport(done, nodes, embedded, failed, seconds)

    def _parsed(self, due: Sequence[StaleDocument]) -> Iterator[PrepareResult]:
        for place, one in enumerate(due):
            try:
                prepared = self._prepared(one)
            except FATAL_ERRORS:
                raise
            except Exception as error:  # noqa: BLE001 - one bad document stops only itself
                yield place, PreparationFailure.of(error, "parse", one[0].name)
            else:
                if prepared is not None:
                    yield place, prepared

    def _index(self, one: PreparedDocument | PreparationFailure) -> _Outcome:
        if isinstance(one, PreparationFailure):
            return one
        new = Replacement(one.document, one.nodes or (), one.vectors, one.parser, one.recipe)
        try:
            return (len(one.vectors), one.embedded) if index_document(self.ingestion.store, new) else None
        except StoreError as error:
            return PreparationFailure.of(error, "store", one.document.name)

    def _prepared(self, due: StaleDocument) -> PreparedDocument | None:
        """The stored document, parsed for this model; None if it is gone."""
        stored, active = due
        with reading(self.ingestion.database.engine, f"reading {stored.name}") as connection:
            document = document_rows.load_document(connection, stored.id, "owner")
        if document is None:
            return None
        parser = (active.parser if active else "") or parser_for(document)
        prepared = parse_stored(document, parser, self.ingestion.options)
        return replace(prepared, recipe=_with_stored_loaders(prepared.recipe, active))


def parse_stored(document: Document, parser: str, options: PrepareOptions) -> PreparedDocument:
    """Parse a stored version as `parse_document` does; one that was made of added nodes has those nodes again.

    Raises:
        ParseError: If there is nothing to index, or a parser broke its contract.
        ConfigError: If there is no such parser.
    """
    if nodes := remade(document):
        return PreparedDocument(document, parser, options.recipe(parser, loader_version(document)), tuple(nodes))
    return parse_document(document, parser, options)


def build_reembedding(settings: Settings, model: EmbeddingIdentity) -> Reembedding:
    """Build the re-embedding for a model, whose table is made by its run if it is missing.

    Raises:
        ConfigError: If the model cannot be used with these settings.
        ServiceUnavailable: If the database cannot be reached.
    """
    embed_model = build_embed_model(with_identity(settings, model))  # fails before a table is made
    database = open_database(settings)
    store = FootnoteVectorStore(
        database.engine, node_table(model.slug), model.dimension, versions_kept=settings.ingestion.versions_kept
    )
    indexes = build_lexical_indexes(settings, database, store)
    writer = build_header_writer(settings, database.engine)
    return Reembedding(Ingestion(settings, database, store, indexes, embed_model, model, writer))


def _with_stored_loaders(recipe: str, active: StoredDocument | None) -> str:
    """The recipe with the loader version that made the stored text, as loaders are not run again."""
    stored = _LOADERS.search(active.recipe) if active else None
    return _LOADERS.sub(stored.group(), recipe) if stored else recipe
