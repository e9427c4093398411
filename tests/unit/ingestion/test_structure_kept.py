"""Every heading and every table cell of a file stands in its nodes, under the section that it has in the file."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import odfdo
import pytest
from docx import Document as Docx
from openpyxl import Workbook
from pptx import Presentation
from pptx.util import Inches

from tests.bench.structure import kept


class Part(NamedTuple):
    """A section of the file."""

    level: int
    title: str
    prose: str = ""
    rows: tuple[tuple[str, ...], ...] = ()


PROSE = "The oven stood cold for a year before anybody in the village thought of lighting it again for bread."
PARTS = [
    Part(1, "Oven log"),
    Part(2, "Heat by day", PROSE, (("Day", "Heat"), ("Monday", "230"), ("Tuesday", "240 | 250"))),
    Part(3, "Corrections", "Two.", (("Day", "Was", "Is"), ("Monday", "230", "235"))),
    Part(2, "Nothing yet"),
    Part(2, "Parts & tools", "Few.", (("Part", "Made of"), ("Door", "cast iron"), ("Grate", "-"))),
    Part(2, "Heat by day", "Again."),
    Part(1, "Later", PROSE, (("Year", "Loaves"), ("2023", "31,000"))),
    Part(1, "The end"),
]


def docx_file(parts: list[Part]) -> bytes:
    document = Docx()
    for part in parts:
        document.add_heading(part.title, part.level)
        document.add_paragraph(part.prose)
        if part.rows:
            table = document.add_table(rows=len(part.rows), cols=len(part.rows[0]))
            for row, cells in zip(table.rows, part.rows, strict=True):
                for cell, text in zip(row.cells, cells, strict=True):
                    cell.text = text
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def html_file(parts: list[Part]) -> bytes:
    page = []
    for part in parts:
        title = part.title.replace("&", "&amp;")
        page.append(f"<h{part.level}>{title}</h{part.level}><p>{part.prose}</p>")
        rows = ["<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in part.rows]
        page += [f"<table>{''.join(rows)}</table>"] if rows else []
    return "".join(page).encode()


def markdown_file(parts: list[Part]) -> bytes:
    text = []
    for part in parts:
        text.append(f"{'#' * part.level} {part.title}\n\n{part.prose}\n\n")
        rows = ["| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |\n" for row in part.rows]
        text += [rows[0], "|" + " --- |" * len(part.rows[0]) + "\n", *rows[1:], "\n"] if rows else []
    return "".join(text).encode()


def odt_file(parts: list[Part]) -> bytes:
    document = odfdo.Document("text")
    document.body.clear()
    for part in parts:
        document.body.append(odfdo.Header(part.level, part.title))
        document.body.append(odfdo.Paragraph(part.prose))
        if part.rows:
            table = odfdo.Table("T", width=len(part.rows[0]), height=len(part.rows))
            for y, row in enumerate(part.rows):
                for x, cell in enumerate(row):
                    table.set_value((x, y), cell)
            document.body.append(table)
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def slides_file(parts: list[Part]) -> bytes:
    deck = Presentation()
    for part in parts:
        slide = deck.slides.add_slide(deck.slide_layouts[5])
        slide.shapes.title.text = part.title.replace(" by ", "\nby ")
        if part.rows:
            size = Inches(1), Inches(2), Inches(6), Inches(2)
            table = slide.shapes.add_table(len(part.rows), len(part.rows[0]), *size).table
            for y, row in enumerate(part.rows):
                for x, cell in enumerate(row):
                    table.cell(y, x).text = cell
    buffer = io.BytesIO()
    deck.save(buffer)
    return buffer.getvalue()


def workbook_file(parts: list[Part]) -> bytes:
    book = Workbook()
    book.remove(book.active)
    for part in parts:
        if part.rows:
            sheet = book.create_sheet(part.title)
            for row in part.rows:
                sheet.append([float(cell) if cell.isdigit() else cell for cell in row])
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def csv_file(parts: list[Part]) -> bytes:
    buffer = io.StringIO()
    csv.writer(buffer).writerows(parts[1].rows)
    return buffer.getvalue().encode()


FILES = {
    "log.docx": docx_file, "log.html": html_file, "log.md": markdown_file, "log.odt": odt_file,
    "log.pptx": slides_file, "log.xlsx": workbook_file, "log.csv": csv_file,
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_headings_and_cells_are_in_their_sections(tmp_path: Path, name: str) -> None:
    make: Callable[[list[Part]], bytes] = FILES[name]
    path = tmp_path / name
    path.write_bytes(make(PARTS))
    found = kept(path, name)
    cells = sum(len(row) for part in PARTS for row in part.rows)
    expected = {"log.xlsx": (4, cells), "log.csv": (0, 6)}.get(name, (len(PARTS), cells))
    assert (found.error, found.exceptions) == ("", [])
    assert (len(found.headings), len(found.cells)) == expected
