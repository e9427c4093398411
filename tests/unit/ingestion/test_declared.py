"""Sources that the settings name."""

import re
from pathlib import Path

import pytest

from config.settings import IngestionSettings
from config.sources import DeclaredSource
from pipelines.errors import ConfigError
from pipelines.ingestion.sources.declared import declared_sources, own_locations

EXAMPLE = Path(__file__).parents[3] / "config" / "sources.example.toml"


def settings(tmp_path: Path, text: str, **other: object) -> IngestionSettings:
    path = tmp_path / "sources.toml"
    path.write_text(text)
    return IngestionSettings.model_validate({"sources_file": str(path), **other})


def test_a_declared_source_is_listed_as_the_file_says(tmp_path: Path) -> None:
    held = settings(tmp_path, '[[source]]\nlocation = "github:ann"\nforks = true\nevery = 5')
    assert declared_sources(held) == {"github:ann": DeclaredSource(location="github:ann", forks=True, every=5)}


def test_declared_sources_take_the_place_of_the_sample_and_follow_a_list(tmp_path: Path) -> None:
    file = '[[source]]\nlocation = "notion:1"\n[[source]]\nlocation = "b"'
    assert own_locations(settings(tmp_path, file)) == ("notion:1", "b")
    assert own_locations(settings(tmp_path, file, sources=["a", "b"])) == ("a", "b", "notion:1")
    assert own_locations(IngestionSettings()) == IngestionSettings().sources


def test_the_example_is_a_file_that_can_be_used() -> None:
    assert len(declared_sources(IngestionSettings(sources_file=str(EXAMPLE)))) == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[source]]\ndocs = true", "source 1: location is missing: a path, "),
        ("[[source]]\nlocation = ' '", "source 1 ( ): location is ' ', but has to be a path, "),
        ("[[source]]\nlocation = 'a'\nfork = true", "source 1 (a): there is no key 'fork'; did you mean 'forks'?"),
        ("[[source]]\nlocation = 'a'\nxyz = 1", "source 1 (a): there is no key 'xyz', only location, every, "),
        ("[[source]]\nlocation = 'a'\nfollow = 'crawl'", '(a): follow is \'crawl\', but has to be "auto", "page", '),
        (
            "[[source]]\nlocation = 'a'\nevery = 'often'",
            "every is 'often', but has to be a number of minutes, 0 or more",
        ),
        ("[[source]]\nlocation = 'a'\nevery = inf", "every is inf, but has to be a number of minutes"),
        ("[[source]]\nlocation = 'a'\n[[source]]\nlocation = 'b'\ndepth = -1", "source 2 (b): depth is -1, but "),
        ("[[source]]\nlocation = 'a'\n[[source]]\nlocation = 'a'", "a is declared twice"),
        ("[[source", "no TOML"),
        ("[[source]]\nlocation = github:ann", "(at line 2, column 12); a text stands in quotation marks"),
        (
            "[[sources]]\nlocation = 'a'",
            "there is no key 'sources'; did you mean 'source'? Each source is a [[source]].",
        ),
        ("location = 'a'", "there is no key 'location', only source. Each source is a [[source]]"),
        ("[source]\nlocation = 'a'", "each source begins with [[source]], in two brackets"),
    ],
)
def test_what_is_wrong_in_the_file_is_said_with_its_place_and_what_is_allowed(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)):
        declared_sources(settings(tmp_path, text))


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    assert list(declared_sources(settings(tmp_path, "\ufeff[[source]]\nlocation = 'a'"))) == ["a"]


def test_a_file_that_declares_nothing_does_not_bring_the_sample_in(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="declares no source"):
        own_locations(settings(tmp_path, "# nothing yet"))
    assert own_locations(settings(tmp_path, "", sources=["a"])) == ("a",)


def test_a_file_that_is_missing_is_named() -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.toml cannot be read"):
        declared_sources(IngestionSettings(sources_file="nowhere.toml"))
