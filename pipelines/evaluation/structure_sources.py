"""The headings and table cells of a file as its own format states them, read apart from the loaders."""

import csv
import io
import re
from collections.abc import Callable, Iterator
from datetime import date, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from pipelines.evaluation.structure_office import read_docx, read_ods, read_odt, read_pptx
from pipelines.evaluation.structure_words import IN_CELL, Stated, sheet
from pipelines.markup import INLINE_TAGS, plain, without_comments

_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_CELLS = ("td", "th")
_UNREAD = ("script", "style", "template", "noscript")
_IN_BLOCK = "inside a list or a quotation, which it does not divide"
_IN_NAVIGATION = "in the page's navigation, which is left out"
_ON_HIDDEN_SHEET = "on a hidden sheet"


def read_markdown(path: Path) -> Iterator[Stated]:
    """CommonMark headings, and the cells of tables."""
    from markdown_it import MarkdownIt

    text = _FRONT_MATTER.sub("", path.read_text(encoding="utf-8-sig"))
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    for token, inline in pairwise(tokens):
        said = plain(inline.content) or without_comments(inline.content).strip()
        if token.type == "heading_open" and said:
            yield Stated(said, int(token.tag[1]), _IN_BLOCK if token.level else "")
        elif token.type in ("th_open", "td_open") and said:
            yield Stated(said)


def read_html(path: Path) -> Iterator[Stated]:
    """`<h1>` to `<h6>`, and the blocks of text in table cells."""
    from lxml.html import HTMLParser, document_fromstring

    page, encoding = path.read_bytes(), "utf-8"
    try:
        page.decode()
    except UnicodeDecodeError:
        encoding = ""
    root = document_fromstring(page, parser=HTMLParser(encoding=encoding or None))
    for element in root.iter(*_HEADINGS, *_CELLS):
        around = {above.tag for above in element.iterancestors()}
        why = _IN_NAVIGATION if "nav" in around else ""
        if element.tag in _CELLS:
            yield from (Stated(text, why=why) for text in _blocks(element))
        elif text := " ".join(element.text_content().split()):
            yield Stated(text, int(element.tag[1]), why or IN_CELL * bool({*_CELLS} & around))


def _blocks(cell: Any) -> list[str]:
    """The blocks of text in a cell, without those of the cells and the headings inside of it."""
    found = [""]

    def walk(element: Any) -> None:
        found[-1] += element.text or ""
        for child in element:
            inline = child.tag in INLINE_TAGS
            found.extend([""] * (not inline))
            if isinstance(child.tag, str) and child.tag not in (*_UNREAD, *_HEADINGS, *_CELLS):
                walk(child)
            found.extend([""] * (not inline))
            found[-1] += child.tail or ""

    walk(cell)
    return [text for block in found if (text := " ".join(block.split()))]


def read_xlsx(path: Path) -> Iterator[Stated]:
    """The names of sheets, and their cells."""
    from openpyxl import load_workbook

    sheets = load_workbook(path, data_only=True).worksheets
    for each in sheets:
        why = _ON_HIDDEN_SHEET if each.sheet_state != "visible" else ""
        yield Stated(each.title, 1, why) if why else sheet(each.title, alone=len(sheets) == 1)
        for cell in (cell for row in each.iter_rows() for cell in row if cell.value is not None):
            text, *also = _shown(cell.value)
            yield Stated(text, why=why, also=tuple(also))


def _shown(value: object) -> list[str]:
    """The ways in which a value may be shown."""
    match value:
        case bool():
            return ["yes" if value else "no", str(value)]
        case int() | float():
            return [f"{value:.15g}", f"{100 * value:.10g}%"]
        case datetime():
            return [value.strftime("%Y-%m-%d %H:%M"), str(value.date())]
        case date():
            return [str(value)]
    return [str(value)]


def read_csv(path: Path) -> Iterator[Stated]:
    """The cells."""
    text = path.read_text(encoding="utf-8-sig")
    try:
        dialect: type[csv.Dialect] = csv.Sniffer().sniff(text[:10_000], delimiters=",;\t|")
    except csv.Error:
        dialect = csv.excel
    for row in csv.reader(io.StringIO(text), dialect):
        yield from (Stated(cell.strip()) for cell in row if cell.strip())


READERS: dict[str, Callable[[Path], Iterator[Stated]]] = {
    ".docx": read_docx,
    ".html": read_html,
    ".htm": read_html,
    ".md": read_markdown,
    ".pptx": read_pptx,
    ".xlsx": read_xlsx,
    ".csv": read_csv,
    ".odt": read_odt,
    ".ods": read_ods,
}
