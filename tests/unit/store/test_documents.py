"""Documents as they are shown: where the lines of a repository's file are, and how much of one is stored."""

from typing import Any

import pytest

from pipelines.ingestion.sources.github.repositories import file_uri, readme_uri
from pipelines.store.documents import describe_partial, lines_uri, partial_notice

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
def test_an_unconverted_file_of_a_repository_links_to_its_lines_at_the_host(
    uri: str, mime: str, path: str, shown_at: str
) -> None:
    assert lines_uri("github", uri, mime, path) == shown_at


@pytest.mark.parametrize("path", [None, "README.md"])
def test_documents_of_other_sources_have_no_lines_link(path: str | None) -> None:
    assert lines_uri("web", "https://example.org/notes#readme", "text/markdown", path) == ""


def counts(rendered: int, fetched: int, *refused: str) -> dict[str, Any]:
    return {"rendered": rendered, "fetched": fetched, "refused": [{"id": each} for each in refused]}


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (counts(8, 12), "8 of its 12 blocks"),
        (counts(0, 1), "0 of its 1 block"),
        (counts(3, 3, "a", "b"), "3 of its 3 blocks, nothing of what lies below 2 of them"),
        ({"rendered": 8, "fetched": 12}, "8 of its 12 blocks"),
    ],
)
def test_how_much_is_stored_is_counted_in_blocks(told: dict[str, Any], said: str) -> None:
    assert describe_partial(told) == said


def test_the_notice_of_a_partial_document_names_it_and_its_consequence() -> None:
    assert partial_notice("Roadmap", counts(8, 12)) == (
        "Only part of 'Roadmap' was given by its source (8 of its 12 blocks): "
        "what it does not say may stand in the rest."
    )


def test_a_title_of_several_lines_stays_on_one() -> None:
    assert partial_notice("Road\n\n map ", counts(8, 12)).startswith("Only part of 'Road map' was given")
