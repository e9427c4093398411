"""RETRIEVE: the dense and the sparse leg, each bound to its filters and audience."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice

from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import NodeWithScore, QueryBundle

from pipelines.errors import FootnoteError, ModelError
from pipelines.observe import Timings
from pipelines.query.fuse import ScoringRetriever
from pipelines.store.embedding_statistics import EmbeddingStatistics
from pipelines.store.lexical_index import LexicalIndex, with_pairs
from pipelines.store.lexical_snapshots import LexicalIndexes
from pipelines.store.node_reader import NodeReader
from pipelines.store.tokens import Spelling, tokenise
from pipelines.types import Audience, Filters

_MOST_RESPELT = 8  # words of a question, so that a text in another language is not read as typos
_LETTERS = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class SearchScope:
    """What a leg may return: the k best nodes that pass the filters and that the audience may see."""

    k: int
    filters: Filters
    audience: Audience
    timings: Timings


class QueryEmbedder:
    """The vectors of one request; each text is embedded once, however many searches use it."""

    def __init__(self, embed_model: BaseEmbedding, timings: Timings) -> None:
        self._embed_model = embed_model
        self._timings = timings
        self._known: dict[tuple[str, ...], Sequence[float]] = {}

    def vector(self, query: QueryBundle) -> Sequence[float]:
        """The query's own vector, or the mean of its texts' vectors.

        Raises:
            ModelError, ServiceUnavailable: If the embedding model cannot be asked.
        """
        if query.embedding is not None:
            return query.embedding
        key = tuple(query.embedding_strs)
        if key not in self._known:
            with self._asking():
                self._known[key] = self._embed_model.get_agg_embedding_from_queries(list(key))
        return self._known[key]

    def embed(self, texts: Sequence[str]) -> None:
        """Embed those of these texts that are not known yet, in one batch.

        Raises:
            ModelError, ServiceUnavailable: If the embedding model cannot be asked.
        """
        if new := [text for text in dict.fromkeys(texts) if (text,) not in self._known]:
            with self._asking():
                vectors = self._embed_model.get_text_embedding_batch(new)
            self._known |= {(text,): vector for text, vector in zip(new, vectors, strict=True)}

    @contextmanager
    def _asking(self) -> Iterator[None]:
        try:
            with self._timings.stage("embed"):
                yield
        except FootnoteError:
            raise
        except Exception as error:  # any embedding model's own exception
            raise ModelError(f"The embedding model failed: {type(error).__name__}: {error}.") from error


class DenseRetriever(ScoringRetriever):
    """The nodes whose vectors are nearest to the question's, best first; scores in -1..1.

    `look` nodes are examined by the vector index. With statistics of the corpus (`space`), the question's vector is
    whitened to the power `whitening`.
    """

    def __init__(
        self,
        store: NodeReader,
        embedder: QueryEmbedder,
        scope: SearchScope,
        *,
        look: int,
        space: EmbeddingStatistics | None = None,
        whitening: float = 0.0,
    ) -> None:
        super().__init__()
        self._store = store
        self._embedder = embedder
        self._scope = scope
        self._look = look
        self._space = space
        self._whitening = whitening

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        vector, scope = self._embedder.vector(query_bundle), self._scope
        with scope.timings.stage("dense"):
            self._vector = vector if self._space is None else self._space.whiten(vector, self._whitening).tolist()
            return self._store.dense(
                self._vector, scope.k, look=self._look, filters=scope.filters, audience=scope.audience
            )

    def score(self, node_ids: Sequence[str]) -> Mapping[str, float]:
        """The scores of these nodes for the question that was retrieved last."""
        return self._store.similarities(self._vector, node_ids)


@dataclass
class WeightedQuery(QueryBundle):
    """A question with weighted terms for the sparse leg instead of its own.

    Its own terms still decide which terms are adjacent.
    """

    term_weights: Mapping[str, float] | None = None


class SparseRetriever(ScoringRetriever):
    """The nodes of highest BM25; scores are > 0, best first. Filters apply before the scores are ranked.

    A word that no node holds is replaced by the nearest words in the index, at `typo_weight` times their similarity,
    and `note` is called; a word in the index stays as it is.
    """

    def __init__(
        self,
        store: NodeReader,
        indexes: LexicalIndexes,
        scope: SearchScope,
        *,
        typo_weight: float = 0.0,
        note: Callable[[str], None] = lambda _: None,
    ) -> None:
        super().__init__()
        self._store = store
        self._indexes = indexes
        self._scope = scope
        self._typo_weight = typo_weight
        self._note = note

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        with self._scope.timings.stage("sparse"):
            self._index = self._indexes.current(self._scope.audience)
            self._terms = self._weighted(query_bundle)
            allowed = (
                self._store.matching_ids(self._scope.filters, self._scope.audience) if self._scope.filters else None
            )
            hits = self._index.search(self._terms, self._scope.k, allowed)
            nodes = self._store.fetch(
                [node_id for node_id, _ in hits], filters=self._scope.filters, audience=self._scope.audience
            )
        return [NodeWithScore(node=nodes[node_id], score=score) for node_id, score in hits if node_id in nodes]

    def _weighted(self, query: QueryBundle) -> Mapping[str, float]:
        terms = tokenise(query.query_str)
        given = query.term_weights if isinstance(query, WeightedQuery) else None
        weights: Mapping[str, float] = Counter(terms) if given is None else given
        for word, term, spellings in _respelt(query.query_str, self._index) if self._typo_weight > 0 else ():
            found = " or ".join(f'"{near.spelling}"' for near in spellings)
            self._note(f'"{word}" was not found; searched for {found}.')
            guess = weights.get(term, 0.0) * self._typo_weight
            weights = {**{near.term: guess * near.similarity for near in spellings}, **weights}
            terms = [spellings[0].term if own == term else own for own in terms]
        return with_pairs(weights, terms)

    def score(self, node_ids: Sequence[str]) -> Mapping[str, float]:
        """BM25 for the question that was retrieved last; 0 where no term matches."""
        return self._index.score_of(self._terms, node_ids)


def _respelt(question: str, index: LexicalIndex) -> Iterator[tuple[str, str, list[Spelling]]]:
    """(word, its term, the nearest spellings in the index) of the question's first words that no node holds."""
    spelt = (word for word in dict.fromkeys(_LETTERS.findall(question)) if not word.isupper())
    words = ((word, tokenise(word, aliases=False)) for word in spelt)
    unknown = ((word, terms[0]) for word, terms in words if len(terms) == 1 and not index.document_frequency(terms[0]))
    for word, term in islice(unknown, _MOST_RESPELT):
        if spellings := index.nearest(word.lower()):
            yield word, term, spellings
