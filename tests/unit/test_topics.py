"""Fields of work: their words are found whole, in any number, and phrases before their words."""

from pipelines.topics import terms_of, topics_of, words_of


def test_topics_are_the_fields_of_the_words_of_a_text() -> None:
    assert topics_of("What AI projects have you built?") == ("ai",)
    assert topics_of("Reads GPS tracks into PostGIS") == ("maps",)
    assert topics_of("It wandered along the mapmaker's trail") == ()


def test_terms_are_the_longest_phrases_whatever_their_number_and_hyphens() -> None:
    assert terms_of("Neural networks for full-text search") == ("neural network", "full-text search")
    assert terms_of("neural  NETWORK, neural networks") == ("neural network",)


def test_every_word_of_a_field_leads_to_it() -> None:
    assert {"machine learning", "language model", "retrieval"} <= words_of("ai")
    assert all("ai" in topics_of(word) for word in words_of("ai"))
    assert words_of("no such field") == frozenset()
