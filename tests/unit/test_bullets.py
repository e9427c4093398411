"""What opens a list item."""

import pytest

from pipelines.bullets import item_body, mark_end


@pytest.mark.parametrize(
    ("line", "mark"), [("• a", "•"), ("- a", "-"), ("12. a", "12."), ("(3) a", "(3)"), ("2024. a", "")]
)
def test_bullets_signs_and_numbers_are_marks(line: str, mark: str) -> None:
    assert line[: mark_end(line)] == mark


def test_a_letter_with_a_bracket_is_a_mark_only_if_wanted() -> None:
    assert (mark_end("a) b"), mark_end("a) b", letters=True)) == (0, 2)


@pytest.mark.parametrize(
    ("line", "words"), [("•  a", "a"), ("1. a", "a"), ("-a", "-a"), ("• ", "• "), ("3.5 a", "3.5 a")]
)
def test_an_item_has_a_space_and_words_after_its_mark(line: str, words: str) -> None:
    assert line[item_body(line, 0, len(line)) :] == words
