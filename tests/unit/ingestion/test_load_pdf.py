"""PDF: text layer, pages, furniture, paragraphs, dated entries, and what is refused."""

import io
from datetime import UTC, datetime

import pytest
from reportlab.pdfgen.canvas import Canvas

from config.settings import Limits
from pipelines.errors import LoadError
from pipelines.ingestion.loaders.pdf.blocks import begins_entry
from pipelines.ingestion.loaders.pdf.lines import PdfLine
from pipelines.ingestion.loaders.pdf.load import parse_pdf_date
from pipelines.ingestion.loaders.pdf.pages import join_lines

BODY = "Helvetica"
BOLD = "Helvetica-Bold"


def kinds(document) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def test_lines_become_paragraphs_headings_and_list_items(load_bytes, make_pdf) -> None:
    page = [
        (72, 780, "Annual notes", BOLD, 20),
        (72, 740, "This year the team moved its whole platform to a new home, which took", BODY, 11),
        (72, 726, "longer than anyone had thought it would, but in the end it was worth it.", BODY, 11),
        (72, 700, "A second paragraph stands apart from the first one by a gap.", BODY, 11),
        (72, 670, "What we learned", BOLD, 14),
        (72, 650, "\u2022 Plan for twice the time that you think a thing will take, and tell people", BODY, 11),
        (82, 636, "so before they ask you", BODY, 11),
        (72, 622, "\u2022 Measure first", BODY, 11),
    ]
    document = load_bytes(make_pdf([page]), "notes.pdf")
    assert kinds(document) == [
        ("heading", "Annual notes"),
        (
            "paragraph",
            "This year the team moved its whole platform to a new home, which took longer than anyone had thought"
            " it would, but in the end it was worth it.",
        ),
        ("paragraph", "A second paragraph stands apart from the first one by a gap."),
        ("heading", "What we learned"),
        ("list", "• Plan for twice the time that you think a thing will take, and tell people so before they ask you"),
        ("list", "• Measure first"),
    ]
    assert [block.level for block in document.blocks if block.kind == "heading"] == [1, 2]
    assert document.title == "Annual notes"


def test_words_broken_at_line_ends_are_joined(load_bytes, make_pdf) -> None:
    page = ["The quick exam-", "ple shows a well-", "known trick; it is well-known."]
    assert load_bytes(make_pdf([page]), "a.pdf").text == "The quick example shows a well-known trick; it is well-known."


def test_a_compound_keeps_its_hyphen_if_the_document_breaks_no_words(load_bytes, make_pdf) -> None:
    text = load_bytes(make_pdf([["They shipped a cross-", "platform tool."]]), "a.pdf").text
    assert text == "They shipped a cross-platform tool."


def test_a_wrapped_web_address_is_rejoined_as_its_own_block(load_bytes, make_pdf) -> None:
    page = ["Leith, Scotland", "www.example.com/in/ann-", "brook (Profile)", "ann@example.com", "+44 131 496 0000"]
    assert load_bytes(make_pdf([page]), "a.pdf").text.split("\n\n") == [
        "Leith, Scotland",
        "www.example.com/in/ann-brook (Profile)",
        "ann@example.com",
        "+44 131 496 0000",
    ]


def test_a_wrapped_address_does_not_swallow_the_next_one(load_bytes, make_pdf) -> None:
    page = ["ann@example.com", "linkedin.example.com/in/ann", "www.example.com/talks/on-", "reeds"]
    assert load_bytes(make_pdf([page]), "a.pdf").text.split("\n\n") == [
        "ann@example.com",
        "linkedin.example.com/in/ann",
        "www.example.com/talks/on-reeds",
    ]


def test_a_hyphen_before_a_capital_or_a_digit_stays() -> None:
    lines = [PdfLine(text, 1, 0, 0, 0, 10, False) for text in ("the Co-", "Founder of state-of-", "the-art things")]
    text, offsets = join_lines(lines)
    assert text == "the Co-Founder of state-of-the-art things"
    assert [text[offset:][:3] for offset in offsets] == ["the", "Fou", "the"]


def test_pages_start_where_their_text_starts(load_bytes, make_pdf) -> None:
    pages = [["First page."], ["Second page."], [], ["Fourth page."]]
    document = load_bytes(make_pdf(pages), "a.pdf")
    starts = [document.text[start:].split(".")[0] for start in document.pages]
    assert starts == ["First page", "Second page", "Fourth page", "Fourth page"]
    assert document.pages_without_text == (3,)
    assert document.pages[0] == 0


def test_a_paragraph_continues_over_a_page_break(load_bytes, make_pdf) -> None:
    document = load_bytes(make_pdf([["A sentence that starts here"], ["and ends on the next page."]]), "a.pdf")
    assert document.text == "A sentence that starts here and ends on the next page."
    assert document.text[document.pages[1] :].startswith("and ends")


def test_running_headers_and_page_numbers_are_furniture(load_bytes, make_pdf) -> None:
    pages = [
        [
            (72, 810, "Field notes 2024", BODY, 9),
            (72, 700, f"The text of page number {number} is its own.", BODY, 11),
            (72, 660, f"So is line two on {number}.", BODY, 11),
            (72, 620, f"And so is line three of {word}.", BODY, 11),
            (290, 30, str(number), BODY, 9),
        ]
        for number, word in enumerate(("spring", "summer", "autumn"), start=1)
    ]
    document = load_bytes(make_pdf(pages), "a.pdf")
    assert "Field notes" not in document.text
    assert {(piece.page, piece.text) for piece in document.furniture} == {
        (page, text) for page in (1, 2, 3) for text in ("Field notes 2024", str(page))
    }
    assert document.text.count("The text of page number") == 3


def test_a_page_number_line_is_furniture_on_any_page(load_bytes, make_pdf) -> None:
    page = ["Hello there.", (72, 30, "Page 1 of 1", BODY, 9)]
    document = load_bytes(make_pdf([page]), "a.pdf")
    assert document.text == "Hello there."
    assert [piece.text for piece in document.furniture] == ["Page 1 of 1"]


@pytest.mark.parametrize("way", ["slanted", "pale", "translucent"])
def test_a_watermark_is_furniture_and_titles_no_document(load_bytes, way: str) -> None:
    stream = io.BytesIO()
    canvas = Canvas(stream)
    canvas.setFont("Helvetica-Bold", 18)
    canvas.drawString(60, 790, "Survey of the wall")
    canvas.setFont("Helvetica", 11)
    for number in range(4):
        canvas.drawString(60, 760 - 16 * number, f"The wall is {number + 2} metres long and was built of stone.")
    canvas.setFont("Helvetica-Bold", 80)
    canvas.translate(150, 400)
    if way == "slanted":
        canvas.rotate(45)
    elif way == "pale":
        canvas.setFillGray(0.85)
    else:
        canvas.setFillAlpha(0.3)
    canvas.drawString(0, 0, "DRAFT")
    canvas.save()
    document = load_bytes(stream.getvalue(), "wall.pdf")
    assert document.title == "Survey of the wall"
    assert "DRAFT" not in document.text
    assert [piece.text for piece in document.furniture] == ["DRAFT"]


def test_repeated_body_lines_are_not_furniture(load_bytes, make_pdf) -> None:
    refrain = ["My bonnie lies over the ocean,", "my bonnie lies over the sea,", "so bring back my bonnie to me."]
    assert load_bytes(make_pdf([[*refrain, f"That was verse {number}."] for number in "123"]), "a.pdf").furniture == ()


def test_equal_pages_keep_their_text(load_bytes, make_pdf) -> None:
    assert load_bytes(make_pdf([["The same."]] * 4), "a.pdf").text.count("The same.") == 4


def test_the_title_property_is_used_unless_it_is_a_default(load_bytes, make_pdf) -> None:
    assert load_bytes(make_pdf([["Text."]], title="Ann's resume"), "a.pdf").title == "Ann's resume"
    assert load_bytes(make_pdf([["Text."]], title="Microsoft Word - cv3.doc"), "my_cv.pdf").title == "my cv"
    assert load_bytes(make_pdf([["Text."]]), "my_cv.pdf").author == ""


def test_a_title_property_missing_from_the_text_yields_to_the_largest_heading(load_bytes, make_pdf) -> None:
    page = [(72, 780, "Ann Brook", BOLD, 20), (72, 740, "Engineer in a town by the sea.", BODY, 11)]
    assert load_bytes(make_pdf([page], title="Splendid Resume Builder"), "a.pdf").title == "Ann Brook"
    assert load_bytes(make_pdf([page], title="Resume of Ann Brook"), "a.pdf").title == "Resume of Ann Brook"


def test_a_small_footer_on_both_of_two_pages_is_furniture(load_bytes, make_pdf) -> None:
    pages = [[f"The words of page {number} are {word}.", (72, 30, "Brook & Daughters", BODY, 8)]
             for number, word in ((1, "few"), (2, "fewer"))]  # fmt: skip
    document = load_bytes(make_pdf(pages), "a.pdf")
    assert [(piece.page, piece.text) for piece in document.furniture] == [
        (1, "Brook & Daughters"),
        (2, "Brook & Daughters"),
    ]


@pytest.mark.parametrize(
    "form", ["Page {} of 2", "Seite {} von 2", "Page {} sur 2", "Página {} de 2", "Pagina {} di 2", "{} / 2"]
)
def test_page_numbers_are_furniture_in_six_languages(load_bytes, make_pdf, form: str) -> None:
    pages = [[f"Text {number}.", (280, 30, form.format(number), BODY, 11)] for number in (1, 2)]
    document = load_bytes(make_pdf(pages), "a.pdf")
    assert [piece.text for piece in document.furniture] == [form.format(1), form.format(2)]


@pytest.mark.parametrize(
    ("made", "message"),
    [
        *((lambda pdf, kept=kept: (data := pdf(["Some text."] * 3))[: int(len(data) * kept)], "is truncated")
          for kept in (0.3, 0.6, 0.9)),
        (lambda pdf: pdf([["Secret."]], password="pass"), "asks for a password"),
        (lambda pdf: pdf([[], []]), r"no text layer on its 2 page\(s\), and they are empty"),
        (lambda pdf: b"%PDF-1.4\nnothing of a PDF\n%%EOF\n", "is a broken PDF"),
    ],
)  # fmt: skip
def test_truncated_encrypted_empty_and_broken_files_are_refused(load_bytes, make_pdf, made, message: str) -> None:
    with pytest.raises(LoadError, match=message):
        load_bytes(made(make_pdf), "a.pdf")


def test_too_many_pages_name_the_setting(load_bytes, make_pdf) -> None:
    with pytest.raises(LoadError, match="3 pages, over the limit of 2") as caught:
        load_bytes(make_pdf([["a"], ["b"], ["c"]]), "a.pdf", Limits(max_pages=2))
    assert "FOOTNOTE_INGESTION__MAX_PAGES" in caught.value.hint


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ("D:20240203040506+02'00'", datetime(2024, 2, 3, 4, 5, 6, tzinfo=UTC)),
        ("D:2024", datetime(2024, 1, 1, tzinfo=UTC)),
        ("D:20249999", None),
        ("yesterday", None),
    ],
)
def test_pdf_dates_are_parsed(stated: str, expected: datetime | None) -> None:
    assert parse_pdf_date(stated) == expected


WIDE = "Built and ran the billing platform for forty thousand customers in six countries, with a team of five"


def spread(lines: list[str], y: float = 740) -> list:
    return [(60, y - 13 * number, line, BODY, 9.5) for number, line in enumerate(lines)]


def paragraphs(load_bytes, make_pdf, lines: list[str]) -> list[str]:
    document = load_bytes(make_pdf([[(60, 780, "Experience", BOLD, 14), *spread(lines)]]), "a.pdf")
    return [document.text[block.start : block.end] for block in document.blocks if block.kind == "paragraph"]


ENTRIES = [
    "Engineer, Nordwind AG, Jan 2019 - Present",
    "Analyst, Südwind GmbH, Mar 2015 - Dec 2018",
    "Intern, Ostwind KG, 2014",
]
COUNCIL = ["Chair of the harbour council of Leith", "Member of the national pilots' board", "Volunteer at sea rescue"]
SENTENCES = [ENTRIES[0], f"{WIDE}.", ENTRIES[1], f"{WIDE} too."]
AFTER_FULL_LINE = [f"{WIDE} of", f"Hamburg. {WIDE[:80]}", "with all of them."]
AFTER_YEARS = [f"{WIDE}, which", f"took {WIDE[:80].lower()} 1914-1918", "Germany followed later."]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (ENTRIES, ENTRIES),
        (COUNCIL, COUNCIL),
        (SENTENCES, SENTENCES),
        (
            [ENTRIES[0], f"{WIDE} and", "a yearly budget.", ENTRIES[1], f"{WIDE}.", ENTRIES[2]],
            [ENTRIES[0], f"{WIDE} and a yearly budget.", ENTRIES[1], f"{WIDE}.", ENTRIES[2]],
        ),
        (AFTER_FULL_LINE, [" ".join(AFTER_FULL_LINE)]),
        (AFTER_YEARS, [" ".join(AFTER_YEARS)]),
    ],
    ids=["dated", "no line wrapped", "after a sentence", "after a wrapped sentence", "full line", "years in prose"],
)
def test_evenly_spaced_lines_are_entries_or_one_paragraph(load_bytes, make_pdf, lines, expected) -> None:
    assert paragraphs(load_bytes, make_pdf, lines) == expected


@pytest.mark.parametrize(
    "above",
    [
        "Engineer, Jan 2019 - Present",
        "Engineer (2015 – 2018)",
        "Engineer 03/2019 – 04/2020",
        "Engineer 01.03.2019-31.12.2020",
        "Ingenieur, März 2015 bis Dez. 2018",
        "Ingénieure, 2019 – à ce jour",
        "Ingénieure, mars 2014 à juin 2016",
    ],
)
def test_an_entry_begins_after_a_first_line_that_ends_in_a_date_range(above: str) -> None:
    assert begins_entry(above, "Built the platform", is_first=True)
    assert not begins_entry(above, "and built the platform", is_first=True)
    assert not begins_entry(above, "Built the platform", is_first=False)


def test_dates_behind_a_sentence_begin_no_entry() -> None:
    assert not begins_entry("Ran the office.", "Cut the cost of moving. (May 2020 – June 2022)", is_first=False)
    assert begins_entry("Ran the office.", "Cook, Leith Inn Ltd. (May 2020 – June 2022)", is_first=False)


@pytest.mark.parametrize("above", ["the yard moved in 2014", "account 12019 - Present", "the year 2014"])
def test_a_year_in_prose_begins_no_entry(above: str) -> None:
    assert not begins_entry(above, "Hamburg followed", is_first=True)


def test_a_title_that_ends_in_half_a_character_keeps_no_page_from_being_read(load_bytes, make_pdf) -> None:
    data = make_pdf([["The pump moves water."]], title="ABCDEFGHIJ")
    assert b"(ABCDEFGHIJ)" in data
    assert load_bytes(data.replace(b"(ABCDEFGHIJ)", b"<FEFFD83D>  "), "a.pdf").text == "The pump moves water."
