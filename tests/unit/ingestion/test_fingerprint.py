"""Headers, and the hashes that decide what is done with a document."""

from datetime import UTC, datetime

import pytest

from config.settings import ParsingSettings
from pipelines.ingestion.contextualise import Contextualise, header_of
from pipelines.ingestion.fingerprint import content_sha, meta_sha, recipe
from pipelines.ingestion.parsers import PARSERS, parse
from pipelines.types import Block, Document

NOTE = Document(
    id="d", text="Text.", source_uri="u", source="s", source_kind="file", name="a.md", mime="text/markdown",
    bytes=5, file_sha="f", title="Note",
)  # fmt: skip


@pytest.mark.parametrize(
    ("title", "path", "year", "header"),
    [
        ("Notes", ("Kitchen", "Stove"), 2024, "Notes (2024) > Kitchen > Stove"),
        ("Notes 2024", ("Kitchen",), 2024, "Notes 2024 > Kitchen"),
        ("Notes", ("NOTES", "Stove"), None, "Notes > Stove"),
        ("", ("Stove",), None, "Stove"),
        ("", (), 2024, ""),
    ],
)
def test_a_header_is_one_line_from_title_to_section(title: str, path: tuple, year: int | None, header: str) -> None:
    assert header_of(title, path, year=year) == header


def test_a_long_header_keeps_its_ends() -> None:
    header = header_of("Notes", ["m" * 190] * 3 + ["x" * 200, "Stove"])
    assert header.startswith("Notes > m")
    assert header.endswith("> Stove")
    assert len(header) <= 300


def test_contextualise_leaves_its_input_alone() -> None:
    before = parse(NOTE)
    bare = [node.model_copy(update={"metadata": {**node.metadata, "header": ""}}) for node in before]
    after = Contextualise()(bare)
    assert [node.metadata["header"] for node in bare] == [""]
    assert [node.metadata["header"] for node in after] == ["Note"]
    assert [node.node_id for node in after] == [node.node_id for node in bare]


@pytest.mark.parametrize(
    "change",
    [
        {"text": "Other."},
        {"title": "Other"},
        {"category": "blog"},
        {"year": 2020},
        {"blocks": (Block(0, 4, "heading", 1),)},
        {"pages": (0, 2)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_is_embedded_changes_the_content(change: dict) -> None:
    assert content_sha(NOTE.with_(**change), "markdown") != content_sha(NOTE, "markdown")


@pytest.mark.parametrize(
    "change",
    [
        {"author": "Ann"},
        {"visibility": "private"},
        {"published_at": datetime(2024, 1, 1, tzinfo=UTC)},
        {"modified_at": datetime(2024, 1, 1, tzinfo=UTC)},
        {"subcategory": "x"},
        {"collection": "x"},
        {"metadata": {"stars": 3}},
        {"first_line": 7},
    ],
    ids=lambda change: next(iter(change)),
)
def test_other_facts_change_the_metadata_only(change: dict) -> None:
    changed = NOTE.with_(**change)
    assert meta_sha(changed) != meta_sha(NOTE)
    assert content_sha(changed, "markdown") == content_sha(NOTE, "markdown")


def test_identity_and_time_change_neither() -> None:
    changed = NOTE.with_(id="other", source_uri="v", ingested_at=datetime(2024, 1, 1, tzinfo=UTC), stamp="9")
    assert content_sha(changed, "markdown") == content_sha(NOTE, "markdown")
    assert meta_sha(changed) == meta_sha(NOTE)


def test_the_parser_is_part_of_the_content() -> None:
    assert content_sha(NOTE, "markdown") != content_sha(NOTE, "generic")


@pytest.mark.parametrize("parser", PARSERS)
def test_a_recipe_names_versions_and_sizes(parser: str) -> None:
    usual = ParsingSettings()
    other = ParsingSettings(**{name: 2 * size for name, size in usual if name.startswith(f"{parser}_")})
    assert recipe(parser, usual) == recipe(parser, usual)
    assert recipe(parser, usual) != recipe(parser, other)
    assert recipe(parser, usual) == recipe(
        parser, ParsingSettings(**{name: 2 * size for name, size in usual if not name.startswith(f"{parser}_")})
    )


def test_a_parser_that_is_no_more_has_a_recipe_of_its_own() -> None:
    assert recipe("gone", ParsingSettings()).startswith("gone@0")
