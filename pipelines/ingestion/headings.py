"""Which lines of a text without markup are headings, and how deep they stand."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pipelines.ingestion.heading_styles import (
    CAPITALS,
    CHAPTER,
    MARKED,
    MAX_TITLE,
    NONE,
    PART,
    Line,
    in_series,
    is_shouting,
    style_of,
)
from pipelines.types import Block

Span = tuple[int, int]

_UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}[ \t]*")
_NOTHING = Block(0, 0, "heading")


class Found(NamedTuple):
    """A heading before its level is known; a marked one brings its own."""

    start: int
    end: int
    style: int
    level: int = 0


def headings(text: str, lines: Sequence[Span]) -> list[Block]:
    """The headings among the lines of a plain text that are not blank, ascending.

    A heading is a `#` or a `== wiki ==` line, an underlined line, a short line in capitals (unless so many are that it
    says nothing), a chapter's line, a short line before a long paragraph, and a `Section Name:` alone on its line.
    """
    return list(levelled(_headings(text, lines)))


def _headings(text: str, lines: Sequence[Span]) -> Iterator[Found]:
    shouting = is_shouting([text[slice(*line)] for line in lines])
    underlines: list[str] = []
    before, style, done = -2, NONE, 0
    below = [*lines[1:], (len(text), len(text))][: len(lines)]
    for line, following in zip(in_series(_told(text, lines)), below, strict=True):
        if line.start < done:
            before = line.end
            continue
        opens = line.start > before + 1
        mark = _underline(text, line, following) if opens or style else ""
        opens = opens or style in (PART, CHAPTER)
        if mark and mark not in underlines:
            underlines.append(mark)
        style, level = (MARKED, underlines.index(mark) + 1) if mark else style_of(line._replace(opens=opens), shouting)
        if style:
            done = following[1] if mark else line.end
            yield Found(*trimmed(text, line.start, done), style, level)
        before = line.end


def promoted(text: str, blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The blocks of a loader that knows no headings, or not all: paragraphs of one line that look like one made so.

    Capitals and chapters count always; short lines before long paragraphs and `Section Name:` only where the loader
    found no heading but the title.
    """
    bare = sum(block.kind == "heading" for block in blocks) <= 1
    alone = [_alone(text, block) for block in blocks]
    shouting = is_shouting(alone)
    found: list[Found] = []
    for number, block in enumerate(blocks):
        if block.kind == "heading":
            found.append(Found(block.start, block.end, MARKED, block.level))
        elif alone[number]:
            after = blocks[number + 1] if number + 1 < len(blocks) else _NOTHING
            below = text[after.start : min(after.end, after.start + MAX_TITLE)] if after.kind != "heading" else ""
            size = after.end - after.start if after.kind == "paragraph" else 0
            line = Line(block.start, block.end, alone[number], False, True, True, below, size)
            style, _ = style_of(line, shouting)
            if MARKED < style <= CAPITALS or (bare and style > CAPITALS):
                found.append(Found(block.start, block.end, style))
    named = {block.start: block for block in levelled(found)}
    return tuple(named.get(block.start, block) for block in blocks)


def _alone(text: str, block: Block) -> str:
    """A paragraph of one short line; nothing for another block."""
    if block.kind != "paragraph" or block.end - block.start > MAX_TITLE:
        return ""
    words = text[block.start : block.end]
    return "" if "\n" in words else words


def levelled(found: Iterable[Found]) -> Iterator[Block]:
    """The headings with their levels: one without marks stands under the nearest of a stronger style."""
    open_: list[tuple[int, int, int]] = []
    for heading in found:
        rank = (heading.style, heading.level)
        while open_ and open_[-1][:2] > rank:
            open_.pop()
        if open_ and open_[-1][:2] == rank:
            level = open_[-1][2]
        else:
            level = min(heading.level or (open_[-1][2] if open_ else 0) + 1, 6)
            open_.append((*rank, level))
        yield Block(heading.start, heading.end, "heading", level)


def _told(text: str, lines: Sequence[Span]) -> list[Line]:
    """The lines with what stands below them; `opens` is not known yet."""
    told: list[Line] = []
    next_start, below, size = -1, "", 0
    for start, end in reversed(lines):
        apart = next_start != end + 1
        words = text[start : min(end, start + MAX_TITLE + 1)].strip()
        told.append(Line(start, end, words, text[start] in " \t", False, apart, below, size))
        size = end - start + (0 if apart else size)
        next_start, below = start, text[start : min(end, start + MAX_TITLE)]
    return told[::-1]


def trimmed(text: str, start: int, end: int) -> Span:
    """The span without white space at its ends; empty spans collapse to their start."""
    stretch = text[start:end]
    start += len(stretch) - len(stretch.lstrip())
    return start, max(start, start + len(stretch.strip()))


def _underline(text: str, line: Line, following: Span) -> str:
    """The character that underlines the line, or nothing."""
    match = _UNDERLINE.fullmatch(text, *following) if following[0] == line.end + 1 else None
    if match is None or following[1] - line.start > MAX_TITLE or not any(map(str.isalnum, line.text)):
        return ""
    return match[1] if len(match[0].rstrip()) >= 0.6 * len(line.text) else ""
