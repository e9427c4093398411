"""What `status` says of every document, and what `--retry-failed` tries again."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from config.settings import EmbeddingSettings, ParsingSettings, Settings
from pipelines.ingestion.run import Ingestion, build_ingestion
from pipelines.store.database import open_database
from pipelines.store.status import coverage
from pipelines.types import IngestReport


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Six good files and one that is empty."""
    for name in ("a", "b", "c", "d", "e", "f"):
        (tmp_path / f"{name}.txt").write_text(f"A text about the letter {name}.\n")
    (tmp_path / "empty.txt").write_text("")
    return tmp_path


@pytest.fixture
def ingestion(settings: Settings) -> Ingestion:
    return build_ingestion(settings)


def run(ingestion: Ingestion, *places: Path, **given: bool) -> IngestReport:
    return ingestion.run(ingestion.plan([str(place) for place in places], **given))


def outcomes(report: IngestReport) -> dict[str, str]:
    return {item.document: item.outcome for item in report.items}


def rows(settings: Settings) -> dict[str, dict[str, Any]]:
    return {row["document"]: row for row in coverage(open_database(settings))["documents"]}


def failing(settings: Settings) -> dict[str, str]:
    return {name: row["state"] for name, row in rows(settings).items() if row["state"] in ("failed", "stale")}


def test_totals_count_what_is_indexed_of_all_that_is_known(
    folder: Path, settings: Settings, ingestion: Ingestion
) -> None:
    run(ingestion, folder)
    totals = coverage(open_database(settings))["totals"]
    assert (totals["indexed"], totals["documents"], totals["failed"], totals["coverage"]) == (6, 7, 1, 1.0)
    row = rows(settings)["empty.txt"]
    assert (row["state"], row["stage"], row["error"], row["last_success"]) == ("failed", "load", "LoadError", None)
    assert "empty" in row["reason"]
    assert row["hint"]


def test_a_failure_whose_file_is_gone_stands_until_its_source_is_listed(
    folder: Path, settings: Settings, ingestion: Ingestion
) -> None:
    run(ingestion, folder)
    (folder / "empty.txt").unlink()
    run(ingestion, folder / "a.txt")
    assert failing(settings) == {"empty.txt": "failed"}
    run(ingestion, folder)
    assert failing(settings) == {}
    assert len(rows(settings)) == 6


def test_a_document_that_is_again_as_it_is_stored_is_no_failure_any_more(
    folder: Path, settings: Settings, ingestion: Ingestion
) -> None:
    run(ingestion, folder)
    good, times = (folder / "a.txt").read_bytes(), (folder / "a.txt").stat()
    (folder / "a.txt").write_bytes(b"")
    run(ingestion, folder)
    assert failing(settings) == {"a.txt": "stale", "empty.txt": "failed"}
    (folder / "a.txt").write_bytes(good)
    os.utime(folder / "a.txt", ns=(times.st_atime_ns, times.st_mtime_ns))
    assert outcomes(run(ingestion, folder))["a.txt"] == "unchanged"
    assert failing(settings) == {"empty.txt": "failed"}


def test_a_file_that_cannot_be_read_is_a_standing_failure(
    folder: Path, settings: Settings, ingestion: Ingestion, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(path: bytes, *given: Any, **named: Any) -> Any:
        if path.endswith(b"/b.txt"):
            raise PermissionError(13, "Permission denied", path)
        return open(path, *given, **named)

    monkeypatch.setattr("pipelines.ingestion.sources.files.open", closed, raising=False)
    run(ingestion, folder)
    assert failing(settings) == {"b.txt": "failed", "empty.txt": "failed"}
    assert rows(settings)["b.txt"]["stage"] == "read"


def test_failures_of_every_collection_are_shown(folder: Path, settings: Settings, ingestion: Ingestion) -> None:
    from pipelines.ingestion.plan import Overrides

    other = Overrides(collection="other")
    ingestion.run(ingestion.plan([str(folder)], overrides=other))
    assert failing(settings) == {"empty.txt": "failed"}
    assert rows(settings)["empty.txt"]["collection"] == "other"


# What was parsed by older rules


def test_documents_that_older_rules_made_are_told_apart(folder: Path, settings: Settings, ingestion: Ingestion) -> None:
    from app.cli.status import outdated_in

    run(ingestion, folder)
    changed = settings.model_copy(update={"parsing": ParsingSettings(generic_characters=500)})
    database = open_database(changed)
    report = coverage(database, outdated=outdated_in(changed, database))
    row = next(row for row in report["documents"] if row["document"] == "a.txt")
    assert (row["current"], row["state"], row["parser"]) == (False, "indexed", "generic")
    assert row["reason"] == "other sizes (characters 1000 -> 500)"
    assert report["totals"]["outdated"] == 6
    assert coverage(database, outdated=outdated_in(settings, database))["totals"]["outdated"] == 0


# --retry-failed


def test_only_what_failed_is_tried_again(folder: Path, settings: Settings, ingestion: Ingestion) -> None:
    run(ingestion, folder)
    (folder / "a.txt").unlink()
    (folder / "new.txt").write_text("A new text.\n")
    (folder / "b.txt").write_text("An edited text.\n")
    (folder / "empty.txt").write_text("No longer empty.\n")
    assert outcomes(run(ingestion, only_failed=True)) == {"empty.txt": "added"}
    assert failing(settings) == {}
    assert "a.txt" in rows(settings)
    assert run(ingestion, only_failed=True).items == ()


def test_of_named_sources_only_their_failures_are_tried_again(
    folder: Path, settings: Settings, ingestion: Ingestion, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / "hollow.txt").write_text("")
    run(ingestion, folder, other)
    assert outcomes(run(ingestion, other, only_failed=True)) == {"hollow.txt": "failed"}
    assert outcomes(run(ingestion, only_failed=True)) == {"hollow.txt": "failed", "empty.txt": "failed"}


def test_a_failure_whose_file_is_gone_is_not_tried_again_but_forgotten(
    folder: Path, settings: Settings, ingestion: Ingestion
) -> None:
    run(ingestion, folder / "empty.txt", folder / "a.txt")
    (folder / "empty.txt").unlink()
    assert run(ingestion, only_failed=True).items == ()
    assert failing(settings) == {}


# Unchanged is decided before parsing


def test_an_unchanged_run_loads_nothing_and_reads_nothing(
    folder: Path, settings: Settings, ingestion: Ingestion, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "empty.txt").unlink()
    run(ingestion, folder)

    def refuse(*given: Any, **named: Any) -> Any:
        raise AssertionError(f"called with {given}")

    monkeypatch.setattr("pipelines.ingestion.prepare.load", refuse)
    assert set(outcomes(run(ingestion, folder, verify=True)).values()) == {"unchanged"}
    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(Path, "read_bytes", refuse)
    monkeypatch.setattr("pipelines.ingestion.sources.files.open", refuse, raising=False)


def test_the_guard_of_the_last_test_holds(folder: Path, ingestion: Ingestion, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: Any, **named: Any) -> Any:
        raise AssertionError("loaded")

    monkeypatch.setattr("pipelines.ingestion.prepare.load", refuse)
    assert set(outcomes(run(ingestion, folder)).values()) == {"failed"}


def test_a_run_that_is_stopped_goes_on_from_there(tmp_path: Path, make_settings: Callable[..., Settings]) -> None:
    ingestion = build_ingestion(make_settings(embedding=EmbeddingSettings(provider="hashed", batch_size=1)))

    def stop(done: int, _total: int, _item: object) -> None:
        if done == 3:
            ingestion.stop.set()

    for number in range(30):
        (tmp_path / f"{number}.txt").write_text(f"A text about the number {number}.\n")
    report = ingestion.run(ingestion.plan([str(tmp_path)]), on_progress=stop)
    done = len(report.items)
    assert report.stopped
    assert 3 <= done < 30
    ingestion.stop.clear()
    again = run(ingestion, tmp_path)
    assert (again.stopped, again.count("unchanged"), again.count("added")) == (False, done, 30 - done)
