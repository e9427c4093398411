"""The words of a claim, and the phrases of the word lists in them."""

import pytest

from pipelines.query.verification.words import find_phrases, lowered, read


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("R&D, C++ and .NET.", ["R&D", ",", "C++", "and", ".NET", "."]),
        ("Owner's 1,200.5 m", ["Owner's", "1,200.5", "m"]),
        ("2.4GHz in k8s (5 %)", ["2.4GHz", "in", "k8s", "(", "5", "%", ")"]),
    ],
)
def test_a_text_is_words_numbers_and_signs(text: str, words: list[str]) -> None:
    assert [word.text for word in read(text)] == words
    assert all(text[word.start : word.end] == word.text for word in read(text))


def test_words_with_hyphens_are_looked_up_by_their_parts() -> None:
    assert lowered("The Fifth-Few - no") == ["the", "fifth", "few", "-", "no"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("no more than five", ["at_most"]),
        ("more than five and up to nine", ["at_least", "at_most"]),
        ("not more than five", [""]),
        ("five", []),
    ],
)
def test_the_longest_phrase_at_a_place_counts(text: str, names: list[str]) -> None:
    assert [found.name for found in find_phrases(text.split(), "phrases")] == names
