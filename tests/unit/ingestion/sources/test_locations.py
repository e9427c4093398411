"""How locations are read, on the command line, in the settings and in the file of sources."""

import os
import re
from pathlib import Path

import pytest

from config.settings import IngestionSettings, Settings, WebSettings
from config.sources import DeclaredSource
from pipelines.errors import ConfigError, SourceError
from pipelines.ingestion.run import ingest
from pipelines.ingestion.sources.files import list_files
from pipelines.ingestion.sources.locations import (
    configured_locations,
    declared_sources,
    location_key,
    normalized_location,
    unique_locations,
)

NAME = "Name a file, a folder, github:OWNER, notion:ID or an address that begins with https://."


@pytest.mark.parametrize(
    ("location", "hint"),
    [
        ("gihtub:ann/notes", "Did you mean github:ann/notes?"),
        ("Notoin:0123", "Did you mean notion:0123?"),
        ("htps://example.org/a", "Did you mean https://example.org/a?"),
        ("www.example.org/a", "Did you mean https://www.example.org/a?"),
        ("ftp://example.org/a", NAME),
        ("/nowhere/c:x", "Check the path."),
        ("gitlab:ann", NAME),
        ("file:///home/ann/my%20notes", "Did you mean /home/ann/my notes?"),
        ("", NAME),
        ("  ", NAME),
    ],
)
def test_a_location_that_is_no_file_is_told_what_it_may_mean(location: str, hint: str) -> None:
    ((_, error),) = list_files(location).problems
    assert error.hint == hint


def test_a_relative_path_that_leads_nowhere_is_told_where_it_was_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ((_, error),) = list_files("notes").problems
    assert error.hint == f"Check the path; it was looked for in {tmp_path}."


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("HTTPS://Example.org", "https://example.org/"),
        ("notion:01234567-89ab-cdef-0123-456789abcdef", "notion:0123456789abcdef0123456789abcdef"),
        ("notion:nothing", "notion:nothing"),
        ("http://localhost:99999", "http://localhost:99999"),
        ("http://intranet:9000", "http://intranet:9000/"),
        ("GitHub:ann/notes.git", "github:ann/notes"),
        ("github:ann/", "github:ann"),
        (" github:ann ", "github:ann"),
        ("github:../users", "github:../users"),
        ("Notes", "Notes"),
        ("notion", "notion"),
    ],
)
def test_a_location_is_spelled_as_its_listing_spells_it(location: str, said: str) -> None:
    assert normalized_location(location, ("intranet:9000",)) == said


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("~/portfolio", os.path.expanduser("~/portfolio/"), True),
        ("github:Ann/", "github:ann", True),
        ("github:ann", "github:ann/notes", False),
        ("https://EXAMPLE.org/a", "https://example.org/a", True),
        ("https://example.org/A", "https://example.org/a", False),
    ],
)
def test_what_a_location_is_does_not_hang_on_how_it_is_written(first: str, second: str, same: bool) -> None:
    assert (location_key(first, ()) == location_key(second, ())) is same


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("", "An empty location names no source."),
        (" ", "An empty location names no source."),
        ("github:", "github: is not a GitHub owner or repository."),
        ("github:a/b/c", "github:a/b/c is not a GitHub owner or repository."),
        ("notion:xyz", "notion:xyz is not a Notion page or database."),
        ("https://", "https:// has no valid host."),
        ("https://ann:secret@example.org/", "https://...@example.org/ contains a user name or a password."),
        ("https://localhost/", "localhost leads to 127.0.0.1, which is not an address of the public internet."),
        (
            "http://printer.localhost",
            "printer.localhost leads to 127.0.0.1, which is not an address of the public internet.",
        ),
        ("http://0x7f.1/", "127.0.0.1 is not an address of the public internet."),
        ("http://[fd00::7]/a", "fd00::7 is not an address of the public internet."),
        ("ftp://a.b", "ftp://a.b names no source: ftp: is no kind of source, and no file is called so."),
        ("gitlab:ann", "gitlab:ann names no source: gitlab: is no kind of source, and no file is called so."),
        (
            "git+ssh://a.b/c",
            "git+ssh://a.b/c names no source: git+ssh: is no kind of source, and no file is called so.",
        ),
    ],
)
def test_what_can_never_be_a_source_is_refused_before_anything_is_done(location: str, said: str) -> None:
    with pytest.raises(SourceError) as refused:
        unique_locations(["notes", location], ())
    assert refused.value.message == said
    assert refused.value.hint


def test_a_private_host_of_the_settings_is_a_source() -> None:
    assert unique_locations(["https://localhost/", "http://10.0.0.7/"], ("localhost", "10.0.0.7")) == (
        "https://localhost/",
        "http://10.0.0.7/",
    )


def test_a_notebook_is_told_so_too_before_anything_is_opened(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="github: is not a GitHub owner or repository"):
        ingest(Settings(_env_file=None, home=tmp_path), ["notes", "github:"])
    assert [*tmp_path.iterdir()] == []


def test_a_path_is_none_the_worse_for_a_colon_or_for_not_being_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "minutes:may.md").write_text("Of May.")
    paths = ("minutes:may.md", "./minutes:june.md", "Minutes: July.md", "2024-05-01T10:30.md", "/nowhere", "~nobody/x")
    assert unique_locations(paths, ()) == paths


def test_a_source_that_is_named_twice_is_taken_once_as_it_is_written_first(tmp_path: Path) -> None:
    notes = str(tmp_path / "notes")
    named = ["github:Ann/", notes, "GITHUB:ann", f"{notes}/", "github:ann/notes", "https://A.org", "https://a.org/#top"]
    assert unique_locations(named, ()) == ("github:Ann/", notes, "github:ann/notes", "https://A.org")


ID = "0123456789abcdef0123456789abcdef"
EXAMPLE = Path(__file__).parents[4] / "config" / "sources.example.toml"


def settings_with(tmp_path: Path, text: str, **other: object) -> Settings:
    path = tmp_path / "sources.toml"
    path.write_text(text)
    return of_file(path, **other)


def of_file(path: Path, **other: object) -> Settings:
    ingestion = IngestionSettings.model_validate({"sources_file": str(path), **other})
    return Settings(_env_file=None, ingestion=ingestion, web=WebSettings(private_hosts=("intranet:9000",)))


def test_a_declared_source_is_listed_as_the_file_says(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, '[[source]]\nlocation = "github:ann"\nforks = true\nevery = 5')
    assert declared_sources(settings) == {"github:ann": DeclaredSource(location="github:ann", forks=True, every=5)}


def test_declared_sources_take_the_place_of_the_sample_and_follow_a_list(tmp_path: Path) -> None:
    file = f'[[source]]\nlocation = "notion:{ID}"\n[[source]]\nlocation = "b"'
    assert configured_locations(settings_with(tmp_path, file)) == (f"notion:{ID}", "b")
    assert configured_locations(settings_with(tmp_path, file, sources=["a", "b/"])) == ("a", "b/", f"notion:{ID}")
    assert configured_locations(Settings(_env_file=None)) == ()


def test_the_example_is_a_file_that_can_be_used() -> None:
    assert len(declared_sources(of_file(EXAMPLE))) == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[source]]\ndocs = true", "source 1, line 1: location is missing: a path, "),
        ("[[source]]\nlocation = ' '", "source 1, line 1 ( ): location is ' ', but has to be a path, "),
        ("[[source]]\nlocation = 'a'\nfork = true", "(a): there is no key 'fork', only location, every, collection."),
        ("[[source]]\nlocation = 'github:a'\nfork = true", "(github:a): there is no key 'fork'; did you mean 'forks'?"),
        (
            "[[source]]\nlocation = 'a'\nxyz = 1",
            "source 1, line 1 (a): there is no key 'xyz', only location, every, collection.",
        ),
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
        (
            "[[source]]\nlocation = 'github:'",
            "source 1, line 1: github: is not a GitHub owner or repository. Write github:OWNER or ",
        ),
        (
            "[[source]]\nlocation = 'github:a/b/c'",
            "source 1, line 1: github:a/b/c is not a GitHub owner or repository.",
        ),
        ("[[source]]\nlocation = 'notion:abc'", "source 1, line 1: notion:abc is not a Notion page or database."),
        ("[[source]]\nlocation = 'https://a.b:9/'", "source 1, line 1: https://a.b:9/ has port 9; "),
        ("[[source]]\nlocation = 'ftp://a.b/c'", "source 1, line 1: ftp://a.b/c names no source: ftp: is no kind of "),
        ('[[source]]\nlocation = "a\\u0000"', "source 1, line 1: The path 'a\\x00' holds a zero byte, "),
        (
            "# ours\n[[source]]\nlocation = 'github:ann'\n[[source]]\nlocation = 'github:Ann/'\ndocs = true",
            "source 2, line 4 (github:Ann/) is the same as source 1, line 2 (github:ann). Keep one of them.",
        ),
        ("source = [{location = 'a'}, {location = './a/'}]", "source 2 (./a/) is the same as source 1 (a)."),
        ("[[source", "not TOML"),
        ("[[source]]\nlocation = github:ann", "(at line 2, column 12); strings need quotation marks"),
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
        declared_sources(settings_with(tmp_path, text))


def test_a_path_that_merely_leads_nowhere_now_may_be_declared(tmp_path: Path) -> None:
    settings = settings_with(
        tmp_path, "[[source]]\nlocation = '/nowhere/at/all'\n[[source]]\nlocation = 'Notes: autumn.md'"
    )
    assert [*declared_sources(settings)] == ["/nowhere/at/all", "Notes: autumn.md"]


def test_a_port_that_the_settings_name_is_one(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, "[[source]]\nlocation = 'http://intranet:9000/a'")
    assert [*declared_sources(settings)] == ["http://intranet:9000/a"]


def test_a_list_in_the_settings_that_names_what_is_no_source_is_wrong_configuration(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"FOOTNOTE_INGESTION__SOURCES: github:a/b/c is not a GitHub owner or repository\."
    ):
        configured_locations(settings_with(tmp_path, "", sources=["a", "github:a/b/c"]))


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    assert list(declared_sources(settings_with(tmp_path, "\ufeff[[source]]\nlocation = 'a'"))) == ["a"]


def test_a_file_that_declares_nothing_does_not_bring_the_sample_in(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="declares no source"):
        configured_locations(settings_with(tmp_path, "# nothing yet"))
    assert configured_locations(settings_with(tmp_path, "", sources=["a"])) == ("a",)


def test_a_file_that_is_missing_is_named() -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.toml cannot be read"):
        declared_sources(of_file(Path("nowhere.toml")))


def test_a_markdown_file_of_front_matter_alone_is_skipped_in_a_folder(tmp_path) -> None:
    (tmp_path / "_index.md").write_text('+++\ntitle = "Notes"\n+++\n\n<!-- none -->\n')
    (tmp_path / "lens.md").write_text("---\ntitle: Lens\n---\nThe lens weighs 3.1 tonnes.\n")
    listing = list_files(str(tmp_path))
    assert [item.name for item in listing.items] == ["lens.md"]
    assert [(remark.name, remark.reason) for remark in listing.skipped] == [
        ("_index.md", "it holds front matter alone")
    ]
