"""PDF: lines at an even distance that stand for themselves, and those that are one paragraph."""

import pytest

from pipelines.ingestion.loaders.pdf.entries import begins_entry

BODY = "Helvetica"
BOLD = "Helvetica-Bold"

WIDE = "Built and ran the billing platform for forty thousand customers in six countries, with a team of five"


def spread(lines: list[str], y: float = 740) -> list:
    return [(60, y - 13 * number, line, BODY, 9.5) for number, line in enumerate(lines)]


def read(load_bytes, make_pdf, lines: list[str]) -> list[str]:
    document = load_bytes(make_pdf([[(60, 780, "Experience", BOLD, 14), *spread(lines)]]), "a.pdf")
    return [document.text[block.start : block.end] for block in document.blocks if block.kind == "paragraph"]


ENTRIES = [
    "Engineer, Nordwind AG, Jan 2019 - Present",
    "Analyst, Südwind GmbH, Mar 2015 - Dec 2018",
    "Intern, Ostwind KG, 2014",
]


def test_short_entries_at_an_even_distance_are_blocks_of_their_own(load_bytes, make_pdf) -> None:
    assert read(load_bytes, make_pdf, ENTRIES) == ENTRIES


def test_short_lines_without_dates_are_blocks_of_their_own_where_no_line_is_wrapped(load_bytes, make_pdf) -> None:
    lines = ["Chair of the harbour council of Leith", "Member of the national pilots' board", "Volunteer at sea rescue"]
    assert read(load_bytes, make_pdf, lines) == lines


def test_an_entry_begins_after_a_sentence_that_fills_its_line(load_bytes, make_pdf) -> None:
    lines = [ENTRIES[0], f"{WIDE}.", ENTRIES[1], f"{WIDE} too."]
    assert read(load_bytes, make_pdf, lines) == lines


def test_an_entry_begins_after_a_wrapped_sentence(load_bytes, make_pdf) -> None:
    lines = [ENTRIES[0], f"{WIDE} and", "a yearly budget.", ENTRIES[1], f"{WIDE}.", ENTRIES[2]]
    assert read(load_bytes, make_pdf, lines) == [lines[0], f"{lines[1]} {lines[2]}", *lines[3:]]


def test_a_paragraph_goes_on_with_a_capital_after_a_full_line(load_bytes, make_pdf) -> None:
    lines = [f"{WIDE} of", f"Hamburg. {WIDE[:80]}", "with all of them."]
    assert read(load_bytes, make_pdf, lines) == [" ".join(lines)]


def test_a_paragraph_goes_on_after_a_range_of_years_in_its_midst(load_bytes, make_pdf) -> None:
    lines = [f"{WIDE}, which", f"took {WIDE[:80].lower()} 1914-1918", "Germany followed later."]
    assert read(load_bytes, make_pdf, lines) == [" ".join(lines)]


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
def test_a_date_range_closes_the_first_line_of_a_block(above: str) -> None:
    assert begins_entry(above, "Built the platform", is_first=True)
    assert not begins_entry(above, "and built the platform", is_first=True)
    assert not begins_entry(above, "Built the platform", is_first=False)


@pytest.mark.parametrize("above", ["the yard moved in 2014", "account 12019 - Present", "the year 2014"])
def test_a_year_in_prose_closes_nothing(above: str) -> None:
    assert not begins_entry(above, "Hamburg followed", is_first=True)
