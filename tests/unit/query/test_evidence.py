from math import exp, log2

import pytest

from config.settings import EvidenceSettings
from pipelines.query.evidence import (
    CALIBRATIONS,
    COVERAGE_WEIGHT,
    LEXICAL,
    Calibration,
    TermMatch,
    Threshold,
    assess,
    calibration,
    signals,
    strength,
    term_matches,
    with_strength,
)
from pipelines.query.trace import Ledger
from pipelines.store.lexical_index import BM25Parameters, LexicalIndex, Segment
from pipelines.types import Evidence, QueryIntent
from tests.unit.query.builders import hit

SCALE = Calibration(0.2, 0.6, 0.0, {"support": 1.0}, Threshold(0.5), Threshold(0.9))
PLAIN = EvidenceSettings(rule="plain", plain_similarity=0.7, plain_matches=2)
CALIBRATED = EvidenceSettings()


def reading(similarity: float | None = None, bm25: float = 0.0, coverage: float = 0.0) -> TermMatch:
    return TermMatch(similarity, bm25, frozenset(), coverage)


# Readings


INDEX = LexicalIndex.build(
    [Segment("a", "d", "go team"), Segment("b", "d", "team"), Segment("c", "d", "kiln")], BM25Parameters()
)
RANKED = [hit("a"), hit("b"), hit("c")]


def ledger_of(**similarity: float) -> Ledger:
    ledger = Ledger()
    ledger.fused(RANKED)
    ledger.similar(similarity)
    return ledger


def test_a_reading_holds_the_share_of_the_question_s_idf_that_stands_in_the_node() -> None:
    read = term_matches(RANKED, ("go", "team"), ledger_of(a=0.5), INDEX)
    total = INDEX.idf("go") + INDEX.idf("team")
    assert [one.coverage for one in read] == pytest.approx([1.0, INDEX.idf("team") / total, 0.0])
    assert [one.terms for one in read] == [{"go", "team"}, {"team"}, set()]
    assert [one.similarity for one in read] == [0.5, None, None]
    assert read[0].bm25 == pytest.approx(INDEX.score_of(["go", "team"], ["a"])["a"] / total)


def test_a_question_without_terms_is_covered_by_nothing() -> None:
    assert {one.coverage for one in term_matches(RANKED, (), ledger_of(), INDEX)} == {0.0}


# Signals


def test_support_joins_similarity_and_coverage_of_one_and_the_same_passage() -> None:
    near, covering = reading(0.6, coverage=0.0), reading(0.4, bm25=0.1, coverage=0.8)
    expected = max(1.0, (0.4 - 0.2) / (0.6 - 0.2) + COVERAGE_WEIGHT * 0.8)
    assert signals([near, covering], None, SCALE)["support"] == pytest.approx(expected)


def test_contrast_counts_deviations_from_the_corpus() -> None:
    assert signals([reading(0.2), reading(0.5)], (0.1, 0.08), SCALE)["contrast"] == pytest.approx((0.5 - 0.1) / 0.08)


@pytest.mark.parametrize("place", [1, 2, 5])
def test_agreement_falls_with_the_place_of_the_lexical_best_among_the_similar(place: int) -> None:
    others = [reading(0.9) for _ in range(place - 1)]
    assert signals([*others, reading(0.5, bm25=0.4)], None, SCALE)["agreement"] == pytest.approx(1 / log2(1 + place))


def test_legs_do_not_agree_when_no_term_matches() -> None:
    assert signals([reading(0.5)], None, SCALE)["agreement"] == 0


def test_coverage_counts_the_best_five_only() -> None:
    assert signals([*[reading(coverage=0.2)] * 5, reading(coverage=0.9)], None, SCALE)["coverage"] == 0.2


def test_without_a_dense_leg_the_signals_are_lexical() -> None:
    assert signals([reading(bm25=0.3, coverage=0.5)], None, SCALE) == {"coverage": 0.5, "bm25": 0.3}


def test_more_candidates_than_the_first_of_each_leg_change_nothing() -> None:
    first = [reading(0.5 - place / 100, bm25=0.5, coverage=0.1) for place in range(20)]
    beyond = reading(0.1, bm25=0.01, coverage=1.0)
    assert signals([*first, beyond], None, SCALE)["support"] == signals(first, None, SCALE)["support"]


# Strength


def test_strength_is_the_logistic_of_the_weighted_signals() -> None:
    parameters = Calibration(0, 1, -2.0, {"support": 3.0, "agreement": 0.5}, Threshold(0.5), Threshold(0.9))
    assert strength({"support": 0.4, "agreement": 1.0, "bm25": 9.0}, parameters) == pytest.approx(
        1 / (1 + exp(-(-2.0 + 3.0 * 0.4 + 0.5 * 1.0)))
    )


def test_strength_of_nothing_is_zero() -> None:
    assert strength({}, SCALE) == 0


@pytest.mark.parametrize("model", [*CALIBRATIONS, "a-model-that-nobody-knows"])
def test_every_model_has_parameters_whose_strength_rises_with_the_evidence(model: str) -> None:
    parameters = calibration(model)
    deviation = (parameters.near - parameters.far) / 12
    weak, strong = (
        signals([reading(similarity, bm25=0.3, coverage=coverage)], (parameters.far, deviation), parameters)
        for similarity, coverage in ((parameters.far, 0.0), (parameters.near, 0.9))
    )
    assert strength(weak, parameters) < parameters.floor.at < strength(strong, parameters)
    assert parameters.floor.at <= parameters.high.at
    assert parameters.far < parameters.near


def test_a_search_without_vectors_has_parameters_of_its_own() -> None:
    assert calibration("all-MiniLM-L6-v2", dense=False) is LEXICAL


# The verdict


def evidence(strength_: float = 0.5, **facts: object) -> Evidence:
    given: dict[str, object] = {"similarity": 0.5, "matches": 5, "missing": ()} | facts
    return Evidence(strength_, "low", coverage=0.5, signals={}, sufficient=False, **given)  # type: ignore[arg-type]


def graded(strength_: float, settings: EvidenceSettings = CALIBRATED, **facts: object) -> Evidence:
    return with_strength(evidence(**facts), strength_, settings=settings, model="all-MiniLM-L6-v2")


FLOOR, HIGH = calibration("all-MiniLM-L6-v2").floor.at, calibration("all-MiniLM-L6-v2").high.at


@pytest.mark.parametrize(
    ("reached", "band"), [(FLOOR - 0.01, "low"), (FLOOR, "medium"), (HIGH - 0.01, "medium"), (HIGH, "high")]
)
def test_the_bounds_make_the_band_and_only_low_is_insufficient(reached: float, band: str) -> None:
    found = graded(reached)
    assert (found.band, found.sufficient, found.strength) == (band, band != "low", reached)
    assert bool(found.reason) == (band == "low")


def test_a_floor_of_the_settings_replaces_the_model_s() -> None:
    strict = EvidenceSettings(min_strength=0.95)
    assert not graded(0.94, strict).sufficient
    assert graded(0.95, strict).band == "high"


def test_the_reason_says_by_how_much_and_what_no_passage_speaks_of() -> None:
    reason = graded(0.1, missing=("Kafka", "Oslo")).reason
    assert reason.startswith("no passage speaks of Kafka, Oslo, and the nearest passages are too far")
    assert f"0.10 of {FLOOR:.2f} needed" in reason


def test_nothing_found_never_suffices() -> None:
    for settings in (CALIBRATED, PLAIN):
        found = graded(0.9, settings, matches=0, similarity=None)
        assert (found.sufficient, found.band, found.reason) == (False, "low", "nothing was found")


@pytest.mark.parametrize(
    ("facts", "sufficient", "reason"),
    [
        ({"similarity": 0.7, "matches": 2}, True, ""),
        ({"similarity": 0.69, "matches": 9}, False, "similarity 0.69 of 0.70 needed"),
        ({"similarity": 0.9, "matches": 1}, False, "only 1 of 2 passages"),
        ({"similarity": None, "matches": 2}, True, ""),
    ],
)
def test_the_plain_rule_looks_at_similarity_and_matches_alone(
    facts: dict[str, object], sufficient: bool, reason: str
) -> None:
    for reached in (0.01, 0.99):
        found = graded(reached, PLAIN, **facts)
        assert found.sufficient is sufficient
        assert reason in found.reason


# All together


def judged(question: str, terms: tuple[str, ...], **similarity: float) -> Evidence:
    ledger = ledger_of(**similarity)
    ledger.background = (0.0, 0.1)
    return assess(
        RANKED, QueryIntent(question, question, terms), ledger, INDEX, settings=CALIBRATED, model="all-MiniLM-L6-v2"
    )


def test_a_near_and_covering_passage_is_strong_evidence_and_says_from_what() -> None:
    found = judged("Go team?", ("go", "team"), a=0.8, b=0.3, c=0.1)
    assert (found.band, found.similarity, found.coverage, found.matches) == ("high", 0.8, 1.0, 3)
    assert found.signals.keys() == {"coverage", "bm25", "similarity", "support", "contrast", "agreement"}
    assert found.signals["contrast"] == 8.0


def test_missing_words_are_those_that_no_passage_holds_as_they_were_typed() -> None:
    found = judged("Does Oslo's team sail in Oslo?", ("team", "sail", "oslo"), a=0.2)
    assert found.missing == ("Oslo", "sail")
    assert not found.sufficient


def test_without_similarities_the_lexical_parameters_judge() -> None:
    found = judged("Go team?", ("go", "team"))
    assert found.similarity is None
    assert found.strength == pytest.approx(strength(found.signals, LEXICAL), abs=1e-3)
