"""Write the generated pages: docs/cli.md from the commands, docs/measurements.md from docs/measurements/*.json.

Run `python docs/make.py`; with `--check` it writes nothing and exits 1 if a page is out of date.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

DOCS = Path(__file__).parent


def cli_page() -> str:
    """Every verb with its description, arguments and options."""
    from app.cli import app

    parts = ["# Command line", "Generated from the commands by `python docs/make.py`. Every verb has `--help`."]
    for path, command in _verbs(get_command(app), ("footnote",)):
        description = " ".join((command.help or "").split())
        text, _, example = description.partition(" Example: ")
        parts.append(f"## {' '.join(path)}\n\n{text}")
        if example:
            parts.append("```\n" + "\n".join(example.split(" Example: ")) + "\n```")
        rows = [row for parameter in command.params if (row := _row(parameter))]
        if rows:
            parts.append("| option | meaning |\n|---|---|\n" + "\n".join(rows))
    return "\n\n".join(parts) + "\n"


def _verbs(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    below = getattr(command, "commands", {})
    if not below or command.invoke_without_command:
        yield path, command
    for name, inner in below.items():
        if not inner.hidden:
            yield from _verbs(inner, (*path, name))


def _row(parameter: Any) -> str:
    if parameter.name in {"help", "install_completion", "show_completion"}:
        return ""
    if parameter.param_type_name == "argument":
        name = parameter.metavar or parameter.name.upper()
    else:
        name = ", ".join([*parameter.opts, *parameter.secondary_opts])
        if choices := getattr(parameter.type, "choices", None):
            name += " " + "|".join(map(str, choices))
    meaning = " ".join((parameter.help or "").split())
    return "| `{}` | {} |".format(name.replace("|", "\\|"), meaning.replace("|", "\\|"))


def measurements_page() -> str:
    """Every committed figure with its date, machine and command."""
    parts = ["# Measurements", "Generated from `docs/measurements/*.json` by `python docs/make.py`."]
    for path in sorted((DOCS / "measurements").glob("*.json")):
        section = json.loads(path.read_text(encoding="utf-8"))
        parts.append(f"## {section['title']}\n\nMachine: {section['machine']}.")
        for block in section["blocks"]:
            parts.append(block["text"] if "text" in block else _table(block))
    return "\n\n".join(parts) + "\n"


def _table(block: dict[str, Any]) -> str:
    command = f" by `{block['command']}`" if "command" in block else ""
    lines = [block["columns"], ["---"] * len(block["columns"]), *block["rows"]]
    drawn = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{drawn}\n\nMeasured {block['date']}{command}."


PAGES = {"cli.md": cli_page, "measurements.md": measurements_page}


def main() -> int:
    """Write the pages, or with --check report those that are out of date."""
    stale = (
        [name for name, page in PAGES.items() if (DOCS / name).read_text(encoding="utf-8") != page()]
        if ("--check" in sys.argv)
        else []
    )
    if "--check" not in sys.argv:
        for name, page in PAGES.items():
            (DOCS / name).write_text(page(), encoding="utf-8")
    for name in stale:
        sys.stderr.write(f"docs/{name} is out of date: run python docs/make.py\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
