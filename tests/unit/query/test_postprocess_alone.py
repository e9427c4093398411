"""Every postprocessor alone, in a plain LlamaIndex query engine, over nodes that are not Footnote's."""

from datetime import date

import pytest
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode

from pipelines.query.postprocess.boost import (
    CategoryBoost,
    NamedDocumentBoost,
    QualityBoost,
    RecencyBoost,
    SectionBoost,
    YearBoost,
)
from pipelines.query.postprocess.cut import DocumentQuota, TopN
from pipelines.query.postprocess.duplicates import DuplicateFilter
from pipelines.query.postprocess.rerank import Rerank


def foreign(node_id: str, document: str, text: str, **metadata: object) -> TextNode:
    source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=document)}
    return TextNode(id_=node_id, text=text, metadata=metadata, relationships=source)


NODES = [
    foreign("a", "d1", "The crane lifts fourteen tonnes."),
    foreign("b", "d1", "The crane lifts fourteen tonnes.", year="unknown"),
    foreign("c", "d1", "Its rope is new.", section_path=None),
    foreign("e", "d2", "Tomatoes grow behind the shed."),
    TextNode(id_="f", text="A node without a document."),
]


class Fixed(BaseRetriever):
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=node, score=1 - place / 10) for place, node in enumerate(NODES)]


class Reversing(BaseNodePostprocessor):
    """A reranker of another package."""

    def _postprocess_nodes(self, nodes, query_bundle=None) -> list[NodeWithScore]:
        return nodes[::-1]


ALL = "abcef"
STEPS: list[tuple[BaseNodePostprocessor, str]] = [
    (CategoryBoost(asked=("resume",), table={"resume": 1.3}), ALL),
    (RecencyBoost(), ALL),
    (RecencyBoost(today=date(2026, 1, 1)), ALL),
    (YearBoost(asked=(2020,), factor=1.2), ALL),
    (QualityBoost(), ALL),
    (SectionBoost(asked=("skills",), factor=1.1), ALL),
    (NamedDocumentBoost(named=("d2",), factor=1.5), "eabcf"),
    (DocumentQuota(per_document=2), "abef"),
    (TopN(top_n=3, named=("d1", "d2")), "abe"),
    (DuplicateFilter(), "acef"),
    (Rerank(named=f"{__name__}.Reversing", candidates=5), ALL[::-1]),
]


@pytest.mark.parametrize(
    ("step", "kept"), STEPS, ids=[f"{n} {type(step).__name__}" for n, (step, _) in enumerate(STEPS)]
)
def test_a_postprocessor_works_without_a_ledger_on_nodes_of_any_program(
    step: BaseNodePostprocessor, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipelines.query.postprocess.rerank.load_reranker", lambda *_: Reversing())
    engine = RetrieverQueryEngine.from_args(Fixed(), llm=MockLLM(), node_postprocessors=[step])
    assert "".join(hit.node.node_id for hit in engine.query("Which crane?").source_nodes) == kept


def test_a_boost_that_boosts_nothing_keeps_the_order() -> None:
    hits = [NodeWithScore(node=TextNode(id_=name, text=name)) for name in "cab"]
    boosted = QualityBoost().postprocess_nodes(hits)
    assert [hit.node.node_id for hit in boosted] == ["c", "a", "b"]
