"""Workbooks and delimited files: rows as sentences with their column names."""

import io
from datetime import date, datetime

import pytest
from odfdo import Document as Odf
from odfdo import Table
from openpyxl import Workbook

from pipelines.errors import LoadError
from pipelines.ingestion.loaders import tables
from pipelines.store.documents import Places


def saved(book: Workbook) -> bytes:
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


@pytest.fixture
def book() -> Workbook:
    """A workbook with one sheet, `People`."""
    book = Workbook()
    book.active.title = "People"
    for row in (("Name", "Born", "Pay", "Share"), ("Ada", date(1815, 12, 10), 1234.5, 0.25)):
        book.active.append(row)
    return book


def shown(document) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def test_a_row_is_a_sentence_with_its_column_names_under_its_sheet(load_bytes, book: Workbook) -> None:
    book.active.append(("Bob", datetime(1990, 1, 2, 3, 4), 0.1 + 0.2, None))
    book.create_sheet("Towns").append(("City", "Old"))
    book["Towns"].append(("Bern", True))
    document = load_bytes(saved(book), "staff-list.xlsx")
    assert shown(document) == [
        ("heading", "People"),
        ("table", "Name: Ada; Born: 1815-12-10; Pay: 1234.5; Share: 0.25."),
        ("table", "Name: Bob; Born: 1990-01-02 03:04; Pay: 0.3."),
        ("heading", "Towns"),
        ("table", "City: Bern; Old: yes."),
    ]
    assert document.title == "staff list"


def test_numbers_are_shown_as_percentages_and_amounts(load_bytes, book: Workbook) -> None:
    book.active["C2"].number_format, book.active["D2"].number_format = '"$"#,##0.00', "0%"
    assert load_bytes(saved(book), "a.xlsx").text.endswith("Pay: $1234.5; Share: 25%.")


def test_a_merged_cell_repeats_in_every_row_it_spans(load_bytes, book: Workbook) -> None:
    sheet = book.create_sheet("Merged")
    for row in (("Report 2024",), ("City", "Year", "Count"), ("Bern", 2020, 3), (None, 2021, 4)):
        sheet.append(row)
    sheet.merge_cells("A1:C1")
    sheet.merge_cells("A3:A4")
    assert shown(load_bytes(saved(book), "a.xlsx"))[2:] == [
        ("heading", "Merged"),
        ("paragraph", "Report 2024"),
        ("table", "City: Bern; Year: 2020; Count: 3."),
        ("table", "City: Bern; Year: 2021; Count: 4."),
    ]


def test_a_reversed_merged_range_is_the_same_cells_and_has_their_limit() -> None:
    assert (
        tables._merges(b'<mergeCell ref="B4:A3"/>')
        == tables._merges(b'<mergeCell ref="A3:B4"/>')
        == {3: [(0, 1, 3, 4)]}
    )
    assert tables._merges(b'<mergeCell ref="XFD9999:A3"/><mergeCell ref="A9999:XFD3"/>') == {}


def test_a_header_of_two_rows_gives_both_names(load_bytes) -> None:
    book = Workbook()
    for row in (("City", 2023, None, 2024, None), (None, "Q1", "Q2", "Q1", "Q2"), ("Bern", 1, 2, 3, 4)):
        book.active.append(row)
    for merged in ("A1:A2", "B1:C1", "D1:E1"):
        book.active.merge_cells(merged)
    assert load_bytes(saved(book), "a.xlsx").text == "City: Bern; 2023 Q1: 1; 2023 Q2: 2; 2024 Q1: 3; 2024 Q2: 4."


def test_a_blank_row_separates_tables_and_keeps_column_names_without_a_new_header(load_bytes) -> None:
    book = Workbook()
    for row in (("Name", "Age"), ("Ada", 36), (), ("Bob", 40), (), ("Town", "Size"), ("Bern", 5)):
        book.active.append(row)
    assert [text for _, text in shown(load_bytes(saved(book), "a.xlsx"))] == [
        "Name: Ada; Age: 36.",
        "Name: Bob; Age: 40.",
        "Town: Bern; Size: 5.",
    ]


def test_hidden_and_empty_sheets_are_not_read(load_bytes, book: Workbook) -> None:
    book.create_sheet("Empty")
    hidden = book.create_sheet("Hidden")
    hidden.append(("Secret", "Word"))
    hidden.sheet_state = "hidden"
    text = load_bytes(saved(book), "a.xlsx").text
    assert "Secret" not in text
    assert "Empty" not in text


def test_a_table_of_too_many_cells_is_refused(load_bytes, book: Workbook, monkeypatch) -> None:
    monkeypatch.setattr(tables, "MAX_CELLS", 7)
    with pytest.raises(LoadError, match="more than 7 cells") as caught:
        load_bytes(saved(book), "a.xlsx")
    assert "Split it" in caught.value.hint


def test_cells_at_the_far_corner_of_the_grid_are_cheap(load_bytes, book: Workbook) -> None:
    book.active["XFD1048576"] = "far"
    assert load_bytes(saved(book), "a.xlsx").text.endswith("far.")


def test_a_truncated_workbook_is_broken(load_bytes, book: Workbook) -> None:
    data = saved(book)
    with pytest.raises(LoadError, match="is broken"):
        load_bytes(data[: len(data) // 2], "a.xlsx")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_detected_from_the_rows(load_bytes, delimiter: str) -> None:
    lines = [("Name", "Note"), ("Ada", '"first, and; so|on\tand ""on"""'), ("Bob", "x")]
    data = "\n".join(delimiter.join(row) for row in lines).encode()
    document = load_bytes(data, "a.csv")
    assert [text for _, text in shown(document)] == [
        'Name: Ada; Note: first, and; so|on and "on".',
        "Name: Bob; Note: x.",
    ]


def test_quoted_line_breaks_stay_in_their_row(load_bytes) -> None:
    document = load_bytes(b'Name,Address\r\nAda,"1 Hill\r\n\r\n Bern"\r\n', "a.csv")
    assert shown(document) == [("table", "Name: Ada; Address: 1 Hill Bern.")]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("Name,Year\nAda,1843\nBob,1990\n", {"Ada": (2, 2), "Bob": (3, 3)}),
        ('Name,Note\nAda,"a\nb\nc"\nBob,x\n', {"Ada": (2, 2), "Bob": (5, 5)}),
        ("sep=;\n\nName;Year\nAda;1843\n\n\nBob;1990\n", {"Ada": (4, 4), "Bob": (7, 7)}),
        ("Name,Year\nAda,1843\n\nTown,Size\nBern,5\nOslo,7\n", {"Ada": (2, 2), "Bern": (5, 5), "Oslo": (6, 6)}),
        ("All our people\n\nName,Year\nAda,1843\n", {"All": (1, 1), "Ada": (4, 4)}),
        ("Ada,1843\nBob,1990\n", {"Ada": (1, 1), "Bob": (2, 2)}),
    ],
    ids=["head", "line breaks", "blank lines", "two heads", "caption", "no head"],
)
def test_a_row_knows_its_lines_of_the_file(load_bytes, data: str, expected: dict[str, tuple[int, int]]) -> None:
    document = load_bytes(data.encode(), "a.csv")
    places = Places(document.text, document.first_line, ())
    found = {}
    for block in document.blocks:
        place = places.of(block.start, block.end)
        for text in expected:
            if text in document.text[block.start : block.end]:
                found[text] = (place["line_start"], place["line_end"])
    assert found == expected


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("\ufeffName,Year\nAda,1843\n".encode(), "Name: Ada; Year: 1843."),
        (b"sep=;\nName;Year\nAda;1843\n", "Name: Ada; Year: 1843."),
        (b"Ada,1843\nBob,1990\n", "Ada; 1843.\nBob; 1990."),
        (b"Name,Year\nAda\nBob,1990,extra\n", "Name: Ada.\nName: Bob; Year: 1990; extra."),
    ],
    ids=["byte order mark", "separator line", "no header", "ragged rows"],
)
def test_rows_have_the_column_names_that_they_have(load_bytes, data: bytes, text: str) -> None:
    assert load_bytes(data, "a.csv").text == text


def test_a_file_in_a_western_encoding_is_read_and_noted(load_bytes) -> None:
    document = load_bytes("Stadt;Jahr\nKöln;1990\n".encode("cp1252"), "a.csv")
    assert (document.text, document.metadata) == ("Stadt: Köln; Jahr: 1990.", {"encoding": "cp1252"})


def test_an_ods_reads_like_a_workbook(load_bytes) -> None:
    book = Odf("ods")
    book.body.clear()
    for title in ("People", "More"):
        table = Table(title)
        for row, values in enumerate((("Name", "Born"), ("Ada", date(1815, 12, 10)))):
            for column, value in enumerate(values):
                table.set_value((column, row), value)
        book.body.append(table)
    buffer = io.BytesIO()
    book.save(buffer)
    assert load_bytes(buffer.getvalue(), "a.ods").text == (
        "People\n\nName: Ada; Born: 1815-12-10.\n\nMore\n\nName: Ada; Born: 1815-12-10."
    )
