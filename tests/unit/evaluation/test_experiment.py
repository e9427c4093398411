import pytest

from config.parts import PARTS
from config.settings import RetrievalSettings, Settings
from pipelines.errors import ConfigError
from pipelines.evaluation.experiment import SYSTEMS, choose_systems, parse_overrides
from pipelines.query.ablation import change_settings

NOW = Settings(_env_file=None)
NEWER = sorted(PARTS.keys() - {"dense", "sparse"})
PLAIN = ("dense", "sparse", "hybrid-rrf", "hybrid-convex", "hybrid-40-60", "hybrid-50-50")


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_system_is_made_of_settings_that_exist(name: str) -> None:
    settings = change_settings(NOW, SYSTEMS[name])
    for setting, value in SYSTEMS[name].items():
        stage, field = setting.split(".")
        assert getattr(getattr(settings, stage), field) == value


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("part", NEWER)
def test_a_plain_system_is_without_every_newer_part(name: str, part: str) -> None:
    plain = change_settings(NOW, SYSTEMS[name])
    assert change_settings(plain, PARTS[part]) == plain


@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_system_stays_as_it_is_when_the_defaults_of_retrieval_move(name: str) -> None:
    moved = RetrievalSettings(
        mode="sparse", ann_factor=3, leg_factor=2, fusion="rrf", scale="z", complete=False, dense_weight=0.1,
        whitening=0.3, bm25_b=0.1, header_weight=4, pair_weight=0.9,
        typo_weight=0.1,
    )  # fmt: skip
    elsewhere = change_settings(NOW.model_copy(update={"retrieval": moved}), SYSTEMS[name])
    assert elsewhere.retrieval == change_settings(NOW, SYSTEMS[name]).retrieval


def test_the_named_weights_are_what_the_names_say() -> None:
    weights = {name: change_settings(NOW, SYSTEMS[name]).retrieval for name in SYSTEMS}
    assert (weights["hybrid-40-60"].fusion, weights["hybrid-40-60"].dense_weight) == ("convex", 0.6)
    assert (weights["hybrid-50-50"].fusion, weights["hybrid-50-50"].dense_weight) == ("convex", 0.5)
    assert (weights["hybrid-rrf"].fusion, weights["hybrid-rrf"].dense_weight) == ("rrf", 0.5)
    assert (weights["classic"].mode, weights["classic"].scale) == ("dense", "none")


def test_overrides_change_each_named_system() -> None:
    found = choose_systems(["hybrid-convex", "dense"], {"retrieval.dense_weight": "0.2"})
    assert [changes["retrieval.dense_weight"] for changes in found.values()] == ["0.2", "0.2"]


def test_overrides_alone_make_a_custom_system_beside_the_default() -> None:
    assert choose_systems([], {"retrieval.top_n": "7"}) == {"default": {}, "custom": {"retrieval.top_n": "7"}}


def test_the_baseline_comes_first_and_stays_as_it_is_unless_it_is_named() -> None:
    set_to = {"retrieval.dense_weight": "0.2"}
    beside = choose_systems(["dense"], set_to, "hybrid-convex")
    assert list(beside) == ["hybrid-convex", "dense"]
    assert beside["hybrid-convex"] == SYSTEMS["hybrid-convex"]
    assert (
        choose_systems(["hybrid-convex"], set_to, "hybrid-convex")["hybrid-convex"]["retrieval.dense_weight"] == "0.2"
    )
    assert list(choose_systems([], set_to, "default")) == ["default", "custom"]


def test_no_names_are_all_systems() -> None:
    assert list(choose_systems([], {})) == list(SYSTEMS)


def test_an_unknown_system_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="psychic") as raised:
        choose_systems(["psychic"], {})
    assert "hybrid-convex" in raised.value.hint


def test_overrides_are_read_as_name_and_value() -> None:
    assert parse_overrides(["a.b=1", "c.d= x=y ", "a.b=2"]) == {"a.b": "2", "c.d": "x=y"}


@pytest.mark.parametrize("said", ["retrieval.dense_weight", "=0.5", ""])
def test_an_override_without_a_name_or_a_value_is_refused(said: str) -> None:
    with pytest.raises(ConfigError, match="does not assign a value to a setting"):
        parse_overrides([said])
