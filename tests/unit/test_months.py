from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.months import (
    MonthRange,
    duration_text,
    ends_of,
    merge_ranges,
    month_range,
    month_text,
    months_agree,
    overlap_share,
)

TODAY = date(2024, 3, 20)


def months(start: str, end: str | None = None, *, current: bool = False) -> MonthRange | None:
    return month_range(start, end, current=current, today=TODAY)


def total(*ranges: tuple[str, str]) -> str:
    found = [months(*each) for each in ranges]
    return duration_text([each for each in found if each])


def test_a_duration_counts_both_end_months() -> None:
    assert total(("2018-01", "2023-04")) == "5 years 4 months"
    assert total(("2018-01", "2018-12")) == "1 year"
    assert total(("2018-01", "2018-02")) == "2 months"
    assert total(("2018-01", "2018-01")) == "1 month"


def test_a_range_of_years_lasts_about_their_difference() -> None:
    assert total(("2019", "2021")) == "about 2 years"
    assert total(("2019", "2019")) == "less than a year"


def test_a_year_without_a_month_counts_as_its_july() -> None:
    assert total(("2018-06", "2021")) == "about 3 years 1 month"
    assert total(("2021-10", "2021")) == "less than a year"


def test_an_open_range_ends_today_and_a_missing_end_gives_none() -> None:
    opened = months("2022-03", None, current=True)
    assert opened is not None
    assert opened.months == 25
    assert months("2022-03") is None
    assert months("2022", "someday") is None


def test_an_end_before_the_start_gives_none() -> None:
    assert months("2022-03", "2022-02") is None
    assert months("2023", "2021") is None


def test_duration_counts_overlaps_once_and_leaves_out_gaps() -> None:
    assert total(("2018-01", "2020-01"), ("2019-01", "2020-12")) == "3 years"
    assert total(("2018-01", "2018-12"), ("2020-01", "2020-12")) == "2 years"
    assert total(("2018-01", "2021-12"), ("2019-01", "2020-01")) == "4 years"


def test_adjacent_ranges_are_merged() -> None:
    assert total(("2018-01", "2018-12"), ("2019-01", "2019-12")) == "2 years"


def test_no_ranges_have_an_empty_duration() -> None:
    assert duration_text([]) == ""


def test_overlap_is_the_shared_fraction_of_the_months() -> None:
    one, other = months("2020-01", "2020-04"), months("2020-03", "2020-06")
    assert one is not None
    assert other is not None
    assert overlap_share(one, other) == 2 / 6
    assert overlap_share(one, one) == 1


def test_months_agree_in_their_common_precision() -> None:
    assert months_agree("2018", "2018-04")
    assert months_agree(None, "2018-04")
    assert not months_agree("2018-05", "2018-04")


def test_month_text_is_readable() -> None:
    assert (month_text("2023-04"), month_text("2023"), month_text("soon")) == ("Apr 2023", "2023", "soon")


RANGES = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 60)).map(lambda p: MonthRange(p[0], p[0] + p[1])))


@given(RANGES)
def test_merged_ranges_cover_exactly_the_same_months(ranges: list[MonthRange]) -> None:
    covered = {month for each in ranges for month in range(each.first, each.last + 1)}
    joined = merge_ranges(ranges)
    assert {month for each in joined for month in range(each.first, each.last + 1)} == covered
    assert all(left.last + 1 < right.first for left, right in pairwise(joined))


@pytest.mark.parametrize(
    ("written", "ends"),
    [
        ("January 2019 – present", ("January 2019", "present")),
        ("2019-03 - 2020-04 (1 year)", ("2019-03", "2020-04")),
        ("2019–2021", ("2019", "2021")),
        ("2019-03", ("2019-03", "")),
        ("May 2020", ("May 2020", "")),
    ],
)
def test_the_ends_of_a_range_are_told_apart_as_they_are_written(written: str, ends: tuple[str, str]) -> None:
    assert ends_of(written) == ends
