import math

import numpy as np
import pytest

from pipelines.query.searching.feedback import (
    expected,
    lexical_likeness,
    likeness,
    mixed,
    relevance_model,
    rm3,
    rocchio,
    softmax,
    unit,
)

E = math.e


def idf_one(term: str) -> float:
    return 1.0


def test_softmax_weighs_a_score_that_is_a_tenth_higher_e_times_as_much() -> None:
    assert softmax([0.9, 0.8]) == pytest.approx([E / (1 + E), 1 / (1 + E)])


def test_softmax_of_nothing_is_nothing() -> None:
    assert softmax([]) == []


def test_unit_leaves_zeros_alone() -> None:
    assert unit([0.0, 0.0]).tolist() == [0.0, 0.0]


def test_mixed_adds_directions_not_lengths() -> None:
    assert mixed([2.0, 0.0], [([0.0, 9.0], 1.0)]) == pytest.approx([1 / math.sqrt(2), 1 / math.sqrt(2)])


def test_mixed_with_nothing_is_the_question_at_length_one() -> None:
    assert mixed([3.0, 4.0], []) == pytest.approx([3 / 5, 4 / 5])


def test_rocchio_moves_the_question_towards_the_passages_by_alpha() -> None:
    length = math.hypot(1, 0.5)
    assert rocchio([1.0, 0.0], [[0.0, 1.0]], [0.7], alpha=0.5) == pytest.approx([1 / length, 0.5 / length])


def test_rocchio_moves_further_towards_the_better_passage() -> None:
    _, left, right = rocchio([1, 0, 0], [[0, 1, 0], [0, 0, 1]], [0.9, 0.8], alpha=1.0)
    assert left / right == pytest.approx(E)


def test_rocchio_without_passages_or_alpha_leaves_the_question() -> None:
    assert rocchio([0.0, 2.0], [], [], alpha=0.4) == pytest.approx([0, 1])
    assert rocchio([0.0, 2.0], [[1.0, 0.0]], [0.5], alpha=0.0) == pytest.approx([0, 1])


def test_a_relevance_model_is_the_mean_of_term_shares_weighted_by_score() -> None:
    first, second = E / (1 + E), 1 / (1 + E)
    model = relevance_model([["a", "a", "b"], ["b"]], [0.9, 0.8], idf_one, count=9)
    assert model == pytest.approx({"a": first * 2 / 3, "b": first * 1 / 3 + second})
    assert list(model) == ["a", "b"] if model["a"] > model["b"] else ["b", "a"]


def test_a_relevance_model_weighs_terms_by_rarity_and_sums_to_one() -> None:
    rarity = {"rare": 3.0, "common": 1.0}
    model = relevance_model([["rare", "common"]], [1.0], rarity.__getitem__, count=9)
    assert model == pytest.approx({"rare": 3 / 4, "common": 1 / 4})


def test_a_relevance_model_keeps_the_best_terms_only() -> None:
    assert list(relevance_model([["a", "a", "b", "c"]], [1.0], idf_one, count=2)) == ["a", "b"]


def test_a_relevance_model_of_empty_passages_is_empty() -> None:
    assert relevance_model([[]], [1.0], idf_one, count=5) == {}
    assert relevance_model([], [], idf_one, count=5) == {}


def test_rm3_leaves_the_question_at_one_and_adds_the_models_share() -> None:
    # Two question terms of weight 1; with mix 0.5 the model has as much mass as both.
    assert rm3(["a", "b"], {"b": 0.25, "c": 0.75}, mix=0.5) == pytest.approx({"a": 1, "b": 1 + 0.25 * 2, "c": 0.75 * 2})


def test_rm3_counts_repeated_question_terms_and_with_mix_zero_adds_nothing() -> None:
    assert rm3(["a", "a", "b"], {"c": 1.0}, mix=0.0) == {"a": 2.0, "b": 1.0}


@pytest.mark.parametrize("mix", [-0.1, 1.0, 1.5])
def test_rm3_refuses_a_mix_that_leaves_no_question(mix: float) -> None:
    with pytest.raises(ValueError, match="mix"):
        rm3(["a"], {}, mix=mix)


def test_likeness_is_the_cosine_and_opposites_are_not_alike() -> None:
    assert likeness([1, 0], [1, 1]) == pytest.approx(1 / math.sqrt(2))
    assert likeness([1, 0], [-1, 0]) == 0
    assert likeness(np.zeros(2), [1, 0]) == 0


def test_lexical_likeness_is_the_cosine_of_idf_vectors() -> None:
    rarity = {"a": 1.0, "b": 2.0, "c": 2.0}
    assert lexical_likeness(["a", "b", "b"], ["b", "c"], rarity.__getitem__) == pytest.approx(4 / (5**0.5 * 8**0.5))
    assert lexical_likeness([], ["a"], idf_one) == 0
    assert lexical_likeness(["a"], ["c"], idf_one) == 0


def test_expected_strength_is_the_mean_over_readings_weighted_by_trust() -> None:
    assert expected(0.4, [(0.5, 0.7)]) == pytest.approx((0.4 + 0.5 * 0.7) / 1.5)
    assert expected(0.4, [(0.5, 0.7), (1.0, 0.1)]) == pytest.approx((0.4 + 0.5 * 0.7 + 0.1) / 2.5)


def test_a_reading_that_is_not_trusted_changes_nothing() -> None:
    assert expected(0.4, [(0.0, 1.0)]) == 0.4
    assert expected(0.4, []) == 0.4
