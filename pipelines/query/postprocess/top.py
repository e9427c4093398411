"""The best so many nodes that were asked for; of several named documents, the best of each."""

from collections.abc import Collection, Sequence
from itertools import islice

from llama_index.core.bridge.pydantic import Field
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from pipelines.query.trace import Ledger


def top_places(documents: Sequence[str], *, top_n: int, named: Collection[str] = ()) -> list[int]:
    """The first `top_n` places, ascending; where several documents are named, the best place of each is among them."""
    best: dict[str, int] = {}
    for place, document in enumerate(documents):
        if document in named:
            best.setdefault(document, place)
    kept = list(best.values())[:top_n] if len(best) > 1 else []
    rest = (place for place in range(len(documents)) if place not in kept)
    return sorted([*kept, *islice(rest, top_n - len(kept))])


class Top(BaseNodePostprocessor):
    """Keeps the first `top_n` nodes, and of several documents in `named` the best of each."""

    top_n: int
    named: tuple[str, ...] = ()
    ledger: Ledger = Field(exclude=True, repr=False)

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        documents = [hit.node.metadata["document_id"] for hit in nodes]
        kept = set(top_places(documents, top_n=self.top_n, named=self.named))
        for place, hit in enumerate(nodes):
            if place not in kept:
                self.ledger.cut(hit.node.node_id, "top_n")
        return [hit for place, hit in enumerate(nodes) if place in kept]
