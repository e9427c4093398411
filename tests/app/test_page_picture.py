"""The page of a cited PDF is drawn, and the lines of the cited words are found on it."""

from pathlib import Path

from app.page_picture import boxes_of, page_picture
from pipelines.ingestion.loaders.pdf.words import Word

PDF = Path(__file__).parents[1] / "fixtures" / "parsing" / "rendercv-classic.pdf"


def _word(text: str, x: float, y: float) -> Word:
    return Word(text, x, x + 10, y, y - 2, y + 8, 10)


def test_the_cited_words_have_a_box_for_each_of_their_lines_and_no_other_words_have() -> None:
    words = [_word("Data", 0, 90), _word("Editor", 12, 90), _word("Leith,", 0, 70), _word("2016", 12, 70)]
    again = [_word("Data", 0, 30), _word("Editor", 12, 30)]
    assert boxes_of(words + again, ["Leith, 2016\n\nData Editor"]) == [(0, 68, 22, 78), (0, 28, 22, 38)]
    assert boxes_of(words, ["Editor"]) == [(12, 88, 22, 98)]
    assert boxes_of(words, ["absent", ""]) == []
    assert boxes_of(words + again, ["2016 Data"]) == [(12, 68, 22, 78), (0, 28, 10, 38)], "not the earlier “Data”"


def test_a_page_is_a_picture_with_the_boxes_in_shares_of_it() -> None:
    drawn = page_picture(PDF, 1, ["Education"])
    assert drawn is not None
    assert drawn["image"].startswith("data:image/png;base64,")
    [[left, top, width, height]] = drawn["boxes"]
    assert 0 < left < left + width < 1
    assert 0 < top < top + height < 1


def test_a_file_that_cannot_be_drawn_gives_none() -> None:
    assert page_picture(Path(__file__), 1, []) is None
    assert page_picture(PDF, 99, []) is None
