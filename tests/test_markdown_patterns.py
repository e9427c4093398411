"""Markdown is read in one place: no other module recognises its marks, whatever its patterns look like.

What a pattern does is tried out, not how it is written: it knows a mark if it matches the mark where Markdown has it,
and not the same text with another sign or a word in its place; of dashes and bars, not in the middle of a line either.
Patterns are those that a module holds once it is imported, and those in its calls of `re`. Strings count where a method
that reads text, or `in`, is given a mark.
"""

import ast
import importlib
import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
# Where Markdown is read, and what reads formats into it.
READERS = ("markup.py", "blocks.py", "structure.py", "headings.py", "ingestion/loaders/", "ingestion/parsers/")
# What reads the Markdown that a language model wrote, or writes some for one.
OF_MODELS = (
    "query/layout.py",
    "query/citation_markers.py",
    "query/reply.py",
    "query/llm_queries.py",
    "query/model_writer.py",
)
SOURCES = sorted(
    path
    for path in (ROOT / "pipelines").rglob("*.py")
    if not str(path.relative_to(ROOT / "pipelines")).startswith((*READERS, *OF_MODELS, "store/migrations/"))
)
# By mark: where Markdown has it, with {} for the mark, and where it is no mark.
MARKS = {
    "fence": (("```", "~~~"), ("{}\nx = 1\n{}", "{}sh\nx = 1\n{}"), ()),
    "heading": (("#", "##", "###"), ("{} Words of it", "a\n\n{} Words of it\n"), ()),
    "item": (
        ("-", "*", "+", "•"),
        ("{} Words of it", "{} Words\n{} of it", "a\n{} Words of it"),
        ("a {} Words of it",),
    ),
    "row": (("|",), ("{} a {} b {}", "{} a {} b {}\n{}---{}---{}"), ("a {} b",)),
    "emphasis": (("**", "__", "~~"), ("a {}word{} b", "{}Words of it{}"), ()),
    "link": (("](",), ("see [words{}http://a.b/c) now", "![words{}a.png)"), ()),
    "comment": (("<!--",), ("{} words --> more",), ()),
}
# Patterns of other notations that a mark fits into, by module: bylines, names of languages (C#), files of truth.
OTHER_NOTATIONS = {
    ("pipelines/ingestion/classify.py", "|"),
    ("pipelines/display.py", "|"),
    ("pipelines/evaluation/truth.py", "<[^<>]{0,200}>"),
    ("pipelines/evaluation/truth.py", r"([^(:]+)[(:]\s*([^()]*)\)?"),
}
OTHERS = ("w", ";", "@", "&", "%", "=")
SPELT = {"```", "~~~", "# ", "## ", "- ", "* ", "**", "|", "](", "![", "<!--", "[!", ":::", "!!!", "==="}
READING = {"startswith", "endswith", "find", "rfind", "index", "split", "rsplit", "partition", "rpartition", "count"}
READING |= {"strip", "lstrip", "rstrip", "removeprefix", "removesuffix", "replace"}


@cache
def _module(path: Path) -> ModuleType:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))


def _held(value: object, depth: int = 0) -> Iterator[re.Pattern[str]]:
    """The patterns in a value, also in its items and attributes."""
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif depth < 3 and isinstance(value, dict):
        for each in value.values():
            yield from _held(each, depth + 1)
    elif depth < 3 and isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from _held(each, depth + 1)
    elif depth < 2 and isinstance(value, type) and value.__module__.startswith("pipelines"):
        for each in vars(value).values():
            yield from _held(each, depth + 1)


def _called(path: Path) -> Iterator[re.Pattern[str]]:
    """The patterns in a module's calls of `re`; a name that only the function knows is a word."""
    module = _module(path)

    class _Words(dict[str, object]):
        def __missing__(self, name: str) -> object:
            return "word"

    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        is_re = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args
        if not is_re or not isinstance(node.func.value, ast.Name) or node.func.value.id != "re":
            continue
        try:
            made = eval(compile(ast.Expression(node.args[0]), str(path), "eval"), {}, _Words(vars(module)))
            if isinstance(made, str):
                yield re.compile(made, re.MULTILINE)
        except Exception:  # noqa: BLE001 - it is made of what only the function has
            continue


def _covers(pattern: re.Pattern[str], text: str, at: int, length: int) -> bool:
    """True if a match holds the signs of a mark, and is not the whole of a text that says nothing of it."""
    return any(match.start() <= at and at + length <= match.end() for match in pattern.finditer(text))


def _knows(pattern: re.Pattern[str], name: str) -> bool:
    marks, places, elsewhere = MARKS[name]
    alone = set()  # marks, with the space after them, in whose place no other sign fits: several are a list's anywhere
    for mark, place in product(marks, places):
        at = place.index("{}")
        if not _covers(pattern, place.replace("{}", mark), at, len(mark)):
            continue
        if any(_covers(pattern, place.replace("{}", sign * len(mark)), at, len(mark)) for sign in OTHERS):
            continue
        if _covers(pattern, place.replace("{}", mark), at, len(mark) + 1):
            alone.add(mark)
        if not any(_covers(pattern, text.replace("{}", mark), text.index("{}"), len(mark)) for text in elsewhere):
            return True
    return len(alone) > 1


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        (r"^`{3}", "fence"), (r"\x60\x60\x60\w*", "fence"), (r"(?:[`]){3,}", "fence"), ("#{1,6} ", "heading"),
        (r"[ \t]*(?:[-*+•·‣–][ \t]|\d{1,3}[.)][ \t])?", "item"),
        (r"(?m)^\s{0,3}[\x23]+", "heading"), (r"(?m)^\s*[-*+]\s", "item"), (r"(?:\A|\n)[ \t]*[•*][ \t]+", "item"),
        (r"^\|", "row"), (r"\*\*(.+?)\*\*", "emphasis"), ("[*]{2}", "emphasis"), (r"(__)\w+\1", "emphasis"),
        (r"\[([^\]]*)\]\([^)]*\)", "link"), ("<!-{2}", "comment"),
    ],
)  # fmt: skip
def test_a_pattern_is_known_by_what_it_matches(pattern: str, name: str) -> None:
    assert _knows(re.compile(pattern), name)


@pytest.mark.parametrize(
    "pattern", [r"\S+", r"[^\w\s]", r"\w+", r"\d{4}\s?[-–]\s?\d{4}", r"[-–—]", ".*", r"(?<=\s)-\s"]
)
def test_a_pattern_for_any_sign_or_word_knows_no_mark(pattern: str) -> None:
    assert not [name for name in MARKS if _knows(re.compile(pattern), name)]


def test_no_other_module_has_a_pattern_of_markdown() -> None:
    found = []
    for path in SOURCES:
        where = str(path.relative_to(ROOT))
        held = [pattern for value in vars(_module(path)).values() for pattern in _held(value)]
        for pattern in {(each.pattern, each.flags): each for each in (*held, *_called(path))}.values():
            known = [name for name in MARKS if _knows(pattern, name)]
            if (where, pattern.pattern) not in OTHER_NOTATIONS:
                found += [f"{where}: {name}: {pattern.pattern[:60]}" for name in known]
    assert found == []


def test_no_other_module_compares_text_with_a_mark_of_markdown() -> None:
    found = []
    for path in SOURCES:
        where = str(path.relative_to(ROOT))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            given: list[ast.expr] = []
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in READING:
                given = node.args
            elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
                given = [node.left]
            texts = {each.value for arg in given for each in ast.walk(arg) if isinstance(each, ast.Constant)} & SPELT
            found += [f"{where}:{node.lineno} {text!r}" for text in texts if (where, text) not in OTHER_NOTATIONS]
    assert found == []
