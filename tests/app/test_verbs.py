"""The help of every verb, and options that are refused before anything is done."""

from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from app.cli import app


def verbs(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    for name, below in getattr(command, "commands", {}).items():
        yield from verbs(below, (*path, name))


@pytest.mark.parametrize("path", list(verbs(typer.main.get_command(app))), ids=" ".join)
def test_help_is_shown_with_an_example(path: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(app, [*path, "--help"])
    assert (shown.exit_code, shown.exception) == (0, None)
    assert "Usage:" in shown.output
    assert "Example: footnote" in " ".join(shown.output.split())


@pytest.mark.parametrize("verb", ["search", "ask", "facts"])
def test_an_unknown_category_is_refused_with_the_nearest_one(verb: str) -> None:
    arguments = [verb, "--category", "blogs"] if verb == "facts" else [verb, "a question", "--category", "blogs"]
    shown = CliRunner().invoke(app, arguments)
    assert shown.exit_code == 2
    assert "Did you mean blog?" in " ".join(shown.output.replace("│", " ").split())


def test_a_port_that_cannot_exist_is_refused() -> None:
    shown = CliRunner().invoke(app, ["chat", "--port", "99999"])
    assert shown.exit_code == 2
    assert "99999 is not in the range" in shown.output
