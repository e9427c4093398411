"""What PDFium knows of single characters: where they stand, how large and how bold they are."""

import ctypes
import math
import re
from dataclasses import dataclass
from typing import Any

_BOLD = re.compile("bold|black|heavy|demi|cmbx", re.IGNORECASE)
_NOT_BOLD = re.compile("regular|roman|book|light|medium", re.IGNORECASE)
_BOLD_WEIGHT = 650
_ICONS = re.compile(
    r"font ?-?awesome|phosphor|icomoon|icons?\b|glyphicon|academicon|fontello|marvosym|typicon|ionicon|feather",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Style:
    """What the words of one text object share."""

    size: float
    bold: bool
    turn: int
    font: str
    icons: bool


class Glyphs:
    """Measures of single characters of a page."""

    def __init__(self, page: Any, textpage: Any) -> None:
        from pypdfium2 import raw

        self._raw = raw
        self._page = textpage
        self._box = raw.FS_RECTF()
        self._matrix = raw.FS_MATRIX()
        self._x, self._y = ctypes.c_double(), ctypes.c_double()
        self._name = ctypes.create_string_buffer(256)
        self._flags = ctypes.c_int()
        self._styles: dict[int, Style] = {}
        self._turned = page.get_rotation() // 90
        self._corners = page.get_bbox()

    def edges(self, index: int) -> tuple[float, float]:
        """Where the character begins and ends along its line."""
        turn = self.style(index).turn
        return self.begin(index, turn)[0], self.end(index, turn)

    def begin(self, index: int, turn: int) -> tuple[float, float, float, float]:
        """(left, bottom, top, baseline) of the character."""
        x0, y0, _, y1 = self._placed(index, turn)
        self._raw.FPDFText_GetCharOrigin(self._page, index, self._x, self._y)
        return x0, y0, y1, turned(*self._shown(self._x.value, self._y.value), -turn)[1]

    def end(self, index: int, turn: int) -> float:
        """Where the character ends."""
        return self._placed(index, turn)[2]

    def _placed(self, index: int, turn: int) -> tuple[float, float, float, float]:
        self._raw.FPDFText_GetLooseCharBox(self._page, index, self._box)
        box = self._box
        if not turn and not self._turned:
            left, bottom = self._corners[:2]
            return box.left - left, box.bottom - bottom, box.right - left, box.top - bottom
        one = turned(*self._shown(box.left, box.bottom), -turn)
        other = turned(*self._shown(box.right, box.top), -turn)
        return min(one[0], other[0]), min(one[1], other[1]), max(one[0], other[0]), max(one[1], other[1])

    def _shown(self, x: float, y: float) -> tuple[float, float]:
        """The point from the lower left corner of the page as it is shown."""
        left, bottom, right, top = self._corners
        match self._turned:
            case 1:
                return y - bottom, right - x
            case 2:
                return right - x, top - y
            case 3:
                return top - y, x - left
        return x - left, y - bottom

    def style(self, index: int) -> Style:
        """Size, weight, turn and font, looked up once for each text object."""
        drawn_by = self._raw.FPDFText_GetTextObject(self._page, index)
        key = ctypes.addressof(drawn_by.contents) if drawn_by else -index - 1
        style = self._styles.get(key)
        if style is None:
            style = self._styles[key] = self._style(index)
        return style

    def _style(self, index: int) -> Style:
        """The size as drawn, in half points: some files scale a font of size 1."""
        self._raw.FPDFText_GetMatrix(self._page, index, self._matrix)
        matrix = self._matrix
        scale = math.hypot(matrix.c, matrix.d) or 1.0
        size = float(self._raw.FPDFText_GetFontSize(self._page, index))
        length = self._raw.FPDFText_GetFontInfo(self._page, index, self._name, len(self._name), self._flags)
        font = self._name.value.decode("utf-8", "replace") if 0 < length <= len(self._name) else ""
        quarter = round(math.degrees(math.atan2(matrix.b, matrix.a)) / 90)
        return Style(
            round(size * scale * 2) / 2,
            self._is_bold(index, font),
            (quarter - self._turned) % 4,
            font,
            bool(_ICONS.search(font)),
        )

    def _is_bold(self, index: int, font: str) -> bool:
        """By the font's name; its weight, often wrong, only where the name says nothing."""
        if _BOLD.search(font):
            return True
        return not _NOT_BOLD.search(font) and self._raw.FPDFText_GetFontWeight(self._page, index) >= _BOLD_WEIGHT


def turned(x: float, y: float, quarters: int) -> tuple[float, float]:
    """The point after so many quarter turns to the left about the origin."""
    for _ in range(quarters % 4):
        x, y = -y, x
    return x, y
