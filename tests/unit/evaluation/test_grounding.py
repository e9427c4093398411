from pipelines.evaluation.datasets import Claim
from pipelines.evaluation.grounding import VerifiedClaim, as_source, summary, verify_claim

PAGE = (
    "(meta data) TITLE: Harbour news",
    "The port opened in 1901.",
    "The crane moved 40 containers an hour.",
    "Tea is hot.",
)


def claim(text: str, label: str, *gold: int) -> Claim:
    return Claim(text, label, PAGE, (frozenset(gold),) if gold else ())


def test_a_page_is_one_source_whose_sentences_stand_where_they_are_said_to() -> None:
    source, starts = as_source(PAGE)
    assert source.title == "Harbour news"
    assert [source.snippet[s : s + len(p)] for s, p in zip(starts, PAGE, strict=True)] == list(PAGE)


def test_a_claim_that_the_page_says_is_supported_by_the_gold_sentence() -> None:
    found = verify_claim(claim("The crane moved 40 containers an hour.", "supported", 2))
    assert (found.verdict, found.support, found.overlaps) == ("supported", 1.0, True)


def test_a_span_beside_the_gold_sentence_does_not_overlap_it() -> None:
    assert verify_claim(claim("The crane moved 40 containers an hour.", "supported", 3)).overlaps is False


def test_a_claim_without_gold_sentences_has_no_overlap_to_be_judged() -> None:
    found = verify_claim(claim("Whales sing at night.", "not_supported"))
    assert (found.verdict, found.overlaps) == ("unsupported", None)


def test_the_measures_are_those_counted_by_hand() -> None:
    rows = [
        VerifiedClaim("supported", "supported", 1.0, True),
        VerifiedClaim("supported", "partial", 0.6, False),
        VerifiedClaim("partially_supported", "supported", 0.8, True),
        VerifiedClaim("not_supported", "unsupported", 0.1, None),
        VerifiedClaim("not_supported", "unsupported", 0.1, False),
    ]
    found = summary(rows)
    assert found["claims"] == {"supported": 2, "partially_supported": 1, "not_supported": 2}
    assert found["auroc"] == {"committed": {"supported": 5 / 6, "supported against not": 4 / 4, "any support": 6 / 6}}
    assert found["bounds"] == {
        "supported": {"precision": 1 / 2, "recall": 1 / 2},
        "partial": {"precision": 3 / 3, "recall": 3 / 3},
    }
    assert found["verdicts"]["supported"] == {"supported": 1, "partial": 1}
    assert found["overlap"] == 2 / 3


def test_no_claims_give_no_measures_and_no_error() -> None:
    found = summary([])
    assert found["bounds"]["supported"] == {"precision": 0.0, "recall": 0.0}
    assert found["overlap"] == 0.0
