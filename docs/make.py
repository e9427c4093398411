"""Write docs/cli.md from the commands, docs/measurements.md from its JSON, .env.example from config/settings.py.

Run `python docs/make.py`; with `--check` it writes nothing and exits 1 if a page is out of date.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from typer.main import get_command

from config.settings import Settings

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


def example_env() -> str:
    """Every setting as a commented line with its default, below what config/settings.py says of it."""
    parts = [
        "# Every setting of Footnote with its default. Copy this file to .env and uncomment what you change.\n"
        "# Without any of it Footnote runs offline: embedded Postgres, local embedding model, extractive answers.\n"
        "# Generated from config/settings.py by `python docs/make.py`.",
        "# --- Where data lives, keys and servers. A key lets Footnote talk to its service. ---",
    ]
    stages = {name: field.default for name, field in Settings.model_fields.items()}
    parts[1] += _lines({name: field for name, field in Settings.model_fields.items() if not _is_stage(stages[name])})
    for name, stage in stages.items():
        if _is_stage(stage):
            prefix = f"FOOTNOTE_{name.upper()}__"
            parts.append(f"# --- {stage.__doc__} ---{_lines(type(stage).model_fields, prefix)}")
    return "\n\n".join(parts) + "\n"


def _is_stage(default: Any) -> bool:
    return isinstance(default, BaseModel)


def _lines(fields: Mapping[str, FieldInfo], prefix: str = "FOOTNOTE_") -> str:
    lines = []
    for name, field in fields.items():
        text = field.description or ""
        lines += [f"\n# {line}" for line in text.splitlines()]
        lines.append(f"\n# {field.validation_alias or prefix + name.upper()}={_value(field.default)}")
    return "".join(lines)


def _value(default: Any) -> str:
    if default is None or default is PydanticUndefined:
        return ""
    return json.dumps(default) if isinstance(default, (bool, tuple)) else str(default)


PAGES = {
    DOCS / "cli.md": cli_page,
    DOCS / "measurements.md": measurements_page,
    DOCS.parent / ".env.example": example_env,
}


def main() -> int:
    """Write the pages, or with --check report those that are out of date."""
    stale = (
        [path.name for path, page in PAGES.items() if path.read_text(encoding="utf-8") != page()]
        if ("--check" in sys.argv)
        else []
    )
    if "--check" not in sys.argv:
        for path, page in PAGES.items():
            path.write_text(page(), encoding="utf-8")
    for name in stale:
        sys.stderr.write(f"{name} is out of date: run python docs/make.py\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
