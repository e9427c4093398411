"""The blocks of a Markdown or plain text: headings, paragraphs, list items, tables, code."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from pipelines.text import plain
from pipelines.types import Block, BlockKind

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

MAX_TITLE = 200

Span = tuple[int, int]

_ATX = re.compile(r"(#{1,6})[ \t]+\S")
_ITEM = re.compile(r"[ \t]*(?:[-*+•‣◦▪▫●○∙➢➤►▶✓✔–]|\(?\d{1,3}[.)])[ \t]+\S")
_UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}[ \t]*")
_CAPS_END = ".,;!?"
_CAPS_SHARE = 0.4


def markdown_blocks(text: str) -> tuple[Block, ...]:
    """The leaf blocks of a CommonMark text (with tables), ascending and apart.

    Only top-level headings of at most 200 characters are headings: `#` inside a fence, HTML, a list or a quotation is
    not one. Each list item is a block from its marker on.
    """
    starts = _line_starts(text)
    blocks: list[Block] = []
    depth = 0
    for token in _markdown().parse(text):
        if token.type in ("list_item_open", "list_item_close"):
            depth += token.nesting
        kind = _KINDS.get(token.type)
        if kind is None or token.map is None:
            continue
        start, end = trimmed(text, starts[token.map[0]], starts[token.map[1]])
        level = 0
        if kind == "heading":
            level = int(token.tag[1])
            if token.level or end - start > MAX_TITLE or not title_of(text, start, end):
                kind, level = "paragraph", 0
        if kind == "paragraph" and depth:
            kind = "list"
        if start < end and (not blocks or start >= blocks[-1].end):
            blocks.append(Block(start, end, kind, level))
    return tuple(blocks)


_KINDS: dict[str, BlockKind] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "html_block": "paragraph",
    "fence": "code",
    "code_block": "code",
    "table_open": "table",
}


@lru_cache(maxsize=1)
def _markdown() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table").disable("inline")


def text_blocks(text: str) -> tuple[Block, ...]:
    """The blocks of a plain text: paragraphs between blank lines, list items, and lines that look like headings.

    A heading is a `#` line, an underlined line (levels in order of appearance), or a short line in capitals
    (level 1), unless so many lines are in capitals that it says nothing.
    """
    lines = list(_lines(text))
    headings = dict(_headings(text, lines))
    blocks: list[Block] = []
    opened: tuple[int, BlockKind] | None = None
    done = 0
    for start, end in [*lines, (len(text), len(text))]:
        if start < done:
            continue
        heading = headings.get(start)
        item = not heading and _ITEM.match(text, start, end)
        blank = not text[start:end].strip()
        if opened and (heading or item or blank):
            blocks.append(Block(*trimmed(text, opened[0], start), opened[1]))
            opened = None
        if heading:
            blocks.append(heading)
            done = heading.end
        elif not blank and not opened:
            opened = (start, "list" if item else "paragraph")
    return tuple(blocks)


def _headings(text: str, lines: Sequence[Span]) -> Iterator[tuple[int, Block]]:
    """The headings of a plain text, each by where its line starts."""
    shouting = _is_shouting(text, lines)
    underlines: list[str] = []
    blank_before = True
    for line, following in pairwise([*lines, (len(text), len(text))]):
        filled = text[slice(*line)].strip()
        mark = _underline(text, line, following) if filled and blank_before else ""
        if mark and mark not in underlines:
            underlines.append(mark)
        level = underlines.index(mark) + 1 if mark else _heading_level(text[slice(*line)], shouting)
        if level:
            span = trimmed(text, line[0], following[1] if mark else line[1])
            yield line[0], Block(*span, "heading", min(level, 6))
        blank_before = not filled or bool(level)


def covered(text: str, blocks: Sequence[Block]) -> list[Block]:
    """The blocks, and paragraphs for every stretch of text between them that is not white space."""
    whole: list[Block] = []
    position = 0
    for block in [*blocks, Block(len(text), len(text), "paragraph")]:
        start, end = trimmed(text, position, block.start)
        if start < end:
            whole.append(Block(start, end, "paragraph"))
        if block.start < block.end:
            whole.append(block)
        position = max(position, block.end)
    return whole


def title_of(text: str, start: int, end: int) -> str:
    """The words of a heading on one line, without its marks; at most 200 characters."""
    return " ".join(plain(text[start:end]).split())[:MAX_TITLE].rstrip()


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without white space at its ends; empty spans collapse to their start."""
    stretch = text[start:end]
    start += len(stretch) - len(stretch.lstrip())
    return start, max(start, start + len(stretch.strip()))


def _line_starts(text: str) -> list[int]:
    """Where each line starts, and once more the end of the text."""
    return [0, *(match.end() for match in re.finditer("\n", text)), len(text)]


def _lines(text: str) -> Iterator[Span]:
    starts = _line_starts(text)
    for start, following in pairwise(starts):
        yield start, following - (following > start and text[following - 1] == "\n")


def _underline(text: str, line: Span, following: Span) -> str:
    """The character that underlines the line, or nothing."""
    match = _UNDERLINE.fullmatch(text, *following)
    title = text[line[0] : line[1]].strip()
    if match is None or following[1] - line[0] > MAX_TITLE or not any(map(str.isalnum, title)):
        return ""
    return match[1] if len(match[0].rstrip()) >= 0.6 * len(title) else ""


def _heading_level(line: str, shouting: bool) -> int:
    atx = _ATX.match(line)
    if atx and len(line) <= MAX_TITLE:
        return len(atx[1])
    return int(not shouting and is_capitals(line))


def is_capitals(line: str) -> bool:
    """Whether a line is short, all in capitals and no sentence."""
    line = line.strip()
    return 4 <= len(line) <= 80 and line.isupper() and line[-1] not in _CAPS_END and sum(map(str.isalpha, line)) >= 4


def _is_shouting(text: str, lines: Sequence[Span]) -> bool:
    filled = [line for line in (text[start:end] for start, end in lines) if line.strip()]
    return len(filled) > 3 and sum(map(is_capitals, filled)) > _CAPS_SHARE * len(filled)
