"""Nodes of a section that the question names count more."""

from collections.abc import Sequence
from typing import ClassVar

from llama_index.core.schema import BaseNode

from pipelines.query.postprocess.factor import Factor
from pipelines.store.tokens import tokenise


def section_factor(path: Sequence[str], asked: Sequence[str], factor: float) -> float:
    """The factor when a heading of the path has all the words of a section asked for, inflections apart; else 1.

    `skills` is in `Technical Skills` and in `Skill set`; `experience` is not in `Work`.
    """
    headings = [set(tokenise(heading)) for heading in path]
    named = [terms for section in asked if (terms := set(tokenise(section)))]
    return factor if any(terms <= heading for terms in named for heading in headings) else 1.0


class Section(Factor):
    """Multiplies the nodes under a heading that `asked` names by `factor`."""

    name: ClassVar[str] = "section"
    asked: tuple[str, ...]
    factor: float

    def value(self, node: BaseNode) -> float:
        """The factor of the node's heading path."""
        return section_factor(node.metadata["section_path"], self.asked, self.factor)
