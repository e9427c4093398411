"""What is said of a location that is no file."""

import os
from pathlib import Path

import pytest

from config.settings import Settings
from pipelines.errors import SourceError
from pipelines.ingestion.run import ingest
from pipelines.ingestion.sources import alike, each_once, spelled
from pipelines.ingestion.sources.files import list_files

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
    assert spelled(location, ("intranet:9000",)) == said


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
    assert (alike(first, ()) == alike(second, ())) is same


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("", "An empty location names no source."),
        (" ", "An empty location names no source."),
        ("github:", "github: names nothing on GitHub."),
        ("github:a/b/c", "github:a/b/c names nothing on GitHub."),
        ("notion:xyz", "notion:xyz names no page or database of Notion."),
        ("https://", "https:// has no host that can be read."),
        ("https://ann:secret@example.org/", "https://...@example.org/ holds a name or a password."),
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
        each_once(["notes", location], ())
    assert refused.value.message == said
    assert refused.value.hint


def test_a_notebook_is_told_so_too_before_anything_is_opened(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="github: names nothing on GitHub"):
        ingest(Settings(_env_file=None, home=tmp_path), ["notes", "github:"])
    assert [*tmp_path.iterdir()] == []


def test_a_path_is_none_the_worse_for_a_colon_or_for_not_being_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "minutes:may.md").write_text("Of May.")
    paths = ("minutes:may.md", "./minutes:june.md", "Minutes: July.md", "2024-05-01T10:30.md", "/nowhere", "~nobody/x")
    assert each_once(paths, ()) == paths


def test_a_source_that_is_named_twice_is_taken_once_as_it_is_written_first(tmp_path: Path) -> None:
    notes = str(tmp_path / "notes")
    named = ["github:Ann/", notes, "GITHUB:ann", f"{notes}/", "github:ann/notes", "https://A.org", "https://a.org/#top"]
    assert each_once(named, ()) == ("github:Ann/", notes, "github:ann/notes", "https://A.org")
