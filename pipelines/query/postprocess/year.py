"""Nodes of a year that the question names count more."""

from collections.abc import Collection
from typing import ClassVar

from llama_index.core.schema import BaseNode

from pipelines.query.postprocess.factor import Factor


def year_factor(year: int | None, asked: Collection[int], factor: float) -> float:
    """The factor for a year that was asked for; 1 for any other, and without a year."""
    return factor if year in asked else 1.0


class Year(Factor):
    """Multiplies the nodes of the years in `asked` by `factor`."""

    name: ClassVar[str] = "year"
    asked: tuple[int, ...]
    factor: float

    def value(self, node: BaseNode) -> float:
        """The factor of the node's year."""
        return year_factor(node.metadata["year"], self.asked, self.factor)
