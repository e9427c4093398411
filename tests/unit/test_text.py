"""Canonical text, folding, searchable text, token counts."""

import os
import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.text import canonical, count_tokens, fold, plain, searchable
from tests.linear import assert_linear

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
        ("[![Build](https://ci/badge.svg)](https://ci)", "Build"),
        ("see [the docs](https://a.b/c_(d) 'title') now", "see the docs now"),
        ("see [the docs][1]\n\n[1]: https://a.b", "see the docs"),
        ("<!-- hidden\nlines -->shown", "shown"),
        ("**bold**, _soft_, ~~gone~~ and *both*", "bold, soft, gone and both"),
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
