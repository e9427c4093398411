"""The words of a PDF page, each with its place, size, weight and direction."""

import ctypes
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice, pairwise
from statistics import median
from typing import Any

from pipelines.ingestion.loaders.pdf.characters import NOTHING, with_accents, with_ligatures
from pipelines.text import one_line

_BOLD, _NOT_BOLD = ("bold", "black", "heavy", "demi", "cmbx"), ("regular", "roman", "book", "light", "medium")
_BOLD_WEIGHT = 650
_ICONS = (
    "fontawesome", "phosphor", "icomoon", "glyphicon", "academicon", "fontello", "marvosym", "typicon", "ionicon",
    "feather",
)  # fmt: skip
_LINE_END_HYPHEN = "\x02"
_SOFT_HYPHEN = "\xad"  # drawn, so not hidden
_WORD = re.compile("[^\\s\x02]+\x02?|\x02")
_DINGBAT_BULLETS = frozenset("lnquvwt§Ø¨üþ•·")
_SYMBOL_BULLETS = dict.fromkeys("\uf0b7\uf0a7\uf076\uf0d8\uf0fc\uf0a8\uf06e\uf02d", "•")
_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
_SPACES = dict.fromkeys("\xa0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " ")
_WINDOWS = {code: bytes([code]).decode("cp1252", "ignore") for code in range(0x80, 0xA0)}  # never control characters
_CLEAN = {**_WINDOWS, **str.maketrans(_SYMBOL_BULLETS | _LIGATURES | _SPACES)}
_SPACED_LETTERS = 4
_MOST_DRAWINGS = 2_000
_LEAST_BOX, _MOST_BOX = 6.0, 40.0  # points
_CHIP_HEIGHT, _CHIP_WIDTH = 2.6, 20.0  # type sizes
_LETTER_GAP = 1.5
_LEAST_SLANT = 10.0  # degrees
_GREY, _PALE, _WHITE, _OPAQUE = 12, 170, 250, 110  # of 255


@dataclass(frozen=True, slots=True)
class Word:
    """A word; lengths in points, `y` its baseline, from the lower left corner of the page as displayed.

    `turn` counts the quarter turns to the left of its text; the lengths are those of the page turned back by as many.
    `hyphen` is True if it continues in the next line. `chip` is the number of the small box around it (a pill, a cell),
    or 0. `size` is in half points; `drawn` is not rounded. `faint` is True if it is drawn at a slant or in a pale grey,
    as watermarks are.
    """

    text: str
    x0: float
    x1: float
    y: float
    bottom: float
    top: float
    size: float
    bold: bool = False
    hyphen: bool = False
    turn: int = 0
    chip: int = 0
    drawn: float = 0.0
    faint: bool = False
    font: str = ""


@dataclass(frozen=True, slots=True)
class GlyphStyle:
    """The properties shared by the glyphs of one text object; `drawn` is the size before it is rounded, `look` the font
    with its red, green, blue and opacity (0 to 255)."""

    size: float
    drawn: float
    bold: bool
    turn: int
    font: str
    icons: bool
    faint: bool
    look: str


class Glyphs:
    """Measures the glyphs of a page."""

    def __init__(self, page: Any, textpage: Any) -> None:
        from pypdfium2 import raw

        self._raw = raw
        self._page = textpage
        self._box = raw.FS_RECTF()
        self._matrix = raw.FS_MATRIX()
        self._x, self._y = ctypes.c_double(), ctypes.c_double()
        self._name = ctypes.create_string_buffer(256)
        self._flags = ctypes.c_int()
        self._styles: dict[int, GlyphStyle] = {}
        self._turned = page.get_rotation() // 90
        self._corners = page.get_bbox()

    def edges(self, index: int) -> tuple[float, float]:
        """Start and end of the glyph along its line."""
        turn = self.style(index).turn
        return self.begin(index, turn)[0], self.end(index, turn)

    def box(self, index: int) -> tuple[float, float, float]:
        """Start, end and baseline of the glyph along its line."""
        turn = self.style(index).turn
        x0, _, _, y = self.begin(index, turn)
        return x0, self.end(index, turn), y

    def begin(self, index: int, turn: int) -> tuple[float, float, float, float]:
        """(left, bottom, top, baseline) of the glyph."""
        x0, y0, _, y1 = self._placed(index, turn)
        self._raw.FPDFText_GetCharOrigin(self._page, index, self._x, self._y)
        return x0, y0, y1, rotate(*self._shown(self._x.value, self._y.value), -turn)[1]

    def end(self, index: int, turn: int) -> float:
        """Right edge of the glyph."""
        return self._placed(index, turn)[2]

    def _placed(self, index: int, turn: int) -> tuple[float, float, float, float]:
        self._raw.FPDFText_GetLooseCharBox(self._page, index, self._box)
        box = self._box
        if not turn and not self._turned:
            left, bottom = self._corners[:2]
            return box.left - left, box.bottom - bottom, box.right - left, box.top - bottom
        one = rotate(*self._shown(box.left, box.bottom), -turn)
        other = rotate(*self._shown(box.right, box.top), -turn)
        return min(one[0], other[0]), min(one[1], other[1]), max(one[0], other[0]), max(one[1], other[1])

    def _shown(self, x: float, y: float) -> tuple[float, float]:
        """The point, measured from the lower left corner of the page as displayed."""
        left, bottom, right, top = self._corners
        match self._turned:
            case 1:
                return y - bottom, right - x
            case 2:
                return right - x, top - y
            case 3:
                return top - y, x - left
        return x - left, y - bottom

    def style(self, index: int) -> GlyphStyle:
        """Size, weight, direction and font, looked up once for each text object."""
        text_object = self._raw.FPDFText_GetTextObject(self._page, index)
        key = ctypes.addressof(text_object.contents) if text_object else -index - 1
        style = self._styles.get(key)
        if style is None:
            style = self._styles[key] = self._style(index)
        return style

    def _style(self, index: int) -> GlyphStyle:
        """The size as drawn, in half points: some files scale a font of size 1."""
        self._raw.FPDFText_GetMatrix(self._page, index, self._matrix)
        matrix = self._matrix
        scale = math.hypot(matrix.c, matrix.d) or 1.0
        size = float(self._raw.FPDFText_GetFontSize(self._page, index))
        length = self._raw.FPDFText_GetFontInfo(self._page, index, self._name, len(self._name), self._flags)
        font = self._name.value.decode("utf-8", "replace") if 0 < length <= len(self._name) else ""
        angle = math.degrees(math.atan2(matrix.b, matrix.a))
        quarter = round(angle / 90)
        channels = [ctypes.c_uint() for _ in range(4)]
        self._raw.FPDFText_GetFillColor(self._page, index, *channels)
        ink = tuple(channel.value for channel in channels)
        return GlyphStyle(
            round(size * scale * 2) / 2,
            round(size * scale, 2),
            self._is_bold(index, font),
            (quarter - self._turned) % 4,
            font,
            _is_of_icons(font),
            abs(angle - 90 * quarter) > _LEAST_SLANT or _is_pale(ink),
            f"{font} {ink}",
        )

    def _is_bold(self, index: int, font: str) -> bool:
        """By the font's name; by its weight, often wrong, only if the name does not tell."""
        if is_named(font, _BOLD):
            return True
        return not is_named(font, _NOT_BOLD) and self._raw.FPDFText_GetFontWeight(self._page, index) >= _BOLD_WEIGHT


def _is_pale(ink: Sequence[int]) -> bool:
    """True for a light grey, or a colour that lets most of the page through; white stands on dark boxes."""
    *colours, alpha = ink
    is_grey = max(colours) - min(colours) <= _GREY
    return alpha < _OPAQUE or (is_grey and _PALE <= min(colours) < _WHITE)


def is_named(font: str, names: Sequence[str]) -> bool:
    """True if the font's name holds one of these."""
    return any(name in font.lower() for name in names)


@lru_cache(maxsize=256)
def _is_of_icons(font: str) -> bool:
    squeezed = font.lower().replace(" ", "").replace("-", "")
    parts = "".join(char if char.isalnum() or char == "_" else " " for char in font.lower()).split()
    return is_named(squeezed, _ICONS) or any(part.endswith(("icon", "icons")) for part in parts)


def page_words(page: Any, textpage: Any) -> list[Word]:
    """The readable words of a page in the order in which the file draws them; icons are left out."""
    from pypdfium2 import raw

    drawn = "".join(chr(raw.FPDFText_GetUnicode(textpage.raw, index)) for index in range(textpage.count_chars()))
    glyphs = Glyphs(page, textpage.raw)
    drawn = with_accents(with_ligatures(drawn, lambda index: glyphs.style(index).font), glyphs.box)
    words: list[Word] = []
    for start, end in _lines(drawn):
        spans = [match.span() for match in _WORD.finditer(drawn, start, end)]
        spans = _respaced(drawn, spans, glyphs) if _is_spaced_out(drawn, spans) else spans
        words += [word for span in spans if (word := _word(drawn, span, glyphs, first=span == spans[0]))]
    return _in_chips(words, _small_boxes(page))


def _small_boxes(page: Any) -> list[tuple[float, float, float, float]]:
    """The drawings that are about as high as a line of text: left, bottom, right, top; none on a turned page."""
    from pypdfium2 import raw

    if page.get_rotation():
        return []
    left, bottom = page.get_bbox()[:2]
    drawn = (raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_IMAGE)
    found = (each.get_bounds() for each in islice(page.get_objects(filter=drawn), _MOST_DRAWINGS))
    return [
        (x0 - left, y0 - bottom, x1 - left, y1 - bottom) for x0, y0, x1, y1 in found if _LEAST_BOX < y1 - y0 < _MOST_BOX
    ]


def _in_chips(words: list[Word], boxes: Sequence[tuple[float, float, float, float]]) -> list[Word]:
    """The words, each with the box that it fills up to a margin; a box over most of a line's width is a bar."""
    if not boxes or not words:
        return words
    rows: dict[int, list[int]] = {}
    for number, (_, y0, _, y1) in enumerate(boxes):
        for band in range(int(y0 // _MOST_BOX), int(y1 // _MOST_BOX) + 1):
            rows.setdefault(band, []).append(number)

    def chip(word: Word) -> int:
        for number in rows.get(int(word.y // _MOST_BOX), ()):
            x0, y0, x1, y1 = boxes[number]
            fits = x0 - 1 <= word.x0 and word.x1 <= x1 + 1 and y0 <= word.y <= y1
            if fits and y1 - y0 < _CHIP_HEIGHT * word.size and x1 - x0 < _CHIP_WIDTH * word.size:
                return number + 1
        return 0

    return [replace(word, chip=found) if (found := chip(word)) else word for word in words]


def _lines(drawn: str) -> Iterator[tuple[int, int]]:
    start = 0
    for place, char in enumerate(drawn):
        if char in "\r\n\x02":
            yield start, place + 1
            start = place + 1
    yield start, len(drawn)


def _is_spaced_out(drawn: str, spans: Sequence[tuple[int, int]]) -> bool:
    """True if letters are set apart like words: `E X P E R I E N C E`."""
    lone = sum(end - start == 1 and drawn[start].isalpha() for start, end in spans)
    return lone >= _SPACED_LETTERS and lone >= 0.5 * len(spans)


def _respaced(drawn: str, spans: Sequence[tuple[int, int]], glyphs: Glyphs) -> list[tuple[int, int]]:
    """The words of a line of spaced-out letters, split at the wider gaps."""
    places = [index for span in spans for index in range(*span)]
    edges = [glyphs.edges(index) for index in places]
    gaps = [after[0] - before[1] for before, after in pairwise(edges)]
    widest = _LETTER_GAP * max(median(gaps), 0.0) + 0.05 * glyphs.style(places[0]).size
    words, word_start = [], places[0]
    for gap, (last, first) in zip(gaps, pairwise(places), strict=True):
        if gap > widest:
            words.append((word_start, last + 1))
            word_start = first
    return [*words, (word_start, places[-1] + 1)]


def _word(drawn: str, span: tuple[int, int], glyphs: Glyphs, *, first: bool) -> Word | None:
    places: Sequence[int] = range(*span)
    raw = drawn[span[0] : span[1]]
    if not raw.isprintable() or " " in raw:
        places = [index for index in places if drawn[index] != NOTHING and not drawn[index].isspace()]
        if not places:
            return None
        raw = "".join(drawn[index] for index in places)
    style = glyphs.style(places[0])
    if style.icons or (len(raw) > 1 and glyphs.style(places[-1]).icons):
        places = [index for index in places if not glyphs.style(index).icons]
        raw = "".join(drawn[index] for index in places)
    text = _bullet(readable_text(raw), style.font, first=first) if len(raw) == 1 else readable_text(raw)
    if not text:
        return None
    if not raw[0].isalnum() and len(raw) > 1:
        style = glyphs.style(next((index for index in places if drawn[index].isalnum()), places[0]))
    x0, bottom, top, y = glyphs.begin(places[0], style.turn)
    x1 = glyphs.end(places[-1], style.turn)
    if x1 < x0:  # written from right to left
        x0, x1 = glyphs.begin(places[-1], style.turn)[0], glyphs.end(places[0], style.turn)
    return Word(
        text=text,
        x0=x0,
        x1=x1,
        y=y,
        bottom=bottom,
        top=top,
        size=style.size,
        bold=style.bold,
        hyphen=raw[-1] == _LINE_END_HYPHEN,
        turn=style.turn,
        drawn=style.drawn,
        faint=style.faint,
        font=style.look,
    )


def _bullet(text: str, font: str, *, first: bool) -> str:
    """A lone character as displayed in a symbol font; Word's second-level bullet is an `o` in Courier."""
    if is_named(font, ("wingdings", "webdings")):
        return "•" if text in _DINGBAT_BULLETS else text if ord(text[:1] or "a") >= 0x2000 else ""
    return "◦" if first and text == "o" and "courier" in font.lower() else text


def readable_text(drawn: str) -> str:
    """The characters as displayed: ligatures and special spaces normalised, icons dropped."""
    if drawn.isascii() and drawn.isprintable():
        return " ".join(drawn.split())
    if any("\ud800" <= char <= "\udfff" for char in drawn):
        drawn = drawn.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    text = drawn.replace(_LINE_END_HYPHEN, "-").replace(_SOFT_HYPHEN, "-").translate(_CLEAN)
    return one_line(text)


def rotate(x: float, y: float, quarters: int) -> tuple[float, float]:
    """The point after this many quarter turns to the left about the origin."""
    for _ in range(quarters % 4):
        x, y = -y, x
    return x, y
