"""Documents of repositories: what becomes of the README, and of what GitHub tells beside it."""

from datetime import UTC, datetime
from typing import Any

import pytest

from config.settings import Limits
from pipelines.errors import LoadError
from pipelines.facts import RepositoryFacts
from pipelines.ingestion.change_detection import content_sha, meta_sha
from pipelines.ingestion.classify import classify
from pipelines.ingestion.context_header import repository_line
from pipelines.ingestion.envelope import Envelope, pack
from pipelines.ingestion.loaders import load
from pipelines.ingestion.parsers import parse, parser_for
from pipelines.types import Document, SourceItem

FACTS = {
    "full_name": "ann/notes", "name": "notes", "description": "Checked footnotes.", "language": "Python",
    "topics": ["citations", "rag"], "homepage": "https://example.org", "licence": "MIT", "stars": 3, "private": False,
    "fork": False, "archived": False, "branch": "main", "created_at": "2020-01-01T00:00:00Z",
    "pushed_at": "2026-01-02T03:04:05Z", "updated_at": "2026-01-03T03:04:05Z",
}  # fmt: skip
README = SourceItem("https://github.com/ann/notes#readme", "ann/notes", "github:ann", "github")
GUIDE = SourceItem("https://github.com/ann/notes/blob/HEAD/docs/g.md", "ann/notes/docs/g.md", "github:ann", "github")
WORDS = b"# Welcome\n\nIt checks footnotes.\n\n## Usage\n\n" + b"Run it on a folder of notes, and wait. " * 5


def document(body: bytes = WORDS, path: str = "README.md", item: SourceItem = README, **changes: Any) -> Document:
    data = pack(Envelope({**FACTS, "path": path, **changes}, body))
    return classify(load(data, item)).with_(id="d", content_sha="c")


def test_a_readme_has_its_own_text_and_its_repository_s_name() -> None:
    readme = document()
    assert (readme.text, readme.title, readme.category) == (WORDS.decode(), "notes", "github")
    assert readme.modified_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert document(path="docs/g.md", item=GUIDE).title == "Welcome"


@pytest.mark.parametrize("parser", ["markdown", "generic", "window", "sections"])
def test_every_node_carries_the_facts_and_their_line_in_its_header(parser: str) -> None:
    nodes = parse(document(), parser)
    for node in nodes:
        facts = RepositoryFacts.model_validate(node.metadata["facts"])
        assert (facts.name, facts.stars, facts.topics) == ("notes", 3, ("citations", "rag"))
        assert node.metadata["header"].endswith("notes: Checked footnotes. Python; citations, rag")


@pytest.mark.parametrize(
    ("changes", "is_content"),
    [
        ({"stars": 4}, False),
        ({"pushed_at": "2026-02-02T00:00:00Z"}, False),
        ({"homepage": "https://example.com"}, False),
        ({"licence": "BSD"}, False),
        ({"description": "Else."}, True),
        ({"language": "Go"}, True),
        ({"topics": ["rag"]}, True),
        ({"name": "nodes"}, True),
    ],
)
def test_only_embedded_facts_change_the_content_hash(changes: dict[str, Any], is_content: bool) -> None:
    before, after = document(), document(**changes)
    assert (content_sha(before, "markdown") != content_sha(after, "markdown")) is is_content
    assert meta_sha(before) != meta_sha(after)


def test_a_repository_with_few_facts_has_a_short_line() -> None:
    facts = RepositoryFacts(name="notes").model_dump()
    assert repository_line(facts) == "notes"
    assert repository_line({**facts, "language": "Go"}) == "notes: Go"
    assert len(repository_line({**facts, "description": "x" * 900})) == 300
    assert repository_line(None) == ""


def test_a_readme_in_html_is_rendered_and_one_without_a_type_is_text() -> None:
    assert document(b"<html><body><h1>Hi</h1><p>There.</p></body></html>", "README.html").text.startswith("Hi")
    adoc = document(b"= Title\n\n== Usage\n\nWords.", "README.adoc")
    assert (adoc.mime, parser_for(adoc)) == ("text/plain", "markdown")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"\x00\x01" * 90, "ann/notes/README.md is binary"),
        (b"", "is empty"),
        (b"x" * 11, "has 11 bytes, over the limit"),
    ],
)
def test_binary_empty_and_too_large_files_are_refused(body: bytes, message: str) -> None:
    data = pack(Envelope({**FACTS, "path": "README.md"}, body))
    with pytest.raises(LoadError, match=message):
        load(data, README, limits=Limits(max_text_bytes=10 if len(body) == 11 else 1000))


def test_restructured_text_of_a_repository_is_split_at_its_headings() -> None:
    paths = [
        node.metadata["section_path"] for node in parse(document(b"Notes\n=====\n\nUsage\n-----\n\nRun.", "a.rst"))
    ]
    assert paths[-1] == ["Notes", "Usage"]
