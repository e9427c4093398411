"""The notebooks of docs/notebooks, run from top to bottom as they stand."""

from pathlib import Path
from types import ModuleType

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

from tests.conftest import MakeSettings

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NO_HISTORY = {"HistoryManager": {"enabled": False}}
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_the_four_that_the_index_names() -> None:
    index = (FOLDER.parent / "index.md").read_text("utf-8")
    assert len(NOTEBOOKS) == 4
    assert all(f"(notebooks/{path.name})" in index for path in NOTEBOOKS)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of IPython's own packages
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(
    path: Path, make_settings: MakeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = make_settings()
    assert settings.database_url
    monkeypatch.setenv("DATABASE_URL", settings.database_url.get_secret_value())
    monkeypatch.setenv("FOOTNOTE_HOME", str(settings.home))
    monkeypatch.setenv("FOOTNOTE_EMBEDDING__PROVIDER", "hashed")
    monkeypatch.chdir(settings.home)
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "committed without outputs"
    shell = InteractiveShell.instance(user_module=ModuleType("notebook"), config=Config(NO_HISTORY))
    shown = []
    try:
        for cell in notebook.cells:
            if cell.cell_type == "code":
                with capture_output() as printed:
                    result = shell.run_cell(cell.source)
                result.raise_error()
                shown += [*(each.data for each in printed.outputs), shell.display_formatter.format(result.result)[0]]
    finally:
        InteractiveShell.clear_instance()
    assert any("text/html" in each for each in shown)
