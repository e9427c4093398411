"""Headers, and the hashes that decide what is done with a document."""

from collections import namedtuple
from datetime import UTC, datetime

import pytest

from config.settings import ParsingSettings
from pipelines.ingestion.change_detection import content_sha, meta_sha, recipe, recipe_changes
from pipelines.ingestion.context_header import ContextHeader, header_of
from pipelines.ingestion.loaders import LOADERS, REMOTE, VERSIONS, loader_version
from pipelines.ingestion.loaders.sniff import CSV, HTML, IMAGES, MARKDOWN, PDF, PLAIN
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
    after = ContextHeader()(bare)
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


def sized(sizes: dict[str, float]) -> object:
    return namedtuple("Sizes", sizes)(**sizes)


@pytest.mark.parametrize("parser", PARSERS)
def test_a_recipe_names_versions_and_sizes(parser: str) -> None:
    sizes = {
        f"{name}_{field}": 2 * getattr(kind(), field) for name, kind in PARSERS.items() for field in kind.own_fields()
    }
    its_own = {name: size for name, size in sizes.items() if name.startswith(f"{parser}_")}
    usual = recipe(parser, 6, ParsingSettings())
    assert recipe(parser, 6, ParsingSettings()) == usual
    assert recipe(parser, 6, sized(its_own)) != usual
    assert recipe(parser, 6, sized({name: sizes[name] for name in sizes.keys() - its_own.keys()})) == usual


def test_a_parser_that_is_no_more_has_a_recipe_of_its_own() -> None:
    assert recipe("gone", 6, ParsingSettings()).startswith("gone@0")


def test_every_loader_has_a_version_and_rises_where_its_documents_change() -> None:
    assert VERSIONS.keys() == {*LOADERS, *REMOTE}
    loaded = [NOTE.with_(source_kind=kind, mime=mime) for kind in ("file", *REMOTE) for mime in LOADERS]
    assert {document.mime for document in loaded if loader_version(document) != 6} == {
        CSV, HTML, MARKDOWN, PDF, PLAIN, "application/epub+zip", "application/rendercv+yaml", "application/resume+json",
        "application/x-ipynb+json", "application/x-linkedin-archive+zip", *IMAGES,
    }  # fmt: skip


@pytest.mark.parametrize("of", ["web", "application/pdf"])
def test_the_version_of_a_web_page_rises_with_that_of_its_envelope_and_that_of_what_is_in_it(
    of: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, note = NOTE.with_(source_kind="web", mime="application/pdf"), loader_version(NOTE)
    before = loader_version(page)
    monkeypatch.setitem(VERSIONS, of, VERSIONS[of] + 1)
    assert (loader_version(page), loader_version(NOTE)) == (before + 1, note)


# What sets a stored recipe apart from today's

TODAY = "markdown@4(max_words=800 target_words=600) loaders@2 header@2 searchable@2"


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        (TODAY, ""),
        (TODAY.replace("markdown@4", "markdown@3"), "parser markdown 3 -> 4"),
        (TODAY.replace("markdown@4", "generic@3"), "parser generic -> markdown"),
        (TODAY.replace("800", "700"), "other sizes (max_words 700 -> 800)"),
        (TODAY.replace("target_words", "aim"), "other sizes (aim 600 -> none, target_words none -> 600)"),
        (TODAY.replace("loaders@2", "loaders@1"), "loaders 1 -> 2"),
        (TODAY.replace("header@2", "header@1"), "header rules 1 -> 2"),
        (TODAY.replace("searchable@2", "searchable@1"), "searchable text 1 -> 2"),
        (f"{TODAY} by llm:a/b c@1", "header model llm:a/b c@1 -> none"),
        ("", "parsed by other rules"),
        ("x" * 100_000, "parsed by other rules"),
    ],
)
def test_what_changed_since_a_document_was_made_is_named(stored: str, said: str) -> None:
    assert recipe_changes(stored, TODAY) == said


def test_several_changes_are_all_named_in_order() -> None:
    stored = TODAY.replace("markdown@4", "markdown@3").replace("header@2", "header@1")
    assert recipe_changes(stored, TODAY) == "parser markdown 3 -> 4, header rules 1 -> 2"


def test_headers_that_could_not_be_written_are_named_where_nothing_else_changed() -> None:
    today = f"{TODAY} by llm:writer@1"
    assert recipe_changes(f"{today} but for 3", today) == "3 of its headers could not be written"
    assert recipe_changes(f"{TODAY} by llm:old@1 but for 3", today) == "header model llm:old@1 -> llm:writer@1"
    assert recipe_changes(TODAY, today) == "header model none -> llm:writer@1"


def test_the_recipes_of_every_parser_can_be_read() -> None:
    for parser in PARSERS:
        other = recipe(parser, 6, ParsingSettings(), "some_model", "llm:writer@1")
        assert (
            recipe_changes(recipe(parser, 6, ParsingSettings(), "some_model"), other)
            == "header model none -> llm:writer@1"
        )


def test_another_embedding_model_of_a_parser_that_cuts_by_meaning_is_named() -> None:
    one, other = (recipe("semantic", 6, ParsingSettings(), model) for model in ("local_a_384", "openai_b_1536"))
    assert recipe_changes(one, other) == "embedding model of the parser local_a_384 -> openai_b_1536"


def test_a_parser_that_is_no_more_is_named() -> None:
    assert recipe_changes("poem@1() loaders@6 header@2 searchable@3", recipe("poem", 6, ParsingSettings())) == (
        "there is no parser poem any more"
    )
