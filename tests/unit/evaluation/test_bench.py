"""Ingestion, searches and asks are timed."""

from pathlib import Path

import pytest

from config.settings import Settings
from pipelines.errors import SourceError
from pipelines.evaluation.bench import bench_ask, bench_ingest
from pipelines.ingestion.run import ingest
from pipelines.query.engine import build_query_engine
from pipelines.store.query_log import latest_queries

TEXT = "# Top\n\n" + "Some words of a note. " * 20


def test_ingestion_is_timed_in_a_home_of_its_own(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text(TEXT)
    report = bench_ingest(settings, [str(tmp_path)], lambda *_: None)
    assert (report["documents"], report["failed"], report["nodes"]) == (1, 0, 1)
    assert report["unchanged"]["embedded"] == 0
    for name in ("plan", "unchanged"):
        assert report[name]["seconds"] > report[name]["floor"] >= 0
        assert report[name]["ratio"] > 1
    assert report["documents_per_second"] > 0
    assert build_query_engine(settings).store.count() == 0


def test_searches_and_asks_are_timed_warm_and_leave_no_log(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "crane.md").write_text("# Crane\n\nMarit built the harbour crane in 2014.\n")
    ingest(settings, [str(tmp_path)])
    engine = build_query_engine(settings)
    questions = [f"{who} built the {what}?" for who in ("Who", "Marit", "When was") for what in ("crane", "harbour")]
    report = bench_ask(engine, questions, lambda *_: None)
    assert (report["questions"], report["nodes"]) == (6, 1)
    assert report["milliseconds"].keys() == {"embed", "floor", "search", "ask"}
    assert 0 < report["milliseconds"]["ask"]["p50"] <= report["milliseconds"]["ask"]["p95"]
    assert report["ratios"].keys() == {"search by floor", "ask by floor", "ask by search"}
    assert 0 < report["statements"]["search"] <= 4
    assert latest_queries(engine.database.engine, 9) == []


def test_without_a_question_nothing_is_timed(settings: Settings) -> None:
    with pytest.raises(SourceError, match="no question"):
        bench_ask(build_query_engine(settings), [], lambda *_: None)
