"""PDF: reading order over columns, sidebars and hints, letter-spaced words, and where every line stands."""

import io
from collections.abc import Callable, Sequence

import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from pipelines.ingestion.loaders.pdf.columns import Gutter, _are_dates_beside
from pipelines.ingestion.loaders.pdf.lines import PdfLine

BODY, BOLD = "Helvetica", "Helvetica-Bold"
PROSE = [
    "The harbour was quiet when the first boat came in,",
    "and nobody on the quay had expected it so early.",
    "Its captain asked for coal and for a pilot at once,",
    "because the wind was about to turn to the north.",
    "We gave him both, and he was gone before the noon",
    "bell, leaving two crates of oranges on the stones.",
]
OTHER = [
    "Accounts were kept in three books of equal size,",
    "one for each of the brothers who owned the yard.",
    "None of them trusted the sums of the other two,",
    "so that every evening ended in a long argument.",
    "The eldest wrote in green, the middle one in black,",
    "and the youngest with whatever pen he could find.",
]


def column(lines: Sequence[str], x: float, y: float, leading: float = 13, size: float = 10, font: str = BODY) -> list:
    return [(x, y - leading * number, line, font, size) for number, line in enumerate(lines)]


def right_aligned(text: str, x1: float, y: float, size: float = 10, font: str = BODY) -> tuple:
    return (x1 - stringWidth(text, font, size), y, text, font, size)


def blocks(document) -> list[str]:
    return [document.text[block.start : block.end] for block in document.blocks]


ORDERS: dict[str, Callable[[list, list], list]] = {
    "column by column": lambda left, right: [*left, *right],
    "right column first": lambda left, right: [*right, *left],
    "row by row": lambda left, right: [piece for pair in zip(left, right, strict=True) for piece in pair],
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("offset", [0, 5])
def test_two_columns_are_read_one_after_the_other_in_any_drawing_order(
    load_bytes, make_pdf, order: str, offset: int
) -> None:
    title = (60, 790, "A chronicle of the harbour and of the yard, in two parts and one page", BOLD, 16)
    left, right = column(PROSE, 60, 740), column(OTHER, 320, 740 - offset)
    document = load_bytes(make_pdf([[title, *ORDERS[order](left, right)]]), "a.pdf")
    assert blocks(document) == [title[2], " ".join(PROSE), " ".join(OTHER)]


def test_a_broken_word_continues_in_the_next_column(load_bytes, make_pdf) -> None:
    left, right = (
        column([*PROSE[:5], "so the harbour mas-"], 60, 740),
        column(["ter wrote it down.", *OTHER[:5]], 320, 740),
    )
    assert "so the harbour master wrote it down." in load_bytes(make_pdf([[*left, *right]]), "a.pdf").text


SIDEBAR = [
    "SKILLS",
    "Python",
    "Carpentry",
    "Bookkeeping",
    "LANGUAGES",
    "English",
    "Norse",
    "CONTACT",
    "ann@example.com",
]
JOBS = [("Harbour master", "2019 - 2023"), ("Pilot", "2015 - 2019"), ("Deckhand", "2011 - 2015")]


def main_column(x: float, right: float, y: float) -> list:
    drawn = []
    for position, dates in JOBS:
        drawn += [(x, y, position, BODY, 10), right_aligned(dates, right, y)]
        drawn += column(
            [f"Port of Brook, as {position.lower()} of the", "northern quay and of all its boats."], x, y - 13
        )
        y -= 50
    return drawn


@pytest.mark.parametrize(("side", "main", "edge"), [(40, 200, 550), (430, 40, 390)])
@pytest.mark.parametrize("by_height", [False, True])
def test_a_sidebar_is_read_as_a_whole(
    load_bytes, make_pdf, side: float, main: float, edge: float, by_height: bool
) -> None:
    drawn = [*column(SIDEBAR, side, 737, leading=17), *main_column(main, edge, 740)]
    if by_height:
        drawn.sort(key=lambda piece: (-piece[1], piece[0]))
    name = (40, 790, "Ann Brook, harbour master and bookkeeper of the northern ports", BOLD, 16)
    text = load_bytes(make_pdf([[name, *drawn]]), "a.pdf").text
    places = [text.index(piece) for piece in (SIDEBAR[0], SIDEBAR[-1], "Harbour master\t2019", "Deckhand\t2011 - 2015")]
    first, last, begun, ended = places
    assert (first < last < begun < ended) if side < main else (begun < ended < first < last)
    assert text.startswith(name[2])


def test_a_short_sidebar_is_recognised_from_the_other_page(load_bytes, make_pdf) -> None:
    first = [*column(SIDEBAR, 40, 737, leading=17), *main_column(200, 550, 740)]
    second = [(40, 740, "Sailing", BODY, 10), *main_column(200, 550, 740)]
    assert "Sailing\n\nHarbour master\t2019 - 2023" in load_bytes(make_pdf([first, second]), "a.pdf").text


@pytest.mark.parametrize("font", [BODY, BOLD])
def test_a_column_of_dates_is_read_row_by_row_with_tabs(load_bytes, make_pdf, font: str) -> None:
    page, y = [(60, 760, "Experience", BOLD, 14)], 735.0
    for position, dates in JOBS:
        page += [(60, y, dates, font, 10), *column([position, "Port of Brook", "\u2022 Kept the books"], 180, y)]
        y -= 60
    page += [(60, y, "Education", BOLD, 14), (60, y - 20, "2008 - 2011", font, 10), (180, y - 20, "School", BODY, 10)]
    assert blocks(load_bytes(make_pdf([page]), "a.pdf")) == [
        "Experience",
        *(line for job, dates in JOBS for line in (f"{dates}\t{job}", "Port of Brook", "\u2022 Kept the books")),
        "Education",
        "2008 - 2011\tSchool",
    ]


def test_dates_that_are_wrapped_in_their_column_are_one_hint(load_bytes, make_pdf) -> None:
    page = []
    for number, (position, dates) in enumerate(JOBS):
        start, end = dates.split(" - ")
        page += column([f"May {start} -", f"June {end}"], 60, 740 - 60 * number)
        page += column([position, "Port of Brook", "where all boats were counted twice"], 180, 740 - 60 * number)
    text = load_bytes(make_pdf([page]), "a.pdf").text
    assert "May 2019 - June 2023\tHarbour master\n\nPort of Brook" in text


def test_labels_beside_their_sections_become_headings(load_bytes, make_pdf) -> None:
    page, y = [], 740.0
    for label in ("Experience", "Education", "Projects"):
        page += [(40, y, label, BOLD, 13), *column([f"All {label.lower()} of Ann", *PROSE[:2]], 180, y)]
        y -= 70
    document = load_bytes(make_pdf([page]), "a.pdf")
    found = [(block.kind, document.text[block.start : block.end]) for block in document.blocks]
    assert [text for kind, text in found if kind == "heading"] == ["Experience", "Education", "Projects"]
    assert found[1] == ("paragraph", "All experience of Ann")


def test_labels_drawn_before_all_rows_are_read_with_their_rows(load_bytes, make_pdf) -> None:
    labels = [(60, 740 - 26 * row, label, BOLD, 10) for row, label in enumerate(("Boats", "Books", "Crew"))]
    texts = [column(PROSE[2 * row : 2 * row + 2], 180, 740 - 26 * row) for row in range(3)]
    assert blocks(load_bytes(make_pdf([[*labels, *texts[0], *texts[1], *texts[2]]]), "a.pdf")) == [
        f"{label}\t{' '.join(PROSE[2 * row : 2 * row + 2])}" for row, label in enumerate(("Boats", "Books", "Crew"))
    ]


def test_a_name_beside_contact_details_is_a_heading(load_bytes, make_pdf) -> None:
    contacts = [right_aligned("ann@example.com", 550, 797), right_aligned("+44 131 496 0000", 550, 784)]
    page = [(60, 790, "Ann Brook", BOLD, 20), *contacts, *column(PROSE, 60, 740)]
    document = load_bytes(make_pdf([page]), "a.pdf")
    assert document.title == "Ann Brook"
    assert set(blocks(document)) == {"Ann Brook", "ann@example.com", "+44 131 496 0000", " ".join(PROSE)}


def test_a_title_wrapped_beside_its_date_is_rejoined(load_bytes, make_pdf) -> None:
    page = [
        (60, 740, "On the counting of boats, and on the keeping of books about the boats that were", BOLD, 10),
        right_aligned("May 2021", 550, 740),
        (60, 728, "counted", BOLD, 10),
        (60, 716, "Ann Brook and her brothers", BODY, 10),
        (60, 690, "A shorter title", BOLD, 10),
        right_aligned("September 2019", 550, 690),
    ]
    assert blocks(load_bytes(make_pdf([page]), "a.pdf"))[:2] == [
        f"{page[0][2]} counted\tMay 2021",
        "Ann Brook and her brothers",
    ]


def test_side_notes_that_continue_beside_a_list_come_before_it(load_bytes, make_pdf) -> None:
    page = []
    for number, (position, dates) in enumerate(JOBS):
        y = 740 - 70 * number
        page += column(
            [position, "\u2022 Counted the boats of the harbour, every day", "twice, and wrote it down"], 60, y
        )
        page += [right_aligned(hint, 550, y - 13 * row) for row, hint in enumerate(("Leith, UK", dates, "4 years"))]
    assert blocks(load_bytes(make_pdf([page]), "a.pdf"))[:4] == [
        "Harbour master\tLeith, UK",
        "2019 - 2023",
        "4 years",
        "\u2022 Counted the boats of the harbour, every day twice, and wrote it down",
    ]


def test_a_list_item_keeps_the_date_at_its_end(load_bytes, make_pdf) -> None:
    page = [(60, 760, "Honours", BOLD, 14)]
    for number, (position, dates) in enumerate(JOBS):
        y = 740 - 13 * number
        page += [(60, y, f"\u2022 Best {position.lower()}", BODY, 10), right_aligned(dates, 550, y)]
    assert "\u2022 Best pilot\t2015 - 2019" in blocks(load_bytes(make_pdf([page]), "a.pdf"))


def test_the_rows_of_a_table_are_lines_with_tabs(load_bytes, make_pdf) -> None:
    rows = [("Boat", "Length", "Crew"), ("Gannet", "12 m", "four"), ("Tern", "9 m", "three"), ("Skua", "7 m", "two")]
    page = [(x, 740 - 14 * row, cell, BODY, 10) for row, cells in enumerate(rows)
            for x, cell in zip((60, 200, 340), cells, strict=True)]  # fmt: skip
    assert blocks(load_bytes(make_pdf([page]), "a.pdf")) == ["\t".join(row) for row in rows]


@pytest.mark.parametrize("tracking", [0.5, 1.5, 2.5, 4, 8])
def test_letters_drawn_apart_are_joined_into_words(load_bytes, make_pdf, tracking: float) -> None:
    x, page = 60.0, []
    for letter in "WORK EXPERIENCE":
        if letter != " ":
            page.append((x, 740, letter, BODY, 12))
        x += stringWidth(letter, BODY, 12) + tracking
    assert load_bytes(make_pdf([[*page, *column(PROSE, 60, 700)]]), "a.pdf").text.startswith("WORK EXPERIENCE\n")


@pytest.mark.parametrize(
    ("spaced", "read"),
    [
        ("E X P E R I E N C E", "EXPERIENCE"),
        ("W O R K   E X P E R I E N C E", "WORK EXPERIENCE"),
        ("Vitamin A B or C", "Vitamin A B or C"),
    ],
)
def test_spaced_out_letters_are_joined_into_words(load_bytes, make_pdf, spaced: str, read: str) -> None:
    assert load_bytes(make_pdf([[spaced, "", "That was it."]]), "a.pdf").text.startswith(f"{read}\n")


def test_glyphs_of_icon_fonts_are_no_text(load_bytes, make_pdf) -> None:
    page = [(60, 740, "H", "Helvetica-Oblique", 10), (75, 740, "Leith, Scotland", BODY, 10)]
    data = make_pdf([page]).replace(b"/Helvetica-Oblique", b"/FontAwesome6-Free")
    assert load_bytes(data, "a.pdf").text == "Leith, Scotland"


def test_every_line_has_its_box(load_bytes, make_pdf) -> None:
    page = [
        (60, 740, "Harbour master", BODY, 10),
        right_aligned("2019 - 2023", 550, 740),
        *column(["She counted all the boats of the har-", "bour."], 60, 715),
    ]
    document = load_bytes(make_pdf([[], page]), "a.pdf")
    assert [document.text[box.start : box.end] for box in document.boxes] == [
        "Harbour master",
        "2019 - 2023",
        "She counted all the boats of the har",
        "bour.",
    ]
    date = document.boxes[1]
    width = stringWidth("2019 - 2023", BODY, 10)
    assert (date.page, date.x0, date.x1) == (2, round(550 - width, 1), 550)
    assert date.y0 < 740 < date.y1 < 752


def rotated(degrees: int) -> bytes:
    """A page that the file turns; shown, it is 595 by 842 points large, and its words stand upright from (60, 500)."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(595, 842), invariant=True)
    canvas.setPageRotation(degrees)
    canvas.translate(*{0: (0, 0), 90: (842, 0), 180: (595, 842), 270: (0, 595)}[degrees])
    canvas.rotate(degrees)
    for number, line in enumerate(PROSE[:4]):
        canvas.drawString(60, 500 - 14 * number, line)
    canvas.showPage()
    canvas.save()
    return buffer.getvalue()


@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
def test_a_rotated_page_is_read_as_displayed(load_bytes, degrees: int) -> None:
    document = load_bytes(rotated(degrees), "a.pdf")
    assert document.text == " ".join(PROSE[:4])
    assert document.boxes[0].x0 == pytest.approx(60, abs=1)
    assert document.boxes[0].y0 < 500 < document.boxes[0].y1


def test_vertical_margin_text_comes_after_the_page(load_bytes) -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(595, 842), invariant=True)
    canvas.saveState()
    canvas.rotate(90)
    canvas.drawString(300, -30, "arXiv 2101.00001 in the margin")
    canvas.restoreState()
    for number, line in enumerate(PROSE):
        canvas.drawString(60, 700 - 14 * number, line)
    canvas.save()
    document = load_bytes(buffer.getvalue(), "a.pdf")
    assert blocks(document) == [" ".join(PROSE), "arXiv 2101.00001 in the margin"]
    margin = document.boxes[-1]
    assert margin.x1 - margin.x0 < 20 < margin.y1 - margin.y0


def test_a_page_with_thousands_of_scattered_words_is_read(load_bytes, make_pdf) -> None:
    page = [(10 + 7 * (31 * n % 80), 10 + 0.4 * (17 * n % 2000), f"w{n}", BODY, 4) for n in range(4000)]
    assert len(load_bytes(make_pdf([page]), "a.pdf").text.split()) > 3000


def test_lines_set_flush_right_are_joined_only_where_they_are_full(load_bytes, make_pdf) -> None:
    lines = [
        "Fathom",
        "Engineer",
        "January 2016 - now",
        "Ran the harbour office and all of its",
        "boats, and sold tar.",
        "Tar.",
    ]
    page = [right_aligned(line, 240, 740 - 14 * number) for number, line in enumerate(lines)]
    assert blocks(load_bytes(make_pdf([page]), "a.pdf")) == [*lines[:3], f"{lines[3]} {lines[4]}", lines[5]]


def test_a_sentence_in_a_narrow_column_is_one_paragraph_and_names_are_not(load_bytes, make_pdf) -> None:
    lines = [
        "Studied the tides at",
        "Harbour College, Oslo.",
        "Tar and rope stores",
        "Harbourmasters",
        "Pilots of the north",
    ]
    assert blocks(load_bytes(make_pdf([column(lines, 60, 740)]), "a.pdf")) == [" ".join(lines[:2]), *lines[2:]]


def test_a_name_of_capitals_and_digits_heads_nothing(load_bytes, make_pdf) -> None:
    page = [(60, 760, "Skills", BOLD, 15), *column(["HTML5", "Carpentry", "Python"], 60, 735, 30)]
    document = load_bytes(make_pdf([page]), "a.pdf")
    assert [block.kind for block in document.blocks] == ["heading", "paragraph", "paragraph", "paragraph"]


SECTIONS = {"Profile": PROSE[:2], "Skills": ["Rope\tTar\tCoal", "Sails\tNets\tBread"], "Experience": OTHER[:3]}


def titled(*, titles_first: bool, size: float) -> list[tuple]:
    """Sections with their titles at the left, tops aligned; one of them is a grid."""
    titles, body, y = [], [], 740.0
    for title, lines in SECTIONS.items():
        titles.append((60, y - 0.7 * (size - 10), title, BODY, size))
        for line in lines:
            body += [(170 + 120 * number, y, cell, BODY, 10) for number, cell in enumerate(line.split("\t"))]
            y -= 13
        y -= 22
    return [(60, 790, "Ann Pilot", BOLD, 24), *(titles + body if titles_first else body + titles)]


@pytest.mark.parametrize("titles_first", [True, False])
@pytest.mark.parametrize("size", [12, 14, 18])
def test_section_titles_in_a_column_at_the_left_head_what_is_beside_them(
    load_bytes, make_pdf, titles_first: bool, size: float
) -> None:
    document = load_bytes(make_pdf([titled(titles_first=titles_first, size=size)]), "a.pdf")
    expected = ["Ann Pilot"]
    for title, lines in SECTIONS.items():
        expected += [title, *(lines if "\t" in lines[0] else [" ".join(lines)])]
    assert blocks(document) == expected
    headings = [document.text[block.start : block.end] for block in document.blocks if block.kind == "heading"]
    assert headings == ["Ann Pilot", *SECTIONS]


WRAPPED = [["September", "2019 -", "November 2022"], ["March 2018 -", "May 2019"], ["Since 2021"]]


def wrapped_jobs(*, left: bool, listed: bool = True) -> list[tuple]:
    """Jobs whose dates are in a column that is too narrow for them, at the left or at the right margin."""
    page: list[tuple] = [(60, 790, "Experience", BOLD, 14)]
    y = 765.0
    for dates, (job, _) in zip(WRAPPED, JOBS, strict=True):
        page.append((140 if left else 60, y, job, BOLD, 10))
        page += [
            (60, y - 12 * n, part, BODY, 10) if left else right_aligned(part, 540, y - 12 * n)
            for n, part in enumerate(dates)
        ]
        y -= 12 * len(dates) if not left else 12
        page += column([f"• {line}" for line in PROSE[:2]], 140 if left else 60, y, 12)
        y -= 48
    return page


@pytest.mark.parametrize("left", [True, False], ids=["left", "right"])
def test_dates_that_wrap_in_a_narrow_column_are_one_range_beside_their_job(load_bytes, make_pdf, left: bool) -> None:
    found = blocks(load_bytes(make_pdf([wrapped_jobs(left=left)]), "a.pdf"))
    expected = [
        f"{' '.join(dates)}\t{job}" if left else f"{job}\t{' '.join(dates)}"
        for dates, (job, _) in zip(WRAPPED, JOBS, strict=True)
    ]
    assert [block for block in found if "\t" in block] == expected


def test_two_notes_below_each_other_at_the_right_stay_two(load_bytes, make_pdf) -> None:
    page = [
        (60, 760, "Fathom", BOLD, 10), right_aligned("Porto, Portugal", 540, 760),
        (60, 747, "Harbour master", BODY, 10), right_aligned("2019 - 2021", 540, 747),
        (60, 734, "Ran the harbour office and its boats, which nobody else had done before.", BODY, 10),
    ]  # fmt: skip
    found = blocks(load_bytes(make_pdf([page]), "a.pdf"))
    assert found[:2] == ["Fathom\tPorto, Portugal", "Harbour master\t2019 - 2021"]


def test_two_columns_of_short_lines_with_headings_of_their_own_are_read_apart_though_drawn_by_row(
    load_bytes, make_pdf
) -> None:
    left = ["Experience", "Pilot", "2019 - 2021", "Deckhand", "2015 - 2019", "Baker", "2012 - 2015"]
    right = ["Skills", "Ropes", "Tar", "Languages", "Norse", "English", "German"]
    page = [(60, 790, "Ann Pilot", BOLD, 24)]
    for n, pair in enumerate(zip(left, right, strict=True)):
        for x, words in zip((60, 320), pair, strict=True):
            heads = words in ("Experience", "Skills", "Languages")
            page.append((x, 740 - 14 * n, words, BOLD if heads else BODY, 13 if heads else 10))
    assert load_bytes(make_pdf([page]), "a.pdf").text.split() == " ".join(["Ann Pilot", *left, *right]).split()


def gutter_page(titles: Sequence[str], bodies: Sequence[Sequence[str]], place: Callable, size: float = 10) -> list:
    """Titles of sections, placed by `place(text, y)`, with their bodies from x = 200 on, from the top."""
    lines, y = [(60, 790, "Ann Lee", BOLD, 20)], 740
    for title, body in zip(titles, bodies, strict=True):
        lines += [place(title, y), *column(body, 200, y, size=size)]
        y -= 13 * len(body) + 20
    return lines


BODIES = [
    ["Cook, Halden Foods, Leeds", "Mar 2019 – Present", "Ran a kitchen of eighteen and its budget."],
    ["Marwick College of the Arts", "BA in History, 2012 – 2015"],
    ["Menu design, Butchery, Costing", "Rotas, Hiring, Training"],
]


@pytest.mark.parametrize("font", [BODY, BOLD])
@pytest.mark.parametrize("edge", ["left", "right"])
def test_known_titles_in_a_gutter_head_their_sections_in_any_type(load_bytes, make_pdf, font: str, edge: str) -> None:
    def place(title: str, y: float) -> tuple:
        return (60, y, title, font, 10) if edge == "left" else right_aligned(title, 180, y, 10, font)

    document = load_bytes(make_pdf([gutter_page(["Work", "Education", "Skills"], BODIES, place)]), "a.pdf")
    headings = [document.text[b.start : b.end] for b in document.blocks if b.kind == "heading"]
    assert headings == ["Ann Lee", "Work", "Education", "Skills"]
    assert document.text.index("Work") < document.text.index("Cook") < document.text.index("Education")


def test_labels_beside_short_values_are_no_gutter_of_titles(load_bytes, make_pdf) -> None:
    labels, values = ["Programming", "Languages", "Platforms"], [["Go, Rust"], ["English, Greek"], ["Linux"]]
    document = load_bytes(make_pdf([gutter_page(labels, values, lambda text, y: (60, y, text, BODY, 10))]), "a.pdf")
    assert "Languages\tEnglish, Greek" in document.text


@pytest.mark.parametrize("order", ["row by row", "column by column"])
def test_blocks_below_titles_in_one_row_are_read_one_after_the_other(load_bytes, make_pdf, order: str) -> None:
    left = column(["Skills", "Menu design, Costing", "Butchery"], 60, 400)
    right = column(["Languages", "English: fluent", "Greek: basic"], 320, 400)
    page = [(60, 790, "Ann Lee", BOLD, 20), *column(PROSE, 60, 740), *ORDERS[order](left, right)]
    text = load_bytes(make_pdf([page]), "a.pdf").text
    assert text.index("Butchery") < text.index("Languages") < text.index("English")


@pytest.mark.parametrize("last", ["2022", "Present"])
def test_a_date_right_below_a_date_is_read_beside_it(load_bytes, make_pdf, last: str) -> None:
    dates = [*column(["2019", last], 60, 700), *column(["2015", "2018"], 60, 600)]
    first = column(["Cook, Halden Foods, Leeds", "A kitchen of eighteen people", "and its budget"], 120, 700)
    second = column(["Baker, Quillon and Sons", "Bread for the whole town", "and its harbour"], 120, 600)
    text = load_bytes(make_pdf([[*dates, *first, *second]]), "a.pdf").text
    assert "2015\t2018\tBaker" in text
    assert text.index(last) < text.index("Cook")


def test_a_box_says_where_its_line_goes_on_in_another_font(load_bytes, make_pdf) -> None:
    first = "Charge Nurse,"
    page = [(60, 700, first, BOLD, 10), (60 + stringWidth(f"{first} ", BOLD, 10), 700, "Harrow Hospital", BODY, 10)]
    document = load_bytes(make_pdf([page]), "a.pdf")
    (box,) = document.boxes
    assert [document.text[at:] for at in box.breaks] == ["Harrow Hospital"]


def test_a_year_below_its_month_goes_on_with_the_note_though_text_is_beside(load_bytes, make_pdf) -> None:
    main = column(
        ["Controller at Maison Verdier in Grenoble", "- Followed twelve shops", "- Set up the reports"], 60, 700
    )
    notes = [
        right_aligned(each, 550, 700 - 13 * n) for n, each in enumerate(["de septembre", "2017 à janvier", "2021"])
    ]
    other = [*column(["Assistant at Cabinet Lacombe of Lyon"], 60, 640), right_aligned("2015", 550, 640)]
    text = load_bytes(make_pdf([[*main, *notes, *other]]), "a.pdf").text
    assert "Grenoble\tde septembre 2017 à janvier 2021" in text


def test_headings_in_the_middle_of_a_page_are_no_column(load_bytes, make_pdf) -> None:
    page = [(60, 790, "Ann Lee", BOLD, 20)]
    for n, (title, body) in enumerate(
        zip(["Work", "Education", "Skills", "Interests"], [*BODIES, ["Rowing"]], strict=True)
    ):
        page += [(300, 740 - 90 * n, title, BOLD, 10), *column(body, 60, 715 - 90 * n)]
    text = load_bytes(make_pdf([page]), "a.pdf").text
    assert text.index("Work") < text.index("Cook") < text.index("Education") < text.index("Marwick")


def test_a_title_that_wraps_beside_a_column_of_dates_is_one(load_bytes, make_pdf) -> None:
    page = gutter_page(["Academic", "Work", "Skills"], BODIES, lambda text, y: (60, y, text, BOLD, 10))
    page += [(60, 727, "Background", BOLD, 10)]
    document = load_bytes(make_pdf([page]), "a.pdf")
    assert "Academic Background" in [document.text[b.start : b.end] for b in document.blocks if b.kind == "heading"]


def test_a_section_title_is_not_joined_with_a_label_below_it_in_the_same_type(load_bytes, make_pdf) -> None:
    page = [
        (60, 790, "Ann Lee", BOLD, 20),
        (60, 700, "Core Competencies", BOLD, 10),
        (60, 686, "Programming", BOLD, 10),
    ]
    document = load_bytes(make_pdf([[*page, *column(["Go, Rust, SQL"], 60, 673)]]), "a.pdf")
    assert "Core Competencies" in [document.text[b.start : b.end] for b in document.blocks]


@pytest.mark.parametrize(
    ("first", "last"), [("Sept 2019 – Feb", "2021"), ("Sept '19 – Feb", "'21"), ("2019", "to 2021")]
)
def test_dates_in_a_narrow_column_at_the_right_are_no_text_beside_notes(load_bytes, make_pdf, first, last) -> None:
    page = [(60, 790, "Ann Lee", BOLD, 20)]
    for n, (role, company) in enumerate((("Cook", "Halden Foods"), ("Baker", "Quillon Brothers"), ("Waiter", "Pell"))):
        y = 740 - 80 * n
        page += [(60, y, role, BOLD, 10), right_aligned(first, 550, y), right_aligned(last, 550, y - 13)]
        page += column([company, "Ran a kitchen of eighteen people and its budget"], 60, y - 26)
    text = load_bytes(make_pdf([page]), "a.pdf").text
    assert text.count(f"\t{first} {last}") == 3


def test_years_left_of_a_text_are_no_dates_of_the_column_left_of_them() -> None:
    def line(text: str, x: float, y: float) -> PdfLine:
        return PdfLine(text, page=1, x0=x, x1=x + 5 * len(text), y=y, size=10, bold=False)

    skills = [line(skill, 60, 700 - 13 * n) for n, skill in enumerate(("Diving", "Plating", "Sampling"))]
    dates = [line(year, 230, 700 - 13 * n) for n, year in enumerate(("2021", "2023", "2019"))]
    names = [line(name, 280, 700 - 13 * n) for n, name in enumerate(("Cook", "Halden Foods", "Baker"))]
    assert _are_dates_beside(Gutter(230, [], skills, dates, []))
    assert not _are_dates_beside(Gutter(230, [], skills, [*dates, *names], []))


def test_labels_of_skills_are_no_titles_in_a_gutter(load_bytes, make_pdf) -> None:
    groups = [("Programming", "R, Go, SQL"), ("Platforms", "Linux, AWS"), ("Languages", "English, German")]
    page = [(60, 790, "Ann Lee", BOLD, 20), (60, 740, "Skills", BOLD, 14), (320, 740, "Experience", BOLD, 14)]
    for number, (label, listed) in enumerate(groups):
        page += [(60, 720 - 26 * number, label, BODY, 10), (140, 720 - 26 * number, listed, BODY, 10)]
    jobs = ["Cook, Halden Foods", "2019 – 2021", *PROSE, "Baker, Pell Brothers", "2015 – 2019", *PROSE]
    text = load_bytes(make_pdf([[*page, *column(jobs, 320, 720, 13)]]), "a.pdf").text
    assert text.index("Languages") < text.index("Experience") < text.index("Cook")


def test_a_line_that_begins_in_another_font_than_the_last_ended_in_begins_a_block(load_bytes, make_pdf) -> None:
    page = [(60, 790, "Ann Lee", BOLD, 20)]
    for n, (name, rest) in enumerate(
        (("Halden Foods", "is where a cook was needed"), ("Pell", "wanted a baker badly"))
    ):
        x = 60 + stringWidth(f"{name} ", BOLD, 10)
        page += [(60, 700 - 26 * n, name, BOLD, 10), (x, 700 - 26 * n, rest, BODY, 10)]
        page += [(60, 687 - 26 * n, "Ran a kitchen of eighteen people and all of its budget", BODY, 10)]
    assert any(block.startswith("Pell wanted") for block in blocks(load_bytes(make_pdf([page]), "a.pdf")))


def test_dates_in_the_gutter_of_titles_stand_beside_their_entries(load_bytes, make_pdf) -> None:
    jobs = [("2019 - 2023", "Cook, Halden Foods, Leeds"), ("2015 - 2019", "Baker, Quillon and Sons, York")]
    page = gutter_page(["Work", "Education", "Skills"], [["Kitchens, large and small", *[""] * 8], *BODIES[1:]],
                       lambda title, y: (60, y, title, BOLD, 14))  # fmt: skip
    page = [drawing for drawing in page if drawing[2]]
    for number, (dates, job) in enumerate(jobs):
        page += [(60, 714 - 40 * number, dates, BODY, 9), (200, 714 - 40 * number, job, BODY, 10)]
        page += column(["Ran a kitchen of eighteen and its budget."], 200, 701 - 40 * number)
    text = load_bytes(make_pdf([page]), "a.pdf").text
    assert all(f"{dates}\t{job}" in text for dates, job in jobs)
    assert text.index("Work") < text.index("Cook") < text.index("Education")


@pytest.mark.parametrize("today", ["Present", "Heute"])
def test_the_word_for_today_close_to_a_text_is_in_the_column_of_years_above_it(load_bytes, make_pdf, today) -> None:
    x = 60 + stringWidth(f"{today} ", BODY, 10)
    dates = [*column(["2019", today], 60, 700), *column(["2015", "2018"], 60, 600)]
    first = column(["Cook", "Halden Foods, Leeds", "A kitchen of eighteen people"], x, 700)
    second = column(["Baker", "Quillon and Sons", "Bread for the whole town"], x, 600)
    text = load_bytes(make_pdf([[*dates, *first, *second]]), "a.pdf").text
    assert f"2019\t{today}\tCook" in text


def test_a_list_item_without_an_indent_goes_on_where_its_line_is_full(load_bytes, make_pdf) -> None:
    item = ["- Moved the archive of the harbour into one searchable store, together with the Oakhurst Institute of",
            "Technology, and cut the cost of it."]  # fmt: skip
    page = column([*item, "March 2019 - May 2021", "- Trained colleagues"], 60, 700)
    assert blocks(load_bytes(make_pdf([page]), "a.pdf")) == [
        " ".join(item),
        "March 2019 - May 2021",
        "- Trained colleagues",
    ]


def test_a_name_whose_bracket_is_open_goes_on_beside_its_dates(load_bytes, make_pdf) -> None:
    page = [*column(["Cook, Halden (Veridane", "Group), Lille"], 60, 700), right_aligned("2019 - 2021", 530, 700)]
    page += [(60, 660, "Baker, Pell and Sons", BODY, 10), right_aligned("2015 - 2019", 530, 660)]
    assert blocks(load_bytes(make_pdf([page]), "a.pdf"))[0] == "Cook, Halden (Veridane Group), Lille\t2019 - 2021"


def test_a_line_that_the_page_repeats_is_no_end_of_the_line_above(load_bytes, make_pdf) -> None:
    name = "Cook of the harbour, Halden Foods and Sons, the works at Lower"
    page = [*column([name, "Responsibilities"], 60, 700), right_aligned("2019 - 2021", 400, 700)]
    page += [*column(["Baker, Pell", "Responsibilities"], 60, 660), right_aligned("2015 - 2019", 400, 660)]
    assert blocks(load_bytes(make_pdf([page]), "a.pdf")).count("Responsibilities") == 2


def test_a_name_in_a_font_of_its_own_goes_on_in_it_beside_its_dates(load_bytes, make_pdf) -> None:
    x = 60 + stringWidth("Cook, ", BOLD, 10)
    page = [(60, 700, "Cook,", BOLD, 10), (x, 700, "the Windhelm Womens Institute of Wider", BODY, 10)]
    page += [(60, 687, "Wommelham", BODY, 10), right_aligned("2019 - 2021", 366, 700)]
    page += [
        (60, 650, "Baker,", BOLD, 10),
        (x + 6, 650, "Pell", BODY, 10),
        right_aligned("2015 to June 2019", 366, 650),
    ]
    first = blocks(load_bytes(make_pdf([page]), "a.pdf"))[0]
    assert first == "Cook, the Windhelm Womens Institute of Wider Wommelham\t2019 - 2021"


def test_a_bold_line_beside_a_date_goes_on_if_it_reaches_where_the_widest_date_begins(load_bytes, make_pdf) -> None:
    rows = [
        ("Paralegal at Oakhurst", "October 2016 - October 2019"),
        ("Washington, D.C.", ""),
        ("Efficient Routing for Very Large Mixtures of Experts and Their", "2014"),
        ("Neighbourhoods", ""),
    ]
    drawn = [(60, 700, "Work", BOLD, 16)]
    for number, (text, note) in enumerate(rows):
        y = 660 - 13 * number
        drawn += [(60, y, text, BOLD, 10), *([right_aligned(note, 535, y)] if note else [])]
    drawn += column(PROSE, 60, 560)
    document = load_bytes(make_pdf([drawn]), "a.pdf")
    assert blocks(document)[1:4] == [
        f"{rows[0][0]}\t{rows[0][1]}", rows[1][0], f"{rows[2][0]} {rows[3][0]}\t{rows[2][1]}"
    ]  # fmt: skip
