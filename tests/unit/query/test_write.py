from config.prompts import ANSWER_SYSTEM, NO_ANSWER
from pipelines.query.write import confidence, joined, messages
from pipelines.types import Context, Evidence, Sentence, Turn


def evidence(coverage: float) -> Evidence:
    return Evidence(0.9, "high", 0.6, coverage, {}, 3, (), sufficient=True)


def test_the_prompt_holds_the_rules_the_turns_then_sources_and_question() -> None:
    context = Context((), "<<source 1 k>>\nx {question}\n<</source 1 k>>", "k", 1)
    said = messages("What is x?", context, [Turn("Before?", "Yes.")])
    assert [role for role, _ in said] == ["system", "user", "assistant", "user"]
    assert said[0][1] == ANSWER_SYSTEM
    assert said[-1][1] == f"{context.text}\n\nQuestion: What is x?"


def test_the_rules_name_the_phrase_for_no_answer() -> None:
    assert NO_ANSWER in ANSWER_SYSTEM
    assert NO_ANSWER == "I don't have enough information in the uploaded documents to answer this question."


def test_markers_follow_their_sentence_in_the_joined_answer() -> None:
    assert joined([Sentence("A.", (1, 2), "supported"), Sentence("B.", (), "uncited")]) == "A. [1] [2] B."


def test_confidence_needs_support_and_coverage() -> None:
    good, bad = Sentence("Go.", (1,), "supported"), Sentence("B.", (1,), "unsupported")
    assert confidence(evidence(0.9), [good], ["go"]) == "high"
    assert confidence(evidence(0.6), [good, bad], ["go"]) == "medium"
    assert confidence(evidence(0.2), [good], ["go"]) == "low"
    assert confidence(evidence(0.9), [bad], ["go"]) == "low"


def test_confidence_is_not_high_when_no_sentence_holds_half_of_the_terms() -> None:
    said = [Sentence("It runs in Go.", (1,), "supported"), Sentence("It scales.", (1,), "supported")]
    assert confidence(evidence(0.9), said, ["go", "crane"]) == "high"
    assert confidence(evidence(0.9), said, ["go", "crane", "harbour"]) == "medium"


def test_confidence_is_not_high_without_terms() -> None:
    assert confidence(evidence(0.9), [Sentence("A.", (1,), "supported")], []) == "medium"


def test_terms_scattered_over_sentences_are_not_high_confidence() -> None:
    scattered = [Sentence(f"The {term} is elsewhere.", (1,), "supported") for term in ("crane", "harbour", "port")]
    whole = [Sentence("The crane stood in the harbour.", (1,), "supported")]
    assert confidence(evidence(0.9), scattered, ("crane", "harbour", "port")) == "medium"
    assert confidence(evidence(0.9), whole, ("crane", "harbour", "port")) == "high"
