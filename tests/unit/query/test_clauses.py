"""What a clause speaks of, and what makes two passages say other things; the sentences are invented."""

import pytest

from pipelines.query.verification.clauses import clauses
from pipelines.query.verification.figures import levelled
from pipelines.query.verification.opposites import opposed
from pipelines.query.verification.rates import rates_differ
from pipelines.query.verification.scope import overstated
from pipelines.query.verification.sequence import reversed_order


def texts(sentence: str) -> list[str]:
    return [clause.text for clause in clauses((sentence,))]


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
    first, pronoun, own = clauses(("Anna joined Acme.", "She led a team.", "Bo left."))
    assert first.brought == frozenset()
    assert "anna" in pronoun.brought
    assert not pronoun.says_subject
    assert own.says_subject
    assert own.brought == frozenset()


def test_a_verb_without_a_subject_has_the_subject_of_the_clause_before_and_not_its_object() -> None:
    _, second = clauses(("Orion added plugins and dropped themes.",))
    assert "orion" in second.brought
    assert "plugin" not in second.brought


def test_two_counts_side_by_side_share_what_stands_before_the_first() -> None:
    _, second = clauses(("Entry costs 45 pounds for adults and 20 pounds for students.",))
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
    assert rates_differ(levelled(claim), levelled(text)) == differ


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
    assert opposed(claim, passage)
    assert opposed(passage, claim)
    assert not opposed(claim, claim)
