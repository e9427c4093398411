"""Canonical text, sentences, folding and token counts."""

import os
import re
import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.structure import sentences
from pipelines.text import MAX_CHARACTERS, canonical, count_tokens, fold, plain, searchable, shown_name
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
def test_long_odd_input_is_split_in_linear_time(unit: str) -> None:
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


NASTY = st.text(alphabet=st.sampled_from("ae\u0301K\u212a\u200b\u200c\u200d\ufeff\x00\x0c\x85\r\n\t \ue000é中ﬁ\xad"))


@given(st.text() | NASTY)
def test_canonical_is_idempotent(raw: str) -> None:
    once = canonical(raw)
    assert canonical(once) == once


@given(st.text() | NASTY)
def test_canonical_is_nfc_without_controls(raw: str) -> None:
    text = canonical(raw)
    assert unicodedata.normalize("NFC", text) == text
    assert not any(unicodedata.category(char) in ("Cc", "Co", "Cs") and char not in "\t\n" for char in text)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("a\r\nb\rc\nd", "a\nb\nc\nd"),
        ("e\u0301", "é"),
        ("\ufeffzero\u200bwidth", "zerowidth"),
        ("one\x0ctwo", "one two"),
        ("null\x00byte\x07", "nullbyte"),
        ("\uf3c5 Berlin", " Berlin"),
        ("tab\tstays", "tab\tstays"),
    ],
)
def test_canonical_reads_like_the_text(raw: str, expected: str) -> None:
    assert canonical(raw) == expected


def test_canonical_keeps_the_joiners_that_scripts_are_spelt_with() -> None:
    persian, family = "می\u200cخواهم", "👩\u200d👧"
    assert canonical(persian) == persian
    assert canonical(family) == family
    assert canonical("a\u200db") == "ab"


def test_fold_makes_case_accents_quotes_and_space_equal() -> None:
    assert fold("Résumé  “Straße”\n – ﬁn") == fold('resume "STRASSE" - fin') == 'resume "strasse" - fin'


@given(st.text())
def test_fold_leaves_no_runs_of_space(text: str) -> None:
    assert "  " not in fold(text)
    assert fold(text) == fold(text).strip()


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("[![Build](https://ci/badge.svg)](https://ci) Fast", "Fast"),
        ("Click ![gear](gear.png) to open", "Click gear to open"),
        ("see [the docs](https://a.b/c_(d) 'title') now", "see the docs now"),
        ("see [the docs][1]\n\n[1]: https://a.b", "see the docs"),
        ("<!-- hidden\nlines -->shown", "shown"),
        ("**bold**, _soft_, ~~gone~~ ==seen== and *both*", "bold, soft, seen and both"),
        ("snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"),
        ("`List<String>` and `__init__`", "List<String> and __init__"),
        ("<p align='center'>a <b>word</b></p>", "a word"),
        ('<img src="x.png" alt="A lake">', "A lake"),
        ("## Title ##", "Title"),
        ("- [x] done\n- open", "done\nopen"),
        ("| a | b |\n|---|:-:|\n| 1 | 2 |", "a b\n\n1 2"),
        ("A &amp; B\\*", "A & B*"),
        ("```python\n**kwargs\n```", "**kwargs"),
        ("Vector<T> stays", "Vector<T> stays"),
        ("<https://a.b/c>", "https://a.b/c"),
        ("{% include nav.html %}text", "text"),
        ("claim[^1]", "claim"),
    ],
)
def test_plain_keeps_the_words_and_drops_the_marks(marked: str, expected: str) -> None:
    assert plain(marked) == expected


@given(st.text(alphabet=st.sampled_from("ab *_`[]()!<>-|#~\\&;{}%:\n\"'="), max_size=200))
def test_plain_never_fails_and_ends_trimmed(text: str) -> None:
    assert plain(text) == plain(text).strip()


def test_searchable_puts_the_header_first_and_cleans_only_markup() -> None:
    assert searchable("Title > Part", "**a**", "text/markdown") == "Title > Part\na"
    assert searchable("", "**a**") == "a"
    assert searchable("", "a * b <T>", "application/pdf") == "a * b <T>"


@pytest.mark.parametrize("part", ["a = b*c*d\ne = __f__", "a = b*c*d\ne = __f__\n```", "```py\na = b*c*d\ne = __f__"])
def test_searchable_keeps_the_signs_in_every_part_of_a_code_block(part: str) -> None:
    assert searchable("", part, "text/markdown", "code") == "a = b*c*d\ne = __f__"


def test_searchable_takes_the_frame_off_a_rendered_page_and_keeps_its_own_signs() -> None:
    rendered = "Use <b> and a*b*\n\n- one\n  - two\n\n| a \\| b | c |\n| --- | --- |\n|  | d |\n\n```\nx = `y`\n```"
    cleaned = "Use <b> and a*b*\n\none\ntwo\n\na | b c\n\nd\n\nx = `y`"
    assert searchable("", rendered, "text/html") == cleaned


def test_count_tokens_counts_cl100k_tokens() -> None:
    assert count_tokens("") == 0
    assert count_tokens("hello world") == 2
    assert count_tokens("<|endoftext|>") > 1


@pytest.mark.parametrize("unit", ["word and word, ", "don't 1234 ", "日本語のテキスト", "\n\n  x", "a"])
def test_count_tokens_is_the_same_in_windows(unit: str) -> None:
    text = unit * (50_000 // len(unit))
    parts = [text[at : at + 10_000] for at in range(0, len(text), 10_000)]
    whole, summed = count_tokens(text), sum(map(count_tokens, parts))
    assert abs(whole - summed) <= len(parts)


def test_count_tokens_needs_no_cache_folder_and_no_llama_index() -> None:
    code = (
        "import sys; from pipelines.text import count_tokens; assert count_tokens('hello world') == 2;"
        "assert 'llama_index.core' not in sys.modules and 'requests' not in sys.modules"
    )
    environment = {**os.environ, "TIKTOKEN_CACHE_DIR": "/nonexistent"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


@pytest.mark.parametrize("unit", ["a", "![", "[a](", "<a ", "*", "_a ", "`a ", "<!--", " ", "\\", "# ", "{%", "e.g. "])
def test_long_odd_input_takes_linear_time(unit: str) -> None:
    def read(count: int) -> None:
        text = unit * (count // len(unit))
        plain(text)
        canonical(text)
        count_tokens(text)

    assert_linear(read, 200_000)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("INES VARGA, P.Eng", "Ines Varga"),
        ("ANNE-MARIE LEE", "Anne-Marie Lee"),
        ("Ann Lee, PhD", "Ann Lee"),
        ("Ian McKay", "Ian McKay"),
        ("Lee, Ann", "Lee, Ann"),
    ],
)
def test_a_name_is_shown_without_titles_and_not_in_capitals(name: str, shown: str) -> None:
    assert shown_name(name) == shown
