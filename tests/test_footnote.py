"""`import footnote` and `python -m footnote`, also from folders that hold modules of the same names."""

import subprocess
import sys
from pathlib import Path

import pytest

import footnote
import pipelines

ROOT = Path(__file__).parent.parent


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    place = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=place, capture_output=True, text=True, check=False)


@pytest.fixture
def clash(tmp_path: Path) -> Path:
    for name in ("app.py", "config.py"):
        (tmp_path / name).write_text("raise SystemExit('the wrong module')\n")
    (tmp_path / "pipelines").mkdir()
    (tmp_path / "pipelines" / "__init__.py").touch()
    return tmp_path


def test_the_public_names_are_those_of_pipelines() -> None:
    assert set(footnote.__all__) == set(pipelines.__all__)
    assert all(getattr(footnote, name) is getattr(pipelines, name) for name in footnote.__all__)
    assert footnote.__version__
    assert set(dir(footnote)) == {*pipelines.__all__, "__version__"}
    assert dir(pipelines) == sorted(pipelines.__all__)


def test_the_module_runs_the_command_line_beside_modules_of_the_same_names(clash: Path) -> None:
    shown = run(clash, "-m", "footnote", "--version")
    assert (shown.returncode, shown.stdout) == (0, f"footnote {footnote.__version__}\n")


@pytest.mark.parametrize("name", ["app.py", "config.py", "pipelines"])
def test_an_import_beside_a_module_of_the_same_name_names_it(clash: Path, name: str) -> None:
    for other in clash.iterdir():
        if other.name != name:
            other.rename(other.with_name(f"other-{other.name}"))
    shown = run(clash, "-c", "import footnote")
    assert shown.returncode == 1
    last = shown.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: ")
    assert str(clash / name) in last
