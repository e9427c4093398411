"""Every heading and every table cell of a file stands in its nodes, under the section that it has in the file."""

import io
import re
from collections.abc import Iterator
from itertools import pairwise

import pytest
from bs4 import BeautifulSoup
from docx import Document as Docx
from docx.table import Table
from docx.text.paragraph import Paragraph
from markdown_it import MarkdownIt

from pipelines.ingestion.classify import classify
from pipelines.ingestion.parsers import parse
from pipelines.text import plain

Event = tuple[int, str]  # heading level (0 = a table cell), its words

PROSE = "The oven stood cold for a year before anybody in the village thought of lighting it again for bread."
SECTIONS = [
    (1, "Oven log", []),
    (2, "Heat by day", [("Day", "Heat"), ("Monday", "230"), ("Tuesday", "240 | 250")]),
    (3, "Corrections", [("Day", "Was", "Is"), ("Monday", "230", "235")]),
    (2, "Parts & tools", [("Part", "Made of"), ("Door", "cast iron")]),
    (1, "Later", [("Year", "Loaves"), ("2023", "31,000")]),
]


def docx_file() -> bytes:
    document = Docx()
    for level, title, rows in SECTIONS:
        document.add_heading(title, level)
        document.add_paragraph(PROSE)
        if rows:
            table = document.add_table(rows=len(rows), cols=len(rows[0]))
            for row, cells in zip(table.rows, rows, strict=True):
                for cell, text in zip(row.cells, cells, strict=True):
                    cell.text = text
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def html_file() -> bytes:
    parts = ["<nav><h2>Menu</h2></nav>"]
    for level, title, rows in SECTIONS:
        parts.append(f"<h{level}>{title.replace('&', '&amp;')}</h{level}><p>{PROSE}</p><table>")
        parts += [f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows]
        parts.append("</table>")
    return "".join(parts).encode()


def markdown_file() -> bytes:
    parts = []
    for level, title, rows in SECTIONS:
        parts.append(f"{'#' * level} {title}\n\n{PROSE}\n\n")
        lines = ["| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |\n" for row in rows]
        if lines:
            lines.insert(1, "|" + " --- |" * len(rows[0]) + "\n")
        parts += [*lines, "\n"]
    return "".join(parts).encode()


def read_docx(data: bytes) -> Iterator[Event]:
    for item in Docx(io.BytesIO(data)).iter_inner_content():
        if isinstance(item, Table):
            yield from ((0, cell.text) for row in item.rows for cell in row.cells)
        elif isinstance(item, Paragraph) and item.style.name.startswith("Heading"):
            yield int(item.style.name[-1]), item.text


def read_html(data: bytes) -> Iterator[Event]:
    page = BeautifulSoup(data, "html.parser")
    page.nav.decompose()
    for element in page.find_all(["h1", "h2", "h3", "td", "th"]):
        yield int(element.name[1]) if element.name[0] == "h" else 0, element.get_text()


def read_markdown(data: bytes) -> Iterator[Event]:
    tokens = MarkdownIt("commonmark").enable("table").parse(data.decode())
    for token, following in pairwise(tokens):
        if token.type == "heading_open":
            yield int(token.tag[1]), following.content
        elif token.type in ("th_open", "td_open"):
            yield 0, following.content


def words(text: str) -> str:
    return " ".join(re.findall(r"\w+", plain(text)))


@pytest.mark.parametrize(
    ("name", "data", "events"),
    [
        ("log.docx", docx_file(), list(read_docx(docx_file()))),
        ("log.html", html_file(), list(read_html(html_file()))),
        ("log.md", markdown_file(), list(read_markdown(markdown_file()))),
    ],
    ids=["docx", "html", "md"],
)
def test_headings_and_cells_stand_under_their_sections(load_bytes, name: str, data: bytes, events: list[Event]) -> None:
    assert len(events) == len(SECTIONS) + sum(len(row) for _, _, rows in SECTIONS for row in rows)
    document = classify(load_bytes(data, name)).with_(content_sha="0")
    nodes = [(tuple(map(words, node.metadata["section_path"])), words(node.text)) for node in parse(document)]
    path: list[Event] = []
    for level, text in events:
        if level:
            path = [*(above for above in path if above[0] < level), (level, words(text))]
        expected = tuple(title for _, title in path)
        assert any(found == expected and words(text) in said for found, said in nodes), (expected, text)
