"""Boosts: each multiplies the scores of nodes by category, recency, year, length, section or document named."""

from datetime import date
from typing import ClassVar

from llama_index.core.bridge.pydantic import Field
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle

from pipelines.query.postprocess.cut import document_of
from pipelines.query.postprocess.postprocessor import Postprocessor
from pipelines.store.tokens import tokenise


class Boost(Postprocessor):
    """Multiplies the score of each node by its `value`, above 0, reports it under `name`, and ranks the nodes again.

    A score below 0 is divided, so that a value above 1 never lowers a node; a hit without a score has 0. Ties go by
    node id; where all values are 1 the order stays.
    """

    name: ClassVar[str]

    # Not an abstract method: LlamaIndex wraps those in a span, which costs 0.1 ms a node.
    def value(self, node: BaseNode) -> float:
        """The factor of this node's score, above 0."""
        raise NotImplementedError

    def applied(self, nodes: list[NodeWithScore], query: QueryBundle | None = None) -> list[NodeWithScore]:
        values = [self.value(hit.node) for hit in nodes]
        if all(value == 1 for value in values):
            return list(nodes)
        hits = []
        for hit, value in zip(nodes, values, strict=True):
            score = float(hit.score or 0.0)
            self.observer.factor(hit.node.node_id, self.name, value)
            hits.append(NodeWithScore(node=hit.node, score=score * value if score >= 0 else score / value))
        return sorted(hits, key=lambda hit: (-float(hit.score or 0.0), hit.node.node_id))


class CategoryBoost(Boost):
    """Multiplies the nodes of the categories in `asked` by the factor of `table`, 1 for one that it lacks."""

    name: ClassVar[str] = "category"
    asked: tuple[str, ...]
    table: dict[str, float]

    def value(self, node: BaseNode) -> float:
        category = node.metadata.get("category", "")
        return self.table.get(category, 1.0) if category in self.asked else 1.0


STEPS = (1.3, 1.2, 1.1)


class RecencyBoost(Boost):
    """Multiplies nodes by 1.3 if they are of this year, seen from `today`, 1.2 of the last, 1.1 of the one before it.

    A later year is this one; a node without a year, or an older one, is unchanged.
    """

    name: ClassVar[str] = "recency"
    today: date = Field(default_factory=date.today)

    def value(self, node: BaseNode) -> float:
        year = node.metadata.get("year")
        age = max(self.today.year - year, 0) if isinstance(year, int) else len(STEPS)
        return STEPS[age] if age < len(STEPS) else 1.0


class YearBoost(Boost):
    """Multiplies the nodes of the years in `asked` by `factor`."""

    name: ClassVar[str] = "year"
    asked: tuple[int, ...]
    factor: float

    def value(self, node: BaseNode) -> float:
        return self.factor if node.metadata.get("year") in self.asked else 1.0


FEWEST, MOST, FACTOR = 100, 300, 1.1


class QualityBoost(Boost):
    """Multiplies nodes of 100 to 300 words, both included, by 1.1."""

    name: ClassVar[str] = "quality"

    def value(self, node: BaseNode) -> float:
        return FACTOR if FEWEST <= len(node.get_content().split()) <= MOST else 1.0


class SectionBoost(Boost):
    """Multiplies nodes by `factor` if a heading above them has all the words of a section in `asked`.

    Inflections count as the word: `skills` is in `Technical Skills` and in `Skill set`; `experience` is not in `Work`.
    """

    name: ClassVar[str] = "section"
    asked: tuple[str, ...]
    factor: float

    def value(self, node: BaseNode) -> float:
        path = node.metadata.get("section_path")
        headings = [set(tokenise(str(heading))) for heading in path] if isinstance(path, (list, tuple)) else []
        sections = [terms for section in self.asked if (terms := set(tokenise(section)))]
        return self.factor if any(terms <= heading for terms in sections for heading in headings) else 1.0


class NamedDocumentBoost(Boost):
    """Multiplies the nodes of the documents in `named` by `factor`."""

    name: ClassVar[str] = "named"
    named: tuple[str, ...]
    factor: float

    def value(self, node: BaseNode) -> float:
        return self.factor if document_of(node) in self.named else 1.0
