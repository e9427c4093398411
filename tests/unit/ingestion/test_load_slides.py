"""PPTX and ODP through docling."""

import io

import pytest
from odfdo import Document as Odf
from odfdo import DrawPage, Frame
from PIL import Image
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from pipelines.errors import LoadError

TITLE_ONLY, TITLE_AND_BODY, BLANK = 5, 1, 6


def saved(deck) -> bytes:
    buffer = io.BytesIO()
    deck.save(buffer)
    return buffer.getvalue()


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


def shown(document) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def test_a_title_of_several_paragraphs_is_one_heading(load_bytes) -> None:
    deck = Presentation()
    for title in ("What we\ndid", "Then"):
        deck.slides.add_slide(deck.slide_layouts[TITLE_ONLY]).shapes.title.text = title
    document = load_bytes(saved(deck), "talk.pptx")
    assert [document.text[block.start : block.end] for block in document.blocks] == ["What we did", "Then"]


def test_a_slide_is_its_title_its_bullets_its_notes_and_its_tables(load_bytes, deck) -> None:
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


def test_a_slide_is_a_page_even_when_nothing_is_on_it(load_bytes, deck) -> None:
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


def test_a_presentation_of_opendocument_has_pages_too(load_bytes) -> None:
    deck = Odf("odp")
    deck.body.clear()
    for number, text in enumerate(("First words", "Second words"), start=1):
        page = DrawPage(f"p{number}", name=f"Slide {number}")
        page.append(Frame.text_frame([text], size=("7cm", "5cm"), position=("1cm", "1cm")))
        deck.body.append(page)
    buffer = io.BytesIO()
    deck.save(buffer)
    document = load_bytes(buffer.getvalue(), "talk.odp")
    assert document.text == "Slide 1\n\nFirst words\n\nSlide 2\n\nSecond words"
    assert document.pages == (0, document.text.index("Slide 2"))


def test_a_truncated_presentation_is_broken(load_bytes, deck) -> None:
    data = saved(deck)
    with pytest.raises(LoadError, match="is broken"):
        load_bytes(data[: len(data) // 2], "oven.pptx")
