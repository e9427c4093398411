"""Small documents made of real text, and what each step of their ingestion costs."""

import os
import sys
from itertools import islice
from pathlib import Path

import pytest

from config.settings import EmbeddingSettings, Settings
from data.make_documents import LONGEST, SHORTEST, bodies, read_passages, write_small_documents
from pipelines.errors import SourceError
from tests.bench.ingest import bench_ingest, run_measured

SAMPLE = Path(__file__).parents[2] / "data" / "sample"


def test_they_are_written_in_the_same_words_every_time(tmp_path: Path) -> None:
    once = write_small_documents([str(SAMPLE)], tmp_path / "once", 40)
    again = write_small_documents([str(SAMPLE)], tmp_path / "again", 40)
    assert len(once) == len(again) == 40
    assert [path.read_text() for path in once] == [path.read_text() for path in again]


def test_half_are_markdown_with_a_heading_and_they_stand_in_folders_in_ten_folders(tmp_path: Path) -> None:
    paths = write_small_documents([str(SAMPLE)], tmp_path, 40)
    headed = [path for path in paths if path.suffix == ".md"]
    assert len(headed) == 20
    assert all(path.read_text().startswith("# ") for path in headed)
    assert len(list(tmp_path.iterdir())) == 10
    assert all(path.parent.parent.parent == tmp_path for path in paths)


def test_a_little_text_makes_as_many_different_documents_as_are_wanted() -> None:
    passages = list(read_passages([str(SAMPLE)]))
    made = list(islice(bodies(passages), 500))
    assert sum(map(len, made)) > 10 * sum(map(len, passages))
    assert len(set(made)) == 500
    assert all(SHORTEST <= len(body) <= LONGEST + SHORTEST for body in made)


def test_every_passage_stands_in_one_document_before_its_sentences_are_shuffled() -> None:
    passages = list(read_passages([str(SAMPLE)]))
    first = "\n\n".join(islice(bodies(passages), 10))
    assert [passage for passage in passages if passage in first] == passages[: len([p for p in passages if p in first])]
    assert all(first.count(passage) == 1 for passage in passages if passage in first)


def test_too_little_text_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "short.txt").write_text("This is hardly enough text to make anything of it.")
    with pytest.raises(SourceError, match="too little text"):
        write_small_documents([str(tmp_path)], tmp_path / "out", 5)


CHILD = "import time; held = bytearray(80_000_000); time.sleep(0.7)"
PARENT = f"import subprocess, sys; print('said'); subprocess.run([sys.executable, '-c', {CHILD!r}]); sys.exit(3)"
BUSY = "import time\nwhile time.process_time() < 0.5: pass"


def test_the_memory_of_children_counts_and_the_code_and_the_output_come_back(tmp_path: Path) -> None:
    ran = run_measured([sys.executable, "-c", PARENT], dict(os.environ), tmp_path / "postmaster.pid")
    assert (ran.code, ran.output, ran.errors) == (3, "said\n", "")
    assert ran.memory_mb >= 80
    assert ran.seconds >= 0.7
    assert (ran.postgres_mb, ran.postgres_cpu_seconds) == (0.0, 0.0)


def test_computing_counts_as_processor_time(tmp_path: Path) -> None:
    assert run_measured([sys.executable, "-c", BUSY], dict(os.environ), tmp_path / "none").cpu_seconds >= 0.5


def test_the_server_is_told_apart_from_the_command(tmp_path: Path) -> None:
    import subprocess

    server = subprocess.Popen([sys.executable, "-c", "import time; held = bytearray(60_000_000); time.sleep(30)"])
    try:
        (tmp_path / "postmaster.pid").write_text(f"{server.pid}\n/data\n")
        ran = run_measured(
            [sys.executable, "-c", "import time; time.sleep(1)"], dict(os.environ), tmp_path / "postmaster.pid"
        )
    finally:
        server.kill()
        server.wait()
    assert ran.postgres_mb >= 60
    assert ran.memory_mb < 60


@pytest.mark.trial
def test_every_step_is_measured_and_nothing_is_left_behind(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_INGESTION__EXECUTOR", "here")  # a command starts no workers of its own
    asked = settings.model_copy(update={"embedding": EmbeddingSettings(provider="hashed")})
    report = bench_ingest(asked, [str(SAMPLE)], documents=20)
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
