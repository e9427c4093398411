"""The kind of question that a visitor asks, in words that no rule knows; and what a career says to each kind."""

import pytest

from pipelines.facts import EducationFacts, LanguageFacts
from pipelines.models.embedding import MiniLMEmbedding, piece_vectors
from pipelines.query.careers.answers import CareerOf, answer_of_kind
from pipelines.query.careers.people import group_people
from pipelines.query.question.kind import Kind, grams, kind_model, question_vectors
from tests.unit.query.careers import TODAY, fact, job


def kind(question: str) -> Kind:
    (vector,) = question_vectors(piece_vectors(MiniLMEmbedding(), [question]))
    return kind_model().kind(question, vector)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("where is O. Lindqvist employed at the moment", "current_job"),
        ("whats ur very first job then", "first_job"),
        ("every firm Ms Adeyemi was ever on the payroll of", "employers"),
        ("langs the candidate can speak?", "spoken_languages"),
        ("hey, who am I talking to here?", "self"),
        ("conference appearances", "talks"),
        ("has the man picked up any medals", "awards"),
    ],
)
def test_a_question_in_words_of_its_own_has_its_kind(question: str, name: str) -> None:
    assert (kind(question).name, kind(question).is_sure) == (name, True)


@pytest.mark.parametrize(
    "question",
    [
        "Which languages does the koma compiler emit?",
        "Why did the queue fill up that night?",
        "how do I flash the board",
    ],
)
def test_a_question_about_a_document_has_no_kind(question: str) -> None:
    assert not kind(question).is_sure


def test_words_pairs_and_the_first_word_are_read_once() -> None:
    assert grams("Who's who?") == ("whos", "who", "whos who", "^whos")
    assert grams("?!") == ()


def test_only_a_word_that_leads_to_a_kind_explains_it() -> None:
    model = kind_model()
    assert model.leads_to("companies", "employers")
    assert not model.leads_to("salary", "current_job")
    assert not model.leads_to("xyzzy", "current_job")


@pytest.mark.parametrize(
    ("kind", "question", "position"),
    [
        ("education", "postdoc where", "Postdoctoral Researcher"),
        ("end_date", "until when was she a game designer in kyoto", "Game Designer"),
        ("end_date", "until when was she a game designer in oslo", ""),
    ],
)
def test_a_job_is_named_by_the_beginning_of_a_title_or_by_title_and_place(
    kind: str, question: str, position: str
) -> None:
    facts = [
        job("Leith College", "2011", "2012", position="Postdoctoral Researcher"),
        job("Tsuki", "2013", "2016", position="Game Designer", location="Kyoto"),
        job("Nusskern", "2017", "2018", position="Game Designer", location="Oslo branch"),
    ]
    (person,) = group_people([facts[0], facts[1]] if "oslo" in question else facts, TODAY)
    found = answer_of_kind(kind, CareerOf(person, tuple(question.split())))
    assert [position in item.quotes for item in found.items] == [True] if found else not position


@pytest.mark.parametrize(
    ("kind", "question", "listed"),
    [
        ("education", "did she study in oslo", ["BSc"]),
        ("education", "did she study in leith", []),
        ("education", "does she have a phd", []),
        ("education", "does she have a bachelors degree", ["BSc"]),
        ("education", "did she study painting in oslo", []),
        ("spoken_languages", "does she speak dutch fluently", ["Dutch"]),
        ("spoken_languages", "does she speak german fluently", []),
    ],
)
def test_a_yes_no_question_lists_items_with_all_its_content_words(kind: str, question: str, listed: list[str]) -> None:
    study = EducationFacts(institution="Ness College", degree="BSc", area="Hydrology", location="Oslo")
    other = EducationFacts(institution="Porto University", degree="MSc", area="Tides")
    facts = [
        fact(study, "BSc in Hydrology, Ness College, Oslo"),
        fact(other, "MSc in Tides, Porto University"),
        fact(LanguageFacts(language="Dutch", level="fluent"), "Dutch (fluent)"),
    ]
    (person,) = group_people(facts, TODAY)
    found = answer_of_kind(kind, CareerOf(person, tuple(question.split())))
    assert [item.text.replace(",", " ").split()[0] for item in found.items] == listed if found else not listed


def test_the_team_that_somebody_leads_is_told_with_the_job() -> None:
    (person,) = group_people([job("Tsuki", "2013", None, did="Lead the ranking team since 2015")], TODAY)
    found = answer_of_kind("current_job", CareerOf(person, ("which", "team", "does", "she", "run", "today")))
    assert found
    assert [item.text.split(" since")[0].split(" at ")[0] for item in found.items] == [
        "Lead the ranking team",
        "Engineer",
    ]
    assert answer_of_kind("current_job", CareerOf(person, ("which", "desk", "does", "she", "run"))) is None
