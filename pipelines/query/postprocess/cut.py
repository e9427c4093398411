"""Cuts: the least similarity of a result, the quota of a document, and the best n."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import ClassVar

from llama_index.core.bridge.pydantic import Field
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle

from pipelines.query.postprocess.postprocessor import Postprocessor


def document_of(node: BaseNode) -> str:
    """The id of a node's document; of a node without one, its own."""
    return str(node.metadata.get("document_id") or node.ref_doc_id or node.node_id)


Similarity = Callable[[str], float | None]


def no_similarity(_: str) -> None:
    """No similarity is known, as in a search without vectors."""


class CandidateCut(Postprocessor):
    """Keeps the nodes at the places that `kept` names, in their order, and reports the others as cut by `why`."""

    why: ClassVar[str]

    def kept(self, nodes: Sequence[BaseNode]) -> Collection[int]:
        """The places of the nodes that stay."""
        raise NotImplementedError

    def applied(self, nodes: list[NodeWithScore], query: QueryBundle | None = None) -> list[NodeWithScore]:
        kept = self.kept([hit.node for hit in nodes])
        for place, hit in enumerate(nodes):
            if place not in kept:
                self.observer.cut(hit.node.node_id, self.why)
        return [hit for place, hit in enumerate(nodes) if place in kept]


class MinScore(CandidateCut):
    """Keeps the nodes whose similarity to the question is at least `least`, and those whose similarity is not known.

    Scores are no similarities: a program says where a node's is found, as in `MinScore(least=0.3, similarity=of.get)`.
    """

    why: ClassVar[str] = "min_score"
    least: float
    similarity: Similarity = Field(exclude=True, repr=False)

    def kept(self, nodes: Sequence[BaseNode]) -> Collection[int]:
        similarities = [self.similarity(node.node_id) for node in nodes]
        return {place for place, known in enumerate(similarities) if known is None or known >= self.least}


class DocumentQuota(CandidateCut):
    """Keeps the first `per_document` nodes of each document, in their order; all of the documents in `named`.

    Keeps everything where the candidates are of fewer than `among` documents.
    """

    why: ClassVar[str] = "quota"
    per_document: int
    among: int = 0
    named: tuple[str, ...] = ()

    def kept(self, nodes: Sequence[BaseNode]) -> Collection[int]:
        documents = [document_of(node) for node in nodes]
        if len(set(documents)) < self.among:
            return range(len(nodes))
        seen, places = Counter[str](), set()
        for place, document in enumerate(documents):
            seen[document] += 1
            if seen[document] <= self.per_document or document in self.named:
                places.add(place)
        return places


class TopN(CandidateCut):
    """Keeps the first `top_n` nodes, and of several documents in `named` the best of each."""

    why: ClassVar[str] = "top_n"
    top_n: int
    named: tuple[str, ...] = ()

    def kept(self, nodes: Sequence[BaseNode]) -> Collection[int]:
        best: dict[str, int] = {}
        for place, node in enumerate(nodes):
            if document_of(node) in self.named:
                best.setdefault(document_of(node), place)
        first = list(best.values())[: self.top_n] if len(best) > 1 else []
        rest = [place for place in range(len(nodes)) if place not in first]
        return {*first, *rest[: self.top_n - len(first)]}
