"""Widen a found node to the section around it: small nodes are found, what stands beside them is read."""

from typing import Any

from llama_index.core.bridge.pydantic import Field
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from pipelines.store.sections import read_parents
from pipelines.types import Audience, Filters


class SectionExpansion(BaseNodePostprocessor):
    """Adds after each node the others of its parent, in their order and with its score, if all are `max_tokens`.

    Added are only nodes that pass the filters. Nodes that the store does not hold, and those of larger sections, stay
    as they are.
    """

    store: Any = Field(exclude=True, repr=False)
    audience: Audience = "owner"
    filters: Filters = Field(default_factory=Filters, exclude=True)
    max_tokens: int

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        parents = read_parents(self.store, {str(hit.node.metadata.get("document_id")) for hit in nodes}, self.audience)
        beside = {hit.node.node_id: parents[hit.node.node_id].node_ids for hit in nodes if hit.node.node_id in parents}
        members = dict.fromkeys(node_id for node_ids in beside.values() for node_id in node_ids)
        known = self.store.fetch(members, filters=self.filters, audience=self.audience)
        widened, found = [], {hit.node.node_id for hit in nodes}
        for hit in nodes:
            widened.append(hit)
            around = [known[node_id] for node_id in beside.get(hit.node.node_id, ()) if node_id in known]
            if sum(node.metadata["token_count"] for node in around) <= self.max_tokens:
                widened += [NodeWithScore(node=node, score=hit.score) for node in around if node.node_id not in found]
                found |= {node.node_id for node in around}
        return widened
