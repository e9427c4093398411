"""What each factor multiplies by, and what that does to a rank under each fusion."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.schema import BaseNode, TextNode

from config.settings import RetrievalSettings, Settings
from pipelines.evaluation.experiment import SYSTEMS
from pipelines.models.identity import MULTILINGUAL
from pipelines.query.ablation import change_settings
from pipelines.query.fuse import build_fusion, convex_fusion, min_max_scaled, reciprocal_rank_fusion
from pipelines.query.postprocess import build_factors
from pipelines.query.postprocess.boost import (
    Boost,
    CategoryBoost,
    NamedDocumentBoost,
    QualityBoost,
    RecencyBoost,
    SectionBoost,
    YearBoost,
)
from pipelines.query.trace import Ledger
from pipelines.types import QueryIntent
from tests.unit.query.builders import hit

TODAY = date(2026, 7, 1)
TABLE = {"resume": 1.3, "linkedin": 1.25, "journey": 1.2, "github": 1.15}
EVEN = {"dense": 0.5, "sparse": 0.5}


class Given(Boost):
    """Multiplies each node by the value that the test gives it."""

    name = "given"
    values: dict[str, float]

    def value(self, node: BaseNode) -> float:
        return self.values[node.node_id]


def factor_of(boost: Boost, text: str = "", **metadata: object) -> float:
    return boost.value(TextNode(text=text, metadata=metadata))


def recency(year: int | None, today: date = TODAY) -> float:
    return factor_of(RecencyBoost(today=today), year=year)


@pytest.mark.parametrize(("category", "factor"), [*TABLE.items(), ("blog", 1.0)])
def test_a_category_that_was_asked_for_has_the_factor_of_the_table(category: str, factor: float) -> None:
    assert factor_of(CategoryBoost(asked=(category,), table=TABLE), category=category) == factor


def test_a_category_that_was_not_asked_for_is_unchanged() -> None:
    assert factor_of(CategoryBoost(asked=("journey",), table=TABLE), category="resume") == 1.0


@pytest.mark.parametrize(
    ("year", "factor"), [(2026, 1.3), (2025, 1.2), (2024, 1.1), (2023, 1.0), (2027, 1.3), (None, 1.0)]
)
def test_recency_falls_in_steps_and_a_future_year_is_this_year(year: int | None, factor: float) -> None:
    assert recency(year) == factor


def test_recency_follows_the_day_that_it_is_given() -> None:
    assert recency(2024, date(2024, 12, 31)) == 1.3
    assert recency(2024, date(2025, 1, 1)) == 1.2


def test_a_year_counts_only_when_the_question_names_it() -> None:
    boost = YearBoost(asked=(2019, 2020), factor=1.2)
    assert [factor_of(boost, year=year) for year in (2019, 2020, 2021, None)] == [1.2, 1.2, 1.0, 1.0]


@pytest.mark.parametrize(("words", "factor"), [(99, 1.0), (100, 1.1), (300, 1.1), (301, 1.0)])
def test_quality_is_a_hundred_to_three_hundred_words(words: int, factor: float) -> None:
    assert factor_of(QualityBoost(), "word " * words) == factor


@pytest.mark.parametrize(
    ("path", "factor"),
    [
        (["Marit Vold", "Technical Skills"], 1.1),
        (["SKILL SET"], 1.1),
        (["Skills", "Languages"], 1.1),
        (["Experience"], 1.0),
        (["Killswitch"], 1.0),
        ([], 1.0),
    ],
)
def test_a_section_is_named_by_any_heading_above_the_node(path: list[str], factor: float) -> None:
    assert factor_of(SectionBoost(asked=("skills", "awards"), factor=1.1), section_path=path) == factor


def test_without_a_named_section_every_node_is_unchanged() -> None:
    for asked in ((), ("the",)):
        assert factor_of(SectionBoost(asked=asked, factor=1.1), section_path=["Skills"]) == 1.0


def test_a_named_document_counts_more() -> None:
    boost = NamedDocumentBoost(named=("d1",), factor=1.2)
    assert [factor_of(boost, document_id=document) for document in ("d1", "d2")] == [1.2, 1.0]


def test_ties_are_broken_by_node_id_and_a_missing_score_is_none_at_all() -> None:
    hits = [hit("b", score=0.5), hit("a", score=0.5), hit("c")]
    hits[2].score = None
    ranked = Given(values={"a": 1.0, "b": 1.0, "c": 1.3}).postprocess_nodes(hits)
    assert [(one.node.node_id, one.score) for one in ranked] == [("a", 0.5), ("b", 0.5), ("c", 0.0)]


@given(st.floats(-1, 1), st.floats(1, 2))
def test_a_factor_above_one_never_lowers_a_score(score: float, value: float) -> None:
    [boosted] = Given(values={"a": value}).postprocess_nodes([hit("a", score=score)])
    assert boosted.score >= score


# What 1.3 does to the fifteenth of twenty nodes on which both legs agree, their scores falling in equal steps.
LEGS = {
    "dense": [(f"n{rank:02}", 0.80 - 0.02 * (rank - 1)) for rank in range(1, 21)],
    "sparse": [(f"n{rank:02}", 20.0 - 0.50 * (rank - 1)) for rank in range(1, 21)],
}


def rank_after(scores: dict[str, float], factor: float, node_id: str = "n15") -> int:
    own = scores[node_id] * factor
    return 1 + sum(score > own for other, score in scores.items() if other != node_id)


def test_on_raw_rrf_scores_a_factor_lifts_a_node_over_all_others() -> None:
    scores = reciprocal_rank_fusion(LEGS, EVEN, k=60)
    assert scores["n15"] * 1.3 == pytest.approx(1.3 / 75)
    assert 1.3 / 75 > 1 / 61
    assert rank_after(scores, 1.3) == 1


def test_on_rrf_scores_mapped_to_their_range_it_lifts_by_a_place() -> None:
    scores = min_max_scaled(reciprocal_rank_fusion(LEGS, EVEN, k=60))
    assert scores["n15"] == pytest.approx((1 / 75 - 1 / 80) / (1 / 61 - 1 / 80))
    assert rank_after(scores, 1.3) == 14


def test_on_convex_scores_divided_by_the_maximum_it_lifts_by_seven_places() -> None:
    scores = convex_fusion(LEGS, EVEN, scale="max")
    assert scores["n15"] == pytest.approx(0.5 * 0.52 / 0.80 + 0.5 * 13 / 20)
    assert scores["n15"] * 1.3 == pytest.approx(0.65 * 1.3)
    assert rank_after(scores, 1.3) == 8


def test_on_raw_z_scores_it_lowers_what_is_below_the_mean() -> None:
    scores = convex_fusion(LEGS, EVEN, scale="z")
    assert scores["n15"] < 0
    assert rank_after(scores, 1.3) == 16


def test_on_z_scores_mapped_to_their_range_it_lifts_by_a_place() -> None:
    scores = min_max_scaled(convex_fusion(LEGS, EVEN, scale="z"))
    assert scores["n15"] == pytest.approx(5 / 19)
    assert rank_after(scores, 1.3) == 14


def test_on_scores_mapped_to_their_range_the_least_of_each_is_nothing() -> None:
    scores = convex_fusion({"dense": [("a", 0.88), ("b", 0.84), ("c", 0.80)]}, {"dense": 1.0}, scale="min-max")
    assert scores == pytest.approx({"a": 1.0, "b": 0.5, "c": 0.0})


def test_a_model_of_a_narrow_range_is_fused_by_its_range() -> None:
    legs = {"dense": [("a", 0.88), ("b", 0.84), ("c", 0.80)], "sparse": [("c", 2.0), ("a", 1.0)]}
    even = {"dense": 0.5, "sparse": 0.5}
    assert build_fusion(RetrievalSettings(), MULTILINGUAL)(legs, even) == convex_fusion(legs, even, scale="min-max")
    assert build_fusion(RetrievalSettings(scale="max"), MULTILINGUAL)(legs, even) == convex_fusion(legs, even)
    assert build_fusion(RetrievalSettings())(legs, even) == min_max_scaled(convex_fusion(legs, even, scale="z"))


def test_the_classic_system_multiplies_the_cosine_by_category_recency_and_quality() -> None:
    settings, ledger = change_settings(Settings(_env_file=None), SYSTEMS["classic"]), Ledger()
    weights = {"dense": settings.retrieval.dense_weight, "sparse": 1 - settings.retrieval.dense_weight}
    fused = convex_fusion({"dense": [("best", 0.88), ("resume", 0.85)]}, weights, scale=settings.retrieval.scale)
    text = "word " * 150
    nodes = [
        hit("best", score=fused["best"], year=None),
        hit("resume", text, fused["resume"], category="resume", year=2026),
    ]
    ledger.fused(nodes)
    intent = QueryIntent("Which job?", "Which job?", categories=("resume", "linkedin"))
    for step in build_factors(settings, intent, ledger, today=TODAY):
        nodes = step.postprocess_nodes(nodes)
    assert settings.retrieval.mode == "dense"
    assert not settings.retrieval.complete
    assert fused["resume"] == 0.85
    assert [(one.node.node_id, one.score) for one in nodes] == [
        ("resume", pytest.approx(0.85 * 1.3 * 1.3 * 1.1)),
        ("best", 0.88),
    ]
    assert round(nodes[0].score, 2) == 1.58
    assert ledger.candidate("resume").factors == {"category": 1.3, "recency": 1.3, "quality": 1.1}
