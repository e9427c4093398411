from datetime import date
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from pipelines.months import Stretch, agree, named, overlap, spoken, stretch, union

TODAY = date(2024, 3, 20)


def months(start: str, end: str | None = None, *, current: bool = False) -> Stretch | None:
    return stretch(start, end, current=current, today=TODAY)


def said(*ranges: tuple[str, str]) -> str:
    found = [months(*each) for each in ranges]
    return spoken([each for each in found if each])


def test_both_of_the_months_that_are_named_count() -> None:
    assert said(("2018-01", "2023-04")) == "5 years 4 months"
    assert said(("2018-01", "2018-12")) == "1 year"
    assert said(("2018-01", "2018-02")) == "2 months"
    assert said(("2018-01", "2018-01")) == "1 month"


def test_years_are_apart_by_a_plain_difference_of_years_and_only_about_so() -> None:
    assert said(("2019", "2021")) == "about 2 years"
    assert said(("2019", "2019")) == "less than a year"


def test_a_bare_year_beside_a_month_stands_for_its_july() -> None:
    assert said(("2018-06", "2021")) == "about 3 years 1 month"
    assert said(("2021-10", "2021")) == "less than a year"


def test_an_open_end_runs_to_today_and_an_unstated_one_nowhere() -> None:
    opened = months("2022-03", None, current=True)
    assert opened is not None
    assert opened.months == 25
    assert months("2022-03") is None
    assert months("2022", "someday") is None


def test_an_end_before_the_start_is_no_stretch() -> None:
    assert months("2022-03", "2022-02") is None
    assert months("2023", "2021") is None


def test_months_that_overlap_count_once_and_gaps_do_not_count() -> None:
    assert said(("2018-01", "2020-01"), ("2019-01", "2020-12")) == "3 years"
    assert said(("2018-01", "2018-12"), ("2020-01", "2020-12")) == "2 years"
    assert said(("2018-01", "2021-12"), ("2019-01", "2020-01")) == "4 years"


def test_a_job_that_begins_in_the_month_after_another_leaves_no_gap() -> None:
    assert said(("2018-01", "2018-12"), ("2019-01", "2019-12")) == "2 years"


def test_nothing_lasts_no_time() -> None:
    assert spoken([]) == ""


def test_the_overlap_of_two_stretches_is_the_share_of_their_months() -> None:
    one, other = months("2020-01", "2020-04"), months("2020-03", "2020-06")
    assert one is not None
    assert other is not None
    assert overlap(one, other) == 2 / 6
    assert overlap(one, one) == 1


def test_months_agree_as_far_as_both_are_stated() -> None:
    assert agree("2018", "2018-04")
    assert agree(None, "2018-04")
    assert not agree("2018-05", "2018-04")


def test_a_month_is_named_for_people() -> None:
    assert (named("2023-04"), named("2023"), named("soon")) == ("Apr 2023", "2023", "soon")


STRETCHES = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 60)).map(lambda p: Stretch(p[0], p[0] + p[1])))


@given(STRETCHES)
def test_a_union_holds_just_the_months_of_its_parts(stretches: list[Stretch]) -> None:
    covered = {month for each in stretches for month in range(each.first, each.last + 1)}
    joined = union(stretches)
    assert {month for each in joined for month in range(each.first, each.last + 1)} == covered
    assert all(left.last + 1 < right.first for left, right in pairwise(joined))
