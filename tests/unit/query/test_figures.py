import time

import pytest

from pipelines.query.verification.figures import dates_differ, levelled, units_differ


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2019-05", "May 2019"),
        ("2019-05-07", "7 May 2019"),
        ("07.05.2019", "7 May 2019"),
        ("05/2019", "May 2019"),
        ("Sept. 2nd, 2018", "September 2, 2018"),
        ("the 5th of May", "the 5 of May"),
        ("Mar 2019 - DEC 2020", "March 2019 - December 2020"),
        ("ten apples and twenty-one pears", "10 apples and 21 pears"),
        ("two hundred and six", "206"),
        ("two thousand five hundred", "2500"),
        ("nine to five", "9 to 5"),
        ("three million users", "3000000 users"),
        ("US$3.5bn", "3500000000 dollars"),
        ("$3 million", "3000000 dollars"),
        ("3 million dollars", "3000000 dollars"),
        ("40%, 40 per cent", "40 percent, 40 percent"),
        ("5km, 5 kilometres and a 5-mile run", "5 kilometers, 5 kilometers and a 5 miles run"),
        ("the third album", "the 3rd album"),
    ],
)
def test_dates_numbers_money_and_units_are_spelt_in_one_way(text: str, said: str) -> None:
    assert levelled(text) == said


@pytest.mark.parametrize(
    "text", ["one of the k8s nodes", "third-party", "may 5 people", "IPv6 in the 1990s, 5G", "1.5"]
)
def test_what_is_no_number_date_or_unit_stays_as_it_is(text: str) -> None:
    assert levelled(text) == text


@pytest.mark.parametrize(
    ("claim", "text", "differ"),
    [
        ("5 km", "5 miles", True),
        ("$5", "€5", True),
        ("5 km", "about 5km", False),
        ("5 km", "5 to 7 miles", False),
        ("5 people", "5 miles", False),
        ("5 km", "6 miles", False),
    ],
)
def test_units_differ_where_the_same_number_has_only_others(claim: str, text: str, differ: bool) -> None:
    assert units_differ(levelled(claim), levelled(text)) is differ


@pytest.mark.parametrize(
    ("claim", "text", "differ"),
    [
        ("May 2019", "2019-05-03", False),
        ("May 2019", "2019", False),
        ("5 May", "May 5, 2020", False),
        ("2019", "May 2018", False),
        ("May 2019", "no date", False),
        ("May 2019", "from March 2019 to May 2020", True),
        ("May 5, 2019", "2019-05-06", True),
    ],
)
def test_dates_differ_where_no_date_goes_with_one_of_a_month(claim: str, text: str, differ: bool) -> None:
    assert dates_differ(levelled(claim), levelled(text)) is differ


@pytest.mark.parametrize("piece", ["two ", "two-", "two and ", "5 ", "May ", "1", "$", "may 1 ", "5.", "1-"])
def test_hostile_text_takes_time_in_proportion_to_its_length(piece: str) -> None:
    text = piece * 5_000
    begun = time.process_time()
    said = levelled(text)
    units_differ(said, said)
    dates_differ(said, said)
    assert time.process_time() - begun < 2
