"""LOAD reStructuredText: the file's own text, cut at the headings that it underlines."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pipelines.ingestion.loaders.base import Content, Limits
from pipelines.ingestion.loaders.text import load_text
from pipelines.ingestion.structure import MAX_TITLE, text_blocks, trimmed
from pipelines.types import Block, SourceItem

_RULE = re.compile(r"([!-/:-@\[-`{-~])\1+")
_DEEPEST = 6
_SHORTEST = 4  # signs of a rule that may be shorter than its line


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int
    words: str
    indented: bool = False

    @property
    def rule(self) -> str:
        """The sign that the whole line repeats, at least twice; empty where it does not, or not from the margin on."""
        found = None if self.indented else _RULE.fullmatch(self.words)
        return found[1] if found else ""


def is_restructured(name: str) -> bool:
    """Whether a text file of that name is reStructuredText."""
    return name.lower().endswith((".rst", ".rest"))


def load_restructured(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The text with its headings, paragraphs and list items as blocks."""
    content = load_text(data, item, limits)
    return replace(content, blocks=restructured_blocks(content.text))


def restructured_blocks(text: str) -> tuple[Block, ...]:
    """The blocks of a reStructuredText, ascending and apart.

    A heading is a line with a rule below it, and maybe the same rule above it; each new pair of signs is a level
    deeper. A rule of less than four signs is no shorter than its line. A text without headings is read as plain text.

    Source: docutils, reStructuredText Markup Specification, "Sections"; `docutils.parsers.rst.states.Text.underline`.
    """
    found = list(_headings(text))
    if not found:
        return text_blocks(text)
    blocks: list[Block] = []
    position = 0
    for heading in [*found, Block(len(text), len(text), "heading")]:
        for block in text_blocks(text[position : heading.start]):
            kind = "paragraph" if block.kind == "heading" else block.kind
            blocks.append(Block(position + block.start, position + block.end, kind))
        position = heading.end
    return tuple(sorted([*found, *blocks], key=lambda block: block.start))


def _headings(text: str) -> Iterator[Block]:
    lines = [_Line(0, 0, ""), *_lines(text)]
    levels: list[tuple[str, bool]] = []
    for number in range(1, len(lines) - 1):
        above, line, below = lines[number - 1 : number + 2]
        over = bool(below.rule) and above.words == below.words and not above.indented
        opens = over or not above.words  # a rule below the second line of a paragraph is a table's or a slip
        if not below.rule or line.rule or not line.words or not opens or len(line.words) > MAX_TITLE:
            continue
        if (line.indented and not over) or len(below.words) < min(len(line.words), _SHORTEST):
            continue
        style = (below.rule, over)
        if style not in levels:
            levels.append(style)
        start, end = trimmed(text, above.start if over else line.start, below.end)
        yield Block(start, end, "heading", min(levels.index(style) + 1, _DEEPEST))


def _lines(text: str) -> Iterator[_Line]:
    start = 0
    for line in text.split("\n"):
        yield _Line(start, start + len(line), line.strip(), line[:1].isspace())
        start += len(line) + 1
