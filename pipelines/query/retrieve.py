"""RETRIEVE: the dense and the sparse retriever, each bound to its filters and audience."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

from llama_index.core import VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, QueryBundle
from llama_index.core.storage.docstore.types import BaseDocumentStore
from llama_index.core.vector_stores.types import MetadataFilters
from llama_index.core.vector_stores.utils import build_metadata_filter_fn
from llama_index.retrievers.bm25 import BM25Retriever

from pipelines.errors import FootnoteError, ModelError, RetrievalError
from pipelines.query.fuse import Ranked, RankingRetriever, with_nodes
from pipelines.query.question.language import question_stems, question_terms
from pipelines.query.question.related import with_related
from pipelines.query.spelling import correction_note, respelt
from pipelines.query.trace import SILENT, Observer
from pipelines.store.index_snapshots import LexicalIndexes, VectorIndexes
from pipelines.store.lexical_index import BM25Parameters, Counts, LexicalIndex, Segment, with_pairs
from pipelines.store.node_reader import NodeReader
from pipelines.store.tokens import node_terms
from pipelines.types import Audience, Filters


@dataclass(frozen=True, slots=True)
class SearchScope:
    """The nodes that a retriever may return: those that pass the filters and are visible; and its observer."""

    filters: Filters = field(default_factory=Filters)
    audience: Audience = "owner"
    observer: Observer = SILENT


_ALL_NODES = SearchScope()
_NONE: Mapping[str, Sequence[float]] = MappingProxyType({})


class QueryEmbedder:
    """The vectors of one request; each text is embedded once, however many searches use it, and none that is given."""

    def __init__(
        self,
        embed_model: BaseEmbedding,
        observer: Observer = SILENT,
        given: Mapping[str, Sequence[float]] = _NONE,
        fitting: Callable[[Sequence[float]], Sequence[float]] = list,
        asked: QueryBundle | None = None,
    ) -> None:
        """`fitting` gives a vector that the store can compare, or raises a RetrievalError. `asked` is the question."""
        self.asked = asked
        self._fitting = fitting
        self._embed_model = embed_model
        self._observer = observer
        self._known: dict[tuple[str, ...], Sequence[float]] = {(text,): vector for text, vector in given.items()}

    def vector(self, query: QueryBundle) -> Sequence[float]:
        """The query's own vector, or the mean of its texts' vectors.

        Raises:
            ModelError, ServiceUnavailable: If the embedding model cannot be asked, or its vector cannot be used.
        """
        if query.embedding is not None:
            return query.embedding
        key = tuple(query.embedding_strs)
        if key not in self._known:
            try:
                with self._observer.stage("embed"):
                    self._known[key] = self._fitting(self._embed_model.get_agg_embedding_from_queries(list(key)))
            except RetrievalError as error:
                raise ModelError(
                    f"The vector of the embedding model cannot be used: {error.message}",
                    hint="Try again; if it stays so, choose another model.",
                ) from error
            except FootnoteError:
                raise
            except Exception as error:  # any embedding model's own exception
                raise ModelError(f"The embedding model failed: {type(error).__name__}: {error}.") from error
        return self._known[key]


class DenseRetriever(BaseRetriever):
    """The nodes whose vectors are nearest to the question's, best first; scores in -1..1.

    `look` nodes are examined by the HNSW index of a large corpus. `whiten` changes the question's vector before it is
    compared. The observer learns the similarity of each scored node to what the embedder says is asked.
    """

    name: ClassVar[str] = "dense"

    def __init__(
        self,
        vectors: VectorIndexes,
        embedder: QueryEmbedder,
        scope: SearchScope = _ALL_NODES,
        *,
        similarity_top_k: int = 10,
        look: int = 100,
        whiten: Callable[[Sequence[float]], Sequence[float]] = list,
    ) -> None:
        super().__init__()
        self.similarity_top_k = similarity_top_k
        self._store = vectors.corpus
        self._vectors = vectors
        self._embedder = embedder
        self._scope = scope
        self._look = look
        self._whiten = whiten

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _stored_hits(self, self._store, query_bundle)

    def rank(self, query_bundle: QueryBundle) -> Ranked:
        """The ids of these nodes with their scores."""
        vector, scope = self._embedder.vector(query_bundle), self._scope
        with scope.observer.stage("dense"):
            return self._vectors.searched(scope.audience).nearest(
                self._whiten(vector), self.similarity_top_k, look=self._look, filters=scope.filters
            )

    def nodes(self, node_ids: Sequence[str]) -> Mapping[str, BaseNode]:
        """The nodes of ids that a retriever of this store found."""
        return self._store.nodes(node_ids, filters=self._scope.filters, audience=self._scope.audience)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)

    def score(self, query_bundle: QueryBundle, node_ids: Sequence[str]) -> Mapping[str, float]:
        """The cosine similarity of each of these nodes to a question."""
        vectors = [self._whiten(self._embedder.vector(query_bundle))]
        if self._embedder.asked is not None:
            vectors.append(self._embedder.vector(self._embedder.asked))
        scores, *likeness = self._vectors.searched(self._scope.audience).similarities(vectors, node_ids)
        for each in likeness:
            self._scope.observer.similar(each)
        return scores


def _stored_hits(leg: RankingRetriever, store: NodeReader, query: QueryBundle) -> list[NodeWithScore]:
    """The hits of one state of the corpus, as copies that a program may edit: the store keeps its nodes for the next
    question.
    """
    with store.read_snapshot():
        ranked = leg.rank(query)
        nodes = leg.nodes([node_id for node_id, _ in ranked])
        return with_nodes(ranked, {node_id: node.model_copy(deep=True) for node_id, node in nodes.items()})


@dataclass
class WeightedQuery(QueryBundle):
    """A question with weighted terms for the sparse retriever; its own still decide which terms are adjacent."""

    term_weights: Mapping[str, float] | None = None


class NodesInMemory:
    """The nodes of a program and their BM25 index, in place of the stored ones; all that pass the program's filters."""

    def __init__(self, nodes: Sequence[BaseNode], filters: MetadataFilters | None = None) -> None:
        self._nodes = {node.node_id: node for node in nodes}
        passes = build_metadata_filter_fn(lambda node_id: self._nodes[node_id].metadata, filters)
        self._passing = {node_id for node_id in self._nodes if passes(node_id)}
        words = ((node, " ".join(node_terms(node.get_content(MetadataMode.EMBED)))) for node in nodes)
        segments = [Segment(node.node_id, node.ref_doc_id or node.node_id, terms) for node, terms in words]
        self._index = LexicalIndex.build(sorted(segments, key=lambda each: each.document_id), BM25Parameters())

    def current(self, audience: Audience) -> LexicalIndex:
        """The index."""
        return self._index

    def matching_ids(self, filters: Filters, audience: Audience) -> set[str]:
        """The ids of the nodes that pass the program's filters; those of Footnote need stored nodes."""
        if filters:
            raise RetrievalError("Nodes in memory have no Filters.", hint="Give `filters` to from_defaults.")
        return self._passing

    def nodes(self, node_ids: Sequence[str], *, filters: Filters, audience: Audience) -> dict[str, BaseNode]:
        """The nodes of these ids."""
        return {node_id: self._nodes[node_id] for node_id in node_ids if node_id in self._nodes}


class SparseRetriever(BM25Retriever):
    """A BM25Retriever over the stored index: the nodes of highest BM25, best first; scores are above 0.

    Filters apply before the scores are ranked. A word that no node holds is replaced by the nearest words in the index,
    at `typo_weight` times their similarity, and this is noted; a word in the index stays as it is.
    """

    name: ClassVar[str] = "sparse"

    def __init__(
        self,
        store: "NodeReader | NodesInMemory",
        indexes: "LexicalIndexes | NodesInMemory",
        scope: SearchScope = _ALL_NODES,
        *,
        similarity_top_k: int = 10,
        typo_weight: float = 0.8,
    ) -> None:
        # Not BM25Retriever's own constructor: it indexes nodes in memory, and refuses none.
        super(BM25Retriever, self).__init__()
        self.similarity_top_k = similarity_top_k
        self._store = store
        self._indexes = indexes
        self._scope = scope
        self._typo_weight = typo_weight
        self._last: tuple[QueryBundle, LexicalIndex, Counts] | None = None

    @classmethod
    def from_defaults(  # type: ignore[override]
        cls,
        index: VectorStoreIndex | None = None,
        nodes: Sequence[BaseNode] | None = None,
        docstore: BaseDocumentStore | None = None,
        *,
        similarity_top_k: int = 2,
        filters: MetadataFilters | None = None,
        **others: Any,
    ) -> "SparseRetriever":
        """A retriever over the nodes of a program, indexed in memory as stored ones are.

        Raises:
            ValueError: If not exactly one of index, nodes and docstore has nodes, or an option is one that this index
                has not: its words and stems are its own.
        """
        if others:
            raise ValueError(f"SparseRetriever has no {', '.join(sorted(others))}: its words and stems are its own.")
        given = [each for each in (nodes, docstore and docstore.docs.values(), index and index.docstore.docs.values())
                 if each]  # fmt: skip
        if len(given) != 1:
            raise ValueError("Pass exactly one of index, nodes and docstore, with nodes in it.")
        held = NodesInMemory(list(given[0]), filters)
        return cls(held, held, similarity_top_k=similarity_top_k)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if isinstance(self._store, NodesInMemory):
            return with_nodes(ranked := self.rank(query_bundle), self.nodes([node_id for node_id, _ in ranked]))
        return _stored_hits(self, self._store, query_bundle)

    def rank(self, query_bundle: QueryBundle) -> Ranked:
        """The ids of these nodes with their scores."""
        filters, audience = self._scope.filters, self._scope.audience
        with self._scope.observer.stage("sparse"):
            index, scores = self._scores(query_bundle)
            in_memory = isinstance(self._store, NodesInMemory)
            allowed = self._store.matching_ids(filters, audience) if filters or in_memory else None
            return index.best(scores, self.similarity_top_k, allowed)

    def nodes(self, node_ids: Sequence[str]) -> Mapping[str, BaseNode]:
        """The nodes of ids that a retriever of this store found."""
        return self._store.nodes(node_ids, filters=self._scope.filters, audience=self._scope.audience)

    def _scores(self, query: QueryBundle) -> tuple[LexicalIndex, Counts]:
        """The current index, and BM25 of its rows for a question."""
        index, terms = self._indexes.current(self._scope.audience), question_terms(query.query_str)
        given = query.term_weights if isinstance(query, WeightedQuery) else None
        weights: Mapping[str, float] = Counter(terms) if given is None else given
        foreign = [stem for stem in question_stems(query.query_str) if index.document_frequency(stem)]
        weights = {**dict.fromkeys(foreign, 1.0), **weights}
        for word, term, spellings in respelt(query.query_str, index) if self._typo_weight > 0 else ():
            self._scope.observer.note(correction_note(word, [near.spelling for near in spellings]))
            guess = weights.get(term, 0.0) * self._typo_weight
            weights = {**{near.term: guess * near.similarity for near in spellings}, **weights}
            terms = [spellings[0].term if own == term else own for own in terms]
        scores = index.scores(with_related(with_pairs(weights, terms), index.document_frequency))
        self._last = query, index, scores
        return index, scores

    def score(self, query_bundle: QueryBundle, node_ids: Sequence[str]) -> Mapping[str, float]:
        """BM25 of each of these nodes for a question; 0 where no term matches."""
        last = self._last
        index, scores = last[1:] if last and last[0] is query_bundle else self._scores(query_bundle)
        return index.those_of(scores, node_ids)

    def persist(self, path: str, encoding: str = "utf-8", **kwargs: Any) -> None:
        """Refuse: the index is kept in the database and under FOOTNOTE_HOME."""
        raise NotImplementedError("Footnote's BM25 index is kept under FOOTNOTE_HOME, and needs no persist().")

    @classmethod
    def from_persist_dir(cls, path: str, encoding: str = "utf-8", **kwargs: Any) -> "SparseRetriever":
        """Refuse, as `persist`."""
        raise NotImplementedError("Footnote's BM25 index is kept under FOOTNOTE_HOME; build_query_engine opens it.")
