"""The base of the node postprocessors of a search."""

from llama_index.core.bridge.pydantic import Field
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from pipelines.query.trace import SILENT, Observer


class Postprocessor(BaseNodePostprocessor):
    """A postprocessor that tells an observer what it does.

    A search calls `applied` by itself: LlamaIndex puts two spans around a call of its own methods, 0.2 ms together.
    """

    observer: Observer = Field(SILENT, exclude=True, repr=False)

    def applied(self, nodes: list[NodeWithScore], query: QueryBundle | None = None) -> list[NodeWithScore]:
        """The nodes that stay, with their scores, in their new order."""
        raise NotImplementedError

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return self.applied(nodes, query_bundle)
