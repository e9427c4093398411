"""Windows of tokens, and windows of characters within a section."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.blocks import markdown_blocks, text_blocks
from pipelines.ingestion.loaders.sniff import MARKDOWN, PLAIN
from pipelines.ingestion.parsers import parse, parser_for
from pipelines.ingestion.parsers.pieces import Piece
from pipelines.ingestion.parsers.sections import SectionsParser, sentence_spans
from pipelines.ingestion.parsers.window import WindowParser
from pipelines.text import canonical, count_tokens
from pipelines.types import Document

LINES = [
    "# A",
    "## B",
    "Text here. And more.",
    "one two three",
    "- item",
    "",
    "x" * 300,
    "日本語。" * 40,
    "🎉" * 60,
    "  ",
]
NASTY = st.lists(st.sampled_from(LINES), max_size=20).map("\n".join) | st.text()
STORY = " ".join(f"The {number}th boat left the harbour at dawn." for number in range(10, 40))


def texts(text: str, pieces: list[Piece]) -> list[str]:
    return [text[piece.start : piece.end] for piece in pieces]


def note(text: str, mime: str = MARKDOWN) -> Document:
    blocks = markdown_blocks(text) if mime == MARKDOWN else ()
    return Document(
        id="d", text=text, source_uri="u", source="s", source_kind="file", name="n.md", mime=mime, bytes=1,
        file_sha="f", content_sha="c", blocks=blocks,
    )  # fmt: skip


# Tokens


def test_token_windows_are_full_and_overlap_by_whole_words() -> None:
    found = texts(STORY, WindowParser(tokens=60, overlap=15).pieces(STORY, text_blocks(STORY)))
    words = STORY.split()
    for before, after in pairwise(found):
        shared = next(n for n in range(30, -1, -1) if before.split()[-n:] == after.split()[:n])
        assert 10 <= count_tokens(" ".join(after.split()[:shared])) <= 15
        assert 55 <= count_tokens(before) <= 60
    assert all(word in words for part in found for word in part.split())


def test_windows_without_overlap_hold_each_word_once() -> None:
    found = texts(STORY, WindowParser(tokens=50, overlap=0).pieces(STORY, text_blocks(STORY)))
    assert [word for part in found for word in part.split()] == STORY.split()


def test_a_short_text_is_one_window_and_no_text_is_none() -> None:
    assert WindowParser().pieces("One two.", text_blocks("One two.")) == [Piece(0, 8)]
    assert WindowParser().pieces(" \n ", text_blocks(" \n ")) == []


def test_the_section_of_a_window_is_the_nearest_heading_before_it() -> None:
    text = f"Start.\n\n# One\n\n{STORY}\n\n## Two\n\n{STORY}"
    found = WindowParser(tokens=100, overlap=10).pieces(text, markdown_blocks(text))
    first = [text[: piece.start].rfind("\n## Two") >= 0 for piece in found]
    assert found[0].section_path == ()
    assert {piece.section_path for piece, past in zip(found[1:], first[1:], strict=True) if not past} == {("One",)}
    assert {piece.section_path for piece, past in zip(found, first, strict=True) if past} == {("One", "Two")}


@given(NASTY)
@settings(max_examples=100)
def test_token_windows_never_exceed_their_limit(raw: str) -> None:
    text = canonical(raw)
    found = WindowParser(tokens=20, overlap=10).pieces(text, ())
    assert all(count_tokens(part) <= 20 for part in texts(text, found))
    assert all(before.end < after.end for before, after in pairwise(found))


# Characters


def test_section_windows_overlap_by_whole_sentences() -> None:
    found = texts(STORY, SectionsParser(characters=200, overlap=50).pieces(STORY, text_blocks(STORY)))
    assert all(part.startswith("The ") and part.endswith("dawn.") and len(part) <= 200 for part in found)
    for before, after in pairwise(found):
        assert before[before.rindex("The ") :] == after[: after.index(".") + 1]


def test_a_sentence_longer_than_the_overlap_is_not_repeated() -> None:
    found = SectionsParser(characters=200, overlap=20).pieces(STORY, text_blocks(STORY))
    assert all(before.end < after.start for before, after in pairwise(found))


def test_a_sentence_longer_than_a_window_is_cut_between_words_that_the_next_repeats() -> None:
    text = "word " * 99 + "end."
    found = texts(text, SectionsParser(characters=100, overlap=30).pieces(text, text_blocks(text)))
    assert all(set(part.split()) <= {"word", "end."} for part in found)
    for before, after in pairwise(SectionsParser(characters=100, overlap=30).pieces(text, text_blocks(text))):
        assert 20 <= before.end - after.start <= 30


def test_no_section_window_crosses_a_heading() -> None:
    text = f"# One\n\n{STORY}\n\n# Two\n\nShort.\n\n# Three\n\n{STORY}"
    found = SectionsParser().pieces(text, markdown_blocks(text))
    for piece in found:
        assert text[piece.start : piece.end].count("# ") <= 1
        assert text[: piece.end].rfind("# ") <= max(text.rfind("# ", 0, piece.start + 2), piece.start)
    assert [piece.section_path for piece in found if text[piece.start] == "#"] == [("One",), ("Two",), ("Three",)]


def test_a_heading_with_nothing_below_it_joins_its_subsection() -> None:
    text = "# One\n\n## Two\n\nText.\n\n# Three"
    assert SectionsParser().pieces(text, markdown_blocks(text)) == [
        Piece(0, text.index("\n\n# Three"), ("One", "Two")),
        Piece(text.index("# Three"), len(text), ("Three",)),
    ]


def test_a_bullet_stays_with_its_item() -> None:
    text = "\n".join(f"- item {number} of the list, which is long enough" for number in range(20))
    assert all(
        part.startswith("- item")
        for part in texts(text, SectionsParser(characters=120, overlap=50).pieces(text, text_blocks(text)))
    )
    assert sentence_spans("- one\n- two", (0, 11)) == [(0, 5), (6, 11)]


@given(NASTY, st.integers(0, 60))
@settings(max_examples=100)
def test_section_windows_never_exceed_their_limit_and_always_advance(raw: str, overlap: int) -> None:
    text = canonical(raw)
    found = SectionsParser(characters=50, overlap=overlap).pieces(text, ())
    assert all(piece.end - piece.start <= 50 for piece in found)
    assert all(before.end < after.end for before, after in pairwise(found))


# Markdown without headings


def test_markdown_without_headings_is_read_as_plain_text() -> None:
    text = f"= Boats =\n{STORY}\n= = Crew = =\n{STORY}"
    plain = note(text)
    assert parser_for(plain) == "generic"
    paths = {tuple(node.metadata["section_path"]) for node in parse(plain)}
    assert paths == {("Boats",), ("Boats", "Crew")}


def test_markdown_headings_are_the_only_headings_of_markdown() -> None:
    text = f"# Boats\n\n{STORY}\n\n= = Crew = =\n\n{STORY}"
    headed = note(text)
    assert parser_for(headed) == "markdown"
    assert {tuple(node.metadata["section_path"]) for node in parse(headed, "generic")} == {("Boats",)}


@pytest.mark.parametrize("mime", [MARKDOWN, PLAIN])
def test_code_in_a_text_without_headings_stays_code(mime: str) -> None:
    text = f"{STORY}\n\n```\n# no heading\n```\n\n{STORY}"
    found = {tuple(node.metadata["section_path"]) for node in parse(note(text, mime), "sections")}
    assert (mime != MARKDOWN) or found == {()}
