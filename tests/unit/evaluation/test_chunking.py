import pytest

from pipelines.errors import SourceError
from pipelines.evaluation.chunking import locate, precision_omega, span_measures


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
