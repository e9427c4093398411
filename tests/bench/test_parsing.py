"""What loading and parsing keep and break is counted."""

from pathlib import Path

import pytest
from llama_index.core.schema import TextNode

from config.settings import Limits, ParsingSettings
from pipelines.errors import SourceError
from pipelines.types import Document
from tests.bench.parsing import bench_parsing, check_nodes

TEXT = "# Top\n\n" + "Some words of a note. " * 20


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(3):
        (tmp_path / f"note-{number}.md").write_text(TEXT)
    (tmp_path / "plain.txt").write_text("Words " * 99)
    (tmp_path / "empty.md").write_text(" ")
    (tmp_path / "blank.md").write_text("\n")
    (tmp_path / "broken.pdf").write_bytes(b"no PDF at all")
    return tmp_path


def test_the_report_counts_documents_nodes_and_failures_by_reason(folder: Path) -> None:
    report = bench_parsing([str(folder)])
    assert (report["files"], report["documents"], report["nodes"]) == (7, 4, 4)
    assert report["parsers"] == {"markdown": 3, "generic": 1}
    assert report["failures"]["it is empty: it holds no text."] == 2
    assert sorted(report["failed"]) == ["blank.md", "broken.pdf", "empty.md"]
    assert (report["coverage"], report["span_violations"], report["over_limit"]) == (1.0, 0, 0)
    assert report["documents_per_second"] > 0
    assert report["floor_ratio"] > 0
    assert report["peak_memory_mb"] > 10


def test_sizes_and_limits_are_the_callers(folder: Path) -> None:
    small = bench_parsing([str(folder)], sizes=ParsingSettings(generic_characters=100))
    assert small["nodes"] > 4
    assert "plain.txt" in bench_parsing([str(folder)], limits=Limits(max_text_bytes=500))["failed"]


def test_what_breaks_the_contract_is_counted() -> None:
    note = Document(
        id="n", text="one two three", source_uri="u", source="s", source_kind="file", name="n.txt", mime="text/plain",
        bytes=13, file_sha="f", content_sha="c",
    )  # fmt: skip

    def node(text: str, start: int, end: int) -> TextNode:
        return TextNode(text=text, metadata={"start": start, "end": end})

    def short(text: str) -> bool:
        return len(text) < 6

    long = check_nodes(note, [node("one", 0, 3), node("two three", 4, 13)], short)
    assert long == {"characters": 11, "covered": 11, "span_violations": 0, "over_limit": 1}
    inexact = check_nodes(note, [node("one", 0, 3), node("two", 3, 6), node("one", 0, 3)], short)
    assert inexact == {"characters": 11, "covered": 5, "span_violations": 2, "over_limit": 0}


def test_a_folder_that_is_not_there_is_an_error(folder: Path) -> None:
    with pytest.raises(SourceError):
        bench_parsing([str(folder / "nowhere")])
