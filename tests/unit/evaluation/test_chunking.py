"""The baselines cut as the splitters do whose figures are published."""

from itertools import pairwise

import pytest

from pipelines.errors import SourceError
from pipelines.evaluation.chunking import BASELINES, fixed, locate, precision_omega, recursive, span_measures
from pipelines.text import count_tokens


def test_the_measures_of_a_small_example_are_those_counted_by_hand() -> None:
    # gold: 10 characters at 0 and 10 at 100; found: 20 characters that hold 5 of the first, 30 that hold the second
    found, gold = [(5, 25), (90, 120)], [(0, 10), (100, 110)]
    assert span_measures(found, gold) == {
        "recall": (5 + 10) / (10 + 10),
        "precision": (5 + 10) / (20 + 30),
        "IoU": (5 + 10) / (20 + 30 + 5),
    }


def test_what_two_overlapping_nodes_share_is_found_once_and_read_twice() -> None:
    assert span_measures([(0, 10), (5, 15)], [(5, 10)]) == {"recall": 5 / 5, "precision": 5 / 20, "IoU": 5 / 20}


def test_nodes_of_another_corpus_are_read_for_nothing() -> None:
    assert span_measures([(0, 10)], [(0, 10)], elsewhere=30) == {"recall": 1.0, "precision": 10 / 40, "IoU": 10 / 40}


def test_nothing_found_scores_nothing() -> None:
    assert span_measures([], [(0, 10)]) == {"recall": 0.0, "precision": 0.0, "IoU": 0.0}


def test_an_exact_cut_scores_one() -> None:
    assert set(span_measures([(3, 9)], [(3, 9)]).values()) == {1.0}


def test_precision_omega_is_that_of_every_span_that_holds_some_gold() -> None:
    # gold: 10 characters in two touching spans of 20 and one of 30; 4 of the second gold span are in no span
    spans, gold = [(0, 20), (20, 40), (50, 80), (90, 120)], [(15, 25), (76, 84)]
    assert precision_omega(spans, gold) == (10 + 4) / (20 + 20 + 30 + 4)


def test_precision_omega_counts_what_spans_share_once() -> None:
    assert precision_omega([(0, 20), (10, 30)], [(10, 20)]) == 10 / 30


def test_precision_omega_of_gold_in_no_span_is_nothing() -> None:
    assert precision_omega([(0, 5)], [(10, 20)]) == 0.0


def test_a_span_stands_where_it_says_or_where_its_words_are_nearest() -> None:
    text = "one two one two"
    assert locate(text, (8, 11, "one")) == (8, 11)
    assert locate(text, (10, 13, "one")) == (8, 11)
    assert locate(text, (1, 4, "one")) == (0, 3)
    with pytest.raises(SourceError, match="three"):
        locate(text, (0, 5, "three"))


STORY = "\n\n".join(" ".join(f"Boat {row} number {place} sails." for place in range(6)) for row in range(12))


def texts(text: str, spans: list[tuple[int, int]]) -> list[str]:
    return [text[start:end] for start, end in spans]


def test_what_is_short_is_one_span_without_its_outer_space() -> None:
    assert recursive("\n One two. \n", tokens=50, overlap=10) == [(2, 10)]
    assert recursive(" \n", tokens=50, overlap=10) == []


def test_paragraphs_that_fit_are_put_together_up_to_the_limit() -> None:
    paragraph = count_tokens("\n\n" + STORY.split("\n\n")[1])
    found = texts(STORY, recursive(STORY, tokens=3 * paragraph, overlap=0))
    assert [part.count("\n\n") + 1 for part in found] == [3, 3, 3, 3]


def test_an_overlap_repeats_whole_paragraphs_that_fit_in_it() -> None:
    paragraph = count_tokens("\n\n" + STORY.split("\n\n")[1])
    found = texts(STORY, recursive(STORY, tokens=3 * paragraph, overlap=paragraph + 1))
    for before, after in pairwise(found):
        assert before.split("\n\n")[-1] == after.split("\n\n")[0]


def test_a_paragraph_over_the_limit_is_cut_at_stops_which_begin_the_next_span() -> None:
    found = texts(
        "One two three. Four five six! Seven", recursive("One two three. Four five six! Seven", tokens=5, overlap=0)
    )
    assert found == ["One two three", ". Four five six", "! Seven"]


def test_what_has_no_separator_is_cut_between_letters() -> None:
    text = "x" * 400
    found = recursive(text, tokens=5, overlap=0)
    assert found[0][0] == 0
    assert found[-1][1] == len(text)
    assert all(before[1] == after[0] for before, after in pairwise(found))


def test_fixed_windows_have_the_tokens_and_the_overlap() -> None:
    found = fixed(STORY, tokens=40, overlap=20)
    assert all(30 <= count_tokens(part) <= 40 for part in texts(STORY, found[:-1]))
    assert all(10 <= count_tokens(STORY[after[0] : before[1]]) <= 20 for before, after in pairwise(found))


def test_the_published_baselines_are_there() -> None:
    assert list(BASELINES) == ["recursive 250/125", "recursive 200/0", "token 250/125"]
    assert all(cut(STORY)[0][0] == 0 for cut in BASELINES.values())
