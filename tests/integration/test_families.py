"""Near-copies: their families in the database, and what a search makes of them."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, select

from config.settings import FactorSettings, Settings
from pipelines.query.cited_documents import with_identical_documents
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.query.trace import Ledger
from pipelines.store.near_duplicates import families_of
from pipelines.store.node_writer import remove_documents, replace_documents
from pipelines.store.schema import families
from tests.stored import make_document, replacement_of
from tests.unit.query.builders import hit

RANDOM = random.Random(5)
WORDS = [f"{first}{second}" for first in "bdfgklmnprst" for second in ("aren", "olim", "usta", "ivor", "eban", "yngo")]


def prose(seed: int, words: int = 60) -> str:
    chosen = random.Random(seed)
    return " ".join(chosen.choice(WORDS) for _ in range(words)) + "."


@pytest.fixture
def engine(settings: Settings) -> QueryEngine:
    return build_query_engine(settings)


def put(engine: QueryEngine, name: str, body: str, **facts: Any) -> None:
    made = make_document(f"{name}.md", body, id=name, title=name, **facts)
    replace_documents(engine.store, [replacement_of(made, engine.settings)])


def groups(engine: QueryEngine, kind: str = "document") -> set[frozenset[str]]:
    """The documents that have a member in each family of a kind, with their family's members counted."""
    with engine.database.engine.connect() as connection:
        rows = connection.execute(select(families).where(families.c.kind == kind)).all()
    held: dict[str, set[str]] = {}
    for row in rows:
        held.setdefault(row.family, set()).add(row.document_id)
    assert all(family == min(row.member for row in rows if row.family == family) for family in held)
    return {frozenset(documents) for documents in held.values()}


# Families


def test_versions_of_a_document_are_one_family_and_others_are_alone(engine: QueryEngine) -> None:
    put(engine, "a", prose(1))
    put(engine, "b", prose(1) + " And a few more words.")
    put(engine, "c", prose(2))
    assert groups(engine) == groups(engine, "node") == {frozenset("ab"), frozenset("c")}


def test_a_passage_that_two_documents_share_makes_a_family_of_nodes_only(engine: QueryEngine) -> None:
    put(engine, "a", f"# One\n\n{prose(1, 200)}\n\n# Note\n\n{prose(9)}")
    put(engine, "b", f"# Two\n\n{prose(2, 200)}\n\n# Note\n\n{prose(9)}")
    assert groups(engine) == {frozenset("a"), frozenset("b")}
    assert frozenset("ab") in groups(engine, "node")


def test_a_text_of_a_few_words_has_no_family(engine: QueryEngine) -> None:
    put(engine, "a", "Just a few words.")
    put(engine, "b", "Just a few words.")
    assert groups(engine) == groups(engine, "node") == set()


def test_a_bridge_joins_two_families_and_its_removal_parts_them(engine: QueryEngine) -> None:
    left, middle, right = (prose(1, 100).split()[cut : cut + 80] for cut in (0, 10, 20))
    put(engine, "z", " ".join(left))
    put(engine, "y", " ".join(right))
    assert groups(engine) == {frozenset("z"), frozenset("y")}
    put(engine, "b", " ".join(middle))
    assert groups(engine) == {frozenset("zby")}
    remove_documents(engine.store, ["b"])
    assert groups(engine) == {frozenset("z"), frozenset("y")}


def test_a_document_that_is_replaced_leaves_its_family(engine: QueryEngine) -> None:
    put(engine, "a", prose(1))
    put(engine, "b", prose(1))
    put(engine, "b", prose(3))
    assert groups(engine) == {frozenset("a"), frozenset("b")}


def test_families_do_not_depend_on_what_came_and_went_before(engine: QueryEngine, make_settings: Any) -> None:
    chosen = random.Random(11)
    now: dict[str, str] = {}
    for _ in range(40):
        name = chosen.choice("abcdefgh")
        if name in now and chosen.random() < 0.3:
            remove_documents(engine.store, [name])
            now.pop(name)
        else:
            cut = chosen.randrange(0, 40, 8)
            now[name] = " ".join(prose(chosen.choice((1, 2)), 140).split()[cut : cut + 100])
            put(engine, name, now[name])
    fresh = build_query_engine(make_settings())
    for name in sorted(now, reverse=True):
        put(fresh, name, now[name])
    assert groups(engine) == groups(fresh)
    assert groups(engine, "node") == groups(fresh, "node")
    assert any(len(group) > 1 for group in groups(engine))


def test_families_are_read_for_members_that_are_known(engine: QueryEngine) -> None:
    put(engine, "a", prose(1))
    put(engine, "b", prose(1))
    assert families_of(engine.database.engine, ["b", "gone"]) == {"b": "a"}


# Retrieval

CRANE = "The harbour crane moved forty containers an hour, and ran for six years without a single fault in any weather."
SHIP = "The ship search shows the page of the manual on which each of its answers stands, even without any network."


@pytest.fixture
def versions(engine: QueryEngine) -> QueryEngine:
    put(engine, "resume", f"# Work\n\n{CRANE} {SHIP}")
    put(engine, "resume-docx", f"# Work\n\n{CRANE} {SHIP} References on request.")
    put(engine, "other", "# Garden\n\nTomatoes need sun, and harbour cranes need oil.")
    engine.indexes.refresh("owner")
    return engine


def test_a_search_shows_one_version_and_names_the_others(versions: QueryEngine) -> None:
    report = versions.search("How many containers did the harbour crane move?")
    shown = {result.document_name: result.near_copies for result in report.results}
    first = report.results[0]
    assert first.document_name in ("resume.md", "resume-docx.md")
    assert shown[first.document_name] == tuple({"resume.md", "resume-docx.md"} - {first.document_name})
    fates = {candidate.fate for candidate in report.trace.candidates if candidate.document_id not in
             {result.document_id for result in report.results}}  # fmt: skip
    assert fates == {"cut: duplicate"}


def test_an_answer_cites_the_version_that_is_shown_and_names_the_others(versions: QueryEngine) -> None:
    answer = versions.ask("How many containers did the harbour crane move an hour?")
    cited = answer.sources[answer.sentences[0].citations[0] - 1]
    assert len(cited.also_in) == 1
    assert {cited.documentName, *cited.also_in} == {"resume.md", "resume-docx.md"}


WEATHER = (
    "{} This page of the almanac is made once a day, from what the keepers of the coast send in by radio before noon. "
    "It is kept for ten years, and nobody has yet found a mistake in it that was not a mistake of the weather itself."
)


def test_a_near_copy_that_differs_just_in_what_is_cited_is_not_named_as_saying_it(engine: QueryEngine) -> None:
    for number in range(3):
        put(engine, f"slow-{number}", WEATHER.format(f"Slow station {number} measures snow."))
    put(engine, "reprint", WEATHER.format("Slow station 2\nMEASURES snow.").replace(" before ", "\nBEFORE "))
    engine.indexes.refresh("owner")
    engine.indexes.refresh("visitor")
    question = "What does slow station 2 measure?"

    answer = engine.ask(question)
    said = answer.sentences[0]
    cited = answer.sources[said.citations[0] - 1]
    assert said.text == "Slow station 2 measures snow."
    assert sorted((cited.documentName, *cited.near_copies)) == ["reprint.md", "slow-0.md", "slow-1.md", "slow-2.md"]
    assert {cited.documentName, *cited.also_in} == {"slow-2.md", "reprint.md"}
    (found,) = [result for result in engine.search(question).results if result.document_name == cited.documentName]
    assert sorted(found.near_copies) == sorted(cited.near_copies)

    put(engine, "reprint", WEATHER.format("Slow station 2 measures snow. "), visibility="private")
    engine.indexes.refresh("visitor")
    visitors = engine.ask(question, audience="visitor")
    assert {name for source in visitors.sources for name in (*source.near_copies, *source.also_in)} <= {
        "slow-0.md", "slow-1.md", "slow-2.md"
    }  # fmt: skip
    assert [source.also_in for source in visitors.sources] == [()]


def test_a_source_that_is_not_cited_names_no_document_that_says_the_same(versions: QueryEngine) -> None:
    question = "How many containers did the harbour crane move an hour?"
    answer = versions.ask(question)
    assert [source.also_in != () for source in answer.sources] == [
        any(source.n in said.citations for said in answer.sentences) for source in answer.sources
    ]
    nearest = versions.ask("Who won the crane regatta in Oslo?").nearest
    assert [source.also_in for source in nearest] == [() for _ in nearest]


def test_an_answer_names_no_other_document_where_what_it_says_cannot_be_read(versions: QueryEngine) -> None:
    answer = versions.ask("How many containers did the harbour crane move an hour?")
    unread = replace(answer, sources=tuple(replace(source, also_in=()) for source in answer.sources))
    ledger, cited = Ledger(), answer.sources[answer.sentences[0].citations[0] - 1]
    nodes = [
        hit(cited.node_ids[0], document_id=cited.document_id),
        hit("copy", document_id={"resume": "resume-docx", "resume-docx": "resume"}[cited.document_id], end=200),
    ]
    ledger.ranked(nodes)
    ledger.copied("copy", cited.node_ids[0])
    assert with_identical_documents(unread, ledger, versions.database.engine, "owner") == answer
    nowhere = create_engine("postgresql+psycopg2://127.0.0.1:9/none")
    assert with_identical_documents(unread, ledger, nowhere, "owner") == unread


def test_a_version_that_an_audience_may_not_see_is_not_named(versions: QueryEngine) -> None:
    put(versions, "resume-docx", f"# Work\n\n{CRANE} {SHIP} References on request.", visibility="private", year=2020)
    versions.indexes.refresh("visitor")
    report = versions.search("How many containers did the harbour crane move?", audience="visitor")
    assert {result.document_name for result in report.results} == {"resume.md", "other.md"}
    assert {result.near_copies for result in report.results} == {()}


def test_every_version_is_shown_when_duplicates_are_left_in(make_settings: Any) -> None:
    engine = build_query_engine(make_settings(factors=FactorSettings(duplicates=False)))
    put(engine, "a", f"# Work\n\n{CRANE}")
    put(engine, "b", f"# Work\n\n{CRANE}")
    assert {result.document_name for result in engine.search("harbour crane").results} == {"a.md", "b.md"}


def test_near_copies_are_found_by_an_ingest(tmp_path: Path, settings: Settings) -> None:
    from pipelines.ingestion.run import ingest

    for name in ("one.md", "two.md"):
        (tmp_path / name).write_text(f"# Post\n\n{prose(4)}\n")
    ingest(settings, [str(tmp_path)])
    assert {len(group) for group in groups(build_query_engine(settings))} == {2}
