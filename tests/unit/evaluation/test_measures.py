import sys
from math import log2

import pytest

from pipelines.errors import ConfigError
from pipelines.evaluation.measures import auroc, compare, compare_sets, means, parse_measure, per_topic

QRELS = {"q1": {"a": 1, "b": 1, "c": 0}, "q2": {"x": 1}}
RUN = {"q1": {"c": 3.0, "a": 2.0, "z": 1.0}, "q2": {}}


def score(name: str, topic: str = "q1") -> float:
    return per_topic(QRELS, RUN, [name])[topic][name]


def test_ndcg_discounts_by_the_log_of_the_rank() -> None:
    assert score("nDCG@10") == pytest.approx((1 / log2(3)) / (1 / log2(2) + 1 / log2(3)), abs=1e-4)


def test_recall_is_the_share_of_the_relevant_that_was_found() -> None:
    assert score("recall@2") == 1 / 2
    assert score("recall@1") == 0


def test_success_is_whether_any_was_found() -> None:
    assert (score("success@2"), score("success@1")) == (1, 0)


def test_rr_is_one_over_the_rank_of_the_first() -> None:
    assert score("RR@10") == 1 / 2


def test_a_topic_without_results_scores_nothing_and_stays_in_the_mean() -> None:
    scores = per_topic(QRELS, RUN, ["success@2"])
    assert scores["q2"] == {"success@2": 0.0}
    assert means(scores) == {"success@2": 1 / 2}


# Twelve judged documents of 100 that were ranked, best first: relevant ones stand at ranks 1, 4, 7, 15 and 60, a twice
# as relevant one at rank 2, and d200 was never found.
GRADES = {"d1": 1, "d2": 2, "d4": 1, "d7": 1, "d15": 1, "d60": 1, "d200": 1, "d3": 0}
HUNDRED = {f"d{rank}": 1 / rank for rank in range(1, 101)}
GAINS = [1 / log2(2), 2 / log2(3), 1 / log2(5), 1 / log2(8)]
IDEAL = [2 / log2(2), *(1 / log2(rank + 1) for rank in range(2, 8))]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nDCG@10", sum(GAINS) / sum(IDEAL)),
        ("nDCG@3", sum(GAINS[:2]) / sum(IDEAL[:3])),
        ("recall@5", 3 / 7),
        ("recall@10", 4 / 7),
        ("recall@20", 5 / 7),
        ("recall@100", 6 / 7),
        ("success@1", 1),
        ("RR@10", 1),
    ],
)
def test_a_hundred_ranks_are_measured_as_by_hand(name: str, value: float) -> None:
    found = per_topic({"q": GRADES}, {"q": HUNDRED}, [name])["q"][name]
    assert found == pytest.approx(value, abs=1e-4)


def test_a_relevant_document_past_the_cutoff_counts_nothing() -> None:
    ranking = {f"d{rank}": 1 / rank for rank in range(1, 12)}
    names = ["nDCG@10", "recall@10", "success@10", "RR@10"]
    assert set(per_topic({"q": {"d11": 1}}, {"q": ranking}, names)["q"].values()) == {0.0}
    assert per_topic({"q": {"d10": 1}}, {"q": ranking}, ["RR@10"])["q"]["RR@10"] == pytest.approx(1 / 10)


def test_a_topic_that_no_system_ran_scores_nothing_in_every_default_measure() -> None:
    assert set(per_topic({"q": {"d1": 1}}, {})["q"].values()) == {0.0}


@pytest.mark.parametrize("name", ["ndcg", "precision@5", "nDCG@x", ""])
def test_a_measure_that_does_not_exist_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="no measure"):
        parse_measure(name)


def test_auroc_is_the_share_of_pairs_in_order_with_ties_half() -> None:
    assert auroc([3, 2], [1, 2]) == (1 + 1 + 1 + 0.5) / 4
    assert auroc([], [1]) == 0


def test_equal_systems_do_not_differ() -> None:
    found = compare([0.1, 0.5, 0.9], [0.1, 0.5, 0.9])
    assert (found.difference, found.p, found.ties) == (0.0, 1.0, 3)


def test_a_system_that_is_better_everywhere_differs() -> None:
    found = compare([0.5] * 20, [0.6] * 20)
    assert found.p < 0.001
    assert found.low == pytest.approx(0.1)
    assert (found.wins, found.losses) == (20, 0)


def test_one_lucky_topic_is_no_difference() -> None:
    assert compare([0.5] * 20, [1.0] + [0.5] * 19).p == 1.0


def test_the_same_comparison_twice_is_the_same() -> None:
    left, right = [0.1, 0.4, 0.3, 0.9], [0.2, 0.3, 0.5, 0.8]
    assert compare(left, right) == compare(left, right)


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


def test_without_its_package_a_measure_is_refused_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(ConfigError, match="ir-measures is not installed") as refused:
        parse_measure("nDCG@10")
    assert "footnote[eval]" in refused.value.hint
