"""LOAD plain text: the file's own characters."""

import codecs
import re

from pipelines.errors import LoadError
from pipelines.ingestion.loaders.base import Content, Limits
from pipelines.ingestion.structure import text_blocks
from pipelines.text import canonical
from pipelines.types import SourceItem

_MARKS = (
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


def load_text(data: bytes, item: SourceItem, limits: Limits) -> Content:
    """The text of a plain text file, its paragraphs, list items and headings as blocks."""
    raw, encoding = decode(data, item.name)
    text = canonical(raw)
    metadata = {} if encoding == "utf-8" else {"encoding": encoding}
    return Content(text=text, blocks=text_blocks(text), metadata=metadata)


def decode(data: bytes, name: str) -> tuple[str, str]:
    """The characters, and the encoding they were in: by byte order mark, UTF-8, or cp1252 where that reads as text.

    Raises:
        LoadError: If the bytes are binary, or text in no encoding that can be told.
    """
    for mark, encoding in _MARKS:
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
    """The text in cp1252, if nothing speaks for damaged UTF-8 or for binary data."""
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
    return LoadError(f"{name} is binary, not text.", hint="Give it its true suffix, or leave it out.")
