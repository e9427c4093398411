"""What every factor does: each node's score times the node's own value, best first again."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from llama_index.core.bridge.pydantic import Field
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle

from pipelines.query.trace import Ledger


def boosted(score: float, value: float) -> float:
    """The score times the value; a score below 0 is divided, so that a value above 1 never lowers a node."""
    return score * value if score >= 0 else score / value


def multiplied(ranking: Sequence[NodeWithScore], values: Mapping[str, float]) -> list[NodeWithScore]:
    """New hits with each score boosted by its node's value, best first, ties by node id.

    Args:
        ranking: In any order; a hit without a score has 0.
        values: By node id, above 0; 1 leaves a score as it is.
    """
    hits = [
        NodeWithScore(node=hit.node, score=boosted(float(hit.score or 0.0), values[hit.node.node_id]))
        for hit in ranking
    ]
    return sorted(hits, key=lambda hit: (-float(hit.score or 0.0), hit.node.node_id))


class Factor(BaseNodePostprocessor):
    """Multiplies scores by what `value` says of each node, and tells the ledger; a factor is a name and a value."""

    name: ClassVar[str]
    ledger: Ledger = Field(exclude=True, repr=False)

    # Not an abstract method: LlamaIndex wraps those in a span, which costs 0.1 ms a node.
    def value(self, node: BaseNode) -> float:
        """What this node's score is multiplied by, above 0."""
        raise NotImplementedError

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        values = {hit.node.node_id: self.value(hit.node) for hit in nodes}
        for node_id, value in values.items():
            self.ledger.factor(node_id, self.name, value)
        return multiplied(nodes, values)
