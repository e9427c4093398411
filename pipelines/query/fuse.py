"""FUSE: weighted RRF and convex fusion on node ids, and the HybridRetriever that applies them."""

import contextvars
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from statistics import fmean, pstdev
from typing import Literal

from llama_index.core.llms.mock import MockLLM
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle

from config.settings import RetrievalSettings
from pipelines.errors import FootnoteError
from pipelines.observe import log_failure
from pipelines.query.trace import Ledger

Ranked = list[tuple[str, float]]
Scale = Literal["max", "theoretical", "z", "none"]
Fusion = Callable[[Mapping[str, Sequence[tuple[str, float]]]], dict[str, float]]


def reciprocal_rank_fusion(
    rankings: Mapping[str, Sequence[tuple[str, float]]], weights: Mapping[str, float], *, k: int = 60
) -> dict[str, float]:
    """Score each id by the sum of weight / (k + rank) over the rankings that hold it.

    Ranks start at 1. Scores compare only within one call; two rankings of weight 0.5 give at most 1 / (k + 1).

    Args:
        rankings: By leg, (node id, score), best first, no repeats within a ranking.
        weights: By leg.
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
    """Score each id by the weighted mean of its scores, each leg's brought to one scale first.

    The weights of the legs that are there are made to sum to 1. An id that a leg does not hold counts as the least
    that this leg can have given. Scores compare only within one call; they lie in 0..1 under `max` and `theoretical`.

    Args:
        rankings: By leg, (node id, score), best first, no repeats within a ranking.
        weights: By leg.
        scale: `max` divides by the leg's maximum (negatives count as 0), `theoretical` maps what lies between the
            least possible score (-1 for `dense`, else 0) and the maximum to 0..1, `z` takes the mean off and divides
            by the standard deviation, `none` leaves scores as they are.

    Raises:
        ValueError: If a ranking repeats an id.

    Source: Bruch, Gai, Ingber, TOIS 2023, doi:10.1145/3596512.
    """
    ids = dict.fromkeys(node_id for ranking in rankings.values() for node_id, _ in ranking)
    total = sum(weights[leg] for leg in rankings) or 1.0
    fused = dict.fromkeys(ids, 0.0)
    for leg, ranking in rankings.items():
        _assert_unique(leg, ranking)
        scaled = dict(zip((node_id for node_id, _ in ranking), _scaled(leg, ranking, scale), strict=True))
        least = min(scaled.values(), default=0.0) if scale == "z" else 0.0
        for node_id in ids:
            fused[node_id] += weights[leg] / total * scaled.get(node_id, least)
    return fused


def _scaled(leg: str, ranking: Sequence[tuple[str, float]], scale: Scale) -> list[float]:
    scores = [score for _, score in ranking]
    if scale == "z":
        mean, deviation = (fmean(scores), pstdev(scores)) if scores else (0.0, 0.0)
        return [(score - mean) / deviation if deviation > 0 else 0.0 for score in scores]
    if scale == "none":
        return scores
    least = -1.0 if scale == "theoretical" and leg == "dense" else 0.0
    reach = max(scores, default=least) - least
    return [max(score - least, 0.0) / reach if reach > 0 else 0.0 for score in scores]


def min_max_scaled(scores: Mapping[str, float]) -> dict[str, float]:
    """The scores mapped to 0..1 by their range, so that a boost moves ranks alike under every fusion.

    RRF scores lie so close together, and z scores change their sign, that a boost of them would mean nothing.
    """
    low, high = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    return {name: (score - low) / (high - low) if high > low else 1.0 for name, score in scores.items()}


def build_fusion(settings: RetrievalSettings) -> Fusion:
    """The fusion of the dense and the sparse leg that the settings name."""
    weights = {"dense": settings.dense_weight, "sparse": 1 - settings.dense_weight}
    if settings.fusion == "rrf":
        return lambda rankings: min_max_scaled(reciprocal_rank_fusion(rankings, weights))
    if settings.scale == "z":
        return lambda rankings: min_max_scaled(convex_fusion(rankings, weights, scale="z"))
    return partial(convex_fusion, weights=weights, scale=settings.scale)


def _assert_unique(leg: str, ranking: Sequence[tuple[str, float]]) -> None:
    if len({node_id for node_id, _ in ranking}) != len(ranking):
        raise ValueError(f"the {leg} ranking repeats an id")


class ScoringRetriever(BaseRetriever):
    """A retriever that can also score nodes which it did not find."""

    @abstractmethod
    def score(self, node_ids: Sequence[str]) -> Mapping[str, float]:
        """What these nodes score for the question that was retrieved last; nodes that are gone are missing."""


class HybridRetriever(QueryFusionRetriever):
    """A QueryFusionRetriever whose legs run in parallel and whose fusion is one of the functions above.

    The stock fusion identifies nodes by a hash of text and metadata, ignores weights in RRF and fails whole when one
    leg fails. Here a failing leg leaves the other's ranking, and the ledger says so.

    With `complete`, a node that one leg found gets its true score from the other before the fusion, so that its rank
    does not hang on where the other leg was cut off.
    """

    def __init__(
        self, legs: Mapping[str, ScoringRetriever], fusion: Fusion, ledger: Ledger, *, complete: bool = False
    ) -> None:
        super().__init__(list(legs.values()), llm=MockLLM(), num_queries=1, use_async=False)
        self._legs = dict(legs)
        self._fusion = fusion
        self._ledger = ledger
        self._complete = complete

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        with ThreadPoolExecutor(max_workers=len(self._legs)) as pool:
            running = {
                name: pool.submit(contextvars.copy_context().run, leg.retrieve, query_bundle)
                for name, leg in self._legs.items()
            }
        found = self._collected(running)
        nodes = {hit.node.node_id: hit.node for ranking in found.values() for hit in ranking}
        rankings = {
            leg: [(hit.node.node_id, float(hit.score or 0.0)) for hit in ranking] for leg, ranking in found.items()
        }
        if self._complete:
            rankings = {leg: self._completed(leg, ranking, nodes.keys()) for leg, ranking in rankings.items()}
        with self._ledger.stage("fuse"):
            scores = self._fusion(rankings)
        order = sorted(scores, key=lambda node_id: (-scores[node_id], node_id))
        ranking = [NodeWithScore(node=nodes[node_id], score=scores[node_id]) for node_id in order]
        self._ledger.fused(ranking)
        return ranking

    def _collected(self, running: Mapping[str, Future[list[NodeWithScore]]]) -> dict[str, list[NodeWithScore]]:
        """The ranking of each leg that did not fail; the error where all did."""
        rankings: dict[str, list[NodeWithScore]] = {}
        failed: list[FootnoteError] = []
        for name, future in running.items():
            try:
                rankings[name] = future.result()
                self._ledger.leg(name, rankings[name])
            except FootnoteError as error:
                log_failure(f"{name} search failed", error)
                self._ledger.lacking(f"The {name} search failed: {error}")
                failed.append(error)
        if failed and not rankings:
            raise failed[0]
        return rankings

    def _completed(self, leg: str, ranking: Ranked, candidates: Iterable[str]) -> Ranked:
        known = {node_id for node_id, _ in ranking}
        missing = [node_id for node_id in candidates if node_id not in known]
        try:
            with self._ledger.stage("complete"):
                scores = self._legs[leg].score(missing) if missing else {}
        except FootnoteError as error:
            log_failure(f"{leg} scores not completed", error)
            self._ledger.lacking(f"The {leg} scores could not be completed: {error.message}")
            return ranking
        return sorted([*ranking, *scores.items()], key=lambda scored: (-scored[1], scored[0]))
