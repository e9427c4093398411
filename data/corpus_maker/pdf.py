"""Pages drawn as PDF by reportlab: columns, right-aligned dates, hint columns, running headers and footers."""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import reportlab
from reportlab.lib.colors import HexColor, black, white
from reportlab.lib.pagesizes import A4, LETTER
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    FrameBreak,
    HRFlowable,
    NextPageTemplate,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
)

from corpus_maker.page import Block, Page

SIZES = {"a4": A4, "letter": LETTER}
FONTS = {
    "helvetica": ("Helvetica", "Helvetica-Bold", "Helvetica-Oblique"),
    "times": ("Times-Roman", "Times-Bold", "Times-Italic"),
    "courier": ("Courier", "Courier-Bold", "Courier-Oblique"),
    "vera": ("Vera", "VeraBd", "VeraIt"),
}

_UNPADDED = [(f"{side}PADDING", (0, 0), (-1, -1), 0) for side in ("LEFT", "RIGHT", "TOP", "BOTTOM")]
_GRID = 4


@dataclass(frozen=True)
class Look:
    """How a page is drawn.

    Attributes:
        spaced: Headings with a space between every two letters.
        upper: Headings in capitals.
        rule: A line under each heading.
        dark: The first narrow column on a dark ground.
        hint: Width of the hint column in millimetres.
        running: Text at the top of each page after the first; `{name}` and `{n}` are filled in.
        footer: Text at the foot of each page; `{n}` and `{total}` are filled in.
        mark: What stands before a list item.
        indent: How far list items stand from the left in millimetres.
        titles: Width of a column at the left for the section titles in millimetres; 0 = they stand above.
        aside: Width of the column at the right margin in millimetres; 0 = as wide as its words.
        boxed: Cells in boxes of their own, else in a grid.
    """

    font: str = "helvetica"
    size: float = 9.5
    paper: str = "a4"
    margin: float = 18
    spaced: bool = False
    upper: bool = False
    rule: bool = True
    dark: bool = False
    hint: float = 32
    running: str = ""
    footer: str = ""
    mark: str = "\u2022"
    indent: float = 0
    centred: bool = False
    accent: str = "#1f5673"
    heading_size: float = 0
    justified: bool = False
    titles: float = 0
    aside: float = 0
    boxed: bool = False


def shown_heading(text: str, *, spaced: bool) -> str:
    """A heading as the page prints it."""
    return "  ".join(" ".join(word) for word in text.split()) if spaced else text


def as_shown(page: Page, look: Look) -> Page:
    """The page with its headings as printed, for a twin in the same words."""

    def shown(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
        return tuple(
            replace(block, text=block.text.upper() if look.upper else block.text) if block.kind == "heading" else block
            for block in blocks
        )

    return Page(shown(page.header), tuple(shown(column) for column in page.columns), page.shares)


def write_pdf(path: Path, page: Page, look: Look, name: str) -> None:
    """Draw the page; laid out twice, as the footers count the pages."""
    first = io.BytesIO()
    total = _draw(first, page, look, name, 0)
    final = io.BytesIO()
    _draw(final, page, look, name, total)
    path.write_bytes(final.getvalue())


def _draw(target: io.BytesIO, page: Page, look: Look, name: str, total: int) -> int:
    register(look.font)
    width, height = SIZES[look.paper]
    document = BaseDocTemplate(target, pagesize=(width, height), title=name, invariant=1)
    head_height = _header_height(page, look, width - 2 * look.margin * mm)
    document.addPageTemplates(_templates(page, look, name, total, head_height))
    document.build(_story(page, look, width))
    return int(document.page)


def register(font: str) -> None:
    """Make the font known, with its bold and its italic face."""
    if font == "vera" and "Vera" not in pdfmetrics.getRegisteredFontNames():
        folder = Path(reportlab.__file__).parent / "fonts"
        for face in FONTS["vera"]:
            pdfmetrics.registerFont(TTFont(face, str(folder / f"{face}.ttf")))
        pdfmetrics.registerFontFamily("Vera", "Vera", "VeraBd", "VeraIt", "VeraBd")


def _header_height(page: Page, look: Look, width: float) -> float:
    drawn = [_flowable(block, look, width, light=False) for block in page.header]
    return sum(each.wrap(width, 1000)[1] + each.getSpaceBefore() + each.getSpaceAfter() for each in drawn) + 4 * mm


def _templates(page: Page, look: Look, name: str, total: int, head: float) -> list[PageTemplate]:
    width, height = SIZES[look.paper]
    margin = look.margin * mm
    usable, low = width - 2 * margin, margin + (6 * mm if look.footer else 0)

    def frames(top: float) -> list[Frame]:
        left, made = margin, []
        for share in page.shares:
            made.append(
                Frame(left, low, usable * share - (6 * mm if len(page.shares) > 1 else 0), top - low, 0, 0, 0, 0)
            )
            left += usable * share
        return made

    decorate = partial(_decorate, look=look, name=name, total=total, page=page, head=head)
    top = height - margin
    header = [Frame(margin, top - head, usable, head, 0, 0, 0, 0)] if page.header else []
    first = PageTemplate("first", header + frames(top - (head if page.header else 0)), onPage=decorate)
    later_frames = frames(top - (8 * mm if look.running else 0))
    later = PageTemplate("later", [later_frames[_main(page)]], onPage=decorate)
    return [first, later]


def _main(page: Page) -> int:
    return max(range(len(page.shares)), key=lambda n: page.shares[n])


def _decorate(canvas: Any, document: Any, *, look: Look, name: str, total: int, page: Page, head: float) -> None:
    width, height = SIZES[look.paper]
    regular = FONTS[look.font][0]
    canvas.saveState()
    n = canvas.getPageNumber()
    if look.dark and (n == 1 or not page.header):
        edge = look.margin * mm + (width - 2 * look.margin * mm) * page.shares[0] - 3 * mm
        canvas.setFillColor(HexColor("#293e49"))
        canvas.rect(0, 0, edge, height - (look.margin * mm + head - 2 * mm if page.header else 0), stroke=0, fill=1)
    canvas.setFillColor(HexColor("#666666"))
    canvas.setFont(regular, 8)
    if look.running and n > 1:
        canvas.drawString(look.margin * mm, height - look.margin * mm - 2, look.running.format(name=name, n=n))
    if look.footer:
        canvas.drawCentredString(
            width / 2 + 20 * mm * look.dark, 9 * mm, look.footer.format(name=name, n=n, total=total)
        )
    canvas.restoreState()


def _story(page: Page, look: Look, width: float) -> list[Flowable]:
    usable = width - 2 * look.margin * mm
    story: list[Flowable] = [NextPageTemplate("later")]
    if page.header:
        story += [_flowable(block, look, usable, light=False) for block in page.header]
        story.append(FrameBreak())
    for n, (column, share) in enumerate(zip(page.columns, page.shares, strict=True)):
        if n:
            story.append(FrameBreak())
        narrow = usable * share - (6 * mm if len(page.shares) > 1 else 0)
        story += _kept(column, look, narrow, light=look.dark and n == 0)
    return story


def _kept(blocks: tuple[Block, ...], look: Look, width: float, *, light: bool) -> list[Flowable]:
    """The blocks drawn, a heading never alone at the foot of a page."""
    if look.titles:
        return list(_beside_titles(blocks, look, width))
    story: list[Flowable] = []
    for block in blocks:
        story.append(_flowable(block, look, width, light=light))
        if block.kind == "heading":
            story[-1].keepWithNext = 1
            if look.rule:
                rule = HRFlowable(width="100%", thickness=0.6, color=HexColor(look.accent), spaceBefore=1, spaceAfter=3)
                rule.keepWithNext = 1
                story.append(rule)
    return story


def _beside_titles(blocks: tuple[Block, ...], look: Look, width: float) -> Iterator[Flowable]:
    """The blocks drawn, each with the heading above it, if there is one, at its left."""
    aside = look.titles * mm
    title: Flowable | None = None
    for block in blocks:
        if block.kind == "heading":
            yield Spacer(1, look.size)
            title = _flowable(block, look, aside, light=False)
        elif block.kind == "name" or (title is None and not aside):
            yield _flowable(block, look, width, light=False)
        else:
            row = Table(
                [[title or "", _flowable(block, look, width - aside, light=False)]],
                colWidths=[aside, width - aside],
                style=[("VALIGN", (0, 0), (-1, -1), "TOP"), *_UNPADDED],
            )
            title = None
            yield row


def _cells(block: Block, look: Look, regular: str, width: float) -> Flowable:
    """Words side by side: in boxes that are as wide as they are, or in columns of equal width."""
    widths = [pdfmetrics.stringWidth(cell, regular, look.size) + 8 for cell in block.cells]
    style = [("FONT", (0, 0), (-1, -1), regular, look.size), *_UNPADDED]
    if not look.boxed:
        return Table([block.cells], colWidths=[width / _GRID] * len(block.cells), style=style, hAlign="LEFT")
    spread = [cell for pair in zip(block.cells, [""] * len(widths), strict=True) for cell in pair]
    boxes = [("BACKGROUND", (2 * n, 0), (2 * n, 0), HexColor("#dddddd")) for n in range(len(widths))]
    return Table(
        [spread], colWidths=[each for w in widths for each in (w - 4, 4)], style=[*style, *boxes], hAlign="LEFT"
    )


def _flowable(block: Block, look: Look, width: float, *, light: bool) -> Flowable:
    regular, bold, italic = FONTS[look.font]
    colour = white if light else black

    def style(font: str, size: float, **more: Any) -> ParagraphStyle:
        return ParagraphStyle(font, fontName=font, fontSize=size, leading=size * 1.3, textColor=colour, **more)

    def words(text: str, font: str, **more: Any) -> Paragraph:
        return Paragraph(escape(text, quote=False), style(font, block.size or look.size, **more))

    if block.kind == "gap":
        return Spacer(1, look.size * 0.6)
    if block.kind == "cells":
        return _cells(block, look, regular, width)
    if block.kind == "name":
        return Paragraph(
            escape(block.text), style(bold, look.size * 2, alignment=1 if look.centred else 0, spaceAfter=3)
        )
    if block.kind == "heading":
        size = look.heading_size or look.size * 1.2
        text = escape(shown_heading(block.text.upper() if look.upper else block.text, spaced=look.spaced)).replace(
            "  ", "&nbsp; "
        )
        tint = white if light else HexColor(look.accent)
        return Paragraph(text, style(bold, size, spaceBefore=look.size * 0.9, spaceAfter=2).clone("h", textColor=tint))
    if block.kind == "bullet":
        mark = ParagraphStyle(
            "b", parent=style(regular, look.size), leftIndent=look.indent * mm + 11, bulletIndent=look.indent * mm + 2
        )
        item = Paragraph(escape(block.text, quote=False), mark, bulletText=look.mark)
        return _row(block, look, width, partial(words, font=regular), item) if block.right else item
    face = bold if block.bold else italic if block.italic else regular
    centred = 1 if look.centred and block.kind == "centred" else 0
    if block.right or block.hint:
        return _row(block, look, width, partial(words, font=regular), words(block.text, face))
    return words(block.text, face, alignment=4 if look.justified and block.kind == "paragraph" else centred)


def _row(block: Block, look: Look, width: float, words: Callable[..., Paragraph], left: Paragraph) -> Flowable:
    """A row of what stands in the hint column, at the left and at the right."""
    cells: list[Flowable] = [left]
    widths = [width]
    if block.right:
        taken = look.aside * mm or pdfmetrics.stringWidth(block.right, FONTS[look.font][0], look.size) + 2
        cells, widths = [*cells, words(block.right, alignment=2)], [width - taken, taken]
    if block.hint:
        cells, widths = [words(block.hint), *cells], [look.hint * mm, widths[0] - look.hint * mm, *widths[1:]]
    style = [("VALIGN", (0, 0), (-1, -1), "TOP"), *_UNPADDED, ("RIGHTPADDING", (0, 0), (0, 0), 5 * bool(block.hint))]
    return Table([cells], colWidths=widths, style=style)
