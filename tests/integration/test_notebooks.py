"""The notebooks of docs/notebooks, run from top to bottom as they stand."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.conftest import MakeSettings

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_the_four_that_the_index_names() -> None:
    index = (FOLDER.parent / "index.md").read_text("utf-8")
    assert len(NOTEBOOKS) == 4
    assert all(f"(notebooks/{path.name})" in index for path in NOTEBOOKS)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the kernel's own packages
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(
    path: Path, make_settings: MakeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = make_settings()
    assert settings.database_url
    monkeypatch.setenv("DATABASE_URL", settings.database_url.get_secret_value())
    monkeypatch.setenv("FOOTNOTE_HOME", str(settings.home))
    monkeypatch.setenv("FOOTNOTE_EMBEDDING__PROVIDER", "hashed")
    monkeypatch.setenv("PYTHONPATH", str(FOLDER.parents[1]))
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "committed without outputs"
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute(cwd=str(settings.home))
    shown = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert any("text/html" in output.get("data", {}) for output in shown)
