"""Each part of Footnote in a plain LlamaIndex program: the programs of docs/llamaindex.md, run as they stand."""

import re
from pathlib import Path

import pytest

from tests.conftest import MakeSettings

PAGE = Path(__file__).parents[2] / "docs" / "llamaindex.md"
PROGRAMS = dict(re.findall(r"^## (.+?)\n.*?^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE))
DOCUMENTS = {
    "crane.md": "# Harbour crane\n\nMarit built the harbour crane controller in C++ in 2014. It moved 40 containers an "
    "hour.\n\n## Faults\n\nThe harbour crane ran for six years without a fault.\n",
    "search.md": "# Ship search\n\nIn 2023 Marit moved to Garboard Systems. She leads a team of five people there.\n\n"
    "The search engine runs on Kubernetes.\n",
    "resume.md": "# Ann Example\n\n## Experience\n\n### Staff Engineer, Contoso\n\n*March 2019 - June 2022*\n\n"
    "- Ran the Kubernetes platform for forty teams.\n\n## Education\n\nBSc Physics, University of Somewhere, 2012\n",
    "garden.txt": "Tomatoes need sun. Water them every morning and never at noon.\n",
}


@pytest.fixture
def _place(make_settings: MakeSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working directory with documents, and an environment that names a database and a home of its own."""
    settings = make_settings()
    assert settings.database_url
    monkeypatch.setenv("DATABASE_URL", settings.database_url.get_secret_value())
    monkeypatch.setenv("FOOTNOTE_HOME", str(settings.home))
    monkeypatch.setenv("FOOTNOTE_EMBEDDING__PROVIDER", "hashed")
    monkeypatch.chdir(tmp_path)
    Path("documents").mkdir()
    for name, text in DOCUMENTS.items():
        Path("documents", name).write_text(text)


def test_every_part_of_the_page_has_a_program() -> None:
    assert [*PROGRAMS] == re.findall(r"^## (.+)$", PAGE.read_text("utf-8"), re.MULTILINE)


@pytest.mark.usefixtures("_place")
@pytest.mark.parametrize("heading", PROGRAMS)
def test_a_program_runs_as_it_stands(heading: str) -> None:
    exec(compile(PROGRAMS[heading], f"docs/llamaindex.md ({heading})", "exec"), {"__name__": "__main__"})
