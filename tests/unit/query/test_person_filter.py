"""Quotations are restricted to the people that a question names."""

from dataclasses import replace

import pytest

from pipelines.query.person_filter import (
    about_other_people,
    asks_for_spoken_languages,
    documents_of_others,
    lists_programming_languages,
    tells_of_others_role,
    unknown_people,
)
from pipelines.query.question.person import role_asked
from pipelines.types import QueryIntent
from tests.unit.query.builders import source

STATED = [("Lena Brandt", "lena"), ("LENA BRANDT, MSc", "export"), ("Will Parker", "will"), ("Omar Haddad", "omar")]


def others(question: str, names: tuple[str, ...] = ()) -> set[str]:
    return set(documents_of_others(QueryIntent(question=question, search_text=question, names=names), STATED))


@pytest.mark.parametrize(
    ("question", "documents"),
    [
        ("Which skills does Lena have?", {"will", "omar"}),
        ("what skills does lena brandt have?", {"will", "omar"}),
        ("what can will parker do", {"lena", "export", "omar"}),
        ("Did Lena work with Omar?", {"will"}),
        ("Does Haddad know Kotlin?", {"lena", "export", "will"}),
    ],
)
def test_the_careers_of_others_than_those_whom_a_question_names_are_told(question: str, documents: set[str]) -> None:
    assert others(question) == documents


@pytest.mark.parametrize(
    "question", ["Which skills does she have?", "Will the buoy last?", "What will it cost?", "Who is Petra?", ""]
)
def test_a_question_that_names_nobody_leaves_all_careers(question: str) -> None:
    assert others(question) == set()


def test_a_name_inside_another_known_name_is_nobody() -> None:
    assert others("What was built at Parker Hannifin?") == {"lena", "export", "omar"}
    assert others("What was built at Parker Hannifin?", ("Parker Hannifin",)) == set()
    assert others("Which skills does Omar Haddad have?", ("Omar Haddad",)) == {"lena", "export", "will"}


STATED_ONE = [("Lena Brandt", "lena")]
ORGANISATIONS = ["Gridmoor Energy", "Chartroom"]


def named(question: str, stated: list[tuple[str, str]] = STATED_ONE) -> set[str]:
    return set(unknown_people(QueryIntent(question=question, search_text=question), stated, ORGANISATIONS))


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What did Ines do at Acme?", {"ines"}),
        ("When did Ines Farquhar join Acme?", {"ines", "farquhar"}),
        ("Who is Anselm Brodie?", {"anselm", "brodie"}),
        ("Who is Petra’s manager?", {"petra"}),
        ("Is Wim a pilot?", {"wim"}),
        ("Where does Petra work?", {"petra"}),
    ],
)
def test_somebody_whose_career_no_document_states_is_found_by_what_is_asked_of_them(
    question: str, words: set[str]
) -> None:
    assert named(question) == words


@pytest.mark.parametrize(
    "question",
    [
        "What did Lena do at Acme?",
        "Did Lena work with Ines?",
        "What did Gridmoor do after the outage?",
        "What did Chartroom get wrong?",
        "What did she do at Acme?",
        "What does the Gridmoor report say?",
        "How does Flowdesk work?",
        "Which tools did she use in Oslo?",
        "Was Flowdesk sold?",
        "",
    ],
)
def test_a_question_of_somebody_who_is_known_or_of_a_thing_names_no_stranger(question: str) -> None:
    assert named(question) == set()


def test_where_no_document_says_whose_it_is_nobody_is_a_stranger() -> None:
    assert named("What did Ines do at Acme?", []) == set()


@pytest.mark.parametrize(
    ("category", "document", "text", "said", "barred"),
    [
        ("resume", "d1", "Led the crew of Acme.", "Led the crew of Acme.", True),
        ("linkedin", "d1", "Led it after Ines Farquhar.", "Led it after Ines Farquhar.", False),
        ("resume", "d9", "Led the crew of Acme.", "Led the crew of Acme.", False),
        ("journey", "d1", "I joined in June.", "I joined in June.", True),
        ("journey", "d1", "The crew has five engineers.", "The crew has five engineers.", False),
        ("journey", "d1", "Ines came first. She taught me Python.", "She taught me Python.", False),
        ("journey", "d1", "Ines came first.\n\nShe taught me Python.", "She taught me Python.", True),
        ("blog", "d1", "I joined in June.", "I joined in June.", False),
    ],
)
def test_what_a_career_document_tells_is_somebody_elses_unless_it_names_the_stranger(
    category: str, document: str, text: str, said: str, barred: bool
) -> None:
    told = replace(source(1, text), category=category, document_id=document)
    start = text.index(said)
    assert about_other_people({"ines", "farquhar"}, {"d1"})(told, start, start + len(said)) is barred


def test_programming_languages_are_not_spoken() -> None:
    assert asks_for_spoken_languages(
        QueryIntent("Which languages does Omar speak?", "Which languages does Omar speak?")
    )
    assert not asks_for_spoken_languages(
        QueryIntent("Which languages does Omar know?", "Which languages does Omar know?")
    )
    listed, spoken = "Languages: Rust, C++, Python", "Languages: Dutch, Welsh"
    assert lists_programming_languages(source(1, listed), 0, len(listed))
    assert not lists_programming_languages(source(1, spoken), 0, len(spoken))


@pytest.mark.parametrize(
    ("text", "is_excluded"),
    [
        ("It took me and an intern five weeks.", True),
        ("In 2015 I was the only intern.", False),
        ("I began there as an intern.", False),
        ("We rechecked all of them.", False),
    ],
)
def test_a_role_is_quoted_only_where_it_is_said_of_somebody(text: str, is_excluded: bool) -> None:
    asked = QueryIntent(question="Was she an intern?", search_text="Was she an intern?", person="Lena Brandt")
    role = role_asked(asked)
    assert role
    assert tells_of_others_role(role)(source(1, text, category="journey"), 0, len(text)) is is_excluded


def test_only_a_question_about_a_person_asks_for_a_role() -> None:
    asked = "Is the koma compiler a library?"
    assert not role_asked(QueryIntent(question=asked, search_text=asked, person="Lena Brandt"))
