"""One loaded model and one server for the tests of this folder."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from config.settings import Settings
from pipelines.models.minilm import MiniLM, load_minilm
from tests.fake_openai import FakeOpenAI


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("FOOTNOTE_", "OPENAI_", "OPENROUTER_")):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def int8(home: Path) -> MiniLM:
    return load_minilm(home, precision="int8", device="cpu")


@pytest.fixture(scope="session")
def fp32(home: Path) -> MiniLM:
    return load_minilm(home, precision="fp32", device="cpu")


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


@pytest.fixture
def make_settings(home: Path) -> Callable[..., Settings]:
    def make(**values: Any) -> Settings:
        return Settings(_env_file=None, home=home, **values)

    return make
