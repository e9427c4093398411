"""Two columns drawn as LinkedIn's "Save to PDF" draws them, each going on by itself from page to page."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reportlab.lib.colors import HexColor, black, white
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

from corpus_maker.pdf import SIZES, register

LEFT, LEFT_END, RIGHT, RIGHT_END = 22.5, 200.0, 223.56, 582.0
_TOP, _BOTTOM, _FOOT, _FOOTER_SIZE, _LEADING = 40.0, 60.0, 28.0, 9.0, 1.28
_KOREAN = "HYGothic-Medium"  # which PDF readers bring themselves, so that nothing is embedded
_HANGUL = re.compile(r"([\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]+)")
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
        item_gap: Space between the items of a list, in points, that wrapped lines do not have.
        main_first: The right column is drawn before the left one.
        footer: Text at the foot of each page; `{n}` and `{total}` are filled in.
    """

    paper: str = "letter"
    scale: float = 1.0
    item_gap: float = 0.0
    main_first: bool = False
    footer: str = ""


Drawn = tuple[str, float, float]  # a line, its size, its baseline


def write_saved_pdf(path: Path, left: Column, right: Column, on: Print) -> None:
    """Draw both columns; there are as many pages as the longer one needs."""
    register("vera")
    if _KOREAN not in pdfmetrics.getRegisteredFontNames():
        pdfmetrics.registerFont(UnicodeCIDFont(_KOREAN))
    paper = SIZES[on.paper]
    height = paper[1] / on.scale
    latin = "Helvetica" if all(_IN_WINDOWS.fullmatch(_HANGUL.sub("", row.text)) for row in right.rows) else "Vera"
    sides = [list(_pages(left, LEFT_END - LEFT, height, latin)), list(_pages(right, RIGHT_END - RIGHT, height, latin))]
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
                _draw(canvas, text, size, (x, y), latin)
        footer = on.footer.format(n=n + 1, total=total)
        middle = (RIGHT + RIGHT_END - _width(footer, _FOOTER_SIZE, latin)) / 2
        _draw(canvas, footer.replace(" ", "\u00a0"), _FOOTER_SIZE, (middle, _FOOT), latin)
        canvas.showPage()
    canvas.save()


def write_saved_txt(path: Path, left: Column, right: Column) -> None:
    """The twin as plain text: the left column, then the right one."""
    rows = [row.text.replace("\u00a0", " ") for column in (left, right) for row in column.rows]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def _pages(column: Column, width: float, height: float, latin: str) -> Iterator[list[Drawn]]:
    """The lines of each page from the top; a page breaks anywhere between two lines."""
    page: list[Drawn] = []
    y = height - _TOP
    for row in column.rows:
        y -= row.above if page else 0
        for text in wrapped(row.text, row.size, width, latin):
            y -= _LEADING * row.size
            if y < _BOTTOM:
                yield page
                page, y = [], height - _TOP - _LEADING * row.size
            page.append((text, row.size, y))
    yield page


def wrapped(text: str, size: float, width: float, latin: str) -> Iterator[str]:
    """The lines of a paragraph; an address that is too long breaks after a hyphen."""
    held = ""
    for word in re.findall(r"\S+(?<=-)|\S+|[ ]", text.replace("\u00a0", "\x00")):
        for part in _parts(word, size, width, latin):
            if held and _width((held + part).rstrip(), size, latin) > width:
                yield held.strip().replace("\x00", "\u00a0")
                held = ""
            held += part
    if held.strip():
        yield held.strip().replace("\x00", "\u00a0")


def _parts(word: str, size: float, width: float, latin: str) -> list[str]:
    return [word] if _width(word, size, latin) <= width else re.findall(r"[^-]*-|[^-]+", word)


def _runs(text: str, latin: str) -> list[tuple[str, str]]:
    return [(part, _KOREAN if _HANGUL.fullmatch(part) else latin) for part in _HANGUL.split(text) if part]


def _width(text: str, size: float, latin: str) -> float:
    text = text.replace("\x00", "\u00a0")
    return sum(float(pdfmetrics.stringWidth(part, font, size)) for part, font in _runs(text, latin))


def _draw(canvas: Any, text: str, size: float, at: tuple[float, float], latin: str) -> None:
    drawn = canvas.beginText(*at)
    for part, font in _runs(text, latin):
        drawn.setFont(font, size)
        drawn.textOut(part)
    canvas.drawText(drawn)
