"""The house holds: arrows point one way, and every documented name exists."""

import ast
import re
from pathlib import Path

import pytest
from pydantic import BaseModel
from typer.core import TyperGroup as Group
from typer.main import get_command

import pipelines
from app.cli import app
from config.settings import Settings

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
GROUND = {"types", "facts", "months", "errors", "observe", "text", "sentences", "markup", "trust", "wording"}
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


def _example() -> dict[str, str]:
    """The settings that .env.example names, with the value it gives each."""
    lines = (ROOT / ".env.example").read_text().splitlines()
    return dict(
        re.fullmatch(r"# ([A-Z0-9_]+)=(.*)", line).groups() for line in lines if re.match(r"# [A-Z0-9_]+=", line)
    )


def _names(model: type[BaseModel], prefix: str = "FOOTNOTE_") -> dict[str, object]:
    names: dict[str, object] = {}
    for name, field in model.model_fields.items():
        if isinstance(field.default, BaseModel):
            names |= _names(type(field.default), f"{prefix}{name.upper()}__")
        else:
            names[str(field.validation_alias or prefix + name.upper())] = field.default
    return names


def test_the_example_env_names_every_setting_and_no_other() -> None:
    assert _example().keys() == _names(Settings).keys()


def test_the_example_env_gives_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in _example().items():
        monkeypatch.setenv(name, value)
    given = Settings(_env_file=None)
    for name in _example():
        monkeypatch.delenv(name)
    assert given == Settings(_env_file=None)


def test_every_command_in_the_readme_exists() -> None:
    root = get_command(app)
    for line in re.findall(r"^(?:\$ )?footnote ([^\n#]*)", (ROOT / "README.md").read_text(), flags=re.MULTILINE):
        words, command = line.split(), root
        while words and isinstance(command, Group):
            assert words[0] in command.commands, f"footnote {line}"
            command = command.commands[words.pop(0)]
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        given = {word.split("=")[0] for word in words if word.startswith("--")}
        assert given <= known, f"footnote {line}"


def test_every_make_verb_in_the_readme_exists() -> None:
    verbs = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert set(re.findall(r"`?make ([a-z]+)", (ROOT / "README.md").read_text())) <= verbs


def test_the_public_names_of_the_notebook_surface_are_pinned() -> None:
    names = ["Answer", "Engine", "Filters", "Settings", "build_query_engine", "ingest", "run_experiment"]
    assert pipelines.__all__ == names
    for name in pipelines.__all__:
        assert getattr(pipelines, name).__name__ == name


def test_the_readme_holds_no_gap_to_fill() -> None:
    assert "@@" not in (ROOT / "README.md").read_text()
