from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, text

from config.settings import Settings
from pipelines.ingestion.run import ingest
from pipelines.query.engine import build_query_engine
from pipelines.store import audit as store_audit
from pipelines.store.audit import audit
from pipelines.store.database import open_database

TABLE = "nodes_hashed_hashed_256_v1"
CRANE = "---\nauthor: Ann\n---\n# Crane\n\nIt lifts twelve tonnes.\n"
RESUME = "# Ann Lee\n\n## Experience\n\nAcme | Engineer | Berlin | 2019 - 2021\n\n- Built pumps of many kinds.\n"
PUMPS = (
    "# Pumps\n\nThe pumps of the old harbour were built in nineteen hundred and two by the Lee brothers of Bergen.\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, body in {"crane.md": CRANE, "resume.md": RESUME, "pumps.md": PUMPS}.items():
        (tmp_path / name).write_text(body)
    return tmp_path


@pytest.fixture
def engine(settings: Settings, folder: Path) -> Engine:
    ingest(settings, [str(folder)])
    query = build_query_engine(settings)
    query.ask("How many tonnes does the crane lift?")
    return query.database.engine


def change(engine: Engine, *statements: str) -> None:
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))


def wrong(engine: Engine) -> list[tuple[str, str]]:
    return [(each["kind"], each["document"]) for each in audit(engine)["violations"]]


def test_what_ingestion_and_answers_wrote_is_consistent_and_counted(engine: Engine) -> None:
    report = audit(engine)
    assert report["violations"] == []
    counted = {name: report[name] for name in ("documents", "citations", "unverifiable")}
    assert counted == {"documents": 3, "citations": 1, "unverifiable": 0}
    assert (report["nodes"] >= 3, report["facts"] >= 2, report["snippets"] >= 1) == (True, True, True)


@pytest.mark.parametrize(
    ("change_to", "kind", "said"),
    [
        ("text = text || '!'", "span", "is not 0:"),
        ("""metadata_ = metadata_ || '{"end": 999}'""", "span", "is not 0:999"),
        ("metadata_ = metadata_ - 'start'", "span", "is not None:"),
        ("""metadata_ = metadata_ || '{"line_end": 5}'""", "place", "says line_end 5, and it is 6"),
        ("""metadata_ = metadata_ || '{"page": 2}'""", "place", "says page 2, and it is None"),
        ("""metadata_ = metadata_ || '{"visibility": "private"}'""", "visibility", "is private, and its document is"),
    ],
)
def test_a_node_that_is_not_its_span_place_or_visibility_is_named(
    engine: Engine, change_to: str, kind: str, said: str
) -> None:
    change(engine, f"UPDATE data_{TABLE} SET {change_to} WHERE text LIKE '%lifts%'")
    ((found),) = audit(engine)["violations"]
    assert (found["kind"], found["document"]) == (kind, "crane.md")
    assert said in found["said"]


def test_fields_that_an_older_parser_did_not_write_are_not_wrong(engine: Engine) -> None:
    change(engine, f"UPDATE data_{TABLE} SET metadata_ = metadata_ - 'line_start' - 'line_end' - 'page'")
    assert wrong(engine) == []


def test_lines_count_from_the_first_line_of_the_text(engine: Engine) -> None:
    change(engine, "UPDATE documents SET first_line = first_line + 1 WHERE name = 'crane.md'")
    assert set(wrong(engine)) == {("place", "crane.md")}


def test_a_fact_outside_the_text_is_named(engine: Engine) -> None:
    change(engine, "UPDATE facts SET span_end = 100000 WHERE kind = 'job'")
    assert wrong(engine) == [("fact", "resume.md")]


def test_what_is_left_of_nodes_and_documents_that_are_gone_is_named(engine: Engine) -> None:
    change(engine, f"DELETE FROM data_{TABLE} WHERE text LIKE '%brothers%'")
    assert wrong(engine) == [("family", "pumps.md"), ("segment", "pumps.md")]
    change(engine, "DELETE FROM documents WHERE name = 'crane.md'")
    assert "orphan" in {kind for kind, _ in wrong(engine)}


def test_a_node_that_is_stored_twice_is_named(engine: Engine) -> None:
    change(
        engine,
        f"DROP TABLE {TABLE}_windows",
        f"DROP INDEX data_{TABLE}_id",
        f"INSERT INTO data_{TABLE} (node_id, text, metadata_, embedding) "
        f"SELECT node_id, text, metadata_, embedding FROM data_{TABLE} WHERE text LIKE '%lifts%'",
    )
    assert [kind for kind, _ in wrong(engine)] == ["duplicate"]


@pytest.mark.parametrize(
    ("path", "kind"), [("{sentences,0,evidence,0,quote}", "citation"), ("{sources,0,snippet}", "snippet")]
)
def test_words_that_an_answer_did_not_find_in_the_text_are_named(engine: Engine, path: str, kind: str) -> None:
    change(engine, f"UPDATE queries SET answer = jsonb_set(answer, '{path}', '\"It lifts nothing.\"')")
    assert wrong(engine) == [(kind, "crane.md")]


def test_answers_are_compared_with_the_version_that_they_cited(
    engine: Engine, settings: Settings, folder: Path
) -> None:
    (folder / "crane.md").write_text("# Crane\n\nIt was sold for scrap.\n")
    ingest(settings, [str(folder)])
    report = audit(engine)
    assert (report["violations"], report["unverifiable"], report["citations"]) == ([], 0, 1)
    (folder / "crane.md").unlink()
    ingest(settings, [str(folder)], allow_removals=True)
    assert audit(engine)["unverifiable"] == 0
    change(engine, "DELETE FROM document_versions")
    report = audit(engine)
    assert report["violations"] == []
    assert report["unverifiable"] >= 2  # the citation, and the snippet that it stands in


def test_a_candidate_that_holds_an_older_text_is_named(engine: Engine) -> None:
    change(
        engine,
        f"CREATE TABLE data_candidate (LIKE data_{TABLE} INCLUDING ALL)",
        f"INSERT INTO data_candidate SELECT * FROM data_{TABLE}",
        "INSERT INTO embedding_models (node_table, provider, model, dimension) VALUES ('candidate', 'o', 'm', 256)",
        "INSERT INTO document_indexes SELECT document_id, 'candidate', content_sha, recipe, parser, nodes, covered, "
        "characters FROM document_indexes",
    )
    one = audit(engine)
    assert one["violations"] == []
    change(
        engine,
        "UPDATE data_candidate SET text = 'It lifted ten.' WHERE text LIKE '%lifts%'",
        "UPDATE document_indexes SET content_sha = 'before' FROM documents AS d "
        "WHERE d.id = document_id AND name = 'crane.md' AND node_table = 'candidate'",
    )
    assert wrong(engine) == [("span", "crane.md"), ("stale", "crane.md")]


def test_a_run_during_the_audit_makes_nothing_look_wrong(
    engine: Engine, settings: Settings, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_audit, "_AT_ONCE", 1)  # so that the run falls between two documents
    told: list[tuple[str, int, int]] = []

    def meanwhile(*done: Any) -> None:
        if not told:
            for name in ("crane.md", "resume.md", "pumps.md"):
                (folder / name).write_text(f"# {name}\n\nAll of it was written anew, and at another place.\n")
            ingest(settings, [str(folder)])
        told.append(done)

    assert audit(engine, meanwhile)["violations"] == []
    assert told[-1][1] == told[-1][2]
    assert audit(open_database(settings).engine)["violations"] == []
