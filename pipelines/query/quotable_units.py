"""The units of quotation of a source: paragraphs, lists, tables and blocks of code, with heading and lead-in."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from pipelines.answers import Source
from pipelines.structure import sentences
from pipelines.text import Span, plain

UnitKind = Literal["paragraph", "list", "table", "code"]
ExcludeSpan = Callable[[Source, int, int], bool]  # True if this span of a source's snippet must not be quoted

_SEGMENT = 3  # sentences of a long paragraph that are one unit
_LONGEST_PART = 600  # characters; a longer piece is no sentence that a reader would be shown
_LONGEST_TITLE = 60  # characters of a heading without a mark
_LETTERS = 3  # fewer are no answer
_FENCE = re.compile(r"[ \t>]*(?:```|~~~)[ \t]*(\w*)")
_HEADING = re.compile(r" {0,3}(#{1,6})\s*(.*?)[\s#]*$")
_UNDERLINE = re.compile(r"(=|-){3,}\s*$")
_ITEM = re.compile(r"[ \t]*(?:[-*+•·‣▪●]|\(?\d{1,3}[.)])[ \t]+(?=\S)")
_INDENT = re.compile(r"(?: {4}|\t)")
_INSET = re.compile(r"[ \t]{2,}\S")
_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-[-:| \t]*$")
_CELL = re.compile(r"([^:;\n]{1,80}):[ \t]")
_BAR = re.compile(r"(?<!\\)\|")  # one behind a backslash is a cell's own
_LINK = re.compile(r"!?\[[^\[\]]*\](?:\([^()\n]*\)|\[[^\[\]\n]*\])")
_ANCHOR = re.compile(r"\[[^\[\]]*\]\(#[^()\n]*\)")
_STOPS = ".!?;。！？"


@dataclass(frozen=True, slots=True)
class QuotableSources:
    """The sources from which units may be quoted, and a test for spans that must not be; None excludes nothing."""

    sources: Sequence[Source]
    excluded: ExcludeSpan | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A sentence, list item, table row or line of code: its span in the source's snippet, and its words."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class QuotableUnit:
    """A block of a source that can be quoted.

    Attributes:
        source: Where it stands.
        kind: What it is.
        parts: Its sentences, items, rows or lines, in order; at least one.
        lead: The sentence right above a list, table or block of code, in the same section; else None.
        headings: The words of the headings above, outermost first.
        columns: The names of a table's columns; else empty.
        around: All sentences of the paragraph that it is a segment of; else its own parts.
    """

    source: Source
    kind: UnitKind
    parts: tuple[Part, ...]
    lead: Part | None = None
    headings: tuple[str, ...] = ()
    columns: str = ""
    around: tuple[Part, ...] = ()

    @property
    def text(self) -> str:
        """The words of its parts."""
        return ("\n" if self.kind == "code" else " ").join(part.text for part in self.parts)

    @property
    def lead_text(self) -> str:
        """The words of its lead-in and of its columns' names."""
        return " ".join(filter(None, (self.lead.text if self.lead else "", self.columns)))

    @property
    def start(self) -> int:
        """Where it begins in its document."""
        return self.source.start + self.parts[0].start

    @property
    def end(self) -> int:
        """Where it ends in its document."""
        return self.source.start + self.parts[-1].end


def quotable_units(sources: Sequence[Source], excluded: ExcludeSpan | None = None) -> list[QuotableUnit]:
    """The units of the sources, in order.

    Headings, lead-ins, questions that head an answer, badges, tables of contents and lines of links are none.

    Args:
        sources: In the order in which they are shown.
        excluded: Parts for which it is true are left out.
    """
    every = (unit for source in sources for unit in _units_of(source))
    return list(filter(None, (_without(unit, excluded) for unit in every)))


def _without(unit: QuotableUnit, excluded: ExcludeSpan | None) -> QuotableUnit | None:
    """The unit without the excluded parts; None where none is left."""
    if excluded is None:
        return unit

    def kept(parts: Sequence[Part]) -> tuple[Part, ...]:
        return tuple(part for part in parts if not excluded(unit.source, part.start, part.end))

    parts = kept(unit.parts)
    lead = unit.lead if unit.lead and kept([unit.lead]) else None
    return replace(unit, parts=parts, around=kept(unit.around), lead=lead) if parts else None


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines of a snippet that belong together, with the headings above them."""

    kind: UnitKind
    start: int
    end: int
    headings: tuple[str, ...]


def _units_of(source: Source) -> Iterator[QuotableUnit]:
    """The units of one source."""
    snippet = source.snippet
    outer = tuple(dict.fromkeys(filter(None, (plain(title) for title in (source.title, *source.section_path)))))
    before: _Block | None = None
    blocks = list(_blocks(snippet))
    for place, block in enumerate(blocks):
        headings = (*outer, *(title for title in block.headings if title not in outer))
        lead = None
        if block.kind != "paragraph" and before and before.kind == "paragraph" and before.headings == block.headings:
            lead = _last_sentence(snippet, before)
        before = block
        after = blocks[place + 1] if place + 1 < len(blocks) else None
        is_led = after is not None and after.kind != "paragraph" and after.headings == block.headings
        parts, columns = _parts(snippet, block, is_led=is_led)
        for group in _segments(parts) if block.kind == "paragraph" else filter(None, [parts]):
            yield QuotableUnit(source, block.kind, tuple(group), lead, headings, columns, around=tuple(parts))


def _segments(parts: Sequence[Part]) -> Iterator[Sequence[Part]]:
    """The sentences of a paragraph in groups of three, as even as they can be; up to four stay together."""
    count = max(1, round(len(parts) / _SEGMENT)) if len(parts) > _SEGMENT + 1 else 1
    edges = [round(place * len(parts) / count) for place in range(count + 1)]
    yield from (parts[first:last] for first, last in pairwise(edges) if last > first)


def _blocks(text: str) -> Iterator[_Block]:
    """The blocks of a text, in order, without its headings."""
    lines = _lines(text)
    fenced = _fenced(text)
    headings: list[tuple[int, str]] = []
    at = 0

    def above() -> tuple[str, ...]:
        return tuple(title for _, title in headings)

    while at < len(lines):
        start, end = lines[at]
        line = text[start:end]
        if fence := next((span for span in fenced if span[0] <= start < span[1]), None):
            while at < len(lines) and lines[at][0] < fence[1]:
                at += 1
            yield _Block("code", max(fence[0], start), fence[1], above())
            continue
        if not line.strip():
            at += 1
            continue
        if found := _heading_at(text, lines, at):
            level, title, count = found
            headings = [held for held in headings if held[0] < level] + [(level, title)]
            at += count
            continue
        kind = _kind_at(text, lines, at)
        first = at
        at = _end_of_block(text, lines, at, kind, fenced)
        yield _Block(kind, lines[first][0], lines[at - 1][1], above())


def _lines(text: str) -> list[Span]:
    found, start = [], 0
    for line in text.split("\n"):
        found.append((start, start + len(line)))
        start += len(line) + 1
    return found


def _fenced(text: str) -> list[Span]:
    """The spans of fenced code with its fences; a fence without a name that comes first closes a block above."""
    marks = [(start, end, mark) for start, end in _lines(text) if (mark := _FENCE.match(text, start, end))]
    edges = [(start, end) for start, end, _ in marks]
    if len(edges) % 2 and not marks[0][2][1]:
        edges.insert(0, (0, 0))
    if len(edges) % 2:
        edges.append((len(text), len(text)))
    return [(opening[0], closing[1]) for opening, closing in zip(edges[::2], edges[1::2], strict=True)]


def _heading_at(text: str, lines: Sequence[Span], at: int) -> tuple[int, str, int] | None:
    """(level, words, number of lines) of the heading that begins at a line; None where none does.

    A short line of its own without a stop is a heading below all marked ones, and so is a question of its own.
    """
    start, end = lines[at]
    line = text[start:end]
    if marked := _HEADING.match(line):
        return len(marked[1]), _title(marked[2]), 1
    is_alone_above = at == 0 or not text[slice(*lines[at - 1])].strip()
    below = text[slice(*lines[at + 1])] if at + 1 < len(lines) else ""
    if is_alone_above and (rule := _UNDERLINE.match(below)) and not _ITEM.match(line):
        return (1 if rule[1] == "=" else 2), _title(line), 2
    following = next((text[slice(*span)] for span in lines[at + 1 :] if text[slice(*span)].strip()), "#")
    is_marked = any(mark.match(line) for mark in (_ITEM, _INDENT)) or "|" in line or _is_only_code(line)
    if not is_alone_above or below.strip() or _HEADING.match(following) or is_marked:
        return None
    words = _title(line)
    if words.endswith("?") and len(words) <= 2 * _LONGEST_TITLE:
        return 8, words, 1
    is_title = 0 < len(words) <= _LONGEST_TITLE and words[-1] not in _STOPS + ":,"
    return (7, words, 1) if is_title else None


def _title(raw: str) -> str:
    """The words of a heading without its pictures."""
    return " ".join(plain(raw, images=False).split())


def _is_only_code(line: str) -> bool:
    return line.strip().startswith(("`", "$ ", "> ", "./"))


def _kind_at(text: str, lines: Sequence[Span], at: int) -> UnitKind:
    line = text[slice(*lines[at])]
    if _is_row(line) and (line.startswith("|") or _is_row(text[slice(*lines[at + 1])] if at + 1 < len(lines) else "")):
        return "table"
    if _ITEM.match(line):
        return "list"
    return "code" if _INDENT.match(line) else "paragraph"


def _is_row(line: str) -> bool:
    """True for a row with bars between its cells, a rule below column names, or values after their columns' names."""
    if "{{" in line or "{%" in line:
        return False
    if line.lstrip().startswith("|") or " | " in line or ("|" in line and _RULE.match(line)):
        return True
    names = [cell[1] for part in line.split("; ") if (cell := _CELL.match(part))]
    return len(names) > 1 and line.count("; ") + 1 == len(names)


def _end_of_block(text: str, lines: Sequence[Span], at: int, kind: UnitKind, fenced: Sequence[Span]) -> int:
    """The index after the last line of the block that begins at a line."""
    fences = {start for start, _ in lines if any(opened <= start < closed for opened, closed in fenced)}
    end = at + 1
    while end < len(lines) and lines[end][0] not in fences:
        line = text[slice(*lines[end])]
        if line.strip():
            ends = _HEADING.match(line) or not _continues(line, kind)
        else:
            is_fence = end + 1 < len(lines) and lines[end + 1][0] in fences
            following = text[slice(*lines[end + 1])] if end + 1 < len(lines) else ""
            ends = is_fence or not following.strip() or not _resumes(following, kind)
        if ends:
            break
        end += 1
    return end


def _continues(line: str, kind: UnitKind) -> bool:
    """True if a line right below belongs to a block of this kind."""
    if kind == "table":
        return _is_row(line)
    if kind == "code":
        return _INDENT.match(line) is not None
    is_row = line.startswith("|") and _is_row(line)
    return kind == "list" or not (_ITEM.match(line) or is_row or _UNDERLINE.match(line))


def _resumes(line: str, kind: UnitKind) -> bool:
    """True if a line after a blank one belongs to a block of this kind."""
    if kind == "list":
        return bool(_ITEM.match(line) or _INSET.match(line))
    return kind == "code" and _INDENT.match(line) is not None


def _parts(text: str, block: _Block, *, is_led: bool) -> tuple[list[Part], str]:
    """(the parts of a block, the names of a table's columns).

    Args:
        text: The snippet.
        block: A block of it.
        is_led: True if a list, table or block of code follows, so that a last sentence with a colon leads in to it.
    """
    if block.kind == "code":
        return _code_lines(text, block), ""
    if block.kind == "table":
        return _rows(text, block)
    if block.kind == "list":
        items = _items(text, block)
        anchors = sum(_ANCHOR.search(text, part.start, part.end) is not None for part in items)
        return ([] if items and 2 * anchors > len(items) else items), ""
    found = [
        Part(block.start + start, block.start + end, words)
        for start, end in sentences(text[block.start : block.end])
        if (words := _quotable_words(text[block.start + start : block.start + end]))
    ]
    if found and is_led and found[-1].text.endswith((":", "：")):
        found = found[:-1]
    return found, ""


def _code_lines(text: str, block: _Block) -> list[Part]:
    """The lines of a block of code without its fences and their common indentation's spaces at the end."""
    found = []
    for start, end in _lines(text[block.start : block.end]):
        line = text[block.start + start : block.start + end]
        if line.strip() and not _FENCE.match(line):
            inset = len(line) - len(line.lstrip())
            found.append(Part(block.start + start + inset, block.start + start + len(line.rstrip()), line.strip()))
    return found


def _items(text: str, block: _Block) -> list[Part]:
    """The items of a list, each with the lines that belong to it."""
    starts = []
    for start, end in _lines(text[block.start : block.end]):
        mark = _ITEM.match(text, block.start + start, block.start + end)
        if mark:
            starts.append((block.start + start, mark.end()))
    edges = [line for line, _ in starts[1:]] + [block.end]
    found = []
    for (_, start), edge in zip(starts, edges, strict=True):
        raw = text[start:edge].rstrip()
        if len(raw) <= _LONGEST_PART and (words := _quotable_words(raw, is_item=True)):
            found.append(Part(start, start + len(raw), words))
        elif len(raw) > _LONGEST_PART:
            spans = ((start + first, start + last) for first, last in sentences(raw))
            found += [Part(*span, words) for span in spans if (words := _quotable_words(text[slice(*span)]))]
    return found


def _rows(text: str, block: _Block) -> tuple[list[Part], str]:
    """(the rows of a table without its head, the names of its columns)."""
    spans = [(block.start + start, block.start + end) for start, end in _lines(text[block.start : block.end])]
    rule = next((at for at, (start, end) in enumerate(spans) if _RULE.match(text, start, end)), None)
    columns = _cells(text[slice(*spans[rule - 1])]) if rule else ""
    rows = [span for at, span in enumerate(spans) if rule is None or at > rule]
    found = [Part(start, end, words) for start, end in rows if _has_letters(words := _cells(text[start:end]))]
    return found, columns


def _cells(row: str) -> str:
    """The words of a row, with bars between its cells."""
    cells = [_words(cell) for cell in _BAR.split(row.strip().strip("|"))]
    return " | ".join(cells)


def _last_sentence(text: str, block: _Block) -> Part | None:
    """The last sentence of a paragraph, as the lead-in of what follows it."""
    found = sentences(text[block.start : block.end])
    if not found:
        return None
    start, end = block.start + found[-1][0], block.start + found[-1][1]
    words = _quotable_words(text[start:end])
    return Part(start, end, words) if words else None


def _quotable_words(raw: str, *, is_item: bool = False) -> str:
    """The words of a sentence or an item; empty if it is no more than pictures, links or template tags, or too long."""
    text = " ".join(plain(raw, images=False).split())
    if not _has_letters(text) or len(text) > _LONGEST_PART:
        return ""
    if is_item:
        return text
    bare = _LINK.sub("", raw)
    links_only = len(_LINK.findall(raw)) > 1 and not _has_letters(_words(bare))
    is_word = text.isalpha()  # `Apache-2.0` says something, `Huginn` does not
    return "" if links_only or is_word else text


def _words(raw: str) -> str:
    return " ".join(plain(raw).split())


def _has_letters(text: str) -> bool:
    return sum(map(str.isalnum, text)) >= _LETTERS
