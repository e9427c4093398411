import pytest

from pipelines.query.question.overview import OverviewQuestion, overview_of
from pipelines.query.question.person import person_meant
from pipelines.query.question.related import related_terms, with_related
from pipelines.query.question.understand import analyse

PEOPLE, PROJECTS = ("Ines Varga", "I. Varga"), ("tidebook", "harbour-map")


def asked(question: str, people: tuple[str, ...] = PEOPLE) -> OverviewQuestion | None:
    return overview_of(analyse(question), people, PROJECTS)


@pytest.mark.parametrize(
    ("question", "kind", "topic"),
    [
        ("Tell me about yourself.", "self", ""),
        ("Who is Ines Varga?", "self", ""),
        ("Give me a short bio of Ines", "self", ""),
        ("Summarise Ines's background in two sentences", "self", ""),
        ("Introduce Ines briefly", "self", ""),
        ("Which projects use maps?", "projects", "maps"),
        ("Where does she live?", "place", ""),
        ("Which city is Ines based in?", "place", ""),
        ("How can I reach you by email?", "contact", "reach email"),
        ("What projects have you built?", "projects", ""),
        ("Which maps projects did Ines create?", "projects", "maps"),
        ("Show me your open source work", "projects", ""),
        ("What has been built with Kafka?", "built", "kafka"),
        ("Anything you've written in Rust?", "built", "rust"),
        ("What's your experience with Postgres?", "experience", "postgres"),
        ("Have you ever used Rust?", "experience", "rust"),
        ("Which talks did you give in 2021?", "talks", ""),
        ("Which workshops did you give?", "talks", "workshops"),
        ("What has Ms Varga done against river floods?", "built", "river floods"),
        ("What is tidebook?", "project", ""),
        ("Can you tell me in one sentence what tidebook is?", "project", ""),
        ("tidebook purpose", "project", ""),
        ("harbour-map - what is it?", "project", ""),
        ("What does the harbour-map project do?", "project", ""),
        ("Compare tidebook and harbour-map", "compare", ""),
        ("tidebook vs harbour-map: what is each of them for?", "compare", ""),
        ("Is tidebook open source? Under which license?", "licence", ""),
        ("What's the latest release of tidebook?", "version", ""),
        ("Is harbour-map still actively maintained?", "status", ""),
        ("Which Rust version does tidebook need?", "requirement", "rust"),
    ],
)
def test_an_overview_is_known_by_its_words_and_what_is_left_is_its_topic(question: str, kind: str, topic: str) -> None:
    found = asked(question)
    assert found is not None
    assert (found.kind, found.topic) == (kind, topic)


@pytest.mark.parametrize(
    "question",
    [
        "How many projects have you built?",
        "What have you written about Rust?",
        "Who supervised Ines's doctorate?",
        "When did Ines build tidebook?",
        "Would she give a talk at our conference?",
        "How long have you used Rust?",
        "What did you do in Lisbon?",
        "What is the default port of tidebook?",
        "Why did you leave?",
        "What is a kiln?",
        "Which licence did the tiles of harbour-map have?",
        "Under which licence are your posts?",
        "Why was harbour-map archived?",
        "What have you done for me?",
        "Hello",
    ],
)
def test_a_question_with_matter_of_its_own_is_no_overview(question: str) -> None:
    assert asked(question) is None


def test_the_years_and_the_latest_narrow_talks_and_a_yes_no_question_is_told() -> None:
    found = asked("Which talks did you give in 2021?")
    assert found is not None
    assert found.years == (2021,)
    latest = asked("What was your latest talk?")
    assert latest is not None
    assert latest.latest
    used = asked("Has Ines used Rust?")
    assert used is not None
    assert used.is_yes_no


def test_the_person_meant_is_the_one_named_or_the_only_one() -> None:
    assert person_meant("Where do you live?", ["Ines Varga", "Ines M. Varga"]) == "Ines Varga"
    assert person_meant("Where do you live?", ["Ines Varga", "Jon Frost"]) == ""
    assert person_meant("Where does Jon live?", ["Ines Varga", "Jon Frost"]) == "Jon Frost"


def test_related_words_count_less_than_the_word_itself_and_never_replace_its_weight() -> None:
    assert "award" in related_terms("prize")
    assert related_terms("crane") == frozenset()
    weights = with_related({"prize": 1.0, "award": 2.0}, lambda _: 0)
    assert (weights["prize"], weights["award"]) == (1.0, 2.0)
    assert 0 < with_related({"prize": 1.0}, lambda _: 0)["award"] < 1
    assert with_related({"prize": 1.0}, lambda _: 7) == {"prize": 1.0}
