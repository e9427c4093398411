import ast
from datetime import date
from pathlib import Path

import pytest
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from config.parts import PARTS
from config.settings import Settings
from pipelines.query import postprocess
from pipelines.query.ablation import change_settings, settings_without
from pipelines.query.postprocess import build_cuts, build_factors
from pipelines.query.postprocess.boost import Boost
from pipelines.query.postprocess.cut import CandidateCut
from pipelines.query.trace import Ledger
from pipelines.types import QueryIntent
from tests.unit.query.builders import hit

TODAY = date(2026, 7, 1)
ASKED = QueryIntent(
    "Which skills did she use in 2024?", "Which skills did she use in 2024?",
    categories=("resume",), sections=("skills",), years=(2024,), recent=True, documents=("d2",),
)  # fmt: skip
EVERYTHING = {
    "analysis.categories": "boost",
    "analysis.years": "boost",
    "factors.recency": "steps",
    "factors.quality": True,
    "factors.section": 1.1,
    "factors.rerank": "llama_index.core.postprocessor.LongContextReorder",
    "factors.min_score": 0.2,
}


def node(node_id: str, score: float, text: str = "", **facts: object) -> NodeWithScore:
    given = {"year": None, "ordinal": 0, "mime": "text/plain"} | facts
    return hit(node_id, text or f"what {node_id} says", score, **given)


def ranking() -> list[NodeWithScore]:
    return [
        node("a", 0.9, ordinal=4, section_path=["Life"]),
        node("b", 0.8, category="resume", year=2026, section_path=["Technical Skills"]),
        node("c", 0.7, "what A says"),
        node("e", 0.6, " ".join(f"word{n}" for n in range(150)), year=2024, document_id="d2"),
        *(node(f"f{n}", 0.5, document_id="d3", ordinal=n) for n in range(5)),
    ]


def built(changes: dict[str, object]) -> tuple[list[BaseNodePostprocessor], list[BaseNodePostprocessor], Ledger]:
    settings, ledger = change_settings(Settings(_env_file=None), changes), Ledger()
    factors = build_factors(settings, ASKED, ledger, today=TODAY)
    cuts = build_cuts(settings.factors, ASKED, ledger, top_n=5)
    return factors, cuts, ledger


def names(steps: list[BaseNodePostprocessor]) -> list[str]:
    return [type(step).__name__ for step in steps]


def run(step: BaseNodePostprocessor) -> list[NodeWithScore]:
    return step.postprocess_nodes(ranking(), query_bundle=QueryBundle("skills"))


FACTORS, CUTS, _ = built(EVERYTHING)


@pytest.mark.parametrize("step", FACTORS + CUTS, ids=names(FACTORS + CUTS))
def test_every_postprocessor_keeps_the_contract(step: BaseNodePostprocessor) -> None:
    given, before = ranking(), [one.model_dump() for one in ranking()]
    result = step.postprocess_nodes(given, query_bundle=QueryBundle("skills"))
    ids = [one.node.node_id for one in result]
    assert [one.model_dump() for one in given] == before
    assert ids == [one.node.node_id for one in run(step)]
    assert len(set(ids)) == len(ids)
    scores = [one.score for one in result]
    assert None not in scores
    assert scores == sorted(scores, reverse=True)
    assert step.postprocess_nodes([], query_bundle=QueryBundle("skills")) == []


@pytest.mark.parametrize("step", FACTORS, ids=names(FACTORS))
def test_every_factor_returns_all_nodes_in_new_hits_best_first_and_ties_by_id(step: BaseNodePostprocessor) -> None:
    given = ranking()
    result = step.postprocess_nodes(given, query_bundle=QueryBundle("skills"))
    keys = [(-one.score, one.node.node_id) for one in result]
    assert keys == sorted(keys)
    assert {one.node.node_id for one in result} == {one.node.node_id for one in given}
    assert not {id(one) for one in result} & {id(one) for one in given}


def test_every_postprocessor_is_built_when_everything_is_on() -> None:
    folder = Path(postprocess.__file__).parent
    classes = [
        node.name
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
        and {base.id for base in node.bases} & {"Boost", "CandidateCut", "Postprocessor"}
    ]
    assert sorted(set(classes) - {Boost.__name__, CandidateCut.__name__}) == sorted(names(FACTORS + CUTS))


def test_the_order_of_the_parts_is_that_of_the_lists() -> None:
    assert names(FACTORS) == [
        "CategoryBoost",
        "RecencyBoost",
        "YearBoost",
        "QualityBoost",
        "SectionBoost",
        "NamedDocumentBoost",
        "Rerank",
    ]
    assert names(CUTS) == ["MinScore", "DuplicateFilter", "DocumentQuota", "TopN"]


@pytest.mark.parametrize(
    ("part", "gone"),
    [
        ("category", "CategoryBoost"), ("years", "YearBoost"), ("recency", "RecencyBoost"), ("quality", "QualityBoost"),
        ("section", "SectionBoost"), ("rerank", "Rerank"), ("quota", "DocumentQuota"), ("min-score", "MinScore"),
        ("duplicates", "DuplicateFilter"),
    ],
)  # fmt: skip
def test_a_part_that_is_switched_off_is_not_there(part: str, gone: str) -> None:
    factors, cuts, _ = built({**EVERYTHING, **settings_without((part,))})
    assert set(names(FACTORS + CUTS)) - set(names(factors + cuts)) == {gone}


@pytest.mark.parametrize("use", ["prefilter", "postfilter", "off"])
def test_categories_and_years_multiply_only_where_they_do_not_filter(use: str) -> None:
    factors, _, _ = built({**EVERYTHING, "analysis.categories": use, "analysis.years": use})
    assert {"CategoryBoost", "YearBoost"}.isdisjoint(names(factors))


def test_a_boost_is_there_only_where_the_question_asks_for_it() -> None:
    asks_nothing = build_factors(Settings(_env_file=None), QueryIntent("q", "q"), Ledger(), today=TODAY)
    assert names(asks_nothing) == []


@pytest.mark.parametrize(("recent", "expected"), [(True, ["RecencyBoost"]), (False, [])])
def test_recency_when_asked_needs_a_question_for_what_is_new(recent: bool, expected: list[str]) -> None:
    intent = QueryIntent("q", "q", recent=recent)
    settings = change_settings(Settings(_env_file=None), {"factors.recency": "asked"})
    steps = build_factors(settings, intent, Ledger(), today=TODAY)
    assert [name for name in names(steps) if name == "RecencyBoost"] == expected


def test_all_parts_that_switch_a_postprocessor_off_are_known() -> None:
    switched = {name for changes in PARTS.values() for name in changes if name.startswith("factors.")}
    assert switched == {
        "factors.section", "factors.recency", "factors.quality", "factors.per_document", "factors.min_score",
        "factors.duplicates", "factors.rerank",
    }  # fmt: skip


def test_the_ledger_holds_each_factor_of_a_node_and_why_another_was_cut() -> None:
    factors, cuts, ledger = built({**EVERYTHING, "factors.rerank": "", "factors.recency": "steps"})
    others = [node(f"o{n}", 0.1, f"Other {n}", document_id=f"other{n}") for n in range(8)]  # enough for a quota
    ranked = [*ranking(), *others]
    ledger.fused(ranked)
    for step in factors:
        ranked = step.postprocess_nodes(ranked)
    ledger.ranked(ranked)
    row = ledger.candidate("b")
    assert row.factors == {"category": 1.3, "recency": 1.3, "section": 1.1}
    assert row.final == pytest.approx(row.fused * 1.3 * 1.3 * 1.1)
    assert ledger.candidate("e").factors == {"recency": 1.1, "year": 1.2, "quality": 1.1, "named": 1.2}
    for step in cuts:
        ranked = step.postprocess_nodes(ranked)
    assert ledger.candidate("c").fate == "cut: duplicate"
    assert ledger.candidate("f4").fate == "cut: quota"
    assert ledger.candidate("f2").fate == "cut: top_n"
    assert ledger.candidate("a").fate == ""
