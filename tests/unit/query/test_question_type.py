"""What kind of answer a question asks for."""

import time
from dataclasses import replace

import pytest

from pipelines.query.question.form import QuestionType, classify_question, holds_kind, kind_fit, question_parts
from pipelines.query.question.understand import analyse
from pipelines.store.known_names import NameIndex
from pipelines.types import Turn


def aim(question: str) -> QuestionType:
    return classify_question(analyse(question))


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Why did the bridge close?", "why"),
        ("What caused the delay?", "why"),
        ("What does a ticket cost?", "money"),
        ("How much was the yard fined?", "money"),
        ("What was the budget of the yard?", "money"),
        ("Total budget of the yard?", "money"),
        ("Who signs the budget?", "who"),
        ("What share of the crates was late?", "share"),
        ("By how much did the bill fall?", "share"),
        ("How long was the strike?", "duration"),
        ("How often does the choir meet?", "duration"),
        ("When did the harbour open?", "when"),
        ("In which year was the crane built?", "when"),
        ("How many cranes are there?", "count"),
        ("Was the new crane faster than the old one?", "comparison"),
        ("Who built the crane?", "who"),
        ("Which colleague found it?", "who"),
        ("Where is the yard?", "where"),
        ("Which port is the largest?", "which"),
        ("How does the crane turn?", "how"),
        ("Is the crane blue?", "yes-no"),
        ("What is a crane?", "what"),
    ],
)
def test_the_words_of_a_question_say_what_kind_of_answer_it_wants(question: str, kind: str) -> None:
    assert aim(question).kind == kind


@pytest.mark.parametrize(
    ("question", "listed"),
    [
        ("Which languages does she speak?", True),
        ("What certifications does he hold?", True),
        ("List the cranes.", True),
        ("What is the name of the ship?", False),
        ("Which bus is it?", False),
        ("What weight does it lift?", False),
        ("What was it?", False),
    ],
)
def test_a_plural_after_the_question_word_asks_for_several_things(question: str, listed: bool) -> None:
    assert aim(question).listed is listed


@pytest.mark.parametrize("question", ["Who is it meant for?", "Who benefits from the harbour?", "Who mostly uses it?"])
def test_a_group_that_something_serves_need_not_be_a_person(question: str) -> None:
    assert aim(question).kind == "what"


def test_names_years_and_what_is_asked_about_them_are_told_apart() -> None:
    found = aim("Why did Ann leave Acme in 2019 for C++ work?")
    assert found.names == ("ann", "acm", "2019", "c++")
    assert "leav" in found.focus


def test_irregular_verbs_are_asked_for_by_their_base_form() -> None:
    assert aim("What was sold?").focus == aim("What did they sell?").focus == ("sell",)


@pytest.mark.parametrize(
    "question",
    [
        "Tell me something", "Summarize everything.", "What do you know?", "What is this about?", "Can you help me?",
        "Give me an overview of the documents", "How long?",
    ],
)  # fmt: skip
def test_a_request_that_names_nothing_to_look_for_is_vague(question: str) -> None:
    assert aim(question).is_vague


@pytest.mark.parametrize(
    "question",
    ["What do you know about Ann?", "Summarize the tides.", "What did she learn?", "When did she start?", "Why Go?"],
)
def test_a_request_that_names_or_asks_something_is_not_vague(question: str) -> None:
    assert not aim(question).is_vague


def parts(question: str, *known: str) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    intent = analyse(question, known=NameIndex((name, f"document of {name}") for name in known))
    return [(part.kind, part.names, part.focus) for part in question_parts(intent, classify_question(intent))]


def test_two_questions_in_one_are_two_parts_and_the_second_is_about_what_the_first_names() -> None:
    assert parts("When did Acme open, and why did it close?") == [
        ("when", ("acm",), ("open",)),
        ("why", ("acm",), ("close",)),
    ]
    assert [kind for kind, _, _ in parts("Who built the crane and how long did it take?")] == ["who", "duration"]


def test_things_to_compare_are_a_part_each() -> None:
    assert parts("Compare Acme Steel and Beta") == [("what", ("acm", "steel"), ()), ("what", ("beta",), ())]
    assert parts("Is latemark faster than manualgrep?", "latemark", "manualgrep") == [
        ("comparison", ("latemark",), ("faster",)),
        ("comparison", ("manualgrep",), ("faster",)),
    ]


def test_a_question_about_two_documents_has_a_part_for_each() -> None:
    assert parts("latemark or manualgrep: which is meant for what?", "latemark", "manualgrep") == [
        ("what", ("latemark",), ("mean",)),
        ("what", ("manualgrep",), ("mean",)),
    ]


@pytest.mark.parametrize(
    "question", ["In Leith, what is a crane?", "Salt and pepper?", "Is Acme faster than Beta?", "Compare Acme with it"]
)
def test_one_question_has_no_parts(question: str) -> None:
    assert parts(question) == []


def test_a_follow_up_asks_as_it_was_typed_about_what_was_named_before() -> None:
    found = classify_question(
        analyse("And how long did it take?", history=[Turn("When did Acme open the Leith yard?", "In 1904.")])
    )
    assert (found.kind, found.names) == ("duration", ("acm", "leith"))


@pytest.mark.parametrize(
    ("question", "put"),
    [
        ("Where did Ann Blake study?", "Where did you study?"),
        ("What is Ann's boss called, and who hired Blake?", "What is your boss called, and who hired you?"),
        ("How many tides has Ms Blake read?", "How many tides has you read?"),
        ("Where is the yard?", "Where is the yard?"),
    ],
)
def test_a_question_is_put_to_the_owner_of_the_documents(question: str, put: str) -> None:
    assert classify_question(replace(analyse(question), owner=("ann", "blake"))).put == put


@pytest.mark.parametrize(
    ("question", "yes", "no"),
    [
        ("When did the harbour open?", "It opened in March 2019.", "It opened with a speech."),
        ("How many cranes are there?", "There are four cranes.", "There are cranes."),
        ("What does a ticket cost?", "A ticket is £12.", "A ticket is 12 cm long."),
        ("What share of the crates was late?", "Seven percent of the crates.", "Seven crates."),
        ("How long was the strike?", "It went on for six weeks.", "It went on and on."),
        ("Who built the crane?", "It is by Ivo Lindqvist of the yard.", "It was built in March at the yard."),
        ("Where is the yard?", "The yard lies in Leith.", "the yard lies by the sea"),
        ("Why did the bridge close?", "It closed because a pillar had cracked.", "It closed on a Monday."),
    ],
)
def test_a_line_fits_when_it_holds_such_a_value(question: str, yes: str, no: str) -> None:
    assert (kind_fit(aim(question), yes), kind_fit(aim(question), no)) == (1.0, 0.0)


def test_what_the_question_says_itself_is_no_answer_to_it() -> None:
    asked = aim("When in 2019 did the harbour open?")
    assert not holds_kind("when", "The harbour of 2019.", asked.terms)
    assert holds_kind("when", "The harbour of 2020.", asked.terms)


def test_questions_that_leave_the_kind_open_are_fitted_by_any_line_by_half() -> None:
    assert kind_fit(aim("How does the crane turn?"), "Anything.") == 0.5
    assert kind_fit(aim("Who is Ann Lee?"), "a welder from Leith") == 0.5


@pytest.mark.parametrize(
    "piece", ["which ", "how much did ", "better ", "A. ", "from 1 ", "£", "Ann van ", "the other "]
)
def test_long_hostile_texts_are_read_in_linear_time(piece: str) -> None:
    text = piece * (2_000 // len(piece))
    started = time.process_time()
    asked = classify_question(analyse(text))
    for kind in ("why", "money", "share", "duration", "when", "count", "who", "where", "comparison"):
        holds_kind(kind, text * 10, asked.terms)
    assert time.process_time() - started < 1.0


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Marit Haugen built it.", 1.0),
        ("It was built by Marit.", 1.0),
        ("Marit built the harbour crane in 2014.", 0.5),
        ("The harbour crane was built in 2014.", 0.0),
        ("However it was built, it stands.", 0.0),
    ],
)
def test_a_sentence_that_begins_with_a_single_name_may_say_who(line: str, expected: float) -> None:
    assert kind_fit(aim("Who built the harbour crane?"), line) == expected


@pytest.mark.parametrize("line", ["2 | Øye Liv | the keys", "The keys lie with Đặng Thùy Linh.", "Émile Zola"])
def test_a_name_may_begin_with_any_latin_capital(line: str) -> None:
    assert kind_fit(aim("Who keeps the keys of shed 9?"), line) == 1.0
    assert kind_fit(aim("Who keeps the keys of shed 9?"), "the éclair and the übung") == 0.0


def test_the_name_of_the_person_whose_documents_they_are_need_not_be_repeated() -> None:
    known = NameIndex([("harbour-log", "d")], people=["Ann Ødegård"])
    wanted = classify_question(analyse("Where did Ødegård write harbour-log?", known=known))
    assert (wanted.names, wanted.focus) == (("harbour-log",), ("write",))
    assert classify_question(analyse("Who is Ann?", known=known)).names == ("ann",)
    assert analyse("Did Ann write it?", known=known).terms == ("write",)
