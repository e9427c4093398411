"""PDF: text layer, pages, furniture, paragraphs, and what is refused."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from pipelines.errors import LoadError
from pipelines.ingestion.loaders import Limits
from pipelines.ingestion.loaders.pdf.facts import moment
from pipelines.ingestion.loaders.pdf.lines import Line
from pipelines.ingestion.loaders.pdf.text import join_lines

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


def test_a_compound_broken_at_its_hyphen_keeps_it_where_no_word_is_broken_otherwise(load_bytes, make_pdf) -> None:
    text = load_bytes(make_pdf([["They shipped a cross-", "platform tool."]]), "a.pdf").text
    assert text == "They shipped a cross-platform tool."


def test_a_web_address_broken_at_a_line_end_is_whole_and_stands_for_itself(load_bytes, make_pdf) -> None:
    page = ["Leith, Scotland", "www.example.com/in/ann-", "brook (Profile)", "ann@example.com", "+44 131 496 0000"]
    assert load_bytes(make_pdf([page]), "a.pdf").text.split("\n\n") == [
        "Leith, Scotland",
        "www.example.com/in/ann-brook (Profile)",
        "ann@example.com",
        "+44 131 496 0000",
    ]


def test_an_address_ends_where_another_begins(load_bytes, make_pdf) -> None:
    page = ["ann@example.com", "linkedin.example.com/in/ann", "www.example.com/talks/on-", "reeds"]
    assert load_bytes(make_pdf([page]), "a.pdf").text.split("\n\n") == [
        "ann@example.com",
        "linkedin.example.com/in/ann",
        "www.example.com/talks/on-reeds",
    ]


def test_a_hyphen_before_a_capital_or_a_digit_stays() -> None:
    lines = [Line(text, 1, 0, 0, 0, 10, False) for text in ("the Co-", "Founder of state-of-", "the-art things")]
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


def test_a_paragraph_goes_on_over_the_page_break(load_bytes, make_pdf) -> None:
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


def test_a_stated_page_number_is_furniture_on_any_page(load_bytes, make_pdf) -> None:
    page = ["Hello there.", (72, 30, "Page 1 of 1", BODY, 9)]
    document = load_bytes(make_pdf([page]), "a.pdf")
    assert document.text == "Hello there."
    assert [piece.text for piece in document.furniture] == ["Page 1 of 1"]


def test_body_lines_that_come_again_are_not_furniture(load_bytes, make_pdf) -> None:
    refrain = ["My bonnie lies over the ocean,", "my bonnie lies over the sea,", "so bring back my bonnie to me."]
    assert load_bytes(make_pdf([[*refrain, f"That was verse {number}."] for number in "123"]), "a.pdf").furniture == ()


def test_equal_pages_keep_their_text(load_bytes, make_pdf) -> None:
    assert load_bytes(make_pdf([["The same."]] * 4), "a.pdf").text.count("The same.") == 4


def test_the_stated_title_counts_unless_it_says_nothing(load_bytes, make_pdf) -> None:
    assert load_bytes(make_pdf([["Text."]], title="Ann's resume"), "a.pdf").title == "Ann's resume"
    assert load_bytes(make_pdf([["Text."]], title="Microsoft Word - cv3.doc"), "my_cv.pdf").title == "my cv"
    assert load_bytes(make_pdf([["Text."]]), "my_cv.pdf").author == ""


def test_a_stated_title_that_the_text_does_not_bear_out_gives_way_to_the_largest_heading(load_bytes, make_pdf) -> None:
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
    "said", ["Page {} of 2", "Seite {} von 2", "Page {} sur 2", "Página {} de 2", "Pagina {} di 2", "{} / 2"]
)
def test_page_numbers_are_furniture_in_six_languages(load_bytes, make_pdf, said: str) -> None:
    pages = [[f"Text {number}.", (280, 30, said.format(number), BODY, 11)] for number in (1, 2)]
    document = load_bytes(make_pdf(pages), "a.pdf")
    assert [piece.text for piece in document.furniture] == [said.format(1), said.format(2)]


@pytest.mark.parametrize("kept", [0.3, 0.6, 0.9])
def test_a_truncated_file_is_named_so(load_bytes, make_pdf, kept: float) -> None:
    data = make_pdf([["Some text on a page."]] * 3)
    with pytest.raises(LoadError, match="is truncated"):
        load_bytes(data[: int(len(data) * kept)], "a.pdf")


def test_an_encrypted_file_asks_for_one_without_password(load_bytes, make_pdf) -> None:
    with pytest.raises(LoadError, match="asks for a password"):
        load_bytes(make_pdf([["Secret."]], password="pass"), "a.pdf")


def test_a_file_without_text_layer_is_no_document(load_bytes, make_pdf) -> None:
    with pytest.raises(LoadError, match=r"no text layer on its 2 page\(s\), and they are empty"):
        load_bytes(make_pdf([[], []]), "blank.pdf")


def test_a_broken_file_is_named_so(load_bytes) -> None:
    with pytest.raises(LoadError, match="is a broken PDF"):
        load_bytes(b"%PDF-1.4\nnothing of a PDF\n%%EOF\n", "a.pdf")


def test_too_many_pages_name_the_setting(load_bytes, make_pdf) -> None:
    with pytest.raises(LoadError, match="3 pages, over the limit of 2") as caught:
        load_bytes(make_pdf([["a"], ["b"], ["c"]]), "a.pdf", Limits(max_pages=2))
    assert "FOOTNOTE_INGESTION__MAX_PAGES" in caught.value.hint


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ("D:20240203040506+02'00'", datetime(2024, 2, 3, 4, 5, 6, tzinfo=timezone(timedelta(hours=2)))),
        ("D:2024", datetime(2024, 1, 1, tzinfo=UTC)),
        ("D:20249999", None),
        ("yesterday", None),
    ],
)
def test_dates_of_the_file_are_read(stated: str, expected: datetime | None) -> None:
    assert moment(stated) == expected
