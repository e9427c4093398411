"""Lines of a PDF to paragraphs, list items and headings, in the order in which the file draws them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from pipelines.ingestion.loaders.pdf_lines import Line, usual_size
from pipelines.ingestion.structure import is_capitals
from pipelines.types import BlockKind

MAX_HEADING = 150

_LARGER = 1.12
_BOLD_HEADING = 80
_BULLET = re.compile(r"(?:[•‣◦▪▫●○∙■□➢➤►▶✓✔❖]|[-–*·](?=\s)|\(?\d{1,2}[.)](?=\s+\D))\s*")
_LONE_BULLET = re.compile(r"[•‣◦▪▫●○∙■□➢➤►▶✓✔❖·–-]")
_SENTENCE_END = re.compile(r"[.!?:;…。！？][\"'”’)\]]*$")
_WORD_WIDTH = 0.5
_INDENT = 0.8


@dataclass(slots=True)
class Group:
    """The lines of one block."""

    kind: BlockKind
    lines: list[Line] = field(default_factory=list)
    level: int = 0


@dataclass(frozen=True, slots=True)
class Style:
    """What is usual in a document: body size, distance of lines in sizes, sizes of headings from the largest."""

    size: float
    leading: float
    heading_sizes: tuple[float, ...]
    bold_tells: bool


def style_of(lines: Sequence[Line]) -> Style:
    """The usual measures over all lines."""
    size = usual_size(lines)
    gaps = [
        gap
        for above, below in pairwise(lines)
        if above.size == below.size == size and 0.8 < (gap := (above.y - below.y) / max(size, 1)) < 3.2
    ]
    larger = {line.size for line in lines if line.size >= size * _LARGER and _is_title_like(line.text)}
    bold = sum(len(line.text) for line in lines if line.bold)
    return Style(
        size=size,
        leading=median(gaps) if gaps else 1.2,
        heading_sizes=tuple(sorted(larger, reverse=True)),
        bold_tells=bold < 0.4 * sum(len(line.text) for line in lines),
    )


def group_lines(lines: Iterable[Line], style: Style) -> list[Group]:
    """The blocks of the document; a paragraph may go on over a page break."""
    groups: list[Group] = []
    drawn = _with_bullets(lines)
    edges = _right_edges(drawn)
    for position, line in enumerate(drawn):
        above = drawn[position - 1] if position else None
        below = drawn[position + 1] if position + 1 < len(drawn) else None
        level = _heading_level(line, above, below, style)
        if level:
            if not (groups and _continues_heading(groups[-1], line, level)):
                groups.append(Group("heading", level=level))
        elif _BULLET.match(line.text):
            groups.append(Group("list"))
        elif not groups or groups[-1].kind == "heading" or _begins(groups[-1], line, style, edges[position - 1]):
            groups.append(Group("paragraph"))
        groups[-1].lines.append(line)
    return [_honest(group) for group in groups]


def _with_bullets(lines: Iterable[Line]) -> list[Line]:
    """The lines, with a bullet that stands alone put in front of the line on its row."""
    done: list[Line] = []
    for line in lines:
        before = done[-1] if done else None
        if before and before.page == line.page and _LONE_BULLET.fullmatch(before.text) and _same_row(before, line):
            text = f"{before.text} {line.text}"
            done[-1] = Line(text, line.page, before.x0, line.x1, line.y, line.size, line.bold, line.hyphen)
        else:
            done.append(line)
    return done


def _right_edges(lines: Sequence[Line]) -> list[float]:
    """How far right the lines reach that begin near where each line begins, on its page."""
    reach: dict[tuple[int, int], float] = {}
    keys = [(line.page, int(line.x0 // 36)) for line in lines]
    for key, line in zip(keys, lines, strict=True):
        reach[key] = max(reach.get(key, 0.0), line.x1)
    return [max(reach.get((page, column + step), 0.0) for step in (-1, 0, 1)) for page, column in keys]


def _is_title_like(text: str) -> bool:
    letters = sum(map(str.isalpha, text))
    return letters >= 2 and len(text) <= MAX_HEADING and not (len(text) > 60 and _SENTENCE_END.search(text))


def _heading_level(line: Line, above: Line | None, below: Line | None, style: Style) -> int:
    """1 to 6 for a heading: larger than the body, or alone in bold or in capitals at about its size."""
    if not _is_title_like(line.text) or _BULLET.match(line.text):
        return 0
    if line.size >= style.size * _LARGER:
        return min(style.heading_sizes.index(line.size) + 1, 6) if line.size in style.heading_sizes else 0
    least = min(len(style.heading_sizes) + 1, 6)
    if line.size < style.size * 0.9:
        return 0
    if is_capitals(line.text) and not (below and is_capitals(below.text) and above and is_capitals(above.text)):
        return least
    if not (style.bold_tells and line.bold and len(line.text) <= _BOLD_HEADING) or line.text[-1] in ".,;":
        return 0
    apart = above is None or above.page != line.page or above.y - line.y > style.leading * line.size * 1.2
    followed = below is not None and not _same_row(line, below)
    return least if apart and followed else 0


def _continues_heading(group: Group, line: Line, level: int) -> bool:
    last = group.lines[-1]
    near = last.page == line.page and 0 < last.y - line.y < 1.8 * line.size
    return group.kind == "heading" and group.level == level and last.size == line.size and near


def _begins(group: Group, line: Line, style: Style, right: float) -> bool:
    """Whether the line begins a new block after the group's last line."""
    last = group.lines[-1]
    if last.hyphen:
        return False
    goes_on = line.text[0].islower()
    if last.page != line.page:
        return not goes_on or bool(_SENTENCE_END.search(last.text))
    if _same_row(last, line):
        return line.x0 - last.x1 > 3 * line.size
    gap = (last.y - line.y) / max(line.size, 1)
    if abs(last.size - line.size) > 0.1 * line.size or gap < 0 or gap > style.leading * 1.3 + 0.1:
        return True
    return not goes_on and _begins_nearby(group, line, right)


def _begins_nearby(group: Group, line: Line, right: float) -> bool:
    """The same for a line that follows at the usual distance: by its indent, or by the room left above it."""
    last = group.lines[-1]
    if group.kind == "list":
        return line.x0 < group.lines[0].x0 + 0.3 * line.size
    indent = _INDENT * line.size
    if line.x0 > last.x0 + indent or (line.x0 < last.x0 - indent and len(group.lines) > 1):
        return True
    first_word = len(line.text.split(maxsplit=1)[0]) * line.size * _WORD_WIDTH
    return right - last.x1 > first_word + 2 * line.size


def _same_row(one: Line, other: Line) -> bool:
    return one.page == other.page and abs(one.y - other.y) < 0.3 * max(one.size, other.size, 1)


def _honest(group: Group) -> Group:
    """A heading that runs over many lines is a paragraph in large type."""
    length = sum(len(line.text) for line in group.lines)
    too_long = group.kind == "heading" and (len(group.lines) > 3 or length > MAX_HEADING)
    return Group("paragraph", group.lines) if too_long else group
