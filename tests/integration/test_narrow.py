from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from config.prompts import GREETING
from config.settings import AnalysisSettings, Settings
from pipelines.errors import RetrievalError
from pipelines.facts import JobFacts
from pipelines.ingestion.run import ingest
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.store.node_writer import replace_documents
from pipelines.types import Filters
from tests.stored import make_document, replacement_of

# (name, text, facts of the document)
SHELF: list[tuple[str, str, dict[str, Any]]] = [
    ("resume.md", "# Work\n\nShe built boats at Gridmoor.\n\n# Notes\n\nAnn’s ÉCOLE was\nby the   sea.",
     {"category": "resume", "year": 2021, "author": "Ann Lee", "title": "Ann Lee"}),
    ("blog/2019-05-14-late-data.md", "# Late data is data\n\nShe wrote boats of late_data 100% of the time.",
     {"category": "blog", "year": 2019, "title": "Late data is data",
      "published_at": datetime(2019, 5, 14, 9, tzinfo=UTC)}),
    ("github/latemark/README.md", "# latemark\n\nIt marks boats that are late.",
     {"category": "github", "year": 2023, "title": "latemark", "modified_at": datetime(2023, 7, 1, 23, tzinfo=UTC)}),
    ("private.md", "# Secret keel\n\nBoats that nobody may see.",
     {"category": "blog", "year": 2023, "title": "Secret keel", "visibility": "private", "collection": "own"}),
]  # fmt: skip


def put(engine: QueryEngine, name: str, body: str, company: str = "", **facts: Any) -> None:
    new = replacement_of(make_document(name, body, **facts), engine.settings)
    if company:
        new.nodes[0].metadata["facts"] = JobFacts(company=company).model_dump()
    replace_documents(engine.store, [new])


@pytest.fixture
def shelf(make_settings: Callable[..., Settings]) -> Callable[..., QueryEngine]:
    def fill(**analysis: Any) -> QueryEngine:
        engine = build_query_engine(make_settings(analysis=AnalysisSettings(**analysis)))
        for name, body, facts in SHELF:
            put(engine, name, body, **facts)
        return engine

    return fill


def found(engine: QueryEngine, question: str, audience: Any = "owner", **filters: Any) -> set[str]:
    report = engine.search(question, filters=Filters(**filters), audience=audience, top_n=20)
    return {result.document_name for result in report.results}


ALL = {name for name, _, _ in SHELF}
RESUME, BLOG, README, PRIVATE = (name for name, _, _ in SHELF)


FILTERS: list[tuple[dict[str, Any], set[str]]] = [
    ({"author": ("ANN lee",)}, {RESUME}),
    ({"since": "2019-05-15"}, {README}),
    ({"since": "2019-05-14", "until": "2019-05-14"}, {BLOG}),
    ({"until": "2023-07-01"}, {BLOG, README}),
    ({"kind": ("text",)}, ALL),
    ({"document": ("README.md",)}, {README}),
    ({"document": ("Ann Lee", f"id-{BLOG}")}, {RESUME, BLOG}),
    ({"category": ("blog", "github")}, {BLOG, README, PRIVATE}),
    ({"year": (2021, 2019)}, {RESUME, BLOG}),
    ({"collection": ("own",)}, {PRIVATE}),
    ({"phrase": ("  ",)}, ALL),
    ({"phrase": ("Late\n data",), "category": ("blog",)}, {BLOG}),
    ({"category": ("blog",), "year": (2023,)}, {PRIVATE}),
]
QUOTED: list[tuple[str, set[str]]] = [
    ('boats "LATE DATA is data"', {BLOG}),
    ('boats "at gridmoor"', {RESUME}),
    ('"ann\'s école was by the sea" boats', {RESUME}),
    ('boats "late_data 100%"', {BLOG}),
    ('boats "l%e" or "l_te"', set()),
    ('boats "that" and "are late"', {README}),
    ('boats "Gridmoor" and "latemark"', set()),
    ('boats "\'; DROP TABLE documents; --"', set()),
]


@pytest.mark.parametrize("mode", ["dense", "sparse"])
def test_each_filter_narrows_each_leg_as_it_says(shelf, mode: Any) -> None:
    engine = shelf()
    for filters, names in FILTERS:
        report = engine.search("boats", filters=Filters(**filters), mode=mode, top_n=20)
        assert ({result.document_name for result in report.results}, filters) == (names, filters)


# Phrases


def test_words_in_quotation_marks_must_stand_in_a_passage_or_its_header(shelf) -> None:
    engine = shelf()
    for question, names in QUOTED:
        assert (found(engine, question), question) == (names, question)
        for mode in ("dense", "sparse"):
            results = engine.search(question, mode=mode, top_n=20).results
            assert {result.document_name for result in results} <= names


def test_phrases_are_not_relaxed_and_can_be_switched_off(shelf) -> None:
    assert found(shelf(phrases=False), 'boats "at gridmoor"') == ALL
    engine = shelf(categories="prefilter")
    assert found(engine, 'Which job had boats "marks boats"?') == {README}


def test_a_phrase_that_cannot_be_stored_is_refused(shelf) -> None:
    with pytest.raises(RetrievalError, match="phrase filter"):
        shelf().search("boats", filters=Filters(phrase=("a\x00",)))


# Guesses


@pytest.mark.parametrize("use", ["prefilter", "postfilter"])
def test_a_guess_narrows_and_is_given_up_when_too_few_are_left_and_the_ledger_says_so(shelf, use: str) -> None:
    question = "Which boats did she blog about in 2023?"
    narrow = shelf(categories=use, years=use, min_candidates=1)
    assert found(narrow, question) == {PRIVATE}
    relaxed = narrow.with_changes({"analysis.min_candidates": 2})
    report = relaxed.search(question, top_n=20)
    assert {result.document_name for result in report.results} == {BLOG, PRIVATE}
    assert any("without the guessed years" in note for note in report.trace.notes)
    wide = narrow.with_changes({"analysis.min_candidates": 4}).search(question, top_n=20)
    assert {result.document_name for result in wide.results} == ALL
    assert any("without the guessed categories" in note for note in wide.trace.notes)


def test_the_ledger_tells_only_of_the_search_whose_filters_were_kept(shelf) -> None:
    engine = shelf(categories="off", years="prefilter", min_candidates=2).with_changes({"retrieval.leg_factor": 1})
    relaxed = engine.search("Late data is data of boats in 2023", top_n=1).trace
    assert any("without the guessed years" in note for note in relaxed.notes)
    assert {candidate.document_id for candidate in relaxed.candidates} == {f"id-{BLOG}"}
    assert engine.store.matching_ids(Filters(year=(2023,)), "owner")


def test_a_caller_s_filter_is_never_relaxed(shelf) -> None:
    engine = shelf(categories="prefilter", years="prefilter")
    assert found(engine, "Which boats did she blog about in 2023?", category=("github",)) == {README}


# Names


def test_a_document_that_a_question_names_is_recognised(shelf) -> None:
    engine = shelf()

    def named(question: str, audience: Any = "owner") -> tuple[str, ...]:
        return engine.search(question, audience=audience).intent.documents

    assert named("What does latemark do?") == (f"id-{README}",)
    assert named("Is it in late-data?") == named("boats in Late data is data") == (f"id-{BLOG}",)
    assert named("Who is Ann Lee?") == (f"id-{RESUME}",)
    assert named("What is on the resume, and in the notes?") == ()
    assert named("a secret keel") == (f"id-{PRIVATE}",)
    assert named("a secret keel", "visitor") == ()
    assert shelf(names=False).search("latemark").intent.documents == ()


def test_companies_that_nodes_state_and_documents_that_come_later_are_known(shelf) -> None:
    engine = shelf()
    assert engine.search("Did Zebrafrog build it?").intent.documents == ()
    put(engine, "cv.md", "# Jobs\n\nShe painted boats.", company="Zebrafrog", category="resume", title="CV")
    engine.indexes.refresh("owner")
    intent = engine.search("Did zebrafrog build it?").intent
    assert (intent.names, intent.documents) == (("Zebrafrog",), ("id-cv.md",))


# Greetings


def test_a_greeting_is_greeted_and_nothing_is_searched(tmp_path: Path, settings: Settings) -> None:
    (tmp_path / "hello.md").write_text("# Hello\n\nHello there, says the boat.\n")
    ingest(settings, [str(tmp_path)])
    engine = build_query_engine(settings)
    answer = engine.ask("Hello there!")
    assert (answer.answered, answer.answer, answer.nearest, answer.searched) == (False, GREETING, (), ())
    assert engine.search("Hello there!").trace.candidates == ()
