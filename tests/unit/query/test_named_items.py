"""Answers about the jobs and studies that a question names."""

import pytest

from pipelines.facts import EducationFacts, PersonFacts
from pipelines.query.careers.answers import answer_from_people, study_remarks
from pipelines.query.careers.people import Person, group_people
from pipelines.query.question.understand import analyse
from tests.unit.query.careers import TODAY, fact, job

PROFILE = {"document": "profile.pdf", "category": "linkedin"}


def study(degree: str, area: str, start: str, end: str) -> object:
    record = EducationFacts(institution="Leith College", degree=degree, area=area, date_range=f"{start} - {end}",
                            start_month=start, end_month=end)  # fmt: skip
    return fact(record, f"{degree} {area}, Leith College, {start} - {end}")


@pytest.fixture
def person() -> Person:
    facts = [
        fact(PersonFacts(name="Ann Lee"), "Ann Lee"),
        fact(PersonFacts(name="Ann Lee"), "Ann Lee", **PROFILE),
        job("Harbour Hospital", "2019-03", None, position="Head Nurse"),
        job("Harbour Hospital", "2019-03", None, position="Chief Nurse", **PROFILE),
        job("Leith College", "2015-01", "2018-12", position="Doctoral Researcher"),
        job("Harbour Hospital", "2010-01", "2014-12", position="Ward Nurse"),
        job("Harbour Hospital", "2010-06", "2014-12", position="Ward Nurse", **PROFILE),
        study("Doctor of Philosophy - PhD", "Nursing", "2015", "2018"),
        study("BSc", "Nursing", "2006", "2009"),
    ]
    (found,) = group_people(facts, TODAY)
    return found


def said(person: Person, question: str) -> str:
    intent = analyse(question, today=TODAY)
    found = answer_from_people(intent, [person])
    return "; ".join([found.value + found.of, *(item.text for item in found.items)]) if found else ""


@pytest.mark.parametrize(
    ("question", "expected", "absent"),
    [
        ("How long did Ann's doctorate take?", "4 years", "Ward Nurse"),
        ("Where and when did she do her bachelor's?", "BSc in Nursing, Leith College, 2006 - 2009", "PhD"),
        ("When did Ann become a ward nurse?", "2010-01 - 2014-12", "Chief"),
        ("When did Ann become a ward nurse?", "2010-06 - 2014-12", "Chief"),
        ("Is she a chief nurse?", "Head Nurse at Harbour Hospital", "Ward"),
        ("Is she a chief nurse?", "Chief Nurse at Harbour Hospital", "Ward"),
        ("What was your first job?", "Ward Nurse", "Chief"),
        ("What is her most recent position?", "Head Nurse", "Ward"),
        ("What was her last job?", "Doctoral Researcher", "Ward"),
        ("Which jobs did she have at the hospital before her doctorate?", "Ward Nurse", "Chief"),
        ("What did Ann do before her doctorate?", "Ward Nurse", "Chief"),
        ("Where did your career start after the bachelor's degree?", "Ward Nurse", "Head Nurse"),
        ("What is she working as these days?", "Head Nurse", "Ward"),
        ("Your role at Harbour Hospital was called what?", "Head Nurse", "Doctoral"),
    ],
)
def test_what_is_named_is_told_with_every_statement_that_differs(
    person: Person, question: str, expected: str, absent: str
) -> None:
    found = said(person, question)
    assert expected in found
    assert absent not in found


@pytest.mark.parametrize(
    "question",
    [
        "Is she a pilot?",
        "What grade did she get for her bachelor's?",
        "Who supervised her doctorate?",
        "Is she tall?",
        "What was her doctoral thesis called?",
    ],
)
def test_a_word_that_is_not_understood_leaves_the_question_alone(person: Person, question: str) -> None:
    assert said(person, question) == ""


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("What was her doctoral thesis called?", "Thesis: Nurses at night."),
        ("Who was Ann's doctoral supervisor?", "Supervisor: Ola Nes"),
        ("What was her bachelor's thesis called?", ""),
    ],
)
def test_a_remark_of_a_named_study_is_quoted(question: str, sentence: str) -> None:
    phd = EducationFacts(institution="Leith College", degree="Ph.D.", start_month="2015", end_month="2018")
    facts = [
        fact(PersonFacts(name="Ann Lee"), "Ann Lee"),
        fact(phd, "Ph.D., Leith College. Thesis: Nurses at night. Supervisor: Ola Nes"),
        study("BSc", "Nursing", "2006", "2009"),
    ]
    (person,) = group_people(facts, TODAY)  # type: ignore[arg-type]
    assert said(person, question) == (f"; {sentence}" if sentence else "")
    remarks = [item.text for item in study_remarks(person.education, ("thesis", "nursing", "doctor"))]
    assert remarks == ["Thesis: Nurses at night."]
