"""FUSE: weighted RRF and convex fusion on node ids, and the HybridRetriever that applies them."""

import asyncio
import contextvars
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from functools import cache, partial
from math import fsum, sqrt
from typing import Any, Literal, Protocol, TypeVar, runtime_checkable

from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle

from config.settings import RetrievalSettings
from pipelines.models.identity import MULTILINGUAL
from pipelines.observe import log_failure
from pipelines.query.trace import SILENT, Observer

Key = TypeVar("Key", bound=Hashable)
Ranked = list[tuple[str, float]]
Scale = Literal["max", "min-max", "z", "none"]
# (rankings by retriever, weights by retriever) -> fused scores
Fusion = Callable[[Mapping[str, Sequence[tuple[str, float]]], Mapping[str, float]], dict[str, float]]


_MOST_THREADS = 32  # more searches at once wait for one another
_SCALES: Mapping[str, Scale] = {MULTILINGUAL: "min-max"}  # of models whose `auto` is another than `z`


def reciprocal_rank_fusion(
    rankings: Mapping[str, Sequence[tuple[str, float]]], weights: Mapping[str, float], *, k: int = 60
) -> dict[str, float]:
    """Score each id by the sum of weight / (k + rank) over the rankings that hold it.

    Ranks start at 1. Scores compare only within one call; two rankings of weight 0.5 give at most 1 / (k + 1).

    Args:
        rankings: By retriever, (node id, score), best first, no repeats within a ranking.
        weights: By retriever.
        k: Damping; larger flattens the lead of the first ranks.

    Raises:
        ValueError: If k < 1 or a ranking repeats an id.

    Source: Cormack, Clarke, Buettcher, SIGIR 2009, doi:10.1145/1571941.1572114.
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    fused: dict[str, float] = {}
    for leg, ranking in rankings.items():
        _assert_unique(leg, ranking)
        for rank, (node_id, _) in enumerate(ranking, start=1):
            fused[node_id] = fused.get(node_id, 0.0) + weights[leg] / (k + rank)
    return fused


def convex_fusion(
    rankings: Mapping[str, Sequence[tuple[str, float]]], weights: Mapping[str, float], *, scale: Scale = "max"
) -> dict[str, float]:
    """Score each id by the weighted mean of its scores, each retriever's scaled first.

    The weights of the given retrievers are scaled to sum to 1. An id that a retriever did not return gets the lowest
    score that it can give. Scores compare only within one call; they lie in 0..1 under `max`.

    Args:
        rankings: By retriever, (node id, score), best first, no repeats within a ranking.
        weights: By retriever.
        scale: `max` divides by the retriever's maximum (negatives count as 0), `z` takes the mean off and divides by
            the standard deviation, `min-max` maps its range to 0..1, `none` leaves scores as they are.

    Raises:
        ValueError: If a ranking repeats an id.

    Source: Bruch, Gai, Ingber, TOIS 2023, doi:10.1145/3596512.
    """
    ids = dict.fromkeys(node_id for ranking in rankings.values() for node_id, _ in ranking)
    total = sum(weights[leg] for leg in rankings) or 1.0
    fused = dict.fromkeys(ids, 0.0)
    for leg, ranking in rankings.items():
        _assert_unique(leg, ranking)
        scaled = dict(zip((node_id for node_id, _ in ranking), _scaled(ranking, scale), strict=True))
        least = min(scaled.values(), default=0.0) if scale == "z" else 0.0
        for node_id in ids:
            fused[node_id] += weights[leg] / total * scaled.get(node_id, least)
    return fused


def _scaled(ranking: Sequence[tuple[str, float]], scale: Scale) -> list[float]:
    scores = [score for _, score in ranking]
    if scale == "z":
        mean = fsum(scores) / max(len(scores), 1)
        deviation = sqrt(fsum((score - mean) ** 2 for score in scores) / max(len(scores), 1))
        return [(score - mean) / deviation if deviation > 0 else 0.0 for score in scores]
    if scale == "none":
        return scores
    if scale == "min-max":
        return list(min_max_scaled(dict(enumerate(scores))).values())
    most = max(scores, default=0.0)
    return [max(score, 0.0) / most if most > 0 else 0.0 for score in scores]


def min_max_scaled(scores: Mapping[Key, float]) -> dict[Key, float]:
    """The scores mapped to 0..1 by their range, so that a boost moves ranks alike under every fusion: RRF scores are
    close.
    """
    low, high = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    return {name: (score - low) / (high - low) if high > low else 1.0 for name, score in scores.items()}


def build_fusion(settings: RetrievalSettings, model: str = "") -> Fusion:
    """The fusion of the dense and the sparse retriever that the settings name, for this embedding model."""
    scale: Scale = _SCALES.get(model, "z") if settings.scale == "auto" else settings.scale
    if settings.fusion == "rrf":
        return lambda *legs: min_max_scaled(reciprocal_rank_fusion(*legs))
    if scale == "z":
        return lambda *legs: min_max_scaled(convex_fusion(*legs, scale="z"))
    return partial(convex_fusion, scale=scale)


def _assert_unique(leg: str, ranking: Sequence[tuple[str, float]]) -> None:
    if len({node_id for node_id, _ in ranking}) != len(ranking):
        raise ValueError(f"the {leg} ranking repeats an id")


def by_score(scores: Mapping[str, float], nodes: Mapping[str, BaseNode]) -> list[NodeWithScore]:
    """The nodes of these ids with their scores, best first, ties by node id."""
    order = sorted(scores, key=lambda node_id: (-scores[node_id], node_id))
    return [NodeWithScore(node=nodes[node_id], score=scores[node_id]) for node_id in order]


def scores_of(ranking: Sequence[NodeWithScore]) -> Ranked:
    """The (node id, score) of each hit, in its order; a hit without a score has 0."""
    return [(hit.node.node_id, float(hit.score or 0.0)) for hit in ranking]


def with_nodes(ranked: Sequence[tuple[str, float]], nodes: Mapping[str, BaseNode]) -> list[NodeWithScore]:
    """The nodes of a ranking of ids, in its order; an id without a node is left out."""
    return [NodeWithScore(node=nodes[node_id], score=score) for node_id, score in ranked if node_id in nodes]


@runtime_checkable
class RankingRetriever(Protocol):
    """A retriever that finds ids first, so that the nodes of several retrievers are read together."""

    def rank(self, query_bundle: QueryBundle) -> Ranked:
        """The ids that it retrieves with their scores, best first."""

    def nodes(self, node_ids: Sequence[str]) -> Mapping[str, BaseNode]:
        """The nodes of ids that it, or another retriever of its store, found."""


@runtime_checkable
class ScoringRetriever(Protocol):
    """A retriever that can also score nodes which it did not find."""

    def score(self, query_bundle: QueryBundle, node_ids: Sequence[str]) -> Mapping[str, float]:
        """The scores of these nodes for a question; nodes that are gone are missing."""


class HybridRetriever(QueryFusionRetriever):
    """A QueryFusionRetriever whose retrievers run in parallel and whose fusion is one of the functions above.

    The stock fusion identifies nodes by a hash of text and metadata, ignores weights in RRF and fails whole when one
    retriever fails. Here nodes are identified by `node_id`, and a failing retriever leaves the others' rankings.
    """

    def __init__(
        self,
        retrievers: Sequence[BaseRetriever],
        *,
        weights: Sequence[float] | None = None,
        fusion: Fusion = convex_fusion,
        similarity_top_k: int = 10,
        complete: bool = True,
        observer: Observer = SILENT,
    ) -> None:
        """Combine these retrievers of LlamaIndex.

        Args:
            retrievers: Called by their `name`, if they have one, else by their class.
            weights: Of each retriever; equal ones by default.
            fusion: `convex_fusion`, `reciprocal_rank_fusion` or another function of rankings and weights.
            similarity_top_k: The number of nodes of the result.
            complete: Give a node that one retriever found its true score of each other that is a ScoringRetriever,
                before the fusion, so that its rank does not depend on where the other's ranking ends.
            observer: Receives each ranking and each failure.

        Raises:
            ValueError: If the number of weights is not that of the retrievers.
        """
        # Not QueryFusionRetriever's own constructor: it wants a language model, for questions that are never generated.
        super(QueryFusionRetriever, self).__init__()
        self.similarity_top_k, self.num_queries, self.use_async = similarity_top_k, 1, False
        self._retrievers = list(retrievers)
        self._legs = _by_name(retrievers)
        self._retriever_weights = list(weights or [1 / len(self._legs)] * len(self._legs))
        if len(self._retriever_weights) != len(self._legs):
            raise ValueError(f"{len(self._legs)} retrievers need as many weights, not {len(self._retriever_weights)}")
        self._fusion = fusion
        self._complete = complete
        self._observer = observer

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self.fused(query_bundle)

    def fused(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """As `retrieve`, without LlamaIndex's spans and events around it."""
        queries = {name: copy(query_bundle) for name in self._legs}  # LlamaIndex's own write their vector into it
        calls = {
            name: partial(leg.rank if isinstance(leg, RankingRetriever) else leg.retrieve, queries[name])
            for name, leg in self._legs.items()
        }
        *others, last = calls
        # the last one runs in this thread
        running = {name: _threads().submit(contextvars.copy_context().run, calls[name]) for name in others}
        outcomes: dict[str, Any] = {}
        for name in (last, *others):
            try:
                outcomes[name] = calls[name]() if name == last else running[name].result()
            except Exception as error:  # noqa: BLE001 - a retriever of any package
                outcomes[name] = error
        rankings, nodes = self._collected({name: outcomes[name] for name in calls})
        if self._complete:
            rankings = {leg: self._completed(leg, queries[leg], ranking, nodes) for leg, ranking in rankings.items()}
        with self._observer.stage("fuse"):
            scores = self._fusion(rankings, dict(zip(self._legs, self._retriever_weights, strict=True)))
        ranking = by_score(scores, nodes)[: self.similarity_top_k]
        self._observer.fused(ranking)
        return ranking

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)

    def _collected(self, outcomes: Mapping[str, Any]) -> tuple[dict[str, Ranked], dict[str, BaseNode]]:
        """(the ranking of each retriever that did not fail, their nodes); raises the first error if all did."""
        rankings: dict[str, Ranked] = {}
        nodes: dict[str, BaseNode] = {}
        failed: list[Exception] = []
        for name, found in outcomes.items():
            if isinstance(found, Exception):
                self._note(f"The {name} search failed: {found}", found)
                failed.append(found)
            elif isinstance(self._legs[name], RankingRetriever):
                rankings[name] = found
            else:
                nodes |= {hit.node.node_id: hit.node for hit in found}
                rankings[name] = scores_of(found)
        if failed and not rankings:
            raise failed[0]
        for leg in self._legs.values():
            wanted = [node_id for ranking in rankings.values() for node_id, _ in ranking if node_id not in nodes]
            if wanted and isinstance(leg, RankingRetriever):
                nodes |= leg.nodes(list(dict.fromkeys(wanted)))
        for name, ranking in rankings.items():
            rankings[name] = [pair for pair in ranking if pair[0] in nodes]
            self._observer.leg(name, with_nodes(ranking, nodes))
        return rankings, nodes

    def _note(self, text: str, error: Exception) -> None:
        self._observer.failed(text, error)
        log_failure(text, error)

    def _completed(self, name: str, query: QueryBundle, ranking: Ranked, candidates: Collection[str]) -> Ranked:
        known, leg = {node_id for node_id, _ in ranking}, self._legs[name]
        missing = [node_id for node_id in candidates if node_id not in known]
        if not isinstance(leg, ScoringRetriever):
            return ranking
        try:
            with self._observer.stage("complete"):
                scores = leg.score(query, list(candidates)) if missing else {}
        except Exception as error:  # noqa: BLE001
            self._note(f"The {name} scores could not be completed: {getattr(error, 'message', error)}", error)
            return ranking
        added = [(node_id, scores[node_id]) for node_id in missing if node_id in scores]
        return sorted([*ranking, *added], key=lambda scored: (-scored[1], scored[0]))


@cache
def _threads() -> ThreadPoolExecutor:
    """The threads of all retrievers but the last of each search; kept, as starting one costs more than BM25."""
    return ThreadPoolExecutor(_MOST_THREADS, thread_name_prefix="retriever")


def _by_name(retrievers: Sequence[BaseRetriever]) -> dict[str, BaseRetriever]:
    """The retrievers by name; a number sets equal names apart."""
    named: dict[str, BaseRetriever] = {}
    for number, retriever in enumerate(retrievers, start=1):
        name = getattr(retriever, "name", type(retriever).__name__)
        named[f"{name} {number}" if name in named else name] = retriever
    return named
