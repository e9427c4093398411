"""PDF: rows of skills, as labels beside lists, label by label, or in small boxes."""

import io

import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

BODY, BOLD = "Helvetica", "Helvetica-Bold"
ROWS = [
    ("Kilns", "gas, wood, electric and raku"),
    ("Wheels & presses", "kick wheel, slab roller"),
    ("Glazes", "ash, celadon, tenmoku, shino"),
    ("Trade", "stock, pricing, fairs"),
]


def blocks(document) -> list[str]:
    return [document.text[block.start : block.end] for block in document.blocks]


@pytest.mark.parametrize("gap", [9.5, 25])
@pytest.mark.parametrize("align", ["left", "right"])
def test_labels_in_a_column_without_colons_stand_beside_their_lists(
    load_bytes, make_pdf, gap: float, align: str
) -> None:
    width = max(stringWidth(label, BOLD, 10) for label, _ in ROWS)
    page = [(60, 760, "Skills", BOLD, 15)]
    for number, (label, skills) in enumerate(ROWS):
        x = 60 if align == "left" else 60 + width - stringWidth(label, BOLD, 10)
        y = 738 - 13.5 * number
        page += [(x, y, label, BOLD, 10), (60 + width + gap, y, skills, BODY, 10)]
    found = blocks(load_bytes(make_pdf([page]), "a.pdf"))
    assert found == ["Skills", *(f"{label}\t{skills}" for label, skills in ROWS)]


def test_lines_that_begin_with_labels_are_not_run_together(load_bytes, make_pdf) -> None:
    wide = "Kilns: gas, wood, electric, raku, and the anagama kiln that stands behind the old school at Alder Bay"
    page = [(60, 740, wide, BODY, 10), (60, 727, "Glazes: ash, celadon", BODY, 10), (60, 714, "Trade: stock", BODY, 10)]
    assert blocks(load_bytes(make_pdf([page]), "a.pdf")) == [wide, "Glazes: ash, celadon", "Trade: stock"]


def test_a_sentence_with_a_colon_in_it_goes_on(load_bytes, make_pdf) -> None:
    page = ["The harbour had three rules: no fires, no dogs, and no whistling before the tide had", "turned: none."]
    assert blocks(load_bytes(make_pdf([page]), "a.pdf")) == [" ".join(page)]


CHIPS = [["Raku", "Slip casting", "UX", "Kiln repair"], ["Ash glaze", "Stock"]]


def drawn_in_boxes(rows: list[list[str]], *, rounded: bool, size: float = 9) -> bytes:
    """Skills in boxes, a little apart: the words of two boxes stand as near as words of justified text."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(595, 842), invariant=True)
    canvas.setFont(BODY, size)
    for number, row in enumerate(rows):
        x, y = 60.0, 740 - 16.0 * number
        for skill in row:
            width = stringWidth(skill, BODY, size)
            (canvas.roundRect if rounded else canvas.rect)(x, y - 3, width + 4, size + 4, *([2] if rounded else []))
            canvas.drawString(x + 2, y, skill)
            x += width + 8
    canvas.save()
    return buffer.getvalue()


@pytest.mark.parametrize("rounded", [False, True], ids=["square", "rounded"])
def test_words_in_small_boxes_of_their_own_are_apart(load_bytes, rounded: bool) -> None:
    document = load_bytes(drawn_in_boxes(CHIPS, rounded=rounded), "a.pdf")
    assert blocks(document) == ["\t".join(row) for row in CHIPS]


@pytest.mark.parametrize(("gap", "apart"), [(8.0, True), (4.0, False)], ids=["wide", "as in justified text"])
def test_items_side_by_side_are_told_by_gaps_wider_than_those_between_their_words(
    load_bytes, make_pdf, gap: float, apart: bool
) -> None:
    page, x = [], 60.0
    for skill in CHIPS[0]:
        page.append((x, 740, skill, BODY, 10))
        x += stringWidth(skill, BODY, 10) + gap
    page.append((60, 700, "That is all.", BODY, 10))
    found = blocks(load_bytes(make_pdf([page]), "a.pdf"))
    assert found[0] == ("\t" if apart else " ").join(CHIPS[0])


def test_a_word_on_a_ground_of_its_own_stays_in_its_sentence(load_bytes) -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(595, 842), invariant=True)
    canvas.setFont(BODY, 10)
    canvas.rect(60 + stringWidth("Call ", BODY, 10) - 1, 697, stringWidth("fire()", BODY, 10) + 2, 13)
    canvas.drawString(60, 700, "Call fire() before the kiln is warm, and wait for")
    canvas.drawString(60, 687, "the bell.")
    canvas.save()
    text = "Call fire() before the kiln is warm, and wait for the bell."
    assert blocks(load_bytes(buffer.getvalue(), "a.pdf")) == [text]


def test_a_label_as_wide_as_its_column_is_not_continued_by_the_next_label(load_bytes, make_pdf) -> None:
    rows = [
        ("Wheels & presses", "kick wheel, slab roller"),
        ("Glazes & ash", "shino, celadon, tenmoku, and"),
        ("", "oribe"),
    ]
    page = [(60, 760, "Skills", BOLD, 15)]
    for number, (label, skills) in enumerate(rows):
        page += [(60, 738 - 13.5 * number, label, BOLD, 10)] * bool(label) + [
            (165, 738 - 13.5 * number, skills, BODY, 10)
        ]
    found = blocks(load_bytes(make_pdf([page]), "a.pdf"))
    assert found[1:] == [
        "Wheels & presses\tkick wheel, slab roller",
        "Glazes & ash\tshino, celadon, tenmoku, and oribe",
    ]


def test_a_lone_word_in_small_letters_below_a_short_line_is_an_item(load_bytes, make_pdf) -> None:
    items = ["Java", "SQL", "dbt", "PostgreSQL", "Stakeholder Management", "Airflow"]
    page = [(60, 740 - 13 * number, item, BODY, 10) for number, item in enumerate(items)]
    assert blocks(load_bytes(make_pdf([page]), "a.pdf")) == items


def test_a_list_between_commas_goes_on_where_its_line_is_full(load_bytes, make_pdf) -> None:
    lines = ["Budgeting, Menu design, Public", "Speaking, Rotas"]
    page = [(60, 740 - 13 * number, line, BODY, 10) for number, line in enumerate([*lines, "Trade"])]
    assert blocks(load_bytes(make_pdf([page]), "a.pdf")) == [" ".join(lines), "Trade"]
