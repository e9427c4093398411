"""Overviews composed from typed facts: a person, projects, talks, and what was done with something."""

import pytest

from pipelines.query.answerers.overview import OVERVIEW
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.store.audit import audit
from pipelines.store.facts import read_facts
from pipelines.types import Filters
from tests.conftest import Ingested, MakeSettings, ReadOnly

FILES = {
    "resume.md": (
        "# Ines Varga\n\nHydrologist who writes software\n\nPorto, Portugal | ines@varga.example\n\n"
        "## Summary\n\nI measure rivers and publish what I measure. I like small tools.\n\n"
        "## Experience\n\n### River Office | Data Engineer | Porto | March 2019 - Present\n\n"
        "- Moved the gauge archive to Postgres\n- Trained two interns\n\n"
        "### Tide Lab | Analyst | Lisbon | May 2015 - February 2019\n\n- Wrote tide reports\n\n"
        "## Education\n\n### MSc in Hydrology, University of Porto, 2013 - 2015\n"
    ),
    "tidebook/README.md": (
        "# tidebook\n\nA small Rust library that predicts tides from harmonic constants.\n\n## Install\n\n"
        "```\ncargo add tidebook\n```\n\nNeeds Rust 1.74.\n\n"
        "## Accuracy\n\nA neural network corrects the residuals.\n\n"
        "## Changelog\n\n- 0.3.1 (2024-05-06) leap years\n- 0.3.0 (2023-01-02) first\n\nMIT © Ines Varga\n"
    ),
    "harbour-map/README.md": (
        "# harbour-map\n\n> No longer maintained. This is kept as it is.\n\n"
        "Draws the depth of a harbour in the browser.\n\n"
        "## Use\n\nOpen it.\n\n## Licence\n\nGPL-3.0, as its tiles are.\n"
    ),
    "buoy/README.md": "# buoy\n\nCounts waves in a tin.\n\n| MCU | ESP32-C3 |\n|---|---|\n| Battery | one cell |\n",
    "posts/2023-08-20-signs.md": (
        "# Signs\n\n2023-08-20, localisation, signs\n\nWe had the signs translated by a translator.\n"
    ),
    "posts/2021-04-02-floods.md": "# Floods\n\nI keep the flood levels in Postgres, too.\n",
}


@pytest.fixture
def engine(read_only: ReadOnly) -> QueryEngine:
    return read_only(FILES)


def test_a_person_is_told_in_their_own_words_then_by_work_studies_and_projects(engine: QueryEngine) -> None:
    answer = engine.ask("Tell me about yourself.")
    assert (answer.model, answer.confidence) == (OVERVIEW, "high")
    assert answer.answer.startswith("I measure rivers and publish what I measure. [1]")
    for said in ("Data Engineer at River Office", "Analyst at Tide Lab", "tidebook: A small Rust library"):
        assert said in answer.answer
    assert all(sentence.verdict == "supported" and sentence.citations for sentence in answer.sentences)
    assert audit(engine.database.engine)["violations"] == []


@pytest.mark.parametrize(
    ("question", "said", "unsaid"),
    [
        ("Where does Ines live?", "Porto, Portugal", "tidebook"),
        ("What is your email address?", "ines@varga.example", "Porto, Portugal"),
        ("What projects have you built?", "harbour-map: Draws the depth", "Tide Lab"),
        ("What AI projects have you built?", "tidebook: A small Rust library", "harbour-map"),
        ("What has been built with Rust?", "tidebook: A small Rust library", "harbour-map"),
        ("What's your experience with Postgres?", "Moved the gauge archive to Postgres", "Trained two interns"),
        ("What's your experience with Postgres?", "I keep the flood levels in Postgres, too.", "tidebook"),
        ("Have you used Postgres?", "Yes: ", "tidebook"),
        ("What has been made with microcontrollers?", "buoy: Counts waves in a tin.", "tidebook"),
        ("Do you have experience with localisation?", "We had the signs translated by a translator.", "2023"),
        ("Do you have experience with localisation?", "We had the signs", "Yes"),
        ("What does tidebook do?", "predicts tides from harmonic constants", "depth of a harbour"),
        ("Compare tidebook and harbour-map", "Draws the depth of a harbour", "River Office"),
        ("How do tidebook and harbour-map differ?", "[2] No longer maintained.", "This is kept"),
        ("Under what licence is tidebook?", "tidebook: MIT © Ines Varga", "GPL"),
        ("licence of harbour-map", "harbour-map: GPL-3.0, as its tiles are.", "MIT"),
        ("What's the newest version of tidebook?", "tidebook: 0.3.1 (2024-05-06) leap years", "0.3.0"),
        ("Is harbour-map still maintained?", "harbour-map: No longer maintained.", "kept"),
        ("Which Rust version does tidebook need?", "tidebook: Needs Rust 1.74.", "GPL"),
    ],
)
def test_what_is_asked_for_is_listed_and_nothing_else(
    engine: QueryEngine, question: str, said: str, unsaid: str
) -> None:
    answer = engine.ask(question)
    assert answer.answered
    assert said in answer.answer
    assert unsaid not in answer.answer


def test_the_talks_of_a_table_are_checked_field_by_field_against_their_own_rows(read_only: ReadOnly) -> None:
    rows = (
        "date,title,event,city\n2024-03-07,Drawing tides,Map Night,Porto\n2023-09-14,Reading gauges,River Days,Leith\n"
    )
    files = {"resume.md": FILES["resume.md"], "talks.csv": rows}
    answer = read_only(files).ask("List her talks in 2024")
    assert answer.answer == "Drawing tides (Map Night, Porto, 2024-03-07) [1]"
    assert ([each.verdict for each in answer.sentences], answer.confidence) == (["supported"], "high")


def test_a_certificate_of_a_firm_is_no_work_there(read_only: ReadOnly) -> None:
    own = FILES["resume.md"] + "\n## Certifications\n\n- Acme Professional Plumber (2019)\n"
    engine = read_only({"resume.md": own})
    answer = engine.ask("Has she ever worked at Acme?")
    assert answer.confidence == "low"


def test_what_stands_below_a_heading_that_denies_it_is_no_experience(read_only: ReadOnly) -> None:
    post = "# Gauges\n\nA gauge is read twice a day.\n\n## Not planned\n\nZigbee radios, a web server.\n"
    files = {"resume.md": FILES["resume.md"], "posts/2022-01-02-gauges.md": post}
    answer = read_only(files).ask("Do you have experience with Zigbee?")
    assert not answer.answered or "**Not planned**" in answer.answer
    assert answer.confidence != "high"


def test_what_no_document_names_has_no_overview(engine: QueryEngine) -> None:
    for question in ("Have you used Kubernetes?", "Which talks did you give?", "What is your phone number?"):
        assert engine.ask(question).model != OVERVIEW


def test_an_overview_keeps_within_the_filters(engine: QueryEngine) -> None:
    only = Filters(category=("github",))
    assert "River Office" not in engine.ask("What's your experience with Rust?", filters=only).answer
    assert engine.ask("Where does Ines live?", filters=only).model != OVERVIEW


def test_each_answerer_before_the_one_that_answered_says_why_it_did_not(engine: QueryEngine) -> None:
    request = engine._request("How accurate is tidebook?", top_n=engine.passages)
    _, trace = engine.finished(request)
    assert [name for name, _ in trace.declined] == [
        "corpus",
        "people",
        "careers",
        "overview",
        "kinds",
        "counts",
        "model",
    ]
    assert all(why for _, why in trace.declined)
    _, computed = engine.finished(engine._request("Where does Ines live?", top_n=engine.passages))
    assert [name for name, _ in computed.declined] == ["corpus", "people", "careers"]


def test_facts_that_change_are_read_again(ingested: Ingested, make_settings: MakeSettings) -> None:
    engine = build_query_engine(make_settings(ingested(FILES)[1]))
    assert "Porto" in engine.ask("Where does Ines live?").answer
    stated = read_facts(engine.store, Filters(), "owner")
    for document in {fact.document_id for fact in stated if fact.record.type == "person"}:
        engine.store.delete(document)
    assert "Porto" not in engine.ask("Where does Ines live?").answer


def test_what_somebody_may_be_hired_for_is_found_on_pages_that_are_no_resume(read_only: ReadOnly) -> None:
    told = "I draw maps of small islands for people who sail there, and I have done so since the flood of 2012."
    page = f"# Maps\n\n{told}\n\n## Work with me\n\nTwo chart reviews a year. No logos.\n"
    faq = "# Questions\n\n## Can I hire you?\n\nOnly in winter.\n\n## Favourite fish?\n\nCod.\n"
    files = {"resume.md": FILES["resume.md"], "index.md": page, "faq.md": faq}
    answer = read_only(files).ask("Can we hire Ms Varga?")
    assert [sentence.text for sentence in answer.sentences] == [
        "Only in winter.", "Two chart reviews a year.", "No logos."
    ]  # fmt: skip
