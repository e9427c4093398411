"""Journeys: paragraphs packed to tokens, with an overlap of whole sentences."""

import itertools

import pytest

from pipelines.blocks import text_blocks
from pipelines.ingestion.classify import classify
from pipelines.ingestion.parsers import parse
from pipelines.ingestion.parsers.journey import JourneyParser, last_sentences
from pipelines.text import canonical, count_tokens
from pipelines.types import Document

SENTENCE = "We went up to the hut on the fourth day and found that the door was open."
PARAGRAPH = " ".join([SENTENCE] * 6)


def journey(text: str, name: str = "journey.txt", **fields) -> Document:
    text = canonical(text)
    return classify(
        Document(
            id="doc-1", text=text, source_uri=name, source="s", source_kind="file", name=name, mime="text/plain",
            bytes=1, file_sha="f", content_sha="c0ffee", blocks=text_blocks(text), **fields,
        ),
        category="journey",
    )  # fmt: skip


def numbered(count: int, sentences: int = 6) -> str:
    """Paragraphs whose sentences say which they are."""
    return "\n\n".join(
        " ".join(f"Sentence {number}.{part}: {SENTENCE}" for part in range(sentences)) for number in range(1, count + 1)
    )


def texts_of(text: str, **sizes) -> list[str]:
    pieces = JourneyParser(**sizes).pieces(text, text_blocks(text))
    return [text[piece.start : piece.end] for piece in pieces]


def test_a_node_has_about_450_tokens_and_at_most_500() -> None:
    sizes = [count_tokens(part) for part in texts_of(numbered(30))]
    assert all(450 - count_tokens(PARAGRAPH) * 1.5 < size <= 500 for size in sizes[:-1])
    assert len(sizes) > 5


def test_a_paragraph_over_600_tokens_is_cut_at_sentences() -> None:
    whole = " ".join([SENTENCE] * (590 // (count_tokens(" " + SENTENCE))))
    assert 550 < count_tokens(whole) < 600
    assert texts_of(f"Short.\n\n{whole}") == [f"Short.\n\n{whole}"]
    parts = texts_of(" ".join([SENTENCE] * 100))
    assert len(parts) > 2
    assert all(part.startswith("We went") and part.endswith("open.") and count_tokens(part) <= 600 for part in parts)


def test_a_node_begins_with_the_last_whole_sentences_of_the_one_before() -> None:
    parts = texts_of(numbered(20))
    for before, after in itertools.pairwise(parts):
        shared = after[: len(after) - len(after.split("\n\n", 1)[1])].strip()
        assert before.endswith(shared)
        assert shared.startswith("Sentence ")
        assert len(shared.split()) <= 30
        assert count_tokens(shared) <= 50


def test_the_overlap_never_crosses_a_heading() -> None:
    text = f"FIRST\n\n{numbered(2)}\n\nSECOND\n\n{numbered(2)}"
    first, second = JourneyParser().pieces(text, text_blocks(text))
    assert text[second.start : second.end].startswith("SECOND")
    assert (first.section_path, second.section_path) == (("FIRST",), ("SECOND",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Far too long ago to tell. One two. Three four.", "One two. Three four."),
        ("One two three four five six.", "three four five six."),
        ("One two. " + "x" * 400, None),
        ("- One two.\n- Three four.", "One two.\n- Three four."),
    ],
)
def test_the_overlap_is_whole_sentences_else_the_last_words(text: str, expected: str | None) -> None:
    start = last_sentences(text, (0, len(text)), words=5 if "- " in text else 4, tokens=12)
    assert (None if start is None else text[start:]) == expected


def test_the_overlap_never_exceeds_its_tokens() -> None:
    text = "Ångström-größenordnungsmäßig übermäßig. " * 3
    start = last_sentences(text, (0, len(text) - 1), words=30, tokens=15)
    assert start is not None
    assert count_tokens(text[start:-1]) <= 15


def test_journey_facts_have_part_paragraphs_and_fiscal_year() -> None:
    noted = journey(f"MY YEAR\n\n{numbered(12)}", "journey_fy-2023-2024.txt")
    nodes = parse(noted, "journey")
    facts = [node.metadata["facts"] for node in nodes]
    assert [fact["part"] for fact in facts] == list(range(1, len(nodes) + 1))
    assert {fact["parts"] for fact in facts} == {len(nodes)}
    assert {fact["fiscal_year"] for fact in facts} == {2023} == {node.metadata["year"] for node in nodes}
    for node, fact in zip(nodes, facts, strict=True):
        said = [int(word.split(".")[0]) for word in node.text.split() if word[0].isdigit()]
        assert (fact["first_paragraph"], fact["last_paragraph"]) == (said[0], said[-1])


def test_a_heading_with_a_fiscal_year_dates_its_section() -> None:
    text = f"MY FY23-24 NOTES\n\n{PARAGRAPH}\n\nMY FY24-25 NOTES\n\n{PARAGRAPH}"
    nodes = parse(journey(text, "journey_fy-2022-2023.txt"), "journey")
    assert [node.metadata["year"] for node in nodes] == [2023, 2024]
    assert [node.metadata["facts"]["fiscal_year"] for node in nodes] == [2023, 2024]


def test_without_a_fiscal_year_the_documents_year_stays() -> None:
    (node,) = parse(journey(PARAGRAPH, "2021-05-06-reflections.txt"))
    assert node.metadata["parser"] == "journey"
    assert node.metadata["year"] == 2021
    assert node.metadata["facts"]["fiscal_year"] is None
