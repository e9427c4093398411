"""Where the lines of a repository's file are shown."""

import pytest

from pipelines.ingestion.sources.github.places import file_uri, readme_uri
from pipelines.store.file_lines import lines_uri

SITE = "https://git.example.org"
README = readme_uri(SITE, "ann/notes")
GUIDE = file_uri(SITE, "ann/notes", "docs/a guide.md")


@pytest.mark.parametrize(
    ("uri", "mime", "path", "shown_at"),
    [
        (README, "text/markdown", "README.md", f"{SITE}/ann/notes/blob/HEAD/README.md"),
        (README, "text/markdown", ".github/READ ME?.md", f"{SITE}/ann/notes/blob/HEAD/.github/READ%20ME%3F.md"),
        (README, "text/plain", "README.rst", f"{SITE}/ann/notes/blob/HEAD/README.rst"),
        (GUIDE, "text/markdown", "docs/a guide.md", GUIDE),
        (README, "text/html", "README.html", ""),
        (README, "text/markdown", "", ""),
    ],
)
def test_a_file_of_a_repository_that_stands_as_it_is_has_its_lines_at_its_host(
    uri: str, mime: str, path: str, shown_at: str
) -> None:
    assert lines_uri("github", uri, mime, path) == shown_at


@pytest.mark.parametrize("path", [None, "README.md"])
def test_documents_of_other_sources_have_no_such_place(path: str | None) -> None:
    assert lines_uri("web", "https://example.org/notes#readme", "text/markdown", path) == ""
