"""The layers hold: imports point one way, without cycles; functions stay small; every setting is documented."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from pydantic import BaseModel

import pipelines
from config.settings import Settings

ROOT = Path(__file__).parent.parent
PACKAGES = {  # a package may import itself and what stands here
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
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
SURFACE = ROOT / "pipelines" / "__init__.py"  # the notebook surface: it may name anything
MOST_PARAMETERS = 6


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _imports(path: Path) -> Iterator[str]:
    """What a module imports, lazily or not, also for the types alone."""
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _file_of(name: str) -> Path | None:
    """The file of ours that an imported name is in."""
    parts = name.split(".")
    while parts and parts[0] in PACKAGES:
        place = ROOT.joinpath(*parts)
        for path in (place.with_suffix(".py"), place / "__init__.py"):
            if path.is_file():
                return path
        parts.pop()
    return None


def _part(path: Path) -> str:
    """Which part of `pipelines` a file belongs to; `ground` for the modules at its top."""
    inside = path.relative_to(ROOT / "pipelines").parts
    return inside[0] if len(inside) > 1 else "ground"


def test_imports_point_one_way() -> None:
    wrong = []
    for path in SOURCES:
        here = path.relative_to(ROOT).parts[0]
        for name in _imports(path):
            target = _file_of(name)
            if target is None:
                continue
            there = target.relative_to(ROOT).parts[0]
            allowed = there in PACKAGES[here]
            if here == there == "pipelines" and path != SURFACE:
                allowed = _part(target) in INNER[_part(path)]
            if not allowed:
                wrong.append(f"{path.relative_to(ROOT)} imports {name}")
    assert not wrong


def test_no_file_and_no_folder_imports_what_imports_it() -> None:
    graphs: dict[Path, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for path in SOURCES:
        for target in filter(None, map(_file_of, _imports(path))):
            here, there = path.relative_to(ROOT).parts, target.relative_to(ROOT).parts
            depth = next((n for n, (a, b) in enumerate(zip(here, there, strict=False)) if a != b), None)
            if depth is not None:  # the __init__ of a folder counts as a module of it
                graphs[Path(*here[:depth])][here[depth]].add(there[depth])
    cycles = []
    for folder, graph in graphs.items():
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            cycles.append(f"{folder}: {' -> '.join(error.args[1])}")
    assert not cycles


def _functions(path: Path) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in ast.walk(_tree(path)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", node


def _is_command(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(".command" in ast.unparse(decorator) for decorator in function.decorator_list)


def test_no_function_takes_more_than_six_parameters() -> None:
    long = []
    for path in SOURCES:
        for name, function in _functions(path):
            given = function.args
            names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
            count = len([each for each in names if each not in {"self", "cls"}])
            if count > MOST_PARAMETERS and not _is_command(function):
                long.append(name.split()[1])
    assert not long


def test_no_two_classes_have_the_same_name() -> None:
    """A name says what its class is, also in a log, a traceback or another module."""
    places = defaultdict(list)
    for path in SOURCES:
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_the_top_level_holds_only_the_folders_of_the_design() -> None:
    folders = {"app", "pipelines", "config", "tests", "data", "docs"}
    tracked = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith((".", "_"))}
    assert tracked - {"var", "build", "dist", "footnote.egg-info"} == folders


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


def test_the_public_names_of_the_notebook_surface_are_pinned() -> None:
    names = ["Answer", "Filters", "QueryEngine", "Settings", "Turn", "build_query_engine", "ingest", "run_experiment"]
    assert pipelines.__all__ == names
    for name in pipelines.__all__:
        assert getattr(pipelines, name).__name__ == name


def test_the_readme_holds_no_gap_to_fill() -> None:
    assert "@@" not in (ROOT / "README.md").read_text()
