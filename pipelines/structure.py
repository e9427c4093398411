"""Blocks of Markdown and plain text: headings, paragraphs, list items, tables, code."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from pipelines.headings import MAX_TITLE, Span, headings, promote_headings, trim_span
from pipelines.text import plain
from pipelines.types import Block, BlockKind, Document

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_MAX_HEADING = 5_000
_ITEM = re.compile(r"[ \t]*(?:[-*+•‣◦▪▫●○∙➢➤►▶✓✔–]|\(?\d{1,3}[.)])[ \t]+\S")
_KINDS: dict[str, BlockKind] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "html_block": "paragraph",
    "fence": "code",
    "code_block": "code",
    "table_open": "table",
}


def markdown_blocks(text: str) -> tuple[Block, ...]:
    """Leaf blocks of a CommonMark text (with tables), ascending and disjoint.

    Only top-level headings of at most 200 characters (without badges and link targets) are headings: `#` inside a
    fence, HTML, a list or a quotation is not. Each list item is a block, starting at its marker.
    """
    starts = [0, *(match.end() for match in re.finditer("\n", text)), len(text)]
    blocks: list[Block] = []
    depth = 0
    for token in _markdown().parse(text):
        if token.type in ("list_item_open", "list_item_close"):
            depth += token.nesting
        kind = _KINDS.get(token.type)
        if kind is None or token.map is None:
            continue
        start, end = trim_span(text, starts[token.map[0]], starts[token.map[1]])
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
    return len(heading) > MAX_TITLE and (len(heading) > _MAX_HEADING or len(plain(heading)) > MAX_TITLE)


@lru_cache(maxsize=1)
def _markdown() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table").disable("inline")


def text_blocks(text: str) -> tuple[Block, ...]:
    """Blocks of a plain text: paragraphs between blank lines, list items, and headings (see `headings`)."""
    lines = list(_lines(text))
    found = {block.start: block for block in headings(text, lines)}
    blocks: list[Block] = []
    opened: tuple[int, BlockKind] | None = None
    closed = done = 0
    for start, end in lines:
        if start < done:
            continue
        heading = found.get(trim_span(text, start, end)[0])
        item = not heading and _ITEM.match(text, start, end)
        if opened and (heading or item or start > closed + 1):
            blocks.append(Block(*trim_span(text, opened[0], closed), opened[1]))
            opened = None
        if heading:
            blocks.append(heading)
            done = heading.end
        elif not opened:
            opened = (start, "list" if item else "paragraph")
        closed = end
    if opened:
        blocks.append(Block(*trim_span(text, opened[0], closed), opened[1]))
    return tuple(blocks)


def blocks_of(document: Document) -> tuple[Block, ...]:
    """Blocks to parse by: the loader's with missed headings added; without any, those of plain text.

    Markdown states its own headings; if it has none, its paragraphs are read as plain text.
    """
    if not document.blocks:
        return text_blocks(document.text)
    if document.mime == "text/markdown" and not any(block.kind == "heading" for block in document.blocks):
        return promote_headings(document.text, tuple(_reread_paragraphs(document.text, document.blocks)))
    if document.mime in ("text/markdown", "text/plain"):
        return document.blocks
    return promote_headings(document.text, document.blocks)


def _reread_paragraphs(text: str, blocks: Sequence[Block]) -> Iterator[Block]:
    """The blocks with each paragraph split as plain text."""
    for block in blocks:
        if block.kind != "paragraph":
            yield block
            continue
        for part in text_blocks(text[block.start : block.end]):
            yield replace(part, start=block.start + part.start, end=block.start + part.end)


def fill_gaps(text: str, blocks: Sequence[Block]) -> list[Block]:
    """The blocks, plus a paragraph for each non-blank stretch of text between them."""
    whole: list[Block] = []
    position = 0
    for block in [*blocks, Block(len(text), len(text), "paragraph")]:
        start, end = trim_span(text, position, block.start)
        if start < end:
            whole.append(Block(start, end, "paragraph"))
        if block.start < block.end:
            whole.append(block)
        position = max(position, block.end)
    return whole


def title_of(text: str, start: int, end: int) -> str:
    """The words of a heading on one line, without images, marks and final colon; at most 200 characters."""
    words = " ".join(plain(text[start:end], images=False).split())[:MAX_TITLE].rstrip()
    wiki = words.startswith("=") and words.endswith("=") and words.strip("= ")
    return wiki or words.rstrip(":：").rstrip() or words


def _lines(text: str) -> Iterator[Span]:
    """Start and end of each non-blank line."""
    start = 0
    for line in text.split("\n"):
        if line and not line.isspace():
            yield start, start + len(line)
        start += len(line) + 1
