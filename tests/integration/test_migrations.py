import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, text

from config.settings import Settings
from pipelines.answers import Answer
from pipelines.errors import ConfigError, ServiceUnavailable, StoreError
from pipelines.ingestion.loaders import loader_version
from pipelines.ingestion.rollback import plan_rollback, roll_back
from pipelines.ingestion.run import build_ingestion, ingest
from pipelines.models.identity import identity
from pipelines.query.answer import read_answer
from pipelines.query.engine import build_query_engine
from pipelines.store import database as schema
from pipelines.store import schema as tables
from pipelines.store.audit import audit
from pipelines.store.database import (
    HEAD,
    REVISIONS,
    alembic_config,
    database_url,
    losses,
    make_engine,
    make_structures,
    migrate,
    open_database,
)
from pipelines.store.documents import load_document, structures
from pipelines.store.health import examine
from pipelines.store.query_log import Feedback, jsonable, latest_queries, read_query, save_feedback
from pipelines.store.runs import list_runs, read_run
from pipelines.store.status import coverage
from pipelines.structure import Structure, read_structure, stored_structure
from tests.conftest import MakeSettings
from tests.integration.releases import KEPT, TABLE, contents, fill, rows, shape
from tests.shell import Shell

OLDER = REVISIONS[:-1]
RELEASES = REVISIONS[:-3]  # each with what its last release had stored; none ended at 0007 or 0008
UNSTRUCTURED = "0005"  # the last release that stored no structures
DOCUMENTS = "SELECT id, name, text, content_sha, file_sha, blocks::text, pages::text FROM documents ORDER BY id"
NODES = f"SELECT node_id, text, metadata_::text FROM data_{TABLE} ORDER BY node_id"
FILES = {"crane.md", "crane-copy.md", "garden.md", "lock.pdf", "resume.md", "tram.md"}


def but_the_last(values: Sequence[Any]) -> list[Any]:
    """The parameters of a test of which all but the last run only in the trials."""
    rows = (each if isinstance(each, tuple) else (each,) for each in values[:-1])
    return [*(pytest.param(*row, marks=pytest.mark.trial) for row in rows), values[-1]]


@pytest.fixture
def engine(settings: Settings) -> Iterator[Engine]:
    database = open_database(settings)
    yield database.engine
    database.engine.dispose()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "docs"


def found(settings: Settings, question: str, mode: str = "hybrid") -> str:
    """The texts that a search finds, best first."""
    query = build_query_engine(settings)
    try:
        sought = query.with_changes({"retrieval.mode": mode}).search(question, record=False)
        return " ".join(result.text for result in sought.results)
    finally:
        query.database.engine.dispose()


# The tables


def test_migrations_make_the_tables_of_the_code(engine: Engine, make_settings: Callable[..., Settings]) -> None:
    with engine.connect() as connection:
        options = {"compare_type": True, "compare_server_default": True}
        assert compare_metadata(MigrationContext.configure(connection, opts=options), tables.metadata) == []
    other = open_database(make_settings()).engine
    migrate(other, "base")
    tables.metadata.create_all(other)
    assert shape(engine) == shape(other)  # also what Alembic does not compare: how indexes are made


def test_the_revisions_in_the_code_are_those_of_the_migrations() -> None:
    scripts = ScriptDirectory.from_config(alembic_config())
    assert [script.revision for script in scripts.walk_revisions()] == [*reversed(REVISIONS)]
    assert scripts.get_current_head() == HEAD


@pytest.mark.parametrize(("older", "newer"), but_the_last([*pairwise(("base", *REVISIONS))]))
def test_each_migration_of_an_empty_database_goes_up_and_down(engine: Engine, older: str, newer: str) -> None:
    migrate(engine, "base")
    migrate(engine, older)
    before = shape(engine)
    migrate(engine, newer)
    assert shape(engine) != before
    migrate(engine, older)
    assert shape(engine) == before


@pytest.mark.parametrize("revision", but_the_last(["base", *OLDER]))
def test_a_database_that_came_down_has_the_tables_of_one_that_never_was_up(
    engine: Engine, make_settings: Callable[..., Settings], revision: str
) -> None:
    fresh = open_database(make_settings()).engine
    migrate(fresh, "base")
    migrate(fresh, revision)
    newest = shape(engine)
    migrate(engine, revision)
    assert shape(engine) == shape(fresh)
    migrate(engine)
    assert shape(engine) == newest


# Databases of older releases


@pytest.mark.parametrize("revision", but_the_last(RELEASES))
def test_what_an_older_release_stored_can_be_searched_asked_and_read(
    settings: Settings, engine: Engine, folder: Path, revision: str
) -> None:
    fill(engine, revision, folder)
    held, nodes = rows(engine, DOCUMENTS), rows(engine, NODES)
    open_database(settings).engine.dispose()
    assert (rows(engine, DOCUMENTS), rows(engine, NODES)) == (held, nodes)
    for question, words in {
        "How much does the crane lift?": "tonnes at a reach of thirty metres",
        "Kubernetes platform": "forty teams",
        "How wide is the lock?": "eleven metres",
    }.items():
        assert words in found(settings, question)
    query = build_query_engine(settings)
    *_, answer = query.answer("Where do tomatoes grow?")
    query.database.engine.dispose()
    assert isinstance(answer, Answer)
    assert "behind the shed" in answer.answer
    assert [run["state"] for run in list_runs(engine, 5)] == ["done", "done"]
    assert {item["outcome"] for item in read_run(engine, 2)["items"]} == {"added", "updated", "removed", "failed"}
    past = latest_queries(engine, 10)
    assert {row["kind"] for row in past} == {"ask", "search"}
    assert all(read_query(engine, row["id"])["trace"]["candidates"] for row in past)
    report = audit(engine)
    assert (report["documents"], report["violations"], report["unverifiable"]) == (len(FILES), [], 0)
    assert report["citations"] >= 3  # two of the older release, one of it of a text that was replaced, and ours


def test_the_last_release_s_answers_and_rankings_are_given_again(
    settings: Settings, engine: Engine, folder: Path
) -> None:
    fill(engine, RELEASES[-1], folder)
    past = [read_query(engine, row["id"]) for row in latest_queries(engine, 10)]
    assert len(past) == 6
    query = build_query_engine(settings)
    for row in past[:-1]:  # the first was asked of a text that was replaced
        if row["kind"] == "ask":
            answer = jsonable(query.ask(row["question"], record=False))
            then = jsonable(read_answer(row["answer"]))
            same = ("answer", "answered", "sentences", "sources", "nearest", "conflicts")
            if then["answered"]:  # today's release answers more, and says otherwise why it does not
                assert {name: answer[name] for name in same} == {name: then[name] for name in same}
        else:
            found = query.search(row["question"], record=False).trace.candidates
            was = [(each["node_id"], each["fate"], each["final"]) for each in row["trace"]["candidates"]]
            assert [(each.node_id, each.fate, pytest.approx(each.final, abs=1e-6)) for each in found] == was
    query.database.engine.dispose()


@pytest.mark.parametrize("revision", but_the_last(RELEASES))
def test_what_an_older_release_stored_is_covered_mended_and_removed(
    settings: Settings, engine: Engine, folder: Path, revision: str
) -> None:
    fill(engine, revision, folder)
    database = open_database(settings)
    totals = coverage(database)["totals"]
    assert (totals["documents"], totals["indexed"], totals["failed"]) == (7, 6, 1)
    wrong = {finding.name for finding in examine(settings, identity(settings)) if not finding.ok}
    assert wrong <= {"originals", "disk"}  # which the fixture does not hold
    wrong = {finding.name for finding in examine(settings, identity(settings), fix=True) if not finding.ok}
    assert wrong <= {"disk"}
    ingestion = build_ingestion(settings)
    known = {document.name: document.id for document in ingestion.known()}
    assert ingestion.remove([known["tram.md"]]).count("removed") == 1
    assert "rings" not in found(settings, "the tram rings")
    database.engine.dispose()


@pytest.mark.parametrize("revision", but_the_last(RELEASES))
def test_files_that_an_older_release_stored_are_unchanged_where_today_s_rules_are_those_of_then(
    settings: Settings, engine: Engine, folder: Path, revision: str
) -> None:
    fill(engine, revision, folder)
    ingestion = build_ingestion(settings)
    steps = ingestion.plan([str(folder)]).steps
    assert {step.action for step in steps} <= {"unchanged", "update", "add"}
    assert {step.item.name for step in steps if step.action == "add"} == {"broken.pdf"}  # failed, so tried again
    with engine.begin() as connection:
        for document in ingestion.known():
            recipe = ingestion.options.recipe(document.parser, loader_version(document))
            today = {"recipe": recipe, "id": document.id}
            connection.execute(text("UPDATE document_indexes SET recipe = :recipe WHERE document_id = :id"), today)
    report = ingest(settings, [str(folder)])
    assert {item.document: item.outcome for item in report.items} == dict.fromkeys(FILES, "unchanged") | {
        "broken.pdf": "failed"
    }
    assert report.embedded == 0


@pytest.mark.parametrize("revision", but_the_last(RELEASES))
def test_the_next_run_makes_what_an_older_release_did_not_know_of(
    settings: Settings, engine: Engine, folder: Path, revision: str
) -> None:
    fill(engine, revision, folder)
    with engine.begin() as connection:
        connection.execute(text("UPDATE document_indexes SET recipe = 'markdown@0() loaders@0 header@0 searchable@0'"))
    report = ingest(settings, [str(folder)])
    assert {item.outcome for item in report.items if item.document in FILES} == {"updated"}
    assert ("job", "Contoso") in rows(engine, "SELECT kind, organisation FROM facts")
    copies = "SELECT family FROM families GROUP BY family HAVING count(*) > 1"
    assert rows(engine, copies)
    assert rows(engine, "SELECT name FROM documents WHERE jsonb_array_length(boxes) > 0") == [("lock.pdf",)]
    assert audit(engine)["violations"] == []


@pytest.mark.parametrize("revision", but_the_last(RELEASES))
def test_a_run_of_an_older_release_is_undone_as_far_as_versions_are_kept(
    settings: Settings, engine: Engine, folder: Path, revision: str
) -> None:
    fill(engine, revision, folder)
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM document_versions WHERE row ->> 'name' = 'garden.md'"))
    ingestion = build_ingestion(settings)
    report = roll_back(ingestion, plan_rollback(ingestion.database, 2))
    assert {item.document: item.outcome for item in report.items} == {
        "ferry.txt": "added", "tram.md": "removed", "garden.md": "failed", "crane.md": "updated",
    }  # fmt: skip
    (why,) = [item.message for item in report.items if item.outcome == "failed"]
    assert why == "The version of garden.md before run 2 is no longer stored."
    assert "It carries bicycles for free." in found(settings, "When does the ferry leave?")
    ((lifts,),) = rows(engine, "SELECT text FROM documents WHERE name = 'crane.md'")
    assert "twelve tonnes" in lifts
    assert audit(engine)["violations"] == []


LACKING = "SELECT name FROM documents WHERE structure_version = 0 OR structure IS NULL ORDER BY name"


@pytest.mark.parametrize("revision", but_the_last(RELEASES))
def test_the_first_start_makes_the_structures_of_documents_that_an_older_release_stored(
    settings: Settings, engine: Engine, folder: Path, revision: str
) -> None:
    fill(engine, revision, folder)
    database = open_database(settings)
    assert rows(engine, LACKING) == []
    with database.engine.connect() as connection:
        for (document_id,) in rows(engine, "SELECT id FROM documents"):
            document = load_document(connection, document_id, "owner")
            assert document is not None
            own = read_structure(document.structure, document.text)
            assert " ".join(own.words(*span) for span in own.sentences)
            assert document.structure == stored_structure(document)
    assert make_structures(database.engine) == 0
    database.engine.dispose()


def test_making_structures_goes_on_where_it_was_stopped(
    settings: Settings, engine: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(engine, UNSTRUCTURED, folder)
    migrate(engine)
    whole, made = schema.structure_of, []

    def stopped(*given: Any) -> Structure:
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append(given)
        return whole(*given)

    monkeypatch.setattr(schema, "structure_of", stopped)
    with pytest.raises(KeyboardInterrupt):
        make_structures(engine)
    (total,) = rows(engine, "SELECT count(*) FROM documents")[0]
    assert len(rows(engine, LACKING)) == total - 2
    monkeypatch.setattr(schema, "structure_of", whole)
    assert make_structures(engine) == total - 2
    assert rows(engine, LACKING) == []


def test_a_document_without_a_structure_keeps_no_other_from_having_one(
    engine: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(engine, UNSTRUCTURED, folder)
    migrate(engine)
    whole = schema.structure_of

    def failing(text: str, *given: Any) -> Structure:
        if "Kubernetes" in text:
            raise RecursionError("too deep")
        return whole(text, *given)

    monkeypatch.setattr(schema, "structure_of", failing)
    make_structures(engine)
    left = rows(engine, LACKING)
    assert 0 < len(left) < len(rows(engine, "SELECT id FROM documents"))


def test_the_version_that_an_undone_run_brings_back_has_its_structure(
    settings: Settings, engine: Engine, folder: Path
) -> None:
    shutil.copytree(KEPT, folder)
    ingest(settings, [str(folder)])
    (folder / "garden.md").write_text("# Garden\n\n- [ ] ~~roses~~ tulips\n")
    report = ingest(settings, [str(folder)])
    (now,) = rows(engine, "SELECT structure FROM documents WHERE name = 'garden.md'")
    roll_back(build_ingestion(settings), plan_rollback(open_database(settings), report.run_id))
    (back,) = rows(engine, "SELECT structure FROM documents WHERE name = 'garden.md'")
    assert now != back
    assert rows(engine, LACKING) == []


def test_a_document_without_a_structure_is_read_as_one_with_its_structure(
    settings: Settings, engine: Engine, folder: Path
) -> None:
    shutil.copytree(KEPT, folder)
    ingest(settings, [str(folder)])
    ids = [row[0] for row in rows(engine, "SELECT id FROM documents")]
    with engine.connect() as connection:
        stored = structures(connection, ids, "owner")
    with engine.begin() as connection:
        connection.execute(text("UPDATE documents SET structure = NULL, structure_version = 0"))
        assert structures(connection, ids, "owner") == stored
    assert len(stored) == len(ids) > 1


# Down, for an older release, and up again


@pytest.mark.parametrize("revision", but_the_last(OLDER))
def test_documents_and_nodes_outlive_the_way_down_and_up(
    settings: Settings, engine: Engine, folder: Path, revision: str
) -> None:
    shutil.copytree(KEPT, folder)
    ingest(settings, [str(folder)])
    before, held, nodes = contents(engine), rows(engine, DOCUMENTS), rows(engine, NODES)
    migrate(engine, revision)
    assert (rows(engine, DOCUMENTS), rows(engine, NODES)) == (held, nodes)
    migrate(engine)
    assert (rows(engine, DOCUMENTS), rows(engine, NODES)) == (held, nodes)
    kept = ("embedding_cache", "lexical_segments", f"{TABLE}_windows", "corpus_version", "embedding_models")
    after = contents(engine)
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
    assert audit(engine)["violations"] == []
    assert "forty teams" in found(settings, "Kubernetes platform")
    report = ingest(settings, [str(folder)])
    lost = "unchanged" if revision >= "0003" else "updated"  # what 0003 brought is made again
    assert {item.outcome for item in report.items if item.document in FILES} == {lost}
    assert report.embedded == 0
    assert len(contents(engine)["facts"]) == len(before["facts"])
    assert len(contents(engine)["families"]) == len(before["families"])


def test_nothing_of_footnote_is_left_below_the_first_migration(engine: Engine, folder: Path) -> None:
    fill(engine, "0003", folder)
    migrate(engine, "base")
    assert shape(engine) == []


def test_what_each_step_down_loses_is_said() -> None:
    assert losses("0001", HEAD) == losses(HEAD, HEAD) == losses(None, "0001") == []
    said = losses(HEAD, "0001")
    assert len(said) == len(REVISIONS) - 1
    assert all(each.startswith("Loses ") for each in said)
    assert "facts" in losses("0003", "0002")[0]


# The sparse index


def test_a_snapshot_from_before_a_migration_is_not_taken_for_the_index(
    settings: Settings, engine: Engine, folder: Path
) -> None:
    fill(engine, "0003", folder)
    assert "rings" in found(settings, "rings", "sparse")
    kept = {path.name: path for path in (settings.home / "lexical").glob("*/*/owner-*")}
    assert kept
    migrate(engine, "0003")
    with engine.begin() as connection:  # as the older release writes: no row in corpus_changes, which it does not know
        connection.execute(text("UPDATE lexical_segments SET tokens = replace(tokens, 'ring', 'hum')"))
        connection.execute(text(f"UPDATE data_{TABLE} SET text = replace(text, 'rings', 'hums')"))
        connection.execute(text("UPDATE documents SET text = replace(text, 'rings', 'hums')"))
        connection.execute(text("UPDATE corpus_version SET version = version + 1"))
    version = rows(engine, "SELECT version FROM corpus_version")[0][0]
    for name, path in kept.items():
        shape_of_it = name.rsplit("-", 2)[0]
        shutil.copytree(path, path.with_name(f"{shape_of_it}-{version}"))  # as the older release named them
        shutil.copytree(path, path.with_name(f"{shape_of_it}-{version}-1"))  # as of the same version, made before
    open_database(settings).engine.dispose()
    assert "hums" in found(settings, "hums", "sparse")
    assert found(settings, "rings", "sparse") == ""


# Several embedding models at once


def add_table(engine: Engine, name: str, *, like: str = TABLE) -> None:
    """Another node table with the same nodes, as a release of before 0004 made it."""
    with engine.begin() as connection:
        for statement in (
            f"CREATE TABLE data_{name} (LIKE data_{like} INCLUDING ALL)",
            f"INSERT INTO data_{name} SELECT * FROM data_{like}",
            f"CREATE TABLE {name}_windows (LIKE {like}_windows INCLUDING ALL)",
            f"INSERT INTO {name}_windows SELECT * FROM {like}_windows",
            f"INSERT INTO embedding_models (node_table, provider, model, dimension) VALUES ('{name}', 'o', 'm', 256)",
            "INSERT INTO document_indexes (document_id, node_table, content_sha, recipe, parser, nodes, covered, "
            f"characters) SELECT document_id, '{name}', content_sha, recipe, parser, nodes, covered, characters "
            f"FROM document_indexes WHERE node_table = '{like}'",
        ):
            connection.execute(text(statement))


@pytest.mark.parametrize(
    ("change", "serves"),
    [
        ("UPDATE document_indexes SET nodes = nodes + 1 WHERE node_table = '{older}'", "older"),
        ("UPDATE document_indexes SET nodes = 0 WHERE node_table = '{older}'", "newer"),
        ("UPDATE document_indexes SET nodes = 99, content_sha = 'of before' WHERE node_table = '{older}'", "newer"),
        ("SELECT 1", "newer"),
    ],
    ids=["more nodes", "fewer nodes", "more nodes of older texts", "as many: the newer one"],
)
def test_the_model_with_the_most_nodes_of_current_texts_serves_and_the_others_are_emptied(
    engine: Engine, folder: Path, change: str, serves: str
) -> None:
    fill(engine, "0003", folder)
    names = {"older": TABLE, "newer": "nodes_other_v1"}
    add_table(engine, names["newer"])
    with engine.begin() as connection:
        connection.execute(text(change.format(**names)))
    migrate(engine)
    other = names["newer" if serves == "older" else "older"]
    assert rows(engine, "SELECT node_table FROM embedding_models WHERE active") == [(names[serves],)]
    assert rows(engine, "SELECT DISTINCT node_table FROM document_indexes") == [(names[serves],)]
    counted = {name: rows(engine, f"SELECT count(*) FROM data_{name}")[0][0] for name in names.values()}
    assert counted == {names[serves]: 8, other: 0}
    if serves == "older":
        assert audit(engine)["violations"] == []


# What goes wrong


def test_a_migration_that_fails_half_way_changes_nothing(settings: Settings, engine: Engine, folder: Path) -> None:
    fill(engine, "0001", folder)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE snapshots (of_another_program integer)"))  # what 0004 makes last
    before, tables_before = contents(engine), shape(engine)
    with pytest.raises(StoreError, match=r'"snapshots" already exists.*Nothing was changed') as caught:
        open_database(settings)
    assert "its own database" in caught.value.hint
    assert (contents(engine), shape(engine)) == (before, tables_before)
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE snapshots"))
    open_database(settings).engine.dispose()
    assert rows(engine, "SELECT version_num FROM alembic_version") == [(HEAD,)]


def test_a_migration_waits_for_others_only_so_long(
    settings: Settings, engine: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(engine, "0003", folder)
    before = shape(engine)
    monkeypatch.setattr(schema, "_PATIENCE", "200ms")
    with engine.connect() as reader:
        reader.execute(text("SELECT count(*) FROM ingest_runs"))
        with pytest.raises(ServiceUnavailable, match="The database is in use"):
            open_database(settings)
    assert shape(engine) == before
    open_database(settings).engine.dispose()


def run(settings: Settings, *words: str) -> subprocess.Popen[str]:
    """`footnote` as a process of its own."""
    environment = dict(os.environ) | {
        "FOOTNOTE_HOME": str(settings.home),
        "DATABASE_URL": settings.database_url.get_secret_value(),
        "FOOTNOTE_EMBEDDING__PROVIDER": "hashed",
    }
    command = [sys.executable, "-m", "footnote", *words]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_of_two_processes_that_migrate_at_once_one_does_it_and_both_go_on(
    settings: Settings, engine: Engine, folder: Path
) -> None:
    fill(engine, "0001", folder)
    held = rows(engine, DOCUMENTS)
    both = [run(settings, "db", "migrate", "--json") for _ in range(2)]
    said = [json.loads(process.communicate(timeout=60)[0]) for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sorted(each["before"] for each in said) in (["0001", HEAD], ["0001", "0001"])
    assert rows(engine, "SELECT version_num FROM alembic_version") == [(HEAD,)]
    assert rows(engine, DOCUMENTS) == held


# Databases that are not for this program


VERBS: tuple[tuple[str, ...], ...] = (
    ("search", "crane"), ("ask", "crane"), ("ingest", "."), ("ingest", ".", "--plan"), ("status",), ("doctor",),
    ("doctor", "--fix"), ("audit",), ("runs",), ("rollback", "1", "--yes"), ("reindex",), ("remove", "crane.md"),
    ("facts",), ("trace",), ("models", "list"), ("models", "promote", "hashed"), ("db", "migrate"),
    ("db", "migrate", "--to", "0003", "--yes"), ("db", "reset", "--yes"), ("feedback",), ("stats",),
    ("feedback", "add", "0a", "--up"), ("feedback", "export", "out"),
)  # fmt: skip


@pytest.fixture(scope="module")
def newer(stock: MakeSettings, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings on a filled database that a newer release has migrated, to copy."""
    database = open_database(settings := stock())
    fill(database.engine, "0003", tmp_path_factory.mktemp("newer") / "docs")
    migrate(database.engine)
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0099'"))
    database.engine.dispose()
    return settings


@pytest.fixture
def shell(settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    return Shell(settings, monkeypatch, tmp_path)


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_a_newer_database_is_refused_by_every_verb_and_left_alone(
    newer: Settings,
    make_settings: MakeSettings,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    words: tuple[str, ...],
) -> None:
    settings = make_settings(newer)
    engine = make_engine(database_url(settings), embedded=False)
    before = contents(engine)
    code, said = Shell(settings, monkeypatch, tmp_path)(*words)
    assert code == 3
    assert f"migration 0099, but this version of Footnote ends at {HEAD}" in said
    assert f"footnote db migrate --to {HEAD}" in said
    assert contents(engine) == before
    engine.dispose()


def test_the_chat_does_not_start_on_a_newer_database(
    engine: Engine, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0099'"))
    monkeypatch.setattr("app.cli.chat.launch", lambda *_, **__: pytest.fail("the chat starts"))
    code, refusal = shell("chat", "--headless", "--port", "0")
    assert (code, "migration 0099" in refusal) == (3, True)


@pytest.mark.parametrize("stands", ["a1b2c3d4e5f6", "", "0000", "00003", "'; DROP TABLE documents; --"])
def test_a_database_that_another_program_migrated_is_refused_and_left_alone(
    settings: Settings, engine: Engine, stands: str
) -> None:
    migrate(engine, "base")
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO alembic_version VALUES (:stands)"), {"stands": stands})
        connection.execute(text("DROP EXTENSION vector"))
    with pytest.raises(ConfigError, match="another program made it") as caught:
        open_database(settings)
    assert "DATABASE_URL" in caught.value.hint
    assert rows(engine, "SELECT extname FROM pg_extension WHERE extname = 'vector'") == []


def test_tables_of_another_program_are_not_taken_over(settings: Settings, engine: Engine) -> None:
    migrate(engine, "base")
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE documents (of_another_program integer)"))
    before = shape(engine)
    with pytest.raises(StoreError, match='"documents" already exists'):
        open_database(settings)
    assert shape(engine) == before


# The command line


def test_the_way_down_is_asked_about_and_names_what_is_lost_and_how_to_keep_a_copy(
    engine: Engine, folder: Path, shell: Shell
) -> None:
    fill(engine, "0003", folder)
    migrate(engine)
    code, said = shell("db", "migrate", "--to", "0002")
    assert code == 2
    for lost in ("career facts", "snapshots", "pg_dump", "--yes", f"from migration {HEAD} down to 0002"):
        assert lost in shell.err + said
    assert rows(engine, "SELECT version_num FROM alembic_version") == [(HEAD,)]
    code, said = shell("db", "migrate", "--to", "0002", "--yes")
    assert (code, "upgrades it to" in said) == (0, True)
    assert rows(engine, "SELECT version_num FROM alembic_version") == [("0002",)]
    code, said = shell("db", "migrate", "--json")
    assert json.loads(said) == {"migration": HEAD, "before": "0002"}
    assert shell("status", "--json")[0] == 4  # broken.pdf


@pytest.mark.parametrize(("to", "code"), [("base", 2), ("0099", 3), ("head", 3), ("-1", 3)])
def test_a_revision_that_there_is_not_is_refused(engine: Engine, shell: Shell, to: str, code: int) -> None:
    assert shell("db", "migrate", "--to", to, "--yes")[0] == code
    assert rows(engine, "SELECT version_num FROM alembic_version") == [(HEAD,)]


@pytest.mark.parametrize(("to", "refusal"), [("0099", "no migration '0099'"), ("base", "would drop every table")])
def test_a_revision_is_checked_before_anything_is_connected(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, to: str, refusal: str
) -> None:
    nowhere = "postgresql://ann@127.0.0.1:1/x"
    shell = Shell(settings, monkeypatch, tmp_path, DATABASE_URL=nowhere)
    assert refusal in shell("db", "migrate", "--to", to, "--yes", "--json")[1]


def test_on_the_way_below_0005_feedback_is_lost_and_nothing_else(engine: Engine, folder: Path) -> None:
    fill(engine, "0004", folder)
    migrate(engine)
    before = contents(engine)
    assert before["feedback"] == []
    assert rows(engine, "SELECT DISTINCT cost FROM queries") == [(None,)]  # of old answers it is not known
    (asked,) = rows(engine, "SELECT id FROM queries WHERE answer IS NOT NULL ORDER BY asked_at LIMIT 1")
    save_feedback(engine, asked[0], Feedback("opened", source=1), session="s", audience="owner", limit=9)
    save_feedback(engine, asked[0], Feedback("thumb", 1), session="s", audience="owner", limit=9)
    assert "thumbs" in losses("0005", "0004")[0]
    migrate(engine, "0004")
    migrate(engine)
    assert contents(engine) == before
