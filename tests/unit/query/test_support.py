"""The features of support, the places that are shown, and what a judge makes of them."""

from collections.abc import Sequence

import numpy as np
import pytest

from pipelines.errors import ModelError
from pipelines.models.nli import Entailment
from pipelines.query.verification.cite import check, verify
from pipelines.query.verification.claims import align, rarity
from pipelines.query.verification.displaced import displaced
from pipelines.query.verification.judge import BY_WORDS, Judge, judge_with
from pipelines.query.verification.places import places
from pipelines.query.verification.support import VECTORS, WORDS, features, probability
from pipelines.types import Source

CV = """# Work

Anna Berg worked at Acme as a data engineer from 2015 to 2019. She led a team of 12 people and built the pipeline.

Anna Berg worked at Globex as an engineering manager from 2019 to 2023. She hired 30 people and cut costs by 15 percent.

She studied physics in Zurich until 2014."""
LONG = " ".join(f"Filler number nothing {word}." for word in ("apple", "pear", "plum", "fig", "date", "lime", "kiwi"))


def source(snippet: str, n: int = 1, title: str = "Notes") -> Source:
    return Source(
        n=n, document_id=f"d{n}", documentName="cv.md", title=title, uri="", content_sha="c", category="resume",
        page=None, line_start=1, line_end=1, section_path=(), snippet=snippet, start=0, end=len(snippet),
        node_ids=("n",),
    )  # fmt: skip


def found(claim: str, *snippets: str) -> dict[str, float]:
    return features(claim, align(claim, [source(text, n) for n, text in enumerate(snippets, start=1)]))


def test_a_rare_word_counts_for_more_than_a_common_one() -> None:
    assert rarity("people") < rarity("harbour") < rarity("Fyxation") == rarity("8431")


def test_words_that_stand_together_count_for_more_than_words_that_are_scattered() -> None:
    claim = "The crane lifted the anchor."
    near, far = (
        found(claim, "The crane lifted an anchor."),
        found(claim, f"The crane stood. {LONG} Lifted was an anchor."),
    )
    assert near["together"] == pytest.approx(1.0)
    assert near["passage"] == far["passage"] == pytest.approx(1.0)
    assert far["together"] < 0.5


def test_a_passage_is_ten_neighbouring_sentences() -> None:
    claim, filler = "The crane lifted the anchor.", LONG + " " + LONG
    assert found(claim, f"The crane stood. {filler} Lifted was an anchor.")["passage"] < 1.0


def test_each_name_and_number_that_stands_nowhere_lowers_its_feature() -> None:
    claim = "Anna met Bo in 2019."
    seen = [found(claim, text) for text in ("Anna met Bo in 2019.", "Anna met him in 2018.", "Someone met him.")]
    assert [each["names"] for each in seen] == pytest.approx([0.0, -np.log(2), -np.log(3)])
    assert [each["figures"] for each in seen] == pytest.approx([0.0, -np.log(2), -np.log(2)])


def test_sentences_of_two_sources_are_no_neighbours() -> None:
    claim = "The crane lifted the anchor."
    parts = ("The crane stood there.", "It lifted an anchor.")
    assert found(claim, *parts)["together"] < found(claim, " ".join(parts))["together"] == pytest.approx(1.0)


def test_the_probability_is_that_of_the_formula() -> None:
    given = {"together": 1.0, "passage": 0.5, "names": 0.0, "figures": -0.5}
    odds = WORDS.intercept + sum(WORDS.weights[name] * value for name, value in given.items())
    assert probability(given, WORDS) == pytest.approx(1 / (1 + np.exp(-odds)))


def test_the_places_are_the_sentences_that_hold_the_claim_best_first() -> None:
    claim = "Anna Berg led 12 people at Acme and hired 30 people at Globex."
    aligned = align(claim, [source(CV)])
    shown = [" ".join(line.text for line in aligned.lines[place]) for place in places(aligned)]
    assert len(shown) == 2
    assert {"12" in text for text in shown} == {"30" in text for text in shown} == {True, False}


def test_a_place_takes_in_a_neighbour_that_adds_to_it() -> None:
    said = check("Anna Berg worked at Globex, where she cut costs.", source(CV))
    assert said.quote.startswith("Anna Berg worked at Globex")
    assert said.quote.endswith("15 percent.")


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The trail is 5 km long.", "The trail is 5 kilometres long."),
        ("She joined Acme in May 2019.", "She joined Acme on 2019-05-07."),
        ("She led a team of ten engineers.", "She led a team of 10 engineers."),
        ("Revenue reached $3 million in 2020.", "In 2020 revenue reached 3,000,000 dollars."),
        ("Costs fell by 40%.", "Costs fell by forty per cent."),
        ("The meeting is on 5 May 2019.", "The meeting is on May 5th, 2019."),
        ("He finished third.", "He finished 3rd in the race."),
        ("1 person left the team in 2020.", "One person left the team in 2020."),
    ],
)
def test_the_same_quantity_in_another_spelling_is_supported(claim: str, text: str) -> None:
    assert verify(claim, [1], [source(text)]).verdict == "supported"


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The trail is 5 km long.", "The trail is 5 miles long."),
        ("She joined Acme in May 2019.", "She joined Acme in 2019-06."),
        ("She joined Acme in May 2019.", "She joined Acme in March 2019 and left in May 2020."),
        ("She led a team of ten engineers.", "She led a team of twelve engineers."),
        ("Revenue reached $3 million in 2020.", "In 2020 revenue reached €3 million."),
        ("Revenue reached $3 million in 2020.", "In 2020 revenue reached $3 billion."),
        ("It took three months.", "It took three weeks."),
        ("The disk holds 500 GB.", "The disk holds 500 MB."),
    ],
)
def test_another_quantity_is_unsupported_and_never_as_sure_as_a_supported_one(claim: str, text: str) -> None:
    said = verify(claim, [1], [source(text)])
    assert said.verdict == "unsupported"
    assert said.evidence[0].support < WORDS.supported.at


@pytest.mark.parametrize(
    "claim",
    [
        "Anna Berg worked at Globex as a data engineer from 2015 to 2019.",
        "Anna Berg worked at Acme from 2019 to 2023.",
        "She led a team of 30 people.",
        "At Globex she led a team of 12 people.",
        "She cut costs by 12 percent.",
        "She studied physics in Zurich until 2019.",
        "She was an engineering manager at Acme.",
    ],
)
def test_a_detail_of_another_sentence_in_the_place_of_the_right_one_is_not_supported(claim: str) -> None:
    assert displaced(claim, align(claim, [source(CV)]))
    assert verify(claim, [1], [source(CV)]).verdict != "supported"


@pytest.mark.parametrize(
    "claim",
    [
        "She led a team of 12 people at Acme.",
        "At Globex she hired 30 people.",
        "Anna Berg cut costs by 15 percent at Globex.",
        "Anna Berg led 12 people at Acme and hired 30 people at Globex.",
        "She worked at Acme from 2015 to 2019 and at Globex from 2019 to 2023.",
    ],
)
def test_details_of_neighbouring_sentences_may_be_joined(claim: str) -> None:
    assert verify(claim, [1], [source(CV)]).verdict == "supported"


def test_a_claim_that_two_cited_sources_bear_out_together_is_supported_by_both() -> None:
    born, moved = source("Marit Dahl was born in Bergen in 1980."), source("In 2004 Marit Dahl moved to Zurich.", 3)
    claim = "Marit Dahl was born in Bergen in 1980 and moved to Zurich in 2004."
    assert verify(claim, [1], [born, moved]).verdict != "supported"
    said = verify(claim, [1, 3], [born, moved])
    assert said.verdict == "supported"
    assert {(part.n, part.quote) for part in said.evidence} == {(1, born.snippet), (3, moved.snippet)}


def test_the_right_number_of_a_misattributed_sentence_is_that_of_its_last_citation() -> None:
    sources = [source("Tea is hot.", 1), source("The harbour froze.", 2), source("Anna Berg runs the mill in Oslo.", 3)]
    said = verify("Anna Berg runs the mill in Oslo.", [1], sources)
    assert (said.verdict, said.citations, said.evidence[-1].n) == ("misattributed", (1,), 3)


def test_every_span_is_the_stored_text() -> None:
    for claim in ("Anna Berg hired 30 people at Globex in Zurich.", "Nothing of it.", "", "12"):
        said = verify(claim, [1, 2], [source(CV), source("", 2)])
        assert all(part.quote == {1: CV, 2: ""}[part.n][part.start : part.end] for part in said.evidence)


# With models


def by_letters(texts: Sequence[str]) -> np.ndarray:
    """Unit vectors of letter counts."""
    counted = np.array([[text.lower().count(letter) + 1e-3 for letter in "abcdefghij"] for text in texts])
    return counted / np.linalg.norm(counted, axis=1, keepdims=True)


def test_with_vectors_the_similarity_is_one_more_feature_between_0_and_1() -> None:
    claim = "Anna Berg cut costs."
    seen = features(claim, align(claim, [source(CV)]), by_letters)
    assert set(seen) == set(VECTORS["all-MiniLM-L6-v2"].weights)
    assert 0 < seen["similarity"] <= 1 + 1e-9


def test_a_sentence_that_says_the_same_has_the_whole_similarity() -> None:
    claim = "Anna Berg cut costs."
    assert features(claim, align(claim, [source(claim)]), by_letters)["similarity"] == pytest.approx(1.0)


def test_vectors_of_a_model_without_weights_are_not_asked_for() -> None:
    assert judge_with("another", by_letters).embed is None
    assert judge_with("all-MiniLM-L6-v2", by_letters).embed is by_letters
    assert judge_with("all-MiniLM-L6-v2", None) == BY_WORDS


def test_a_verbatim_sentence_asks_no_model() -> None:
    def broken(texts: Sequence[str]) -> np.ndarray:
        raise AssertionError

    judge = judge_with("all-MiniLM-L6-v2", broken)
    assert verify("She hired 30 people and cut costs by 15 percent.", [1], [source(CV)], judge).verdict == "supported"


def test_where_a_model_fails_the_words_decide(caplog: pytest.LogCaptureFixture) -> None:
    def failing(texts: Sequence[str]) -> np.ndarray:
        raise ModelError("no vectors")

    claim = "At Globex she hired 30 people."
    judged = check(claim, source(CV), judge_with("all-MiniLM-L6-v2", failing))
    assert judged == check(claim, source(CV))


def test_inference_draws_the_support_to_its_own_probability() -> None:
    claim = "At Globex she hired 30 people."
    plain = check(claim, source(CV)).support
    judged = check(claim, source(CV), Judge(entail=lambda text, said: Entailment(0.02, 0.1)))
    assert judged.support == pytest.approx((plain + 0.02) / 2, abs=1e-4)
    assert judged.verdict == "partial"


def test_a_claim_that_inference_finds_contradicted_is_unsupported() -> None:
    judged = check("At Globex she hired 30 people.", source(CV), Judge(entail=lambda text, said: Entailment(0.3, 0.6)))
    assert judged.verdict == "unsupported"


def test_entailment_does_not_make_up_for_a_wrong_number() -> None:
    judged = check("At Globex she hired 31 people.", source(CV), Judge(entail=lambda text, said: Entailment(1.0, 0.0)))
    assert judged.verdict == "unsupported"


def test_inference_is_asked_of_the_places_that_are_shown() -> None:
    asked: list[tuple[str, str]] = []

    def entail(text: str, claim: str) -> Entailment:
        asked.append((text, claim))
        return Entailment(1.0, 0.0)

    shown = check("At Globex she hired 30 people.", source(CV), Judge(entail=entail))
    assert asked == [(shown.quote, "At Globex she hired 30 people.")]


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("1 0 1 1 " * 15, "1 0 0 1 " * 400),
        ("Harbour " + "[1[2" * 750, "[1[2" * 2000),
        ("not " * 750, "not " * 2000),
        ("Ann Bo " * 300, "Bo Ann " * 900),
        ("1,2,3-4;" * 375, "1,2,3-4;" * 1000),
    ],
)
def test_thousands_of_repeated_words_come_to_a_verdict(claim: str, text: str) -> None:
    assert verify(claim, (1,), [source(text)]).verdict in {"supported", "partial", "unsupported"}


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("Revenue fell from 10 million to 12 million dollars.", "Revenue rose from 10 million to 12 million dollars."),
        ("The service takes at most 500 requests.", "The service takes at least 500 requests."),
        ("The board rejected the plan of 2021.", "The board approved the plan of 2021."),
        ("Ann left Acme in 2019.", "Ann joined Acme in 2019."),
    ],
)
def test_the_contrary_of_what_a_source_says_is_not_supported(claim: str, text: str) -> None:
    assert verify(claim, (1,), [source(text)]).verdict != "supported"
    assert verify(text, (1,), [source(text)]).verdict == "supported"
