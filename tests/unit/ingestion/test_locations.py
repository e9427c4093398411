"""What is said of a location that is no file."""

import os
from pathlib import Path

import pytest

from pipelines.ingestion.sources import alike, spelled
from pipelines.ingestion.sources.files import list_files


@pytest.mark.parametrize(
    ("location", "hint"),
    [
        ("gihtub:ann/notes", "Did you mean github:ann/notes?"),
        ("Notoin:0123", "Did you mean notion:0123?"),
        ("htps://example.org/a", "Did you mean https://example.org/a?"),
        ("www.example.org/a", "Did you mean https://www.example.org/a?"),
        (
            "ftp://example.org/a",
            "Name a file, a folder, github:OWNER, notion:ID or an address that begins with https://.",
        ),
        ("/nowhere/c:x", "Check the path."),
        ("", "Check the path."),
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
        ("github:../users", "github:../users"),
        ("Notes", "Notes"),
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
