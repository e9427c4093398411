"""The index in step with the database, and one search at one state of the corpus, whatever is written meanwhile."""

import math
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, event, select, text

from config.settings import Settings
from pipelines.errors import StoreError
from pipelines.ingestion.plan import Overrides
from pipelines.ingestion.run import build_ingestion, ingest
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.store import index_snapshots, node_reader
from pipelines.store.database import open_database, reading, reset
from pipelines.store.index_snapshots import VectorIndexes
from pipelines.store.known_names import read_name_index
from pipelines.store.node_reader import NodeReader
from pipelines.store.read_snapshot import changed_since, read_mark
from pipelines.store.schema import corpus_changes
from pipelines.store.vector_store import build_lexical_indexes, build_vector_indexes
from pipelines.types import Audience, Filters, Mode

MODES: tuple[Mode, ...] = ("hybrid", "dense", "sparse")
DOCUMENTS = 24
_EDITION = re.compile(r"\b(amber|beryl)\b")


def write(folder: Path, edition: str, numbers: range) -> None:
    """One file a number; every passage of it says which edition it is of."""
    for number in numbers:
        (folder / f"turbine{number:03}.md").write_text(
            f"# Turbine{number:03} {edition}\n\nCalibration of turbine{number:03} in the {edition} edition.\n\n"
            f"# Service of turbine{number:03} {edition}\n\nThe {edition} bearings of turbine{number:03} are greased.\n"
        )


@pytest.fixture
def folder(tmp_path: Path, settings: Settings) -> Path:
    write(tmp_path, "amber", range(DOCUMENTS))
    ingest(settings, [str(tmp_path)])
    return tmp_path


@pytest.fixture
def engine(folder: Path, settings: Settings) -> QueryEngine:
    return build_query_engine(settings)


@contextmanager
def meanwhile(do: Callable[[], object]) -> Iterator[None]:
    """Do something in a thread, to its end."""
    failed: list[BaseException] = []

    def run() -> None:
        try:
            do()
        except BaseException as error:  # noqa: BLE001 - a thread must report what it met
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        thread.join()
    assert failed == []


def editions(passages: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The edition of each document of these passages, (document id, text); it is wholly of one."""
    found: dict[str, set[str]] = {}
    for document_id, passage in passages:
        found.setdefault(document_id, set()).update(_EDITION.findall(passage))
    assert all(len(held) == 1 for held in found.values()), found
    return {document_id: held.pop() for document_id, held in found.items()}


def assert_one_state_each(seen: Sequence[dict[str, str]], engine: QueryEngine) -> None:
    """Each time just those documents were new that were written before some point."""
    with reading(engine.database.engine, "reading the order") as connection:
        order = connection.execute(select(corpus_changes.c.document_id).order_by(corpus_changes.c.version)).scalars()
        written = {document_id: place for place, document_id in enumerate(order)}
    for found in seen:
        new = [float(written[document_id]) for document_id, edition in found.items() if edition == "beryl"]
        old = [written[document_id] for document_id, edition in found.items() if edition == "amber"]
        assert max(new, default=-1.0) < min(old, default=math.inf)


@contextmanager
def reingesting(settings: Settings, folder: Path) -> Iterator[Callable[[], bool]]:
    """Take the folder in again, two documents a look; each look tells whether it is still under way."""
    looks, done = threading.Semaphore(0), threading.Event()

    def write_documents() -> None:
        try:
            ingest(settings, [str(folder)], on_progress=lambda place, *_: place % 2 or looks.acquire(timeout=10))
        finally:
            done.set()

    def look() -> bool:
        looks.release()
        return not done.is_set()

    with meanwhile(write_documents):
        yield look


def test_searches_throughout_a_reingest_see_whole_documents_of_one_state(
    folder: Path, engine: QueryEngine, settings: Settings
) -> None:
    write(folder, "beryl", range(DOCUMENTS))
    seen: list[dict[str, str]] = []
    with reingesting(settings, folder) as look:
        while look():
            number, mode = len(seen) * 7 % DOCUMENTS, MODES[len(seen) % 3]
            one = engine.search(f"calibration of turbine{number:03}", mode=mode, record=False)
            assert one.results[0].document_name == f"turbine{number:03}.md"
            many = engine.search("calibration turbine service", mode=mode, top_n=100, record=False)
            seen.append(editions((result.document_id, result.text) for result in many.results))
            assert len(seen[-1]) == DOCUMENTS
    assert_one_state_each(seen, engine)
    after = engine.search("calibration turbine service", top_n=100, record=False)
    assert {edition for result in after.results for edition in _EDITION.findall(result.text)} == {"beryl"}


def test_answers_throughout_a_reingest_quote_whole_documents_of_one_state(
    folder: Path, engine: QueryEngine, settings: Settings
) -> None:
    write(folder, "beryl", range(DOCUMENTS))
    seen: list[dict[str, str]] = []
    with reingesting(settings, folder) as look:
        while look():
            answer = engine.ask(f"What is greased in turbine{len(seen) * 7 % DOCUMENTS:03}?", record=False)
            seen.append(editions((source.document_id, source.snippet) for source in answer.sources))
            assert seen[-1]
            cited = {source.n: source.snippet for source in answer.sources}
            assert all(sentence.text in cited[n] for sentence in answer.sentences for n in sentence.citations)
    assert_one_state_each(seen, engine)


@pytest.mark.parametrize("mode", MODES)
def test_a_document_that_is_replaced_in_the_middle_of_a_question_answers_as_it_was(
    folder: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch, mode: Mode
) -> None:
    engine = build_query_engine(settings).with_changes({"retrieval.mode": mode})
    families, replaced = NodeReader.families, threading.Event()

    def interrupted(*asked: Any) -> dict[str, str]:
        if not replaced.is_set():
            replaced.set()
            write(folder, "beryl", range(DOCUMENTS))
            with meanwhile(lambda: ingest(settings, [str(folder)])):
                pass
        return families(*asked)

    monkeypatch.setattr(NodeReader, "families", interrupted)
    answer = engine.ask("What is greased in turbine007?", record=False)
    assert replaced.is_set()
    assert set(editions((source.document_id, source.snippet) for source in answer.sources).values()) == {"amber"}
    assert "amber bearings of turbine007" in answer.answer
    assert "beryl bearings of turbine007" in engine.ask("What is greased in turbine007?", record=False).answer


@pytest.mark.parametrize(
    "mode", [mode if mode == "hybrid" else pytest.param(mode, marks=pytest.mark.trial) for mode in MODES]
)
def test_what_was_added_changed_or_removed_shows_at_once_in_old_and_new_processes(
    folder: Path, engine: QueryEngine, settings: Settings, mode: Mode
) -> None:
    def names(question: str) -> list[list[str]]:
        each = (engine, build_query_engine(settings))
        found = ([result.document_name for result in e.search(question, mode=mode).results] for e in each)
        return [[name for name in names if name in ("turbine003.md", "new.md")] for names in found]

    assert names("calibration of turbine003")[0][0] == "turbine003.md"
    (folder / "new.md").write_text("# Zirconium\n\nA quern of zirconium.\n")
    ingest(settings, [str(folder)])
    assert names("zirconium quern") == [["new.md"], ["new.md"]]
    (folder / "new.md").unlink()
    (folder / "turbine003.md").write_text("# Obsidian\n\nAn obsidian blade.\n")
    ingest(settings, [str(folder)])
    assert names("obsidian blade") == [["turbine003.md"], ["turbine003.md"]]
    assert not any("new.md" in found for found in names("zirconium quern"))


def test_a_change_is_added_to_the_snapshot_and_nothing_is_read_twice(
    folder: Path, engine: QueryEngine, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.indexes.current("owner")
    read: list[object] = []
    segments = type(engine.store).segments
    monkeypatch.setattr(
        type(engine.store), "segments", lambda store, *asked: read.append(asked[1:]) or segments(store, *asked)
    )
    (folder / "turbine003.md").write_text("# Obsidian\n\nAn obsidian blade.\n")
    ingest(settings, [str(folder)])
    for _ in range(2):
        engine.search("obsidian", mode="sparse", record=False)
        build_query_engine(settings).indexes.current("owner")
    changed = {engine.store.fetch([hit], filters=Filters(), audience="owner")[hit].metadata["document_id"]
               for hit, _ in engine.indexes.current("owner").search(["obsidian"], 9)}  # fmt: skip
    assert all(documents == (changed,) for documents in read)
    whole = build_lexical_indexes(settings, engine.database, engine.store)
    assert len(engine.indexes.current("owner")) == len(whole.current("owner")) == engine.store.count()


@pytest.mark.parametrize("mode", MODES)
def test_what_is_hidden_from_visitors_is_gone_from_their_indexes_at_once(
    folder: Path, engine: QueryEngine, settings: Settings, mode: Mode
) -> None:
    (folder / "secret.md").write_text("# Kubernetes\n\nKubernetes ran here.\n")
    ingest(settings, [str(folder / "secret.md")], overrides=Overrides(visibility="public"))
    visitor = engine.with_changes({"retrieval.typo_weight": 0.8})

    def found(question: str) -> bool:
        report = visitor.search(question, audience="visitor", mode=mode)
        return any("Kubernetes" in each for each in [*(result.text for result in report.results), *report.trace.notes])

    assert found("Kubernetes ran here")
    assert found("Kuberntes") or mode == "dense"
    ingestion = build_ingestion(settings)
    overrides = Overrides(visibility="private")
    ingestion.run(ingestion.plan([str(folder / "secret.md")], overrides=overrides))
    assert not found("Kubernetes ran here")
    assert not found("Kuberntes")
    assert visitor.search("Kubernetes", mode="sparse").results


@pytest.mark.parametrize("filters", [Filters(), Filters(phrase=("of turbine007",)), Filters(category=("resume",))])
def test_vectors_in_memory_and_in_the_database_give_the_same(
    folder: Path, engine: QueryEngine, settings: Settings, filters: Filters
) -> None:
    memory = build_vector_indexes(settings, engine.database, engine.store)
    many = VectorIndexes(memory._folder, engine.store, most=3 * engine.store.dimension)
    vector = engine.active.now().embed_model.get_query_embedding("greased bearings")

    def same(audience: Audience) -> int:
        near, far = memory.searched(audience), many.searched(audience)
        assert (near.in_memory is None, far.in_memory is None) == (False, True)
        first, second = (dict(each.nearest(vector, 10, look=200, filters=filters)) for each in (near, far))
        assert [*first.values()] == pytest.approx([*second.values()], abs=1e-6)  # ties are by chance
        (of_near,), (of_far,) = (each.similarities([vector], [*first]) for each in (near, far))
        assert of_near == pytest.approx(of_far, abs=1e-6)
        assert memory.some(audience, 7) == pytest.approx(many.some(audience, 7), abs=1e-6)
        return len(first)

    before = same("owner")
    assert same("visitor") == before
    ingestion, overrides = build_ingestion(settings), Overrides(visibility="private")
    ingestion.run(ingestion.plan([str(folder / "turbine007.md")], overrides=overrides))
    write(folder, "beryl", range(3))
    (folder / "turbine009.md").unlink()
    ingest(settings, [str(folder)])
    assert same("owner") == before
    if filters.phrase:
        assert same("visitor") == 0  # all of it is private
    else:
        same("visitor")


def test_a_corpus_that_outgrows_the_memory_is_searched_in_the_database_until_it_shrinks(
    folder: Path, engine: QueryEngine, settings: Settings, tmp_path: Path
) -> None:
    vectors = VectorIndexes(tmp_path / "vectors", engine.store, most=(2 * DOCUMENTS + 3) * engine.store.dimension)
    assert len(vectors.searched("owner").in_memory or ()) == 2 * DOCUMENTS
    write(folder, "amber", range(DOCUMENTS, DOCUMENTS + 4))
    ingest(settings, [str(folder)])
    assert vectors.searched("owner").in_memory is None
    for number in range(10):
        (folder / f"turbine{number:03}.md").unlink()
    ingestion = build_ingestion(settings)
    ingestion.run(ingestion.plan([str(folder)], allow_removals=True))
    held = vectors.searched("owner").in_memory
    assert held is not None
    assert {*held.ids} == engine.store.matching_ids(Filters(), "owner")


def test_more_vectors_of_a_larger_corpus_are_examined(
    folder: Path, engine: QueryEngine, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_snapshots, "_EXAMINED_OF", 1)
    vectors = VectorIndexes(tmp_path / "vectors", engine.store, most=engine.store.dimension)  # without statistics
    with engine.store.read_snapshot() as snapshot:
        searched = vectors.searched("owner")
        assert searched.stored == 2 * DOCUMENTS
        for look, examined in ((10, 2 * DOCUMENTS), (600, 600)):
            searched.nearest([1.0] + [0.0] * (engine.store.dimension - 1), 3, look=look, filters=Filters())
            assert snapshot.look == examined


def test_names_are_those_of_the_present_documents_without_reading_all_again(
    folder: Path, engine: QueryEngine, settings: Settings
) -> None:
    """Of documents that come, get another title, become private or go, the names alone are read."""
    (folder / "one.md").write_text("# The Dunsyre quay\n\nBoats lie there.\n")
    (folder / "two.md").write_text("# The Leith pier\n\nBoats lie there.\n")
    ingest(settings, [str(folder)])
    rows: list[int] = []
    event.listen(engine.database.engine, "after_cursor_execute", lambda *about: rows.append(about[1].rowcount))
    audiences: tuple[Audience, ...] = ("owner", "visitor")
    marks = {audience: (engine.store.mark(), read_name_index(engine.store, audience)) for audience in audiences}

    def told(audience: Audience) -> list[bool]:
        mark, before = marks[audience]
        rows.clear()
        names = read_name_index(engine.store, audience, before, mark)
        assert len(rows) >= 4
        assert max(rows) <= 3
        marks[audience] = engine.store.mark(), names
        questions = ("the Dunsyre quay", "the Leith pier", "the Forth crane", "turbine003")
        anew = read_name_index(engine.store, audience)
        assert [names.find(each) for each in questions] == [anew.find(each) for each in questions]
        return [bool(names.find(each)) for each in questions]

    assert told("owner") == told("visitor") == [True, True, False, True]
    (folder / "one.md").write_text("# The Forth crane\n\nBoats lie there.\n")
    (folder / "two.md").unlink()
    ingestion, overrides = build_ingestion(settings), Overrides(visibility="private")
    ingestion.run(ingestion.plan([str(folder)], allow_removals=True))
    assert told("owner") == told("visitor") == [False, False, True, True]
    ingestion.run(ingestion.plan([str(folder / "turbine003.md")], overrides=overrides))
    assert (told("owner"), told("visitor")) == ([False, False, True, True], [False, False, True, False])


def test_what_an_ingest_changed_much_is_saved_for_the_next_process(folder: Path, settings: Settings) -> None:
    def saved() -> set[str]:
        return {path.name for path in (settings.home / "lexical").rglob("owner-vectors-*")}

    first = saved()
    assert len(first) == 1
    write(folder, "beryl", range(3))
    ingest(settings, [str(folder)])
    assert saved() == first  # a little is added to what is saved
    write(folder, "amber", range(DOCUMENTS, DOCUMENTS + 110))
    ingest(settings, [str(folder)])
    assert len(saved() - first) == 1


# Read snapshots


def in_thread(do: Callable[[], object]) -> None:
    """Do something as another process would: outside this snapshot."""
    with meanwhile(do):
        pass


def test_all_reads_of_a_snapshot_are_of_the_state_at_its_beginning(
    folder: Path, engine: QueryEngine, settings: Settings
) -> None:
    store = engine.store
    with store.read_snapshot() as snapshot:
        before = store.matching_ids(Filters(), "owner")
        write(folder, "beryl", range(3))
        in_thread(lambda: ingest(settings, [str(folder)]))
        assert (store.matching_ids(Filters(), "owner"), store.version()) == (before, snapshot.mark.version)
        assert store.fetch(before, filters=Filters(), audience="owner").keys() == before
        assert len(engine.search("amber calibration", mode="sparse", top_n=100, record=False).results) == 2 * DOCUMENTS
        in_thread(lambda: engine.search("amber", record=False))
        assert engine.search("beryl", mode="sparse", record=False).results == ()
    assert store.version() > snapshot.mark.version
    assert engine.search("beryl", mode="sparse", record=False).results


def test_a_snapshot_inside_a_snapshot_is_the_same_one(engine: QueryEngine) -> None:
    with engine.store.read_snapshot() as outer, engine.store.read_snapshot() as inner:
        assert inner is outer


def test_a_statement_that_fails_leaves_the_rest_of_a_snapshot_readable(engine: QueryEngine) -> None:
    store = engine.store
    with store.read_snapshot() as snapshot:
        with pytest.raises(StoreError), reading(store.engine, "failing") as connection:
            connection.execute(text("SELECT 1 / 0"))
        assert snapshot.failed
        assert store.count() == 2 * DOCUMENTS
    with store.read_snapshot() as later:
        assert not later.failed


def test_more_questions_at_once_than_connections_are_all_answered(engine: QueryEngine) -> None:
    found: list[int] = []

    def ask() -> None:
        found.append(len(engine.search("calibration of turbine007", record=False).results))

    with ExitStack() as many:
        for _ in range(30):
            many.enter_context(meanwhile(ask))
    assert len(found) == 30
    assert all(found)


def test_a_narrow_search_leaves_no_setting_to_the_rest_of_a_snapshot(engine: QueryEngine) -> None:
    store, narrow = engine.store, Filters(category=("generic",))
    with store.read_snapshot(), reading(store.engine, "looking") as connection:
        before = connection.execute(text("SHOW enable_indexscan")).scalar()
        store.nearest([1.0] * store.dimension, 3, look=10, filters=narrow, audience="owner")
        assert connection.execute(text("SHOW enable_indexscan")).scalar() == before == "on"


# The log of changes


def test_a_gap_in_the_log_of_changes_never_hides_a_change(
    folder: Path, engine: QueryEngine, settings: Settings
) -> None:
    engine.indexes.current("owner")
    with engine.database.engine.connect() as connection:
        since = read_mark(connection)
    write(folder, "beryl", range(3))
    ingest(settings, [str(folder)])
    with engine.database.engine.begin() as connection:
        until = read_mark(connection)
        assert until.version == since.version + 3
        assert len(changed_since(connection, since, until) or ()) == 3
        assert changed_since(connection, until, until) == frozenset()
        assert changed_since(connection, since._replace(at=since.at + 1), until) is None
        assert changed_since(connection, since, until._replace(at=until.at + 1)) is None
        connection.execute(delete(corpus_changes).where(corpus_changes.c.version == since.version + 2))
        assert changed_since(connection, since, until) is None
    found = engine.search("beryl", mode="sparse", top_n=20, record=False).results
    assert {result.document_name for result in found} == {f"turbine{n:03}.md" for n in range(3)}


def test_the_log_is_pruned_and_what_lies_before_it_is_built_anew(
    folder: Path, engine: QueryEngine, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.indexes.current("owner")
    monkeypatch.setattr(node_reader, "_KEPT_CHANGES", 3)
    write(folder, "beryl", range(5))
    ingest(settings, [str(folder)])
    engine.store.forget_changes()
    with engine.database.engine.connect() as connection:
        until = read_mark(connection)
        kept = connection.execute(select(corpus_changes.c.version).order_by(corpus_changes.c.version)).scalars().all()
    assert kept == [until.version - 2, until.version - 1, until.version]
    found = engine.search("beryl", mode="sparse", top_n=20, record=False).results
    assert {result.document_name for result in found} == {f"turbine{n:03}.md" for n in range(5)}


def test_a_new_database_knows_no_change_and_a_reset_one_no_mark_of_before(settings: Settings) -> None:
    engine = open_database(settings).engine
    with engine.connect() as connection:
        before = read_mark(connection)
        assert changed_since(connection, before, before) == frozenset()
    reset(engine)
    with engine.connect() as connection:
        after = read_mark(connection)
        assert after != before
        assert changed_since(connection, before, after) is None
