"""The nodes before and after each kept one, within its section: the semantic block around it."""

from collections.abc import Callable, Sequence
from itertools import takewhile

from llama_index.core.bridge.pydantic import Field
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle

from pipelines.query.trace import SILENT, Observer

Window = Callable[[str, int, int], Sequence[BaseNode]]


class NeighbourExpansion(BaseNodePostprocessor):
    """Puts after each node its neighbours, up to `width` on each side, each once and with its anchor's score.

    Neighbours follow on a node without a gap under its very headings. One that is in the ranking itself keeps its own
    place; a node whose place in a document is unknown, or whose document was replaced meanwhile, has none. The stock
    PrevNextNodePostprocessor overwrites scores with None, and wants a docstore.
    """

    width: int
    observer: Observer = Field(SILENT, exclude=True, repr=False)
    reader: Window = Field(exclude=True)

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        taken = {hit.node.node_id for hit in nodes}
        block: list[NodeWithScore] = []
        for hit in nodes:
            near = [node for node in self._around(hit.node) if node.node_id not in taken]
            fresh = [NodeWithScore(node=node, score=hit.score) for node in near]
            taken |= {node.node_id for node in near}
            self.observer.ranked(fresh)
            block += [hit, *fresh]
        if len(block) > len(nodes):
            self.observer.tag("neighbours")
        return block

    def _around(self, node: BaseNode) -> list[BaseNode]:
        """The neighbours of a node, in document order."""
        meta = node.metadata
        if not {"document_id", "ordinal", "section_path"} <= meta.keys():
            return []
        window = self.reader(meta["document_id"], meta["ordinal"], self.width)
        place = next((place for place, other in enumerate(window) if other.node_id == node.node_id), None)
        if place is None:
            return []

        def joins(at: int) -> bool:
            other = window[at].metadata
            follows = other["ordinal"] - meta["ordinal"] == at - place
            return bool(follows and other["section_path"] == meta["section_path"])

        near = [*takewhile(joins, range(place - 1, -1, -1)), *takewhile(joins, range(place + 1, len(window)))]
        return [window[at] for at in sorted(near)]
