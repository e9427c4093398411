"""Embedding models side by side: another one is added, compared, promoted and dropped, while the old one serves."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from sqlalchemy import select, text

from config.settings import EmbeddingSettings, Settings
from pipelines.errors import ConfigError, RetrievalError
from pipelines.evaluation.model_compare import overlap
from pipelines.ingestion.plan import Overrides
from pipelines.ingestion.reindex import build_reembedding
from pipelines.ingestion.run import build_ingestion, ingest
from pipelines.ingestion.workers import prepare_in_process
from pipelines.models.identity import parse_model_name
from pipelines.query.engine import build_engine_aside, build_query_engine
from pipelines.store import schema as tables
from pipelines.store.database import Database, open_database
from pipelines.store.embedding_models import (
    StoredModel,
    active_model,
    count_missing,
    find_model,
    prevent_drop,
    stored_models,
)
from pipelines.store.node_table import node_table
from pipelines.store.node_writer import Replacement, index_document
from pipelines.store.promotion import drop, promote
from pipelines.store.read_snapshot import read_snapshot
from pipelines.store.vector_store import FootnoteVectorStore, snapshot_folder
from pipelines.types import EmbeddingIdentity, Filters, SearchReport
from tests.fake_openai import FakeOpenAI
from tests.shell import Shell

A = EmbeddingIdentity("hashed", "hashed", 256)  # what the tests' settings name
B = EmbeddingIdentity("hashed", "hashed-b", 128)
QUESTION = "Which crane moved containers in the harbour?"
STORY = (
    "The ferry left at dawn. Its captain was Ruth Aldous. She knew every rock.\n\nTomatoes need sun. Water them daily."
)
BODIES = {
    "crane.md": "# Crane\n\nThe crane moved 40 containers an hour in the harbour.\n",
    "garden.md": "# Garden\n\nTomatoes need sun every day, and a crane is a bird.\n",
    "harbour.md": "# Harbour\n\nThe harbour of Oslo has seven cranes for containers.\n",
    "regatta.md": "# Regatta\n\nThe regatta in the harbour was won by Ann in 2019.\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "docs"
    place.mkdir()
    for name, body in BODIES.items():
        (place / name).write_text(body)
    return place


@pytest.fixture
def filled(settings: Settings, folder: Path) -> Settings:
    """Settings that state no model, over a database in which A serves four documents."""
    assert ingest(settings, [str(folder)]).count("added") == len(BODIES)
    return settings.model_copy(update={"embedding": EmbeddingSettings()})


@pytest.fixture
def shell(filled: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    return Shell(filled, monkeypatch, tmp_path, FOOTNOTE_EMBEDDING__PROVIDER="")


def add(settings: Settings, model: EmbeddingIdentity = B, **given: Any) -> int:
    return build_reembedding(settings, model).run(**given).documents


def make_serve(settings: Settings, model: EmbeddingIdentity) -> int | None:
    database = open_database(settings)
    try:
        return promote(settings, database, model)
    finally:
        database.engine.dispose()


def held(settings: Settings, model: EmbeddingIdentity) -> StoredModel:
    database = open_database(settings)
    try:
        return find_model(stored_models(database.engine), model.label)
    finally:
        database.engine.dispose()


def similarities(report: SearchReport) -> dict[str, float]:
    return {each.node_id: round(each.similarity or 0.0, 5) for each in report.trace.candidates}


def names(report: SearchReport) -> set[str]:
    return {result.document_name for result in report.results}


# Adding


def test_a_model_is_added_from_the_stored_documents_while_the_old_one_serves(filled: Settings, folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()
    engine = build_query_engine(filled)
    before, version = engine.search(QUESTION), engine.store.version()
    done = build_reembedding(filled, B).run()
    assert (done.documents, done.nodes, done.embedded, done.failed) == (4, 4, 4, {})
    assert (engine.identity, engine.store.version()) == (A, version)
    assert similarities(engine.search(QUESTION)) == similarities(before)
    assert (held(filled, B).active, held(filled, B).complete, held(filled, B).nodes) == (False, True, 4)
    assert held(filled, B).bytes > 0
    aside = build_engine_aside(filled, engine.database, B)
    assert aside.search(QUESTION).results[0].document_name == engine.search(QUESTION).results[0].document_name


def test_what_was_added_already_is_not_made_again(filled: Settings) -> None:
    add(filled)
    again = build_reembedding(filled, B).run()
    assert (again.documents, again.embedded) == (0, 0)


def test_adding_that_was_killed_half_way_goes_on(filled: Settings) -> None:
    def die(done: int, total: int, name: str) -> None:
        if done == 2:
            os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if not child:
        build_reembedding(filled, B).run(die)
        os._exit(1)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    there = held(filled, B).documents
    assert 2 <= there <= 4
    with pytest.raises(ConfigError) if there < 4 else _nothing():
        make_serve(filled, B)
    assert add(filled) == 4 - there
    assert held(filled, B).complete
    assert held(filled, B).nodes == held(filled, A).nodes == 4


def _nothing() -> Any:
    from contextlib import nullcontext

    return nullcontext()


def test_a_document_that_changes_while_it_is_added_is_added_as_it_is_then(
    filled: Settings, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reembedding = build_reembedding(filled, B)
    changed = list[int]()

    def change_first(store: Any, new: Replacement) -> bool:
        if not changed:
            changed.append(1)
            (folder / new.document.name).write_text("# New\n\nA wholly new text about walnuts.\n")
            ingest(filled, [str(folder)])
        return index_document(store, new)

    monkeypatch.setattr("pipelines.ingestion.reindex.index_document", change_first)
    assert reembedding.run().documents == 4
    aside = build_engine_aside(filled, reembedding.ingestion.database, B)
    assert "walnuts" in aside.search("walnuts").results[0].text
    assert make_serve(filled, B)


def test_one_document_that_cannot_be_made_does_not_stop_the_others(filled: Settings) -> None:
    reembedding = build_reembedding(filled, B)
    pipeline = type(reembedding.ingestion.pipeline)
    complete = pipeline.complete_nodes

    def fail_one(self: Any, prepared: Any, stage: Any) -> Any:
        if prepared.document.name == "garden.md":
            raise ValueError("rotten")
        return complete(self, prepared, stage)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "complete_nodes", fail_one)
        done = reembedding.run()
    assert (done.documents, list(done.failed)) == (3, ["garden.md"])
    with pytest.raises(ConfigError, match="lacks 1 of 4 documents") as refused:
        make_serve(filled, B)
    assert f"footnote models add {B.label}" in refused.value.hint
    assert add(filled) == 1


# Promoting


def test_a_promoted_model_serves_whoever_goes_on_and_its_indexes_are_there(filled: Settings) -> None:
    engine, other = build_query_engine(filled), build_query_engine(filled)
    first = engine.search(QUESTION)
    add(filled)
    version = make_serve(filled, B)
    assert version is not None
    second = engine.search(QUESTION)
    assert (engine.identity, other.identity, engine.store.version()) == (B, B, version)
    assert second.trace.settings != first.trace.settings
    assert similarities(second) == similarities(build_engine_aside(filled, engine.database, B).search(QUESTION))
    assert similarities(second) != similarities(first)
    kept = {path.name.rsplit("-", 3)[0] for path in snapshot_folder(filled, engine.database, engine.store).iterdir()}
    assert {"owner-vectors", "space"} <= {name.removesuffix("-owner.npz") for name in kept}
    assert any(name.startswith("owner-h") for name in kept)
    assert other.ask(QUESTION, record=False).answered == engine.ask(QUESTION, record=False).answered
    assert make_serve(filled, B) is None


def test_a_question_under_way_ends_with_the_model_that_it_began_with(filled: Settings) -> None:
    add(filled)
    engine = build_query_engine(filled)
    expected = similarities(engine.search(QUESTION, record=False))
    fresh = build_query_engine(filled)
    embed = type(fresh.embed_model)
    asked = embed._get_query_embedding
    promoted: list[int | None] = []

    def promote_first(self: Any, query: str) -> Any:
        if not promoted:
            promoted.append(make_serve(filled, B))
        return asked(self, query)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embed, "_get_query_embedding", promote_first)
        during = fresh.search(QUESTION, record=False)
    assert promoted[0] is not None
    assert similarities(during) == expected
    assert fresh.identity == B


def test_a_question_whose_table_is_dropped_before_it_is_read_is_asked_of_the_new_one(filled: Settings) -> None:
    add(filled)
    engine, old = build_query_engine(filled), held(filled, A)
    expected = similarities(build_engine_aside(filled, engine.database, B).search(QUESTION))
    dropped: list[str] = []

    def drop_first(database: Any, table: str) -> None:
        if not dropped:
            dropped.append(table)
            make_serve(filled, B)
            drop(database, old)
        prevent_drop(database, table)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pipelines.query.active_index.prevent_drop", drop_first)
        report = engine.search(QUESTION)
    assert dropped == [old.table]
    assert (similarities(report), report.notes) == (expected, ())


def test_nothing_is_promoted_that_lacks_a_document_that_came_meanwhile(filled: Settings, folder: Path) -> None:
    add(filled)
    (folder / "new.md").write_text("# New\n\nWalnuts are new here.\n")
    (folder / "crane.md").write_text("# Crane\n\nThe crane was sold.\n")
    ingest(filled, [str(folder)])
    with pytest.raises(ConfigError, match="lacks 2 of 5 documents"):
        make_serve(filled, B)
    assert active_model(open_database(filled).engine) == A
    assert add(filled) == 2
    assert make_serve(filled, B)
    engine = build_query_engine(filled)
    assert "sold" in engine.search("crane sold").results[0].text
    (folder / "new.md").unlink()
    build_ingestion(filled).remove([held_id(engine.database, "new.md")])
    assert "new.md" not in names(engine.search("walnuts"))


def held_id(database: Database, name: str) -> str:
    with database.engine.connect() as connection:
        found = connection.execute(select(tables.documents.c.id).where(tables.documents.c.name == name))
        return str(found.scalar_one())


def test_a_model_can_be_promoted_back_and_what_changed_meanwhile_is_asked_for(filled: Settings, folder: Path) -> None:
    add(filled)
    make_serve(filled, B)
    assert make_serve(filled, A)
    assert build_query_engine(filled).identity == A
    make_serve(filled, B)
    (folder / "crane.md").write_text("# Crane\n\nThe crane was sold.\n")
    ingest(filled, [str(folder)])
    with pytest.raises(ConfigError, match=f"footnote models add {A.label}"):
        make_serve(filled, A)
    assert add(filled, A) == 1
    engine = build_query_engine(filled)
    make_serve(filled, A)
    assert "sold" in engine.search("crane sold").results[0].text


def test_families_are_those_of_the_nodes_that_serve(filled: Settings, folder: Path) -> None:
    words = " ".join(f"{STORY} Chapter {number} tells of gulls, tides and {number} lamps." for number in range(12))
    for name in ("story.txt", "copy.txt"):
        (folder / name).write_text(words)
    ingest(filled, [str(folder)], overrides=Overrides(parser="semantic"))
    before = members(filled)
    add(filled)
    assert members(filled) == before
    make_serve(filled, B)
    after, engine = members(filled), build_query_engine(filled)
    nodes = engine.store.matching_ids(Filters(), "owner")
    with engine.database.engine.connect() as connection:
        documents = set(connection.execute(select(tables.documents.c.id)).scalars())
    assert after
    assert set(after) <= nodes | documents
    again = filled.model_copy(update={"embedding": EmbeddingSettings()})
    plan = build_ingestion(again).plan([str(folder)])
    assert plan.count("unchanged") == len(plan.steps)


def members(settings: Settings) -> dict[str, bytes]:
    with open_database(settings).engine.connect() as connection:
        rows = connection.execute(select(tables.families.c.member, tables.families.c.signature))
        return {row.member: bytes(row.signature) for row in rows}


# Everything at once


class Watched(threading.Thread):
    """Does something again and again until it is told to stop; keeps what it made, and what went wrong."""

    def __init__(self, do: Callable[[], Any]) -> None:
        super().__init__(daemon=True)
        self.do = do
        self.made: list[Any] = []
        self.wrong: list[BaseException] = []
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.is_set():
            try:
                self.made.append(self.do())
            except BaseException as error:  # noqa: BLE001 - whatever it is, the test shows it
                self.wrong.append(error)

    def __enter__(self) -> "Watched":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.join()


def test_searches_go_on_through_adding_promoting_and_dropping_each_with_one_model(filled: Settings) -> None:
    database = open_database(filled)
    add(filled)
    expected = {model: similarities(build_engine_aside(filled, database, model).search(QUESTION)) for model in (A, B)}
    drop(database.engine, held(filled, B))
    engine = build_query_engine(filled)

    with (
        Watched(lambda: engine.search(QUESTION, record=False)) as first,
        Watched(lambda: build_query_engine(filled).search(QUESTION, record=False)) as second,
    ):
        for old, new in ((A, B), (B, A), (A, B)):
            add(filled, new)
            assert make_serve(filled, new)
            drop(database.engine, held(filled, old))
    assert (first.wrong, second.wrong) == ([], [])
    reports = [*first.made, *second.made]
    assert len(reports) > 10
    seen = [similarities(report) for report in reports]
    assert all(each in expected.values() for each in seen)
    assert all(expected[model] in seen for model in (A, B))
    assert all(names(report) == set(BODIES) for report in reports)
    assert all(not report.notes for report in reports)


def test_the_table_that_serves_holds_every_document_at_every_moment(filled: Settings, folder: Path) -> None:
    database, ingesting = open_database(filled), build_ingestion(filled)
    turns = iter(range(1_000_000))

    def look() -> int:
        with read_snapshot(database.engine) as now:
            assert now.connection is not None
            model = active_model(database.engine)
            assert model is not None
            return count_missing(now.connection, node_table(model.slug))

    def change() -> None:
        time.sleep(0.2)
        (folder / "crane.md").write_text(f"# Crane\n\nThe crane moved {next(turns)} containers.\n")
        try:
            ingesting.run(ingesting.plan([str(folder)]))
        except ConfigError as error:
            if "promoted meanwhile" not in error.message:
                raise
            ingesting.store = build_ingestion(filled).store
            ingesting.identity = active_model(database.engine) or ingesting.identity
            ingesting.embed_model = build_ingestion(filled).embed_model

    promoted = 0
    with Watched(look) as looking, Watched(change) as changing:
        for _ in range(60):
            wanted = B if active_model(database.engine) == A else A
            try:
                add(filled, wanted)
                promoted += make_serve(filled, wanted) is not None
            except ConfigError as error:
                if "lacks" not in error.message:
                    raise
            if promoted == 2:
                break
    assert (looking.wrong, changing.wrong) == ([], [])
    assert promoted
    assert set(looking.made) == {0}
    ingest(filled, [str(folder)])
    assert look() == 0
    last = (folder / "crane.md").read_text().split()[-2]
    assert last in build_query_engine(filled).search(f"crane moved {last} containers").results[0].text


def test_a_run_that_began_before_a_promotion_writes_nothing_after_it_and_the_next_one_does(
    filled: Settings, folder: Path
) -> None:
    add(filled)
    ingestion = build_ingestion(filled)
    (folder / "new.md").write_text("# New\n\nWalnuts are new here.\n")
    (folder / "garden.md").write_text("---\nvisibility: private\n---\n" + BODIES["garden.md"])
    plan = ingestion.plan([str(folder)])

    def promoting(tasks: Any, options: Any) -> Iterator[Any]:
        make_serve(filled, B)
        yield from prepare_in_process(tasks, options)

    with pytest.raises(ConfigError, match="promoted meanwhile"):
        replace(ingestion, executor=promoting).run(plan)
    engine = build_query_engine(filled)
    assert (engine.identity, held(filled, B).complete, held(filled, B).documents) == (B, True, 4)
    assert names(engine.search(QUESTION, top_n=10)) == set(BODIES)
    report = ingest(filled, [str(folder)])
    assert (report.count("added"), report.count("failed")) == (1, 0)
    assert engine.search("walnuts").results[0].document_name == "new.md"
    assert held(filled, B).complete


# Settings and what serves


def test_settings_that_name_another_model_are_an_error_that_names_the_command(filled: Settings, shell: Shell) -> None:
    add(filled)
    make_serve(filled, B)
    assert shell("search", QUESTION)[0] == 0
    shell.monkeypatch.setenv("FOOTNOTE_EMBEDDING__PROVIDER", "hashed")
    verbs = (
        ("search", QUESTION),
        ("ask", QUESTION),
        ("ingest", "docs"),
        ("facts",),
        ("eval", "answers", "--ingested"),
    )
    for words in verbs:
        code, said = shell(*words)
        assert (code, f"footnote models add {A.label}" in said) == (3, True), said
    assert shell("status")[0] == 0
    assert shell("audit")[0] == 0
    report = shell.json("doctor", code=3)
    found = next(each for each in report["checks"] if each["name"] == "embedding model")
    assert (found["ok"], "hashed-b" in found["said"], "models promote" in found["mend"]) == (False, True, True)
    assert all(each["ok"] for each in report["checks"] if each is not found)
    shell.monkeypatch.setenv("FOOTNOTE_EMBEDDING__MODEL", "hashed-b")
    shell.monkeypatch.setenv("FOOTNOTE_EMBEDDING__DIMENSION", "128")
    assert shell.json("search", QUESTION)["results"]
    assert shell.json("doctor")["healthy"]


def test_a_key_that_is_newly_set_changes_nothing_and_is_mentioned(filled: Settings, shell: Shell) -> None:
    shell.monkeypatch.setenv("OPENAI_API_KEY", "sk-new")
    assert shell.json("search", QUESTION)["results"]
    listed = shell.json("models", "list")
    assert [(one["label"], one["active"], one["documents"], one["of"]) for one in listed["models"]] == [
        (A.label, True, 4, 4)
    ]
    assert "text-embedding-3-small" in listed["note"]
    report = shell.json("doctor")
    assert "text-embedding-3-small" in next(c["said"] for c in report["checks"] if c["name"] == "embedding model")


def test_a_first_look_does_not_decide_which_model_is_ingested_with(settings: Settings, folder: Path) -> None:
    assert build_query_engine(settings).search(QUESTION).results == ()
    other = settings.model_copy(update={"embedding": EmbeddingSettings(provider="hashed", dimension=64)})
    ingest(other, [str(folder)])
    assert build_query_engine(other).search(QUESTION).results
    with pytest.raises(ConfigError, match=r"hashed, 64 d. serves"):
        build_query_engine(settings)


def test_a_process_that_cannot_use_the_promoted_model_says_so_instead_of_answering_from_the_old_table(
    filled: Settings,
) -> None:
    engine = build_query_engine(filled)
    assert engine.search(QUESTION).results
    with FakeOpenAI() as server:
        paid = filled.model_copy(update={"openai_api_key": SecretStr("sk-test"), "openai_api_base": server.url})
        model = parse_model_name(paid, "text-embedding-3-small@64")
        add(paid, model)
        make_serve(paid, model)
        assert build_query_engine(paid).search(QUESTION).results
    for ask in (engine.search, engine.ask):
        with pytest.raises(ConfigError, match="text-embedding-3-small needs a key"):
            ask(QUESTION)


# The commands


def test_the_life_of_a_model_in_commands(filled: Settings, shell: Shell, tmp_path: Path) -> None:
    topics = tmp_path / "topics.jsonl"
    quotes = [{"document": "crane.md", "text": "The crane moved 40 containers an hour"}]
    row = {"id": "1", "question": QUESTION, "answerable": True, "kind": "fact", "quotes": quotes, "facts": ["40"]}
    topics.write_text(json.dumps(row))

    added = shell.json("models", "add", "hashed-b@128")
    assert (added["added"], added["embedded"], added["model"]["complete"], added["price"]) == (4, 4, True, None)
    found = shell.json("models", "compare", "hashed", "hashed-b", "--topics", str(topics))
    assert (found["questions"], found["judged"]) == (1, 1)
    assert found["measures"].keys() == {A.label, B.label}
    assert found["measures"][A.label]["success@5"] == 1.0
    assert found["comparisons"]["success@5"]["p"] == 1.0
    assert 0 < found["overlap"] <= 1
    code, shown = shell("models", "compare", "hashed-b", "--topics", str(topics))
    assert code == 0
    assert f"where {B.label} finds other passages than {A.label}" in shown

    assert shell("models", "drop", "hashed")[0] == 3
    assert shell.json("models", "promote", "hashed-b")["active"] == B.label
    assert shell.json("search", QUESTION)["results"]
    assert shell("models", "drop", "hashed")[0] == 2
    assert [one["active"] for one in shell.json("models", "list")["models"]] == [True, False]
    assert shell.json("models", "drop", "hashed", "--yes")["dropped"]["nodes"] == 4
    assert [one["label"] for one in shell.json("models", "list")["models"]] == [B.label]
    assert shell.json("search", QUESTION)["results"]
    code, said = shell("models", "promote", "hashed")
    assert (code, B.label in said) == (2, True)


def test_a_short_name_means_the_multilingual_model() -> None:
    model = EmbeddingIdentity("local", "multilingual-e5-small", 384)
    stored = StoredModel("t", model, True, 1, 1, 1, 1, datetime.now(UTC))
    assert find_model([stored], "multilingual") == stored


def test_nothing_of_a_dropped_model_is_left(filled: Settings) -> None:
    add(filled)
    one = held(filled, B)
    database = open_database(filled)
    drop(database.engine, one, cached=True)
    with database.engine.connect() as connection:
        assert connection.execute(text("SELECT to_regclass(:t)"), {"t": f"data_{one.table}"}).scalar() is None
        for rows in (tables.lexical_segments, tables.document_indexes, tables.embedding_models):
            assert one.table not in connection.execute(select(rows.c.node_table)).scalars().all()
        assert B.slug not in connection.execute(select(tables.embedding_cache.c.model)).scalars().all()
    with pytest.raises(ConfigError, match="is the active model and cannot be dropped"):
        drop(database.engine, held(filled, A))


def test_a_paid_model_is_not_added_before_somebody_agreed_to_its_cost(filled: Settings, shell: Shell) -> None:
    with FakeOpenAI() as server:
        shell.monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        shell.monkeypatch.setenv("OPENAI_API_BASE", server.url)
        code, said = shell("models", "add", "text-embedding-3-small@64")
        assert (code, "4 texts of 4 documents" in said, "$0.0000" in said) == (2, True, True)
        assert server.requests == []
        assert [one["label"] for one in shell.json("models", "list")["models"]] == [A.label]
        added = shell.json("models", "add", "text-embedding-3-small@64", "--yes")
        assert (added["embedded"], added["price"]["texts"]) == (4, 4)
        assert sum(len(request.body["input"]) for request in server.requests) == 4
        again = shell.json("models", "add", "openai/text-embedding-3-small@64")
        assert (again["added"], again["price"]["texts"], again["price"]["dollars"]) == (0, 0, 0.0)


def test_without_topics_the_questions_that_were_asked_are_compared(filled: Settings, shell: Shell) -> None:
    engine = build_query_engine(filled)
    for question in (QUESTION, "Who won the regatta?", QUESTION):
        engine.search(question)
    add(filled)
    found = shell.json("models", "compare", "hashed-b")
    assert (found["questions"], found["judged"], found["measures"]) == (2, 0, {})
    assert found["different"].keys() == {QUESTION, "Who won the regatta?"}


def test_a_half_filled_table_is_compared_as_it_is_at_the_time(filled: Settings) -> None:
    database, written = open_database(filled), list[object]()

    def index_one(store: FootnoteVectorStore, new: Replacement) -> bool:
        if written:
            raise KeyboardInterrupt
        written.append(new)
        return index_document(store, new)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pipelines.ingestion.reindex.index_document", index_one)
        with pytest.raises(KeyboardInterrupt):
            add(filled)
    half = build_engine_aside(filled, database, B).search(QUESTION, top_n=10, record=False).results
    add(filled)
    whole = build_engine_aside(filled, database, B).search(QUESTION, top_n=10, record=False).results
    assert (len(half), len(whole)) == (1, 4)
    assert overlap(half, whole) == 1 / 4


def test_a_name_that_means_several_models_is_refused_with_the_choices(filled: Settings) -> None:
    for dimension in (32, 64):
        add(filled, EmbeddingIdentity("hashed", "hashed-b", dimension))
    models = stored_models(open_database(filled).engine)
    with pytest.raises(RetrievalError, match="hashed-b@32, hashed/hashed-b@64"):
        find_model(models, "hashed-b")
    assert find_model(models, "hashed-b@64").identity.dimension == 64
    assert find_model(models, node_table(A.slug)).identity == A
    with pytest.raises(RetrievalError, match="no embedding model 'nomic'"):
        find_model(models, "nomic")
