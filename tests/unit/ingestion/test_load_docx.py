"""DOCX through docling."""

from datetime import UTC, datetime

import pytest

from pipelines.errors import LoadError
from pipelines.ingestion.loaders import Limits


@pytest.fixture
def notes(empty_docx, docx_bytes) -> bytes:
    empty_docx.core_properties.author = "Ann Lee"
    empty_docx.core_properties.modified = datetime(2024, 5, 6, 7, 8, 9)
    empty_docx.add_heading("Oven log", 1)
    paragraph = empty_docx.add_paragraph("We re")
    paragraph.add_run("built").bold = True
    paragraph.add_run(" it, ")
    paragraph.add_run("twice").italic = True
    paragraph.add_run(".")
    empty_docx.add_heading("Parts", 2)
    empty_docx.add_paragraph("door", style="List Bullet")
    empty_docx.add_paragraph("stone", style="List Bullet")
    table = empty_docx.add_table(rows=2, cols=2)
    for row, cells in enumerate((("Day", "Heat"), ("Mon", "230"))):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    return docx_bytes(empty_docx)


def test_a_document_is_rendered_with_exact_blocks(load_bytes, notes: bytes) -> None:
    document = load_bytes(notes, "log.docx")
    assert [(block.kind, document.text[block.start : block.end]) for block in document.blocks] == [
        ("heading", "# Oven log"),
        ("paragraph", "We rebuilt it, twice."),
        ("heading", "## Parts"),
        ("list", "- door"),
        ("list", "- stone"),
        ("table", "| Day | Heat |\n| --- | --- |\n| Mon | 230 |"),
    ]


def test_properties_give_author_and_date(load_bytes, notes: bytes) -> None:
    document = load_bytes(notes, "log.docx")
    assert (document.title, document.author) == ("Oven log", "Ann Lee")
    assert document.modified_at == datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)


def test_the_title_property_serves_without_headings(load_bytes, empty_docx, docx_bytes) -> None:
    empty_docx.add_paragraph("Just text.")
    empty_docx.core_properties.title = "Stated title"
    assert load_bytes(docx_bytes(empty_docx), "a.docx").title == "Stated title"


@pytest.mark.parametrize("kept", [0.3, 0.95])
def test_a_truncated_file_is_broken(load_bytes, notes: bytes, kept: float) -> None:
    with pytest.raises(LoadError, match="is broken"):
        load_bytes(notes[: int(len(notes) * kept)], "log.docx")


def test_an_empty_document_holds_no_text(load_bytes, empty_docx, docx_bytes) -> None:
    with pytest.raises(LoadError, match="is empty"):
        load_bytes(docx_bytes(empty_docx), "a.docx")


def test_a_file_that_unpacks_too_large_is_refused(load_bytes, notes: bytes) -> None:
    with pytest.raises(LoadError, match="unpacks to"):
        load_bytes(notes, "log.docx", Limits(max_binary_bytes=len(notes)))
