from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import select, text

from app.inspection import rank_changes
from config.settings import Settings
from pipelines.errors import RetrievalError, ServiceUnavailable
from pipelines.ingestion.plan import Overrides
from pipelines.ingestion.run import ingest
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.store.database import migrate
from pipelines.store.query_log import latest_queries, read_query
from pipelines.store.schema import queries

QUESTION = "Who built the harbour crane?"
POSTS = {
    "crane.md": "# Harbour crane\n\nMarit built the harbour crane controller in 2014.\n",
    "search.md": "# Ship search\n\nThe search engine over manuals runs on Kubernetes.\n",
    "diary.md": "# Diary\n\nThe harbour crane was loud all night.\n",
}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    for name, body in POSTS.items():
        (tmp_path / name).write_text(body)
    return tmp_path


@pytest.fixture
def engine(corpus: Path, settings: Settings) -> QueryEngine:
    ingest(settings, [str(corpus)])
    return build_query_engine(settings)


# What changed meanwhile


def test_the_next_search_sees_what_was_ingested(engine: QueryEngine, settings: Settings, corpus: Path) -> None:
    before = engine.search(QUESTION)
    (corpus / "news.md").write_text("# News\n\nOla built the second harbour crane.\n")
    ingest(settings, [str(corpus)])
    after = engine.search(QUESTION)
    assert after.trace.corpus_version >= before.trace.corpus_version
    assert "news.md" in {result.document_name for result in after.results}


def test_what_was_hidden_from_visitors_meanwhile_is_not_shown(
    engine: QueryEngine, settings: Settings, corpus: Path
) -> None:
    assert "crane.md" in {r.document_name for r in engine.search(QUESTION, audience="visitor").results}
    ingest(settings, [str(corpus / "crane.md")], overrides=Overrides(visibility="private"), verify=True)
    seen = engine.search(QUESTION, audience="visitor").results
    assert "crane.md" not in {result.document_name for result in seen}


def test_a_visitor_learns_no_name_of_what_was_hidden_meanwhile(
    engine: QueryEngine, settings: Settings, corpus: Path
) -> None:
    named = "What does crane.md say of the controllre?"
    open_to_all = engine.search(named, audience="visitor")
    assert open_to_all.intent.documents
    assert any("controller" in note for note in open_to_all.trace.notes)
    ingest(settings, [str(corpus / "crane.md")], overrides=Overrides(visibility="private"), verify=True)
    hidden = engine.search(named, audience="visitor")
    assert (hidden.intent.documents, hidden.intent.names) == ((), ())
    assert not any("controller" in note for note in hidden.trace.notes)


def test_a_search_after_a_failed_leg_is_whole(engine: QueryEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: str) -> list[float]:
        raise ServiceUnavailable("The embedding server is gone.")

    with monkeypatch.context() as patch:
        patch.setattr(type(engine.embed_model), "_get_query_embedding", lambda self, query: refuse(query))
        degraded = engine.search(QUESTION)
    assert any("dense search failed" in note for note in degraded.trace.notes)
    whole = engine.search(QUESTION)
    assert whole.trace.notes == ()


# The query log


def test_a_query_is_logged_with_its_systems_its_stages_and_its_evidence(engine: QueryEngine) -> None:
    report, answer = engine.search(QUESTION), engine.ask("What runs on Kubernetes?")
    asked, searched = latest_queries(engine.database.engine, 2)
    assert (asked["id"], asked["kind"], asked["answered"]) == (answer.trace_id, "ask", answer.answered)
    assert (searched["id"], searched["kind"], searched["answered"]) == (report.trace.id, "search", None)
    assert searched["band"] == report.evidence.band
    row = read_query(engine.database.engine, report.trace.id)
    assert row["tags"] == list(report.trace.tags)
    assert row["route"] in report.trace.tags
    assert row["timings_ms"] == dict(report.timings_ms)
    assert (row["settings"], row["corpus_version"]) == (engine.fingerprint, report.trace.corpus_version)
    assert len(row["trace"]["candidates"]) == len(report.trace.candidates)


def test_the_beginning_of_an_id_is_enough_when_only_one_begins_so(engine: QueryEngine) -> None:
    report = engine.search(QUESTION)
    with engine.database.engine.begin() as connection:
        connection.execute(queries.update().values(id="abc1000000000000"))
    engine.search(QUESTION)
    with engine.database.engine.begin() as connection:
        connection.execute(queries.update().where(queries.c.id != "abc1000000000000").values(id="abc2000000000000"))
    assert read_query(engine.database.engine, "abc1")["question"] == report.query
    with pytest.raises(RetrievalError, match="abc1000000000000, abc2000000000000"):
        read_query(engine.database.engine, "abc")


@pytest.mark.parametrize("named", ["feed", "%", "_", "a\x00", "x" * 5000, "'; DROP TABLE queries"])
def test_an_id_that_no_query_has_is_named_with_the_way_to_the_list(engine: QueryEngine, named: str) -> None:
    with pytest.raises(RetrievalError) as caught:
        read_query(engine.database.engine, named)
    assert "footnote trace" in caught.value.hint


def test_queries_of_the_first_tables_are_still_read_after_the_migration(engine: QueryEngine) -> None:
    answer = engine.ask(QUESTION)
    database = engine.database.engine
    migrate(database, "0001")
    migrate(database)
    row = read_query(database, answer.trace_id)
    assert (row["answered"], row["route"]) == (answer.answered, "base")
    assert row["timings_ms"] == row["trace"]["timings_ms"]
    assert row["tags"] == row["trace"]["tags"]
    assert datetime.fromisoformat(row["asked_at"]).tzinfo is not None


# What if


def test_a_what_if_is_not_logged(engine: QueryEngine) -> None:
    engine.with_changes({"retrieval.mode": "sparse"}).search(QUESTION, record=False)
    with engine.database.engine.connect() as connection:
        assert connection.execute(select(queries.c.id)).all() == []
        assert connection.execute(text("SELECT count(*) FROM queries")).scalar() == 0


def test_moves_say_where_each_passage_went_and_why_it_is_missing(engine: QueryEngine) -> None:
    three, one = engine.search(QUESTION, top_n=3), engine.search(QUESTION, top_n=1)
    gone = rank_changes(three, one)
    assert [(move.kind, move.before, move.after) for move in gone] == [
        ("gone", rank, None) for rank in range(2, len(three.results) + 1)
    ]
    assert all(move.why.startswith("cut: ") or move.why == "not found" for move in gone)
    assert [(move.kind, move.after) for move in rank_changes(one, three)] == [("new", move.before) for move in gone]
    assert rank_changes(three, three) == []
