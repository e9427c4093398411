"""The wheel of the last commit works in a new environment, from an empty folder, its chat in a browser.

It needs a package index; `make trials` runs it.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import read_address, stop

ROOT = Path(__file__).parents[2]


def environment(home: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "FOOTNOTE_HOME": str(home / "data")}


def run(*command: str | Path, folder: Path, home: Path) -> str:
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder, env=environment(home), capture_output=True, text=True, check=False, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def chat(footnote: Path, *, folder: Path, home: Path) -> Iterator[str]:
    """The address of a chat over the sample, which ends with the block."""
    command = [str(footnote), "chat", "--sample", "--headless"]
    with (home / "chat.log").open("w") as errors:
        process = subprocess.Popen(
            command, cwd=folder, env=environment(home), stdout=subprocess.PIPE, stderr=errors, text=True
        )
        try:
            assert process.stdout
            yield read_address(process.stdout, home / "chat.log")
        finally:
            assert stop(process) == 0


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"  # a clone: setuptools leaves build/ behind, and takes what an earlier build left there
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(source)], check=True)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, source]
    subprocess.run(list(map(str, command)), check=True)
    return next(folder.glob("footnote-*.whl"))


def test_the_wheel_holds_sample_model_migrations_and_assets(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for name in (
        "footnote.py",
        "app/py.typed",
        "app/sample/resume.pdf",
        "app/.streamlit/config.toml",
        "pipelines/models/weights/all-minilm-l6-v2-int8.onnx",
        "pipelines/models/weights/tokenizer.json",
        "pipelines/models/weights/LICENSE",
        "pipelines/ingestion/words/vocabulary.txt",
        "pipelines/store/migrations/env.py",
        "pipelines/store/migrations/versions/0001_first_tables.py",
    ):
        assert name in names
    assert any(name.startswith("app/assets/") for name in names)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that the account which runs Postgres may enter."""
    folder = Path(tempfile.mkdtemp(prefix="footnote-wheel-", dir="/var/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def test_an_installed_chat_answers_the_sample_from_an_empty_folder(wheel: Path, place: Path, browser: Browser) -> None:
    empty = place / "empty"
    empty.mkdir()
    venv.create(place / "venv", with_pip=True)
    programs = place / "venv" / "bin"
    constraints = ROOT / "constraints.txt"
    run(programs / "python", "-m", "pip", "install", "-q", "-c", constraints, wheel, folder=empty, home=place)
    footnote = programs / "footnote"
    assert run(footnote, "--version", folder=empty, home=place).startswith("footnote ")
    with chat(footnote, folder=empty, home=place) as url:
        page = browser.new_page()
        page.goto(url)
        page.locator(".st-key-starter_0 button").click()
        expect(page.locator(".fn-chip").first).to_be_visible(timeout=60_000)
        page.close()
    answer = json.loads(run(footnote, "ask", "Does Marit know C++?", "--json", folder=empty, home=place))
    assert answer["answered"]
    assert "C++" in answer["answer"]
    assert not any(empty.iterdir())
