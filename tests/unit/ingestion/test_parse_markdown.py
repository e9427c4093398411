"""Markdown by heading."""

import itertools

import pytest

from pipelines.blocks import markdown_blocks
from pipelines.ingestion.parsers.markdown import MarkdownParser
from pipelines.ingestion.parsers.pieces import count_words
from pipelines.text import searchable

WORDS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"


def sections(text: str, **sizes) -> list[tuple[tuple[str, ...], str]]:
    return [
        (piece.section_path, text[piece.start : piece.end])
        for piece in MarkdownParser(**sizes).pieces(text, markdown_blocks(text))
    ]


def test_each_section_is_a_node_under_its_own_path() -> None:
    text = f"# Top\n\n{WORDS}\n\n## One\n\n{WORDS}\n\nTwo\n---\n\n{WORDS}\n\n# Next\n\n{WORDS}"
    assert sections(text) == [
        (("Top",), f"# Top\n\n{WORDS}"),
        (("Top", "One"), f"## One\n\n{WORDS}"),
        (("Top", "Two"), f"Two\n---\n\n{WORDS}"),
        (("Next",), f"# Next\n\n{WORDS}"),
    ]


def test_a_closed_atx_heading_and_one_of_two_lines_are_named_by_their_words() -> None:
    text = f"## The **big** [idea](http://x.y) ##\n\n{WORDS}\n\nOne title on\ntwo lines\n===\n\n{WORDS}"
    assert [path for path, _ in sections(text)] == [("The big idea",), ("One title on two lines",)]


def test_equal_headings_below_one_parent_are_numbered() -> None:
    parts = ["# One", "## Usage", "## Usage", "## usage", "# Two", "## Usage", "# One", "## Usage"]
    text = "\n\n".join(f"{heading}\n\n{WORDS}" for heading in parts)
    assert [path for path, _ in sections(text)] == [
        ("One",), ("One", "Usage"), ("One", "Usage (2)"), ("One", "usage (3)"),
        ("Two",), ("Two", "Usage"),
        ("One (2)",), ("One (2)", "Usage"),
    ]  # fmt: skip


def test_the_number_of_an_existing_heading_is_not_reused() -> None:
    text = "\n\n".join(f"# {heading}\n\n{WORDS}" for heading in ("Use", "Use (2)", "Use", "Use"))
    paths = [path for path, _ in sections(text)]
    assert paths[:2] == [("Use",), ("Use (2)",)]
    assert len(set(paths)) == 4


def test_text_before_the_first_heading_has_no_path() -> None:
    assert [path for path, _ in sections(f"{WORDS}\n\n# Top\n\n{WORDS}")] == [(), ("Top",)]


def test_a_heading_is_as_long_as_its_words_without_badges() -> None:
    badge = f"[![Build](https://ci.example.com/{'x' * 200}.svg)](https://ci.example.com)"
    assert [path for path, _ in sections(f"# Top {badge}\n\n{WORDS}")] == [("Top",)]
    assert [path for path, _ in sections(f"# {'word ' * 50}\n\n{WORDS}")] == [()]


@pytest.mark.parametrize(
    "inside",
    [
        "```\n# no\n```", "~~~\n# no\n~~~", "    # no", "````\n```\n# no\n````", "```\nno\n---\n```",
        "<div>\n# no\n</div>", "<!--\n# no\n\n# no\n-->", "<pre>\n\n# no\n</pre>", "> # no", "- # no", "#no", "\\# no",
    ],
)  # fmt: skip
def test_marks_inside_code_and_html_are_not_headings(inside: str) -> None:
    assert len(sections(f"# Top\n\n{WORDS}\n\n{inside}\n\n{WORDS}")) == 1


def test_a_tiny_section_joins_its_subsection() -> None:
    text = f"# Top\n\nShort.\n\n## One\n\nTiny.\n\n### Deep\n\n{WORDS}"
    assert sections(text) == [(("Top", "One", "Deep"), text)]


def test_a_short_section_never_joins_a_sibling_or_parent() -> None:
    parts = [f"# Top\n\n{WORDS}", "## One\n\nShort.", "## Two", "### Deep\n\nTiny.", "# End"]
    assert sections("\n\n".join(parts)) == [
        (("Top",), parts[0]),
        (("Top", "One"), parts[1]),
        (("Top", "Two", "Deep"), f"{parts[2]}\n\n{parts[3]}"),
        (("End",), parts[4]),
    ]


def test_badges_do_not_make_a_section() -> None:
    badges = "[![Build](https://ci.example.com/one/two/three.svg)](https://ci.example.com) " * 6
    text = f"# Top\n\n{badges.strip()}\n\n## One\n\n{WORDS}"
    assert [path for path, _ in sections(text)] == [("Top", "One")]


def test_only_headings_are_still_a_node() -> None:
    assert sections("# Top\n\n## One") == [(("Top", "One"), "# Top\n\n## One")]


def test_a_long_section_is_cut_with_an_overlap() -> None:
    paragraphs = [" ".join(f"w{number}x{word}" for word in range(20)) + "." for number in range(12)]
    text = "# Top\n\n" + "\n\n".join(paragraphs)
    pieces = MarkdownParser(target_words=60, max_words=80, overlap_words=5).pieces(text, markdown_blocks(text))
    texts = [text[piece.start : piece.end] for piece in pieces]
    assert all(piece.section_path == ("Top",) for piece in pieces)
    assert all(count_words(part) <= 80 for part in texts)
    for before, after in itertools.pairwise(texts):
        assert before.split()[-5:] == after.split()[:5]


def test_the_overlap_never_crosses_a_heading() -> None:
    text = f"# A\n\n{WORDS}\n\n# B\n\n{WORDS}"
    first, second = MarkdownParser(target_words=20, max_words=30).pieces(text, markdown_blocks(text))
    assert second.start > first.end


def test_tables_and_code_stay_whole() -> None:
    table = "| a | b |\n|---|---|\n" + "| one | two |\n" * 8
    code = "```\n" + "x = 1 + 2\n" * 8 + "```"
    text = f"# Top\n\n{WORDS} {WORDS}.\n\n{table}\n{WORDS} {WORDS}.\n\n{code}\n\n{WORDS} {WORDS}."
    texts = [part for _, part in sections(text, target_words=50, max_words=70, overlap_words=5)]
    assert len(texts) > 1
    assert sum(table.strip() in part for part in texts) == 1
    assert sum(code in part for part in texts) == 1
    assert all(part.count("```") in (0, 2) for part in texts)


def test_a_table_just_under_the_limit_is_not_cut_for_an_overlap() -> None:
    table = "| a | b |\n|---|---|\n" + "\n".join(["| one | two |"] * 15)
    size = count_words(table)
    text = f"# Top\n\n{WORDS} {WORDS}.\n\n{table}\n\n{WORDS} {WORDS}."
    pieces = MarkdownParser(target_words=size - 10, max_words=size, overlap_words=5).pieces(text, markdown_blocks(text))
    assert [text[piece.start : piece.end] for piece in pieces if piece.kind == "table"] == [table]


def test_a_heading_is_a_piece_of_its_own_before_a_table_that_fills_the_limit() -> None:
    table = "| a | b |\n|---|---|\n" + "\n".join(["| one | two |"] * 15)
    text = f"# {WORDS}\n\n{table}"
    pieces = MarkdownParser(max_words=count_words(table)).pieces(text, markdown_blocks(text))
    assert [text[piece.start : piece.end] for piece in pieces] == [f"# {WORDS}", table]


def test_a_table_over_the_limit_is_cut_between_rows_and_its_head_leads_the_later_parts() -> None:
    table = "| a | b |\n|---|---|\n" + "| one | two |\n" * 60
    text = f"# Top\n\n{table}\n\n{WORDS}."
    pieces = MarkdownParser(target_words=60, max_words=80).pieces(text, markdown_blocks(text))
    tables = [piece for piece in pieces if piece.kind == "table"]
    assert len(tables) > 3
    assert [piece.lead for piece in tables] == ["", *["| a | b |"] * (len(tables) - 1)]
    assert all(text[piece.start : piece.end].startswith("|") for piece in tables[1:])
    assert {line for piece in tables[1:] for line in text[piece.start : piece.end].split("\n")} == {"| one | two |"}


def test_code_over_the_limit_is_cut_at_lines() -> None:
    lines = [f"value_{number} = {number} + 1" for number in range(60)]
    text = "# Top\n\n```python\n" + "\n".join(lines) + "\n```"
    pieces = MarkdownParser(target_words=60, max_words=80, overlap_words=5).pieces(text, markdown_blocks(text))
    found = [line for piece in pieces for line in text[piece.start : piece.end].split("\n")]
    assert len(pieces) > 3
    assert {piece.kind for piece in pieces} == {"code"}
    assert [line for line in found if line.startswith("value")] == lines


def test_a_section_is_whole_up_to_800_words_and_a_longer_one_is_cut_at_600() -> None:
    def paragraphs(count: int) -> str:
        return "\n\n".join("ten words are in each of these many equal paragraphs." for _ in range(count))

    assert [count_words(part) for _, part in sections(paragraphs(80))] == [800]
    first, second = (count_words(part) for _, part in sections(paragraphs(81)))
    assert (first, second) == (600, 810 - 600 + 25)


def test_badges_and_comments_are_in_the_span_but_not_in_the_indexed_text() -> None:
    badge = "[![Build](https://ci.example.com/one.svg)](https://ci.example.com)"
    text = f"# Top\n\n{badge}\n\n<!-- a note to ourselves -->\n\nSee [the guide](https://docs.example.com/x) {WORDS}."
    (piece,) = MarkdownParser().pieces(text, markdown_blocks(text))
    assert text[piece.start : piece.end] == text
    found = searchable("", text[piece.start : piece.end], "text/markdown")
    assert "the guide" in found
    assert not [word for word in ("example.com", "svg", "ourselves", "](", "<!--") if word in found]


def test_a_section_of_nothing_but_a_list_is_a_list() -> None:
    tools = "- A saw that cuts oak and pine\n- A plane with a blade of steel\n- A drill of many sizes"
    text = f"# Tools\n\n{tools}\n\n# Bench\n\nIt is made of beech, and as heavy as three people who lift it together.\n"
    assert [piece.kind for piece in MarkdownParser().pieces(text, markdown_blocks(text))] == ["list", "text"]
