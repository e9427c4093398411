"""DOCX, PPTX, ODT and ODP, as docling reads them."""

import io
import zipfile
from datetime import UTC, datetime

import pytest
from docx import Document as Docx
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from odfdo import Document as Odf
from odfdo import DrawPage, Element, Frame, Header, List, ListItem, Note, Paragraph, Span, Table
from PIL import Image
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from config.settings import Limits
from pipelines.errors import LoadError

TITLE_ONLY, TITLE_AND_BODY, BLANK = 5, 1, 6


def saved(document) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


@pytest.fixture
def word():
    """A new Word document."""
    return Docx()


@pytest.fixture
def notes(word) -> bytes:
    word.core_properties.author = "Ann Lee"
    word.core_properties.modified = datetime(2024, 5, 6, 7, 8, 9)
    word.add_heading("Oven log", 1)
    paragraph = word.add_paragraph("We re")
    paragraph.add_run("built").bold = True
    paragraph.add_run(" it, ")
    paragraph.add_run("twice").italic = True
    paragraph.add_run(".")
    word.add_heading("Parts", 2)
    word.add_paragraph("door", style="List Bullet")
    word.add_paragraph("stone", style="List Bullet")
    add_table(word, ("Day", "Heat"), ("Mon", "230"))
    return saved(word)


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


def test_a_docx_is_rendered_with_exact_blocks(load_bytes, notes: bytes) -> None:
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


def test_the_title_property_is_used_without_headings(load_bytes, word) -> None:
    word.add_paragraph("Just text.")
    word.core_properties.title = "Stated title"
    assert load_bytes(saved(word), "a.docx").title == "Stated title"


def test_the_only_level_1_heading_is_the_title(load_bytes, word) -> None:
    for level, text in ((2, "Contact"), (1, "Ann Lee"), (2, "Summary")):
        word.add_heading(text, level)
    assert load_bytes(saved(word), "a.docx").title == "Ann Lee"


def test_tabs_between_runs_and_in_headings_become_one_tab(load_bytes, word) -> None:
    paragraph = word.add_paragraph()
    paragraph.add_run("Acme Ltd").bold = True
    paragraph.add_run("\t\t")
    paragraph.add_run("Jan 2020 – Present").italic = True
    word.add_heading("Borealis\t2018 – 2019", 2)
    document = load_bytes(saved(word), "a.docx")
    assert shown(document) == [
        ("paragraph", "Acme Ltd\tJan 2020 – Present"),
        ("heading", "Borealis\t2018 – 2019"),
    ]


def test_a_soft_line_break_begins_a_line_and_a_block(load_bytes, word) -> None:
    paragraph = word.add_paragraph()
    paragraph.add_run("Acme Ltd\t2020").bold = True
    for text in ("Engineer", "• Built the oven"):
        paragraph.add_run().add_break()
        paragraph.add_run(text)
    document = load_bytes(saved(word), "a.docx")
    assert document.text == "Acme Ltd\t2020\nEngineer\n• Built the oven"
    assert [block.kind for block in document.blocks] == ["paragraph", "paragraph", "list"]


def test_capitals_are_headings_only_without_heading_styles(load_bytes, word) -> None:
    for text in ("Ann Lee", "EXPERIENCE", "Baker at the mill."):
        word.add_paragraph(text)
    assert load_bytes(saved(word), "a.docx").blocks[1].kind == "heading"
    word.add_heading("Skills", 1)
    assert load_bytes(saved(word), "a.docx").blocks[1].kind == "paragraph"


def test_dates_in_a_layout_table_stay_beside_the_first_line_of_their_row(load_bytes, word) -> None:
    add_table(
        word,
        ("2015 – 2018", ("University of Oslo", "BSc Mathematics", "Thesis on engines.")),
        (("2012 – 2015", "Bergen"), ("Hill School", "A levels")),
    )
    assert load_bytes(saved(word), "a.docx").text.split("\n\n") == [
        "2015 – 2018\tUniversity of Oslo",
        "BSc Mathematics",
        "Thesis on engines.",
        "2012 – 2015\tHill School",
        "Bergen\tA levels",
    ]


def test_columns_of_a_layout_table_are_read_one_after_the_other(load_bytes, word) -> None:
    left = ("Contact", "ann@example.com", "Skills", "Python")
    right = ("Experience", "Acme Ltd\t2001 – 2002", "Did many things there.")
    add_table(word, (left, right))
    assert load_bytes(saved(word), "a.docx").text.split("\n\n") == [*left, *right]


def test_a_date_column_without_header_makes_a_layout_table(load_bytes, word) -> None:
    add_table(word, ("2020", "Golden Loaf of the Bakers' Guild"), ("2019", "Silver Loaf"))
    add_table(word, ("Year", "Loaves"), ("2020", "31,000"))
    assert [text for _, text in shown(load_bytes(saved(word), "a.docx"))] == [
        "2020\tGolden Loaf of the Bakers' Guild",
        "2019\tSilver Loaf",
        "| Year | Loaves |\n| --- | --- |\n| 2020 | 31,000 |",
    ]


def test_runs_in_a_cell_join_and_paragraphs_stay_apart(load_bytes, word) -> None:
    table = word.add_table(rows=1, cols=2)
    paragraph = table.cell(0, 0).paragraphs[0]
    for text in ("Wa", "ter", " is H", "2", "O"):
        paragraph.add_run(text).bold = text in ("ter", "2")
    table.cell(0, 0).add_paragraph("Second").runs[0].italic = True
    table.cell(0, 1).text = "Right side, which is longer than what stands on the left of it."
    found = [text for _, text in shown(load_bytes(saved(word), "a.docx"))]
    assert found == ["Water is H2O", "Second", "Right side, which is longer than what stands on the left of it."]


def test_merged_cells_repeat_their_text_in_every_row(load_bytes, word) -> None:
    table = word.add_table(rows=3, cols=3)
    for column, text in enumerate(("City", "Year", "Count")):
        table.cell(0, column).text = text
    for row in (1, 2):
        table.cell(row, 1).text = f"202{row}"
        table.cell(row, 2).text = str(row)
    table.cell(1, 0).merge(table.cell(2, 0)).text = "Bern"
    assert load_bytes(saved(word), "a.docx").text == (
        "| City | Year | Count |\n| --- | --- | --- |\n| Bern | 2021 | 1 |\n| Bern | 2022 | 2 |"
    )


def test_text_boxes_and_content_controls_are_read_and_running_headers_are_not(load_bytes, word) -> None:
    section = word.sections[0]
    section.header.paragraphs[0].text, section.footer.paragraphs[0].text = "Running head", "Page 1"
    word.add_paragraph("Body.")
    box = (
        f"<w:p {nsdecls('w')} xmlns:v='urn:schemas-microsoft-com:vml'><w:r><w:pict><v:shape><v:textbox><w:txbxContent>"
        "<w:p><w:r><w:t>In a box.</w:t></w:r></w:p></w:txbxContent></v:textbox></v:shape></w:pict></w:r></w:p>"
    )
    control = f"<w:sdt {nsdecls('w')}><w:sdtContent><w:p><w:r><w:t>In a form.</w:t></w:r></w:p></w:sdtContent></w:sdt>"
    for xml in (box, control):
        word.element.body.insert(-1, parse_xml(xml))
    assert load_bytes(saved(word), "a.docx").text == "Body.\n\nIn a box.\n\nIn a form."


def test_alternative_text_takes_the_place_of_its_picture(load_bytes, word) -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (4, 4), "red").save(buffer, "PNG")
    for described in ("", "A red & hot door"):
        buffer.seek(0)
        picture = word.add_picture(buffer, Inches(1))
        picture._inline.docPr.set("descr", described)
        word.add_paragraph("After it.")
    assert shown(load_bytes(saved(word), "a.docx")) == [
        ("paragraph", "After it."),
        ("caption", "A red & hot door"),
        ("paragraph", "After it."),
    ]


@pytest.mark.parametrize("kept", [0.3, 0.95])
def test_a_truncated_file_is_broken(load_bytes, notes: bytes, kept: float) -> None:
    with pytest.raises(LoadError, match="is broken"):
        load_bytes(notes[: int(len(notes) * kept)], "log.docx")


def test_a_file_without_its_middle_or_its_namespaces_is_broken(load_bytes, notes: bytes) -> None:
    parts = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(notes)) as archive, zipfile.ZipFile(parts, "w") as bare:
        for name in archive.namelist():
            bare.writestr(name, archive.read(name).replace(b"xmlns:w=", b"xmlns:v="))
    for broken in (parts.getvalue(), *(notes[: len(notes) // each] + notes[-2_000:] for each in (2, 3, 5, 9))):
        with pytest.raises(LoadError):
            load_bytes(broken, "log.docx")


def test_an_empty_docx_is_refused(load_bytes, word) -> None:
    with pytest.raises(LoadError, match="is empty"):
        load_bytes(saved(word), "a.docx")


def test_a_file_that_unpacks_too_large_is_refused(load_bytes, notes: bytes) -> None:
    with pytest.raises(LoadError, match="unpacks to"):
        load_bytes(notes, "log.docx", Limits(max_binary_bytes=len(notes)))


@pytest.mark.parametrize(
    ("stream", "message", "hint"),
    [
        ("EncryptedPackage", "has a password", "without a password"),
        ("WordDocument", "an old Word file", ".docx"),
        ("Workbook", "an old Excel file", ".xlsx"),
        ("PowerPoint Document", "an old PowerPoint file", ".pptx"),
    ],
)
def test_old_and_encrypted_office_files_are_refused_by_kind(load_bytes, stream: str, message: str, hint: str) -> None:
    data = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 504 + stream.encode("utf-16-le") + b"\x00" * 512
    with pytest.raises(LoadError, match=message) as caught:
        load_bytes(data, "a.docx")
    assert hint in caught.value.hint


@pytest.fixture
def log() -> Odf:
    document = Odf("odt")
    document.meta.title, document.meta.creator = "Stated title", "Ann Lee"
    body = document.body
    body.clear()
    body.append(Header(1, "Oven log"))
    body.append(Paragraph("We rebuilt it."))
    body.append(Header(2, "Parts"))
    door = ListItem("door")
    door.append(List(["hinge"]))
    listed = List()
    listed.append(door)
    body.append(listed)
    table = Table("Heat", width=2, height=2)
    for row, cells in enumerate((("Day", "Heat"), ("Mon", "230"))):
        for column, text in enumerate(cells):
            table.set_value((column, row), text)
    body.append(table)
    return document


def test_an_odt_is_rendered_with_exact_blocks(load_bytes, log: Odf) -> None:
    document = load_bytes(saved(log), "log.odt")
    assert shown(document) == [
        ("heading", "Oven log"),
        ("paragraph", "We rebuilt it."),
        ("heading", "Parts"),
        ("list", "- door"),
        ("list", "- hinge"),
        ("table", "| Day | Heat |\n| --- | --- |\n| Mon | 230 |"),
    ]
    assert "- door\n  - hinge" in document.text
    assert (document.title, document.author) == ("Oven log", "Ann Lee")


def test_an_odt_keeps_tabs_line_breaks_and_runs(load_bytes, log: Odf) -> None:
    log.body.clear()
    line = Paragraph("Acme ")
    line.append(Span("Ltd", style="T1"))
    line.append(Element.from_tag("<text:tab/>"))
    line.append(Span("2020"))
    line.append(Element.from_tag("<text:line-break/>"))
    line.append(Span("Engineer"))
    log.body.append(line)
    assert load_bytes(saved(log), "log.odt").text == "Acme Ltd\t2020\nEngineer"


def test_odt_footnotes_and_picture_titles_are_read(load_bytes, log: Odf, tmp_path) -> None:
    Image.new("RGB", (20, 20), "red").save(tmp_path / "door.png")
    log.body.clear()
    noted = Paragraph("Stone")
    noted.append(Note(note_id="n1", citation="1", body="From Otta."))
    frame = Frame.image_frame(log.add_file(str(tmp_path / "door.png")), size=("3cm", "3cm"))
    frame.append(Element.from_tag("<svg:title>A red door</svg:title>"))
    pictured = Paragraph("")
    pictured.append(frame)
    for paragraph in (noted, pictured, Paragraph("End.")):
        log.body.append(paragraph)
    assert load_bytes(saved(log), "log.odt").text == "Stone\n\nA red door\n\nEnd.\n\nFrom Otta."


def test_an_encrypted_odt_is_refused(load_bytes) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("content.xml", "\x00\x01")
        archive.writestr("META-INF/manifest.xml", "<manifest:encryption-data manifest:checksum='x'/>")
    with pytest.raises(LoadError, match="has a password"):
        load_bytes(buffer.getvalue(), "a.odt")


def test_an_odt_without_content_is_broken(load_bytes) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
    with pytest.raises(LoadError, match="is broken"):
        load_bytes(buffer.getvalue(), "a.odt")


@pytest.fixture
def deck():
    """A slide of bullets with notes, and one with a table."""
    deck = Presentation()
    deck.core_properties.author = "Ann Lee"
    slide = deck.slides.add_slide(deck.slide_layouts[TITLE_AND_BODY])
    slide.shapes.title.text = "What we did"
    frame = slide.placeholders[1].text_frame
    frame.text = "Built the oven"
    nested = frame.add_paragraph()
    nested.text, nested.level = "with ", 1
    nested.add_run().text = "stone"
    nested.runs[1].font.bold = True
    slide.notes_slide.notes_text_frame.text = "Thank Bob."
    slide = deck.slides.add_slide(deck.slide_layouts[TITLE_ONLY])
    slide.shapes.title.text = "Figures"
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
    for row, cells in enumerate((("Day", "Heat"), ("Mon", "230"))):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    return deck


def test_a_slide_title_of_several_paragraphs_is_one_heading(load_bytes) -> None:
    deck = Presentation()
    for title in ("What we\ndid", "Then"):
        deck.slides.add_slide(deck.slide_layouts[TITLE_ONLY]).shapes.title.text = title
    document = load_bytes(saved(deck), "talk.pptx")
    assert [document.text[block.start : block.end] for block in document.blocks] == ["What we did", "Then"]


def test_a_slide_has_title_bullets_notes_and_tables(load_bytes, deck) -> None:
    document = load_bytes(saved(deck), "oven.pptx")
    assert shown(document) == [
        ("heading", "What we did"),
        ("list", "- Built the oven"),
        ("list", "- with stone"),
        ("paragraph", "Notes: Thank Bob."),
        ("heading", "Figures"),
        ("table", "| Day | Heat |\n| --- | --- |\n| Mon | 230 |"),
    ]
    assert (document.title, document.author) == ("What we did", "Ann Lee")


def test_a_slide_begins_with_its_title_when_a_table_was_drawn_before_it(load_bytes) -> None:
    deck = Presentation()
    deck.slides.add_slide(deck.slide_layouts[TITLE_ONLY]).shapes.title.text = "Plans"
    slide = deck.slides.add_slide(deck.slide_layouts[TITLE_ONLY])
    slide.shapes.title.text = "Figures"
    frame = slide.shapes.add_table(2, 2, Inches(1), Inches(0), Inches(4), Inches(1))
    for cell, text in zip(frame.table.iter_cells(), ("Day", "Heat", "Mon", "230"), strict=True):
        cell.text = text
    slide.shapes.title.top = Inches(5)
    slide.shapes._spTree.insert(2, frame._element)
    document = load_bytes(saved(deck), "oven.pptx")
    assert [kind for kind, _ in shown(document)] == ["heading", "heading", "table"]
    assert document.pages == (0, document.text.index("Figures"))


def test_an_empty_slide_is_a_page(load_bytes, deck) -> None:
    deck.slides.add_slide(deck.slide_layouts[BLANK])
    slide = deck.slides.add_slide(deck.slide_layouts[BLANK])
    slide.shapes.add_textbox(Inches(1), Inches(1), Inches(4), Inches(1)).text_frame.text = "Untitled words"
    document = load_bytes(saved(deck), "oven.pptx")
    figures, untitled = document.text.index("Figures"), document.text.index("Untitled")
    assert document.pages == (0, figures, untitled, untitled)


def test_pictures_keep_their_alternative_text_and_charts_their_numbers(load_bytes) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[BLANK])
    buffer = io.BytesIO()
    Image.new("RGB", (40, 40), "red").save(buffer, "PNG")
    picture = slide.shapes.add_picture(buffer, Inches(1), Inches(1))
    picture._element.nvPicPr.cNvPr.set("descr", "A red oven door")
    numbers = CategoryChartData()
    numbers.categories = ["East", "West"]
    numbers.add_series("Loaves", (19.5, 21.25))
    frame = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(4), Inches(3), Inches(2), numbers)
    frame.chart.has_title = True
    frame.chart.chart_title.text_frame.text = "Sales"
    assert shown(load_bytes(saved(deck), "sales.pptx")) == [
        ("caption", "A red oven door"),
        ("caption", "Sales"),
        ("table", "|  | Loaves |\n| --- | --- |\n| East | 19.5 |\n| West | 21.25 |"),
    ]


def test_odp_slides_are_pages(load_bytes) -> None:
    deck = Odf("odp")
    deck.body.clear()
    for number, text in enumerate(("First words", "Second words"), start=1):
        page = DrawPage(f"p{number}", name=f"Slide {number}")
        page.append(Frame.text_frame([text], size=("7cm", "5cm"), position=("1cm", "1cm")))
        deck.body.append(page)
    document = load_bytes(saved(deck), "talk.odp")
    assert document.text == "Slide 1\n\nFirst words\n\nSlide 2\n\nSecond words"
    assert document.pages == (0, document.text.index("Slide 2"))


def test_entities_are_refused_in_plain_words(load_bytes, word) -> None:
    word.add_paragraph("a text")
    with zipfile.ZipFile(io.BytesIO(saved(word))) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    declared = b'<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]><w:document'
    body = parts["word/document.xml"].replace(b"<w:document", declared, 1).replace(b"a text", b"a &x; text")
    parts["word/document.xml"] = body.replace(b" standalone='yes'", b"").replace(b' standalone="yes"', b"")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    with pytest.raises(LoadError, match="declares entities"):
        load_bytes(buffer.getvalue(), "xxe.docx")
