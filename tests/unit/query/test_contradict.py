"""Pairs of sentences, as two documents may have them, written by hand."""

import pytest

from pipelines.query.conflicts.contradict import contradiction

DIFFER = [
    ("dates", "Marit built the harbour crane controller in 2014.", "The harbour crane controller was built in 2015."),
    ("dates", "Acme was founded in Bergen in 2009.", "Acme was founded in Bergen in 2011."),
    ("dates", "She joined Garboard Systems in March 2019.", "She joined Garboard Systems in May 2019."),
    ("dates", "She joined Garboard Systems in March 2019.", "She joined Garboard Systems in 2018."),
    ("dates", "Data Engineer, Acme Ltd, 2019 - 2021", "Data Engineer at Acme, 2019 - 2022"),
    ("dates", "Acme Ltd | Data Engineer | Jan 2019 – Mar 2021", "Data Engineer, Acme Ltd (Jan 2019 - Jun 2021)"),
    ("dates", "From 2016 to 2019 she led the Oslo office.", "She led the Oslo office from 2015 to 2019."),
    ("dates", "He has lived in Tromsø since 2012.", "He has lived in Tromsø since 2010."),
    ("dates", "Ann Bell graduated from NTNU in 2008.", "Ann Bell graduated from NTNU in 2009."),
    ("dates", "The Latemark library was released on 3 May 2021.", "The Latemark library was released on 7 May 2021."),
    ("dates", "The old pier was closed in June 2003.", "The old pier was closed in 1998."),
    ("dates", "Data Engineer at Acme, 2019 - Present", "Data Engineer at Acme, 2018 - today"),
    ("number", "The harbour crane moves 40 containers an hour.", "The harbour crane moves 46 containers an hour."),
    ("number", "She leads a team of five engineers at Garboard.", "She leads a team of nine engineers at Garboard."),
    ("number", "The outage of the Brook pipeline lasted 47 minutes.", "The Brook pipeline outage lasted 74 minutes."),
    ("number", "Latemark has 1,200 users in Norway.", "Latemark has 2,100 users in Norway."),
    ("number", "Each Driftbuoy buoy cost $3 million.", "Each Driftbuoy buoy cost $4.2 million."),
    ("number", "In 2021 the Oslo team had 12 people.", "The Oslo team had 17 people in 2021."),
    ("number", "The Coldcurve model was trained on 80 vials.", "The Coldcurve model was trained on 120 vials."),
    ("number", "Acme cut the error rate by 40%.", "Acme cut the error rate by 55 percent."),
    ("number", "The lock is eleven metres wide.", "The lock is 14 meters wide."),
    ("number", "About 50 people work at the Bergen office.", "90 people work at the Bergen office."),
    ("number", "The Leith workshop holds 12 clavichords.", "The workshop in Leith holds twenty clavichords."),
]  # fmt: skip
AGREE = [
    ("other names", "Marit built the harbour crane in 2014.", "Bo built the harbour crane in 2015."),
    ("two jobs", "Data Engineer, Acme Ltd, 2015 - 2017", "Data Engineer, Acme Ltd, 2019 - 2021"),
    ("two employers", "Data Engineer, Acme Ltd, 2019 - 2021", "Data Engineer, Beta AS, 2019 - 2022"),
    ("rounding", "About 50 people work at the Bergen office.", "48 people work at the Bergen office."),
    ("a round number", "The Brook archive holds 1,000 letters.", "The Brook archive holds 1,012 letters."),
    ("fewer digits", "Driftbuoy cost $1.2 million.", "Driftbuoy cost $1,234,567."),
    ("a bound", "The harbour crane moves over 40 boxes an hour.", "The harbour crane moves 46 boxes an hour."),
    ("years' reports", "In 2019 the Oslo team had 12 people.", "In 2020 the Oslo team had 17 people."),
    ("one with a year", "In 2019 the Oslo team had 12 people.", "The Oslo team has 17 people."),
    ("a list of years", "Acme was founded and sold in 2009 and in 2011.", "Acme was founded and sold in 2010."),
    ("a range and a year in it", "She led the Oslo office from 2016 to 2019.", "She led the Oslo office in 2017."),
    ("start and end", "She worked at Garboard from 2019.", "She worked at Garboard until 2021."),
    ("before", "The Brook pier was built before 1998.", "The Brook pier was built in 1987."),
    ("precision", "She joined Garboard Systems in March 2019.", "She joined Garboard Systems in 2019."),
    ("an open end", "Data Engineer at Acme, 2019 - Present", "Data Engineer at Acme, 2019 - 2022"),
    ("what recurs", "Ann spoke at the PyCon conference in 2019.", "Ann spoke at the PyCon conference in 2021."),
    ("another thing", "The north Oslo team has 12 people.", "The south Oslo team has 17 people."),
    ("a place more", "The search team has five people.", "The search team in Oslo has seven people."),
    ("another unit", "The harbour crane moves 40 containers an hour.", "The harbour crane moves 900 containers a day."),
    ("another measure", "Latemark has 1,200 users.", "Latemark has 35 contributors."),
    ("a plan", "Acme will cut the error rate by 60%.", "Acme cut the error rate by 40%."),
    ("a denial", "The lock was not opened in 1987.", "The lock was opened in 1988."),
    ("versions", "Latemark version 2 was released in 2020.", "Latemark version 3 was released in 2022."),
    ("names with numbers", "Acme moved to Python 2 in 2009.", "Acme moved to Python 3 in 2015."),
    ("an ordinal", "Acme opened the first Bergen office in 2009.", "Acme opened the second Bergen office in 2014."),
    ("unnamed things", "Reduced costs by 40%.", "Reduced costs by 30%."),
    ("bullets of two jobs", "Cut build times by 40% with caching.", "Cut build times by 30% with caching."),
    ("a question", "Was Acme founded in Bergen in 2009?", "Acme was founded in Bergen in 2011."),
    ("joined and left", "She joined Garboard Systems in 2019.", "She left Garboard Systems in 2021."),
    ("the same, differently", "The lock is eleven metres wide.", "The lock is 11 meters wide."),
    ("one date in two spellings", "Acme was founded on 2009-05-07.", "Acme was founded on May 7th, 2009."),
    ("an average and a peak", "The Brook line has 40 trains a day.", "The Brook line has a peak of 90 trains a day."),
    ("lines of two papers", "RESULTS 37 sites met the entry criteria.", "RESULTS 12 sites met the entry criteria."),
    ("names of a family", "Brook 3.5 Family", "Brook 3 Family"),
    ("no value", "Marit built the harbour crane controller.", "Marit built the harbour crane controller in 2014."),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "one", "other"), DIFFER)
def test_sentences_that_cannot_both_be_right_contradict_each_other_either_way(kind: str, one: str, other: str) -> None:
    found = contradiction(one, other, same_subject=False)
    turned = contradiction(other, one, same_subject=False)
    assert found is not None
    assert turned is not None
    assert (found.kind, turned.kind) == (kind, kind)
    assert (found.one, found.other) == (turned.other, turned.one)


@pytest.mark.parametrize(("why", "one", "other"), AGREE)
def test_sentences_that_may_both_be_right_are_no_contradiction(why: str, one: str, other: str) -> None:
    assert contradiction(one, other, same_subject=False) is None, why
    assert contradiction(other, one, same_subject=False) is None, why


def test_below_one_heading_sentences_need_not_name_their_subject() -> None:
    pair = ("Cut build times by 40% with caching.", "Cut build times by 30% with caching.")
    found = contradiction(*pair, same_subject=True)
    assert found == ("number", "40", "30")


def test_numbers_of_documents_about_different_years_are_no_contradiction_but_dates_are() -> None:
    numbers = ("The harbour crane moves 40 containers an hour.", "The harbour crane moves 46 containers an hour.")
    dates = ("Acme was founded in Bergen in 2009.", "Acme was founded in Bergen in 2011.")
    assert contradiction(*numbers, same_subject=False, same_time=False) is None
    assert contradiction(*dates, same_subject=False, same_time=False) is not None
