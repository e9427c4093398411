"""Of nodes that say the same, keep the best ranked."""

from collections.abc import Sequence
from typing import Any

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from pipelines.query.trace import Ledger

THRESHOLD = 0.9


def jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    """The share (0..1) of words that two sets have in common; 1 for two empty sets."""
    return len(left & right) / len(left | right) if left or right else 1.0


def near_duplicates(texts: Sequence[str], *, threshold: float = THRESHOLD) -> dict[int, int]:
    """For each text that repeats an earlier one, the index of that one; their words compared as sets."""
    seen: list[tuple[int, frozenset[str]]] = []
    repeats: dict[int, int] = {}
    for index, text in enumerate(texts):
        terms = frozenset(text.casefold().split())
        twin = next(
            (
                first
                for first, other in seen
                if _could_repeat(terms, other, threshold) and jaccard(terms, other) >= threshold
            ),
            None,
        )
        if twin is None:
            seen.append((index, terms))
        else:
            repeats[index] = twin
    return repeats


def _could_repeat(left: frozenset[str], right: frozenset[str], threshold: float) -> bool:
    """Whether two sets are of like enough size: a cheap bound on their Jaccard similarity."""
    return min(len(left), len(right)) >= threshold * max(len(left), len(right))


class Duplicates(BaseNodePostprocessor):
    """Drops every node whose words repeat those of a better ranked one."""

    _ledger: Ledger = PrivateAttr()

    def __init__(self, ledger: Ledger, **fields: Any) -> None:
        super().__init__(**fields)
        self._ledger = ledger

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        repeats = near_duplicates([hit.node.get_content() for hit in nodes])
        for index in repeats:
            self._ledger.cut(nodes[index].node.node_id, "duplicate")
        return [hit for index, hit in enumerate(nodes) if index not in repeats]
