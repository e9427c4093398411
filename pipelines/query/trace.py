"""The ledger of a query: what every stage did to every candidate, written by the stages themselves."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from llama_index.core.schema import NodeWithScore

from pipelines.observe import Timings
from pipelines.types import (
    Attempt,
    Audience,
    Candidate,
    Filters,
    LegScore,
    Mode,
    QueryIntent,
    Trace,
)


@dataclass(slots=True)
class _Row:
    document_id: str
    title: str
    dense: LegScore | None = None
    sparse: LegScore | None = None
    fused: float = 0.0
    factors: dict[str, float] = field(default_factory=dict)
    final: float = 0.0
    fate: str = ""


class Ledger:
    """Collects the candidates of one query; `close` makes the Trace."""

    def __init__(self) -> None:
        self.id = uuid.uuid4().hex[:16]
        self.timings = Timings()
        self.notes: list[str] = []
        self.attempts: list[Attempt] = []
        self._rows: dict[str, _Row] = {}

    def leg(self, name: str, ranking: Sequence[NodeWithScore]) -> None:
        """Note a leg's ranking, best first."""
        for rank, hit in enumerate(ranking, start=1):
            setattr(self._row(hit), name, LegScore(rank, float(hit.score or 0.0)))

    def fused(self, ranking: Sequence[NodeWithScore]) -> None:
        """Note the fused scores; they are final until a postprocessor says otherwise."""
        for hit in ranking:
            row = self._row(hit)
            row.fused = row.final = float(hit.score or 0.0)

    def cut(self, node_id: str, why: str) -> None:
        """Note that a stage took a candidate out."""
        if node_id in self._rows:
            self._rows[node_id].fate = f"cut: {why}"

    def kept(self, node_id: str, source: int, *, merged: bool) -> None:
        """Note that a candidate became a source, alone or merged with others."""
        if node_id in self._rows:
            self._rows[node_id].fate = f"merged into {source}" if merged else "kept"

    def candidate(self, node_id: str) -> Candidate:
        """The way of one candidate so far."""
        row = self._rows[node_id]
        return Candidate(
            node_id,
            row.document_id,
            row.title,
            row.dense,
            row.sparse,
            row.fused,
            dict(row.factors),
            row.final,
            row.fate,
        )

    def close(
        self,
        *,
        intent: QueryIntent,
        corpus_version: int,
        audience: Audience,
        filters: Filters,
        mode: Mode,
        timings: Mapping[str, float],
    ) -> Trace:
        """The ledger of this query, candidates by final score."""
        ranked = sorted(self._rows, key=lambda node_id: (-self._rows[node_id].final, node_id))
        return Trace(
            id=self.id,
            intent=intent,
            attempts=tuple(self.attempts),
            candidates=tuple(self.candidate(node_id) for node_id in ranked),
            corpus_version=corpus_version,
            audience=audience,
            filters=filters,
            mode=mode,
            notes=tuple(self.notes),
            timings_ms=timings,
        )

    def _row(self, hit: NodeWithScore) -> _Row:
        meta = hit.node.metadata
        return self._rows.setdefault(hit.node.node_id, _Row(meta["document_id"], meta["title"]))
