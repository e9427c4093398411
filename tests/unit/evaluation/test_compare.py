import pytest

from pipelines.evaluation.compare import compare, compare_sets


def test_sets_of_different_size_weigh_alike() -> None:
    large, small = ([0.5] * 90, [0.6] * 90), ([0.5] * 10, [0.4] * 10)
    assert compare_sets([large, small]).difference == pytest.approx((0.1 - 0.1) / 2)
    assert compare_sets([large, large]).difference == pytest.approx(0.1)


def test_one_set_alone_is_the_plain_comparison() -> None:
    left, right = [0.1, 0.4, 0.3, 0.9], [0.2, 0.3, 0.5, 0.8]
    assert compare_sets([(left, right)]) == compare(left, right)


def test_a_set_without_topics_does_not_count() -> None:
    assert compare_sets([([], []), ([0.5] * 20, [0.6] * 20)]).difference == pytest.approx(0.1)
    assert compare_sets([([], [])]).p == 1.0


def test_the_p_of_four_equal_gains_is_the_share_of_sign_patterns_as_extreme() -> None:
    assert compare([0.0] * 4, [1.0] * 4).p == pytest.approx(2 / 2**4, abs=0.01)


def test_only_a_loss_beyond_chance_is_a_fall() -> None:
    assert compare([0.6] * 20, [0.5] * 20).fell
    assert not compare([0.5] * 20, [0.6] * 20).fell
    assert not compare([0.5] * 20, [0.4] + [0.5] * 19).fell
