"""RETRIEVE: the dense and the sparse leg, each bound to its filters and audience."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import NodeWithScore, QueryBundle

from pipelines.errors import FootnoteError, ModelError
from pipelines.observe import Timings
from pipelines.query.searching.fuse import ScoringRetriever
from pipelines.store.lexical import LexicalIndex
from pipelines.store.lexical_snapshots import LexicalIndexes
from pipelines.store.pairs import with_pairs
from pipelines.store.reads import NodeReader
from pipelines.store.tokens import tokenise
from pipelines.store.typos import Spelling
from pipelines.types import Audience, Filters

_MOST_RESPELT = 8  # words of a question; a text in another language is no row of typos
_LETTERS = re.compile(r"[^\W\d_]+")
Whiten = Callable[[Sequence[float]], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Reach:
    """How far a leg looks, and for whom: k nodes that pass the filters and that the audience may see."""

    k: int
    filters: Filters
    audience: Audience
    timings: Timings


class Asked:
    """The vectors of one request: each text is embedded once, however many attempts search for it."""

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
            try:
                with self._timings.stage("embed"):
                    self._known[key] = self._embed_model.get_agg_embedding_from_queries(list(key))
            except FootnoteError:
                raise
            except Exception as error:  # whatever a model of another house raises
                raise ModelError(f"The embedding model failed: {type(error).__name__}: {error}.") from error
        return self._known[key]


class DenseRetriever(ScoringRetriever):
    """The nodes whose vectors are nearest to the question's, whitened by `whiten`; scores in -1..1, best first."""

    def __init__(self, store: NodeReader, asked: Asked, reach: Reach, *, look: int, whiten: Whiten) -> None:
        super().__init__()
        self._store = store
        self._asked = asked
        self._reach = reach
        self._look = look
        self._whiten = whiten

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        asked = self._asked.vector(query_bundle)
        with self._reach.timings.stage("dense"):
            self._vector = self._whiten(asked)
            return self._store.dense(
                self._vector, self._reach.k, look=self._look, filters=self._reach.filters, audience=self._reach.audience
            )

    def score(self, node_ids: Sequence[str]) -> Mapping[str, float]:
        """The scores of these nodes for the question that was retrieved last."""
        return self._store.similarities(self._vector, node_ids)


@dataclass
class WeightedQuery(QueryBundle):
    """A question whose sparse leg searches for other terms than its own, each with a weight.

    Its own terms still say which terms are neighbours.
    """

    term_weights: Mapping[str, float] | None = None


class SparseRetriever(ScoringRetriever):
    """The nodes of highest BM25; scores are > 0, best first. Filters apply before the scores are ranked.

    A word of the question that no node holds is also searched for as the nearest words that are held, at
    `typo_weight` times their similarity, and `note` is told; a word that is held is left alone.
    """

    def __init__(
        self,
        store: NodeReader,
        indexes: LexicalIndexes,
        reach: Reach,
        *,
        typo_weight: float = 0.0,
        note: Callable[[str], None] = lambda said: None,
    ) -> None:
        super().__init__()
        self._store = store
        self._indexes = indexes
        self._reach = reach
        self._typo_weight = typo_weight
        self._note = note

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        with self._reach.timings.stage("sparse"):
            self._index = self._indexes.current(self._reach.audience)
            self._terms = self._weighted(query_bundle)
            allowed = (
                self._store.matching_ids(self._reach.filters, self._reach.audience) if self._reach.filters else None
            )
            hits = self._index.search(self._terms, self._reach.k, allowed)
            nodes = self._store.fetch(
                [node_id for node_id, _ in hits], filters=self._reach.filters, audience=self._reach.audience
            )
        return [NodeWithScore(node=nodes[node_id], score=score) for node_id, score in hits if node_id in nodes]

    def _weighted(self, query: QueryBundle) -> Mapping[str, float]:
        terms = tokenise(query.query_str)
        given = query.term_weights if isinstance(query, WeightedQuery) else None
        weights: Mapping[str, float] = Counter(terms) if given is None else given
        for word, term, spellings in _respelt(query.query_str, self._index) if self._typo_weight > 0 else ():
            said = " or ".join(f'"{held.spelling}"' for held in spellings)
            self._note(f'"{word}" was not found; searched for {said}.')
            guess = weights.get(term, 0.0) * self._typo_weight
            weights = {**{held.term: guess * held.similarity for held in spellings}, **weights}
            terms = [spellings[0].term if own == term else own for own in terms]
        return with_pairs(weights, terms)

    def score(self, node_ids: Sequence[str]) -> Mapping[str, float]:
        """BM25 for the question that was retrieved last; 0 where no term matches."""
        return self._index.score_of(self._terms, node_ids)


def _respelt(question: str, index: LexicalIndex) -> Iterator[tuple[str, str, list[Spelling]]]:
    """The first words of the question that no node holds and that are near to some that are held, with their terms."""
    spelt = (word for word in dict.fromkeys(_LETTERS.findall(question)) if not word.isupper())
    words = ((word, tokenise(word, aliases=False)) for word in spelt)
    unknown = ((word, terms[0]) for word, terms in words if len(terms) == 1 and not index.document_frequency(terms[0]))
    for word, term in islice(unknown, _MOST_RESPELT):
        if spellings := index.nearest(word.lower()):
            yield word, term, spellings


def best_documents(ranking: Sequence[NodeWithScore], n: int) -> tuple[str, ...]:
    """The ids of the n documents that score best: by its best node, half its second, a quarter of its third."""
    scores: dict[str, float] = {}
    weights: dict[str, float] = {}
    for hit in ranking:
        document = hit.node.metadata["document_id"]
        weights[document] = weights.get(document, 2.0) / 2
        scores[document] = scores.get(document, 0.0) + weights[document] * float(hit.score or 0.0)
    return tuple(sorted(scores, key=lambda document: (-scores[document], document))[:n])
