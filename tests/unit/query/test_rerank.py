"""The optional reranker: a class of a package, and what happens when one fails."""

import math
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import ClassVar

import pytest
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from pipelines.errors import ConfigError
from pipelines.query.postprocess.rerank import Rerank, load_reranker
from pipelines.query.trace import Ledger
from tests.unit.query.builders import hit


class Reversing(BaseNodePostprocessor):
    """Gives back the last `top_n` nodes, last first, and writes into what it was given, as some rerankers do."""

    top_n: int = 2
    read: ClassVar[list[str]] = []

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle=None) -> list[NodeWithScore]:
        self.read[:] = [one.node.get_content() for one in nodes]
        for one in nodes:
            one.score = -1.0
            one.node.metadata["seen"] = True
        return nodes[::-1][: self.top_n]


class Broken(Reversing):
    """Raises what only it knows."""

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle=None) -> list[NodeWithScore]:
        raise KeyError("quota used up")


class Unmade(Reversing):
    """Wants a key."""

    def __init__(self, **fields: object) -> None:
        raise ValueError("set FAKE_API_KEY")


@pytest.fixture(autouse=True)
def _package(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installed package of rerankers."""
    module = ModuleType("fake_rerankers")
    for made in (Reversing, Broken, Unmade):
        setattr(module, made.__name__, made)
    module.NoReranker = str
    monkeypatch.setitem(sys.modules, "fake_rerankers", module)
    load_reranker.cache_clear()
    yield
    load_reranker.cache_clear()


def nodes() -> list[NodeWithScore]:
    rows = [("a", "cake", 0.9), ("b", "harbour", 0.8), ("c", "crane harbour", 0.8), ("d", "crane crane crane", 0.5)]
    return [hit(*row, mime="text/plain") for row in rows]


def rerank(named: str, *, candidates: int = 3) -> tuple[list[NodeWithScore], Ledger]:
    ledger = Ledger()
    ledger.fused(nodes())
    step = Rerank(observer=ledger, named=named, candidates=candidates)
    return step.postprocess_nodes(nodes(), query_bundle=QueryBundle("cake crane")), ledger


def ids(ranking: list[NodeWithScore]) -> list[str]:
    return [one.node.node_id for one in ranking]


def test_reordering_keeps_the_scores_and_moves_the_nodes() -> None:
    moved, _ = rerank("fake_rerankers.Reversing")
    assert ids(moved) == ["c", "b", "a", "d"]
    assert [one.score for one in moved] == [0.9, 0.8, math.nextafter(0.8, 0), 0.5]


def test_the_class_of_a_package_is_given_bare_copies_and_gives_back_all_candidates() -> None:
    given = nodes()
    ledger = Ledger()
    ledger.fused(given)
    step = Rerank(observer=ledger, named="fake_rerankers.Reversing", candidates=3)
    assert ids(step.postprocess_nodes(given, query_bundle=QueryBundle("q"))) == ["c", "b", "a", "d"]
    assert [one.model_dump() for one in given] == [one.model_dump() for one in nodes()]
    assert ledger.used("rerank")
    assert ledger.candidate("c").factors == {"rerank": pytest.approx(0.9 / 0.8)}


def test_a_reranker_reads_the_text_that_is_embedded() -> None:
    step = Rerank(named="fake_rerankers.Reversing", candidates=3)
    step.postprocess_nodes([hit("b", "harbour", mime="", header="crane")], query_bundle=QueryBundle("q"))
    assert Reversing.read == ["crane\nharbour"]


def test_a_reranker_that_fails_leaves_the_ranking_and_a_note() -> None:
    ranking, ledger = rerank("fake_rerankers.Broken")
    assert [(one.node.node_id, one.score) for one in ranking] == [(one.node.node_id, one.score) for one in nodes()]
    assert ledger.notes == ["The reranker failed (KeyError); the ranking stays as it was."]
    assert ledger.degraded
    assert not ledger.used("rerank")


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("/no/such/folder", "cannot be made"),
        ("llama_index.postprocessor.cohere_rerank.CohereRerank", "install its package"),
        ("fake_rerankers.Missing", "has no attribute 'Missing'"),
        ("fake_rerankers.NoReranker", "is not a BaseNodePostprocessor"),
        ("fake_rerankers.Unmade", "set FAKE_API_KEY"),
    ],
)
def test_a_reranker_that_cannot_be_had_is_a_configuration_error(named: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        rerank(named)
    assert message in str(raised.value)
