"""Disagreements of documents on a career or on a named value, and what an answer shows of them."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from pipelines.answers import Answer, Source
from pipelines.facts import EducationFacts, JobFacts, PersonFacts
from pipelines.query.careers.disagreements import Disagreement, career_disagreements
from pipelines.query.careers.people import group_people
from pipelines.query.disagreements import with_conflicts
from pipelines.query.verification.rows import named_values
from pipelines.query.verify import verify
from pipelines.store.facts import Fact
from pipelines.structure import structure_of
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


def answer(question: str, text: str, *sources: Source, cited: int = 1) -> Answer:
    sentence = verify(text, (cited,), sources)
    return Answer(question, True, "high", "extractive", "", text, (sentence,), sources)


def assert_cited(found: Answer) -> None:
    assert [one.n for one in found.sources] == list(range(1, len(found.sources) + 1))
    by_number = {one.n: one for one in found.sources}
    for side in (side for conflict in found.conflicts for side in conflict.sides):
        held = by_number[side.n]
        assert held.document_id == side.document_id
        assert held.snippet[side.start - held.start : side.end - held.start] == side.quote != ""
        assert f"[{side.n}]" in "".join(conflict.said for conflict in found.conflicts)


ONE = job("resume", "Acme", "Data Engineer", "2019-01", "2021-03")
OTHER = job("linkedin", "Acme", "Data Engineer", "2019-01", "2022-11")


def told(question: str, said: str) -> Answer:
    shown = source(1, ONE.text, document_id="resume", content_sha="sha")
    return with_conflicts(answer(question, said, shown), question, disagreements(ONE, OTHER))


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


def test_the_dates_of_a_line_above_the_list_that_answers_are_not_said_by_the_answer() -> None:
    shown = source(1, ONE.text, document_id="resume", content_sha="sha")
    lines = tuple(verify(words, [1], (shown,)) for words in ("2019-01 - 2021-03", "Built things."))
    said = "2019-01 - 2021-03 [1]\n\n- Built things. [1]"
    listed = Answer("Whom did she lead?", True, "high", "extractive", "", said, lines, (shown,))
    assert with_conflicts(listed, "Whom did she lead?", disagreements(ONE, OTHER)).conflicts == ()
    plain = replace(listed, answer="2019-01 - 2021-03 [1] Built things. [1]")
    assert len(with_conflicts(plain, "Whom did she lead?", disagreements(ONE, OTHER)).conflicts) == 1


def test_a_dispute_about_a_job_is_none_about_something_else_at_that_employer() -> None:
    assert told("When was the Acme outage?", "The outage was long.").conflicts == ()
    assert len(told("When did Ann join Acme?", "She joined early.").conflicts) == 1


def test_an_abstention_has_no_conflicts() -> None:
    shown = source(1, ONE.text, document_id="resume", content_sha="sha")
    draft = replace(answer("When was she at Acme?", "Built things.", shown), answered=False)
    assert with_conflicts(draft, draft.question, disagreements(ONE, OTHER)) == draft


# Named values


CALL, REMINDER = "# Brook fair\n\n- Deadline: 3 May 2024\n- Place: Oslo", "Deadline: 10 May 2024\nPlace: Oslo"


def asked(question: str, one: str, other: str, cited: str = "", **facts: Any) -> Answer:
    """An answer that quotes a line of one document, with another document among its sources."""
    titles = {"title": "Brook fair"} | facts
    sources = source(1, one, title="Brook fair"), source(2, other, **titles)
    return with_conflicts(answer(question, cited or one.splitlines()[-1], *sources), question)


def test_another_value_of_the_same_name_and_subject_is_shown_with_both_lines() -> None:
    found = asked("When is the deadline of the Brook fair?", CALL, REMINDER, "Deadline: 3 May 2024")
    (conflict,) = found.conflicts
    assert (conflict.kind, conflict.said) == ("value", "Deadline: 3 May 2024 [1], 10 May 2024 [2]")
    assert [side.quote for side in conflict.sides] == ["- Deadline: 3 May 2024", "Deadline: 10 May 2024"]
    assert found.confidence == "medium"
    assert_cited(found)


def test_a_value_is_shown_where_the_answer_begins_with_it_in_other_words_than_asked() -> None:
    assert asked("Until when can one apply?", CALL, REMINDER, "Deadline: 3 May 2024").conflicts
    assert not asked("What is the Brook fair?", f"It is a fair.\n{CALL}", REMINDER, "It is a fair.").conflicts


PLANS = "| Plan | Price | Seats |\n|---|---|---|\n| Pro | {} | 5 |\n| Free | 0 EUR | {} |"


def test_cells_of_one_row_and_column_disagree_and_other_cells_do_not() -> None:
    one, other = PLANS.format("40 EUR", 1), PLANS.format("45 EUR", 2)
    found = asked("What is the price of the Pro plan?", one, other, "Pro: 40 EUR, 5 seats")
    assert [conflict.said for conflict in found.conflicts] == ["Pro, Price: 40 EUR [1], 45 EUR [2]"]
    assert_cited(found)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Budget: 45,000 EUR", "Budget: EUR 38,000"),
        ("Lead: Anna Berg", "Lead: Tom Hill"),
        ("Opens: 2024-05-03", "Opens: 10 May 2024"),
        ("**Licence:** [MIT](https://mit.example)", "Licence: Apache-2.0"),
        ("| k | v |\n|---|---|\n| Fee | 40 EUR |", "Fee: 45 EUR"),
    ],
)
def test_values_that_cannot_both_hold_disagree_either_way(one: str, other: str) -> None:
    name = one.splitlines()[-1].strip("*| ").split()[0].strip(":*")
    for pair in ((one, other), (other, one)):
        assert asked(f"What is the {name} of the Brook fair?", *pair).conflicts, pair


@pytest.mark.parametrize(
    ("why", "one", "other", "facts"),
    [
        ("the same, otherwise written", "Opens: 2024-05-03", "Opens: 3 May 2024", {}),
        ("the same with thousands", "Budget: 45,000 EUR", "Budget: 45000 EUR", {}),
        ("a longer value", "Lead: Anna Berg", "Lead: Anna Berg (Oslo)", {}),
        ("less precise", "Opens: May 2024", "Opens: 3 May 2024", {}),
        ("other units", "Length: 1.2 km", "Length: 1200 m", {}),
        ("a list", "Sponsors: Acme", "Sponsors: Beta", {}),
        ("another label", "Opens: 3 May", "Closes: 10 May", {}),
        ("another subject", "Opens: 3 May", "Opens: 10 May", {"title": "Harbour fair"}),
        ("another section", "Opens: 3 May", "Opens: 10 May", {"section_path": ("Children's day",)}),
        ("no subject", "Opens: 3 May", "Opens: 10 May", {"title": "Notes"}),
        ("another year", "Opens: 3 May", "Opens: 10 May", {"documentName": "brook-fair-2023.md"}),
        ("of the document itself", "Updated: 3 May", "Updated: 10 May", {}),
        ("one document", "Opens: 3 May", "Opens: 10 May", {"document_id": "d1", "start": 500, "end": 513}),
        ("a text", "Place: the old harbour", f"Place: {'very far ' * 10}", {}),
    ],
)  # fmt: skip
def test_values_that_may_both_hold_do_not_disagree(why: str, one: str, other: str, facts: dict[str, Any]) -> None:
    named = one.partition(":")[0]
    sources = (
        source(1, one, title="Brook fair", documentName="brook-fair-2024.md"),
        source(2, other, **{"title": "Brook fair", "documentName": "brook-fair.md"} | facts),
    )
    assert with_conflicts(answer(f"What is the {named}?", one, *sources), f"What is the {named}?").conflicts == (), why


def test_named_values_are_those_of_labels_and_of_cells_below_named_columns() -> None:
    text = f"Intro\n{CALL}\n\n| a | b |\n\n{PLANS.format(40, 1)}\n| Odd |"
    found = list(named_values(structure_of(text)))
    assert [(*each.names, each.value) for each in found] == [
        ("Deadline", "3 May 2024"), ("Place", "Oslo"), ("Pro", "Price", "40"), ("Pro", "Seats", "5"),
        ("Free", "Price", "0 EUR"), ("Free", "Seats", "1"),
    ]  # fmt: skip
    assert all(each.value in text[each.start : each.end].splitlines()[0] for each in found)
