"""FUSE: weighted RRF and convex fusion on node ids, and the HybridRetriever that applies them."""

import contextvars
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from llama_index.core.llms.mock import MockLLM
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle

from pipelines.errors import FootnoteError
from pipelines.observe import log_failure
from pipelines.query.trace import Ledger

Ranked = list[tuple[str, float]]
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
    rankings: Mapping[str, Sequence[tuple[str, float]]], weights: Mapping[str, float]
) -> dict[str, float]:
    """Score each id by the weighted sum of its scores, each leg's divided by that leg's maximum.

    With weights that sum to 1 the scores lie in 0..1; an id that a leg does not hold gets nothing from it, and a
    negative score counts as 0. Scores compare only within one call.

    Args:
        rankings: By leg, (node id, score), best first, no repeats within a ranking.
        weights: By leg.

    Raises:
        ValueError: If a ranking repeats an id.

    Source: Bruch, Gai, Ingber, TOIS 2023, doi:10.1145/3596512.
    """
    fused: dict[str, float] = {}
    for leg, ranking in rankings.items():
        _assert_unique(leg, ranking)
        top = max((score for _, score in ranking), default=0.0)
        for node_id, score in ranking:
            share = max(score, 0.0) / top if top > 0 else 0.0
            fused[node_id] = fused.get(node_id, 0.0) + weights[leg] * share
    return fused


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
        found = self._run_legs(query_bundle)
        nodes = {hit.node.node_id: hit.node for ranking in found.values() for hit in ranking}
        rankings = {
            leg: [(hit.node.node_id, float(hit.score or 0.0)) for hit in ranking] for leg, ranking in found.items()
        }
        if self._complete:
            rankings = {leg: self._completed(leg, ranking, nodes.keys()) for leg, ranking in rankings.items()}
        with self._ledger.timings.stage("fuse"):
            scores = self._fusion(rankings)
        order = sorted(scores, key=lambda node_id: (-scores[node_id], node_id))
        ranking = [NodeWithScore(node=nodes[node_id], score=scores[node_id]) for node_id in order]
        self._ledger.fused(ranking)
        return ranking

    def _completed(self, leg: str, ranking: Ranked, candidates: Iterable[str]) -> Ranked:
        known = {node_id for node_id, _ in ranking}
        missing = [node_id for node_id in candidates if node_id not in known]
        with self._ledger.timings.stage("complete"):
            scores = self._legs[leg].score(missing) if missing else {}
        return sorted([*ranking, *scores.items()], key=lambda scored: (-scored[1], scored[0]))

    def _run_legs(self, query: QueryBundle) -> dict[str, list[NodeWithScore]]:
        with ThreadPoolExecutor(max_workers=len(self._legs)) as pool:
            running: dict[str, Any] = {
                name: pool.submit(contextvars.copy_context().run, leg.retrieve, query)
                for name, leg in self._legs.items()
            }
        rankings: dict[str, list[NodeWithScore]] = {}
        failed: list[FootnoteError] = []
        for name, future in running.items():
            try:
                rankings[name] = future.result()
                self._ledger.leg(name, rankings[name])
            except FootnoteError as error:
                log_failure(f"{name} search failed", error)
                self._ledger.notes.append(f"The {name} search failed: {error.message}")
                failed.append(error)
        if failed and not rankings:
            raise failed[0]
        return rankings
