"""The nodes before and after each kept one, within its section: the semantic block around it."""

from collections.abc import Callable, Sequence
from itertools import takewhile

from llama_index.core.bridge.pydantic import Field
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle

from pipelines.query.trace import SILENT, Observer

Window = Callable[[str, int, int], Sequence[NodeWithScore]]


def same_block(anchor: BaseNode, window: Sequence[NodeWithScore]) -> list[NodeWithScore]:
    """The neighbours of a node that follow on it without a gap under its very headings, in document order.

    Args:
        anchor: The node itself.
        window: Nodes of its document by ascending ordinal, the anchor among them; without it there are no neighbours,
            since the document was replaced meanwhile.
    """
    places = [place for place, hit in enumerate(window) if hit.node.node_id == anchor.node_id]
    if not places:
        return []
    path, ordinal, place = anchor.metadata["section_path"], anchor.metadata["ordinal"], places[0]

    def joins(placed: tuple[int, NodeWithScore]) -> bool:
        distance, meta = placed[0], placed[1].node.metadata
        return bool(meta["section_path"] == path and abs(meta["ordinal"] - ordinal) == distance)

    before = takewhile(joins, enumerate(reversed(window[:place]), start=1))
    after = takewhile(joins, enumerate(window[place + 1 :], start=1))
    return [hit for _, hit in reversed(list(before))] + [hit for _, hit in after]


class NeighbourExpansion(BaseNodePostprocessor):
    """Puts after each node its neighbours, up to `width` on each side, each once and with its anchor's score.

    A neighbour that is in the ranking itself keeps its own place. The stock PrevNextNodePostprocessor overwrites
    scores with None, and wants a docstore.
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
            near = [each.node for each in self._around(hit.node) if each.node.node_id not in taken]
            fresh = [NodeWithScore(node=node, score=hit.score) for node in near]
            taken |= {node.node_id for node in near}
            self.observer.ranked(fresh)
            block += [hit, *fresh]
        if len(block) > len(nodes):
            self.observer.tag("neighbours")
        return block

    def _around(self, node: BaseNode) -> list[NodeWithScore]:
        """The neighbours of a node; none of one whose place in a document is unknown."""
        if not {"document_id", "ordinal", "section_path"} <= node.metadata.keys():
            return []
        return same_block(node, self.reader(node.metadata["document_id"], node.metadata["ordinal"], self.width))
