"""The lines of a PDF page, each with its place, size and weight."""

import ctypes
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pipelines.text import canonical

_SAMPLES = 5
_LINE_END_HYPHEN = "\x02"
_BREAKS = re.compile("\r?\n|\r|(?<=\x02)")
_BOLD = re.compile("bold|black|heavy|demi|cmbx", re.IGNORECASE)
_NOT_BOLD = re.compile("regular|roman|book|light|medium", re.IGNORECASE)
_BOLD_WEIGHT = 650
_SYMBOL_BULLETS = dict.fromkeys("\uf0b7\uf0a7\uf076\uf0d8\uf0fc\uf0a8\uf06e\uf02d", "•")
_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
_SPACES = dict.fromkeys("\xa0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " ")
_CLEAN = str.maketrans(_SYMBOL_BULLETS | _LIGATURES | _SPACES)
_RUNS = re.compile("[ \t]+")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text; lengths in points, `y` its baseline from the bottom of the page.

    `hyphen` says that the word at its end goes on in the next line.
    """

    text: str
    page: int
    x0: float
    x1: float
    y: float
    size: float
    bold: bool
    hyphen: bool = False


def page_lines(textpage: Any, page: int) -> list[Line]:
    """The lines of a page that hold something to read, in the order in which the file draws them."""
    from pypdfium2 import raw

    codes = [raw.FPDFText_GetUnicode(textpage.raw, index) for index in range(textpage.count_chars())]
    drawn = "".join(map(chr, codes))
    glyphs = _Glyphs(textpage.raw)
    lines: list[Line] = []
    for start, end in _spans(drawn):
        text = readable(drawn[start:end])
        if text:
            lines.append(_line(drawn, (start, end), text, page, glyphs))
    return lines


def readable(drawn: str) -> str:
    """The characters of a line as a reader reads them: ligatures and odd spaces undone, icons dropped."""
    if any("\ud800" <= char <= "\udfff" for char in drawn):
        drawn = drawn.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    text = drawn.replace(_LINE_END_HYPHEN, "-").translate(_CLEAN)
    return _RUNS.sub(" ", canonical(text)).strip()


def _spans(drawn: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _BREAKS.finditer(drawn):
        yield start, match.start()
        start = match.end()
    yield start, len(drawn)


def _line(drawn: str, span: tuple[int, int], text: str, page: int, glyphs: "_Glyphs") -> Line:
    solid = [index for index in range(*span) if not drawn[index].isspace()]
    letters = [index for index in solid if drawn[index].isalnum()] or solid
    sampled = letters[:: max(1, len(letters) // _SAMPLES)][:_SAMPLES]
    sizes = sorted(glyphs.size(index) for index in sampled)
    return Line(
        text=text,
        page=page,
        x0=glyphs.left(solid[0]),
        x1=glyphs.right(solid[-1]),
        y=glyphs.baseline(letters[0]),
        size=sizes[len(sizes) // 2],
        bold=all(glyphs.is_bold(index) for index in sampled),
        hyphen=drawn[solid[-1]] == _LINE_END_HYPHEN,
    )


class _Glyphs:
    """Measures of single characters of a page."""

    def __init__(self, textpage: Any) -> None:
        from pypdfium2 import raw

        self._raw = raw
        self._page = textpage
        self._box = raw.FS_RECTF()
        self._matrix = raw.FS_MATRIX()
        self._x, self._y = ctypes.c_double(), ctypes.c_double()
        self._name = ctypes.create_string_buffer(256)
        self._flags = ctypes.c_int()

    def left(self, index: int) -> float:
        self._raw.FPDFText_GetLooseCharBox(self._page, index, self._box)
        return float(self._box.left)

    def right(self, index: int) -> float:
        self._raw.FPDFText_GetLooseCharBox(self._page, index, self._box)
        return float(self._box.right)

    def baseline(self, index: int) -> float:
        self._raw.FPDFText_GetCharOrigin(self._page, index, self._x, self._y)
        return self._y.value

    def size(self, index: int) -> float:
        """The size as drawn, in half points: some files scale a font of size 1."""
        self._raw.FPDFText_GetMatrix(self._page, index, self._matrix)
        scale = math.hypot(self._matrix.c, self._matrix.d) or 1.0
        size = float(self._raw.FPDFText_GetFontSize(self._page, index))
        return round(size * scale * 2) / 2

    def is_bold(self, index: int) -> bool:
        """By the font's name; its weight, often wrong, only where the name says nothing."""
        length = self._raw.FPDFText_GetFontInfo(self._page, index, self._name, len(self._name), self._flags)
        name = self._name.value.decode("utf-8", "replace") if 0 < length <= len(self._name) else ""
        if _BOLD.search(name):
            return True
        return not _NOT_BOLD.search(name) and self._raw.FPDFText_GetFontWeight(self._page, index) >= _BOLD_WEIGHT


def usual_size(lines: Sequence[Line]) -> float:
    """The size that most characters have; 0 without lines."""
    weights: dict[float, int] = {}
    for line in lines:
        weights[line.size] = weights.get(line.size, 0) + len(line.text)
    return max(weights, key=lambda size: (weights[size], -size), default=0.0)
