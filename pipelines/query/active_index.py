"""The active index: the nodes, BM25 indexes and vectors of the embedding model that answers questions."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from llama_index.core.embeddings import BaseEmbedding

from config.settings import Settings
from pipelines.errors import ConfigError, FootnoteError
from pipelines.models.embedding import build_embed_model
from pipelines.models.identity import identity, is_model_configured, with_identity
from pipelines.observe import log
from pipelines.query.careers.people import StatedCareers
from pipelines.store.database import Database
from pipelines.store.embedding_models import active_model, active_since, model_to_use, prevent_drop
from pipelines.store.embedding_statistics import EmbeddingStatistics, saved_statistics
from pipelines.store.facts import read_facts
from pipelines.store.index_snapshots import LexicalIndexes, VectorIndexes
from pipelines.store.known_names import NameIndex, read_name_index
from pipelines.store.node_table import node_table
from pipelines.store.questions import StoredQuestion, read_questions
from pipelines.store.read_snapshot import KeptByMark, ReadSnapshot
from pipelines.store.vector_store import (
    FootnoteVectorStore,
    build_lexical_indexes,
    build_vector_indexes,
    build_vector_store,
    snapshot_folder,
)
from pipelines.types import EmbeddingIdentity, Filters


class ActiveModel(NamedTuple):
    """The active model, and the corpus version since which it is active; None for the first one."""

    model: EmbeddingIdentity
    since: int | None


@dataclass(frozen=True, slots=True)
class ModelIndex:
    """All that depends on one embedding model, in one piece, so that no question mixes two models."""

    identity: EmbeddingIdentity
    store: FootnoteVectorStore
    indexes: LexicalIndexes
    vectors: VectorIndexes
    spaces: KeptByMark[EmbeddingStatistics | None]
    names: KeptByMark[NameIndex]
    careers: KeptByMark[StatedCareers]
    questions: KeptByMark[list[StoredQuestion]]
    embed_model: BaseEmbedding


def build_model_index(
    settings: Settings, database: Database, model: EmbeddingIdentity, embed_model: BaseEmbedding | None = None
) -> ModelIndex:
    """The index of this embedding model, active or not; `embed_model` makes the questions' vectors in its place.

    Raises:
        ConfigError: If the model cannot be used with these settings: its key is missing; or if the vectors of
            `embed_model` are of another dimension.
    """
    if embed_model is None:
        embed_model = build_embed_model(with_identity(settings, model))
    elif (dimension := len(embed_model.get_query_embedding("dimension"))) != model.dimension:
        raise ConfigError(
            f"The given embedding model has {dimension} dimensions; the stored nodes, of {model.label}, have "
            f"{model.dimension}.",
            hint="Pass the model that the documents were embedded with, or none.",
        )
    store = build_vector_store(settings, database, model)
    folder = snapshot_folder(settings, database, store)
    vectors = build_vector_indexes(settings, database, store, folder)
    read_names = partial(read_name_index, store)
    return ModelIndex(
        identity=model,
        store=store,
        indexes=build_lexical_indexes(settings, database, store, folder),
        vectors=vectors,
        spaces=KeptByMark(partial(saved_statistics, folder, vectors.some, store.mark)),
        names=KeptByMark(read_names, read_names),
        careers=KeptByMark(lambda audience: StatedCareers(read_facts(store, Filters(), audience))),
        questions=KeptByMark(partial(read_questions, store, Filters())),
        embed_model=embed_model,
    )


class ActiveIndex:
    """The index of the active embedding model: a fixed one, or whichever is active at each question."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        index: ModelIndex,
        since: ActiveModel | None,
        embed_model: BaseEmbedding | None = None,
    ) -> None:
        """`since` is when `index` became active; None = it stays the active one. `embed_model` is the caller's own."""
        self._embed_model = embed_model
        self._settings = settings
        self._database = database
        self._latest = since
        self._indexes = {since: index}
        self._lock = threading.Lock()

    def snapshot(self) -> AbstractContextManager[ReadSnapshot]:
        """One state of the corpus and of the active model, until it ends."""
        return self._indexes[self._latest].store.read_snapshot()

    def close(self) -> None:
        """Close the connections that it reads by."""
        for index in self._indexes.values():
            index.store.engine.dispose()

    def now(self) -> ModelIndex:
        """The active index; its table is not dropped while the read snapshot lasts in which this is called."""
        if self._latest is None:
            return self._indexes[None]
        with self.snapshot() as snapshot:
            provider, model, dimension, at = snapshot.active or ("", "", 0, 0)
        since = ActiveModel(EmbeddingIdentity(provider, model, dimension), at) if provider else self._latest
        index = self._indexes.get(since) or self._load(since)
        prevent_drop(self._database.engine, index.store.table)
        return index

    def attempts(self) -> Iterator[AbstractContextManager[ModelIndex]]:
        """One attempt to read from the active index, and a second one where the first is in vain.

            for attempt in active.attempts():
                with attempt as index:
                    found = ...

        The second is made where another embedding model was promoted and the table of the one before was dropped,
        before anything was read of it. Each attempt reads one state of the corpus.
        """
        failed: list[FootnoteError] = []
        yield self._attempt(failed, is_last=False)
        if failed:
            yield self._attempt(failed, is_last=True)

    @contextmanager
    def _attempt(self, failed: list[FootnoteError], *, is_last: bool) -> Iterator[ModelIndex]:
        with ExitStack() as state:
            state.enter_context(self.snapshot())
            try:
                index = self.now()
            except FootnoteError:
                state.close()
                state.enter_context(self.snapshot())
                index, is_last = self.now(), True
            try:
                yield index
            except FootnoteError as error:
                state.close()
                if is_last or index.identity == self.now().identity:
                    raise
                failed.append(error)

    def _load(self, since: ActiveModel) -> ModelIndex:
        """Build the new model's index, and only then drop those before the last."""
        with self._lock:
            if since not in self._indexes:
                index = build_model_index(self._settings, self._database, since.model, self._embed_model)
                self._indexes = {self._latest: self._indexes[self._latest], since: index}
                self._latest = since
                log("info", "another embedding model serves", model=since.model.label)
            return self._indexes[since]

    def under(self, settings: Settings) -> "ActiveIndex":
        """The same under other query settings."""
        index = self._indexes[self._latest]
        indexes = build_lexical_indexes(settings, self._database, index.store)
        if indexes.parameters != index.indexes.parameters:
            index = replace(index, indexes=indexes)
        return ActiveIndex(settings, self._database, index, self._latest, self._embed_model)

    def fixed(self, index: ModelIndex) -> "ActiveIndex":
        """This index for good, whatever is promoted."""
        return ActiveIndex(self._settings, self._database, index, None)


def build_active_index(settings: Settings, database: Database, embed_model: BaseEmbedding | None = None) -> ActiveIndex:
    """The active index of this database, which follows promotions from question to question.

    Raises:
        ConfigError: If the settings name another model than the one that serves, or it cannot be used with them; or if
            `embed_model`, which makes the questions' vectors in its place, is of another dimension.
    """
    model = model_to_use(database.engine, identity(settings), stated=is_model_configured(settings))
    since = active_since(database.engine, node_table(model.slug))
    index = build_model_index(settings, database, model, embed_model)
    return ActiveIndex(settings, database, index, ActiveModel(model, since), embed_model)


def build_inactive_index(settings: Settings, database: Database, model: EmbeddingIdentity) -> ModelIndex:
    """The index of this model, with BM25 and statistics of what its table holds now."""
    if model != active_model(database.engine):  # the corpus version does not count its changes
        store = build_vector_store(settings, database, model)
        shutil.rmtree(snapshot_folder(settings, database, store), ignore_errors=True)
    return build_model_index(settings, database, model)
