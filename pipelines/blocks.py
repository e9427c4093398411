"""Blocks of Markdown and plain text: headings, paragraphs, list items, tables, code."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from pipelines.bullets import item_body
from pipelines.headings import MAX_TITLE, Span, headings, promote_headings, trim_span
from pipelines.markup import MarkupScan, opener, plain, replaced, scan_markup
from pipelines.text import line_breaks
from pipelines.types import Block, BlockKind, Document

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_MAX_HEADING = 5_000
_FILLER = "<wbr>"  # in a table of HTML, which a blank line would end
_STATED = frozenset({  # whose headings are all stated
    "text/markdown", "text/plain", "application/resume+json", "application/rendercv+yaml",
    "application/x-linkedin-archive+zip", "application/x-ipynb+json",
})  # fmt: skip
_INSET = 4  # spaces before what is inside an admonition or a tab
_ALERT = re.compile(r"[ \t]*>[ \t]?\[![\w -]{1,40}\][+-]?[ \t]*")
_KINDS: dict[str, BlockKind] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "html_block": "paragraph",
    "fence": "code",
    "code_block": "code",
    "table_open": "table",
}


def markdown_blocks(text: str) -> tuple[Block, ...]:
    """Leaf blocks of a Markdown text (CommonMark with tables), ascending and disjoint.

    Only top-level headings of at most 200 characters (without badges and link targets) are headings: `#` inside a
    fence, HTML, a list or a quotation is not. Each list item is a block, starting at its marker. What is inside an
    admonition or a tab is read as if it stood outside; its opening and closing lines are in no block.
    """
    starts = [0, *(place + 1 for place in line_breaks(text)), len(text)]
    blocks: list[Block] = []
    depth = 0
    for token in _markdown().parse(_with_underlines(_without_frames(text))):
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
        if token.type == "html_block" and has_tag(text[start:end], "tr"):
            kind = "table"
        if kind == "paragraph" and depth:
            kind = "list"
        if start < end and (not blocks or start >= blocks[-1].end):
            blocks.append(Block(start, end, kind, level))
    return tuple(blocks)


def _with_underlines(text: str) -> str:
    """The text with equals signs for tildes below a title of their length, which open no code as nothing closes it."""
    lines = text.split("\n")
    marks = [at for at, line in enumerate(lines) if line.startswith("~~~")]
    if len(marks) == 1 and 0 < marks[0] < len(lines):
        title, rule = lines[marks[0] - 1].rstrip(), lines[marks[0]].rstrip()
        if title and not rule.strip("~") and abs(len(title) - len(rule)) <= 1:
            lines[marks[0]] = "=" * len(rule)
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Frame:
    """An admonition, a tab or another container: the span of its title, and where it ends."""

    start: int
    end: int
    until: int


def frames(text: str, scan: MarkupScan) -> list[Frame]:
    """The containers of a Markdown text, by their beginnings."""
    return [Frame(*frame) for frame in _read_frames(text, scan)[1]]


def _without_frames(text: str) -> str:
    """A copy of as many lines without the frames of containers, the insets of what is in them, and hidden lines."""
    marks = ("!!!", "???", "===", ":::", "[!", "<!--", "%", "</", "{#", "{/*", "{{<", "{--", "{>>")
    return _read_frames(text, scan_markup(text))[0] if any(mark in text for mark in marks) else text


class _FrameReader:
    """Reads the lines of a text once, and notes its containers."""

    def __init__(self) -> None:
        self.titles: list[list[int]] = []  # [start, end, until] of each
        self._inset: list[tuple[int, list[int]]] = []  # containers of MkDocs that stand open
        self._fenced: list[list[int]] = []  # those between colons or tags
        self._alert: list[int] | None = None

    def read(self, line: str, start: int, title: Span | None, length: int) -> str:
        """The line without its frame and without the insets of the containers that it stands in."""
        words = line.strip()
        width = len(line) - len(line.lstrip(" "))
        while self._inset and words and width < self._inset[-1][0] + _INSET:
            self._inset.pop()[1][2] = start
        if self._alert and not words.startswith(">"):
            self._alert[2], self._alert = start, None
        kept = line[_INSET * len(self._inset) :]
        if title is None:
            return kept
        if not words.strip(":") or words.strip("{%<- ").startswith(("/", "end")):
            if self._fenced:
                self._fenced.pop()[2] = start
            return ""
        self.titles.append([*title, length])
        if words.startswith(">"):
            self._alert = self.titles[-1]
            return ">"
        if words[0] in ":<{":
            self._fenced.append(self.titles[-1])
        else:
            self._inset.append((width, self.titles[-1]))
        return ""


def _read_frames(text: str, scan: MarkupScan) -> tuple[str, list[list[int]]]:
    """(the copy without frames, the [start, end, until] of each title)."""
    reader, lines, code, start = _FrameReader(), list[str](), 0, 0
    is_table = False
    hidden = (span for span in scan.markup if span.hides and "\n" in text[span.start : span.end])
    blanks = [span._replace(words=_blank(text[span.start : span.end])) for span in hidden]
    for line in replaced(text, blanks).split("\n"):
        end = start + len(line)
        while code < len(scan.code) and scan.code[code][1] <= start:
            code += 1
        is_code = code < len(scan.code) and scan.code[code][0] <= start
        title = None if is_code or not line.strip() else _title_of_frame(text, start, end)
        is_table = (is_table or "<table" in line) and "</table" not in line and not is_code
        kept = reader.read(line, start, title, len(text))
        lines.append(_FILLER if is_table and not kept.strip() else kept)
        start = end + 1
    return "\n".join(lines), reader.titles


def _title_of_frame(text: str, start: int, end: int) -> Span | None:
    """The span of the title of a line that opens or ends a container; None for any other line."""
    alert = _ALERT.match(text, start, end)
    return (alert.end(), end) if alert else opener(text, start, end)


def _blank(text: str) -> str:
    return "".join(sign if sign == "\n" else " " for sign in text)


def _is_too_long(heading: str) -> bool:
    return len(heading) > MAX_TITLE and (len(heading) > _MAX_HEADING or len(plain(heading)) > MAX_TITLE)


@lru_cache(maxsize=1)
def _markdown() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table").disable("inline")


def has_tag(source: str, name: str) -> bool:
    """True if an element of this name opens in a source of HTML."""
    return any(after[:1].isspace() or after[:1] == ">" for after in source.lower().split(f"<{name}")[1:])


def text_blocks(text: str) -> tuple[Block, ...]:
    """Blocks of a plain text: paragraphs between blank lines, list items, fenced code, and `headings`."""
    every = list(_lines(text))
    fences = dict(_fences(text, every))
    lines = _outside(every, fences)
    found = {block.start: block for block in headings(text, lines)}
    found |= {start: Block(*trim_span(text, start, end), "code") for start, end in fences.items()}
    blocks: list[Block] = []
    opened: tuple[int, BlockKind] | None = None
    closed = done = 0
    for start, end in every:
        if start < done:
            continue
        heading = found.get(start) or found.get(trim_span(text, start, end)[0])
        first = trim_span(text, start, end)[0]
        item = not heading and item_body(text, first, end) > first
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
    """Blocks of a document to parse by; see `read_blocks`."""
    return read_blocks(document.text, document.blocks, document.mime)


def read_blocks(text: str, blocks: tuple[Block, ...], mime: str) -> tuple[Block, ...]:
    """The loader's blocks with missed headings added; without any, those of plain text.

    Markdown states its own headings; if it has none, its paragraphs are read as plain text.
    """
    if not blocks:
        return text_blocks(text)
    if mime == "text/markdown" and not any(block.kind == "heading" for block in blocks):
        return promote_headings(text, tuple(_reread_paragraphs(text, blocks)))
    if mime in _STATED:
        return blocks
    return promote_headings(text, blocks)


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


def _fences(text: str, lines: Sequence[Span]) -> Iterator[Span]:
    """The spans of code between lines of backticks; a fence that nothing closes is none."""
    opened = -1
    for start, end in lines:
        words = text[start:end].strip()
        if opened < 0 and words.startswith("```") and "`" not in words.strip("`"):
            opened = start
        elif opened >= 0 and words.startswith("```") and not words.strip("`"):
            yield opened, end
            opened = -1


def _outside(lines: Sequence[Span], fences: Mapping[int, int]) -> list[Span]:
    done, kept = 0, []
    for start, end in lines:
        done = fences.get(start, done)
        if start >= done:
            kept.append((start, end))
    return kept


def _lines(text: str) -> Iterator[Span]:
    """Start and end of each non-blank line."""
    start = 0
    for line in text.split("\n"):
        if line and not line.isspace():
            yield start, start + len(line)
        start += len(line) + 1
