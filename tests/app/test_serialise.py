"""The JSON of results: names, paths and parts of their shapes."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from app import serialise as module
from app.cli.output import emit, render
from app.serialise import serialise
from pipelines.errors import SourceError

AT = datetime(2026, 5, 1, 12, 30, tzinfo=UTC)


class Colour(Enum):
    RED = "red"


class Fact(BaseModel):
    at: datetime = AT


@dataclass(frozen=True)
class Inner:
    name: str
    pages: tuple[int, ...] = ()


@dataclass(frozen=True)
class Outer:
    first: Inner
    rest: tuple[Inner, ...] = ()
    note: str = ""

    @property
    def total(self) -> int:
        return 1 + len(self.rest)


OUTER = Outer(Inner("a", (1, 2)), (Inner("b"), Inner("c")))


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ((1, "x", None), [1, "x", None]),
        ({("a", "b"): AT, 3: Path("x/y")}, {"a b": "2026-05-01T12:30:00+00:00", "3": "x/y"}),
        (Colour.RED, "red"),
        (Fact(), {"at": "2026-05-01T12:30:00Z"}),
        (SourceError("Gone.", hint="Look."), {"type": "SourceError", "message": "Gone.", "hint": "Look."}),
        (OUTER.first, {"name": "a", "pages": [1, 2]}),
    ],
    ids=["tuple", "mapping", "enum", "model", "error", "dataclass"],
)
def test_a_value_without_a_shape_is_its_fields(value: Any, plain: Any) -> None:
    assert serialise(value) == plain
    json.dumps(serialise(value))


@pytest.mark.parametrize(
    ("shape", "plain"),
    [
        ("total", {"total": 3}),
        ("count=total name=first.name", {"count": 3, "name": "a"}),
        ("names=rest.name last=rest.1.name", {"names": ["b", "c"], "last": "c"}),
        ("*first note? total", {"name": "a", "pages": [1, 2], "total": 3}),
        ("rest:short self=:whole", {"rest": [{"n": "b"}, {"n": "c"}], "self": {"total": 3}}),
        ("* first=first.name", {"first": "a", "rest": [{"name": n, "pages": []} for n in "bc"], "note": ""}),
    ],
)
def test_a_shape_names_takes_apart_splices_and_leaves_out(
    shape: str, plain: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SHAPES", {"Outer": shape, "short": "n=name", "whole": "total"})
    assert serialise(OUTER) == plain


MODULES = (
    "app.cli.ask app.cli.evaluate app.cli.feedback app.cli.ingest app.cli.maintenance "
    "app.cli.models app.cli.output app.cli.runs app.cli.search app.cli.status pipelines.types "
    "app.inspection pipelines.query.replay pipelines.store.embedding_models "
    "pipelines.evaluation.model_compare pipelines.evaluation.experiment pipelines.evaluation.parsing"
).split()


@pytest.mark.parametrize("name", [name for name in module.SHAPES if name[0].isupper()])
def test_a_shape_names_attributes_that_its_type_has(name: str) -> None:
    (cls,) = {found for place in MODULES if isinstance(found := getattr(import_module(place), name, None), type)}
    paths = [part.partition("=")[2] or part.strip("*?") for part in module.SHAPES[name].split()]
    named = {path.partition(":")[0].partition(".")[0] for path in paths} - {""}
    assert named <= {*cls.__dataclass_fields__, *vars(cls)}


def test_what_no_verb_registers_is_not_rendered() -> None:
    with pytest.raises(TypeError, match="Outer"):
        render(OUTER)


def test_a_result_is_one_document_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    emit(OUTER, True)
    assert json.loads(capsys.readouterr().out)["first"] == {"name": "a", "pages": [1, 2]}
