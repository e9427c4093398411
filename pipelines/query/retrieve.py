"""RETRIEVE: the dense and the sparse leg, each bound to its filters and audience."""

from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle

from pipelines.observe import Timings
from pipelines.store.lexical import LexicalIndexes, tokenise
from pipelines.store.nodes import NodeStore
from pipelines.types import Audience, Filters


class DenseRetriever(BaseRetriever):
    """The nodes whose vectors are nearest to the question's; scores are cosine similarities, best first."""

    def __init__(
        self,
        store: NodeStore,
        embed_model: BaseEmbedding,
        *,
        k: int,
        look: int,
        filters: Filters,
        audience: Audience,
        timings: Timings,
    ) -> None:
        super().__init__()
        self._store = store
        self._embed_model = embed_model
        self._k = k
        self._look = look
        self._filters = filters
        self._audience = audience
        self._timings = timings

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        with self._timings.stage("embed"):
            vector = self._embed_model.get_agg_embedding_from_queries(query_bundle.embedding_strs)
        with self._timings.stage("dense"):
            return self._store.dense(vector, self._k, look=self._look, filters=self._filters, audience=self._audience)


class SparseRetriever(BaseRetriever):
    """The nodes of highest BM25; scores are > 0, best first. Filters apply before the scores are ranked."""

    def __init__(
        self,
        store: NodeStore,
        indexes: LexicalIndexes,
        *,
        k: int,
        filters: Filters,
        audience: Audience,
        timings: Timings,
    ) -> None:
        super().__init__()
        self._store = store
        self._indexes = indexes
        self._k = k
        self._filters = filters
        self._audience = audience
        self._timings = timings

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        with self._timings.stage("sparse"):
            index = self._indexes.current(self._audience)
            allowed = self._store.matching_ids(self._filters, self._audience) if self._filters else None
            hits = index.search(tokenise(query_bundle.query_str), self._k, allowed)
            nodes = self._store.fetch([node_id for node_id, _ in hits], filters=self._filters, audience=self._audience)
        return [NodeWithScore(node=nodes[node_id], score=score) for node_id, score in hits if node_id in nodes]
