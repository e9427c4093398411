"""Nodes long enough to say something, and short enough to say one thing, count more."""

from typing import ClassVar

from llama_index.core.schema import BaseNode

from pipelines.query.postprocess.factor import Factor

FEWEST, MOST, FACTOR = 100, 300, 1.1


def quality_factor(text: str) -> float:
    """1.1 for a text of 100 to 300 words, both included; 1 for any other."""
    return FACTOR if FEWEST <= len(text.split()) <= MOST else 1.0


class Quality(Factor):
    """Multiplies nodes of 100 to 300 words by 1.1."""

    name: ClassVar[str] = "quality"

    def value(self, node: BaseNode) -> float:
        """The factor of the node's length."""
        return quality_factor(node.get_content())
