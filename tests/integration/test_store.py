import multiprocessing
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import event, select, text

from config.settings import EmbeddingSettings, Settings
from pipelines.errors import ConfigError, RetrievalError, StoreError
from pipelines.models.embedding import build_embed_model
from pipelines.models.identity import identity
from pipelines.store import documents as document_rows
from pipelines.store.audit import audit
from pipelines.store.database import open_database, reading
from pipelines.store.documents import passages
from pipelines.store.model_caches import cache_vectors, cached_vectors
from pipelines.store.node_writer import (
    Replacement,
    index_document,
    remove_documents,
    replace_documents,
    update_metadata,
)
from pipelines.store.schema import document_versions, documents
from pipelines.store.vector_store import FootnoteVectorStore as Store
from pipelines.store.vector_store import build_vector_store
from pipelines.types import Document, Filters
from tests.stored import make_document, replacement_of

OWNER = {"filters": Filters(), "audience": "owner"}


@pytest.fixture
def store(settings: Settings) -> Store:
    return build_vector_store(settings, open_database(settings), identity(settings))


def document(name: str = "a.md", body: str = "# Go\n\nShe wrote Go.\n\n# Rust\n\nThen Rust.", **changes) -> Document:
    return make_document(name, body, "generic", **{"category": "blog", **changes})


def new_version(made: Document, settings: Settings) -> Replacement:
    return replacement_of(made, settings, "generic")


def put(store: Store, settings: Settings, made: Document) -> bool:
    return bool(replace_documents(store, [new_version(made, settings)]))


def dense(store: Store, settings: Settings, question: str, **bound) -> list[str]:
    vector = build_embed_model(settings).get_query_embedding(question)
    found = [node_id for node_id, _ in store.nearest(vector, 5, look=40, **(OWNER | bound))]
    nodes = store.fetch(found, **(OWNER | bound))
    return [nodes[node_id].text for node_id in found]


def test_ingesting_b_never_loses_a(store: Store, settings: Settings) -> None:
    put(store, settings, document("a.md", "She wrote Go."))
    put(store, settings, document("b.md", "Then she wrote Rust."))
    assert sorted(dense(store, settings, "wrote")) == ["She wrote Go.", "Then she wrote Rust."]


def _ingest_in_child(url: str, home: Path, names: list[str]) -> None:
    child = Settings(_env_file=None, home=home, database_url=url, embedding=EmbeddingSettings(provider="hashed"))
    own = build_vector_store(child, open_database(child), identity(child))
    for name in names:
        put(own, child, document(name, f"The text of {name}."))


def test_two_processes_that_ingest_at_once_lose_and_double_nothing(store: Store, settings: Settings) -> None:
    names = [[f"x{n}.md" for n in range(12)], [f"x{n}.md" for n in reversed(range(6, 18))]]
    context = multiprocessing.get_context("fork")
    url = settings.database_url.get_secret_value()
    children = [context.Process(target=_ingest_in_child, args=(url, settings.home, part)) for part in names]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0, 0]
    assert store.count() == 18
    assert audit(store.engine)["violations"] == []


def test_replacing_leaves_only_the_new_nodes_and_keeps_the_old_version(store: Store, settings: Settings) -> None:
    put(store, settings, document(body="Old words about Go."))
    before = store.version()
    put(store, settings, document(body="New words about Rust."))
    assert dense(store, settings, "words") == ["New words about Rust."]
    assert store.version() == before + 1
    with store.engine.connect() as connection:
        kept = connection.execute(select(document_versions.c.row["text"].astext)).scalars().all()
    assert kept == ["Old words about Go."]


def test_writing_the_same_version_again_changes_nothing(store: Store, settings: Settings) -> None:
    assert put(store, settings, document())
    before = store.version()
    assert not put(store, settings, document())
    assert store.version() == before


def test_a_node_that_is_not_its_span_is_refused_and_nothing_is_written(store: Store, settings: Settings) -> None:
    new = new_version(document(), settings)
    new.nodes[0].set_content("something else")
    with pytest.raises(StoreError, match="is not its span"):
        replace_documents(store, [new])
    assert store.count() == 0


@pytest.mark.parametrize("vector", [[], [[0.1] * 3], [[float("nan")] * 256]])
def test_a_node_without_a_usable_vector_is_refused(store: Store, settings: Settings, vector) -> None:
    new = new_version(document(), settings)
    vectors = [np.asarray(vector, dtype=np.float32), *new.vectors[1:]]
    with pytest.raises(StoreError):
        replace_documents(store, [replace(new, vectors=vectors)])
    assert store.count() == 0


def test_a_node_of_several_windows_is_found_once_by_its_best(store: Store, settings: Settings) -> None:
    made = document(body="One node.")
    new = new_version(made, settings)
    other = build_embed_model(settings).get_query_embedding("zebra")
    replace_documents(store, [replace(new, vectors=[np.vstack([new.vectors[0], [other]]).astype(np.float32)])])
    ((node_id, similarity),) = store.nearest(other, 5, look=40, **OWNER)
    assert (store.fetch([node_id], **OWNER)[node_id].text, round(similarity, 3)) == ("One node.", 1.0)
    assert store.count() == 1
    remove_documents(store, [made.id])
    with store.engine.connect() as connection:
        assert connection.execute(text(f"SELECT count(*) FROM {store.table}_windows")).scalar() == 0


def test_a_failure_inside_the_transaction_leaves_the_old_version_whole(store: Store, settings: Settings) -> None:
    put(store, settings, document(body="Old words."))
    new = document(body="New words.")

    def fail(_connection, _version) -> None:
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError):
        replace_documents(store, [new_version(new, settings)], within=fail)
    assert dense(store, settings, "words") == ["Old words."]
    assert audit(store.engine)["violations"] == []


def test_removing_takes_the_nodes_and_keeps_a_version(store: Store, settings: Settings) -> None:
    made = document()
    put(store, settings, made)
    assert remove_documents(store, [made.id, "gone"]) == [made.id]
    assert store.count() == 0
    assert [*store.segments("owner")] == []
    with store.engine.connect() as connection:
        assert connection.execute(select(documents.c.id)).all() == []
        assert len(connection.execute(select(document_versions.c.id)).all()) == 1


def test_metadata_changes_reach_rows_and_nodes_but_no_vector(store: Store, settings: Settings) -> None:
    made = document(category="blog")
    put(store, settings, made)
    before = _vectors(store)
    changed = made.with_(visibility="private", author="Ann", meta_sha="of-ann")
    update_metadata(store, changed)
    assert dense(store, settings, "Go", audience="visitor") == []
    assert store.window(made.id, 0, 0, **OWNER)[0].metadata["visibility"] == "private"
    assert _vectors(store) == before


def _vectors(store: Store) -> list[str]:
    with store.engine.connect() as connection:
        return list(connection.execute(text(f"SELECT embedding::text FROM {store.table}_windows ORDER BY 1")).scalars())


def test_visitors_see_only_public_documents(store: Store, settings: Settings) -> None:
    put(store, settings, document("open.md", "Public words."))
    put(store, settings, document("shut.md", "Private words.", visibility="private"))
    assert dense(store, settings, "words", audience="visitor") == ["Public words."]
    assert len([*store.segments("visitor")]) == 1
    shut = store.window("id-shut.md", 0, 0, **OWNER)[0].node_id
    assert store.fetch([shut], filters=Filters(), audience="visitor") == {}
    with reading(store.engine, "testing") as connection:
        assert passages(connection, [("id-shut.md", 0, 5)], "visitor") == {}


def test_filters_narrow_by_every_field(store: Store, settings: Settings) -> None:
    from datetime import UTC, datetime

    dated = datetime(2023, 5, 1, tzinfo=UTC)
    put(store, settings, document("a.md", "Words of a.", author="Ann Lee", published_at=dated, year=2023))
    put(store, settings, document("b.md", "Words of b.", category="resume", collection="other"))
    wanted = {
        Filters(category=("blog",)): "a",
        Filters(category=("resume", "linkedin")): "b",
        Filters(collection=("other",)): "b",
        Filters(year=(2023,)): "a",
        Filters(author=("ann lee",)): "a",
        Filters(since="2023-05-01", until="2023-05-01"): "a",
        Filters(document=("b.md",)): "b",
        Filters(kind=("text",), category=("blog",)): "a",
    }
    for filters, name in wanted.items():
        assert dense(store, settings, "words", filters=filters) == [f"Words of {name}."], filters
    assert dense(store, settings, "words", filters=Filters(since="2023-05-02")) == []


HOSTILE = ["O'Neil", "x' OR 'a'='a", "see :foo", "%", "_", "\\", '"', "5", "a|b & !c", "'; DROP TABLE documents; --"]


@pytest.mark.parametrize("value", HOSTILE)
def test_hostile_filter_values_are_only_values(store: Store, settings: Settings, value: str) -> None:
    put(store, settings, document("a.md", "Words.", author=value))
    for name in ("collection", "category", "kind", "document"):
        assert dense(store, settings, "words", filters=Filters(**{name: (value,)})) == []
    assert dense(store, settings, "words", filters=Filters(author=(value,))) == ["Words."]
    assert store.count() == 1


@pytest.mark.parametrize("filters", [Filters(author=("a\x00b",)), Filters(since="soon"), Filters(category=("\ud800",))])
def test_filter_values_that_cannot_be_compared_are_typed_errors(store: Store, filters: Filters) -> None:
    with pytest.raises(RetrievalError):
        store.matching_ids(filters, "owner")


def plan_of(store: Store, vector: list[float]) -> str:
    """What Postgres would do for a dense search, were the table large."""
    plans: list[str] = []

    def explain(connection, cursor, statement, parameters, *_) -> None:
        if "<=>" in statement:
            cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
            cursor.execute(f"EXPLAIN {statement}", parameters)
            plans.append("\n".join(row[0] for row in cursor.fetchall()))

    event.listen(store.engine, "before_cursor_execute", explain)
    store.nearest(vector, 5, look=40, **OWNER)
    event.remove(store.engine, "before_cursor_execute", explain)
    return plans[0]


def test_the_planner_uses_the_vector_index_with_the_matching_operator(store: Store, settings: Settings) -> None:
    put(store, settings, document())
    plan = plan_of(store, build_embed_model(settings).get_query_embedding("Go"))
    assert f"Index Scan using {store.table}_hnsw" in plan


def test_iterative_scans_are_on_for_every_connection(store: Store) -> None:
    with store.engine.connect() as connection:
        assert connection.execute(text("SHOW hnsw.iterative_scan")).scalar() == "relaxed_order"


def test_a_selective_filter_finds_everything_through_the_index(store: Store, settings: Settings) -> None:
    for number in range(60):
        put(store, settings, document(f"{number}.md", f"Words {number}.", category="resume" if number < 3 else "blog"))
    vector = build_embed_model(settings).get_query_embedding("words")

    def force(connection, cursor, statement, *_) -> None:
        if "<=>" in statement:
            cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")

    event.listen(store.engine, "before_cursor_execute", force)
    found = store.nearest(vector, 3, look=10, filters=Filters(category=("resume",)), audience="owner")
    event.remove(store.engine, "before_cursor_execute", force)
    assert len(found) == 3


def test_thousands_of_equal_passages_do_not_hide_the_others(store: Store, settings: Settings) -> None:
    put(store, settings, document("one.md", "The crane moved forty containers."))
    made = document("log.txt", "\n\n".join(["All quiet on every channel tonight " * 20] * 1500), mime="text/plain")
    put(store, settings, made)
    assert store.count() > 1000
    assert dense(store, settings, "crane containers")[0] == "The crane moved forty containers."


def test_a_window_holds_the_neighbours_in_order(store: Store, settings: Settings) -> None:
    made = document(body="\n\n".join(f"# H{n}\n\nParagraph {n} " + "word " * 150 for n in range(5)))
    put(store, settings, made)
    around = store.window(made.id, 2, 1, **OWNER)
    assert [node.metadata["ordinal"] for node in around] == [1, 2, 3]


def test_another_dimension_lands_in_its_own_table(make_settings: Callable[..., Settings]) -> None:
    first = make_settings()
    store = build_vector_store(first, open_database(first), identity(first))
    put(store, first, document())
    wide = first.model_copy(update={"embedding": EmbeddingSettings(provider="hashed", dimension=768)})
    other = build_vector_store(wide, open_database(wide), identity(wide))
    assert other.table != store.table
    assert (other.count(), store.count()) == (0, 2)
    with pytest.raises(ConfigError, match="promoted meanwhile"):
        put(other, wide, document())
    with store.engine.connect() as connection:
        stored = document_rows.load_document(connection, document().id, "owner")
    assert stored is not None
    assert index_document(other, new_version(stored, wide))
    assert (other.count(), store.count()) == (2, 2)


def test_a_table_of_another_dimension_is_refused_with_the_right_setting(store: Store) -> None:
    with pytest.raises(ConfigError, match="FOOTNOTE_EMBEDDING__DIMENSION=256"):
        Store(store.engine, store.table, 300).ensure("hashed", "hashed")


def test_more_than_2000_dimensions_are_indexed_as_halfvec(settings: Settings) -> None:
    engine = open_database(settings).engine
    wide = Store(engine, "nodes_wide_v1", 3072)
    wide.ensure("test", "wide")
    assert "Index Scan using nodes_wide_v1_hnsw" in plan_of(wide, [0.1] * 3072)


def test_the_table_of_pgvectorstore_has_the_expected_columns(store: Store) -> None:
    columns = {column.name for column in store._table_class.__table__.columns}
    assert columns == {"id", "text", "metadata_", "node_id", "embedding"}


def test_cached_vectors_come_back_as_they_were(settings: Settings) -> None:
    engine = open_database(settings).engine
    vectors = np.array([[0.1, -2.5, 3e-8], [1, 2, 3]], dtype=np.float32)
    cache_vectors(engine, "m", {"k": vectors})
    cache_vectors(engine, "m", {"k": vectors * 2})
    assert np.array_equal(cached_vectors(engine, "m", ["k", "x"], 3)["k"], vectors)
    assert cached_vectors(engine, "other", ["k"], 3) == {}
