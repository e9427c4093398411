import pytest

from pipelines.query.context import source_of, span_of
from pipelines.query.verify import verify
from tests.unit.query.builders import hit, passage, source

TEXT = "The brass is curved.\nIt is done slowly.\n\nThe reed then speaks."


@pytest.mark.parametrize(
    ("words", "page", "first", "last"),
    [
        ("The brass is curved.", 4, 11, 11),
        ("It is done slowly.", 5, 12, 12),
        ("The reed then speaks.", 6, 14, 14),
        ("curved.\nIt is done", 4, 11, 12),
    ],
)
def test_words_of_a_source_have_their_own_page_and_lines(words: str, page: int, first: int, last: int) -> None:
    breaks = tuple(100 + TEXT.index(start) for start in ("It is", "The reed"))
    long = source(1, TEXT, start=100, end=100 + len(TEXT), page=4, line_start=11, line_end=14, page_breaks=breaks)
    start = 100 + TEXT.index(words)
    assert long.place(start, start + len(words)) == (page, first, last)


def test_words_of_a_format_without_pages_have_lines_alone() -> None:
    assert source(1, TEXT).place(0, 5) == (None, 1, 1)


def test_a_source_knows_the_pages_that_begin_inside_it() -> None:
    span = span_of(hit("a", TEXT, start=100, page=2))
    stored = passage(TEXT, "a.pdf", pages=(0, 100, 121, 100 + len(TEXT), 900))
    assert source_of(1, span, stored).page_breaks == (121,)


def test_a_citation_has_the_place_of_its_words_and_not_of_the_source() -> None:
    held = source(1, TEXT, line_start=11, line_end=14, page=2, page_breaks=(41,))
    [cited] = verify("The reed then speaks.", [1], [held]).evidence
    assert (cited.quote, cited.page, cited.line_start, cited.line_end) == ("The reed then speaks.", 3, 14, 14)
