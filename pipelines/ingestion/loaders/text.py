"""Load plain text and reStructuredText: the file's own characters."""

import codecs
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from string import punctuation
from typing import NamedTuple

from config.settings import Limits
from pipelines.blocks import text_blocks
from pipelines.errors import LoadError
from pipelines.headings import MAX_TITLE, trim_span
from pipelines.ingestion.loaders.base import Content
from pipelines.text import canonical
from pipelines.types import Block, SourceItem

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS = "".join(map(chr, (*range(1, 9), *range(0x0E, 0x1B), *range(0x1C, 0x20), 0x7F)))
_MAX_CONTROLS = 0.02
_IN_WORD = re.compile("(?<=[a-z])[¹³¿£¥¼½¾±¶](?=[a-z])|[\x80-\x9f]")
_RARE = re.compile(f"{_IN_WORD.pattern}|[¤¦¬¯´¸×÷ÿþÿðÞÐˆ˜†‡‰]|[ÂÃâ](?![a-zß-ÿ])|(?<=[a-z])[À-Þ](?=[a-z])")
_MAX_RARE = 0.1
_HINT = "Open it in the program that wrote it, and save it as UTF-8."
_UNREADABLE = f"{_CONTROLS}\x00\x1b\ufffd\ufffe\uffff"
_SAMPLE = 50_000  # bytes that tell the encoding
_MIN_LETTERS = 6  # that are not Latin
_MAX_CHAOS = 0.02  # of the detector's measure of mess, 0..1
# By the detector's name, the usual encoding that the same bytes are in.
_COMMON = {
    "cp949": "euc_kr", "cp932": "shift_jis", "euc_jis_2004": "euc_jp", "euc_jisx0213": "euc_jp",
    "shift_jis_2004": "shift_jis", "shift_jisx0213": "shift_jis", "big5hkscs": "big5", "cp1125": "cp866",
    "mac_iceland": "macintosh",
}  # fmt: skip
_MAX_LEVEL = 6
_SHORTEST = 4  # characters of a rule that may be shorter than its line


def load_text(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The text of a plain text file with its paragraphs, list items and headings as blocks."""
    raw, encoding = decode(data, item.name)
    text = canonical(raw)
    metadata = {} if encoding == "utf-8" else {"encoding": encoding}
    return Content(text=text, blocks=text_blocks(text), metadata=metadata)


def decode(data: bytes, name: str) -> tuple[str, str]:
    """(the text, its encoding): by byte order mark, as UTF-8, as cp1252 where that gives plausible text, else detected.

    An encoding is detected for text that is not in Latin letters, and for UTF-16 and UTF-32 without a mark.

    Raises:
        LoadError: If the bytes are binary, or in no encoding that can be detected.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _strict(data[len(mark) :], encoding, name), encoding
    if b"\x00" in data or b"\x1b$" in data:
        guess = _detected(data)
        if not guess.is_sure or not guess.encoding.startswith(("utf_16", "utf_32", "iso2022")):
            raise _binary(name)
        return guess.text, guess.encoding
    try:
        text, encoding = data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError as error:
        text, encoding = _other_encoding(data, error, name)
    if sum(map(text.count, _CONTROLS)) > _MAX_CONTROLS * len(text):
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


def _other_encoding(data: bytes, error: UnicodeDecodeError, name: str) -> tuple[str, str]:
    """(the text, its encoding): cp1252 or a detected one, unless the bytes look like damaged UTF-8 or binary data."""
    well_formed = sum(not char.isascii() for char in data.decode("utf-8", errors="ignore"))
    high = sum(byte > 0x7F for byte in data)
    reason = f"{name} is not valid UTF-8 text (byte {error.start})"
    if well_formed > high - well_formed:
        raise LoadError(f"{reason}: a part of it is damaged.", hint=_HINT) from error
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        text = ""
    if text and len(_RARE.findall(text)) <= _MAX_RARE * high and high <= 0.3 * len(data):
        return text, "cp1252"
    guess = _detected(data)
    if guess.is_sure:
        return guess.text, guess.encoding
    likely = guess.encoding
    if text and _IN_WORD.search(text):  # the letters of Central Europe, which the detector seldom tells apart
        likely = "cp1250" if _IN_WORD.search(data.decode("iso8859_2")) else "iso8859_2"
    if likely:
        hint = f"Save it as UTF-8, or convert it: iconv -f {likely} -t utf-8."
        raise LoadError(f"{reason}; it may be in {likely}.", hint=hint) from error
    raise LoadError(f"{reason}.", hint=_HINT) from error


class _Guess(NamedTuple):
    """A text, its likely encoding, and whether it may be read as that."""

    text: str = ""
    encoding: str = ""
    is_sure: bool = False


def _detected(data: bytes) -> _Guess:
    """The likeliest reading of bytes; sure if none other is as likely and its letters are of the encoding's script."""
    from charset_normalizer import from_bytes

    is_cut = len(data) > _SAMPLE and b"\x00" not in data  # at a line, as a cut character would mislead
    found = list(from_bytes(data[:_SAMPLE].rpartition(b"\n")[0] if is_cut else data[:_SAMPLE]))
    if not found:
        return _Guess()
    best = found[0].encoding
    encoding = _COMMON.get(best, best)
    for codec in (encoding, best):
        try:
            text = data.decode(codec)
        except UnicodeDecodeError:
            continue
        is_unicode = best.startswith(("utf_16", "utf_32"))
        rivals = [
            other for other in found[1:] if (other.chaos, other.coherence) == (found[0].chaos, found[0].coherence)
        ]
        letters = [char for char in text if char.isalpha()]
        foreign = sum(not unicodedata.name(char, "").startswith("LATIN") for char in letters)
        is_foreign = foreign >= max(_MIN_LETTERS, 0.5 * len(letters))
        is_readable = not any(sign in text for sign in _UNREADABLE)
        is_clean = is_readable and found[0].chaos <= _MAX_CHAOS * (4 if is_unicode else 1)
        is_known = len(letters) >= _MIN_LETTERS and (is_unicode or is_foreign)
        is_sure = is_clean and is_known and not any(str(other) != str(found[0]) for other in rivals)
        return _Guess(text, codec if is_clean or not is_foreign else "", is_sure)
    return _Guess()


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
        is_rule = len(self.words) > 1 and len(set(self.words)) == 1 and self.words[0] in punctuation
        return self.words[0] if is_rule and not self.indented else ""


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
