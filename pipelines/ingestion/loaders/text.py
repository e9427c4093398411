"""Load plain text and reStructuredText: the file's own characters."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pipelines.blocks import text_blocks
from pipelines.errors import LoadError
from pipelines.headings import MAX_TITLE, trim_span
from pipelines.ingestion.loaders.base import Content, Limits
from pipelines.text import canonical
from pipelines.types import Block, SourceItem

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS = re.compile("[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_MAX_CONTROLS = 0.02
_RARE = re.compile("[¤¦¬¯´¸×÷ÿþÿðÞÐˆ˜†‡‰\x80-\x9f]|[ÂÃâ](?![a-zß-ÿ])|(?<=[a-z])[À-Þ](?=[a-z])")
_MAX_RARE = 0.1
_HINT = "Save it as UTF-8, or convert it: iconv -f latin1 -t utf-8."
_RULE = re.compile(r"([!-/:-@\[-`{-~])\1+")
_MAX_LEVEL = 6
_SHORTEST = 4  # characters of a rule that may be shorter than its line


def load_text(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The text of a plain text file with its paragraphs, list items and headings as blocks."""
    raw, encoding = decode(data, item.name)
    text = canonical(raw)
    metadata = {} if encoding == "utf-8" else {"encoding": encoding}
    return Content(text=text, blocks=text_blocks(text), metadata=metadata)


def decode(data: bytes, name: str) -> tuple[str, str]:
    """(the text, its encoding): by byte order mark, as UTF-8, or as cp1252 where that gives plausible text.

    Raises:
        LoadError: If the bytes are binary, or in no encoding that can be detected.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _strict(data[len(mark) :], encoding, name), encoding
    if b"\x00" in data:
        raise _binary(name)
    try:
        text, encoding = data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError as error:
        text, encoding = _western(data, error, name), "cp1252"
    if len(_CONTROLS.findall(text)) > _MAX_CONTROLS * len(text):
        raise _binary(name)
    return text, encoding


def _strict(data: bytes, encoding: str, name: str) -> str:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise LoadError(
            f"{name} begins as {encoding.upper()} but is not valid there from byte {error.start}.", hint=_HINT
        ) from error
    if "\x00" in text:
        raise _binary(name)
    return text


def _western(data: bytes, error: UnicodeDecodeError, name: str) -> str:
    """Decode as cp1252, unless the bytes look like damaged UTF-8 or binary data."""
    damaged = data.decode("utf-8", errors="ignore")
    well_formed = sum(not char.isascii() for char in damaged)
    high = sum(byte > 0x7F for byte in data)
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        text = ""
    rare = len(_RARE.findall(text))
    if not text or well_formed > (high - well_formed) or rare > _MAX_RARE * high or high > 0.3 * len(data):
        raise LoadError(f"{name} is not valid UTF-8 text (byte {error.start}).", hint=_HINT) from error
    return text


def _binary(name: str) -> LoadError:
    return LoadError(f"{name} is binary, not text.", hint="Correct its suffix, or leave it out.")


@dataclass(frozen=True, slots=True)
class _RstLine:
    start: int
    end: int
    words: str
    indented: bool = False

    @property
    def rule(self) -> str:
        """The character that the whole line repeats at least twice, from the margin; else empty."""
        found = None if self.indented else _RULE.fullmatch(self.words)
        return found[1] if found else ""


def is_restructured(name: str) -> bool:
    """True if the file name has a reStructuredText suffix."""
    return name.lower().endswith((".rst", ".rest"))


def load_restructured(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The text with its underlined headings, paragraphs and list items as blocks."""
    content = load_text(data, item, limits)
    return replace(content, blocks=restructured_blocks(content.text))


def restructured_blocks(text: str) -> tuple[Block, ...]:
    """Blocks of a reStructuredText, ascending and disjoint.

    A heading is a line with a rule below it, and maybe the same rule above it; each new style of rule is one level
    deeper. A rule of less than four characters is at least as long as its line. Text without headings is read as plain
    text.

    Source: docutils, reStructuredText Markup Specification, "Sections"; `docutils.parsers.rst.states.Text.underline`.
    """
    found = list(_underlined_headings(text))
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


def _underlined_headings(text: str) -> Iterator[Block]:
    lines = [_RstLine(0, 0, ""), *_rst_lines(text)]
    levels: list[tuple[str, bool]] = []
    for number in range(1, len(lines) - 1):
        above, line, below = lines[number - 1 : number + 2]
        over = bool(below.rule) and above.words == below.words and not above.indented
        opens = over or not above.words  # a rule below a later line of a paragraph is no underline
        if not below.rule or line.rule or not line.words or not opens or len(line.words) > MAX_TITLE:
            continue
        if (line.indented and not over) or len(below.words) < min(len(line.words), _SHORTEST):
            continue
        style = (below.rule, over)
        if style not in levels:
            levels.append(style)
        start, end = trim_span(text, above.start if over else line.start, below.end)
        yield Block(start, end, "heading", min(levels.index(style) + 1, _MAX_LEVEL))


def _rst_lines(text: str) -> Iterator[_RstLine]:
    start = 0
    for line in text.split("\n"):
        yield _RstLine(start, start + len(line), line.strip(), line[:1].isspace())
        start += len(line) + 1
