"""Fields of work: their words are found whole, in any number, and phrases before their words."""

from pipelines.topics import terms_of, words_of


def test_terms_are_the_longest_phrases_whatever_their_number_and_hyphens() -> None:
    assert terms_of("Neural networks for full-text search") == ("neural network", "full-text search")
    assert terms_of("neural  NETWORK, neural networks") == ("neural network",)
    assert terms_of("It wandered along the mapmaker's trail") == ()


def test_a_field_has_words_and_phrases_of_its_own() -> None:
    assert {"machine learning", "language model", "retrieval"} <= words_of("ai")
    assert words_of("no such field") == frozenset()
