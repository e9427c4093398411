"""Citation markers in the text of an answer."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.query.citation_markers import (
    escape_markers,
    split_markers,
    strip_unfinished_marker,
)
from pipelines.query.layout import CitedText, cited_sentences, joined
from tests.linear import assert_linear


def cited(text: str, valid: Sequence[int]) -> list[tuple[str, tuple[int, ...]]]:
    return [(part.text, part.citations) for part in cited_sentences(text, valid)]


@pytest.mark.parametrize(
    ("text", "clean", "numbers"),
    [
        ("She left [1].", "She left.", [1]),
        ("She left [1, 2] early.", "She left early.", [1, 2]),
        ("She left.[1][3]", "She left.", [1, 3]),
        ("She left【2】.", "She left.", [2]),
        ("She left【2†source】.", "She left.", [2]),
        ("a[0] = b[i]", "a = b[i]", [0]),
        ("Nothing [here] to [see", "Nothing [here] to [see", []),
        ("She left [1-3].", "She left.", [1, 2, 3]),
        ("She left [source 2] [^3].", "She left.", [2, 3]),
        ("She left [[1]][2[3]].", "She left.", [1, 3]),
        ("She left [1, 2", "She left [1, 2", []),
        ("She left in [2019 [1].", "She left in 2019.", [1]),
        ("She left [00001].", "She left.", [1]),
        ("She left ［2］.", "She left.", [2]),
        ("From [1990-2020] on.", "From on.", [1990, 2020]),
        ("She left (source 2). She came (sources 1, 3).", "She left. She came.", [2, 1, 3]),
        ("She left.¹ She came back.²,¹²", "She left. She came back.", [1, 2, 12]),
        ("She left⁽³⁾.", "She left.", [3]),
        ("She left.<sup>1</sup> She came.<sup>[2]</sup>", "She left. She came.", [1, 2]),
        ("She left.^2^", "She left.", [2]),
        ("It has 5 m² and 3 m<sup>2</sup> (1) or 2^10^.", "It has 5 m² and 3 m<sup>2</sup> (1) or 2^10^.", []),
    ],
)
def test_markers_of_every_form_are_taken_out(text: str, clean: str, numbers: list[int]) -> None:
    found, markers = split_markers(text)
    assert (found, [marker.n for marker in markers]) == (clean, numbers)


def test_raised_numbers_and_named_sources_of_a_text_stay_when_its_markers_are_escaped() -> None:
    assert escape_markers("A.² (source 1) [3]") == "A.² (source 1) (3)"


def test_a_marker_outside_the_context_does_not_survive() -> None:
    assert cited("One thing. [99] Two things [1][0].", [1, 2]) == [("One thing.", ()), ("Two things.", (1,))]


def test_a_marker_after_the_full_stop_belongs_to_the_sentence_before() -> None:
    assert cited("She left. [1] She came back [2].", [1, 2]) == [
        ("She left.", (1,)),
        ("She came back.", (2,)),
    ]


@given(
    st.lists(st.sampled_from(["[1]", "[", "]", " ", "a.", "[2, 3]", "【1】", "［", "］", "1", "[[", "]]"])).map("".join)
)
def test_whatever_a_model_writes_no_marker_is_left_in_a_sentence(text: str) -> None:
    for sentence, numbers in cited(text, [1, 2]):
        assert not re.search(r"[\[［【]\s*\d+\s*[\]］】]", sentence)
        assert set(numbers) <= {1, 2}


def test_a_marker_before_the_first_sentence_belongs_to_it() -> None:
    assert cited("[1] She left.", [1]) == [("She left.", (1,))]


def test_what_reads_as_a_marker_in_a_quotation_is_set_in_round_brackets() -> None:
    assert escape_markers("Shown before [12], as in a[i] and 【3】.") == "Shown before (12), as in a[i] and (3)."


@pytest.mark.parametrize("tail", [" [1", "[", " [1, ", "【2", " [source 1"])
def test_a_stream_that_was_cut_in_a_marker_ends_before_it(tail: str) -> None:
    assert strip_unfinished_marker(f"She left{tail}") == "She left"


def test_a_text_that_only_has_brackets_keeps_them_when_it_is_cut() -> None:
    assert strip_unfinished_marker("She said [sic] so [he") == "She said [sic] so [he"


@pytest.mark.parametrize(
    ("piece", "end"),
    [("[", ""), (" ", "[1]"), ("[1,", ""), ("[1]", ""), ("【1", ""), (".¹", ""), ("(", ""), (", ", ".¹")],
)
def test_hostile_brackets_are_read_in_linear_time(piece: str, end: str) -> None:
    assert_linear(lambda length: split_markers(piece * (length // len(piece)) + end), 20_000)


def test_markers_follow_their_sentence_in_the_joined_answer() -> None:
    assert joined([CitedText("A.", (1, 2)), CitedText("B.", ())]) == "A. [1] [2] B."


def test_what_reads_as_a_marker_in_a_sentence_is_none_in_the_joined_answer() -> None:
    assert joined([CitedText("Shown before [12].", (1,))]) == "Shown before (12). [1]"
