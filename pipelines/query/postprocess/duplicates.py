"""Of nodes that say the same, keep the best ranked."""

from collections.abc import Callable, Sequence

from llama_index.core.bridge.pydantic import Field
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from pipelines.query.trace import Ledger

THRESHOLD = 0.9


def jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    """The share (0..1) of words that two sets have in common; 1 for two empty sets."""
    shared = len(left & right)
    return shared / (len(left) + len(right) - shared) if left or right else 1.0


def near_duplicates(texts: Sequence[str], *, threshold: float = THRESHOLD) -> dict[int, int]:
    """For each text that repeats an earlier one, the index of that one; their words compared as sets."""
    seen: list[tuple[int, frozenset[str]]] = []
    repeats: dict[int, int] = {}
    for index, text in enumerate(texts):
        terms = frozenset(text.casefold().split())
        for first, other in seen:
            if _could_repeat(terms, other, threshold) and jaccard(terms, other) >= threshold:
                repeats[index] = first
                break
        else:
            seen.append((index, terms))
    return repeats


def _could_repeat(left: frozenset[str], right: frozenset[str], threshold: float) -> bool:
    """Whether two sets are of like enough size: a cheap bound on their Jaccard similarity."""
    return min(len(left), len(right)) >= threshold * max(len(left), len(right))


def other_versions(documents: Sequence[str], family: Callable[[str], str]) -> set[int]:
    """The places of documents whose family has another document further up: near-copies such as two resumes."""
    shown: dict[str, str] = {}
    return {
        place for place, document in enumerate(documents) if shown.setdefault(family(document), document) != document
    }


def alone(document_id: str) -> str:
    """The family of a document that has no near-copies: itself."""
    return document_id


class Duplicates(BaseNodePostprocessor):
    """Drops every node whose words repeat those of a better ranked one, and all but a family's best ranked document."""

    ledger: Ledger = Field(exclude=True, repr=False)
    family: Callable[[str], str] = Field(alone, exclude=True)

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        versions = other_versions([hit.node.metadata["document_id"] for hit in nodes], self.family)
        left = [hit for place, hit in enumerate(nodes) if place not in versions]
        repeats = near_duplicates([hit.node.get_content() for hit in left])
        kept = [hit for place, hit in enumerate(left) if place not in repeats]
        stay = {hit.node.node_id for hit in kept}
        for hit in nodes:
            if hit.node.node_id not in stay:
                self.ledger.cut(hit.node.node_id, "duplicate")
        return kept
