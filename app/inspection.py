"""Past questions: their ledgers in words, the words of candidates, searches that leave parts out, ranks that move."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from app.wording import read_as
from pipelines.query.engine import QueryEngine
from pipelines.store.query_log import latest_queries, read_query
from pipelines.text import searchable
from pipelines.types import Filters, Mode, SearchReport


@dataclass(frozen=True, slots=True)
class RankChange:
    """A passage that another ranking moved: ranks from 1, None where it is not among the results.

    `why` says its outcome in the ranking that lacks it.
    """

    node_id: str
    document_name: str
    title: str
    line_start: int
    before: int | None
    after: int | None
    why: str = ""

    @property
    def kind(self) -> str:
        """`up`, `down`, `new` or `gone`."""
        if self.before is None or self.after is None:
            return "new" if self.before is None else "gone"
        return "up" if self.after < self.before else "down"


def rank_changes(before: SearchReport, after: SearchReport) -> list[RankChange]:
    """The passages that moved between two rankings: by their rank after, then the gone ones by their rank before."""
    was, now = ({result.node_id: result for result in report.results} for report in (before, after))
    moves = []
    for node_id, result in {**now, **was}.items():
        ranks = (was[node_id].rank if node_id in was else None, now[node_id].rank if node_id in now else None)
        lacking = before if ranks[0] is None else after
        fates = {candidate.node_id: candidate.fate for candidate in lacking.trace.candidates} if None in ranks else {}
        why = fates.get(node_id, "not found") if None in ranks else ""
        if ranks[0] != ranks[1]:
            moves.append(RankChange(node_id, result.document_name, result.title, result.line_start, *ranks, why))
    return moves


@dataclass(frozen=True, slots=True)
class CandidatePassage:
    """The words of a candidate, and its place in its document."""

    document: str
    section: str
    text: str


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
        passages = {}
        for node_id, node in self.engine.store.fetch(node_ids, filters=Filters(), audience="owner").items():
            meta = node.metadata
            words = " ".join(searchable("", node.text, meta["mime"], meta["kind"]).split())  # without markup
            passages[node_id] = CandidatePassage(meta["title"], meta.get("section", ""), words)
        return passages

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
        filters = TypeAdapter(Filters).validate_python(trace["filters"])
        top_n = self.engine.passages if row["kind"] == "ask" else None
        before = self.engine.search(asked, filters=filters, mode=trace["mode"], top_n=top_n, record=False)
        after = self.engine.search_without(parts, asked, filters=filters, mode=mode or trace["mode"], top_n=top_n)
        return before, after, rank_changes(before, after)


_UNDERSTOOD = ("categories", "sections", "years", "phrases", "names", "wants")


def outcome_of(row: Mapping[str, Any]) -> str:
    """The outcome of a logged query: whether it was answered, or of a search the band of its evidence."""
    ended = row["band"] if row["answered"] is None else ("answered" if row["answered"] else "abstained")
    return f"{ended}, auto" if row["route"] == "auto" else str(ended)


def understood(intent: Mapping[str, Any]) -> list[str]:
    """The question as it was understood."""
    parts = [f"searched for {intent['search_text']!r}"] if intent["search_text"] != intent["question"] else []
    parts += [f"{name}: {', '.join(map(str, intent[name]))}" for name in _UNDERSTOOD if intent.get(name)]
    if meant := read_as(intent.get("condensed", ""), intent.get("condensed_by", ""), intent.get("added", ())):
        parts.insert(0, meant[0].lower() + meant[1:])
    return parts + [name.replace("_", "-") for name in ("recent", "follow_up", "greeting") if intent.get(name)]


def kept_evidence(trace: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The evidence of the attempt that was kept."""
    return next((tried["evidence"] for tried in reversed(trace["attempts"]) if tried["kept"]), None)


def attempt_lines(attempts: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """(label, text) of each attempt to find evidence."""
    return [
        (
            f"Attempt {tried['name']}",
            f"{'kept' if tried['kept'] else 'dropped'}: {tried['why']}; strength {tried['evidence']['strength']:.2f} "
            f"({tried['evidence']['band']}), {tried['ms']:.0f} ms; searched for “{tried['search_text']}”",
        )
        for tried in attempts
    ]


def evidence_lines(evidence: Mapping[str, Any] | None) -> Iterator[tuple[str, str]]:
    """(label, text) of how strong the evidence is, and of the signals that say so; nothing without any."""
    if evidence is None:
        return
    sufficient = "sufficient" if evidence["sufficient"] else f"not sufficient: {evidence['reason']}"
    similar = "" if evidence["similarity"] is None else f"similarity {evidence['similarity']:.2f} · "
    missing = ", ".join(evidence["missing"]) or "nothing"
    said = (
        f"{evidence['band']}, strength {evidence['strength']:.2f}, {sufficient} · {similar}"
        f"coverage {evidence['coverage']:.0%} · {evidence['matches']} candidates · missing {missing}"
    )
    yield "Evidence", said
    yield "Signals", " · ".join(f"{name} {value:.3g}" for name, value in evidence["signals"].items())
