"""At most so many nodes of one document, so that a long one does not push the others out."""

from collections import Counter
from collections.abc import Collection, Sequence

from llama_index.core.bridge.pydantic import Field
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from pipelines.query.trace import Ledger


def over_quota(documents: Sequence[str], *, quota: int, named: Collection[str] = (), among: int = 0) -> set[int]:
    """The places that come after the first `quota` of their document; a named document has no quota.

    None do where fewer than `among` documents are there to share the places.
    """
    if len(set(documents)) < among:
        return set()
    taken: Counter[str] = Counter()
    over = set()
    for place, document in enumerate(documents):
        taken[document] += 1
        if taken[document] > quota and document not in named:
            over.add(place)
    return over


class Quota(BaseNodePostprocessor):
    """Keeps the first `per_document` nodes of each document, in their order; all of the documents in `named`.

    Keeps everything where the candidates are of fewer than `among` documents.
    """

    per_document: int
    among: int = 0
    named: tuple[str, ...] = ()
    ledger: Ledger = Field(exclude=True, repr=False)

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        documents = [hit.node.metadata["document_id"] for hit in nodes]
        over = over_quota(documents, quota=self.per_document, named=self.named, among=self.among)
        for place in over:
            self.ledger.cut(nodes[place].node.node_id, "quota")
        return [hit for place, hit in enumerate(nodes) if place not in over]
