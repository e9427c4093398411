"""Docling's layout models: what is taken of their reading, and what happens where they are missing."""

import logging
from pathlib import Path
from types import SimpleNamespace

import pytest
from docling_core.types.doc.base import BoundingBox, CoordOrigin, Size
from docling_core.types.doc.document import ContentLayer, DoclingDocument, ProvenanceItem, TableCell, TableData
from docling_core.types.doc.labels import DocItemLabel

from pipelines.ingestion.loaders.pdf import layout_model
from pipelines.ingestion.loaders.pdf.layout_model import artifacts_folder, layout_converter, read_with_layout_model
from pipelines.ingestion.loaders.pdf.pages import main_heading


def place(page: int, top: float) -> ProvenanceItem:
    box = BoundingBox(l=72, t=top, r=300, b=top + 12, coord_origin=CoordOrigin.TOPLEFT)
    return ProvenanceItem(page_no=page, bbox=box, charspan=(0, 1))


def converted(*, score: float = float("nan")) -> SimpleNamespace:
    """What docling's converter returns for two pages: a heading, a table, a running header; the third page is empty."""
    document = DoclingDocument(name="a")
    for page in (1, 2, 3):
        document.add_page(page_no=page, size=Size(width=595, height=842))
    document.add_text(
        DocItemLabel.PAGE_HEADER, "The Brook Times", prov=place(1, 20), content_layer=ContentLayer.FURNITURE
    )
    document.add_heading("Boats", level=1, prov=place(1, 72))
    cells = [
        TableCell(text=text, start_row_offset_idx=row, end_row_offset_idx=row + 1,
                  start_col_offset_idx=column, end_col_offset_idx=column + 1, column_header=row == 0)
        for row, texts in enumerate((("Name", "Crew"), ("Gannet", "four")))
        for column, text in enumerate(texts)
    ]  # fmt: skip
    document.add_table(TableData(table_cells=cells, num_rows=2, num_cols=2), prov=place(1, 100))
    document.add_text(DocItemLabel.TEXT, "The Gannet sails at noon.", prov=place(2, 72))
    pages = {2: SimpleNamespace(ocr_score=score)}
    return SimpleNamespace(document=document, confidence=SimpleNamespace(pages=pages))


def test_docling_gives_headings_tables_pages_and_furniture() -> None:
    content = read_with_layout_model(lambda data: converted(), b"", "a.pdf")
    text = content.text
    assert [block.kind for block in content.blocks] == ["heading", "table", "paragraph"]
    assert "| Gannet | four |" in text
    assert [text[start:][:3] for start in content.pages[:2]] == ["Boa", "The"]
    assert len(content.pages) == 3
    assert content.pages_without_text == (3,)
    assert [(piece.page, piece.text) for piece in content.furniture] == [(1, "The Brook Times")]
    assert main_heading(content) == "Boats"


def test_boxes_are_measured_from_the_bottom_of_the_page() -> None:
    content = read_with_layout_model(lambda data: converted(), b"", "a.pdf")
    last = content.boxes[-1]
    assert content.text[last.start : last.end] == "The Gannet sails at noon."
    assert (last.page, last.y1, last.y0) == (2, 842 - 72, 842 - 84)


@pytest.mark.parametrize(("score", "marked"), [(0.93, {"ocr": {"2": 93.0}}), (float("nan"), {})])
def test_pages_read_by_ocr_have_their_confidence(score: float, marked: dict[str, float]) -> None:
    content = read_with_layout_model(lambda data: converted(score=score), b"", "a.pdf")
    assert content.metadata == marked


def test_a_failure_of_the_models_is_logged_and_gives_none(caplog) -> None:
    def fails(data: bytes) -> None:
        raise RuntimeError("out of memory")

    with caplog.at_level(logging.WARNING, logger="footnote"):
        assert read_with_layout_model(fails, b"", "a.pdf") is None
    assert "layout models failed" in caplog.text


def test_without_the_extra_there_is_no_converter(monkeypatch) -> None:
    monkeypatch.setattr(layout_model, "REQUIRED_MODULES", ("no_such_module",))
    assert layout_converter(ocr=False) is None


def test_missing_models_are_logged_once(monkeypatch, caplog, tmp_path: Path) -> None:
    monkeypatch.setattr(layout_model, "REQUIRED_MODULES", ("json",))
    monkeypatch.setenv("DOCLING_ARTIFACTS_PATH", str(tmp_path))
    layout_model._warn_once.cache_clear()
    with caplog.at_level(logging.WARNING, logger="footnote"):
        assert [layout_converter(ocr=False) for _ in range(3)] == [None] * 3
    assert caplog.text.count("layout models are not on this machine") == 1


def test_models_are_found_in_the_folder_docling_uses(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCLING_ARTIFACTS_PATH", str(tmp_path))
    assert artifacts_folder() is None
    (tmp_path / "docling-project--docling-layout-heron").mkdir()
    assert artifacts_folder() == tmp_path
