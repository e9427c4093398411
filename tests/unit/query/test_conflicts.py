"""Answers whose sources disagree; the documents are written by hand."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from pipelines.facts import EducationFacts, JobFacts, PersonFacts
from pipelines.query.careers.timeline import people
from pipelines.query.conflicts.career_conflicts import career_disagreements
from pipelines.query.conflicts.conflicts import with_conflicts
from pipelines.query.conflicts.disagreement import Disagreement
from pipelines.query.conflicts.retold import retold
from pipelines.query.verification.cite import verify
from pipelines.store.facts import Fact
from pipelines.types import Answer, Source
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
    return career_disagreements(people([*named, *facts], TODAY))


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
    found = retold([ONE], {"resume": "Ann Lee"}, [source(1, told)])
    assert [each.kind for each in found] == kinds
    assert all(each.sides[1].quote in told for each in found)
    assert retold([ONE], {}, [source(1, told)]) == []
    assert retold([ONE], {"resume": "Ann Lee"}, [source(1, told, document_id="resume")]) == []
