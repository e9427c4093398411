"""Every verb of the command line can say what it does."""

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
