"""Past questions: their ledgers, the words of candidates, and searches of them that leave parts out."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.schema import TextNode

from pipelines.query.ablation import RankChange, rank_changes
from pipelines.query.engine import QueryEngine
from pipelines.store.query_log import latest_queries, read_query
from pipelines.text import searchable
from pipelines.types import Filters, Mode, SearchReport


@dataclass(frozen=True, slots=True)
class CandidatePassage:
    """The words of a candidate, and its place in its document."""

    document: str
    section: str
    text: str


def _words(node: TextNode) -> str:
    """The text of a node without markup, on one line."""
    return " ".join(searchable("", node.text, node.metadata["mime"], node.metadata["kind"]).split())


@dataclass(frozen=True, slots=True)
class Inspection:
    """The logged questions of an engine, for its owner."""

    engine: QueryEngine

    def latest(self, limit: int = 50) -> list[dict[str, Any]]:
        """The last questions, newest first, as `latest_queries` gives them."""
        return latest_queries(self.engine.database.engine, limit)

    def query(self, named: str) -> dict[str, Any]:
        """A logged question with its `trace` and `answer`; raises what `read_query` raises."""
        return read_query(self.engine.database.engine, named)

    def passages(self, node_ids: Collection[str]) -> dict[str, CandidatePassage]:
        """The words of these nodes, by id; those that are gone are missing."""
        found = self.engine.store.fetch(node_ids, filters=Filters(), audience="owner")
        return {
            node_id: CandidatePassage(node.metadata["title"], node.metadata.get("section", ""), _words(node))
            for node_id, node in found.items()
        }

    def search_again(
        self, row: Mapping[str, Any], parts: Sequence[str], mode: Mode | None
    ) -> tuple[SearchReport, SearchReport, list[RankChange]]:
        """(a logged question searched again as it was, the same without some parts or by other retrievers, the moves).

        Nothing is logged.

        Raises:
            RetrievalError: If no retriever is left.
            ModelError, ServiceUnavailable: If none worked.
        """
        trace = row["trace"]
        asked = trace["intent"].get("condensed") or row["question"]
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in trace["filters"].items()
        }
        filters, top_n = Filters(**given), self.engine.passages if row["kind"] == "ask" else None
        before = self.engine.search(asked, filters=filters, mode=trace["mode"], top_n=top_n, record=False)
        after = self.engine.search_without(parts, asked, filters=filters, mode=mode or trace["mode"], top_n=top_n)
        return before, after, rank_changes(before, after)
