"""What another ranking moved: rank before and after."""

from dataclasses import dataclass

from pipelines.types import SearchReport, SearchResult


@dataclass(frozen=True, slots=True)
class Move:
    """A passage that another ranking moved: ranks from 1, None where it is not among the results.

    `why` says what became of it in the ranking that lacks it.
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


def moves(before: SearchReport, after: SearchReport) -> list[Move]:
    """What moved between two rankings for one question: by the rank after, then what is gone by the rank before."""
    was = {result.node_id: result for result in before.results}
    now = {result.node_id: result for result in after.results}
    moved = [
        _move(result, was[node_id].rank if node_id in was else None, result.rank, before)
        for node_id, result in now.items()
        if node_id not in was or was[node_id].rank != result.rank
    ]
    return moved + [_move(result, result.rank, None, after) for node_id, result in was.items() if node_id not in now]


def _move(result: SearchResult, before: int | None, after: int | None, lacking: SearchReport) -> Move:
    why = "" if before and after else _fate(result.node_id, lacking)
    return Move(result.node_id, result.document_name, result.title, result.line_start, before, after, why)


def _fate(node_id: str, report: SearchReport) -> str:
    fates = {candidate.node_id: candidate.fate for candidate in report.trace.candidates}
    return fates.get(node_id, "not found")
