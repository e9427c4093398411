"""The lines of a document with what they show of its layout, and the segments that a line falls into."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pipelines.ingestion.structure import covered, trimmed
from pipelines.text import plain
from pipelines.types import Block

LineKind = Literal["heading", "bullet", "row", "text", "more"]

_BULLET = re.compile(r"(?:[-*+•‣◦▪▫●○∙·➢➤►▶▸✓✔–—■□◆◇❖»›⁃]|\(?\d{1,3}[.)])[ \t]+(?=\S)")
# A list may stand in a column of its own, beside what it is of.
_BREAK = re.compile(r"\n|\t(?=[•◦▪●○‣∙] )")
_MARKS = re.compile(r"#{1,6}[ \t]+|>[ \t]?|\|")
_RULE = re.compile(r"[\s|:=_*~.\-–—]+")
_STRONG = re.compile(r"\t[\t ]*|[ \xa0]{2,}|[ \xa0]+[|•·∙●⋅◦▪‖¦◆■][ \xa0]+|[ \xa0]*\|[ \xa0]*|<br\s?/?>|\n|\\\n")
_EDGES = " \t\n\xa0|•·∙●⋅◦▪,;:–—-/"
_EMPHASIS = "*_`~"
_LONG_LINE = 60
_NEAR = 2
_FEW_LETTERS = 4


@dataclass(frozen=True, slots=True)
class Line:
    """A line `text[start:end]`, trimmed; `body` is where its words begin, after a bullet, a `#` or a pipe.

    A `more` line goes on with the list item above it. `level` is a heading's, `indent` a list item's in characters.
    """

    start: int
    end: int
    body: int
    kind: LineKind
    level: int = 0
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a line between strong separators (tab, pipe, dot, line end): its span and its words without marks.

    `aligned` says that other words stand before it, and that a tab parts it from what does.
    """

    start: int
    end: int
    words: str
    aligned: bool = False


def lines_of(text: str, blocks: Sequence[Block]) -> list[Line]:
    """The lines of all the text in order; together they leave out only white space."""
    found: list[Line] = []
    for block in covered(text, blocks):
        if block.kind == "heading":
            found.append(Line(block.start, block.end, _body(text, block.start, block.end), "heading", block.level))
            continue
        begin = block.start
        for raw in _BREAK.split(text[block.start : block.end]):
            start, end = trimmed(text, begin, begin + len(raw))
            begin += len(raw) + 1
            if start < end:
                found.append(_line(text, block, start, end, found[-1] if found else None))
    return found


def _line(text: str, block: Block, start: int, end: int, before: Line | None) -> Line:
    indent = start - text.rfind("\n", 0, start) - 1
    bullet = _BULLET.match(text, start, end)
    if block.kind == "table" or (text[start] == "|" and text.count("|", start, end) > 2):
        return Line(start, end, _body(text, start, end), "row")
    if bullet:
        return Line(start, end, bullet.end(), "bullet", indent=indent)
    if start > block.start and before and before.kind in ("bullet", "more"):
        wrapped = indent > 0 or text[start].islower() or before.end - before.start > _LONG_LINE
        if wrapped and "\t" not in text[start:end] and " | " not in text[start:end]:
            return Line(start, end, start, "more")
    return Line(start, end, _body(text, start, end), "text")


def _body(text: str, start: int, end: int) -> int:
    while (mark := _MARKS.match(text, start, end)) and mark.end() < end:
        start = mark.end()
        while start < end and text[start].isspace():
            start += 1
    return start


def is_rule(text: str, line: Line) -> bool:
    """Whether the line is only a rule, such as the one under a table's head."""
    return _RULE.fullmatch(text, line.start, line.end) is not None


def words_of(raw: str) -> str:
    """The words of a stretch on one line, without marks and the separators around them."""
    words = " ".join(plain(raw).split()) if any(mark in raw for mark in "*_`[]<>\\&~|#") else " ".join(raw.split())
    words = words.strip(_EDGES)
    while words and words[0] == "(" and words[-1] == ")" and ")" not in words[:-1]:
        words = words[1:-1].strip(_EDGES)
    if words.count("(") > words.count(")"):
        words = words.rstrip("(").rstrip(_EDGES)
    if words.count(")") > words.count("("):
        words = words.lstrip(")").lstrip(_EDGES)
    if words.count("[") != words.count("]"):
        words = words.strip("[]").strip(_EDGES)
    return words.strip(_EMPHASIS)


def unspaced(words: str) -> str:
    """The words, those set letter by letter put together: "W O R K   L I F E" is "WORK LIFE"."""
    letters = words.split()
    if len(letters) < _FEW_LETTERS or any(len(letter) > 1 for letter in letters):
        return words
    return " ".join("".join(word.split()) for word in re.split(r"\s{2,}", words.strip()))


def segments(text: str, start: int, end: int, holes: Sequence[tuple[int, int]] = ()) -> list[Segment]:
    """The segments of `text[start:end]` that hold words, in order; the holes (its dates) part and are left out."""
    found: list[Segment] = []
    whole = unspaced(text[start:end])
    if whole != text[start:end]:
        return [Segment(start, end, whole)]
    cuts = [(match.start(), match.end()) for match in _STRONG.finditer(text, start, end)]
    inside = [hole for hole in holes if start <= hole[0] and hole[1] <= end]
    opened = start
    for begin, finish in [*sorted([*cuts, *inside]), (end, end)]:
        if begin > opened:
            words = words_of(text[opened:begin])
            if any(map(str.isalnum, words)):
                first, last = _trim(text, opened, begin)
                found.append(Segment(first, last, words, bool(found) and "\t" in text[first - _NEAR : first]))
        opened = max(opened, finish)
    return found


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    raw = text[start:end]
    start += len(raw) - len(raw.lstrip(_EDGES + "("))
    return start, max(start + 1, start + len(raw.strip(_EDGES + "(")))
