"""What a question was taken to ask, in its own words, and what the conversation added to it."""

import pytest

from pipelines.query.question.reading import NAMES_NOTHING, additions, looked_for
from pipelines.query.question.understand import analyse
from pipelines.store.known_names import NameIndex


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("When did Ann pass her driving test?", "a date together with “Ann”, “pass” and “driving test”"),
        ("What is Ann's favourite restaurant?", "“Ann's favourite restaurant”"),
        ("What is Ann's blood type?", "“Ann's blood type”"),
        ("What is the licence of saltlick?", "“licence of saltlick”"),
        ("How much did the move to Leith cost?", "an amount of money together with “move to Leith” and “cost”"),
        ("Does she speak Finnish?", "“speak” together with “Finnish”"),
        ("Who won?", "a person together with “won”"),
        ("Introduce Devraj in a few sentences", "“Devraj”"),
        ("Whats her shoe size?", "“shoe size”"),
        ("Did Ann work at Marrow & Keel?", "“Ann” together with “Marrow & Keel”"),
        ("Which Go version does latemark need?", "“Go version” together with “latemark”"),
        ("How many law firms use Signalweir?", "a number together with “law firms” and “Signalweir”"),
        ("Which kilns, and which glazes?", "“kilns” together with “glazes”"),
    ],
)
def test_what_was_looked_for_is_said_in_the_words_of_the_question(question: str, said: str) -> None:
    assert looked_for(analyse(question)) == f"I looked for {said}."


def test_a_stored_name_is_named_whole_and_nothing_is_said_where_only_words_that_ask_are_left() -> None:
    known = NameIndex([("salt and lick", "1")])
    assert looked_for(analyse("Did Ann work at salt and lick?", known=known)) == (
        "I looked for “Ann” together with “salt and lick”."
    )
    assert looked_for(analyse("How did they work?")) == ""


@pytest.mark.parametrize("question", ["Tell me something", "Why?", "Anything else?"])
def test_a_question_that_names_nothing_is_told_what_to_name(question: str) -> None:
    assert looked_for(analyse(question)) == NAMES_NOTHING


@pytest.mark.parametrize(
    ("asked", "whole", "added"),
    [
        ("Which licence does it have?", "Which licence does saltlick have?", [("it", "saltlick")]),
        ("What did she do before that?", "What did Ann do before Acme?", [("she", "Ann"), ("that", "Acme")]),
        ("When did she move there?", "When did Ann Bell move at Leith?", [("she", "Ann Bell"), ("there", "at Leith")]),
        ("How long did you work there?", "How long did you work there? (organ Leith)", [("", "organ Leith")]),
        ("What about Rust?", "Does she know Rust?", []),
        ("And before that?", "Where did Ann work before Acme?", []),
        ("What is a reed?", "What is a reed?", []),
    ],
)
def test_what_a_follow_up_took_is_the_names_in_place_of_its_pointers(
    asked: str, whole: str, added: list[tuple[str, str]]
) -> None:
    assert additions(asked, whole) == tuple(added)
