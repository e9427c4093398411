"""With nothing configured nothing leaves the machine: the whole way through, with the real local model."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import open_folder
from tests.guard import guarded_environment, read_log

SAMPLE = Path(__file__).parents[2] / "data" / "sample"


@pytest.fixture
def home() -> Iterator[Path]:
    folder = open_folder("footnote-offline-")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def footnote(home: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """`footnote` with an empty configuration, forbidden the network."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "FOOTNOTE_HOME": str(home / "var")}
    environment |= guarded_environment(home / "forbidden.txt") | settings
    return subprocess.run(
        [sys.executable, "-m", "footnote", *words], env=environment, capture_output=True, text=True, check=False,
        timeout=300, cwd=home,
    )  # fmt: skip


def test_ingest_search_and_ask_open_no_connection_off_this_machine(home: Path) -> None:
    names = ("resume.pdf", "resume.docx", "talks.html", "notes-on-mentoring.txt")
    taken = footnote(home, "ingest", *(str(SAMPLE / name) for name in names), "--json")
    assert json.loads(taken.stdout)["added"] == len(names), taken.stderr
    found = footnote(home, "search", "Kubernetes", "--json")
    assert json.loads(found.stdout)["results"], found.stderr
    answer = json.loads(footnote(home, "ask", "Which programming languages does Marit know?", "--json").stdout)
    assert "C++" in answer["answer"]
    assert {sentence["verdict"] for sentence in answer["sentences"]} == {"supported"}
    assert read_log(home / "forbidden.txt") == []


def test_a_missing_model_downloads_nothing_and_names_the_command(home: Path) -> None:
    (home / "empty").mkdir()
    missing = {"FOOTNOTE_EMBEDDING__MODEL_PATH": str(home / "empty"), "FOOTNOTE_EMBEDDING__PRECISION": "fp32"}
    done = footnote(home, "ingest", str(SAMPLE / "notes-on-mentoring.txt"), "--json", **missing)
    assert done.returncode == 3
    assert "FOOTNOTE_EMBEDDING__MODEL_PATH" in done.stdout
    assert read_log(home / "forbidden.txt") == []
