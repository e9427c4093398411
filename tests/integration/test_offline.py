"""With nothing configured nothing leaves the machine: the whole way through, with the real local model."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.settings import Settings
from tests.conftest import open_folder
from tests.guard import guarded_environment, loopback_only, read_log
from tests.shell import Shell

SAMPLE = Path(__file__).parents[2] / "data" / "sample"


@pytest.fixture
def home() -> Iterator[Path]:
    folder = open_folder("footnote-offline-")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def footnote(home: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """`footnote` with an empty configuration, forbidden the network."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "FOOTNOTE_HOME": str(home / "var")}
    environment["FOOTNOTE_INGESTION__WORKERS"] = "1"
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


def test_a_missing_model_downloads_nothing_and_names_the_setting(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    given = {"PROVIDER": "local", "MODEL_PATH": str(tmp_path / "empty"), "PRECISION": "fp32"}
    given = {f"FOOTNOTE_EMBEDDING__{name}": value for name, value in given.items()}
    with loopback_only() as tried:
        code, said = Shell(settings, monkeypatch, tmp_path, **given)("ingest", str(SAMPLE / "notes-on-mentoring.txt"))
    assert (code, tried) == (3, [])
    assert "FOOTNOTE_EMBEDDING__MODEL_PATH" in said
