from collections.abc import Sequence
from functools import partial

import pytest

from pipelines.query.question.followup import recent_turns, stand_alone
from pipelines.query.question.understand import analyse
from pipelines.store.known_names import NameIndex
from pipelines.text import count_tokens
from pipelines.types import Turn

# (the questions before it, the follow-up, what it leaves unsaid)
DIALOGUES: Sequence[tuple[Sequence[str], str, str]] = [
    # It points at somebody or something that it does not name
    (["Where did Ann study?"], "What was her thesis about?", "Ann"),
    (["Who founded the Gridmoor?"], "And when was it sold?", "Gridmoor"),
    (["When was the Gridmoor outage?"], "How long did it last?", "Gridmoor outage"),
    (["Where did Ann work in 2019?"], "What did she do before that?", "Ann 2019"),
    (["How many sensors were deployed at sea?"], "Who paid for those?", "sensors sea"),
    # It has words to ask with, and no others
    (["When did Ann join Acme?"], "Where?", "Ann Acme"),
    (["When did Ann join Acme?"], "And why was that?", "Ann Acme"),
    (["Does the pump run dry?"], "Why not?", "pump run dry"),
    # It brings a part of another question
    (["How is the weather in Oslo?"], "And in 2021?", "weather Oslo"),
    (["Is Ann open to freelance work?"], "At what rate?", "Ann open freelance work"),
    (["What was won in 2023?"], "what about the year before, for the dimmer?", "2023"),
    # A follow-up after a follow-up
    (["How is the weather in Oslo?", "what about Berlin?"], "and why?", "weather Berlin"),
    (["What is the kiln at Dunsyre?", "Who built it?"], "And when?", "kiln Dunsyre"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "question", "unsaid"), DIALOGUES)
def test_a_follow_up_is_asked_with_what_it_leaves_unsaid(before: Sequence[str], question: str, unsaid: str) -> None:
    intent = analyse(question, history=[Turn(asked, "So it says.") for asked in before])
    assert intent.condensed.endswith(f"({unsaid})")
    assert (intent.follow_up, intent.condensed_by, intent.search_text) == (True, "rules", intent.condensed)
    assert (intent.question, intent.added) == (question, (("", unsaid),))


@pytest.mark.parametrize(
    "question",
    ["What is saltlick?", "Which awards?", "And what is saltlick?", "Ok. Tell me about the Leith bridge",
     "How does the harbour authority measure the height of a wave?"],
)  # fmt: skip
def test_a_question_with_a_word_of_its_own_is_read_alone(question: str) -> None:
    assert not analyse(question, history=[Turn("What did Ann do at Acme?", "She tuned.")]).follow_up


@pytest.mark.parametrize(
    ("asked", "question", "whole"),
    [
        ("How is the weather in Oslo?", "what about Berlin?", "How is the weather in Berlin?"),
        ("How long did Mara work at Acme?", "And at Globex?", "How long did Mara work at Globex?"),
        ("Who built the Harbour Station?", "And the Maple Pool?", "Who built the Maple Pool?"),
        ("Does Ann know Kubernetes?", "And Rust?", "Does Ann know Rust?"),
        ("How much did Orion earn in 2019?", "And in 2020?", "How much did Orion earn in 2020?"),
        ("How much did Orion earn in 2020?", "And Vega?", "How much did Vega earn in 2020?"),
    ],
)
def test_a_name_or_year_takes_the_place_of_the_last_one_of_its_kind(asked: str, question: str, whole: str) -> None:
    assert analyse(question, history=[Turn(asked, "So it says.")]).search_text == whole


def test_a_name_in_reply_to_which_one_is_put_into_the_question() -> None:
    history = [Turn("Where does she work?", "Do you mean Ann Bell or Carl?")]
    assert analyse("Ann Bell", history=history).search_text == "Where does Ann Bell work?"


def test_a_question_is_never_read_as_a_pattern() -> None:
    history = [Turn("What is a+b(c?", "It.", (r"a+b(c\1", "[", "Ann (")), Turn("And why?", "So.", ("*",))]
    assert analyse("And when?", history=history).condensed.startswith("And when?")


def test_a_long_conversation_is_read_from_its_last_turns() -> None:
    history = [Turn("Where does Ann work?", "Here."), *[Turn("And why?", "So.")] * 400]
    assert analyse("And when?", history=history).condensed


TURNS = [Turn("Who is Ann?", "A welder in Oslo."), Turn("Since when?", "Since 2019."), Turn("Why?", "She likes fire.")]


def size(turn: Turn) -> int:
    return count_tokens(turn.question) + count_tokens(turn.answer)


def test_the_last_turns_are_kept_oldest_first() -> None:
    assert recent_turns(TURNS, turns=2, tokens=1_000) == tuple(TURNS[1:])
    assert recent_turns(TURNS, turns=0, tokens=1_000) == ()
    assert recent_turns([], turns=4, tokens=1_000) == ()


def test_a_turn_that_does_not_fit_ends_it() -> None:
    room = size(TURNS[2]) + size(TURNS[1])
    assert recent_turns(TURNS, turns=4, tokens=room) == tuple(TURNS[1:])
    assert recent_turns(TURNS, turns=4, tokens=room - 1) == tuple(TURNS[2:])


def test_the_answer_of_the_last_turn_is_cut_to_what_there_is_room_for() -> None:
    long = Turn("Why?", "fire " * 500)
    (kept,) = recent_turns([*TURNS, long], turns=4, tokens=50)
    assert kept.answer.startswith("fire fire")
    assert kept.answer.endswith(" ...")
    assert size(kept) <= 50


def test_a_question_that_is_too_long_alone_leaves_no_history() -> None:
    assert recent_turns([Turn("why " * 200, "x")], turns=4, tokens=50) == ()


STORED = NameIndex(
    [("coldcurve", "1"), ("ifc-sieve", "2"), ("Gridmoor", "3"), ("Brass Bros", "3"), ("Ann Bell", "3"), ("Talks", "4")],
    people=["Ann Bell"],
    projects=["coldcurve", "ifc-sieve"],
)


def whole(question: str, asked: str) -> str:
    """A question as it stands alone after another, where names are stored."""
    history = [Turn(asked, "So it says.")]
    return analyse(question, history=history, known=STORED, stand_alone=partial(stand_alone, known=STORED)).search_text


@pytest.mark.parametrize(
    ("asked", "question", "read_as"),
    [
        ("Who wrote coldcurve?", "Is it fast?", "Is it fast? (coldcurve)"),
        ("Did Ann Bell write coldcurve?", "Which licence?", "Which licence? (coldcurve)"),
        ("What do you know of Gridmoor", "How many people?", "How many people? (Gridmoor)"),
        ("Did Ann Bell write coldcurve?", "And the Maple Pool?", "Did Ann Bell write Maple Pool?"),
        ("What is coldcurve?", "And when?", "And when? (coldcurve)"),
    ],
)
def test_a_follow_up_takes_the_last_stored_name_or_brings_its_own(asked: str, question: str, read_as: str) -> None:
    assert whole(question, asked) == read_as
