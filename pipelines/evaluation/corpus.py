"""Corpora of evaluations, each in its own database, and caches for repeated runs over them."""

import hashlib
import string
import uuid
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import NodeWithScore, TextNode
from pydantic import PrivateAttr, SecretStr
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

from config.settings import Settings
from pipelines.errors import ConfigError, SourceError
from pipelines.evaluation.datasets import Dataset, Item
from pipelines.ingestion.change_detection import content_sha, meta_sha
from pipelines.ingestion.context_header import HEADER_RULES_VERSION
from pipelines.ingestion.parsers.nodes import make_nodes
from pipelines.ingestion.parsers.pieces import Piece
from pipelines.ingestion.pipeline import CachedEmbedder
from pipelines.ingestion.run import build_ingestion
from pipelines.models.identity import identity, with_identity
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.store.database import database_url
from pipelines.store.model_caches import cache_vectors, cached_vectors, text_sha
from pipelines.store.node_writer import NodeRecipe, Replacement
from pipelines.store.vector_store import FootnoteVectorStore, build_lexical_indexes
from pipelines.text import SEARCHABLE_VERSION, canonical
from pipelines.types import Audience, Document, EmbeddingIdentity, Filters

RECIPE = f"whole@1 header@{HEADER_RULES_VERSION} searchable@{SEARCHABLE_VERSION}"
_BATCH = 64
_NAME = frozenset(string.ascii_lowercase + string.digits)
Progress = Callable[[str, int, int], None]


def no_progress(label: str, done: int, total: int) -> None:
    """Ignore progress."""


def index_dataset(settings: Settings, dataset: Dataset, on_progress: Progress = no_progress) -> QueryEngine:
    """An engine for evaluation over a dataset: one document an item, one node a document, named by the item's id.

    Items that an earlier call has indexed stay; a call that was interrupted is gone on with.
    """
    own = evaluation_database(settings, f"{dataset.name[:24]}_{dataset.sha}")
    ingestion = build_ingestion(own)
    embedder = CachedEmbedder(ingestion.embed_model, ingestion.database.engine, ingestion.identity)
    held = {document.id for document in ingestion.known() if document.recipe == RECIPE}
    missing = [item for item in dataset.corpus if document_id(item.id) not in held]
    for start in range(0, len(missing), _BATCH):
        documents = [_document(item) for item in missing[start : start + _BATCH]]
        nodes = []
        for document in documents:
            first, last = len(document.text) - len(document.text.lstrip()), len(document.text.rstrip())
            nodes += make_nodes(document, [Piece(first, last, lead=document.title)], "whole", 1)
        vectors, _ = embedder(nodes)
        for document, node, windows in zip(documents, nodes, vectors, strict=True):
            ingestion.store.replace([Replacement(document, [node], [windows], NodeRecipe("whole", RECIPE))])
        done = len(dataset.corpus) - len(missing) + start + len(documents)
        on_progress(f"indexing {dataset.name}", done, len(dataset.corpus))
    ingestion.indexes.refresh("owner")
    return with_caches(build_query_engine(own), keep=True)


def document_id(item_id: str) -> str:
    """The id of an item's document."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"eval|{item_id}"))


def _document(item: Item) -> Document:
    body = canonical(item.text) or canonical(item.title)
    document = Document(
        id=document_id(item.id),
        text=body,
        source_uri=f"eval:{item.id}",
        source="eval",
        source_kind="eval",
        name=item.id,
        mime="text/plain",
        bytes=len(body),
        file_sha=hashlib.sha256(body.encode()).hexdigest(),
        title="" if body.startswith(item.title) else item.title,
    )
    return document.with_(content_sha=content_sha(document, "whole"), meta_sha=meta_sha(document))


def portfolio_engine(
    settings: Settings, folder: Path, *, name: str = "portfolio", on_progress: Progress = no_progress
) -> QueryEngine:
    """An engine for evaluation over a folder, ingested as a user would in the database `name` of its own.

    Unchanged documents are kept; what is no longer in the folder is removed. The user's database stays as it is.

    Raises:
        SourceError: If the folder cannot be read, or one of its documents cannot be ingested.
        ConfigError: If the server does not let a database be made.
    """
    own = evaluation_database(settings, name)
    ingestion = build_ingestion(own)
    elsewhere = [held.id for held in ingestion.known() if held.source != folder.resolve().as_uri()]
    if elsewhere:  # the same folder was evaluated at another place: its documents would stand there twice
        ingestion.remove(elsewhere)
    plan = ingestion.plan([str(folder)], allow_removals=True)
    report = ingestion.run(plan, on_progress=lambda done, total, _: on_progress("ingesting", done, total))
    for item in report.items:
        if item.outcome == "failed":
            raise SourceError(f"{item.document} was not ingested: {item.message}", hint=item.hint)
    return with_caches(build_query_engine(own), keep=True)


def evaluation_database(settings: Settings, name: str) -> Settings:
    """The settings with the database `footnote_eval_<name>` on the same server, made when it is missing.

    Another embedding model than the local one has its own database, so that several need not take turns. What is no
    letter or digit in the name becomes an underscore.

    Raises:
        ConfigError: If the server does not let a database be made.
    """
    model, url = identity(settings), database_url(settings)
    name = "footnote_eval_" + "".join(char if char in _NAME else "_" for char in name.lower())
    if model.provider != "local":
        name += f"_{hashlib.sha256(model.slug.encode()).hexdigest()[:8]}"
    admin = create_engine(url, isolation_level="AUTOCOMMIT")
    try:
        with admin.connect() as connection:
            known = connection.execute(text("SELECT 1 FROM pg_database WHERE datname = :n"), {"n": name}).scalar()
            if not known:
                connection.execute(text(f'CREATE DATABASE "{name}"'))
    except DBAPIError as error:
        raise ConfigError(
            f"The server does not allow making the database {name}.",
            hint="Grant CREATEDB to this user, or unset DATABASE_URL to evaluate on the embedded server.",
        ) from error
    finally:
        admin.dispose()
    own = url.set(database=name).render_as_string(hide_password=False)
    return with_identity(settings, model).model_copy(update={"database_url": SecretStr(own)})


def with_caches(engine: QueryEngine, *, keep: bool) -> QueryEngine:
    """This engine with its embedding model and its store cached, and without a cache of results.

    Its corpus must not change meanwhile. With `keep` the vectors of questions are kept in its database for the next
    run; a user's questions are not.
    """
    cache = QueryCache.over(engine.embed_model, engine.identity, engine.database.engine if keep else None)
    store = ReadOnceStore(engine.store)
    indexes = build_lexical_indexes(engine.settings, engine.database, store)
    still = engine.with_parts(store=store, indexes=indexes, embed_model=cache)
    return still.with_changes({"retrieval.cache_entries": 0})


class QueryCache(BaseEmbedding):
    """An embedding model that embeds each question once per process, or once for all where a database keeps vectors.

    Vectors are float32 from the first run on, so that a second run ranks as the first did. What is no question, such as
    the sentences of found passages, is embedded once in this process.
    """

    inner: BaseEmbedding
    dimension: int
    key: str
    _database: sqlalchemy.Engine | None = PrivateAttr(default=None)
    _questions: dict[str, np.ndarray] = PrivateAttr(default_factory=dict)
    _texts: dict[str, np.ndarray] = PrivateAttr(default_factory=dict)

    @classmethod
    def over(
        cls, model: BaseEmbedding, described: EmbeddingIdentity, database: sqlalchemy.Engine | None
    ) -> "QueryCache":
        """A cache over `model`; its entries are apart from those of documents, which hold a vector for each window."""
        key = f"{described.slug}?questions"
        made = cls(model_name=model.model_name, inner=model, dimension=described.dimension, key=key)
        made._database = database
        return made

    @classmethod
    def class_name(cls) -> str:
        return "QueryCache"

    def _get_query_embedding(self, query: str) -> list[float]:
        if query not in self._questions:
            sha = text_sha(query)
            stored = cached_vectors(self._database, self.key, [sha], self.dimension) if self._database else {}
            if sha in stored:
                self._questions[query] = stored[sha][0]
            else:
                self._questions[query] = np.asarray(self.inner.get_query_embedding(query), dtype=np.float32)
                if self._database:
                    cache_vectors(self._database, self.key, {sha: self._questions[query]})
        vector: list[float] = self._questions[query].tolist()
        return vector

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        if new := [text for text in dict.fromkeys(texts) if text not in self._texts]:
            vectors = np.asarray(self.inner.get_text_embedding_batch(new), dtype=np.float32)
            self._texts |= zip(new, vectors, strict=True)
        return [self._texts[text].tolist() for text in texts]


class ReadOnceStore(FootnoteVectorStore):
    """A store that caches every read; only for a corpus that does not change meanwhile."""

    _read: FootnoteVectorStore = PrivateAttr()
    _held: dict[Hashable, Any] = PrivateAttr(default_factory=dict)

    def __init__(self, store: FootnoteVectorStore) -> None:
        super().__init__(store.engine, store.table, store.dimension)
        self._read = store

    def dense(
        self, vector: Sequence[float], k: int, *, look: int, filters: Filters, audience: Audience
    ) -> list[NodeWithScore]:
        key = ("dense", _key(vector), k, look, filters, audience)
        if key not in self._held:
            hits = self._read.dense(vector, k, look=look, filters=filters, audience=audience)
            self._held[key] = [(self._one(hit.node), hit.score) for hit in hits]
        return [NodeWithScore(node=node, score=score) for node, score in self._held[key]]

    def similarities(self, vector: Sequence[float], node_ids: Sequence[str]) -> dict[str, float]:
        return self._missing_only(
            ("similarities", _key(vector)), node_ids, lambda missing: self._read.similarities(vector, missing)
        )

    def fetch(self, node_ids: Iterable[str], *, filters: Filters, audience: Audience) -> dict[str, TextNode]:
        def read(missing: list[str]) -> dict[str, TextNode]:
            found = self._read.fetch(missing, filters=filters, audience=audience)
            return {node_id: self._one(node) for node_id, node in found.items()}

        return self._missing_only(("fetch", filters, audience), list(node_ids), read)

    def version(self) -> int:
        if "version" not in self._held:
            self._held["version"] = self._read.version()
        return int(self._held["version"])

    def _missing_only(
        self, key: Hashable, node_ids: Sequence[str], read: Callable[[list[str]], dict[str, Any]]
    ) -> dict[str, Any]:
        """What is known of these nodes; only those that are not known are read."""
        held: dict[str, Any] = self._held.setdefault(key, {})
        if missing := [node_id for node_id in node_ids if node_id not in held]:
            held |= read(missing)
        return {node_id: held[node_id] for node_id in node_ids if node_id in held}

    def _one(self, node: Any) -> Any:
        """One object for each node, however often it is found."""
        return self._held.setdefault(("node", node.node_id), node)


def _key(vector: Sequence[float]) -> bytes:
    return np.asarray(vector, dtype=np.float32).tobytes()
