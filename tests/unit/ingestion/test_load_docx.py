"""DOCX through docling."""

import io
from datetime import UTC, datetime

import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from docx.shared import Inches
from PIL import Image

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
    add_table(empty_docx, ("Day", "Heat"), ("Mon", "230"))
    return docx_bytes(empty_docx)


def add_table(document, *rows) -> None:
    """Add a table of these texts; a cell may hold several paragraphs."""
    table = document.add_table(rows=len(rows), cols=len(rows[0]))
    for row, cells in zip(table.rows, rows, strict=True):
        for cell, texts in zip(row.cells, cells, strict=True):
            first, *more = [texts] if isinstance(texts, str) else texts
            cell.text = first
            for text in more:
                cell.add_paragraph(text)


def shown(document) -> list[tuple[str, str]]:
    """(kind, text) of each block."""
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def test_a_document_is_rendered_with_exact_blocks(load_bytes, notes: bytes) -> None:
    document = load_bytes(notes, "log.docx")
    assert shown(document) == [
        ("heading", "Oven log"),
        ("paragraph", "We rebuilt it, twice."),
        ("heading", "Parts"),
        ("list", "- door"),
        ("list", "- stone"),
        ("table", "| Day | Heat |\n| --- | --- |\n| Mon | 230 |"),
    ]
    assert [block.level for block in document.blocks if block.kind == "heading"] == [1, 2]


def test_properties_give_author_and_date(load_bytes, notes: bytes) -> None:
    document = load_bytes(notes, "log.docx")
    assert (document.title, document.author) == ("Oven log", "Ann Lee")
    assert document.modified_at == datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)


def test_the_title_property_serves_without_headings(load_bytes, empty_docx, docx_bytes) -> None:
    empty_docx.add_paragraph("Just text.")
    empty_docx.core_properties.title = "Stated title"
    assert load_bytes(docx_bytes(empty_docx), "a.docx").title == "Stated title"


def test_the_only_heading_at_the_top_is_the_title_wherever_it_stands(load_bytes, empty_docx, docx_bytes) -> None:
    for level, text in ((2, "Contact"), (1, "Ann Lee"), (2, "Summary")):
        empty_docx.add_heading(text, level)
    assert load_bytes(docx_bytes(empty_docx), "a.docx").title == "Ann Lee"


def test_a_tab_stays_one_tab_between_formatted_runs_and_within_a_heading(load_bytes, empty_docx, docx_bytes) -> None:
    paragraph = empty_docx.add_paragraph()
    paragraph.add_run("Acme Ltd").bold = True
    paragraph.add_run("\t\t")
    paragraph.add_run("Jan 2020 – Present").italic = True
    empty_docx.add_heading("Borealis\t2018 – 2019", 2)
    document = load_bytes(docx_bytes(empty_docx), "a.docx")
    assert shown(document) == [
        ("paragraph", "Acme Ltd\tJan 2020 – Present"),
        ("heading", "Borealis\t2018 – 2019"),
    ]


def test_a_soft_line_break_begins_a_line_and_a_block(load_bytes, empty_docx, docx_bytes) -> None:
    paragraph = empty_docx.add_paragraph()
    paragraph.add_run("Acme Ltd\t2020").bold = True
    for text in ("Engineer", "• Built the oven"):
        paragraph.add_run().add_break()
        paragraph.add_run(text)
    document = load_bytes(docx_bytes(empty_docx), "a.docx")
    assert document.text == "Acme Ltd\t2020\nEngineer\n• Built the oven"
    assert [block.kind for block in document.blocks] == ["paragraph", "paragraph", "list"]


def test_capitals_are_headings_only_where_no_paragraph_has_a_heading_style(load_bytes, empty_docx, docx_bytes) -> None:
    for text in ("Ann Lee", "EXPERIENCE", "Baker at the mill."):
        empty_docx.add_paragraph(text)
    assert load_bytes(docx_bytes(empty_docx), "a.docx").blocks[1].kind == "heading"
    empty_docx.add_heading("Skills", 1)
    assert load_bytes(docx_bytes(empty_docx), "a.docx").blocks[1].kind == "paragraph"


def test_a_row_of_a_layout_table_reads_as_its_date_beside_the_first_line(load_bytes, empty_docx, docx_bytes) -> None:
    add_table(
        empty_docx,
        ("2015 – 2018", ("University of Oslo", "BSc Mathematics", "Thesis on engines.")),
        (("2012 – 2015", "Bergen"), ("Hill School", "A levels")),
    )
    assert load_bytes(docx_bytes(empty_docx), "a.docx").text.split("\n\n") == [
        "2015 – 2018\tUniversity of Oslo",
        "BSc Mathematics",
        "Thesis on engines.",
        "2012 – 2015\tHill School",
        "Bergen\tA levels",
    ]


def test_columns_made_with_a_table_are_read_one_after_the_other(load_bytes, empty_docx, docx_bytes) -> None:
    left = ("Contact", "ann@example.com", "Skills", "Python")
    right = ("Experience", "Acme Ltd\t2001 – 2002", "Did many things there.")
    add_table(empty_docx, (left, right))
    assert load_bytes(docx_bytes(empty_docx), "a.docx").text.split("\n\n") == [*left, *right]


def test_a_column_of_dates_without_a_head_is_no_data_table(load_bytes, empty_docx, docx_bytes) -> None:
    add_table(empty_docx, ("2020", "Golden Loaf of the Bakers' Guild"), ("2019", "Silver Loaf"))
    add_table(empty_docx, ("Year", "Loaves"), ("2020", "31,000"))
    assert [text for _, text in shown(load_bytes(docx_bytes(empty_docx), "a.docx"))] == [
        "2020\tGolden Loaf of the Bakers' Guild",
        "2019\tSilver Loaf",
        "| Year | Loaves |\n| --- | --- |\n| 2020 | 31,000 |",
    ]


def test_runs_of_a_cell_are_one_paragraph_and_paragraphs_are_not(load_bytes, empty_docx, docx_bytes) -> None:
    table = empty_docx.add_table(rows=1, cols=2)
    paragraph = table.cell(0, 0).paragraphs[0]
    for text in ("Wa", "ter", " is H", "2", "O"):
        paragraph.add_run(text).bold = text in ("ter", "2")
    table.cell(0, 0).add_paragraph("Second").runs[0].italic = True
    table.cell(0, 1).text = "Right side, which is longer than what stands on the left of it."
    found = [text for _, text in shown(load_bytes(docx_bytes(empty_docx), "a.docx"))]
    assert found == ["Water is H2O", "Second", "Right side, which is longer than what stands on the left of it."]


def test_merged_cells_keep_their_words_in_every_row(load_bytes, empty_docx, docx_bytes) -> None:
    table = empty_docx.add_table(rows=3, cols=3)
    for column, text in enumerate(("City", "Year", "Count")):
        table.cell(0, column).text = text
    for row in (1, 2):
        table.cell(row, 1).text = f"202{row}"
        table.cell(row, 2).text = str(row)
    table.cell(1, 0).merge(table.cell(2, 0)).text = "Bern"
    assert load_bytes(docx_bytes(empty_docx), "a.docx").text == (
        "| City | Year | Count |\n| --- | --- | --- |\n| Bern | 2021 | 1 |\n| Bern | 2022 | 2 |"
    )


def test_text_boxes_and_content_controls_are_read_and_running_headers_are_not(
    load_bytes, empty_docx, docx_bytes
) -> None:
    section = empty_docx.sections[0]
    section.header.paragraphs[0].text, section.footer.paragraphs[0].text = "Running head", "Page 1"
    empty_docx.add_paragraph("Body.")
    box = (
        f"<w:p {nsdecls('w')} xmlns:v='urn:schemas-microsoft-com:vml'><w:r><w:pict><v:shape><v:textbox><w:txbxContent>"
        "<w:p><w:r><w:t>In a box.</w:t></w:r></w:p></w:txbxContent></v:textbox></v:shape></w:pict></w:r></w:p>"
    )
    control = f"<w:sdt {nsdecls('w')}><w:sdtContent><w:p><w:r><w:t>In a form.</w:t></w:r></w:p></w:sdtContent></w:sdt>"
    for xml in (box, control):
        empty_docx.element.body.insert(-1, parse_xml(xml))
    assert load_bytes(docx_bytes(empty_docx), "a.docx").text == "Body.\n\nIn a box.\n\nIn a form."


def test_the_alternative_text_of_a_picture_stands_where_the_picture_does(load_bytes, empty_docx, docx_bytes) -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (4, 4), "red").save(buffer, "PNG")
    for described in ("", "A red & hot door"):
        buffer.seek(0)
        picture = empty_docx.add_picture(buffer, Inches(1))
        picture._inline.docPr.set("descr", described)
        empty_docx.add_paragraph("After it.")
    assert shown(load_bytes(docx_bytes(empty_docx), "a.docx")) == [
        ("paragraph", "After it."),
        ("caption", "A red & hot door"),
        ("paragraph", "After it."),
    ]


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


@pytest.mark.parametrize(
    ("stream", "said", "hint"),
    [
        ("EncryptedPackage", "has a password", "without a password"),
        ("WordDocument", "an old Word file", ".docx"),
        ("Workbook", "an old Excel file", ".xlsx"),
        ("PowerPoint Document", "an old PowerPoint file", ".pptx"),
    ],
)
def test_old_and_locked_office_files_say_what_they_are(load_bytes, stream: str, said: str, hint: str) -> None:
    data = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 504 + stream.encode("utf-16-le") + b"\x00" * 512
    with pytest.raises(LoadError, match=said) as caught:
        load_bytes(data, "a.docx")
    assert hint in caught.value.hint
