"""Help, settings and docstrings are plain technical English: phrases that earlier versions used do not come back."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main
from click import Command, Context, Group

from app.cli import app
from app.settings import _names

ROOT = Path(__file__).parents[1]
BANNED = re.compile(
    r"\blegs?\b|\bb(ear|ears|orne) (it |them |him |this |that |the sentence )?out\b|\b(came|becomes?|became) of\b"
    r"|\bsaid to be\b|\bis no folder\b|\bcalls itself\b|\bpast it\b|\belse as set\b|\bmends?:|\bgoes round\b"
    r"|\bwho(ever)? asks\b|\bdoes not (learn|speak) of\b|\blooks further\b|\bis still at work\b|\bnobody sees\b"
)
_CONTINUES = re.compile(r"\.\.\.|(of|that|and|or|which|past|as|on|by|beside|these|those|what|who|whose|how)\b")
_NOT_CHECKED = {
    "config/prompts.py",  # read by language models: a change of wording needs a measurement
}


def help_texts(command: Command, context: Context) -> Iterator[tuple[str, str]]:
    """(name, help) of a command and of all below it."""
    yield context.command_path, command.get_help(context)
    for name, each in command.commands.items() if isinstance(command, Group) else ():
        yield from help_texts(each, Context(each, info_name=name, parent=context))


ROOT_COMMAND = typer.main.get_command(app)
HELP = dict(help_texts(ROOT_COMMAND, Context(ROOT_COMMAND, info_name="footnote")))
SETTINGS = {name: field.description for name, field in _names().items() if field.description}


@pytest.mark.parametrize("command", sorted(HELP))
def test_help_is_plain_english(command: str) -> None:
    assert not BANNED.search(" ".join(HELP[command].split()))


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_a_setting_is_described_by_itself_in_plain_english(name: str) -> None:
    assert not BANNED.search(SETTINGS[name])
    assert not _CONTINUES.match(SETTINGS[name])


def test_messages_and_docstrings_are_plain_english() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {match[0]}"
        for folder in ("app", "pipelines", "config")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if str(path.relative_to(ROOT)) not in _NOT_CHECKED
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value
        if (match := BANNED.search(" ".join(node.value.split())))
    ]
    assert not found
