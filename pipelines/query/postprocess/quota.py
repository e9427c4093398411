"""At most so many nodes of one document, so that a long one does not push the others out."""

from collections import Counter
from typing import Any

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from pipelines.query.trace import Ledger


class Quota(BaseNodePostprocessor):
    """Keeps the first `per_document` nodes of each document and at most `top_n` in all, in their order."""

    per_document: int
    top_n: int
    _ledger: Ledger = PrivateAttr()

    def __init__(self, ledger: Ledger, **fields: Any) -> None:
        super().__init__(**fields)
        self._ledger = ledger

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        taken: Counter[str] = Counter()
        kept: list[NodeWithScore] = []
        for hit in nodes:
            document = hit.node.metadata["document_id"]
            if taken[document] >= self.per_document or len(kept) >= self.top_n:
                self._ledger.cut(hit.node.node_id, "quota" if taken[document] >= self.per_document else "floor")
                continue
            taken[document] += 1
            kept.append(hit)
        return kept
