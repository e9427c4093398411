"""Support, normalisation, clauses and details behind a verdict."""

import time
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from pipelines.answers import Source
from pipelines.errors import ModelError
from pipelines.query.verification.clauses import split_clauses
from pipelines.query.verification.details import is_opposed, overstated, reversed_order
from pipelines.query.verification.figures import normalise_figures
from pipelines.query.verification.misattached import is_misattached
from pipelines.query.verification.normalise import dates_differ, measures_differ
from pipelines.query.verification.support import (
    SUPPORTED_AT,
    VECTOR_MODELS,
    WORDS_MODEL,
    align_claim,
    best_places,
    features,
    probability,
    rarity,
)
from pipelines.query.verify import WORDS_ONLY, build_judge, check_source, verify
from pipelines.structure import sentences
from tests.unit.query.builders import source
from tests.unit.query.claim_pairs import RIGHT, WRONG

CV = """# Work

Anna Berg worked at Acme as a data engineer from 2015 to 2019. She led a team of 12 people and built the pipeline.

Anna Berg worked at Globex as an engineering manager from 2019 to 2023. She hired 30 people and cut costs by 15 percent.

She studied physics in Zurich until 2014."""
LONG = " ".join(f"Filler number nothing {word}." for word in ("apple", "pear", "plum", "fig", "date", "lime", "kiwi"))


def note(snippet: str, n: int = 1, title: str = "Notes") -> Source:
    return Source(
        n=n, document_id=f"d{n}", documentName="cv.md", title=title, uri="", content_sha="c", category="resume",
        page=None, line_start=1, line_end=1, section_path=(), snippet=snippet, start=0, end=len(snippet),
        node_ids=("n",),
    )  # fmt: skip


def found(claim: str, *snippets: str) -> dict[str, float]:
    return features(claim, align_claim(claim, [note(text, n) for n, text in enumerate(snippets, start=1)]))


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
    odds = WORDS_MODEL.intercept + sum(WORDS_MODEL.weights[name] * value for name, value in given.items())
    assert probability(given, WORDS_MODEL) == pytest.approx(1 / (1 + np.exp(-odds)))


def test_the_places_are_the_sentences_that_hold_the_claim_best_first() -> None:
    claim = "Anna Berg led 12 people at Acme and hired 30 people at Globex."
    aligned = align_claim(claim, [note(CV)])
    shown = [" ".join(line.text for line in aligned.lines[place]) for place in best_places(aligned)]
    assert len(shown) == 2
    assert {"12" in text for text in shown} == {"30" in text for text in shown} == {True, False}


def test_a_place_takes_in_a_neighbour_that_adds_to_it() -> None:
    said = check_source("Anna Berg worked at Globex, where she cut costs.", note(CV))
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
    assert verify(claim, [1], [note(text)]).verdict == "supported"


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
    said = verify(claim, [1], [note(text)])
    assert said.verdict == "unsupported"
    assert said.evidence[0].support < SUPPORTED_AT


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
    assert is_misattached(claim, align_claim(claim, [note(CV)]))
    assert verify(claim, [1], [note(CV)]).verdict != "supported"


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
    assert verify(claim, [1], [note(CV)]).verdict == "supported"


def test_a_claim_that_two_cited_sources_bear_out_together_is_supported_by_both() -> None:
    born, moved = note("Marit Dahl was born in Bergen in 1980."), note("In 2004 Marit Dahl moved to Zurich.", 3)
    claim = "Marit Dahl was born in Bergen in 1980 and moved to Zurich in 2004."
    assert verify(claim, [1], [born, moved]).verdict != "supported"
    said = verify(claim, [1, 3], [born, moved])
    assert said.verdict == "supported"
    assert {(part.n, part.quote) for part in said.evidence} == {(1, born.snippet), (3, moved.snippet)}


def test_the_right_number_of_a_misattributed_sentence_is_that_of_its_last_citation() -> None:
    sources = [note("Tea is hot.", 1), note("The harbour froze.", 2), note("Anna Berg runs the mill in Oslo.", 3)]
    said = verify("Anna Berg runs the mill in Oslo.", [1], sources)
    assert (said.verdict, said.citations, said.evidence[-1].n) == ("misattributed", (1,), 3)


def test_every_span_is_the_stored_text() -> None:
    for claim in ("Anna Berg hired 30 people at Globex in Zurich.", "Nothing of it.", "", "12"):
        said = verify(claim, [1, 2], [note(CV), note("", 2)])
        assert all(part.quote == {1: CV, 2: ""}[part.n][part.start : part.end] for part in said.evidence)


# With models


def by_letters(texts: Sequence[str]) -> np.ndarray:
    """Unit vectors of letter counts."""
    counted = np.array([[text.lower().count(letter) + 1e-3 for letter in "abcdefghij"] for text in texts])
    return counted / np.linalg.norm(counted, axis=1, keepdims=True)


def test_with_vectors_the_similarity_is_one_more_feature_between_0_and_1() -> None:
    claim = "Anna Berg cut costs."
    seen = features(claim, align_claim(claim, [note(CV)]), by_letters)
    assert set(seen) == set(VECTOR_MODELS["all-MiniLM-L6-v2"].weights)
    assert 0 < seen["similarity"] <= 1 + 1e-9


def test_a_sentence_that_says_the_same_has_the_whole_similarity() -> None:
    claim = "Anna Berg cut costs."
    assert features(claim, align_claim(claim, [note(claim)]), by_letters)["similarity"] == pytest.approx(1.0)


def test_vectors_of_a_model_without_weights_are_not_asked_for() -> None:
    assert build_judge("another", by_letters).embed is None
    assert build_judge("all-MiniLM-L6-v2", by_letters).embed is by_letters
    assert build_judge("all-MiniLM-L6-v2", None) == WORDS_ONLY


def test_a_verbatim_sentence_asks_no_model() -> None:
    def broken(texts: Sequence[str]) -> np.ndarray:
        raise AssertionError

    judge = build_judge("all-MiniLM-L6-v2", broken)
    assert verify("She hired 30 people and cut costs by 15 percent.", [1], [note(CV)], judge).verdict == "supported"


def test_where_a_model_fails_the_words_decide(caplog: pytest.LogCaptureFixture) -> None:
    def failing(texts: Sequence[str]) -> np.ndarray:
        raise ModelError("no vectors")

    claim = "At Globex she hired 30 people."
    judged = check_source(claim, note(CV), build_judge("all-MiniLM-L6-v2", failing))
    assert judged == check_source(claim, note(CV))


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
    assert verify(claim, (1,), [note(text)]).verdict in {"supported", "partial", "unsupported"}


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
    assert verify(claim, (1,), [note(text)]).verdict != "supported"
    assert verify(text, (1,), [note(text)]).verdict == "supported"


def texts(sentence: str) -> list[str]:
    return [clause.text for clause in split_clauses((sentence,))]


@pytest.mark.parametrize(
    ("sentence", "parts"),
    [
        ("Tom asked for time, but Elena refused.", ["Tom asked for time", "but Elena refused."]),
        ("Ann drew it and Bo built it.", ["Ann drew it", "and Bo built it."]),
        ("The mill burned down and was rebuilt.", ["The mill burned down", "and was rebuilt."]),
        ("She met Bo and Carl in Oslo.", ["She met Bo and Carl in Oslo."]),
        ("It met nine times in May and 11 times in June.", ["It met nine times in May and 11 times in June."]),
        ("It met 9 times in May and 11 times in June.", ["It met 9 times in May", "11 times in June."]),
        ("It costs between 10 and 20 euros.", ["It costs between 10 and 20 euros."]),
        ("It runs on Linux but not on Windows.", ["It runs on Linux but not on Windows."]),
    ],
)
def test_a_clause_ends_where_another_subject_or_verb_begins(sentence: str, parts: list[str]) -> None:
    assert texts(sentence) == parts


def test_a_pronoun_brings_the_name_before_it_and_a_subject_of_its_own_does_not() -> None:
    first, pronoun, own = split_clauses(("Anna joined Acme.", "She led a team.", "Bo left."))
    assert first.brought == frozenset()
    assert "anna" in pronoun.brought
    assert not pronoun.says_subject
    assert own.says_subject
    assert own.brought == frozenset()


def test_a_verb_without_a_subject_has_the_subject_of_the_clause_before_and_not_its_object() -> None:
    _, second = split_clauses(("Orion added plugins and dropped themes.",))
    assert "orion" in second.brought
    assert "plugin" not in second.brought


def test_two_counts_side_by_side_share_what_stands_before_the_first() -> None:
    _, second = split_clauses(("Entry costs 45 pounds for adults and 20 pounds for students.",))
    assert "entri" in second.brought
    assert "adult" not in second.brought


@pytest.mark.parametrize(
    ("claim", "passage", "turned"),
    [
        ("The audit came before the merger.", "The audit came after the merger.", True),
        ("The merger came before the audit.", "The audit came after the merger.", False),
        ("Before the storm came, the road was closed.", "The road was closed before the storm came.", False),
        ("She paid the bill and later ordered wine.", "She ordered wine and later paid the bill.", True),
        ("Rome is warmer than Athens.", "Athens is warmer than Rome.", True),
        ("The church is shorter than the tower.", "The tower is taller than the church.", False),
        ("The road was closed.", "The road was closed before the storm came.", False),
    ],
)
def test_an_order_is_turned_round_where_its_sides_change_places(claim: str, passage: str, turned: bool) -> None:
    assert reversed_order(claim, passage) == turned


@pytest.mark.parametrize(
    ("claim", "passage", "more"),
    [
        ("All patients recovered.", "Most patients recovered.", True),
        ("All patients recovered.", "Almost all patients recovered.", True),
        ("Most patients recovered.", "Most of the patients recovered.", False),
        ("All checks passed.", "All checks passed except the login check.", True),
        ("All checks but one passed.", "All checks passed except the login check.", False),
        ("The shop always opens at nine.", "The shop usually opens at nine.", True),
        ("The firm will build a plant.", "The firm may build a plant.", True),
        ("The firm built a plant.", "The firm plans to build a plant.", True),
        ("The firm may build a plant.", "The firm may build a plant.", False),
        ("The firm built a plant in May.", "The firm built a plant in May.", False),
    ],
)
def test_a_claim_of_all_or_for_certain_is_more_than_one_of_some_or_perhaps(
    claim: str, passage: str, more: bool
) -> None:
    assert overstated(claim, passage) == more


@pytest.mark.parametrize(
    ("claim", "text", "differ"),
    [
        ("900 requests per minute", "900 requests per second", True),
        ("900 requests/s", "900 requests a second", False),
        ("40 tonnes a day", "40 tonnes weekly", True),
        ("900 requests per minute", "900 requests", False),
        ("12 l/min", "12 litres per minute", False),
    ],
)
def test_rates_differ_where_a_number_is_per_other_things(claim: str, text: str, differ: bool) -> None:
    assert measures_differ(normalise_figures(claim), normalise_figures(text)) == differ


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The dinner was brought forward to May.", "The dinner was postponed to May."),
        ("The lamp is switched off.", "The lamp is switched on."),
        ("It opens in spring.", "It opens in autumn."),
        ("Fewer than 40 people came.", "More than 40 people came."),
    ],
)
def test_of_words_that_exclude_each_other_the_claim_has_another(claim: str, passage: str) -> None:
    assert is_opposed(claim, passage)
    assert is_opposed(passage, claim)
    assert not is_opposed(claim, claim)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2019-05", "May 2019"),
        ("2019-05-07", "7 May 2019"),
        ("07.05.2019", "7 May 2019"),
        ("05/2019", "May 2019"),
        ("Sept. 2nd, 2018", "September 2, 2018"),
        ("the 5th of May", "the 5 of May"),
        ("Mar 2019 - DEC 2020", "March 2019 - December 2020"),
        ("ten apples and twenty-one pears", "10 apples and 21 pears"),
        ("two hundred and six", "206"),
        ("two thousand five hundred", "2500"),
        ("nine to five", "9 to 5"),
        ("three million users", "3000000 users"),
        ("US$3.5bn", "3500000000 dollars"),
        ("$3 million", "3000000 dollars"),
        ("3 million dollars", "3000000 dollars"),
        ("40%, 40 per cent", "40 percent, 40 percent"),
        ("5km, 5 kilometres and a 5-mile run", "5 kilometers, 5 kilometers and a 5 miles run"),
        ("the third album", "the 3rd album"),
    ],
)
def test_dates_numbers_money_and_units_are_spelt_in_one_way(text: str, said: str) -> None:
    assert normalise_figures(text) == said


@pytest.mark.parametrize(
    "text", ["one of the k8s nodes", "third-party", "may 5 people", "IPv6 in the 1990s, 5G", "1.5"]
)
def test_what_is_no_number_date_or_unit_stays_as_it_is(text: str) -> None:
    assert normalise_figures(text) == text


@pytest.mark.parametrize(
    ("claim", "text", "differ"),
    [
        ("5 km", "5 miles", True),
        ("$5", "€5", True),
        ("5 km", "about 5km", False),
        ("5 km", "5 to 7 miles", False),
        ("5 people", "5 miles", False),
        ("5 km", "6 miles", False),
    ],
)
def test_units_differ_where_the_same_number_has_only_others(claim: str, text: str, differ: bool) -> None:
    assert measures_differ(normalise_figures(claim), normalise_figures(text)) is differ


@pytest.mark.parametrize(
    ("claim", "text", "differ"),
    [
        ("May 2019", "2019-05-03", False),
        ("May 2019", "2019", False),
        ("5 May", "May 5, 2020", False),
        ("2019", "May 2018", False),
        ("May 2019", "no date", False),
        ("May 2019", "from March 2019 to May 2020", True),
        ("May 5, 2019", "2019-05-06", True),
    ],
)
def test_dates_differ_where_no_date_goes_with_one_of_a_month(claim: str, text: str, differ: bool) -> None:
    assert dates_differ(normalise_figures(claim), normalise_figures(text)) is differ


@pytest.mark.parametrize("piece", ["two ", "two-", "two and ", "5 ", "May ", "1", "$", "may 1 ", "5.", "1-"])
def test_hostile_text_takes_time_in_proportion_to_its_length(piece: str) -> None:
    text = piece * 5_000
    begun = time.process_time()
    said = normalise_figures(text)
    measures_differ(said, said)
    dates_differ(said, said)
    assert time.process_time() - begun < 2


CAUGHT, KEPT = 0.92, 0.97  # reached when this was written: 242 of 260 wrong ones, 200 of 203 true ones
MOST = 0.15  # of a kind of error that may pass
KINDS = ["person", "number", "unit", "currency", "denial", "order", "date", "quantifier", "contrary"]


def is_supported(claim: str, text: str) -> bool:
    return verify(claim, [1], [source(1, text)]).verdict == "supported"


def test_nearly_all_wrong_claims_are_caught() -> None:
    passed = [claim for _, claim, text in WRONG if is_supported(claim, text)]
    assert len(passed) <= (1 - CAUGHT) * len(WRONG), passed


def test_nearly_all_true_claims_are_supported() -> None:
    lost = [claim for claim, text in RIGHT if not is_supported(claim, text)]
    assert len(lost) <= (1 - KEPT) * len(RIGHT), lost


@pytest.mark.parametrize("kind", KINDS)
def test_of_no_kind_of_error_do_many_pass(kind: str) -> None:
    verdicts = Counter(is_supported(claim, text) for own, claim, text in WRONG if own == kind)
    assert verdicts[True] <= MOST * verdicts.total()


@pytest.mark.parametrize("text", sorted({text for _, text in RIGHT}))
def test_a_source_bears_out_its_own_sentences(text: str) -> None:
    assert [text[start:end] for start, end in sentences(text) if not is_supported(text[start:end], text)] == []
