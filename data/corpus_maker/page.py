"""What a page says, in reading order, apart from how it is drawn; and its TXT and DOCX twins."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from docx import Document


@dataclass(frozen=True)
class Block:
    """One thing on a page.

    Attributes:
        kind: name, heading, line, paragraph, bullet, cells or gap.
        text: What stands at the left.
        right: What stands in the same row at the right margin, also of a list item.
        cells: What stands side by side, in a grid or each in a box.
        hint: What stands in the same row in a narrow column at the left.
        bold: Whether the left is bold; `italic` likewise.
        size: Of the letters in points; 0 = that of the page.
    """

    kind: str
    text: str = ""
    right: str = ""
    hint: str = ""
    bold: bool = False
    italic: bool = False
    size: float = 0
    cells: tuple[str, ...] = ()


@dataclass(frozen=True)
class Page:
    """A document before it is drawn: a header over the whole width, then columns from left to right.

    `shares` are the columns' widths as shares of the page's; one column has one share.
    """

    header: tuple[Block, ...]
    columns: tuple[tuple[Block, ...], ...]
    shares: tuple[float, ...] = (1.0,)

    @property
    def blocks(self) -> Iterable[Block]:
        """Every block in the order of reading: the header, then column by column."""
        yield from self.header
        for column in self.columns:
            yield from column


def heading(text: str) -> Block:
    return Block("heading", text)


def line(
    text: str, right: str = "", *, hint: str = "", bold: bool = False, italic: bool = False, size: float = 0
) -> Block:
    return Block("line", text, right, hint, bold, italic, size)


def bullets(texts: Sequence[str]) -> list[Block]:
    return [Block("bullet", text) for text in texts]


def paragraph(text: str) -> Block:
    return Block("paragraph", text)


def write_txt(path: Path, page: Page) -> None:
    """The twin as plain text."""
    rows: list[str] = []
    for block in page.blocks:
        if block.kind in ("heading", "name"):
            rows += ["", block.text]
        elif block.kind == "bullet":
            rows.append("  ".join(part for part in (f"- {block.text}", block.right) if part))
        elif block.kind == "cells":
            rows.append("  ".join(block.cells))
        elif block.kind == "gap":
            rows.append("")
        else:
            rows.append("  ".join(part for part in (block.hint, block.text, block.right) if part))
    path.write_text("\n".join(rows).strip() + "\n", encoding="utf-8")


def write_docx(path: Path, page: Page) -> None:
    """The twin as a Word document: headings and lists in its own styles, a tab before what stands at the right."""
    document = Document()
    for block in page.blocks:
        if block.kind == "name":
            document.add_heading(block.text, 0)
        elif block.kind == "heading":
            document.add_heading(block.text, 1)
        elif block.kind == "bullet":
            document.add_paragraph("\t".join(filter(None, (block.text, block.right))), style="List Bullet")
        elif block.kind == "cells":
            document.add_paragraph("\t".join(block.cells))
        elif block.kind != "gap":
            made = document.add_paragraph()
            if block.hint:
                made.add_run(block.hint + "\t")
            run = made.add_run(block.text)
            run.bold, run.italic = block.bold, block.italic
            if block.right:
                made.add_run("\t" + block.right)
    document.save(str(path))
