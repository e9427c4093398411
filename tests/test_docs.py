"""The documentation is true: its links lead somewhere, its commands exist, its generated pages are current."""

import re
import runpy
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from typer.core import TyperGroup as Group
from typer.main import get_command

from app.cli import app

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "data").glob("*.md")])
MOST_WORDS = 1500  # of the README
_MAX_DECISION = 500  # words: one page


def _names(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


@pytest.mark.parametrize("page", PAGES, ids=_names(PAGES))
def test_every_link_to_a_file_leads_to_one(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=_names(PAGES))
def test_every_file_that_is_named_exists(page: Path) -> None:
    if page.name == "CHANGELOG.md":
        return
    named = re.findall(r"`((?:app|pipelines|config|tests|docs|data)/[\w/.-]+)`", page.read_text(encoding="utf-8"))
    assert not [name for name in named if not (ROOT / name).exists()]


def _commands(page: Path) -> Iterator[str]:
    text = page.read_text(encoding="utf-8")
    yield from re.findall(r"^(?:\$ )?footnote ([^\n#]*)", text, flags=re.MULTILINE)
    yield from re.findall(r"`footnote ([a-z][^`]*)`", text)


@pytest.mark.parametrize("page", PAGES, ids=_names(PAGES))
def test_every_command_exists_with_its_options(page: Path) -> None:
    if page.name == "CHANGELOG.md":
        return
    for line in _commands(page):
        words, command = line.split(), get_command(app)
        while words and isinstance(command, Group) and words[0] in command.commands:
            command = command.commands[words.pop(0)]
        assert (
            not isinstance(command, Group)
            or not words
            or words[0].startswith(("-", "<", "["))
            or (command.invoke_without_command)
        ), f"footnote {line}"
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        given = {word.strip("[].,;:").split("=")[0] for word in words if word.strip("[").startswith("--")}
        assert given <= known | {"--help"}, f"footnote {line}"


@pytest.mark.parametrize("page", PAGES, ids=_names(PAGES))
def test_a_command_names_files_of_the_repository_or_a_placeholder(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    words = [word for line in re.findall(r"`(?:footnote|python -m tests)[. ]([^`]*)`", text) for word in line.split()]
    words += [word for line in _commands(page) for word in line.split()]
    paths = [word.rstrip(",.)") for word in words if re.fullmatch(r"[\w.][\w./-]*(/[\w.*-]+|\.jsonl),?", word)]
    outside = [
        path for path in paths if not path.startswith(("var/", "github.com/", "/")) and not (ROOT / path).exists()
    ]
    assert not outside


@pytest.mark.parametrize("page", PAGES, ids=_names(PAGES))
def test_every_make_verb_exists(page: Path) -> None:
    if page.name == "CHANGELOG.md":
        return
    verbs = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert set(re.findall(r"`make ([a-z-]+)", page.read_text(encoding="utf-8"))) <= verbs


def test_the_generated_pages_are_current() -> None:
    pages = runpy.run_path(str(ROOT / "docs" / "make.py"))["PAGES"]
    for path, page in pages.items():
        assert path.read_text(encoding="utf-8") == page(), f"{path.name}: run python docs/make.py"


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= MOST_WORDS


DECISIONS = [page for page in PAGES if page.parent.name == "decisions" and page.name != "README.md"]


@pytest.mark.parametrize("page", DECISIONS, ids=_names(DECISIONS))
def test_a_decision_has_one_page_with_the_same_headings(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert re.findall("^## (.*)", text, flags=re.MULTILINE) == ["Context", "Decision", "Rejected", "Consequences"]
    assert all(len(part.split()) > 5 for part in re.split("^## ", text, flags=re.MULTILINE)[1:])
    assert len(text.split()) <= _MAX_DECISION
    assert f"]({page.name})" in (page.parent / "README.md").read_text(encoding="utf-8")


def test_each_setting_has_one_row_that_says_what_holds_it() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    rows = [name for row in re.findall(r"^\| (`.*?) \|", page, re.MULTILINE) for name in re.findall("`(.*?)`", row)]
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    settings = set(re.findall("^# (?:FOOTNOTE_)?([A-Z0-9_]+)=", example, re.MULTILINE))
    held = {setting: [row for row in rows if fnmatchcase(setting, row)] for setting in settings}
    assert {setting: found for setting, found in held.items() if len(found) != 1} == {}
    assert {row for row in rows if not any(fnmatchcase(setting, row) for setting in settings)} == set()
