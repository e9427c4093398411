"""The Markdown of an answer survives around its sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.query.layout import AnswerBlock, CitedText, blocks_of, cited_sentences, joined, spans_in, without
from tests.linear import assert_linear

REPLY = """Fog does two things [1]:

## Work
- It runs jobs [1]. It keeps logs [2].
- It stops `jobs` [2].

Run this:
```bash
pip install fog
    fog run  --all  # x[0] [2]
```
Then wait [1].
It is done.

**Tasks**
1. Look [1].
2. Leave [9]."""
ANSWER = """Fog does two things: [1]

## Work
- It runs jobs. [1] It keeps logs. [2]
- It stops `jobs`. [2]

Run this:
```bash
pip install fog
    fog run  --all  # x[0]
```
[2]

Then wait. [1] It is done.

**Tasks**
1. Look. [1]
2. Leave."""


def texts(parts: list[CitedText]) -> list[str]:
    return [part.text for part in parts]


def test_lists_code_and_headings_survive_and_every_sentence_keeps_its_footnotes() -> None:
    parts = cited_sentences(REPLY, [1, 2])
    assert joined(parts) == ANSWER
    assert [(part.text, part.citations) for part in parts] == [
        ("Fog does two things:", (1,)), ("It runs jobs.", (1,)), ("It keeps logs.", (2,)), ("It stops `jobs`.", (2,)),
        ("Run this:", ()), ("pip install fog", ()), ("fog run  --all  # x[0]", (2,)), ("Then wait.", (1,)),
        ("It is done.", ()), ("Look.", (1,)), ("Leave.", ()),
    ]  # fmt: skip


def test_an_answer_reads_as_itself() -> None:
    again = cited_sentences(ANSWER, [1, 2])
    assert joined(again) == ANSWER
    assert texts(again) == texts(cited_sentences(REPLY, [1, 2]))


def test_the_blocks_of_an_answer_hold_all_its_sentences_in_order() -> None:
    assert blocks_of(ANSWER, texts(cited_sentences(REPLY, [1, 2]))) == [
        AnswerBlock("paragraph", lines=((0,),)),
        AnswerBlock("heading", "Work"),
        AnswerBlock("bullets", lines=((1, 2), (3,))),
        AnswerBlock("paragraph", lines=((4,),)),
        AnswerBlock("code", lines=((5,), (6,)), indents=("", "    ")),
        AnswerBlock("paragraph", lines=((7, 8),)),
        AnswerBlock("heading", "Tasks"),
        AnswerBlock("numbers", lines=((9,), (10,))),
    ]


def test_the_span_of_a_sentence_holds_its_markers() -> None:
    assert [ANSWER[slice(*span)] for span in spans_in(ANSWER, ["It runs jobs.", "It stops `jobs`."])] == [
        "It runs jobs. [1]",
        "It stops `jobs`. [2]",
    ]
    assert spans_in(ANSWER, ["It is not there."]) == [(-1, -1)]


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("## Summary\nIt is red [1].", "## Summary\nIt is red. [1]"),
        ("It is red [1].\nIt is old [1].", "It is red. [1] It is old. [1]"),
        ("It is\nred [1].\n\n\n\nIt is old.", "It is red. [1]\n\nIt is old."),
        ("| a | b |\n|---|---|\n| 1 | 2 | [1]", "| a | b |\n|---|---|\n| 1 | 2 | [1]"),
        ("```\nx = a[1]", "```\nx = a[1]\n```"),
        ("```\nx = [1]\ny = 2 [1]\n```", "```\nx = [1]\ny = 2\n```\n[1]"),
        ("```\n# a comment\n```", "```\n# a comment\n```"),
        ("~~~sh\nx = 1\n~~~", "~~~sh\nx = 1\n~~~"),
        ("1. Run [1]:\n   ````py\n   x = 1\n   ````", "1. Run: [1]\n   ````py\n   x = 1\n   ````"),
        ("# It is red [1]", "# It is red [1]"),
        ("## Summary", "## Summary"),
        ("Speed\n-----\n\nIt is fast [1].", "Speed\n-----\n\nIt is fast. [1]"),
        (
            "| a | b |\n|---|---|\n| 1 | 2 | [1]\n\n---\n\nIt is old.",
            "| a | b |\n|---|---|\n| 1 | 2 | [1]\n\n---\n\nIt is old.",
        ),
        ("> It is red [1].", "> It is red. [1]"),
        ("* one [1]\n    * two [1]\n\n1) three [1]", "* one [1]\n    * two [1]\n\n1) three [1]"),
    ],
)
def test_each_kind_of_line_keeps_its_form(reply: str, answer: str) -> None:
    assert joined(cited_sentences(reply, [1])) == answer


def test_an_underlined_heading_is_no_sentence() -> None:
    for reply in ("Speed\n=====\nIt is fast [1].", "\nSpeed\n-----\nIt is fast [1]."):
        assert texts(cited_sentences(reply, [1])) == ["It is fast."]


def test_a_heading_is_no_sentence_unless_nothing_else_is_left() -> None:
    assert texts(cited_sentences("## Summary\nIt is red.\n**More**\nIt is old.", [])) == ["It is red.", "It is old."]
    assert texts(cited_sentences("## Summary", [])) == ["## Summary"]


def test_what_stands_around_a_dropped_sentence_stays() -> None:
    parts = cited_sentences(REPLY, [1, 2])
    left = joined(without(parts, [0, 1, 5, 7]))
    assert left.startswith("## Work\n- It keeps logs. [2]\n- It stops")
    assert "```bash\n    fog run  --all  # x[0]\n```\n[2]\n\nIt is done." in left
    assert texts(without(parts, range(len(parts)))) == []


@given(st.lists(st.sampled_from(["```", "\n", "a b. ", "- ", "# h", "[1]", "  ", "1. ", "|x|", "**t**"]), max_size=30))
def test_whatever_a_model_writes_no_sentence_is_lost(pieces: list[str]) -> None:
    parts = cited_sentences("".join(pieces), [1])
    answer = joined(parts)
    assert all(start >= 0 for start, _ in spans_in(answer, texts(parts)))
    assert [i for block in blocks_of(answer, texts(parts)) for line in block.lines for i in line] == [
        *range(len(parts))
    ]


@pytest.mark.parametrize("piece", ["```\n", "# h\n", "- a\n", "a[1] b.\n"])
def test_long_replies_are_read_in_linear_time(piece: str) -> None:
    assert_linear(lambda length: joined(cited_sentences(piece * (length // len(piece)), [1])), 4_000)


def test_the_rows_of_a_table_are_one_block() -> None:
    parts = cited_sentences(
        "Scores [1]:\n\n| Year | Score |\n|---|---|\n| 2020 | 5 | [1]\n| 2021 | 6 | [2]\n\nDone [1].", [1, 2]
    )
    blocks = blocks_of(joined(parts), texts(parts))
    assert [(block.kind, block.lines) for block in blocks] == [
        ("paragraph", ((0,),)), ("table", ((1,), (2,), (3,))), ("paragraph", ((4,),)),
    ]  # fmt: skip
