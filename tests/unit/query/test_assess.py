import pytest

from config.settings import EvidenceSettings
from pipelines.query.assess import STRENGTH_FLOOR, assess, strength, term_coverage
from pipelines.query.trace import Ledger
from pipelines.store.lexical import LexicalIndex, Parameters
from pipelines.types import QueryIntent
from tests.unit.query.builders import hit

WEIGHT = {"go": 3.0, "team": 1.0}


def weigh(term: str) -> float:
    return WEIGHT[term]


def test_coverage_is_the_best_share_of_term_weight_in_one_text() -> None:
    assert term_coverage(["go", "team"], ["a team", "in Go"], weigh) == (3 / 4, [])


def test_terms_in_no_text_are_missing() -> None:
    assert term_coverage(["go", "team"], ["a team"], weigh) == (1 / 4, ["go"])


def test_a_question_without_terms_is_not_covered() -> None:
    assert term_coverage([], ["a"], weigh) == (0.0, [])


def test_strength_adds_half_the_coverage_to_the_similarity() -> None:
    assert strength(0.4, 0.6) == 0.4 + 0.5 * 0.6


def test_without_a_dense_leg_coverage_stands_in() -> None:
    assert strength(None, 0.6) == 0.6 + 0.5 * 0.6


def judged(found, similarity: float, floor: float):
    ledger = Ledger()
    ledger.leg("dense", [hit("a", score=similarity)])
    index = LexicalIndex.build(1, [("a", "go team"), ("b", "team")], Parameters())
    intent = QueryIntent("Go team?", "Go team?", ("go", "team"))
    return assess(found, intent, ledger, index, settings=EvidenceSettings(min_strength=floor), model="hashed")


FOUND = [hit("a", "in Go with a team")]


def test_evidence_at_the_floor_suffices() -> None:
    assert judged(FOUND, 0.25, 0.75).sufficient


def test_evidence_below_the_floor_says_by_how_much() -> None:
    evidence = judged(FOUND, 0.2, 0.75)
    assert not evidence.sufficient
    assert "0.70 of 0.75" in evidence.reason


def test_nothing_found_never_suffices() -> None:
    evidence = judged([], 0.9, 0.1)
    assert (evidence.sufficient, evidence.reason) == (False, "nothing was found")


@pytest.mark.parametrize("model", ["all-MiniLM-L6-v2", "text-embedding-3-small"])
def test_the_models_of_the_settings_have_a_floor(model: str) -> None:
    assert 0 < STRENGTH_FLOOR[model] < 1.5
