import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from pipelines.errors import RetrievalError, ServiceUnavailable
from pipelines.query.fuse import (
    HybridRetriever,
    convex_fusion,
    min_max_scaled,
    reciprocal_rank_fusion,
)
from pipelines.query.trace import Ledger

EVEN = {"dense": 1.0, "sparse": 1.0}


class ListRetriever(BaseRetriever):
    """Returns what it was given, or raises it."""

    def __init__(self, found: list[tuple[str, float]] | Exception, name: str) -> None:
        super().__init__()
        self.found = found
        self.name = name

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if isinstance(self.found, Exception):
            raise self.found
        facts = {"document_id": "d", "title": "t", "start": 0, "end": 4}
        return [NodeWithScore(node=TextNode(id_=i, text="same", metadata=facts), score=s) for i, s in self.found]


class Scoring(ListRetriever):
    """Scores these nodes beside those that it found."""

    def __init__(self, found: list[tuple[str, float]] | Exception, name: str, **others: float) -> None:
        super().__init__(found, name)
        self.others = others

    def score(self, query_bundle: QueryBundle, node_ids: Sequence[str]) -> dict[str, float]:
        return {node_id: self.others[node_id] for node_id in node_ids if node_id in self.others}


def ids(ranking: list[NodeWithScore]) -> list[str]:
    return [hit.node.node_id for hit in ranking]


def rank(**legs: list[tuple[str, float]] | Exception) -> tuple[list[str], Ledger]:
    ledger = Ledger()
    retrievers = [ListRetriever(found, name) for name, found in legs.items()]
    return ids(HybridRetriever(retrievers, fusion=reciprocal_rank_fusion, observer=ledger).retrieve("q")), ledger


def test_rrf_sums_reciprocal_ranks_of_shared_nodes() -> None:
    fused = reciprocal_rank_fusion({"dense": [("a", 9), ("b", 1)], "sparse": [("b", 3)]}, EVEN)
    assert fused == {"a": 1 / 61, "b": 1 / 62 + 1 / 61}


def test_rrf_honours_the_weights_of_the_legs() -> None:
    fused = reciprocal_rank_fusion({"dense": [("a", 1)], "sparse": [("b", 1)]}, {"dense": 0.7, "sparse": 0.3}, k=1)
    assert fused == {"a": 0.7 / 2, "b": 0.3 / 2}


def test_convex_fusion_divides_each_leg_by_its_maximum() -> None:
    fused = convex_fusion({"dense": [("a", 0.8), ("b", 0.4)], "sparse": [("b", 12.0)]}, {"dense": 0.6, "sparse": 0.4})
    assert fused == {"a": 0.6 * 1, "b": 0.6 * 0.5 + 0.4 * 1}


def test_convex_fusion_counts_negative_scores_as_nothing() -> None:
    assert convex_fusion({"dense": [("a", -0.2)]}, {"dense": 1.0}) == {"a": 0.0}


def test_z_scores_take_the_mean_off_and_divide_by_the_standard_deviation() -> None:
    fused = convex_fusion({"dense": [("a", 3.0), ("b", 1.0)]}, {"dense": 1.0}, scale="z")
    assert fused == {"a": (3 - 2) / 1, "b": (1 - 2) / 1}


def test_a_node_that_a_leg_does_not_hold_counts_as_the_least_of_it_under_z() -> None:
    fused = convex_fusion(
        {"dense": [("a", 3.0), ("b", 1.0)], "sparse": [("a", 5.0)]}, {"dense": 0.5, "sparse": 0.5}, scale="z"
    )
    assert fused == {"a": 0.5 * 1, "b": 0.5 * -1}
    assert convex_fusion({"dense": [], "sparse": [("c", 2.0)]}, EVEN, scale="z") == {"c": 0.0}


def test_scores_can_be_left_as_they_are() -> None:
    assert convex_fusion({"dense": [("a", 0.85)]}, {"dense": 0.6}, scale="none") == {"a": 0.85}


def test_the_weights_of_the_legs_that_are_there_sum_to_one() -> None:
    assert convex_fusion({"sparse": [("a", 7.0)]}, {"dense": 0.6, "sparse": 0.4}) == {"a": 1.0}


def test_scores_are_made_multiplicable_by_their_range() -> None:
    assert min_max_scaled({"a": 2.0, "b": 0.0, "c": -2.0}) == {"a": 1.0, "b": 0.5, "c": 0.0}
    assert min_max_scaled({"a": 0.0}) == {"a": 1.0}
    assert min_max_scaled({}) == {}


@pytest.mark.parametrize("fuse", [reciprocal_rank_fusion, convex_fusion])
def test_a_ranking_that_repeats_an_id_is_refused(fuse) -> None:
    with pytest.raises(ValueError, match="repeats"):
        fuse({"dense": [("a", 1), ("a", 1)]}, EVEN)


def test_rrf_refuses_a_k_below_one() -> None:
    with pytest.raises(ValueError, match="k must be"):
        reciprocal_rank_fusion({}, {}, k=0)


@given(st.lists(st.sampled_from("abcdefgh"), unique=True), st.lists(st.sampled_from("abcdefgh"), unique=True))
def test_rrf_holds_every_node_once_and_rewards_being_in_both(dense: list[str], sparse: list[str]) -> None:
    fused = reciprocal_rank_fusion({"dense": [(i, 1) for i in dense], "sparse": [(i, 1) for i in sparse]}, EVEN)
    assert set(fused) == set(dense) | set(sparse)
    assert max(fused.values(), default=0) <= 2 / 61


def test_nodes_of_equal_text_stay_two() -> None:
    ids, _ = rank(dense=[("a", 0.9), ("b", 0.8)], sparse=[("b", 2.0)])
    assert ids == ["b", "a"]


def test_the_ledger_keeps_the_rank_and_score_of_each_leg() -> None:
    _, ledger = rank(dense=[("a", 0.9), ("b", 0.8)], sparse=[("b", 2.0)])
    row = ledger.candidate("b")
    assert (row.dense.rank, row.dense.score, row.sparse.rank, row.sparse.score) == (2, 0.8, 1, 2.0)


def test_a_failing_leg_leaves_the_ranking_of_the_other_and_a_note() -> None:
    ids, ledger = rank(dense=ServiceUnavailable("The model is down."), sparse=[("b", 2.0)])
    assert ids == ["b"]
    assert ledger.notes == ["The dense search failed: The model is down."]


def test_when_every_leg_fails_the_first_error_is_raised() -> None:
    with pytest.raises(RetrievalError):
        rank(dense=RetrievalError("broken filter"), sparse=ServiceUnavailable("down"))


def test_a_bug_in_a_leg_is_raised_where_a_ledger_listens_and_else_leaves_the_other_ranking() -> None:
    with pytest.raises(ZeroDivisionError):
        rank(dense=ZeroDivisionError("a bug"), sparse=[("b", 2.0)])
    legs = [ListRetriever(ZeroDivisionError("of another package"), "dense"), ListRetriever([("b", 2.0)], "sparse")]
    assert ids(HybridRetriever(legs).retrieve("q")) == ["b"]


def test_completion_gives_a_node_its_true_score_in_the_leg_that_missed_it() -> None:
    ledger, seen = Ledger(), {}
    legs = [Scoring([("a", 0.8)], "dense", b=0.4), Scoring([("b", 2.0)], "sparse", a=1.0)]

    def fusion(rankings, weights):
        seen.update(rankings)
        return convex_fusion(rankings, weights)

    ranking = HybridRetriever(legs, weights=[0.6, 0.4], fusion=fusion, observer=ledger).retrieve("q")
    assert seen == {"dense": [("a", 0.8), ("b", 0.4)], "sparse": [("b", 2.0), ("a", 1.0)]}
    assert [(hit.node.node_id, hit.score) for hit in ranking] == [("a", 0.6 + 0.4 * 0.5), ("b", 0.6 * 0.5 + 0.4)]
    assert ledger.candidate("a").sparse is None


def test_only_a_retriever_that_can_score_is_completed() -> None:
    legs = [Scoring([("a", 0.8)], "dense", b=0.4), ListRetriever([("b", 2.0)], "sparse")]
    ranking = HybridRetriever(legs, weights=[0.6, 0.4]).retrieve("q")
    assert [(hit.node.node_id, hit.score) for hit in ranking] == [("b", 0.6 * 0.5 + 0.4), ("a", 0.6)]
    apart = HybridRetriever(legs, weights=[0.6, 0.4], complete=False).retrieve("q")
    assert [(hit.node.node_id, hit.score) for hit in apart] == [("a", 0.6), ("b", 0.4)]


def test_a_leg_that_failed_completes_nothing() -> None:
    legs = [Scoring(ServiceUnavailable("down"), "dense"), Scoring([("b", 2.0)], "sparse")]
    assert ids(HybridRetriever(legs, observer=Ledger()).retrieve("q")) == ["b"]


class Incomplete(Scoring):
    """Finds, but cannot score."""

    def score(self, query_bundle: QueryBundle, node_ids: Sequence[str]) -> dict[str, float]:
        raise ServiceUnavailable("The database is gone.", hint="Start it.")


def test_a_leg_that_cannot_complete_its_scores_leaves_its_ranking_and_a_note() -> None:
    ledger = Ledger()
    legs = [Incomplete([("a", 0.9)], "dense"), Scoring([("b", 2.0)], "sparse", a=1.0)]
    assert set(ids(HybridRetriever(legs, observer=ledger).retrieve("q"))) == {"a", "b"}
    assert ledger.degraded
    assert ledger.notes == ["The dense scores could not be completed: The database is gone."]


def test_any_two_retrievers_are_fused_with_equal_weights_and_the_best_are_returned() -> None:
    legs = [ListRetriever([("a", 5.0), ("b", 4.0)], "same"), ListRetriever([("b", 1.0), ("c", 0.5)], "same")]
    hybrid = HybridRetriever(legs, similarity_top_k=2)
    assert ids(hybrid.retrieve("q")) == ids(asyncio.run(hybrid.aretrieve("q"))) == ["b", "a"]
    hybrid.similarity_top_k = 1
    assert ids(hybrid.retrieve("q")) == ["b"]
    with pytest.raises(ValueError, match="2 retrievers need as many weights, not 3"):
        HybridRetriever(legs, weights=[1, 1, 1])


def test_retrievers_of_one_name_with_a_space_are_all_asked() -> None:
    both = [ListRetriever([("a", 1.0)], "vector index"), ListRetriever([("b", 1.0)], "vector index")]
    assert set(ids(HybridRetriever(both, weights=[1, 1]).retrieve("q"))) == {"a", "b"}


def test_no_retriever_writes_into_the_question_of_another() -> None:
    class Writing(ListRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            assert query_bundle.embedding is None
            query_bundle.embedding = [1.0]
            return super()._retrieve(query_bundle)

    query = QueryBundle("q")
    HybridRetriever([Writing([("a", 1.0)], "one"), Writing([("b", 1.0)], "two")]).retrieve(query)
    assert query.embedding is None
