"""Sources that the settings name."""

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
    assert own_locations(settings(tmp_path, "")) == IngestionSettings().sources


def test_the_example_is_a_file_that_can_be_used() -> None:
    assert len(declared_sources(IngestionSettings(sources_file=str(EXAMPLE)))) == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[source]]\nplace = 'a'", r"source\.0\.location"),
        ("[[source]]\nlocation = 'a'\nfork = true", r"source\.0\.fork"),
        ("[[source]]\nlocation = 'a'\nfollow = 'crawl'", r"source\.0\.follow"),
        ("[[source", "no TOML"),
        ("[[sources]]\nlocation = 'a'", "sources: Extra"),
    ],
)
def test_what_is_wrong_in_the_file_is_said_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        declared_sources(settings(tmp_path, text))


def test_a_file_that_is_missing_is_named() -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.toml cannot be read"):
        declared_sources(IngestionSettings(sources_file="nowhere.toml"))
