"""Conflicts between the sources of an answer."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from pipelines.answers import Answer, Source
from pipelines.facts import EducationFacts, JobFacts, PersonFacts
from pipelines.query.careers.disagreements import Disagreement, career_disagreements
from pipelines.query.careers.people import group_people
from pipelines.query.conflicts.contradictions import Difference, conflicting_relations, contradiction, is_denial_of
from pipelines.query.conflicts.detect import job_date_disagreements, with_conflicts
from pipelines.query.verify import verify
from pipelines.store.facts import Fact
from tests.unit.query.builders import source

TODAY = date(2024, 3, 20)


# Careers


def fact(record: Any, text: str, document: str) -> Fact:
    placed = record.model_copy(update={"span": (0, len(text))})
    return Fact(placed, document, f"{document}.txt", document, "", "sha", document, None, 1, 2, (), f"n-{document}", 0,
                len(text), text)  # fmt: skip


def job(document: str, company: str, position: str, start: str, end: str | None) -> Fact:
    said = f"{start} - {end or 'Present'}"
    record = JobFacts(
        company=company, position=position, date_range=said, start_month=start, end_month=end, current=end is None
    )
    return fact(record, f"{company}\n{position}\n{said}\nBuilt things.", document)


def study(document: str, institution: str, degree: str, start: str, end: str) -> Fact:
    said = f"{start} - {end}"
    record = EducationFacts(institution=institution, degree=degree, date_range=said, start_month=start, end_month=end)
    return fact(record, f"{institution}, {degree}, {said}", document)


def disagreements(*facts: Fact) -> list[Disagreement]:
    named = [fact(PersonFacts(name="Ann Lee"), "Ann Lee", document) for document in ("resume", "linkedin")]
    return career_disagreements(group_people([*named, *facts], TODAY))


def stated(document: str, words: str) -> Fact:
    """A job (company | position | start | end) or a study (study | institution | degree | start | end)."""
    kind, *rest = words.split(" | ")
    return study(document, *rest) if kind == "study" else job(document, kind, rest[0], rest[1], rest[2] or None)


DISPUTED = [
    ("dates", "Acme | Engineer | 2019-01 | 2021-03", "Acme | Engineer | 2019-01 | 2022-11"),
    ("dates", "Acme | Engineer | 2019-01 | 2021-03", "Acme Inc. | Engineer | 2019-05 | 2021-03"),
    ("dates", "Acme | Engineer | 2019-01 | 2021-03", "Acme | Engineer | 2019-01 | "),
    ("title", "Acme | Data Engineer | 2019-01 | 2021-03", "Acme | Product Manager | 2019-01 | 2021-03"),
    ("title", "Acme | Lead Engineer | 2019-01 | ", "Acme | Staff Engineer | 2019-01 | "),
    ("employer", "Acme | Engineer | 2019-01 | 2021-03", "Beta | Engineer | 2019-01 | 2021-03"),
    ("dates", "study | NTNU | MSc | 2014 | 2016", "study | NTNU | MSc | 2013 | 2015"),
]  # fmt: skip
UNDISPUTED = [
    ("the same", "Acme | Engineer | 2019-01 | 2021-03", "Acme | Engineer | 2019-01 | 2021-03"),
    ("precision", "Acme | Engineer | 2019-01 | 2021-03", "Acme | Engineer | 2019 | 2021"),
    ("two jobs there", "Acme | Engineer | 2015-01 | 2017-03", "Acme | Engineer | 2019-01 | 2021-03"),
    ("two jobs", "Acme | Engineer | 2019-01 | 2021-03", "Beta | Consultant | 2019-01 | 2021-03"),
    ("only a year", "Acme | Engineer | 2019 | 2021", "Beta | Engineer | 2019 | 2021"),
    ("a longer title", "Acme | Engineer | 2019-01 | 2021-03", "Acme | Senior Engineer | 2019-01 | 2021-03"),
    ("a short form", "Acme | CTO | 2019-01 | 2021-03", "Acme | Chief Technology Officer | 2019-01 | 2021-03"),
    ("one abbreviation", "Acme | Sr Engineer | 2019-01 | 2021-03", "Acme | Senior Engineer | 2019-01 | 2021-03"),
    ("no title", "Acme |  | 2019-01 | 2021-03", "Acme | Engineer | 2019-01 | 2021-03"),
    ("two degrees", "study | NTNU | MSc | 2014 | 2016", "study | NTNU | BSc | 2011 | 2014"),
    ("two schools", "study | NTNU | MSc | 2014 | 2016", "study | UiO | MSc | 2013 | 2015"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "one", "other"), DISPUTED)
def test_documents_that_date_title_or_place_a_job_differently_disagree(kind: str, one: str, other: str) -> None:
    left, right = stated("resume", one), stated("linkedin", other)
    (found,) = disagreements(left, right)
    assert found.kind == kind
    assert {side.source.document_id for side in found.sides} == {"resume", "linkedin"}
    for side in found.sides:
        text = left.text if side.source.document_id == "resume" else right.text
        assert text[side.start : side.end] == side.quote != ""
        assert side.said in side.quote


@pytest.mark.parametrize(("why", "one", "other"), UNDISPUTED)
def test_documents_that_may_both_be_right_do_not_disagree(why: str, one: str, other: str) -> None:
    assert disagreements(stated("resume", one), stated("linkedin", other)) == [], why


BOTH = [
    ("Acme | Data Engineer | 2019-01 | 2021-03", "Acme | Product Manager | 2019-01 | 2022-11"),
    ("Acme | Data Engineer | 2019-01 | 2020-06", "Acme | Product Manager | 2019-01 | 2022-12"),
    ("Acme | Data Engineer | 2018-01 | 2021-03", "Acme Inc. | Product Manager | 2019-01 | 2022-11"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), BOTH)
def test_a_job_with_another_title_and_other_dates_is_two_disputes_each_with_both_sides(one: str, other: str) -> None:
    left, right = stated("resume", one), stated("linkedin", other)
    found = disagreements(left, right)
    assert [each.kind for each in found] == ["dates", "title"]
    for each in found:
        assert {side.source.document_id for side in each.sides} == {"resume", "linkedin"}
        assert all(side.said in side.quote for side in each.sides)


@pytest.mark.parametrize(
    "others",
    [
        [("linkedin", "Acme | Data Engineer | 2019-01 | 2020-12"), ("linkedin", "Acme | Manager | 2020-01 | 2022-11")],
        [("linkedin", "Acme | Manager | 2021-02 | 2024-01")],
    ],
    ids=["a promotion that one document knows", "a title that came after"],
)
def test_titles_of_two_times_at_one_employer_are_no_dispute(others: list[tuple[str, str]]) -> None:
    found = disagreements(
        stated("resume", "Acme | Data Engineer | 2019-01 | 2021-03"), *(stated(*each) for each in others)
    )
    assert "title" not in [each.kind for each in found]


def test_two_jobs_that_one_document_knows_apart_are_no_dispute_about_the_employer() -> None:
    both = [job("linkedin", company, "Engineer", "2019-01", "2021-03") for company in ("Acme", "Beta")]
    assert disagreements(job("resume", "Beta", "Engineer", "2019-01", "2021-03"), *both) == []


# Answers


CRANE = "The harbour crane moves 40 containers an hour. It was painted red."
PIER = "The pier is long. The harbour crane moves 46 containers an hour."


def answer(question: str, said: str, *sources: Source, cited: int = 1) -> Answer:
    sentence = verify(said, (cited,), sources)
    return Answer(question, True, "high", "extractive", "", said, (sentence,), sources)


def assert_cited(found: Answer) -> None:
    assert [one.n for one in found.sources] == list(range(1, len(found.sources) + 1))
    by_number = {one.n: one for one in found.sources}
    for side in (side for conflict in found.conflicts for side in conflict.sides):
        held = by_number[side.n]
        assert held.document_id == side.document_id
        assert held.snippet[side.start - held.start : side.end - held.start] == side.quote != ""
        assert f"[{side.n}]" in "".join(conflict.said for conflict in found.conflicts)


def test_a_source_that_contradicts_what_is_quoted_is_a_conflict_with_both_sides_cited() -> None:
    draft = answer("How many containers?", CRANE[:46], source(1, CRANE), source(2, PIER))
    found = with_conflicts(draft)
    (conflict,) = found.conflicts
    assert conflict.kind == "number"
    assert [side.quote for side in conflict.sides] == [CRANE[:46], PIER[18:]]
    assert conflict.said == f"“{CRANE[:46]}” [1], “{PIER[18:]}” [2]"
    assert (found.sources, found.confidence) == (draft.sources, "medium")
    assert_cited(found)


def test_a_contradiction_of_something_else_than_the_answer_says_is_not_shown() -> None:
    assert (
        with_conflicts(answer("Which colour?", "It was painted red.", source(1, CRANE), source(2, PIER))).conflicts
        == ()
    )


def test_one_document_does_not_contradict_itself() -> None:
    sources = source(1, CRANE), source(2, PIER, document_id="d1", start=500, end=500 + len(PIER))
    assert with_conflicts(answer("How many containers?", CRANE[:46], *sources)).conflicts == ()


LED = "# Pilot\n\nThe project was led by Anna Berg. The budget for the pilot is 45,000 EUR. It ended in May."
ALSO_LED = "Notes. Tom Hill led the project. Budget for the pilot: EUR 38,000"


@pytest.mark.parametrize(
    ("kind", "question", "said", "other"),
    [
        ("person", "Who led the project?", "The project was led by Anna Berg.", "Tom Hill led the project."),
        (
            "number",
            "What is the budget?",
            "The budget for the pilot is 45,000 EUR.",
            "Budget for the pilot: EUR 38,000",
        ),
    ],
)
def test_sources_that_name_another_leader_or_sum_are_cited_on_both_sides(
    kind: str, question: str, said: str, other: str
) -> None:
    found = with_conflicts(answer(question, said, source(1, LED), source(2, ALSO_LED)))
    (conflict,) = found.conflicts
    assert conflict.kind == kind
    assert [side.quote for side in conflict.sides] == [said, other]
    assert_cited(found)


def test_the_projects_of_two_headings_are_two() -> None:
    sources = [
        source(n, text, section_path=(heading,)) for n, text, heading in ((1, LED, "Quay"), (2, ALSO_LED, "Harbour"))
    ]
    assert with_conflicts(answer("Who led?", "The project was led by Anna Berg.", *sources)).conflicts == ()


def test_an_abstention_has_no_conflicts() -> None:
    draft = replace(answer("How many?", CRANE[:46], source(1, CRANE), source(2, PIER)), answered=False)
    assert with_conflicts(draft).conflicts == ()


ONE = job("resume", "Acme", "Data Engineer", "2019-01", "2021-03")
OTHER = job("linkedin", "Acme", "Data Engineer", "2019-01", "2022-11")


def told(question: str, said: str) -> Answer:
    shown = source(1, ONE.text, document_id="resume", content_sha="sha")
    return with_conflicts(answer(question, said, shown), disagreements(ONE, OTHER))


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("When was she at Acme?", "She built things."),
        ("Until when did she work for Acme?", "Built things."),
        ("Tell me about her work.", "2019-01 - 2021-03"),
    ],
)
def test_a_dispute_about_what_is_asked_or_said_is_shown_and_its_source_is_added(question: str, said: str) -> None:
    found = told(question, said)
    (conflict,) = found.conflicts
    assert conflict.said == "Acme: 2019-01 - 2021-03 [1], 2019-01 - 2022-11 [2]"
    assert [(one.n, one.document_id) for one in found.sources] == [(1, "resume"), (2, "linkedin")]
    assert_cited(found)


@pytest.mark.parametrize(
    ("question", "said"),
    [("What did she build at Acme?", "Built things."), ("When was she at Beta?", "Built things.")],
)
def test_a_dispute_that_touches_neither_question_nor_answer_is_not_shown(question: str, said: str) -> None:
    found = told(question, said)
    assert found.conflicts == ()
    assert [one.n for one in found.sources] == [1]
    assert found.confidence == "high"


def test_reports_that_say_which_year_they_are_about_do_not_contradict_each_other() -> None:
    years = [("2022", "2023"), ("2023", "2024")]
    texts = [f"The Brook report covers the years {one} - {other}." for one, other in years]
    sources = [
        source(n, text, documentName=f"report_fy-{one}-{other}.pdf", section_path=("Brook",))
        for n, (text, (one, other)) in enumerate(zip(texts, years, strict=True), start=1)
    ]
    assert with_conflicts(answer("Which years?", texts[0], *sources)).conflicts == ()
    unnamed = [replace(each, documentName="report.pdf") for each in sources]
    assert [conflict.kind for conflict in with_conflicts(answer("Which years?", texts[0], *unnamed)).conflicts] == [
        "dates"
    ]


def test_a_source_that_denies_what_is_quoted_is_a_conflict() -> None:
    said, denial = "The Heron sensor is waterproof to 50 metres.", "The Heron sensor is not waterproof."
    found = with_conflicts(answer("Is the Heron sensor waterproof?", said, source(1, said), source(2, denial)))
    assert [(each.kind, [side.quote for side in each.sides]) for each in found.conflicts] == [
        ("denial", [said, denial])
    ]
    assert found.confidence == "medium"


def test_a_conflict_of_a_stray_line_is_not_shown() -> None:
    leader, pallets = "Lars Bek is the chief executive of Tidewell.", "The Tidewell yard holds 40 pallets."
    sources = source(1, leader), source(2, pallets), source(3, "The Tidewell yard holds 46 pallets.")
    sentences = verify(leader, (1,), sources), verify(pallets, (2,), sources)

    def asked(question: str) -> Answer:
        return with_conflicts(Answer(question, True, "high", "extractive", "", "", sentences, sources))

    assert asked("Who is the chief executive of Tidewell?").conflicts == ()
    assert asked("Who is the chief executive of Tidewell?").confidence == "high"
    assert len(asked("How many pallets does the Tidewell yard hold?").conflicts) == 1


def test_a_dispute_about_a_job_is_none_about_something_else_at_that_employer() -> None:
    assert told("When was the Acme outage?", "The outage was long.").conflicts == ()
    assert len(told("When did Ann join Acme?", "She joined early.").conflicts) == 1


@pytest.mark.parametrize(
    ("told", "kinds"),
    [
        ("News. Ann Lee joined Acme in May 2019 as an engineer.", ["dates"]),
        ("News. Ann Lee left Acme in April 2022.", ["dates"]),
        ("News. Ann Lee joined Acme in January 2019.", []),
        ("News. Bo Dahl joined Acme in May 2019.", []),
        ("News. Ann Lee joined Beta in May 2019.", []),
    ],
)
def test_a_sentence_of_another_document_that_dates_a_job_otherwise_disputes_it(told: str, kinds: list[str]) -> None:
    found = job_date_disagreements([ONE], {"resume": "Ann Lee"}, [source(1, told)])
    assert [each.kind for each in found] == kinds
    assert all(each.sides[1].quote in told for each in found)
    assert job_date_disagreements([ONE], {}, [source(1, told)]) == []
    assert job_date_disagreements([ONE], {"resume": "Ann Lee"}, [source(1, told, document_id="resume")]) == []


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
    return conflicting_relations(one, other, same_subject=False, told_apart=told_apart, same_time=same_time)


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
    assert is_denial_of(said, denial, same_subject=False, told_apart=False)
    assert is_denial_of(denial, said, same_subject=False, told_apart=False)


@pytest.mark.parametrize(("why", "said", "denial"), NOT_DENIED)
def test_a_denial_of_something_else_denies_nothing(why: str, said: str, denial: str) -> None:
    assert not is_denial_of(said, denial, same_subject=False, told_apart=False), why
    assert not is_denial_of(denial, said, same_subject=False, told_apart=False), why


def test_below_headings_that_name_different_things_an_unnamed_thing_is_another() -> None:
    pair = ("The pump is waterproof.", "The pump is not waterproof.")
    assert is_denial_of(*pair, same_subject=False, told_apart=False)
    assert not is_denial_of(*pair, same_subject=False, told_apart=True)
