import random
from collections.abc import Mapping
from typing import Any

import pytest

from config.settings import Settings
from pipelines.errors import ConfigError
from pipelines.query.ablation import change_settings
from tests.bench.fit_settings import fit

NOW = Settings(_env_file=None, retrieval={"dense_weight": 0.6, "pair_weight": 0.0})
VALUES = {"retrieval.dense_weight": (0.2, 0.4, 0.6, 0.8), "retrieval.pair_weight": (0.0, 0.1, 0.2)}
TOPICS = [f"t{number}" for number in range(40)]


def peaked(at: float, topics: list[str] = TOPICS):
    """Scores that are best at a dense weight, a little better with pairs, and vary by topic."""

    def scores(changes: Mapping[str, Any]) -> dict[str, float]:
        now = change_settings(NOW, changes).retrieval
        quality = 0.6 - abs(now.dense_weight - at) / 2 + now.pair_weight / 10
        return {topic: quality + random.Random(topic).uniform(-0.1, 0.1) for topic in topics}

    return scores


def noisy(changes: Mapping[str, Any]) -> dict[str, float]:
    """Scores that no setting makes better or worse on the whole."""
    now = change_settings(NOW, changes).retrieval
    return {
        topic: random.Random(f"{topic} {now.dense_weight} {now.pair_weight}").random() for topic in TOPICS
    }  # fmt: skip


def test_the_best_values_are_found_and_their_gain_holds_on_topics_that_were_held_out() -> None:
    found = fit({"harbour": peaked(0.4)}, VALUES, NOW)
    assert found.chosen == {"retrieval.dense_weight": 0.4, "retrieval.pair_weight": 0.2}
    assert found.current == {"retrieval.dense_weight": 0.6, "retrieval.pair_weight": 0.0}
    assert found.held_out.difference == pytest.approx((0.6 - 0.4) / 2 + 0.2 / 10)
    assert found.seen - found.now == pytest.approx(found.held_out.difference)
    assert found.helps


def test_noise_changes_nothing() -> None:
    found = fit({"harbour": noisy}, VALUES, NOW)
    assert found.seen > found.now  # on the topics that it was chosen on, noise always seems to help
    assert not found.helps


def test_a_setting_without_effect_stays_as_it_is() -> None:
    assert fit({"harbour": lambda _: dict.fromkeys(TOPICS, 0.5)}, VALUES, NOW).chosen == {}


def test_each_set_is_judged_under_what_the_other_sets_chose() -> None:
    sets = {"near": peaked(0.4), "far": peaked(0.8), "alike": peaked(0.4)}
    found = fit(sets, {"retrieval.dense_weight": VALUES["retrieval.dense_weight"]}, NOW)
    assert found.by_set["far"].difference == pytest.approx((abs(0.6 - 0.8) - abs(0.4 - 0.8)) / 2)


def test_sets_weigh_alike_however_many_topics_they_have() -> None:
    large, small = peaked(0.4, TOPICS), peaked(0.8, TOPICS[:10])
    ends = {"retrieval.dense_weight": (0.4, 0.8)}
    alone = fit({"large": large}, ends, NOW).chosen
    both = fit({"large": large, "small": small}, ends, NOW).chosen
    assert alone == {"retrieval.dense_weight": 0.4}
    assert both == {}  # what one set gains at 0.4 the other loses


def test_the_same_settings_are_scored_once() -> None:
    asked: list[tuple[tuple[str, Any], ...]] = []

    def scores(changes: Mapping[str, Any]) -> dict[str, float]:
        asked.append(tuple(sorted(changes.items())))
        return peaked(0.4)(changes)

    fit({"harbour": scores}, VALUES, NOW)
    assert len(asked) == len(set(asked))


def test_the_same_fit_twice_is_the_same() -> None:
    assert fit({"harbour": noisy}, VALUES, NOW) == fit({"harbour": noisy}, VALUES, NOW)


def test_a_setting_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ConfigError, match="psychic"):
        fit({"harbour": peaked(0.4)}, {"retrieval.psychic": (1, 2)}, NOW)
