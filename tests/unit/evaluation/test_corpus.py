from typing import Any

import pytest
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import Field
from llama_index.core.schema import NodeWithScore, TextNode
from sqlalchemy import create_engine

from pipelines.evaluation.corpus import QueryCache, ReadOnceStore
from pipelines.types import EmbeddingIdentity, Filters

IDENTITY = EmbeddingIdentity("hashed", "counting", 2)


class CountingEmbedding(BaseEmbedding):
    """Gives every text the same vector, and counts."""

    asked: list[str] = Field(default_factory=list)

    def _get_query_embedding(self, query: str) -> list[float]:
        self.asked.append(query)
        return [1 / 3, 2 / 3]

    def _get_text_embedding(self, text: str) -> list[float]:
        self.asked.append(text)
        return [0.0, float(len(text))]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


class CountingStore:
    """A store of two nodes that counts what it is asked."""

    engine, table, dimension = create_engine("postgresql+psycopg2://"), "nodes_counting_v1", 2

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def dense(self, vector: Any, k: int, *, look: int, filters: Filters, audience: str) -> list[NodeWithScore]:
        self.asked.append(("dense", k))
        return [NodeWithScore(node=TextNode(id_="a", text="A"), score=0.5)]

    def fetch(self, node_ids: Any, *, filters: Filters, audience: str) -> dict[str, TextNode]:
        self.asked.append(("fetch", tuple(node_ids)))
        return {node_id: TextNode(id_=node_id, text=node_id) for node_id in node_ids if node_id in "ab"}

    def similarities(self, vector: Any, node_ids: Any) -> dict[str, float]:
        self.asked.append(("similarities", tuple(node_ids)))
        return {node_id: 0.25 for node_id in node_ids if node_id in "ab"}

    def version(self) -> int:
        self.asked.append("version")
        return 7


def test_a_question_is_embedded_once() -> None:
    model = CountingEmbedding(model_name="counting")
    cache = QueryCache.over(model, IDENTITY, None)
    assert cache.get_query_embedding("q") == cache.get_query_embedding("q") == pytest.approx([1 / 3, 2 / 3])
    assert model.asked == ["q"]


def test_texts_reach_the_model_as_texts() -> None:
    cache = QueryCache.over(CountingEmbedding(model_name="counting"), IDENTITY, None)
    assert cache.get_text_embedding_batch(["t", "uu"]) == [[0.0, 1.0], [0.0, 2.0]]


def test_a_text_is_embedded_once_and_each_keeps_its_vector() -> None:
    model = CountingEmbedding(model_name="counting")
    cache = QueryCache.over(model, IDENTITY, None)
    cache.get_query_embedding("t")
    assert cache.get_text_embedding_batch(["t", "uu", "t"]) == [[0.0, 1.0], [0.0, 2.0], [0.0, 1.0]]
    assert cache.get_text_embedding_batch(["www", "uu"]) == [[0.0, 3.0], [0.0, 2.0]]
    assert cache.get_text_embedding("www") == [0.0, 3.0]
    assert model.asked == ["t", "t", "uu", "www"]


def test_what_was_read_once_is_not_read_again() -> None:
    held = CountingStore()
    store: Any = ReadOnceStore(held)  # type: ignore[arg-type]
    reach: dict[str, Any] = {"look": 9, "filters": Filters(), "audience": "owner"}
    for _ in range(2):
        assert [(hit.node.node_id, hit.score) for hit in store.dense([1.0, 0.0], 1, **reach)] == [("a", 0.5)]
        assert store.version() == 7
    assert held.asked == [("dense", 1), "version"]
    store.dense([1.0, 0.0], 2, **reach)
    store.dense([0.0, 1.0], 1, **reach)
    store.dense([1.0, 0.0], 1, **{**reach, "filters": Filters(year=(2020,))})
    assert len(held.asked) == 5


def test_only_what_is_missing_is_read_and_nothing_else_is_given() -> None:
    held = CountingStore()
    store: Any = ReadOnceStore(held)  # type: ignore[arg-type]
    assert store.similarities([1.0, 0.0], ["a"]) == {"a": 0.25}
    assert store.similarities([1.0, 0.0], ["b", "a"]) == {"a": 0.25, "b": 0.25}
    assert store.similarities([1.0, 0.0], ["b"]) == {"b": 0.25}
    reach: dict[str, Any] = {"filters": Filters(), "audience": "owner"}
    assert store.fetch(["a"], **reach).keys() == {"a"}
    assert store.fetch(["b", "gone"], **reach).keys() == {"b"}
    assert held.asked == [
        ("similarities", ("a",)), ("similarities", ("b",)), ("fetch", ("a",)), ("fetch", ("b", "gone")),
    ]  # fmt: skip


def test_a_ranking_that_was_changed_by_a_stage_is_fresh_the_next_time() -> None:
    store: Any = ReadOnceStore(CountingStore())  # type: ignore[arg-type]
    reach: dict[str, Any] = {"look": 9, "filters": Filters(), "audience": "owner"}
    store.dense([1.0, 0.0], 1, **reach)[0].score = 99.0
    assert store.dense([1.0, 0.0], 1, **reach)[0].score == 0.5
