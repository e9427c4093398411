"""Pairs of sentences, as two documents may have them, written by hand."""

import pytest

from pipelines.query.conflicts.contradict import Difference, contradiction
from pipelines.query.conflicts.denials import is_denied
from pipelines.query.conflicts.rivals import rivals

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
    ("dates", "The Heron project was started on 4 March 2019.", "The Heron project began on 4 May 2019."),
    ("dates", "The Brook museum was founded in 1950.", "The Brook museum was established in 1955."),
    ("dates", "The Brook museum opened on 4 March 2019.", "The Brook museum was inaugurated on 4 May 2019."),
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


# Persons, places, titles and sums

RIVALS = [
    ("person", "The project was led by Anna Berg.", "Tom Hill led the project."),
    ("person", "The project was led by Anna Berg.", "Project lead: Tom Hill"),
    ("person", "The leader of the harbour project was Anna Berg.", "Tom Hill led the harbour project."),
    ("person", "Acme was founded by Ann Lee.", "Bo Dahl founded Acme in 2009."),
    ("person", "The author of the report is Ann Lee.", "The report was written by Bo Dahl."),
    ("person", "The pilot's manager was Ann Lee.", "The pilot was managed by Bo Dahl."),
    ("number", "The project has a budget of 2.4 million euros.", "The budget of the project was EUR 1.9m."),
    ("number", "The budget for the pilot is 45,000 EUR.", "Budget for the pilot: EUR 38,000"),
    ("number", "The deposit for the hall is $900.", "The deposit for the hall is €900."),
    ("place", "The Brook conference was held in Bergen.", "The Brook conference was held in Oslo."),
    ("place", "Acme is based in Oslo.", "Acme is headquartered in Bergen."),
    ("title", "Ann Lee joined Acme as a data engineer.", "Ann Lee joined Acme as a product manager."),
    ("title", "Ann Lee is a data engineer at Acme.", "Ann Lee works as a product manager at Acme."),
    ("employer", "Ann Lee works for Acme.", "Ann Lee works at Beta Labs."),
    ("person", "Lars Bek is the chief executive of Norvik.", "Mette Krag is the chief executive of Norvik."),
    ("person", "Norvik's chief executive is Lars Bek.", "Mette Krag is the CEO of Norvik."),
    ("person", "The managing director of Norvik is Lars Bek.", "Mette Krag is the managing director of Norvik."),
    ("person", "Lars Bek is president of the Brook club.", "The president of the Brook club is Mette Krag."),
    ("place", "The head office is in Aarhus.", "Its head office is in Copenhagen."),
    ("place", "Norvik's headquarters are in Aarhus.", "Norvik is based in Copenhagen."),
    ("place", "Norvik has its head office in Aarhus.", "The head office of Norvik is in Copenhagen."),
    ("number", "The Brook museum is open from 8:00 to 18:00.", "The Brook museum is open 9:00-17:00."),
    ("number", "Library opening hours: 8 am to 6 pm", "The library is open 9:00 to 17:00."),
    ("number", "The repair of the pier cost 2.4 million euros.", "The cost of the repair of the pier was €1.9m."),
]  # fmt: skip
NO_RIVALS = [
    ("two projects", "The Harbour project was led by Anna Berg.", "Tom Hill led the Quay project."),
    ("a time", "The project was led by Anna Berg until 2020.", "Tom Hill led the project."),
    ("two times", "In 2019 the project was led by Anna Berg.", "In 2021 Tom Hill led the project."),
    ("one of two", "The project was led by Anna Berg.", "Anna Berg and Tom Hill led the project."),
    ("a longer name", "The project was led by Dr Berg.", "Anna Berg led the project."),
    ("any team", "A team was led by Ann Lee.", "Bo Dahl led a team."),
    ("a part", "Ann Lee led the project.", "Bo Dahl led the second project."),
    ("a deputy", "Ann Lee is the director of Acme.", "Bo Dahl is the deputy director of Acme."),
    ("a plan", "The project will be led by Anna Berg.", "Tom Hill led the project."),
    ("a denial", "The project was not led by Anna Berg.", "Tom Hill led the project."),
    ("a country", "Acme is based in Oslo.", "Acme is headquartered in Norway."),
    ("two sums", "The budget of the pilot is 45,000 EUR.", "The cost of the pilot is 38,000 EUR."),
    ("a rounding", "The budget of the pilot is 45,000 EUR.", "The budget of the pilot is 44,800 EUR."),
    ("two currencies", "The budget of the pilot is 45,000 EUR.", "The budget of the pilot is 48,000 USD."),
    ("an old sum", "The budget of the pilot is 45,000 EUR.", "The old budget of the pilot is 38,000 EUR."),
    ("a bound", "The budget of the pilot is 45,000 EUR.", "The budget of the pilot is over 38,000 EUR."),
    ("a longer title", "Ann Lee joined Acme as an engineer.", "Ann Lee joined Acme as a senior engineer."),
    ("two employers", "Ann Lee is a data engineer at Acme.", "Ann Lee is a product manager at Beta."),
    ("a later employer", "Ann Lee works for Acme.", "Ann Lee now works for Beta."),
    ("two offices", "Ann Lee is the CEO of Acme.", "Bo Dahl is the CTO of Acme."),
    ("two chiefs", "Ann Lee is the CEO of Acme.", "Bo Dahl is the managing director of Acme."),
    ("a former chief", "Ann Lee is the former CEO of Acme.", "Bo Dahl is the CEO of Acme."),
    ("two seats", "Acme's head office is in Oslo.", "Brook's head office is in Bergen."),
    ("the same hours", "The Brook museum is open from 8:00 to 18:00.", "The Brook museum is open 8 am to 6 pm."),
    ("hours of a day", "The museum is open from 8:00 to 18:00.", "The museum is open from 9:00 to 17:00 on Sundays."),
    ("hours of winter", "The museum is open from 8:00 to 18:00.", "In winter the museum is open from 9:00 to 17:00."),
    ("two works", "Ann Lee led the project.", "Bo Dahl sponsored the project."),
]  # fmt: skip


def rivalry(one: str, other: str, *, told_apart: bool = False, same_time: bool = True) -> Difference | None:
    return rivals(one, other, same_subject=False, told_apart=told_apart, same_time=same_time)


@pytest.mark.parametrize(("kind", "one", "other"), RIVALS)
def test_two_sentences_that_name_another_for_one_thing_are_rivals_either_way(kind: str, one: str, other: str) -> None:
    found, turned = rivalry(one, other), rivalry(other, one)
    assert found is not None
    assert turned is not None
    assert (found.kind, found.one, found.other) == (kind, turned.other, turned.one)


@pytest.mark.parametrize(("why", "one", "other"), NO_RIVALS)
def test_two_sentences_that_may_both_be_right_are_no_rivals(why: str, one: str, other: str) -> None:
    assert rivalry(one, other) is None, why
    assert rivalry(other, one) is None, why


def test_below_headings_that_name_different_things_or_years_the_project_is_another() -> None:
    pair = ("The project was led by Anna Berg.", "Tom Hill led the project.")
    assert rivalry(*pair, told_apart=True) is None
    assert rivalry(*pair, same_time=False) is None


@pytest.mark.parametrize("piece", ["Ann led the ", "The lead of ", "Aa Bb and ", "budget 1 euros ", "the "])
def test_hostile_sentences_are_read_in_no_time(piece: str) -> None:
    assert rivalry(piece * 20_000, piece * 11) is None


# Denials

DENIED = [
    ("The Heron sensor is waterproof to 50 metres.", "The Heron sensor is not waterproof."),
    ("The Skarv is safe for children.", "The Skarv isn't safe for children."),
    ("The Heron project was cancelled in March 2021.", "The Heron project was never cancelled."),
    ("Latemark supports Windows.", "Latemark does not support Windows."),
    ("The pump can be repaired.", "The pump cannot be repaired."),
]  # fmt: skip
NOT_DENIED = [
    ("a condition", "The Skarv is safe for children.", "The Skarv is not safe for children under 3."),
    ("a part", "The lock is open.", "The lock is not fully open."),
    ("another thing", "The Heron Pro sensor is waterproof.", "The Heron sensor is not waterproof."),
    ("another subject", "The sensor of the Heron is waterproof.", "The Heron is not waterproof."),
    ("another order", "Bo Dahl is the manager of Ann Lee.", "Ann Lee is not the manager of Bo Dahl."),
    ("another time", "The office was open.", "The office is not open."),
    ("another year", "The lock was opened in 1988.", "The lock was not opened in 1987."),
    ("two denials", "The Heron sensor is not waterproof.", "The Heron sensor is not waterproof."),
    ("a plan", "The Heron project will be cancelled.", "The Heron project was not cancelled."),
    ("not yet", "The pump is installed.", "The pump is not yet installed."),
    ("no subject", "It is safe for children.", "It is not safe for children."),
    ("something else", "The Heron sensor is heavy.", "The Heron sensor is not waterproof."),
]  # fmt: skip


@pytest.mark.parametrize(("said", "denial"), DENIED)
def test_a_sentence_is_denied_by_one_that_denies_the_same_either_way(said: str, denial: str) -> None:
    assert is_denied(said, denial, same_subject=False, told_apart=False)
    assert is_denied(denial, said, same_subject=False, told_apart=False)


@pytest.mark.parametrize(("why", "said", "denial"), NOT_DENIED)
def test_a_denial_of_something_else_denies_nothing(why: str, said: str, denial: str) -> None:
    assert not is_denied(said, denial, same_subject=False, told_apart=False), why
    assert not is_denied(denial, said, same_subject=False, told_apart=False), why


def test_below_headings_that_name_different_things_an_unnamed_thing_is_another() -> None:
    pair = ("The pump is waterproof.", "The pump is not waterproof.")
    assert is_denied(*pair, same_subject=False, told_apart=False)
    assert not is_denied(*pair, same_subject=False, told_apart=True)
