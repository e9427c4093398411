"""The characters of a web page, whatever its server and its head say of them."""

import codecs
import re

from pipelines.errors import LoadError
from pipelines.ingestion.loaders.text import decode
from pipelines.text import canonical

_META = re.compile(rb"""<(?:meta|\?xml)\b[^<>]{0,300}?(?:charset|encoding)\s*=\s*["']?([\w.:-]{1,40})""", re.IGNORECASE)
_HEAD = 4_096
_BROKEN_SHARE = 0.01
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# What browsers take these names for: the larger set of which the named one is a part.
_LARGER = {
    **dict.fromkeys(("ascii", "us-ascii", "iso-8859-1", "iso8859-1", "latin1", "latin-1"), "cp1252"),
    **dict.fromkeys(("gb2312", "gbk", "x-gbk"), "gb18030"),
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis", "x-sjis"), "cp932"),
    **dict.fromkeys(("euc-kr", "ks_c_5601-1987", "ksc5601"), "cp949"),
    **dict.fromkeys(("iso-8859-9", "latin5"), "cp1254"),
    "tis-620": "cp874",
}
_NOT_OF_PAGES = frozenset({"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "utf-7"})


def page_text(data: bytes, name: str, charset: str = "") -> str:
    """The canonical text of a page's source.

    By its byte order mark; else as UTF-8, where it is that and no 7-bit encoding is named; else in the charset that its
    server named, or that the page names; else in what plain text may be in.

    Args:
        data: The bytes of the page.
        name: Of the page, for errors.
        charset: As the server named it; empty = it did not.

    Raises:
        LoadError: If it can be read in none of them.
    """
    if data.startswith(_MARKS):
        return canonical(decode(data, name)[0])
    found = _META.search(data[:_HEAD])
    named = [codec for one in (charset, found[1].decode("ascii") if found else "") if (codec := _codec(one))]
    first = named if any(codec.startswith(("iso2022", "hz", "utf-16")) for codec in named) else []
    for codec in (*first, "utf-8", *named):
        try:
            return canonical(data.decode(codec))
        except UnicodeDecodeError:
            continue
    for codec in named or ("utf-8",):  # a few broken bytes, as a cut in the middle of a character leaves them
        text = data.decode(codec, "replace")
        if text.count("\ufffd") <= _BROKEN_SHARE * sum(not char.isascii() for char in text):
            return canonical(text)
    return canonical(_western(data, name, charset or (named[0] if named else "")))


def _western(data: bytes, name: str, named: str) -> str:
    try:
        return decode(data, name)[0]
    except LoadError as error:
        said = f"says it is in {named} but is not" if named else "does not say which charset it is in"
        raise LoadError(f"{name} {said}.", hint="Save it as UTF-8 from a browser, and ingest that file.") from error


def _codec(charset: str) -> str:
    """Python's name of an encoding of text; empty where it has none, or it is none that pages are in."""
    name = charset.strip().strip("\"'").lower()
    try:
        codec = codecs.lookup(_LARGER.get(name, name)).name
        return codec if codec not in _NOT_OF_PAGES and bytes(4).decode(codec) else ""
    except (LookupError, ValueError):
        return ""
