import os
import time
from pathlib import Path

import pytest

from config.settings import Settings
from pipelines.ingestion.run import build_ingestion, ingest
from pipelines.store.database import open_database, reading
from pipelines.store.health import Unused, sweep, unused
from pipelines.store.originals import keep_original, original_path

SHA = "ab" * 32


@pytest.fixture
def folder(settings: Settings, tmp_path: Path) -> Path:
    (tmp_path / "crane.md").write_text("# Crane\n\nIt lifts.\n")
    ingest(settings, [str(tmp_path)])
    return tmp_path


def age(home: Path, days: float = 2) -> None:
    then = time.time() - days * 86_400
    for path in (home / "originals").glob("*/*"):
        os.utime(path, (then, then))


def left(settings: Settings) -> tuple[Path, ...]:
    with reading(open_database(settings).engine, "testing") as connection:
        return unused(connection, settings.home).paths


def test_the_originals_of_documents_and_of_kept_versions_are_needed(folder: Path, settings: Settings) -> None:
    (folder / "crane.md").write_text("# Crane\n\nIt lifts and turns.\n")
    ingest(settings, [str(folder)])
    ingestion = build_ingestion(settings)
    ingestion.remove([known.id for known in ingestion.known()])
    age(settings.home)
    assert left(settings) == ()
    assert len(list((settings.home / "originals").glob("*/*"))) == 2


def test_what_nothing_names_is_unused_after_a_day_and_can_be_swept(folder: Path, settings: Settings) -> None:
    orphan = keep_original(settings.home, SHA, b"never ingested", name="a page")
    half = orphan.with_name(".new-0123")
    half.write_bytes(b"nev")
    assert left(settings) == ()  # a run may be about to need them
    age(settings.home)
    assert left(settings) == (half, orphan)
    with reading(open_database(settings).engine, "testing") as connection:
        assert sweep(connection, settings.home, unused(connection, settings.home)).paths == (half, orphan)
    assert left(settings) == ()
    assert not orphan.exists()
    assert len(list((settings.home / "originals").glob("*/*"))) == 1  # the document's


def test_what_a_run_took_up_again_since_it_was_agreed_to_is_not_swept(folder: Path, settings: Settings) -> None:
    keep_original(settings.home, SHA, b"never ingested", name="a page")
    age(settings.home)
    with reading(open_database(settings).engine, "testing") as connection:
        agreed = unused(connection, settings.home)
        keep_original(settings.home, SHA, b"never ingested", name="a page")
        assert sweep(connection, settings.home, agreed) == Unused((), 0)
    assert original_path(settings.home, SHA).exists()


def test_an_original_that_is_needed_again_counts_as_new(folder: Path, settings: Settings) -> None:
    keep_original(settings.home, SHA, b"never ingested", name="a page")
    age(settings.home)
    keep_original(settings.home, SHA, b"never ingested", name="a page")
    assert left(settings) == ()
    assert original_path(settings.home, SHA).exists()
