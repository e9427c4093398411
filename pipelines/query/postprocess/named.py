"""Nodes of a document that the question names count more."""

from collections.abc import Collection
from typing import ClassVar

from llama_index.core.schema import BaseNode

from pipelines.query.postprocess.factor import Factor


def named_factor(document_id: str, named: Collection[str], factor: float) -> float:
    """The factor for a document that was named; 1 for any other."""
    return factor if document_id in named else 1.0


class Named(Factor):
    """Multiplies the nodes of the documents in `named` by `factor`."""

    name: ClassVar[str] = "named"
    named: tuple[str, ...]
    factor: float

    def value(self, node: BaseNode) -> float:
        """The factor of the node's document."""
        return named_factor(node.metadata["document_id"], self.named, self.factor)
