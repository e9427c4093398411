from collections.abc import Sequence

import numpy as np
import pytest

from pipelines.query.analyse import analyse
from pipelines.query.extract import _sentences_of, extract
from pipelines.types import Context
from tests.unit.query.builders import source

CRANE = "# Cranes\n\nThe harbour crane moved 40 containers an hour. It was blue. Who built it?"
GARDEN = "Tomatoes in the garden need sun every single day."


def picked(question: str, *snippets: str, max_sentences: int = 6) -> list[str]:
    sources = tuple(source(n, snippet) for n, snippet in enumerate(snippets, start=1))

    def alike(question: str, texts: Sequence[str]) -> np.ndarray:
        return np.array([0.5 if "crane" in text else 0.1 for text in texts])

    found = extract(
        analyse(question), Context(sources, "", "", 0), weight=lambda _: 1.0, similarity=alike,
        max_sentences=max_sentences,
    )  # fmt: skip
    for pick in found:
        assert pick.source.snippet[pick.start : pick.end] == pick.text
    return [pick.text for pick in found]


def test_the_sentence_that_answers_is_picked_verbatim() -> None:
    assert picked("How many containers did the harbour crane move?", GARDEN, CRANE) == [
        "The harbour crane moved 40 containers an hour."
    ]


def test_headings_questions_and_fragments_are_not_answers() -> None:
    assert "Who built it?" not in picked("Who built the crane?", CRANE)


def test_a_sentence_is_not_given_twice_from_twin_documents() -> None:
    assert len(picked("How many containers did the harbour crane move?", CRANE, CRANE)) == 1


def test_no_more_than_the_limit_is_picked_in_the_order_of_the_sources() -> None:
    snippets = [f"The harbour crane number {word} lifted {word} boxes daily." for word in ("one", "two", "three")]
    found = picked("What did the harbour crane lift daily?", *snippets, max_sentences=2)
    assert len(found) <= 2
    assert found == sorted(found, key=lambda text: [text in snippet for snippet in snippets].index(True))


def test_nothing_is_picked_where_there_are_no_sentences() -> None:
    assert picked("Anything?", "# Title only") == []


def test_a_heading_is_not_quoted_whether_it_is_marked_or_only_named() -> None:
    marked = "# How the harbour crane moves containers\n\nThe harbour crane moves 40 containers an hour."
    assert picked("How does the harbour crane move containers?", marked) == [
        "The harbour crane moves 40 containers an hour."
    ]
    bare = "How the crane moves containers\n\nThe harbour crane moves 40 containers an hour."
    (found,) = list(_sentences_of(source(1, bare, section_path=("How the **crane** moves containers",))))
    assert found.text == "The harbour crane moves 40 containers an hour."
    assert list(_sentences_of(source(1, "How the crane moves.", title="How the Crane moves."))) == []


@pytest.mark.parametrize(
    "text", ["我们在二零二零年搬到了奥斯陆。", "クレーンは動いた。", "الرافعة نقلت أربعين حاوية في الساعة"]
)
def test_a_sentence_in_a_script_without_case_or_spaces_may_answer(text: str) -> None:
    assert [pick.text for pick in _sentences_of(source(1, text))] == [text]


@pytest.mark.parametrize(
    "text", ["WORK AND OTHER EXPERIENCE", "ÉTUDES À L'ÉCOLE DE ÇA", "2019 - 2020 - 2021", "我们在这里吗？"]
)
def test_capitals_bare_numbers_and_questions_do_not_answer(text: str) -> None:
    assert list(_sentences_of(source(1, text))) == []
