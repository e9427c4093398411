"""FootnoteVectorStore as any LlamaIndex program uses it."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as searches
from hypothesis import strategies as st
from llama_index.core import Document as LlamaDocument
from llama_index.core import VectorStoreIndex
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import BaseNode, NodeRelationship, QueryBundle, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
)
from llama_index.core.vector_stores.utils import build_metadata_filter_fn
from llama_index.vector_stores.postgres import PGVectorStore

from config.settings import Settings
from pipelines.errors import ConfigError, FootnoteError, RetrievalError, StoreError
from pipelines.ingestion.parsers import PARSERS
from pipelines.ingestion.reindex import build_reembedding, plan_reindex
from pipelines.ingestion.rollback import plan_rollback, roll_back
from pipelines.ingestion.run import build_ingestion, ingest
from pipelines.models.embedding import build_embed_model
from pipelines.models.identity import identity
from pipelines.query.engine import build_query_engine
from pipelines.store.added_nodes import Embedded, embedded
from pipelines.store.audit import audit
from pipelines.store.database import open_database
from pipelines.store.documents import load_document
from pipelines.store.health import examine
from pipelines.store.near_duplicates import families_of
from pipelines.store.runs import list_runs
from pipelines.store.vector_store import FootnoteVectorStore, build_vector_store
from pipelines.types import Document, EmbeddingIdentity, Filters

STORY = (
    "Ada Lovelace wrote the first program. It computed Bernoulli numbers.\n\n"
    "Grace Hopper built a compiler. She found a moth in a relay.\n\n"
    "Barbara Liskov gave a substitution principle its name."
)


@pytest.fixture
def store(settings: Settings) -> FootnoteVectorStore:
    return build_vector_store(settings, open_database(settings), identity(settings))


@pytest.fixture
def embed(settings: Settings) -> Callable[[str], list[float]]:
    return build_embed_model(settings).get_text_embedding


def node(text: str, embed: Callable[[str], list[float]], id_: str = "", of: str = "", **rest: Any) -> TextNode:
    made = TextNode(id_=id_ or f"node of {text}", text=text, embedding=embed(text), **rest)
    if of:
        made.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id=of)
    return made


def text_of(store: FootnoteVectorStore, document_id: str) -> str | None:
    found = stored(store, document_id)
    return found and found.text


def stored(store: FootnoteVectorStore, document_id: str) -> Document | None:
    with store.engine.connect() as connection:
        return load_document(connection, document_id, "owner")


def assert_sound(store: FootnoteVectorStore, settings: Settings) -> None:
    """The audit and the doctor find nothing, and every node is its span of its document."""
    assert audit(store.engine)["violations"] == []
    assert [each for each in examine(settings, identity(settings)) if not each.ok] == []
    for each in store.get_nodes(filters=MetadataFilters(filters=[])):
        found = stored(store, str(each.ref_doc_id))
        assert found
        assert found.text[each.metadata["start"] : each.metadata["end"]] == each.get_content()


def filters(key: str, value: Any, operator: FilterOperator = FilterOperator.EQ) -> MetadataFilters:
    return MetadataFilters(filters=[MetadataFilter(key=key, value=value, operator=operator)])


def test_it_is_a_pgvectorstore_on_the_engine_of_the_database(store: FootnoteVectorStore) -> None:
    assert isinstance(store, PGVectorStore)
    assert store.client is store.engine
    assert FootnoteVectorStore.class_name() == "FootnoteVectorStore"
    with pytest.raises(ConfigError):
        FootnoteVectorStore.from_params(host="localhost", table_name="x")


def test_a_vector_store_index_inserts_retrieves_filters_deletes_and_inserts_again(
    store: FootnoteVectorStore, settings: Settings
) -> None:
    index = VectorStoreIndex.from_vector_store(
        store,
        embed_model=build_embed_model(settings),
        transformations=[SentenceSplitter(chunk_size=24, chunk_overlap=0)],
    )
    story = LlamaDocument(id_="story", text=STORY, metadata={"author": "Ann", "stars": 5, "tags": ["history"]})
    index.insert(story)
    index.insert(LlamaDocument(id_="recipe", text="Stir the soup slowly.", metadata={"author": "Ben", "stars": 2}))
    assert text_of(store, "story") == STORY
    assert_sound(store, settings)
    hits = index.as_retriever(similarity_top_k=3).retrieve("Who built a compiler?")
    assert "compiler" in hits[0].text
    assert (hits[0].node.ref_doc_id, hits[0].metadata["author"], hits[0].metadata["tags"]) == (
        "story",
        "Ann",
        ["history"],
    )
    assert 0 < hits[0].score <= 1
    narrow = index.as_retriever(similarity_top_k=3, filters=filters("stars", 3, FilterOperator.LT))
    assert [hit.node.ref_doc_id for hit in narrow.retrieve("compiler")] == ["recipe"]
    index.delete_ref_doc("story")
    assert text_of(store, "story") is None
    assert {hit.node.ref_doc_id for hit in index.as_retriever().retrieve("compiler")} == {"recipe"}
    index.insert(story)
    assert text_of(store, "story") == STORY
    assert_sound(store, settings)


def test_added_nodes_are_found_by_bm25_and_by_the_whole_engine(
    store: FootnoteVectorStore, settings: Settings, embed: Callable[[str], list[float]]
) -> None:
    engine = build_query_engine(settings)
    store.add([node("Grace Hopper found a moth in a relay.", embed, "n1", of="moth", metadata={"secret": "zebra"})])
    assert [hit.node_id for hit in engine.search("moth relay", mode="sparse", record=False).results] == ["n1"]
    assert [hit.node_id for hit in engine.search("moth relay", record=False).results] == ["n1"]
    assert engine.search("zebra", mode="sparse", record=False).results == ()


class OwnNode(TextNode):
    """A class of a program's own, which LlamaIndex reads as a TextNode."""

    @classmethod
    def class_name(cls) -> str:
        return "OwnNode"


def test_a_node_of_a_programs_own_class_is_found(
    settings: Settings, store: FootnoteVectorStore, embed: Callable[[str], list[float]]
) -> None:
    said = "The amber crane lifts grain."
    store.add([OwnNode(id_="own", text=said, embedding=embed(said))])
    assert store.query(VectorStoreQuery(query_embedding=embed(said), similarity_top_k=2)).ids == ["own"]
    assert [hit.text for hit in build_query_engine(settings).search("amber crane", record=False).results] == [said]


def test_a_node_that_was_written_anew_holds_the_words_that_it_has_now(
    settings: Settings, store: FootnoteVectorStore, embed: Callable[[str], list[float]]
) -> None:
    index = build_query_engine(settings).indexes
    store.add([node("The zeppelin flew over Bremen.", embed, "n1"), node("Bread is baked.", embed, "n2")])
    assert index.current("owner").holders(["zeppelin"], ["n1", "n2"]) == {"n1"}
    store.add([node("The balloon flew over Bremen.", embed, "n1")])
    assert index.current("owner").holders(["zeppelin"], ["n1", "n2"]) == set()
    assert index.current("owner").holders(["balloon"], ["n1", "n2"]) == {"n1"}


@pytest.mark.parametrize(
    ("spans", "text"),
    [
        ([(0, 4), (5, 9)], "aaaa bbbb"),
        ([(0, 4), (6, 10)], "aaaa\n\nbbbb"),
        ([(0, 4), (9, 13)], "aaaa\n\n   bbbb"),
        ([(0, 4), (3, 7)], "aaaa\n\nbbbb"),
        ([(4, 8), (0, 4)], "bbbbaaaa"),
        ([(0, 4), (9000, 9004)], "aaaa\n\nbbbb"),
        ([(0, 4), (5, 8)], "aaaa\n\nbbbb"),
        ([(0, 4), (None, None)], "aaaa\n\nbbbb"),
        ([(-4, 0), (5, 9)], "aaaa\n\nbbbb"),
    ],
    ids=["a gap", "two", "wide", "contradiction", "order", "far", "length", "no offsets", "negative"],
)
def test_the_text_of_a_document_is_made_of_the_offsets_that_fit_else_of_one_node_after_the_other(
    store: FootnoteVectorStore, settings: Settings, embed: Callable[[str], list[float]], spans: list[Any], text: str
) -> None:
    made = [
        node(letter * 4, embed, letter, of="d", start_char_idx=start, end_char_idx=end)
        for letter, (start, end) in zip("ab", spans, strict=True)
    ]
    assert store.add(made) == ["a", "b"]
    assert text_of(store, "d") == text
    assert_sound(store, settings)


def test_adding_keeps_the_other_nodes_and_the_same_id_replaces(
    store: FootnoteVectorStore, settings: Settings, embed: Callable[[str], list[float]]
) -> None:
    store.add([node("one", embed, "1", of="d"), node("two", embed, "2", of="d")])
    store.add([node("three", embed, "3", of="d")])
    store.add([node("TWO", embed, "2", of="d", metadata={"n": 2})])
    found = store.get_nodes(node_ids=["1", "2", "3", "4"])
    assert [(each.node_id, each.get_content()) for each in found] == [("1", "one"), ("2", "TWO"), ("3", "three")]
    assert text_of(store, "d") == "one\n\nTWO\n\nthree"
    assert [each.metadata["ordinal"] for each in found] == [0, 1, 2]
    assert np.allclose(found[1].embedding, embed("TWO"), atol=1e-6)
    assert store.count() == 3
    alone = "A node without a document is a document, even if it has more than the twenty words that a near-copy needs."
    store.add([node(alone, embed, "5"), LlamaDocument(id_="6", text=alone, embedding=embed(alone), metadata={"a": 1})])
    assert [each.ref_doc_id for each in store.get_nodes(node_ids=["5", "6"])] == ["5", "6"]
    assert store.get_nodes(node_ids=["6"])[0].metadata["a"] == 1
    assert len(set(families_of(store.engine, ["5", "6"]).values())) == 1
    assert_sound(store, settings)


def test_a_node_comes_back_as_it_was_added_and_can_be_added_again(
    store: FootnoteVectorStore, settings: Settings, embed: Callable[[str], list[float]]
) -> None:
    own = {"author": "Ann", "title": "Mine", "page": "iii", "tags": ["a", "b"], "deep": {"x": [1, None]}, "none": None}
    store.add([node("words", embed, "n", of="d", metadata=own, excluded_llm_metadata_keys=["author"])])
    for _ in range(2):
        (found,) = store.get_nodes(node_ids=["n"])
        assert {key: found.metadata[key] for key in own} == own
        assert found.metadata["extra"] == own
        assert "author" in found.excluded_llm_metadata_keys
        assert "title" not in found.excluded_llm_metadata_keys
        assert "document_id" in found.excluded_llm_metadata_keys
        store.add([found])
    found.set_content("other words")
    found.metadata["author"] = "Ben"
    del found.metadata["tags"]
    store.add([found])
    (again,) = store.get_nodes(node_ids=["n"])
    assert (again.get_content(), again.metadata["author"], again.metadata["page"]) == ("other words", "Ben", "iii")
    assert "tags" not in again.metadata
    assert_sound(store, settings)


@pytest.mark.parametrize("parser", sorted(name for name, parser in PARSERS.items() if not parser.embeds))
def test_nodes_of_our_own_parsers_are_stored_as_they_are(
    store: FootnoteVectorStore, settings: Settings, embed: Callable[[str], list[float]], parser: str
) -> None:
    text = "# Go\n\nShe wrote Go.\n\n\n## Later\n\nThen she wrote Rust, and left.\n"
    made = PARSERS[parser]().get_nodes_from_documents([LlamaDocument(id_="d", text=text)])
    before = [dict(each.metadata) for each in made]
    for each in made:
        each.embedding = embed(each.get_content())
    store.add(made)
    after = list(store.fetch([each.node_id for each in made], filters=Filters(), audience="owner").values())
    assert sorted([{**each.metadata, "ingested_at": ""} for each in after], key=lambda m: m["ordinal"]) == before
    assert_sound(store, settings)


def test_a_key_of_the_caller_that_a_parser_uses_too_is_kept(
    store: FootnoteVectorStore, settings: Settings, embed: Callable[[str], list[float]]
) -> None:
    given = LlamaDocument(id_="d", text="# Go\n\nShe wrote Go.", metadata={"kind": "memo", "team": "A"})
    (made,) = PARSERS["markdown"]().get_nodes_from_documents([given])
    made.embedding = embed(made.get_content())
    found = made
    for _ in range(2):
        store.add([found])
        (found,) = store.get_nodes(node_ids=[made.node_id])
        assert found.metadata["extra"] == {"kind": "memo", "team": "A"}
        assert (found.metadata["kind"], found.metadata["team"], found.metadata["section"]) == ("memo", "A", "Go")
    assert_sound(store, settings)


def test_nodes_of_a_document_that_a_source_gave_are_neither_added_nor_deleted(
    store: FootnoteVectorStore, settings: Settings, embed: Callable[[str], list[float]], tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("# Go\n\nShe wrote Go in a week.\n")
    ingest(settings, [str(tmp_path)])
    (own,) = store.get_nodes(filters=filters("name", "a.md"))
    refused = (
        lambda: store.add([own]),
        lambda: store.add([node("a week", embed, "n", of=str(own.ref_doc_id))]),
        lambda: store.delete_nodes([own.node_id]),
    )
    for write in refused:
        with pytest.raises(
            StoreError, match=rf"a\.md \(document {own.ref_doc_id}\).* the source {tmp_path.as_uri()}, .*ref_doc_id"
        ):
            write()
    assert [each.node_id for each in store.get_nodes(filters=MetadataFilters(filters=[]))] == [own.node_id]
    assert ingest(settings, [str(tmp_path)]).count("unchanged") == 1
    assert_sound(store, settings)


@pytest.mark.parametrize("again", ["a rollback", "the next run"])
def test_a_whole_document_that_a_source_gave_comes_back_after_it_was_deleted(
    store: FootnoteVectorStore, settings: Settings, tmp_path: Path, again: str
) -> None:
    (tmp_path / "a.md").write_text("# Go\n\nShe wrote Go in a week.\n")
    ingest(settings, [str(tmp_path)])
    (own,) = store.get_nodes(filters=filters("name", "a.md"))
    text = text_of(store, str(own.ref_doc_id))
    store.delete(str(own.ref_doc_id))
    assert text_of(store, str(own.ref_doc_id)) is None
    ingestion = build_ingestion(settings)
    if again == "a rollback":
        (deletion,) = (run["id"] for run in list_runs(store.engine, 1))
        roll_back(ingestion, plan_rollback(ingestion.database, deletion))
    else:
        ingest(settings, [str(tmp_path)])
    assert text_of(store, str(own.ref_doc_id)) == text
    assert_sound(store, settings)


@pytest.mark.parametrize(
    ("made", "named"),
    [
        (TextNode(id_="n", text="", embedding=[1.0] * 256), "n .* has no text"),
        (TextNode(id_="n", text="words"), "n has no embedding"),
        (TextNode(id_="n", text="words", embedding=[1.0] * 3), "256-d vector"),
        (TextNode(id_="n", text="words", embedding=[float("nan")] * 256), "not finite"),
        (TextNode(id_="n", text="wo\x00rds", embedding=[1.0] * 256), "NUL"),
        (TextNode(id_="n", text="wo\ud800rds", embedding=[1.0] * 256), "broken character"),
        (TextNode(id_="n", text="words", embedding=[1.0] * 256, metadata={"x": object()}), "metadata of node n"),
    ],
    ids=["no text", "no embedding", "dimension", "nan", "nul", "surrogate", "metadata"],
)
def test_a_node_that_cannot_be_stored_is_named_and_nothing_is_written(
    store: FootnoteVectorStore, settings: Settings, embed: Callable[[str], list[float]], made: TextNode, named: str
) -> None:
    store.add([node("old", embed, "o", of="n")])
    with pytest.raises(StoreError, match=named):
        store.add([made])
    assert text_of(store, "n") == "old"
    assert_sound(store, settings)


def test_an_id_of_another_documents_node_is_refused(
    store: FootnoteVectorStore, settings: Settings, embed: Callable[[str], list[float]]
) -> None:
    store.add([node("words", embed, "n", of="a")])
    with pytest.raises(StoreError, match="Node n belongs to another document"):
        store.add([node("words", embed, "n", of="b")])
    assert (text_of(store, "a"), text_of(store, "b")) == ("words", None)


def test_a_crash_inside_add_leaves_the_old_state_whole(
    store: FootnoteVectorStore, settings: Settings, embed: Callable[[str], list[float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add([node("old words", embed, "1", of="d")])
    version = store.version()
    for name in ("write_facts", "write_families", "assert_active"):
        with monkeypatch.context() as patch:
            patch.setattr(f"pipelines.store.node_writer.{name}", _crash)
            with pytest.raises(RuntimeError):
                store.add([node("new words", embed, "1", of="d"), node("more", embed, "2", of="d")])
        assert (text_of(store, "d"), store.count(), store.version()) == ("old words", 1, version)
    assert list_runs(store.engine, 1)[0]["state"] == "stopped"
    assert_sound(store, settings)


def _crash(*_: object) -> None:
    raise RuntimeError("power cut")


def test_deleting_nodes_leaves_the_others_and_a_document_without_nodes_goes(
    store: FootnoteVectorStore, settings: Settings, embed: Callable[[str], list[float]]
) -> None:
    for of in "ab":
        store.add(
            [node(f"{word} {of}", embed, f"{of}{n}", of=of, metadata={"n": n}) for n, word in enumerate(("x", "y"))]
        )
    for nothing in ({}, {"node_ids": []}, {"filters": MetadataFilters(filters=[])}):
        store.delete_nodes(**nothing)
        store.delete_nodes(**{"node_ids": [], "filters": filters("n", 0), **nothing})
    assert store.count() == 4
    store.delete_nodes(node_ids=["a0", "b0", "b1"], filters=filters("n", 0))
    assert (text_of(store, "a"), text_of(store, "b")) == ("y a", "y b")
    store.delete_nodes(filters=filters("n", 1))
    assert (text_of(store, "a"), text_of(store, "b"), store.count()) == (None, None, 0)
    store.add([node("x", embed, of="a")])
    store.delete("nobody")
    store.clear()
    assert (store.count(), text_of(store, "a")) == (0, None)
    assert_sound(store, settings)


def test_equal_vectors_are_kept_when_their_first_node_goes(
    store: FootnoteVectorStore, settings: Settings, embed: Callable[[str], list[float]]
) -> None:
    store.add([node("same words", embed, name, of="d") for name in "ab"])
    store.delete_nodes(node_ids=["a"])
    query = VectorStoreQuery(query_embedding=embed("same words"), similarity_top_k=5)
    assert store.query(query).ids == ["b"]
    assert_sound(store, settings)


def test_a_window_that_two_nodes_share_stays_when_either_is_written_again(
    store: FootnoteVectorStore, embed: Callable[[str], list[float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = {word: np.array(embed(word), dtype=np.float32) for word in ("first", "shared", "last")}
    windows = {"a": ("first", "shared"), "b": ("shared", "last")}

    def long(each: BaseNode) -> Embedded:
        made = embedded(each)
        return made._replace(vectors=np.stack([vectors[word] for word in windows.get(each.node_id, ("last",))]))

    monkeypatch.setattr("pipelines.store.vector_store.embedded", long)
    store.add([node("first shared", embed, "a", of="d"), node("shared last", embed, "b", of="d")])
    store.add([node("last", embed, "c", of="d")])
    store.delete_nodes(["a"])
    (near,) = store.similarities([vectors["shared"].tolist()], ["b"])
    assert near["b"] == pytest.approx(1.0, abs=1e-3)


def test_what_was_added_inside_a_read_snapshot_is_deleted_inside_it(
    store: FootnoteVectorStore, embed: Callable[[str], list[float]]
) -> None:
    with store.read_snapshot():
        store.add([node("one", embed, "1", of="d"), node("two", embed, "2", of="d"), node("x", embed, "3")])
        store.delete_nodes(["1"])
        store.delete("3")
    assert [each.node_id for each in store.get_nodes(["1", "2", "3"])] == ["2"]
    with store.read_snapshot():
        store.add([node("x", embed, "3")])
        store.clear()
    assert store.count() == 0


def test_what_was_added_and_deleted_can_be_undone(
    store: FootnoteVectorStore, settings: Settings, embed: Callable[[str], list[float]]
) -> None:
    store.add([node("She wrote Go.", embed, "n", of="d")])
    store.delete("d")
    ingestion = build_ingestion(settings)
    deletion, addition = (run["id"] for run in list_runs(store.engine, 2))
    roll_back(ingestion, plan_rollback(ingestion.database, deletion))
    assert text_of(store, "d") == "She wrote Go."
    roll_back(ingestion, plan_rollback(ingestion.database, addition, keep_later=False))
    assert_sound(store, settings)


def test_a_rollback_brings_added_nodes_back_with_their_ids_and_metadata(
    store: FootnoteVectorStore, settings: Settings, embed: Callable[[str], list[float]]
) -> None:
    store.add([node("She wrote Go.", embed, "a", of="d", metadata={"topic": "go", "file_name": "d.txt"})])
    store.add([node("He wrote C.", embed, "b", of="d", metadata={"topic": "c"})])
    store.add([node("She wrote Go.", embed, "a", of="d", metadata={"topic": "golang"})])
    ingestion = build_ingestion(settings)
    (relabelled,) = (run["id"] for run in list_runs(store.engine, 1))
    roll_back(ingestion, plan_rollback(ingestion.database, relabelled))
    found = {each.node_id: each for each in store.get_nodes(["a", "b"])}
    assert {name: each.metadata["topic"] for name, each in found.items()} == {"a": "go", "b": "c"}
    assert_sound(store, settings)
    store.add([node("He wrote C.", embed, "b", of="d", metadata={"topic": "c"})])
    assert text_of(store, "d") == "She wrote Go.\n\nHe wrote C."
    assert_sound(store, settings)


def test_a_rollback_brings_back_the_keys_that_the_caller_excludes(
    store: FootnoteVectorStore, settings: Settings, embed: Callable[[str], list[float]]
) -> None:
    own: dict[str, Any] = {
        "metadata": {"a": 1, "b": 2, "title": "Mine"},
        "excluded_embed_metadata_keys": ["a", "title"],
        "excluded_llm_metadata_keys": ["b"],
    }
    store.add([node("She wrote Go.", embed, "n", of="d", **own), node("He wrote C.", embed, "m", of="d")])
    before = store.get_nodes(["n", "m"])
    store.delete("d")
    ingestion = build_ingestion(settings)
    (deletion,) = (run["id"] for run in list_runs(store.engine, 1))
    roll_back(ingestion, plan_rollback(ingestion.database, deletion))
    for name in ("excluded_embed_metadata_keys", "excluded_llm_metadata_keys"):
        after = [getattr(each, name) for each in store.get_nodes(["n", "m"])]
        assert [set(each) for each in after] == [set(getattr(each, name)) for each in before]
    document = stored(store, "d")
    assert document
    assert [len(each) for each in document.metadata["added_nodes"]] == [5, 4]


@pytest.mark.parametrize("odd", ["a\0b", "a\ud800b"], ids=["nul", "surrogate"])
def test_an_id_that_cannot_be_stored_finds_and_deletes_nothing(
    odd: str, store: FootnoteVectorStore, embed: Callable[[str], list[float]]
) -> None:
    store.add([node("She wrote Go.", embed, "a", of="d")])
    store.delete(odd)
    store.delete_nodes([odd])
    query = VectorStoreQuery(query_embedding=embed("Go"), similarity_top_k=1, doc_ids=[odd])
    assert (store.get_nodes([odd]), store.query(query).nodes) == ([], [])
    assert [each.node_id for each in store.get_nodes(["a"])] == ["a"]


def test_a_number_that_json_lacks_is_refused(store: FootnoteVectorStore, embed: Callable[[str], list[float]]) -> None:
    with pytest.raises(StoreError, match="of node a cannot be stored"):
        store.add([node("She wrote Go.", embed, "a", of="d", metadata={"score": float("nan")})])


def test_a_reindex_leaves_added_nodes_alone_and_another_model_gets_nodes_of_the_same_text(
    store: FootnoteVectorStore, settings: Settings, embed: Callable[[str], list[float]]
) -> None:
    store.add([node("She wrote Go.", embed, "n", of="d")])
    assert plan_reindex(build_ingestion(settings)).steps == ()
    other = build_reembedding(settings, EmbeddingIdentity("hashed", "hashed", 64))
    report = other.run()
    assert (report.documents, report.failed, other.ingestion.store.count()) == (1, {}, 1)
    assert_sound(store, settings)


def test_nodes_that_several_threads_add_to_one_document_are_all_kept(
    store: FootnoteVectorStore, settings: Settings, embed: Callable[[str], list[float]]
) -> None:
    nodes = [node(f"Sentence number {n}.", embed, f"{n}", of="d") for n in range(8)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda each: store.add([each]), nodes)) == [[each.node_id] for each in nodes]
    assert store.count() == 8
    assert_sound(store, settings)


def test_a_model_that_is_not_active_takes_no_nodes(store: FootnoteVectorStore, settings: Settings) -> None:
    other = build_vector_store(settings, open_database(settings), EmbeddingIdentity("hashed", "hashed", 64))
    with pytest.raises(ConfigError, match="promoted meanwhile"):
        other.add([TextNode(text="words", embedding=[1.0] * 64)])
    assert (other.count(), store.count()) == (0, 0)


def test_a_model_that_is_not_active_deletes_nothing_of_the_one_that_is(
    store: FootnoteVectorStore, settings: Settings, embed: Callable[[str], list[float]]
) -> None:
    store.add([node("Ada wrote a program.", embed, of="notes")])
    other = EmbeddingIdentity("hashed", "hashed", 64)
    build_reembedding(settings, other).run()
    aside = build_vector_store(settings, open_database(settings), other)
    assert aside.count() == 1
    for delete in (aside.clear, lambda: aside.delete("notes")):
        with pytest.raises(ConfigError, match="promoted meanwhile"):
            delete()
    assert (store.count(), text_of(store, "notes")) == (1, "Ada wrote a program.")


def test_nodes_are_as_visible_as_their_document(
    store: FootnoteVectorStore, settings: Settings, embed: Callable[[str], list[float]]
) -> None:
    secret = "The vault opens with nine turns."
    store.add([node(secret, embed, "a", of="vault", metadata={"visibility": "private"})])
    (parsed,) = PARSERS["generic"]().get_nodes_from_documents([LlamaDocument(text="Ten turns close it.", id_="vault")])
    assert parsed.metadata["visibility"] == "public"
    store.add([parsed.model_copy(update={"embedding": embed(parsed.text)})])
    document = stored(store, "vault")
    assert document
    assert document.visibility == "private"
    engine = build_query_engine(settings)
    assert engine.search("turns", audience="visitor", record=False).results == ()
    assert len(engine.search("turns", record=False).results) == 2
    assert_sound(store, settings)


def test_a_private_document_that_is_written_anew_stays_private(store: FootnoteVectorStore, settings: Settings) -> None:
    index = VectorStoreIndex.from_vector_store(store, embed_model=build_embed_model(settings))
    index.insert(LlamaDocument(id_="vault", text="Nine turns.", metadata={"visibility": "private"}))
    for text in ("Ten turns.", "Eleven turns."):
        index.update_ref_doc(LlamaDocument(id_="vault", text=text))
        document = stored(store, "vault")
        assert document
        assert (document.text, document.visibility) == (text, "private")
    assert build_query_engine(settings).search("turns", audience="visitor", record=False).results == ()
    assert_sound(store, settings)


def test_the_search_as_a_retriever_takes_the_embedding_that_the_question_brings(
    store: FootnoteVectorStore, settings: Settings, embed: Callable[[str], list[float]]
) -> None:
    store.add([node("Ada wrote a program.", embed, "a"), node("The soup is hot.", embed, "b")])
    retrieval = settings.retrieval.model_copy(update={"mode": "dense", "whitening": 0.0})
    retriever = build_query_engine(settings.model_copy(update={"retrieval": retrieval})).as_retriever()
    for text, best in (("The soup is hot.", "b"), ("Ada wrote a program.", "a")):
        assert retriever.retrieve(QueryBundle("Which of them?", embedding=embed(text)))[0].node_id == best
    with pytest.raises(RetrievalError, match="an embedding of 256 dimensions, and has one of 3"):
        retriever.retrieve(QueryBundle("Which of them?", embedding=[1.0] * 3))


def test_the_search_as_a_retriever_gives_the_callers_metadata_back(
    store: FootnoteVectorStore, settings: Settings, embed: Callable[[str], list[float]]
) -> None:
    store.add([node("Ada wrote a program.", embed, metadata={"team": "A"})])
    (hit,) = build_query_engine(settings).as_retriever().retrieve("Who wrote a program?")
    assert hit.metadata["team"] == "A"


def test_the_asynchronous_methods_do_what_the_others_do(
    store: FootnoteVectorStore, settings: Settings, embed: Callable[[str], list[float]]
) -> None:
    async def use() -> list[Any]:
        await store.async_add([node("one", embed, "1", of="d"), node("two", embed, "2", of="d"), node("x", embed, "3")])
        found = [(await store.aget_nodes(["1"]))[0].get_content()]
        found.append((await store.aquery(VectorStoreQuery(embed("two"), similarity_top_k=1))).ids)
        await store.adelete_nodes(["1"])
        await store.adelete("3")
        found.append(store.count())
        await store.aclear()
        return [*found, store.count()]

    for _ in range(2):  # two event loops
        assert asyncio.run(use()) == ["one", ["2"], 1, 0]


# Queries and filters

SHELF: dict[str, dict[str, Any]] = {
    "a": {"n": 1, "s": "apple", "l": ["x", "y"], "year": 2020},
    "b": {"n": 2.5, "s": "Banana", "l": ["y"], "e": []},
    "c": {"n": -3, "s": "it's 100% _'; DROP TABLE documents; --", "l": [], "none": None},
    "d": {"n": 10, "s": "äpple", "t": "", "l": [1, 2]},
    "e": {"s": "5", "other": True, "O'Neil": "x", "see :foo": 1, "a'b\"c": "q"},
}


@pytest.fixture(scope="module")
def shelf(stock: Callable[..., Settings]) -> Iterator[FootnoteVectorStore]:
    settings = stock()
    made = build_vector_store(settings, open_database(settings), identity(settings))
    embed = build_embed_model(settings).get_text_embedding
    made.add([node(f"words {name}", embed, name, metadata=metadata) for name, metadata in SHELF.items()])
    yield made
    made.engine.dispose()


def passing(store: FootnoteVectorStore, chosen: MetadataFilters) -> set[str]:
    return {each.node_id for each in store.get_nodes(filters=chosen)}


_VALUES = [value for metadata in SHELF.values() for value in metadata.values()]
_SCALARS = st.one_of(
    st.sampled_from([value for value in _VALUES if type(value) in (str, int, float)]),
    st.integers(-5, 12),
    st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=4),
)
_KEYS = st.sampled_from(sorted({*chain.from_iterable(SHELF.values()), "missing"}))
_ANY_OPERATOR = st.sampled_from(
    [each for each in FilterOperator if each not in (FilterOperator.TEXT_MATCH_INSENSITIVE, FilterOperator.CONTAINS)]
)


@st.composite
def _filter(draw: st.DrawFn) -> MetadataFilter:
    operator = draw(_ANY_OPERATOR)
    value: Any = draw(_SCALARS)
    if operator in (FilterOperator.IN, FilterOperator.NIN, FilterOperator.ANY, FilterOperator.ALL):
        kind = draw(st.sampled_from([str, int]))
        value = [one for one in draw(st.lists(_SCALARS, max_size=3)) if isinstance(one, kind)]
    if operator == FilterOperator.TEXT_MATCH:
        value = str(value)
    return MetadataFilter(key=draw(_KEYS), value=value, operator=operator)


def _expected(chosen: MetadataFilter, metadata: dict[str, Any]) -> bool:
    """What LlamaIndex's own store says, where types fit; values of different types have no order and are unequal."""
    value = metadata.get(chosen.key)
    lists = (FilterOperator.ANY, FilterOperator.ALL)
    ordered = (FilterOperator.GT, FilterOperator.GTE, FilterOperator.LT, FilterOperator.LTE)
    if value is not None:
        if chosen.operator in lists and not isinstance(value, list):
            return False
        if chosen.operator == FilterOperator.TEXT_MATCH and not isinstance(value, str):
            return False
        if chosen.operator in ordered and (
            isinstance(value, (list, bool)) or isinstance(value, str) != isinstance(chosen.value, str)
        ):
            return False
        if isinstance(value, bool) and chosen.operator != FilterOperator.IS_EMPTY:
            return chosen.operator in (FilterOperator.NE, FilterOperator.NIN)
    return bool(build_metadata_filter_fn(lambda _: metadata, MetadataFilters(filters=[chosen]))(""))


@searches(max_examples=150)
@given(chosen=_filter())
def test_every_operator_chooses_what_llamaindex_chooses(shelf: FootnoteVectorStore, chosen: MetadataFilter) -> None:
    expected = {name for name, metadata in SHELF.items() if _expected(chosen, metadata)}
    assert passing(shelf, MetadataFilters(filters=[chosen])) == expected


_CONDITIONS = st.sampled_from(FilterCondition)


@searches(max_examples=50)
@given(st.lists(_filter(), max_size=3), _CONDITIONS, st.lists(_filter(), max_size=2), _CONDITIONS)
def test_conditions_nest(
    shelf: FootnoteVectorStore,
    chosen: list[MetadataFilter],
    of: FilterCondition,
    inner: list[MetadataFilter],
    of_inner: FilterCondition,
) -> None:
    def combined(condition: FilterCondition, matches: list[bool]) -> bool:
        if condition == FilterCondition.NOT:
            return not any(matches)
        return any(matches) or not matches if condition == FilterCondition.OR else all(matches)

    def expected(metadata: dict[str, Any]) -> bool:
        within = combined(of_inner, [_expected(one, metadata) for one in inner])
        return combined(of, [*(_expected(one, metadata) for one in chosen), within])

    nested = MetadataFilters(filters=[*chosen, MetadataFilters(filters=list(inner), condition=of_inner)], condition=of)
    assert passing(shelf, nested) == {name for name, metadata in SHELF.items() if expected(metadata)}


@pytest.mark.parametrize(
    ("key", "value", "operator", "expected"),
    [
        ("l", "y", FilterOperator.CONTAINS, "ab"),
        ("l", 2, FilterOperator.CONTAINS, "d"),
        ("s", "a", FilterOperator.CONTAINS, ""),
        ("year", 2020, FilterOperator.EQ, "a"),
        ("O'Neil", "x", FilterOperator.EQ, "e"),
        ("see :foo", 1, FilterOperator.EQ, "e"),
        ("a'b\"c", "q", FilterOperator.EQ, "e"),
        ("x' OR 'a'='a", "x' OR 'a'='a", FilterOperator.EQ, ""),
        ("s", "x' OR 'a'='a", FilterOperator.EQ, ""),
        ("s", "%", FilterOperator.TEXT_MATCH, "c"),
        ("s", "_", FilterOperator.TEXT_MATCH, "c"),
        ("kind", "text", FilterOperator.EQ, "abcde"),
        ("category", ["generic"], FilterOperator.IN, "abcde"),
        ("name", "b", FilterOperator.EQ, "b"),
        ("source_kind", "llamaindex", FilterOperator.EQ, "abcde"),
        ("ref_doc_id", "d", FilterOperator.EQ, "d"),
        ("document_id", "d", FilterOperator.EQ, "d"),
        ("published_at", "2000-01-01", FilterOperator.GT, ""),
        ("_node_content", "x", FilterOperator.NE, "abcde"),
    ],
)  # fmt: skip
def test_keys_and_values_are_only_keys_and_values(
    shelf: FootnoteVectorStore, key: str, value: Any, operator: FilterOperator, expected: str
) -> None:
    assert passing(shelf, filters(key, value, operator)) == set(expected)


@pytest.mark.parametrize(
    ("key", "value", "operator", "named"),
    [
        ("s", "x", FilterOperator.TEXT_MATCH_INSENSITIVE, "TEXT_MATCH_INSENSITIVE"),
        ("s", None, FilterOperator.EQ, "EQ"),
        ("s", ["x"], FilterOperator.GT, "GT"),
        ("s", "x", FilterOperator.IN, "IN"),
        ("s", 5, FilterOperator.TEXT_MATCH, "TEXT_MATCH"),
        ("s", "a\x00", FilterOperator.EQ, "'s'"),
        ("s\x00", "a", FilterOperator.EQ, "stored"),
        ("s", "\ud800", FilterOperator.EQ, "stored"),
        ("n", float("nan"), FilterOperator.EQ, "stored"),
        ("n", [float("inf")], FilterOperator.IN, "stored"),
    ],
    ids=str,
)  # fmt: skip
def test_a_filter_that_cannot_be_applied_is_an_error_that_names_it(
    shelf: FootnoteVectorStore, key: str, value: Any, operator: FilterOperator, named: str
) -> None:
    with pytest.raises(RetrievalError, match=named):
        shelf.get_nodes(filters=filters(key, value, operator))


def test_a_query_is_narrowed_by_ids_documents_and_filters(shelf: FootnoteVectorStore) -> None:
    vector = [1.0] * shelf.dimension

    def found(**narrowed: Any) -> set[str]:
        return set(shelf.query(VectorStoreQuery(vector, similarity_top_k=9, **narrowed), hnsw_ef_search=50).ids or ())

    assert found() == found(node_ids=[], doc_ids=[]) == set("abcde")
    assert found(node_ids=["a", "b"], doc_ids=["b", "c"]) == {"b"}
    assert found(doc_ids=["b", "c"], filters=filters("n", 0, FilterOperator.LT)) == {"c"}
    best = shelf.query(VectorStoreQuery(vector, similarity_top_k=2))
    assert len(best.nodes or ()) == 2
    assert sorted(best.similarities or (), reverse=True) == best.similarities


@pytest.mark.parametrize("mode", [each for each in VectorStoreQueryMode if each != VectorStoreQueryMode.DEFAULT])
def test_a_query_mode_that_is_not_supported_is_named(shelf: FootnoteVectorStore, mode: VectorStoreQueryMode) -> None:
    with pytest.raises(RetrievalError, match=f"mode {mode.value} "):
        shelf.query(VectorStoreQuery([1.0] * shelf.dimension, mode=mode))


@pytest.mark.parametrize(
    ("query", "options"),
    [
        (VectorStoreQuery(None), {}),
        (VectorStoreQuery([1.0] * 3), {}),
        (VectorStoreQuery([1.0] * 256, alpha=0.5), {}),
        (VectorStoreQuery([1.0] * 256), {"ivfflat_probes": 3}),
    ],
    ids=["no embedding", "dimension", "alpha", "option"],
)
def test_what_a_query_cannot_do_is_an_error(shelf: FootnoteVectorStore, query: VectorStoreQuery, options: Any) -> None:
    with pytest.raises(RetrievalError):
        shelf.query(query, **options)


def test_getting_nodes_needs_ids_or_filters_and_no_ids_are_no_nodes(shelf: FootnoteVectorStore) -> None:
    with pytest.raises(FootnoteError):
        shelf.get_nodes()
    assert shelf.get_nodes(node_ids=[]) == []
    for method in (shelf.add, shelf.delete_nodes):
        with pytest.raises(RetrievalError, match="why"):
            method([], why=1)
