import pytest

from pipelines.errors import RetrievalError
from pipelines.query.analyse import analyse
from pipelines.types import Turn

BEFORE = [Turn("When did Ann join Acme?", "In 2019.")]


def test_the_terms_are_what_an_answer_must_be_about() -> None:
    assert analyse("Tell me about her C++ projects, please").terms == ("c++", "project")


def test_a_question_is_folded_to_one_clean_line() -> None:
    assert analyse("  Who\n is\tAnn\x00? ").question == "Who is Ann?"


@pytest.mark.parametrize("question", ["", "  \n ", "\x00"])
def test_an_empty_question_is_refused(question: str) -> None:
    with pytest.raises(RetrievalError, match="empty"):
        analyse(question)


def test_a_question_over_the_limit_is_refused_with_both_numbers() -> None:
    with pytest.raises(RetrievalError, match=r"2,001 characters, and 2,000"):
        analyse("x" * 2001)


@pytest.mark.parametrize("question", ["And why?", "Why did she leave it?", "what about that one"])
def test_a_short_question_that_points_back_is_searched_with_the_one_before(question: str) -> None:
    intent = analyse(question, history=BEFORE)
    assert intent.follow_up
    assert intent.search_text.startswith("When did Ann join Acme? ")
    assert intent.question == " ".join(question.split())


def test_a_question_that_stands_alone_is_searched_alone() -> None:
    assert analyse("Which databases did Marit use at Gridmoor?", history=BEFORE).follow_up is False


def test_without_history_nothing_points_back() -> None:
    assert analyse("And why?").follow_up is False
