"""Cuts: the least similarity of a result, the quota of a document, and the best n."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from itertools import islice

from llama_index.core.bridge.pydantic import Field
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle

from pipelines.query.trace import SILENT, Observer


def document_of(node: BaseNode) -> str:
    """The id of a node's document; of a node without one, its own."""
    return str(node.metadata.get("document_id") or node.ref_doc_id or node.node_id)


Similarity = Callable[[str], float | None]


def no_similarity(_: str) -> None:
    """No similarity is known, as in a search without vectors."""


class MinScore(BaseNodePostprocessor):
    """Keeps the nodes whose similarity to the question is at least `least`, and those whose similarity is not known."""

    least: float
    similarity: Similarity = Field(no_similarity, exclude=True, repr=False)
    observer: Observer = Field(SILENT, exclude=True, repr=False)

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        kept = []
        for hit in nodes:
            similarity = self.similarity(hit.node.node_id)
            if similarity is None or similarity >= self.least:
                kept.append(hit)
            else:
                self.observer.cut(hit.node.node_id, "min_score")
        return kept


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


class DocumentQuota(BaseNodePostprocessor):
    """Keeps the first `per_document` nodes of each document, in their order; all of the documents in `named`.

    Keeps everything where the candidates are of fewer than `among` documents.
    """

    per_document: int
    among: int = 0
    named: tuple[str, ...] = ()
    observer: Observer = Field(SILENT, exclude=True, repr=False)

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        documents = [document_of(hit.node) for hit in nodes]
        over = over_quota(documents, quota=self.per_document, named=self.named, among=self.among)
        for place in over:
            self.observer.cut(nodes[place].node.node_id, "quota")
        return [hit for place, hit in enumerate(nodes) if place not in over]


def top_places(documents: Sequence[str], *, top_n: int, named: Collection[str] = ()) -> list[int]:
    """The first `top_n` places, ascending; where several documents are named, the best place of each is among them."""
    best: dict[str, int] = {}
    for place, document in enumerate(documents):
        if document in named:
            best.setdefault(document, place)
    kept = list(best.values())[:top_n] if len(best) > 1 else []
    rest = (place for place in range(len(documents)) if place not in kept)
    return sorted([*kept, *islice(rest, top_n - len(kept))])


class TopN(BaseNodePostprocessor):
    """Keeps the first `top_n` nodes, and of several documents in `named` the best of each."""

    top_n: int
    named: tuple[str, ...] = ()
    observer: Observer = Field(SILENT, exclude=True, repr=False)

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        documents = [document_of(hit.node) for hit in nodes]
        kept = set(top_places(documents, top_n=self.top_n, named=self.named))
        for place, hit in enumerate(nodes):
            if place not in kept:
                self.observer.cut(hit.node.node_id, "top_n")
        return [hit for place, hit in enumerate(nodes) if place in kept]
