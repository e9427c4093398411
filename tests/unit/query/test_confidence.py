from dataclasses import replace

import pytest

from pipelines.answers import Sentence
from pipelines.query.confidence import confidence
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
    assert confidence(evidence(0.99), [GOOD, BAD], ["crane"], quoted=True) == "medium"
    assert confidence(evidence(0.99), [BAD], ["crane"], quoted=True) == "low"
    assert confidence(evidence(0.99), [], ["crane"], quoted=True) == "low"


def test_a_model_s_answer_is_not_high_when_no_sentence_holds_half_of_the_terms() -> None:
    scattered = [Sentence(f"The {term} is elsewhere.", (1,), "supported") for term in ("crane", "harbour", "port")]
    assert confidence(evidence(0.9), scattered, ("crane", "harbour", "port")) == "medium"
    assert confidence(evidence(0.9), [GOOD], ("crane", "harbour", "port")) == "high"
    assert confidence(evidence(0.9), [GOOD], ()) == "medium"


def quotation(strength: float, coverage: float) -> Band:
    return confidence(replace(evidence(strength), coverage=coverage), [GOOD], (), quoted=True)


def test_a_quotation_is_as_sure_as_its_evidence() -> None:
    assert [quotation(strength, 0.8) for strength in (0.5, 0.3, 0.03)] == ["high", "medium", "low"]


def test_a_quotation_is_surer_where_one_passage_holds_more_of_the_question() -> None:
    assert [quotation(0.3, coverage) for coverage in (1.0, 0.6, 0.4)] == ["high", "medium", "low"]


@pytest.mark.parametrize("strength", [0.0, 1.0])
def test_a_strength_at_its_bounds_is_still_weighed(strength: float) -> None:
    assert quotation(strength, 0.5) == ("high" if strength else "low")


def test_a_quotation_that_may_not_hold_what_is_asked_is_never_high() -> None:
    for strength, said in ((0.9, "medium"), (0.03, "low")):
        asked = replace(evidence(strength), coverage=0.8)
        assert confidence(asked, [GOOD], (), quoted=True, sure=False) == said
