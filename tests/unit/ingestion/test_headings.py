"""Headings of texts without markup, and of blocks whose loader knows none."""

import pytest

from pipelines.blocks import text_blocks
from pipelines.headings import promote_headings
from pipelines.types import Block

LONG = "It rained for the whole of that week, and nobody went to the field but me. " * 3
SHORT = "It rained."


def found(text: str) -> list[tuple[int, str]]:
    return [(block.level, text[block.start : block.end]) for block in text_blocks(text) if block.kind == "heading"]


@pytest.mark.parametrize(
    "line",
    [
        "FIELD WORK", "FIELD WORK:", "# Field work", "== Field work ==", "= = Field work = =", "Field Work:", "Tools:",
        "Tools and Seeds of the Year:", "Field work", "What did I learn?", "2. Field work", "2.1 Field work",
        "Chapter IV", "CHAPTER 4. THE FIELD.", "Kapitel 2: Das Feld", "Part Two – The field", "IX", "Introduction",
        "B. Field work", "Oslo, May 1, 1891", "Feldarbeit im Frühling", "畑仕事",
    ],
)  # fmt: skip
def test_a_line_alone_over_a_long_paragraph_is_a_heading(line: str) -> None:
    assert found(f"{SHORT}\n\n{line}\n\n{LONG}") == [(line.count("=") // 2 or 1, line)]


@pytest.mark.parametrize(
    "line",
    [
        "A sentence of a few words.", "a line without a capital", "Dear Ada", "Hello,", "By Ada Lovelace",
        "“Who is there?”", "- Field work", "For example:", "He said:", "This is what we took to the field:",
        "ada@example.com", "12", "—", "https://example.com/field", "Acme, 2019 - 2021", "name | value", "x = y + 1",
        "Contents .... 12", "ADA: I see", "A line of more words than a title has, and of more characters", "* * *",
        "chapter 3 of my life was",
    ],
)  # fmt: skip
def test_a_lone_line_of_another_form_is_no_heading(line: str) -> None:
    assert found(f"{SHORT}\n\n{line}\n\n{LONG}") == []


def test_a_short_line_over_a_short_paragraph_or_a_list_is_no_heading() -> None:
    assert found(f"{SHORT}\n\nField work\n\n{SHORT}") == []
    assert found(f"{SHORT}\n\nField work\n\n- {LONG}") == []


def test_a_wrapped_line_is_no_heading() -> None:
    assert found("The word after this one\nhttps://example.com/is-too-long-to-stand-on-the-same-line-" + "x" * 90) == []
    assert found("The lines of\n" + "this paragraph are wrapped where\n" * 9) == []


def test_a_short_line_directly_above_an_unwrapped_paragraph_is_a_heading() -> None:
    assert found(f"Field work\n{LONG}") == [(1, "Field work")]


def test_a_line_directly_below_a_heading_is_no_heading() -> None:
    assert found(f"FIELD NOTES\nAda Lovelace\n\n{LONG}") == [(1, "FIELD NOTES")]


def test_a_chapter_has_its_number_and_its_title() -> None:
    text = f"PART I\n\nCHAPTER 1\nHow it began\n\n{LONG}\n\nCHAPTER 2\n\nHow it went on\n\n{LONG}"
    assert found(text) == [
        (1, "PART I"), (2, "CHAPTER 1"), (3, "How it began"), (2, "CHAPTER 2"), (3, "How it went on"),
    ]  # fmt: skip


def test_numbered_lines_of_a_series_are_headings_over_short_paragraphs_too() -> None:
    text = f"1. One\n\n{LONG}\n\n2. Two\n\n{LONG}\n\n3. Three\n\n{SHORT}"
    assert found(text) == [(1, "1. One"), (1, "2. Two"), (1, "3. Three")]
    assert found(f"{SHORT}\n\n1. One\n\n2. Two\n\n3. Three\n\n{LONG}") != found(text)


def test_a_weaker_style_is_a_level_below_a_stronger_one() -> None:
    text = f"Garden\n======\n\nTOOLS\n\nSpades\n\n{LONG}\n\nDigging Well:\n\n{SHORT}\n\nSEEDS\n\n{SHORT}"
    assert found(text) == [
        (1, "Garden\n======"), (2, "TOOLS"), (3, "Spades"), (4, "Digging Well:"), (2, "SEEDS"),
    ]  # fmt: skip


def blocks(*parts: str) -> tuple[str, tuple[Block, ...]]:
    """A text of paragraphs, those that begin with `!` being headings of level 1."""
    made, text = [], ""
    for part in parts:
        words = part.lstrip("!")
        made.append(
            Block(len(text), len(text) + len(words), "heading" if part != words else "paragraph", part != words)
        )
        text += words + "\n\n"
    return text, tuple(made)


def names(text: str, made: tuple[Block, ...]) -> list[tuple[int, str]]:
    return [(block.level, text[block.start : block.end]) for block in made if block.kind == "heading"]


def test_paragraphs_that_look_like_headings_are_promoted() -> None:
    text, made = blocks("Ada Lovelace", "FIELD WORK", LONG, "What I learnt", LONG, "Tools:", SHORT)
    assert names(text, promote_headings(text, made)) == [(1, "FIELD WORK"), (2, "What I learnt"), (3, "Tools:")]
    assert [(block.start, block.end) for block in promote_headings(text, made)] == [
        (block.start, block.end) for block in made
    ]


def test_only_capitals_and_chapters_are_promoted_beside_real_headings() -> None:
    text, made = blocks(
        "!Garden", LONG, "!Tools", "CHAPTER 1", SHORT, "IN SPRING", LONG, "May 1, 1891", LONG, "Note:", SHORT
    )
    assert names(text, promote_headings(text, made)) == [
        (1, "Garden"),
        (1, "Tools"),
        (2, "CHAPTER 1"),
        (3, "IN SPRING"),
    ]


def test_nothing_is_promoted_where_most_lines_are_capitals() -> None:
    text, made = blocks("ONE LINE", "TWO LINES", "THREE LINES", "FOUR LINES")
    assert promote_headings(text, made) == made
