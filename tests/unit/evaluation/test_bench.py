"""The benchmarks count what loading and parsing keep and break, and time ingestion."""

from pathlib import Path

import pytest
from llama_index.core.schema import TextNode

from config.settings import ParsingSettings, Settings
from pipelines.errors import SourceError
from pipelines.evaluation.bench import bench_ask, bench_ingest, bench_parsing, check_nodes
from pipelines.ingestion.loaders import Limits
from pipelines.ingestion.run import ingest
from pipelines.query.engine import build_query_engine
from pipelines.store.query_log import latest_queries
from pipelines.types import Document

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


def test_ingestion_is_timed_in_a_home_of_its_own(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text(TEXT)
    report = bench_ingest(settings, [str(tmp_path)], lambda *_: None)
    assert (report["documents"], report["failed"], report["nodes"]) == (1, 0, 1)
    assert report["unchanged"]["embedded"] == 0
    assert report["documents_per_second"] > 0
    assert build_query_engine(settings).store.count() == 0


def test_searches_and_asks_are_timed_warm_and_leave_no_log(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "crane.md").write_text("# Crane\n\nMarit built the harbour crane in 2014.\n")
    ingest(settings, [str(tmp_path)])
    engine = build_query_engine(settings)
    report = bench_ask(engine, ["Who built the harbour crane?"], lambda *_: None)
    assert report["questions"] == 1
    assert report["milliseconds"].keys() == {"search", "ask"}
    assert 0 < report["milliseconds"]["ask"]["p50"] <= report["milliseconds"]["ask"]["p95"]
    assert report["ratio"] > 0
    assert latest_queries(engine.database.engine, 9) == []


def test_without_a_question_nothing_is_timed(settings: Settings) -> None:
    with pytest.raises(SourceError, match="no question"):
        bench_ask(build_query_engine(settings), [], lambda *_: None)
