"""RETRIEVE: the dense and the sparse leg, each bound to its filters and audience."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import NodeWithScore, QueryBundle

from pipelines.observe import Timings
from pipelines.query.fuse import ScoringRetriever
from pipelines.store.lexical import LexicalIndexes
from pipelines.store.reads import NodeReader
from pipelines.store.tokens import tokenise
from pipelines.types import Audience, Filters


@dataclass(frozen=True, slots=True)
class Reach:
    """How far a leg looks, and for whom: k nodes that pass the filters and that the audience may see."""

    k: int
    filters: Filters
    audience: Audience
    timings: Timings


class DenseRetriever(ScoringRetriever):
    """The nodes whose vectors are nearest to the question's; scores are cosine similarities, best first."""

    def __init__(self, store: NodeReader, embed_model: BaseEmbedding, reach: Reach, *, look: int) -> None:
        super().__init__()
        self._store = store
        self._embed_model = embed_model
        self._reach = reach
        self._look = look

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        with self._reach.timings.stage("embed"):
            self._vector = self._embed_model.get_agg_embedding_from_queries(query_bundle.embedding_strs)
        with self._reach.timings.stage("dense"):
            return self._store.dense(
                self._vector, self._reach.k, look=self._look, filters=self._reach.filters, audience=self._reach.audience
            )

    def score(self, node_ids: Sequence[str]) -> Mapping[str, float]:
        """Cosine similarities to the question that was retrieved last."""
        return self._store.similarities(self._vector, node_ids)


class SparseRetriever(ScoringRetriever):
    """The nodes of highest BM25; scores are > 0, best first. Filters apply before the scores are ranked."""

    def __init__(self, store: NodeReader, indexes: LexicalIndexes, reach: Reach) -> None:
        super().__init__()
        self._store = store
        self._indexes = indexes
        self._reach = reach

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        with self._reach.timings.stage("sparse"):
            self._index = self._indexes.current(self._reach.audience)
            self._terms = tokenise(query_bundle.query_str)
            allowed = (
                self._store.matching_ids(self._reach.filters, self._reach.audience) if self._reach.filters else None
            )
            hits = self._index.search(self._terms, self._reach.k, allowed)
            nodes = self._store.fetch(
                [node_id for node_id, _ in hits], filters=self._reach.filters, audience=self._reach.audience
            )
        return [NodeWithScore(node=nodes[node_id], score=score) for node_id, score in hits if node_id in nodes]

    def score(self, node_ids: Sequence[str]) -> Mapping[str, float]:
        """BM25 for the question that was retrieved last; 0 where no term matches."""
        return self._index.score_of(self._terms, node_ids)
