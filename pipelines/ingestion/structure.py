"""The blocks of a Markdown or plain text: headings, paragraphs, list items, tables, code."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from pipelines.ingestion.heading_styles import MAX_TITLE, is_capitals
from pipelines.ingestion.headings import Span, headings, promoted, trimmed
from pipelines.text import plain
from pipelines.types import Block, BlockKind, Document

__all__ = [
    "MAX_TITLE",
    "Span",
    "blocks_of",
    "covered",
    "is_capitals",
    "markdown_blocks",
    "text_blocks",
    "title_of",
    "trimmed",
]

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_MAX_HEADING = 5_000
_ITEM = re.compile(r"[ \t]*(?:[-*+•‣◦▪▫●○∙➢➤►▶✓✔–]|\(?\d{1,3}[.)])[ \t]+\S")


def markdown_blocks(text: str) -> tuple[Block, ...]:
    """The leaf blocks of a CommonMark text (with tables), ascending and apart.

    Only top-level headings of at most 200 characters (badges and link targets apart) are headings: `#` inside a fence,
    HTML, a list or a quotation is not one. Each list item is a block from its marker on.
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
            if token.level or _is_too_long(text[start:end]) or not title_of(text, start, end):
                kind, level = "paragraph", 0
        if kind == "paragraph" and depth:
            kind = "list"
        if start < end and (not blocks or start >= blocks[-1].end):
            blocks.append(Block(start, end, kind, level))
    return tuple(blocks)


def _is_too_long(heading: str) -> bool:
    """Whether the heading says too much for a title."""
    return len(heading) > MAX_TITLE and (len(heading) > _MAX_HEADING or len(plain(heading)) > MAX_TITLE)


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

    What is a heading, and how deep, `headings` says.
    """
    lines = list(_lines(text))
    found = {block.start: block for block in headings(text, lines)}
    blocks: list[Block] = []
    opened: tuple[int, BlockKind] | None = None
    closed = done = 0
    for start, end in lines:
        if start < done:
            continue
        heading = found.get(trimmed(text, start, end)[0])
        item = not heading and _ITEM.match(text, start, end)
        if opened and (heading or item or start > closed + 1):
            blocks.append(Block(*trimmed(text, opened[0], closed), opened[1]))
            opened = None
        if heading:
            blocks.append(heading)
            done = heading.end
        elif not opened:
            opened = (start, "list" if item else "paragraph")
        closed = end
    if opened:
        blocks.append(Block(*trimmed(text, opened[0], closed), opened[1]))
    return tuple(blocks)


def blocks_of(document: Document) -> tuple[Block, ...]:
    """The blocks to cut by: the loader's, with the headings that it missed; without any, those of plain text.

    Markdown says itself what is a heading, unless it has none at all: then its paragraphs are read as plain text.
    """
    if not document.blocks:
        return text_blocks(document.text)
    if document.mime == "text/markdown" and not any(block.kind == "heading" for block in document.blocks):
        return promoted(document.text, tuple(_as_plain(document.text, document.blocks)))
    told = document.mime in ("text/markdown", "text/plain")
    return document.blocks if told else promoted(document.text, document.blocks)


def _as_plain(text: str, blocks: Sequence[Block]) -> Iterator[Block]:
    """The blocks with each paragraph read as plain text."""
    for block in blocks:
        if block.kind != "paragraph":
            yield block
            continue
        for part in text_blocks(text[block.start : block.end]):
            yield replace(part, start=block.start + part.start, end=block.start + part.end)


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
    """The words of a heading on one line, without its marks and its last colon; at most 200 characters."""
    words = " ".join(plain(text[start:end]).split())[:MAX_TITLE].rstrip()
    wiki = words.startswith("=") and words.endswith("=") and words.strip("= ")
    return wiki or words.rstrip(":：").rstrip() or words


def _line_starts(text: str) -> list[int]:
    """Where each line starts, and once more the end of the text."""
    return [0, *(match.end() for match in re.finditer("\n", text)), len(text)]


def _lines(text: str) -> Iterator[Span]:
    """Where each line that is not blank starts and ends."""
    start = 0
    for line in text.split("\n"):
        if line and not line.isspace():
            yield start, start + len(line)
        start += len(line) + 1
