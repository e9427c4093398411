"""The ingestion bench, on a handful of documents: what it reports is what happened."""

from pathlib import Path

import pytest

from config.settings import EmbeddingSettings, Settings
from pipelines.evaluation.ingest_bench import bench_ingest

SAMPLE = Path(__file__).parents[2] / "data" / "sample"


def test_every_step_is_measured_and_nothing_is_left_behind(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_INGESTION__EXECUTOR", "here")  # a command starts no workers of its own
    asked = settings.model_copy(update={"embedding": EmbeddingSettings(provider="hashed")})
    told: list[tuple[str, int, int]] = []
    report = bench_ingest(asked, [str(SAMPLE)], documents=20, on_progress=lambda *step: told.append(step))
    assert (report["documents"], report["failed"]) == (20, 0)
    assert report["embedded"] == report["texts"] > 0
    assert (report["unchanged"]["unchanged"], report["unchanged"]["embedded"]) == (20, 0)
    assert report["gone"]["removed"] == report["removed"]["removed"] == 2
    assert (report["changed"]["updated"], report["changed"]["unchanged"]) == (1, 15)
    assert report["changed"]["embedded"] >= 1
    assert report["changed"]["seconds_until_a_running_process_finds_it"]
    assert report["changed"]["seconds_until_a_new_process_finds_it"]
    assert report["first"]["memory_mb"] > 0
    assert report["first"]["postgres_mb"] > 0
    assert told[-1] == ("running footnote", 5, 5)
