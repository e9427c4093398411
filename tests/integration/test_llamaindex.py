"""Each part of Footnote in a plain LlamaIndex program: the programs of docs/llamaindex.md, run as they stand."""

import re
from pathlib import Path

import pytest

from tests.conftest import MakeSettings

PAGE = Path(__file__).parents[2] / "docs" / "llamaindex.md"
PROGRAMS = dict(re.findall(r"^## (.+?)\n.*?^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE))


@pytest.fixture
def _place(make_settings: MakeSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working directory with the documents of the page, and an environment with its own database and home."""
    settings = make_settings()
    assert settings.database_url
    monkeypatch.setenv("DATABASE_URL", settings.database_url.get_secret_value())
    monkeypatch.setenv("FOOTNOTE_HOME", str(settings.home))
    monkeypatch.setenv("FOOTNOTE_EMBEDDING__PROVIDER", "hashed")
    monkeypatch.chdir(tmp_path)
    _run("The documents")


def _run(heading: str) -> None:
    exec(compile(PROGRAMS[heading], f"docs/llamaindex.md ({heading})", "exec"), {"__name__": "__main__"})


def test_every_part_of_the_page_has_a_program() -> None:
    assert [*PROGRAMS] == re.findall(r"^## (.+)$", PAGE.read_text("utf-8"), re.MULTILINE)


@pytest.mark.usefixtures("_place")
@pytest.mark.parametrize("heading", PROGRAMS)
def test_a_program_runs_as_it_stands(heading: str) -> None:
    _run(heading)
