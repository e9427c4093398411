"""The house holds: arrows point one way, and every documented name exists."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYER = {  # a room may import itself and the rooms right of it
    "app": {"app", "pipelines", "config"},
    "pipelines": {"pipelines", "config"},
    "config": {"config"},
}
INNER = {
    "evaluation": {"evaluation", "ingestion", "query", "models", "store", "ground"},
    "ingestion": {"ingestion", "models", "store", "ground"},
    "query": {"query", "models", "store", "ground"},
    "models": {"models", "ground"},
    "store": {"store", "ground"},
    "ground": {"ground"},
}
GROUND = {"types", "errors", "observe", "text", "sentences", "markup"}
SOURCES = sorted(path for room in LAYER for path in (ROOT / room).rglob("*.py"))


def _imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def _room(module: str) -> str:
    part = module.split(".")[1] if "." in module else ""
    return "ground" if part in GROUND else part


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path: Path) -> None:
    here = path.relative_to(ROOT).with_suffix("").parts
    for name in _imports(path):
        top = name.split(".")[0]
        if top in LAYER:
            assert top in LAYER[here[0]], f"{here[0]} imports {name}"
        if top == "pipelines" == here[0] and len(here) > 2:
            room = _room(".".join(here))
            assert _room(name) in INNER[room], f"{room} imports {name}"


def test_the_top_level_holds_only_the_rooms_of_the_design() -> None:
    rooms = {"app", "pipelines", "config", "tests", "data"}
    tracked = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith((".", "_"))}
    assert tracked - {"var", "footnote.egg-info"} == rooms
