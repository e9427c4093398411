"""Sources that the settings name."""

import re
from pathlib import Path

import pytest

from config.settings import IngestionSettings, Settings, WebSettings
from config.sources import DeclaredSource
from pipelines.errors import ConfigError
from pipelines.ingestion.sources.declared import declared_sources, own_locations

ID = "0123456789abcdef0123456789abcdef"
EXAMPLE = Path(__file__).parents[3] / "config" / "sources.example.toml"


def settings(tmp_path: Path, text: str, **other: object) -> Settings:
    path = tmp_path / "sources.toml"
    path.write_text(text)
    return of_file(path, **other)


def of_file(path: Path, **other: object) -> Settings:
    ingestion = IngestionSettings.model_validate({"sources_file": str(path), **other})
    return Settings(_env_file=None, ingestion=ingestion, web=WebSettings(private_hosts=("intranet:9000",)))


def test_a_declared_source_is_listed_as_the_file_says(tmp_path: Path) -> None:
    held = settings(tmp_path, '[[source]]\nlocation = "github:ann"\nforks = true\nevery = 5')
    assert declared_sources(held) == {"github:ann": DeclaredSource(location="github:ann", forks=True, every=5)}


def test_declared_sources_take_the_place_of_the_sample_and_follow_a_list(tmp_path: Path) -> None:
    file = f'[[source]]\nlocation = "notion:{ID}"\n[[source]]\nlocation = "b"'
    assert own_locations(settings(tmp_path, file)) == (f"notion:{ID}", "b")
    assert own_locations(settings(tmp_path, file, sources=["a", "b/"])) == ("a", "b/", f"notion:{ID}")
    assert own_locations(Settings(_env_file=None)) == IngestionSettings().sources


def test_the_example_is_a_file_that_can_be_used() -> None:
    assert len(declared_sources(of_file(EXAMPLE))) == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[source]]\ndocs = true", "source 1, line 1: location is missing: a path, "),
        ("[[source]]\nlocation = ' '", "source 1, line 1 ( ): location is ' ', but has to be a path, "),
        ("[[source]]\nlocation = 'a'\nfork = true", "(a): there is no key 'fork', only location, every."),
        ("[[source]]\nlocation = 'github:a'\nfork = true", "(github:a): there is no key 'fork'; did you mean 'forks'?"),
        ("[[source]]\nlocation = 'a'\nxyz = 1", "source 1, line 1 (a): there is no key 'xyz', only location, every."),
        (
            "[[source]]\nlocation = 'https://a.b'\nfollow = 'crawl'",
            '(https://a.b): follow is \'crawl\', but has to be "auto", "page", ',
        ),
        (
            "[[source]]\nlocation = 'a'\nevery = 'often'",
            "every is 'often', but has to be a number of minutes, more than 0",
        ),
        ("[[source]]\nlocation = 'a'\nevery = inf", "every is inf, but has to be a number of minutes"),
        ("[[source]]\nlocation = 'a'\nevery = 0", "every is 0, but has to be a number of minutes, more than 0"),
        (
            f"[[source]]\nlocation = 'a'\n\n[[source]]\nlocation = 'notion:{ID}'\ndepth = -1",
            f"source 2, line 4 (notion:{ID}): depth is -1, but ",
        ),
        ("[[source]]\nlocation = 'github:a'\nforks = 'yes'", "forks is 'yes', but has to be true or false"),
        ("[[source]]\nlocation = 'github:a'\ndocs = 1", "docs is 1, but has to be true or false"),
        (f"[[source]]\nlocation = 'notion:{ID}'\ndepth = true", "depth is True, but has to be a whole number"),
        (f"[[source]]\nlocation = 'notion:{ID}'\ndepth = '3'", "depth is '3', but has to be a whole number"),
        ("[[source]]\nlocation = 'github:a'\ndepth = 3", "source 1, line 1 (github:a): depth is for notion: sources."),
        ("[[source]]\nlocation = 'github:a'\nfollow = 'page'", "follow is for http: and https: sources."),
        ("[[source]]\nlocation = 'https://a.b'\nforks = true", "forks is for github: sources."),
        ("[[source]]\nlocation = ' notes '\ndocs = true", "docs is for github: sources."),
        ("[[source]]\nlocation = 'github:'", "source 1, line 1: github: names nothing on GitHub. Say github:OWNER or "),
        ("[[source]]\nlocation = 'github:a/b/c'", "source 1, line 1: github:a/b/c names nothing on GitHub."),
        ("[[source]]\nlocation = 'notion:abc'", "source 1, line 1: notion:abc names no page or database of Notion."),
        ("[[source]]\nlocation = 'https://a.b:9/'", "source 1, line 1: https://a.b:9/ asks for port 9; "),
        ("[[source]]\nlocation = 'ftp://a.b/c'", "source 1, line 1: ftp://a.b/c names no source: ftp: is no kind of "),
        ('[[source]]\nlocation = "a\\u0000"', "source 1, line 1: The path 'a\\x00' holds a zero byte, "),
        (
            "# ours\n[[source]]\nlocation = 'github:ann'\n[[source]]\nlocation = 'github:Ann/'\ndocs = true",
            "source 2, line 4 (github:Ann/) is the same as source 1, line 2 (github:ann). Keep one of them.",
        ),
        ("source = [{location = 'a'}, {location = './a/'}]", "source 2 (./a/) is the same as source 1 (a)."),
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


def test_a_path_that_merely_leads_nowhere_now_may_be_declared(tmp_path: Path) -> None:
    held = settings(tmp_path, "[[source]]\nlocation = '/nowhere/at/all'\n[[source]]\nlocation = 'Notes: autumn.md'")
    assert [*declared_sources(held)] == ["/nowhere/at/all", "Notes: autumn.md"]


def test_a_port_that_the_settings_name_is_one(tmp_path: Path) -> None:
    held = settings(tmp_path, "[[source]]\nlocation = 'http://intranet:9000/a'")
    assert [*declared_sources(held)] == ["http://intranet:9000/a"]


def test_a_list_in_the_settings_that_names_what_is_no_source_is_wrong_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"FOOTNOTE_INGESTION__SOURCES: github:a/b/c names nothing on GitHub\."):
        own_locations(settings(tmp_path, "", sources=["a", "github:a/b/c"]))


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    assert list(declared_sources(settings(tmp_path, "\ufeff[[source]]\nlocation = 'a'"))) == ["a"]


def test_a_file_that_declares_nothing_does_not_bring_the_sample_in(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="declares no source"):
        own_locations(settings(tmp_path, "# nothing yet"))
    assert own_locations(settings(tmp_path, "", sources=["a"])) == ("a",)


def test_a_file_that_is_missing_is_named() -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.toml cannot be read"):
        declared_sources(of_file(Path("nowhere.toml")))
