"""Paragraphs packed to a number of characters."""

import itertools

from pipelines.blocks import markdown_blocks, text_blocks
from pipelines.ingestion.parsers.generic import GenericParser
from pipelines.ingestion.parsers.pieces import Piece


def test_paragraphs_are_packed_without_overlap() -> None:
    paragraphs = [f"Paragraph {number} " + "word " * 50 + "end." for number in range(9)]
    text = "\n\n".join(paragraphs)
    pieces = GenericParser(characters=600).pieces(text, text_blocks(text))
    assert all(before.end < after.start for before, after in itertools.pairwise(pieces))
    assert [text[piece.start : piece.end].count("Paragraph") for piece in pieces] == [2, 2, 2, 2, 1]


def test_a_heading_begins_a_piece_and_names_its_section() -> None:
    text = "Intro.\n\nTOOLS\n\nA spade.\n\nSEEDS\n\nBeans."
    assert GenericParser().pieces(text, text_blocks(text)) == [
        Piece(0, 6),
        Piece(text.index("TOOLS"), text.index("\n\nSEEDS"), ("TOOLS",)),
        Piece(text.index("SEEDS"), len(text), ("SEEDS",)),
    ]


def test_headings_without_text_join_only_their_subsection() -> None:
    text = "# One\n\n## Two\n\nText.\n\n# Three\n\n# Four"
    three, four = text.index("# Three"), text.index("# Four")
    assert GenericParser().pieces(text, text_blocks(text)) == [
        Piece(0, three - 2, ("One", "Two")), Piece(three, four - 2, ("Three",)), Piece(four, len(text), ("Four",)),
    ]  # fmt: skip
    assert GenericParser().pieces("# One", text_blocks("# One")) == [Piece(0, 5, ("One",))]


def test_a_long_paragraph_is_cut_at_sentence_ends_then_at_spaces() -> None:
    text = "# Top\n\n" + "This is a sentence of it. " * 20 + "word " * 100
    pieces = GenericParser(characters=200).pieces(text, text_blocks(text))
    texts = [text[piece.start : piece.end] for piece in pieces]
    assert texts[0].startswith("# Top\n\nThis is")
    assert all(len(part) <= 200 for part in texts)
    assert all(part.endswith("it.") for part in texts[:2])
    assert all(part.split()[0] in ("#", "This", "word") for part in texts)


def test_a_long_table_is_cut_between_rows_and_its_head_leads_the_later_parts() -> None:
    rows = [f"| row {number} | {'x' * 40} |" for number in range(12)]
    text = "Before it.\n\n" + "\n".join(["| name | value |", "|---|---|", *rows]) + "\n\nAfter it."
    pieces = GenericParser(characters=200).pieces(text, markdown_blocks(text))
    assert len(pieces) > 3
    assert [piece.lead for piece in pieces] == ["", *["| name | value |"] * (len(pieces) - 1)]
    assert [piece.kind for piece in pieces] == ["text", *["table"] * (len(pieces) - 2), "text"]
    for row in rows:
        assert sum(row in text[piece.start : piece.end] for piece in pieces) == 1


def test_a_table_that_fits_is_never_cut() -> None:
    table = "| a | b |\n|---|---|\n" + "\n".join(["| one | two |"] * 10)
    text = f"{'word ' * 30}\n\n{table}\n\n{'word ' * 30}"
    pieces = GenericParser(characters=len(table)).pieces(text, markdown_blocks(text))
    assert [text[piece.start : piece.end] for piece in pieces if piece.kind == "table"] == [table]
