import pytest

from pipelines.query.writing.confidence import confidence
from pipelines.types import Band, Evidence, Sentence

GOOD = Sentence("The crane stood in the harbour.", (1,), "supported")
BAD = Sentence("It was sold.", (1,), "unsupported")


def evidence(strength: float, band: Band = "high") -> Evidence:
    return Evidence(strength, band, 0.6, 0.9, {}, 3, (), sufficient=True)


@pytest.mark.parametrize(("band", "said"), [("high", "high"), ("medium", "medium"), ("low", "low")])
def test_what_a_model_wrote_is_as_sure_as_its_evidence_when_all_of_it_is_supported(band: Band, said: Band) -> None:
    assert confidence(evidence(0.9, band), [GOOD], ["crane"]) == said


def test_a_sentence_without_support_takes_high_away_and_a_majority_of_them_all() -> None:
    assert confidence(evidence(0.9), [GOOD, BAD], ["crane"]) == "medium"
    assert confidence(evidence(0.9), [GOOD, BAD, BAD], ["crane"]) == "low"
    assert confidence(evidence(0.99), [GOOD, BAD], ["crane"], 0.99) == "medium"
    assert confidence(evidence(0.99), [BAD], ["crane"], 0.99) == "low"
    assert confidence(evidence(0.99), [], ["crane"], 0.99) == "low"


def test_a_model_s_answer_is_not_high_when_no_sentence_holds_half_of_the_terms() -> None:
    scattered = [Sentence(f"The {term} is elsewhere.", (1,), "supported") for term in ("crane", "harbour", "port")]
    assert confidence(evidence(0.9), scattered, ("crane", "harbour", "port")) == "medium"
    assert confidence(evidence(0.9), [GOOD], ("crane", "harbour", "port")) == "high"
    assert confidence(evidence(0.9), [GOOD], ()) == "medium"


def test_a_quotation_is_as_sure_as_its_lines_and_its_evidence_together() -> None:
    levels = [confidence(evidence(strength), [GOOD], (), answers)
              for strength, answers in ((0.9, 0.95), (0.9, 0.6), (0.3, 0.95), (0.3, 0.6))]  # fmt: skip
    assert levels == ["high", "medium", "medium", "low"]
