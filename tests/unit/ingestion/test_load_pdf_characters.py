"""PDF: characters that are drawn otherwise than they read."""

import pytest

from pipelines.ingestion.loaders.pdf.characters import NOTHING, with_accents, with_ligatures
from pipelines.ingestion.loaders.pdf.words import readable_text


@pytest.mark.parametrize(
    ("drawn", "read"),
    [
        ("Scienti\x1cc work in the \x1celd", "Scientific work in the field"),
        ("a \x1dexible \x1door", "a flexible floor"),
        ("di\x1berent e\x1bort", "different effort"),
        ("an o\x1ece", "an office"),
    ],
    ids=["fi", "fl", "ff", "ffi"],
)
def test_a_code_beside_letters_is_the_ligature_that_makes_known_words(drawn: str, read: str) -> None:
    assert readable_text(with_ligatures(drawn, lambda _: "Font")) == read


def test_a_code_without_letters_beside_it_stays() -> None:
    assert with_ligatures("2004 \x1c 2006", lambda _: "Font") == "2004 \x1c 2006"


def test_the_same_code_can_be_another_ligature_in_another_font() -> None:
    drawn = "\x1celd \x1coor"
    read = with_ligatures(drawn, lambda index: "One" if index < 4 else "Other")
    assert readable_text(read) == "field floor"


def boxes(drawn: str, *, over: dict[int, int], raised: float = 0.0):
    """Glyphs 6 wide in a row; each accent stands over the letter that `over` names, and takes no room."""

    def box(index: int) -> tuple[float, float, float]:
        at = over.get(index, index)
        x = 6.0 * sum(1 for before in range(at) if before not in over and drawn[before] != "\r")
        return (x + 1, x + 5, raised) if index in over else (x, x + 6, 0.0)

    return box


@pytest.mark.parametrize(
    ("drawn", "over", "read"),
    [
        ("G¨ung¨or", {1: 2, 5: 6}, "Güngör"),
        ("Bo˘gazi¸ci", {2: 3, 7: 8}, "Boğaziçi"),
        ("S¸ahin", {1: 0}, "Şahin"),
        ("Garc´ıa", {4: 5}, "García"),
        ("a ~ b", {}, "a ~ b"),
    ],
    ids=["before", "before, under", "after", "dotless", "not over a letter"],
)
def test_an_accent_that_is_drawn_apart_joins_the_letter_it_stands_over(drawn, over, read) -> None:
    assert with_accents(drawn, boxes(drawn, over=over)).replace(NOTHING, "") == read


@pytest.mark.parametrize(
    ("drawn", "read"),
    [
        ("Universite´ de Lyon", "Université de Lyon"),
        ("E´cole", "École"),
        ("Mu¨nchen, Sa˜o Paulo", "München, São Paulo"),
        ("Anna´s, don´t, l´eau", "Anna´s, don´t, l´eau"),
        ("the code` and ~", "the code` and ~"),
    ],
)
def test_an_accent_behind_its_letter_joins_it_and_an_apostrophe_stays(drawn: str, read: str) -> None:
    assert with_accents(drawn, boxes(drawn, over={})).replace(NOTHING, "") == read


def test_a_raised_accent_leaves_no_gap_in_its_word() -> None:
    drawn = "RESUM ´ E 1"
    places = {"R": 0, "E": 1, "S": 2, "U": 3, "M": 4}
    left = {index: 6.0 * places[char] for index, char in enumerate(drawn[:5])} | {7: 31.0, 8: 30.0, 10: 42.0}
    left[6] = 31.0

    def box(index: int) -> tuple[float, float, float]:
        x = 30.0 if index == 8 else left.get(index, 0.0)
        return (31.0, 35.0, 2.0) if index == 6 else (x, x + 6, 0.0)

    assert with_accents(drawn, box).replace(NOTHING, "") == "RESUMÉ 1"


def test_a_soft_hyphen_at_the_end_of_a_line_is_a_hyphenation(load_bytes, make_pdf) -> None:
    page = [
        (72, 700, "2019 \xad 2021 as co\xadfounder of an exam\xad", "Helvetica", 11),
        (72, 686, "ple", "Helvetica", 11),
    ]
    assert load_bytes(make_pdf([page]), "a.pdf").text == "2019 - 2021 as co-founder of an example"


def test_a_drawn_soft_hyphen_is_a_hyphen() -> None:
    assert readable_text("Co\xadfounder") == "Co-founder"
