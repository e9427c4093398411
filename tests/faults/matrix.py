"""The fault matrix: stage x fault -> what came of it, as Markdown and as JSON."""

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.injectors import STAGES

_KINDS = {  # what stands in the name of a fault
    "killed": "killed",
    "connection lost": "loses its connections",
    "server stopped or crashed": "the server",
    "disk full": "disk is full",
    "model endpoint fails": "the endpoint",
}
_PATH = os.environ.get("FOOTNOTE_FAULT_MATRIX", "")


@dataclass
class Matrix:
    """What came of every fault so far.

    Attributes:
        runs: (fault, stage) -> how many runs were hurt so.
        documents: (fault, stage) -> how many documents were `old` and `new` after it.
        ends: (fault, stage) -> how the runs ended.
        failed: The seeds that failed.
    """

    runs: Counter[tuple[str, str]] = field(default_factory=Counter)
    documents: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)
    ends: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)
    failed: list[int] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)

    def add(self, fault: str, stage: str, sides: Iterable[str], end: str) -> None:
        """Note that a fault at a stage left documents on these sides, and how the run ended."""
        key = (fault, stage)
        self.runs[key] += 1
        self.documents.setdefault(key, Counter()).update(side.partition(":")[0] for side in sides)
        self.ends.setdefault(key, Counter())[end] += 1

    def markdown(self) -> list[str]:
        """The lines of two tables: stage x kind of fault, and fault by fault how the runs ended."""
        return [*self._by_stage(), "", *self._by_fault()]

    def _by_stage(self) -> list[str]:
        """A cell is `runs: documents old / new`."""
        kinds = [kind for kind, part in _KINDS.items() if any(part in fault for fault, _ in self.runs)]
        stages = [stage for stage in STAGES if any(at == stage for _, at in self.runs)]
        lines = [f"| stage | {' | '.join(kinds)} |", "|---" * (len(kinds) + 1) + "|"]
        for stage in stages:
            cells = [
                self._cell([key for key in self.runs if _KINDS[kind] in key[0] and key[1] == stage]) for kind in kinds
            ]
            lines.append(f"| {stage} | {' | '.join(cells)} |")
        return lines

    def _cell(self, keys: Sequence[tuple[str, str]]) -> str:
        held = sum((self.documents[key] for key in keys), Counter[str]())
        half = f" / **{held['half']} half**" if held["half"] else ""
        return f"{sum(self.runs[key] for key in keys)}: {held['old']} / {held['new']}{half}" if keys else ""

    def _by_fault(self) -> list[str]:
        lines = ["| fault | runs | documents old | documents new | half | how the runs ended |", "|---" * 6 + "|"]
        for fault in dict.fromkeys(fault for fault, _ in self.runs):
            keys = [key for key in self.runs if key[0] == fault]
            held = sum((self.documents[key] for key in keys), Counter[str]())
            ends = ", ".join(
                f"{count} {end}" for end, count in sorted(sum((self.ends[k] for k in keys), Counter[str]()).items())
            )
            runs = sum(self.runs[key] for key in keys)
            lines.append(f"| {fault} | {runs} | {held['old']} | {held['new']} | {held['half']} | {ends} |")
        return lines

    def as_dict(self) -> dict[str, object]:
        """The same as JSON."""
        rows = [
            {"fault": fault, "stage": stage, "runs": count, "documents": dict(self.documents[fault, stage]),
             "ends": dict(self.ends[fault, stage])}
            for (fault, stage), count in self.runs.items()
        ]  # fmt: skip
        seconds = round(time.monotonic() - self.began, 1)
        return {"runs": sum(self.runs.values()), "seconds": seconds, "failed_seeds": self.failed, "rows": rows}

    def show(self, write: Callable[[str], object]) -> None:
        """Print it and write it to FOOTNOTE_FAULT_MATRIX, where that is set; failed seeds are always named."""
        if self.failed:
            write(f"Seeds that failed; keep them in tests/faults/seeds.py: {sorted(self.failed)}")
        if _PATH:
            Path(_PATH).parent.mkdir(parents=True, exist_ok=True)
            Path(_PATH).write_text(json.dumps(self.as_dict(), indent=1) + "\n")
            held = self.as_dict()
            said = f"{held['runs']} runs were hurt in {held['seconds']} seconds; {_PATH} has this as JSON."
            for line in ("", *self.markdown(), "", said):
                write(line)


MATRIX = Matrix()
