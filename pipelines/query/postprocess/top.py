"""The best so many nodes that were asked for."""

from llama_index.core.bridge.pydantic import Field
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from pipelines.query.trace import Ledger


class Top(BaseNodePostprocessor):
    """Keeps the first `top_n` nodes."""

    top_n: int
    ledger: Ledger = Field(exclude=True, repr=False)

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        for hit in nodes[self.top_n :]:
            self.ledger.cut(hit.node.node_id, "top_n")
        return nodes[: self.top_n]
