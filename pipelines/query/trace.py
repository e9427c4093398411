"""TRACE: what the stages report of each candidate, and the ledger of a query that records it."""

import uuid
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace

from llama_index.core.schema import NodeWithScore

from pipelines.errors import FootnoteError
from pipelines.observe import Timings
from pipelines.types import Attempt, Candidate, Evidence, LegScore, ModelReading

SpanKey = tuple[str, int, int]  # document id, start, end


class Observer:
    """Receives what retrievers and postprocessors report; ignores it, unless a subclass overrides the method."""

    def stage(self, name: str) -> AbstractContextManager[None]:
        """A context in which a stage runs."""
        return nullcontext()

    def leg(self, name: str, ranking: Sequence[NodeWithScore]) -> None:
        """A retriever's ranking, best first."""

    def fused(self, ranking: Sequence[NodeWithScore]) -> None:
        """The ranking after the fusion."""

    def factor(self, node_id: str, name: str, value: float) -> None:
        """A candidate's score was multiplied by this factor."""

    def similar(self, similarities: Mapping[str, float]) -> None:
        """The cosine similarity of candidates to the question itself."""

    def ranked(self, ranking: Sequence[NodeWithScore]) -> None:
        """Candidates with their scores after all factors."""

    def cut(self, node_id: str, why: str) -> None:
        """A candidate was removed."""

    def copied(self, node_id: str, kept: str) -> None:
        """A candidate was removed as a duplicate of a better one."""

    def tag(self, *names: str) -> None:
        """These parts were used."""

    def note(self, text: str) -> None:
        """A remark for the reader."""

    def lacking(self, text: str) -> None:
        """A part was left out: it ran out of time, or failed in an expected way."""

    def failed(self, text: str, error: Exception) -> None:
        """A part failed and was left out."""


SILENT = Observer()


@dataclass(slots=True)
class _Row:
    document_id: str
    title: str
    span: tuple[int, int]
    dense: LegScore | None = None
    sparse: LegScore | None = None
    fused: float = 0.0
    factors: dict[str, float] = field(default_factory=dict)
    final: float = 0.0
    fate: str = ""
    copies: tuple[SpanKey, ...] = ()


class Ledger(Observer):
    """Records the candidates of one query; each attempt writes a fork, which shares timings and notes, and one is
    adopted.
    """

    def __init__(self) -> None:
        self.id = uuid.uuid4().hex[:16]
        self.timings = Timings()
        self.notes: list[str] = []
        self.attempts: list[Attempt] = []
        self.readings: list[ModelReading] = []
        self.declines: list[tuple[str, str]] = []  # answerer, why it did not answer
        self.name = ""
        self._rows: dict[str, _Row] = {}
        self.background: tuple[float, float] | None = None  # mean and deviation of the question's cosine to the corpus
        self._similarity: dict[str, float] = {}
        self._tags: dict[str, None] = {}
        self._failures: list[str] = []

    def declined(self, answerer: str, why: str) -> None:
        """An answerer did not answer."""
        self.declines.append((answerer, why))

    def fork(self, name: str) -> "Ledger":
        """A ledger for one attempt, with no candidates yet."""
        child = Ledger()
        child.name, child.id, child.timings, child.notes = name, self.id, self.timings, self.notes
        child._failures = self._failures
        return child

    def adopt(self, kept: "Ledger") -> None:
        """Take over the candidates, background and tags of the attempt that was kept."""
        self.name, self._rows, self._similarity = kept.name, kept._rows, kept._similarity
        self.background = kept.background
        self._tags |= kept._tags

    def join(self, part: "Ledger") -> None:
        """Add another ledger's tags, and those of its candidates that this one does not have."""
        self._rows |= {key: replace(row) for key, row in part._rows.items() if key not in self._rows}
        self._similarity = {**part._similarity, **self._similarity}
        self._tags |= part._tags

    def stage(self, name: str) -> AbstractContextManager[None]:
        return self.timings.stage(name)

    def note(self, text: str) -> None:
        """Note something a reader should know, once."""
        if text not in self.notes:
            self.notes.append(text)

    def lacking(self, text: str) -> None:
        """Note that a part failed or ran out of time, so that another search may find more."""
        self.note(text)
        self._failures.append(text)

    def failed(self, text: str, error: Exception) -> None:
        """Note a part that failed; an error that is not of Footnote's own classes is a bug, and is raised again."""
        if not isinstance(error, FootnoteError):
            raise error
        self.lacking(text)

    @property
    def degraded(self) -> bool:
        """True if a part failed or ran out of time."""
        return bool(self._failures)

    def tag(self, *names: str) -> None:
        self._tags |= dict.fromkeys(names)

    @property
    def documents(self) -> tuple[str, ...]:
        """The ids of the documents that candidates are of, each once; also of those that were cut."""
        return tuple(dict.fromkeys(row.document_id for row in self._rows.values()))

    def used(self, name: str) -> bool:
        """True if a part was used."""
        return name in self._tags

    def similar(self, similarities: Mapping[str, float]) -> None:
        self._similarity |= similarities

    def attempt(
        self, name: str, search_text: str, evidence: Evidence, *, kept: bool, why: str, ms: float = 0.0
    ) -> None:
        """Note an attempt and its outcome."""
        self.attempts.append(Attempt(name, search_text, evidence, kept, why, round(ms, 2)))

    def leg(self, name: str, ranking: Sequence[NodeWithScore]) -> None:
        self.tag(name)
        for rank, hit in enumerate(ranking, start=1):
            setattr(self._row(hit), name, LegScore(rank, float(hit.score or 0.0)))

    def fused(self, ranking: Sequence[NodeWithScore]) -> None:
        """Note the fused scores; they are final until a factor says otherwise."""
        for hit in ranking:
            row = self._row(hit)
            row.fused = row.final = float(hit.score or 0.0)

    def factor(self, node_id: str, name: str, value: float) -> None:
        """Note what a factor multiplied a candidate's score by; a factor of 1 is not noted."""
        if node_id in self._rows and value != 1.0:
            self._rows[node_id].factors[name] = value
            self.tag(name)

    def ranked(self, ranking: Sequence[NodeWithScore]) -> None:
        for hit in ranking:
            self._row(hit).final = float(hit.score or 0.0)

    def cut(self, node_id: str, why: str) -> None:
        if node_id in self._rows:
            self._rows[node_id].fate = f"cut: {why}"

    def copied(self, node_id: str, kept: str) -> None:
        """Note that a candidate is cut as a duplicate of a better one, which then stands for its document too."""
        self.cut(node_id, "duplicate")
        if node_id in self._rows and kept in self._rows:
            copy, row = self._rows[node_id], self._rows[kept]
            others = dict.fromkeys((*row.copies, (copy.document_id, *copy.span), *copy.copies))
            row.copies = tuple(place for place in others if place[0] != row.document_id)

    def copies(self, node_ids: Sequence[str], document_id: str) -> tuple[SpanKey, ...]:
        """The spans in other documents whose duplicates among these candidates were kept instead, each once."""
        rows = [self._rows[node_id] for node_id in node_ids if node_id in self._rows]
        return tuple(dict.fromkeys(place for row in rows for place in row.copies if place[0] != document_id))

    def also_in(self, node_ids: Sequence[str], document_id: str) -> tuple[str, ...]:
        """The ids of the other documents whose duplicates among these candidates were kept instead, each once."""
        return tuple(dict.fromkeys(document for document, _, _ in self.copies(node_ids, document_id)))

    def shown(self, ranking: Sequence[NodeWithScore]) -> None:
        """Note which candidates of a fused ranking are shown; the others keep their cut, else `top_n`."""
        ids = {hit.node.node_id for hit in ranking}
        for node_id, row in self._rows.items():
            row.fate = "" if node_id in ids else row.fate or "cut: top_n"

    def kept(self, node_id: str, source: int, *, merged: bool) -> None:
        """Note that a candidate became a source, alone or merged with others."""
        if node_id in self._rows:
            self._rows[node_id].fate = f"merged into {source}" if merged else "kept"

    def similarity(self, node_id: str) -> float | None:
        """The cosine similarity of a node to the question itself; None where it is not known."""
        return self._similarity.get(node_id)

    def candidate(self, node_id: str) -> Candidate:
        """One candidate as it stands now."""
        row, also_in = self._rows[node_id], self.also_in([node_id], self._rows[node_id].document_id)
        return Candidate(
            node_id, row.document_id, row.title, row.dense, row.sparse, self._similarity.get(node_id), row.fused,
            dict(row.factors), row.final, row.fate, also_in,
        )  # fmt: skip

    def candidates(self) -> tuple[Candidate, ...]:
        """All candidates as they stand now, by final score."""
        ranked = sorted(self._rows, key=lambda node_id: (-self._rows[node_id].final, node_id))
        return tuple(map(self.candidate, ranked))

    @property
    def tags(self) -> tuple[str, ...]:
        """`base` or `auto` (more than one attempt), and the parts that were used."""
        return "auto" if len(self.attempts) > 1 else "base", *self._tags

    def _row(self, hit: NodeWithScore) -> _Row:
        if (row := self._rows.get(hit.node.node_id)) is None:
            meta = hit.node.metadata
            row = self._rows[hit.node.node_id] = _Row(meta["document_id"], meta["title"], (meta["start"], meta["end"]))
        return row
