"""Two columns drawn as LinkedIn's "Save to PDF" draws them, each going on by itself from page to page."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import reportlab
from reportlab.lib.colors import HexColor, black, white
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from corpus_maker.pdf import SIZES

LEFT, LEFT_END, RIGHT, RIGHT_END = 22.5, 200.0, 223.56, 582.0
_TOP, _BOTTOM, _FOOT, _FOOTER_SIZE, _LEADING = 40.0, 60.0, 28.0, 9.0, 1.2
_FONT = "VeraKorean"
_HANGUL, _BOX, _SQUARE = range(0xAC00, 0xD7A4), 0x25CA, 1000
_IN_WINDOWS = re.compile(r"[\x00-\xff–—‘’“”•…€]*")


@dataclass(frozen=True)
class Row:
    """A paragraph, its size in points, and the space above it."""

    text: str
    size: float
    above: float = 0.0


@dataclass(frozen=True)
class Column:
    """The paragraphs of a column from the first page to the last."""

    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Print:
    """How an export is put on paper.

    Attributes:
        scale: All lengths times this, as a printer that fits a page to another paper sets it.
        main_first: The right column is drawn before the left one.
        footer: Text at the foot of each page; `{n}` and `{total}` are filled in.
    """

    paper: str = "letter"
    scale: float = 1.0
    main_first: bool = False
    footer: str = ""


Drawn = tuple[str, float, float]  # a line, its size, its baseline


def write_saved_pdf(path: Path, left: Column, right: Column, on: Print) -> None:
    """Draw both columns; there are as many pages as the longer one needs.

    Korean letters are lozenges on the page, for want of a font; its text layer has the letters.
    """
    _register()
    paper = SIZES[on.paper]
    height = paper[1] / on.scale
    font = "Helvetica" if all(_IN_WINDOWS.fullmatch(row.text) for row in (*left.rows, *right.rows)) else _FONT
    sides = [list(_pages(left, LEFT_END - LEFT, height, font)), list(_pages(right, RIGHT_END - RIGHT, height, font))]
    total = max(map(len, sides))
    canvas = Canvas(str(path), pagesize=paper, invariant=1)
    for n in range(total):
        canvas.scale(on.scale, on.scale)
        canvas.setFillColor(HexColor("#293e49"))
        canvas.rect(0, 0, RIGHT - 14, height, stroke=0, fill=1)
        drawn = [
            (side[n] if n < len(side) else [], x, ink)
            for side, x, ink in zip(sides, (LEFT, RIGHT), (white, black), strict=True)
        ]
        for lines, x, ink in reversed(drawn) if on.main_first else drawn:
            canvas.setFillColor(ink)
            for text, size, y in lines:
                canvas.setFont(font, size)
                canvas.drawString(x, y, text)
        footer = on.footer.format(n=n + 1, total=total)
        canvas.setFont(font, _FOOTER_SIZE)
        canvas.drawCentredString((RIGHT + RIGHT_END) / 2, _FOOT, footer.replace(" ", "\u00a0"))
        canvas.showPage()
    canvas.save()


def write_saved_txt(path: Path, left: Column, right: Column) -> None:
    """The twin as plain text: the left column, then the right one."""
    rows = [row.text.replace("\u00a0", " ") for column in (left, right) for row in column.rows]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def _register() -> None:
    """Make Vera known by another name, with its lozenge, one em wide, for every Korean syllable."""
    if _FONT not in pdfmetrics.getRegisteredFontNames():
        font = TTFont(_FONT, str(Path(reportlab.__file__).parent / "fonts" / "Vera.ttf"))
        font.face.charToGlyph |= dict.fromkeys(_HANGUL, font.face.charToGlyph[_BOX])
        font.face.charWidths |= dict.fromkeys(_HANGUL, _SQUARE)
        font.face.name = _FONT.encode()  # else reportlab takes it for the Vera that it may know already
        pdfmetrics.registerFont(font)


def _pages(column: Column, width: float, height: float, font: str) -> Iterator[list[Drawn]]:
    """The lines of each page from the top; a page breaks anywhere between two lines."""
    page: list[Drawn] = []
    y = height - _TOP
    for row in column.rows:
        y -= row.above if page else 0
        for text in wrapped(row.text, row.size, width, font):
            y -= _LEADING * row.size
            if y < _BOTTOM:
                yield page
                page, y = [], height - _TOP - _LEADING * row.size
            page.append((text, row.size, y))
    yield page


def wrapped(text: str, size: float, width: float, font: str) -> Iterator[str]:
    """The lines of a paragraph; an address that is too long breaks after a hyphen."""
    held = ""
    for word in re.findall(r"\S+(?<=-)|\S+|[ ]", text.replace("\u00a0", "\x00")):
        for part in _parts(word, size, width, font):
            if held and _width((held + part).rstrip(), size, font) > width:
                yield held.strip().replace("\x00", "\u00a0")
                held = ""
            held += part
    if held.strip():
        yield held.strip().replace("\x00", "\u00a0")


def _parts(word: str, size: float, width: float, font: str) -> list[str]:
    return [word] if _width(word, size, font) <= width else re.findall(r"[^-]*-|[^-]+", word)


def _width(text: str, size: float, font: str) -> float:
    return float(pdfmetrics.stringWidth(text.replace("\x00", "\u00a0"), font, size))
