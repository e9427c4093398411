"""Options that the command line refuses before it does anything."""

import pytest
from typer.testing import CliRunner

from app.cli import app


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
