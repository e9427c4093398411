"""Sentences and their spans."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.sentences import MAX_CHARACTERS, sentences
from tests.linear import assert_linear

MARKERS = re.compile(r"[-*+•‣◦▪▫●○∙·➢➤►▶✓✔–—>=_~`|:#^()\d.a-z]")


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Smith met Mrs. Jones and Prof. Lee.",
        "We compared tools, e.g. Ray, i.e. the obvious one, etc. and chose.",
        "The U.S. Army bought it from Acme Inc. in No. 5 Fig. 3 style.",
        "J. R. R. Tolkien wrote it.",
        "It grew 3.14 percent in v1.2.3 of the tool.",
        "See https://example.com/a.b?c=d. or mail ann.lee@example.com for more.",
        "Well... maybe it works.",
        "She has a Ph.D. in physics.",
        "Meet at 5 p.m. on Jan. 5 then.",
        '"Really?" she asked.',
        "It is hard-wrapped\nover two lines.",
        "Python 3.11 and Node.js work.",
    ],
)
def test_one_sentence_stays_whole(text: str) -> None:
    assert split(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ('He said "Stop." Then he left.', ['He said "Stop."', "Then he left."]),
        ("It works (mostly.) Then we ship.", ["It works (mostly.)", "Then we ship."]),
        ("I work at Acme Inc. The pay is good.", ["I work at Acme Inc.", "The pay is good."]),
        ("He lives in the U.S. He likes it.", ["He lives in the U.S.", "He likes it."]),
        ("He said no. Then left.", ["He said no.", "Then left."]),
        ("It ended in 2019. 2020 was new.", ["It ended in 2019.", "2020 was new."]),
        ("It broke... Then it healed.", ["It broke...", "Then it healed."]),
        ("Mail me@x.com. Thanks.", ["Mail me@x.com.", "Thanks."]),
        ("We shipped v1.2.3. Users cheered.", ["We shipped v1.2.3.", "Users cheered."]),
        ("This is known.[3] That is not.", ["This is known.[3]", "That is not."]),
        ("これは文です。次の文。", ["これは文です。", "次の文。"]),
        ("one\n\ntwo", ["one", "two"]),
        ("# Title\nText under it.", ["# Title", "Text under it."]),
        ("Short title\n\nText under it.", ["Short title", "Text under it."]),
        ("WORK EXPERIENCE\nAcme paid me.", ["WORK EXPERIENCE", "Acme paid me."]),
        ("- first item\n- second\n  goes on\n* third", ["first item", "second\n  goes on", "third"]),
        ("1. first\n2) second\n• third", ["first", "second", "third"]),
        ("Intro:\n- item", ["Intro:", "item"]),
        ("| a. B | c |\n|---|---|\n| 1 | 2 |", ["| a. B | c |", "| 1 | 2 |"]),
        ("```\nx = 1. + y\nz\n```", ["x = 1. + y", "z"]),
        ("> quoted. Here\n> too.", ["quoted.", "Here\n> too."]),
        ("Acme | Engineer | 2020\nBuilt it.", ["Acme | Engineer | 2020", "Built it."]),
        ("Title\n=====\nText.", ["Title", "Text."]),
        ("A version\n2. Next line goes on", ["A version\n2.", "Next line goes on"]),
        ("**1. What did you do?** I built it.", ["**1. What did you do?**", "I built it."]),
        ("1\\. Not a list. Here", ["1\\. Not a list.", "Here"]),
        ("See [it]({{ a | url }}) now. Then go.", ["See [it]({{ a | url }}) now.", "Then go."]),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str]) -> None:
    assert split(text) == expected


TEXTS = st.text() | st.text(alphabet=st.sampled_from("aB.!?…\"')] \n\n-*>#|`1。\t•=~"), max_size=300)


@given(TEXTS)
@settings(max_examples=300)
def test_spans_ascend_apart_trimmed_and_bounded(text: str) -> None:
    last = 0
    for start, end in sentences(text):
        assert last <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
        assert end - start <= MAX_CHARACTERS
        last = end


@given(TEXTS)
@settings(max_examples=300)
def test_only_markers_and_space_lie_outside(text: str) -> None:
    outside, last = [], 0
    for start, end in [*sentences(text), (len(text), len(text))]:
        outside.append(text[last:start])
        last = end
    left = MARKERS.sub("", "".join("".join(outside).split()))
    assert left == ""


def test_a_sentence_without_end_is_cut_at_a_space() -> None:
    text = "word " * 1_000
    found = split(text)
    assert all(len(sentence) <= MAX_CHARACTERS and sentence.startswith("word") for sentence in found)
    assert "".join(found).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize("unit", ["a", "a. ", ".", ".) ", "> ", "- x\n", "e.g. ", "| ", " ", "\n", '."'])
def test_long_odd_input_takes_linear_time(unit: str) -> None:
    assert_linear(lambda count: sentences(unit * (count // len(unit))), 200_000)


def test_a_row_under_the_names_of_its_columns_never_runs_into_the_next() -> None:
    rows = [
        "item: anchor; supplier: Hav Ltd.",
        "item: rope; supplier: Tau Co.",
        "item: buoy, large; supplier: Fyr Inc.",
    ]
    text = "\n".join(rows)
    assert [text[start:end] for start, end in sentences(text)] == rows


def test_a_line_of_prose_with_a_colon_or_a_semicolon_runs_on() -> None:
    text = "He took three things: a rope; an oar; and a\nlamp."
    assert [text[start:end] for start, end in sentences(text)] == [text]
