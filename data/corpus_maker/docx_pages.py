"""Resumes that are Word documents themselves: with styles, without, with tables for dates, with a table as sidebar."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from docx import Document
from docx.enum.text import WD_TAB_ALIGNMENT
from docx.shared import Cm, Pt

from corpus_maker.page import Block, Page

RIGHT = Cm(16)


def write_styled(path: Path, page: Page) -> None:
    """Headings and lists in Word's styles, dates at a right tab stop."""
    document = Document()
    for block in page.blocks:
        _styled(document, block)
    document.save(str(path))


def write_plain(path: Path, page: Page) -> None:
    """No styles at all: bold capitals as headings, a typed mark before list items."""
    document = Document()
    for block in page.blocks:
        if block.kind in ("name", "heading"):
            run = document.add_paragraph().add_run(block.text.upper() if block.kind == "heading" else block.text)
            run.bold, run.font.size = True, Pt(20 if block.kind == "name" else 12)
        elif block.kind == "bullet":
            document.add_paragraph(f"• {block.text}")
        elif block.kind == "gap":
            document.add_paragraph()
        else:
            _line(document.add_paragraph(), block)
    document.save(str(path))


def write_hint_table(path: Path, page: Page) -> None:
    """Each entry with a hint as a row of a table: the dates in the first cell, the rest in the second."""
    document = Document()
    table: Any = None
    for block in page.blocks:
        if block.hint.strip():
            table = table or document.add_table(0, 2)
            cells = table.add_row().cells
            cells[0].text = block.hint
            _line(cells[1].paragraphs[0], Block("line", block.text, bold=block.bold))
        elif table is not None and block.kind in ("bullet", "line", "paragraph"):
            _styled(table.rows[-1].cells[1], Block(block.kind, block.text, bold=block.bold, italic=block.italic))
        elif block.kind != "gap":
            table = None
            _styled(document, block)
    document.save(str(path))


def write_side_table(path: Path, page: Page) -> None:
    """The columns as the cells of one row, below the header."""
    document = Document()
    for block in page.header:
        _styled(document, block)
    cells = document.add_table(1, len(page.columns)).rows[0].cells
    for cell, column in zip(cells, page.columns, strict=True):
        for block in column:
            _styled(cell, block)
    document.save(str(path))


def write_grid(path: Path, page: Page, headings: Iterable[str], rows: Sequence[Sequence[str]], after: str) -> None:
    """Like `write_styled`, with a ruled table of these heads and rows in place of the section `after`."""
    document = Document()
    skipped = False
    for block in page.blocks:
        if block.kind == "heading":
            skipped = block.text == after
        if not skipped or block.kind == "heading":
            _styled(document, block)
        if block.kind == "heading" and skipped:
            heads = list(headings)
            table = document.add_table(1, len(heads), style="Table Grid")
            for row in (heads, *rows):
                cells = table.rows[0].cells if row is heads else table.add_row().cells
                for cell, text in zip(cells, row, strict=True):
                    cell.text = text
    document.save(str(path))


def _styled(target: Any, block: Block) -> None:
    """Add the block to a document or a cell."""
    if block.kind in ("name", "heading"):
        target.add_paragraph(block.text, style="Title" if block.kind == "name" else "Heading 1")
    elif block.kind == "bullet":
        target.add_paragraph(block.text, style="List Bullet")
    elif block.kind != "gap":
        _line(target.add_paragraph(), block)


def _line(made: Any, block: Block) -> None:
    if block.hint.strip():
        made.add_run(block.hint + "\t")
    run = made.add_run(block.text)
    run.bold, run.italic = block.bold, block.italic
    if block.right:
        made.paragraph_format.tab_stops.add_tab_stop(RIGHT, WD_TAB_ALIGNMENT.RIGHT)
        made.add_run("\t" + block.right)
