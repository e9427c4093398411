"""What scores far below the best is cut."""

from collections.abc import Sequence

from llama_index.core.bridge.pydantic import Field
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from pipelines.query.trace import Ledger


def above_floor(scores: Sequence[float], *, least: float, gap: float, candidates: int) -> int:
    """How many of the first scores stay: those of at least max(least, 1 - gap) of the best; never none of some.

    Args:
        scores: Best first; each is divided by the first, the largest.
        least: Share (0..1) of the best score that a score must have.
        gap: How far below the best, as a share (0..1) of it, a score may be.
        candidates: How many scores are looked at; later ones do not stay.
    """
    if not scores:
        return 0
    best, floor = scores[0], max(least, 1.0 - gap)
    share = [score / best if best > 0 else 0.0 for score in scores[1:candidates]]
    return 1 + sum(own >= floor for own in share)


class Floor(BaseNodePostprocessor):
    """Keeps the nodes above the adaptive floor, at most `candidates`; the best one always stays."""

    least: float
    gap: float
    candidates: int
    ledger: Ledger = Field(exclude=True, repr=False)

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        scores = [float(hit.score or 0.0) for hit in nodes]
        stay = above_floor(scores, least=self.least, gap=self.gap, candidates=self.candidates)
        for hit in nodes[stay:]:
            self.ledger.cut(hit.node.node_id, "floor")
        return nodes[:stay]
