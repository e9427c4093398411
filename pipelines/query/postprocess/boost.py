"""Boosts: each multiplies the scores of nodes by category, recency, year, length, section or document named."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import ClassVar, Literal

from llama_index.core.bridge.pydantic import Field
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle

from pipelines.query.postprocess.cut import document_of
from pipelines.query.trace import SILENT, Observer
from pipelines.store.tokens import tokenise


def boosted_score(score: float, value: float) -> float:
    """The score times the value; a score below 0 is divided, so that a value above 1 never lowers a node."""
    return score * value if score >= 0 else score / value


def boosted_ranking(ranking: Sequence[NodeWithScore], values: Mapping[str, float]) -> list[NodeWithScore]:
    """New hits with each score boosted by its node's value, best first, ties by node id.

    Args:
        ranking: In any order; a hit without a score has 0.
        values: By node id, above 0; 1 leaves a score as it is.
    """
    hits = [
        NodeWithScore(node=hit.node, score=boosted_score(float(hit.score or 0.0), values[hit.node.node_id]))
        for hit in ranking
    ]
    return sorted(hits, key=lambda hit: (-float(hit.score or 0.0), hit.node.node_id))


class Boost(BaseNodePostprocessor):
    """Multiplies the score of each node by its `value`, and reports it under `name`."""

    name: ClassVar[str]
    observer: Observer = Field(SILENT, exclude=True, repr=False)

    # Not an abstract method: LlamaIndex wraps those in a span, which costs 0.1 ms a node.
    def value(self, node: BaseNode) -> float:
        """The factor of this node's score, above 0."""
        raise NotImplementedError

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        values = {hit.node.node_id: self.value(hit.node) for hit in nodes}
        for node_id, value in values.items():
            self.observer.factor(node_id, self.name, value)
        return boosted_ranking(nodes, values)


def category_factor(category: str, asked: Collection[str], table: Mapping[str, float]) -> float:
    """The table's factor of a category that was asked for; 1 for any other, and for one that the table lacks."""
    return table.get(category, 1.0) if category in asked else 1.0


class CategoryBoost(Boost):
    """Multiplies the nodes of the categories in `asked` by the factor that `table` gives each."""

    name: ClassVar[str] = "category"
    asked: tuple[str, ...]
    table: dict[str, float]

    def value(self, node: BaseNode) -> float:
        """The factor of the node's category."""
        return category_factor(node.metadata.get("category", ""), self.asked, self.table)


STEPS = (1.3, 1.2, 1.1)


def recency_steps(year: int | None, today: date) -> float:
    """1.3 for this year and later ones, 1.2 for the last, 1.1 for the one before it, else and without a year 1."""
    age = _age(year, today)
    return STEPS[age] if age is not None and age < len(STEPS) else 1.0


def recency_decay(year: int | None, today: date, *, half_life: float) -> float:
    """1 + 0.3 / 2^(age / half_life), age in whole years: 1.3 for this year and later ones, falling towards 1.

    A node without a year has 1. `half_life` is in years, above 0.
    """
    age = _age(year, today)
    return 1.0 if age is None else 1.0 + (STEPS[0] - 1.0) * 0.5 ** (age / half_life)


def _year(node: BaseNode) -> int | None:
    year = node.metadata.get("year")
    return year if isinstance(year, int) else None


def _age(year: int | None, today: date) -> int | None:
    return None if year is None else max(today.year - year, 0)


class RecencyBoost(Boost):
    """Multiplies nodes by how new their year is, seen from `today`."""

    name: ClassVar[str] = "recency"
    shape: Literal["steps", "decay"] = "steps"
    half_life: float = 3.0
    today: date = Field(default_factory=date.today)

    def value(self, node: BaseNode) -> float:
        """The factor of the node's year."""
        if self.shape == "decay":
            return recency_decay(_year(node), self.today, half_life=self.half_life)
        return recency_steps(_year(node), self.today)


def year_factor(year: int | None, asked: Collection[int], factor: float) -> float:
    """The factor for a year that was asked for; 1 for any other, and without a year."""
    return factor if year in asked else 1.0


class YearBoost(Boost):
    """Multiplies the nodes of the years in `asked` by `factor`."""

    name: ClassVar[str] = "year"
    asked: tuple[int, ...]
    factor: float

    def value(self, node: BaseNode) -> float:
        """The factor of the node's year."""
        return year_factor(_year(node), self.asked, self.factor)


FEWEST, MOST, FACTOR = 100, 300, 1.1


def quality_factor(text: str) -> float:
    """1.1 for a text of 100 to 300 words, both included; 1 for any other."""
    return FACTOR if FEWEST <= len(text.split()) <= MOST else 1.0


class QualityBoost(Boost):
    """Multiplies nodes of 100 to 300 words by 1.1."""

    name: ClassVar[str] = "quality"

    def value(self, node: BaseNode) -> float:
        """The factor of the node's length."""
        return quality_factor(node.get_content())


def section_factor(path: Sequence[str], asked: Sequence[str], factor: float) -> float:
    """The factor when a heading of the path has all the words of a section asked for, inflections apart; else 1.

    `skills` is in `Technical Skills` and in `Skill set`; `experience` is not in `Work`.
    """
    headings = [set(tokenise(heading)) for heading in path]
    named = [terms for section in asked if (terms := set(tokenise(section)))]
    return factor if any(terms <= heading for terms in named for heading in headings) else 1.0


class SectionBoost(Boost):
    """Multiplies the nodes under a heading that `asked` names by `factor`."""

    name: ClassVar[str] = "section"
    asked: tuple[str, ...]
    factor: float

    def value(self, node: BaseNode) -> float:
        """The factor of the node's heading path."""
        return section_factor(node.metadata.get("section_path", ()), self.asked, self.factor)


def named_factor(document_id: str, named: Collection[str], factor: float) -> float:
    """The factor for a document that was named; 1 for any other."""
    return factor if document_id in named else 1.0


class NamedDocumentBoost(Boost):
    """Multiplies the nodes of the documents in `named` by `factor`."""

    name: ClassVar[str] = "named"
    named: tuple[str, ...]
    factor: float

    def value(self, node: BaseNode) -> float:
        """The factor of the node's document."""
        return named_factor(document_of(node), self.named, self.factor)
