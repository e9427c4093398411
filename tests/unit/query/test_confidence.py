from dataclasses import replace

import pytest

from pipelines.answers import Sentence
from pipelines.query.confidence import confidence, quotation_confidence
from pipelines.types import Band, Evidence

GOOD = Sentence("The crane stood in the harbour.", (1,), "supported")
BAD = Sentence("It was sold.", (1,), "unsupported")


def evidence(strength: float, band: Band = "high") -> Evidence:
    return Evidence(strength, band, 0.6, 0.9, {}, 3, (), sufficient=True)


@pytest.mark.parametrize(("band", "said"), [("high", "high"), ("medium", "medium"), ("low", "low")])
def test_what_a_model_wrote_is_as_sure_as_its_evidence_when_all_of_it_is_supported(band: Band, said: Band) -> None:
    assert confidence(evidence(0.9, band), [GOOD], ["crane"]) == said


def test_a_sentence_without_support_takes_high_away_and_a_third_of_them_all() -> None:
    assert confidence(evidence(0.9), [GOOD, GOOD, GOOD, BAD], ["crane"]) == "medium"
    assert confidence(evidence(0.9), [GOOD, GOOD, BAD], ["crane"]) == "low"
    assert confidence(evidence(0.9), [GOOD, GOOD, replace(BAD, verdict="partial")], ["crane"]) == "medium"


def test_a_line_that_leads_in_to_others_takes_nothing_away() -> None:
    lead = Sentence("The crane has these parts:", (), "uncited")
    assert confidence(evidence(0.9), [lead, GOOD], ["crane"]) == "high"
    assert confidence(evidence(0.9), [replace(lead, text="The crane has parts."), GOOD], ["crane"]) == "low"
    assert confidence(evidence(0.9), [lead], ["crane"]) == "low"


def test_a_model_s_answer_is_not_high_when_no_sentence_holds_half_of_the_terms() -> None:
    scattered = [Sentence(f"The {term} is elsewhere.", (1,), "supported") for term in ("crane", "harbour", "port")]
    assert confidence(evidence(0.9), scattered, ("crane", "harbour", "port")) == "medium"
    assert confidence(evidence(0.9), [GOOD], ("crane", "harbour", "port")) == "high"
    assert confidence(evidence(0.9), [GOOD], ()) == "medium"


def test_a_quotation_is_as_sure_as_its_best_unit_is_likely_to_answer() -> None:
    assert [quotation_confidence([GOOD], answers) for answers in (0.95, 0.75, 0.3)] == ["high", "medium", "low"]


def test_a_quotation_that_leaves_open_what_is_asked_is_not_high() -> None:
    assert quotation_confidence([GOOD], 0.95, is_open=True) == "medium"


def test_a_quotation_without_support_is_never_high() -> None:
    assert quotation_confidence([GOOD, BAD], 0.99) == "medium"
    assert quotation_confidence([BAD], 0.99) == "low"
    assert quotation_confidence([], 0.99) == "low"
