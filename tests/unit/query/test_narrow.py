import pytest

from config.settings import AnalysisSettings
from pipelines.query.understanding.narrow import Narrowing, narrowings, outside
from pipelines.types import Filters, QueryIntent
from tests.unit.query.builders import hit

WORK = QueryIntent("q", "q", categories=("resume", "linkedin"), years=(2023, 2024))
CATEGORIES, YEARS = WORK.categories, WORK.years


def use(categories: str = "off", years: str = "off") -> AnalysisSettings:
    return AnalysisSettings(categories=categories, years=years)


@pytest.mark.parametrize("mode", ["boost", "off"])
def test_a_boost_narrows_nothing(mode: str) -> None:
    asked = Filters(collection=("c",))
    assert narrowings(WORK, asked, use(mode, mode)) == [Narrowing(asked)]


def test_prefilters_are_given_up_years_first_then_categories() -> None:
    assert narrowings(WORK, Filters(), use("prefilter", "prefilter")) == [
        Narrowing(Filters(category=CATEGORIES, year=YEARS), guessed=True),
        Narrowing(Filters(category=CATEGORIES), guessed=True, dropped="years"),
        Narrowing(Filters(), dropped="categories"),
    ]


def test_postfilters_are_kept_from_the_legs() -> None:
    assert narrowings(WORK, Filters(), use("postfilter", "prefilter")) == [
        Narrowing(Filters(year=YEARS), keep=Filters(category=CATEGORIES), guessed=True),
        Narrowing(Filters(), keep=Filters(category=CATEGORIES), guessed=True, dropped="years"),
        Narrowing(Filters(), dropped="categories"),
    ]


def test_guessed_years_alone_are_given_up_at_once() -> None:
    assert narrowings(WORK, Filters(), use(years="prefilter")) == [
        Narrowing(Filters(year=YEARS), guessed=True),
        Narrowing(Filters(), dropped="years"),
    ]


def test_a_guess_narrows_what_the_caller_asked_for_and_never_widens_it() -> None:
    asked = Filters(category=("linkedin", "blog"), year=(2024, 2025))
    first, *_, last = narrowings(WORK, asked, use("prefilter", "prefilter"))
    assert first.filters == Filters(category=("linkedin",), year=(2024,))
    assert last.filters == asked


def test_a_guess_outside_what_the_caller_asked_for_is_none() -> None:
    asked = Filters(category=("blog",), year=(2010,))
    assert narrowings(WORK, asked, use("prefilter", "postfilter")) == [Narrowing(asked)]


def test_phrases_join_the_caller_s_and_are_in_every_narrowing() -> None:
    quoting = QueryIntent("q", "q", categories=("blog",), phrases=("late data", "a"))
    steps = narrowings(quoting, Filters(phrase=("a", "b")), use("prefilter"))
    assert [step.filters.phrase for step in steps] == [("a", "b", "late data")] * 2


def test_a_question_without_words_or_years_guesses_nothing() -> None:
    assert narrowings(QueryIntent("q", "q"), Filters(), use("prefilter", "prefilter")) == [Narrowing(Filters())]


def test_a_postfilter_takes_out_the_other_categories_and_years() -> None:
    ranking = [
        hit("a", category="resume", year=2023),
        hit("b", category="blog", year=2023),
        hit("c", category="resume", year=2019),
        hit("d", category="resume", year=None),
    ]
    keep = Filters(category=("resume",), year=(2023,))
    assert outside(ranking, Narrowing(Filters(), keep=keep)) == {"b", "c", "d"}
    assert outside(ranking, Narrowing(keep)) == set()
