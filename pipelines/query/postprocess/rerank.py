"""A reranker reads question and passage together and puts the best candidates in a new order, in time or not at all."""

import contextvars
import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from threading import Thread

from llama_index.core.bridge.pydantic import Field
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from pipelines.observe import log_failure
from pipelines.query.postprocess.rerankers import load_reranker
from pipelines.query.trace import Ledger


def reordered(ranking: Sequence[NodeWithScore], order: Sequence[str]) -> list[NodeWithScore]:
    """New hits: the nodes in `order` first, then the others as they were; the scores stay, and the nodes change places.

    So the scale on which factors and the floor compare is kept. Equal scores are set apart by the least step that a
    float can make, since the order is no longer theirs.
    """
    nodes = {hit.node.node_id: hit.node for hit in ranking}
    ids = list(dict.fromkeys((*(node_id for node_id in order if node_id in nodes), *nodes)))
    scores = sorted((float(hit.score or 0.0) for hit in ranking), reverse=True)
    hits, last = [], math.inf
    for node_id, score in zip(ids, scores, strict=True):
        last = min(score, math.nextafter(last, -math.inf))
        hits.append(NodeWithScore(node=nodes[node_id], score=last))
    return hits


def within(seconds: float, call: Callable[[], list[str]]) -> list[str]:
    """What the call returns; one that takes longer is left to itself.

    Raises:
        TimeoutError: If it has not returned after so many seconds.
    """
    outcome: Future[list[str]] = Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:  # noqa: BLE001 - raised again where the result is waited for
            outcome.set_exception(error)

    Thread(target=contextvars.copy_context().run, args=(run,), daemon=True).start()
    return outcome.result(timeout=seconds)


class Rerank(BaseNodePostprocessor):
    """Reorders the first `candidates`; past `seconds`, or when the reranker fails, the ranking stays as it was.

    The time to load a reranker, once a process, does not count. The ledger notes a fall-back, and as the factor of a
    node what its new place did to its score.
    """

    named: str
    candidates: int
    seconds: float
    ledger: Ledger = Field(exclude=True, repr=False)

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        order = self._order(nodes[: self.candidates], query_bundle.query_str) if query_bundle and nodes else []
        if not order:
            return [NodeWithScore(node=hit.node, score=hit.score) for hit in nodes]
        moved = reordered(nodes, order)
        self.ledger.tag("rerank")
        before = {hit.node.node_id: float(hit.score or 0.0) for hit in nodes}
        for hit in moved:
            if before[hit.node.node_id] > 0:
                self.ledger.factor(hit.node.node_id, "rerank", float(hit.score or 0.0) / before[hit.node.node_id])
        return moved

    def _order(self, first: list[NodeWithScore], question: str) -> list[str]:
        """The ids of the candidates, best first; none when the ranking is to stay."""
        reranker = load_reranker(self.named, self.candidates)
        stop = time.monotonic() + self.seconds
        try:
            return within(self.seconds, lambda: reranker(question, first, stop))
        except Exception as error:  # noqa: BLE001 - whatever a reranker raises, the fused ranking is there
            late = isinstance(error, TimeoutError)
            log_failure("reranking given up", error, reranker=self.named)
            why = f"was not done in {self.seconds:g} s" if late else f"failed ({type(error).__name__})"
            self.ledger.lacking(f"The reranker {why}; the ranking stays as it was.")
            return []
