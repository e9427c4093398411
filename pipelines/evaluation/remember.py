"""What an experiment needs again and again: the vectors of questions, and reads of a corpus that stands still."""

import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import sqlalchemy
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import NodeWithScore, TextNode
from pydantic import PrivateAttr

from pipelines.query.engine import Engine
from pipelines.store.nodes import NodeStore, build_lexical_indexes
from pipelines.store.vectors import cache_vectors, cached_vectors, text_sha
from pipelines.types import Audience, EmbeddingIdentity, Filters


def remembering(engine: Engine, *, keep: bool) -> Engine:
    """This engine for experiments: nothing is asked of its model or its store twice, and it caches no results.

    Args:
        engine: Over a corpus that nobody changes meanwhile.
        keep: Whether the vectors of questions are kept in its database for the next run. A user's questions are not.
    """
    cache = QueryCache.over(engine.embed_model, engine.identity, engine.database.engine if keep else None)
    store = StillStore(engine.store)
    indexes = build_lexical_indexes(engine.settings, engine.database, store)
    still = engine.with_parts(store=store, indexes=indexes, embed_model=cache)
    return still.with_changes({"retrieval.cache_entries": 0})


class QueryCache(BaseEmbedding):
    """An embedding model that embeds a question once: in this process, and with a database once for all.

    Vectors are float32 from the first run on, so that a second run ranks as the first did. `save` keeps the new ones.
    What is no question, such as the sentences of found passages, is embedded once in this process.
    """

    inner: BaseEmbedding
    dimension: int
    key: str
    _database: sqlalchemy.Engine | None = PrivateAttr(default=None)
    _known: dict[str, list[float]] = PrivateAttr(default_factory=dict)
    _new: dict[str, np.ndarray] = PrivateAttr(default_factory=dict)
    _texts: dict[str, np.ndarray] = PrivateAttr(default_factory=dict)
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    @classmethod
    def over(
        cls, model: BaseEmbedding, described: EmbeddingIdentity, database: sqlalchemy.Engine | None
    ) -> "QueryCache":
        """A cache over `model`; its entries are apart from those of documents, which hold a vector for each window."""
        made = cls(
            model_name=model.model_name,
            inner=model,
            dimension=described.dimension,
            key=f"{described.slug}?questions",
        )
        made._database = database
        return made

    @classmethod
    def class_name(cls) -> str:
        return "QueryCache"

    def recall(self, questions: Iterable[str]) -> None:
        """Fetch the vectors that earlier runs kept, in one read."""
        if self._database is not None:
            keys = list({text_sha(question) for question in questions})
            held = cached_vectors(self._database, self.key, keys, self.dimension)
            self._known |= {key: vectors[0].tolist() for key, vectors in held.items()}

    def save(self) -> None:
        """Keep what was embedded since the last call."""
        with self._lock:
            new, self._new = self._new, {}
        if new and self._database is not None:
            cache_vectors(self._database, self.key, new)

    def _get_query_embedding(self, query: str) -> list[float]:
        key = text_sha(query)
        if key not in self._known:
            vector = np.asarray(self.inner.get_query_embedding(query), dtype=np.float32)
            with self._lock:
                self._new[key] = vector
            self._known[key] = vector.tolist()
        return self._known[key]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        if new := [text for text in dict.fromkeys(texts) if text not in self._texts]:
            vectors = np.asarray(self.inner.get_text_embedding_batch(new), dtype=np.float32)
            self._texts |= zip(new, vectors, strict=True)
        return [self._texts[text].tolist() for text in texts]


class StillStore(NodeStore):
    """A store whose corpus stands still: what was read of it once is not read again. For experiments only."""

    def __init__(self, store: NodeStore) -> None:
        self.__dict__.update(vars(store))
        self._read = store
        self._held: dict[Hashable, Any] = {}

    def dense(
        self, vector: Sequence[float], k: int, *, look: int, filters: Filters, audience: Audience
    ) -> list[NodeWithScore]:
        found = self._once(
            ("dense", _key(vector), k, look, filters, audience),
            lambda: [
                (self._kept(hit.node), hit.score)
                for hit in self._read.dense(vector, k, look=look, filters=filters, audience=audience)
            ],
        )
        return [NodeWithScore(node=node, score=score) for node, score in found]

    def similarities(self, vector: Sequence[float], node_ids: Sequence[str]) -> dict[str, float]:
        held: dict[str, float] = self._once(("similarities", _key(vector)), dict)
        if missing := [node_id for node_id in node_ids if node_id not in held]:
            held |= self._read.similarities(vector, missing)
        return {node_id: held[node_id] for node_id in node_ids if node_id in held}

    def fetch(self, node_ids: Iterable[str], *, filters: Filters, audience: Audience) -> dict[str, TextNode]:
        wanted = list(node_ids)
        held: dict[str, TextNode] = self._once(("fetch", filters, audience), dict)
        if missing := [node_id for node_id in wanted if node_id not in held]:
            found = self._read.fetch(missing, filters=filters, audience=audience)
            held |= {node_id: self._kept(node) for node_id, node in found.items()}
        return {node_id: held[node_id] for node_id in wanted if node_id in held}

    def matching_ids(self, filters: Filters, audience: Audience) -> set[str]:
        held: set[str] = self._once(("matching", filters, audience), lambda: self._read.matching_ids(filters, audience))
        return held

    def version(self) -> int:
        version: int = self._once("version", self._read.version)
        return version

    def _once(self, key: Hashable, read: Callable[[], Any]) -> Any:
        if key not in self._held:
            self._held[key] = read()
        return self._held[key]

    def _kept(self, node: Any) -> Any:
        """One object for each node, however often it is found."""
        return self._held.setdefault(("node", node.node_id), node)


def _key(vector: Sequence[float]) -> bytes:
    return np.asarray(vector, dtype=np.float32).tobytes()
