"""Nodes of a category that the question asks for count more."""

from collections.abc import Collection, Mapping
from typing import ClassVar

from llama_index.core.schema import BaseNode

from pipelines.query.postprocess.factor import Factor


def category_factor(category: str, asked: Collection[str], table: Mapping[str, float]) -> float:
    """The table's factor of a category that was asked for; 1 for any other, and for one that the table lacks."""
    return table.get(category, 1.0) if category in asked else 1.0


class Category(Factor):
    """Multiplies the nodes of the categories in `asked` by the factor that `table` gives each."""

    name: ClassVar[str] = "category"
    asked: tuple[str, ...]
    table: dict[str, float]

    def value(self, node: BaseNode) -> float:
        """The factor of the node's category."""
        return category_factor(node.metadata["category"], self.asked, self.table)
