import pytest

from pipelines.query.careers.whose import of_others, without
from pipelines.types import Context, QueryIntent
from tests.unit.query.builders import source

STATED = [("Lena Brandt", "lena"), ("LENA BRANDT, MSc", "export"), ("Will Parker", "will"), ("Omar Haddad", "omar")]


def others(question: str, names: tuple[str, ...] = ()) -> set[str]:
    return set(of_others(QueryIntent(question=question, search_text=question, names=names), STATED))


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


def test_a_context_without_some_documents_keeps_the_numbers_of_the_others() -> None:
    context = Context(tuple(source(n, "words") for n in (1, 2, 3)), "", "", 3)
    assert [kept.n for kept in without(context, {"d2"}).sources] == [1, 3]
    assert [kept.n for kept in context.sources] == [1, 2, 3]
