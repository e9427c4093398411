"""PLACES: the sentences of sources in which a claim stands."""

from collections.abc import Sequence

import numpy as np

from pipelines.query.verification.agree import clear
from pipelines.query.verification.claims import Alignment, Array, Line
from pipelines.query.verification.support import COMPARED, Embed

_PLACES = 3
_ADDS = 0.1  # of the claim, for another place to be shown
_EXTENDS = 0.05  # of the claim, for a neighbour to be shown with a place
_NEARNESS = 0.3  # of cosine beside the share of the claim that a sentence holds


def places(aligned: Alignment, claim: str = "", embed: Embed | None = None) -> list[slice]:
    """Where the claim stands: at most three places, best first, each one line or two neighbouring ones.

    A line counts by the words of the claim that it holds, those that few lines hold more; with vectors also by its
    cosine to the claim. Each further place adds a tenth of the claim.
    """
    rows = [row for row, line in enumerate(aligned.lines) if not line.is_head]
    few = np.log1p((len(rows) + 1) / (aligned.held[rows].sum(axis=0) + 1)) * np.cbrt(aligned.weights) ** 2
    left = few / max(few.sum(), 1e-9)
    near = _cosines(claim, aligned, rows, left, embed) if embed else np.zeros(len(rows))
    found: list[slice] = []
    for _ in range(_PLACES):
        gains = aligned.held[rows] @ left
        best = int(np.argmax(gains + _NEARNESS * near))
        if found and gains[best] < _ADDS:
            break
        found.append(_extended(rows[best], aligned, left))
        left = left * (1 - aligned.held[found[-1]].max(axis=0))
    return found


def _extended(row: int, aligned: Alignment, left: Array) -> slice:
    """The line, and the neighbour that adds most to it if that is enough."""
    own = left * (1 - aligned.held[row])
    around = [other for other in (row - 1, row + 1) if 0 <= other < len(aligned.lines)]
    beside = [other for other in around if _is_beside(aligned.lines[other], aligned.lines[row])]
    added, other = max(((float(aligned.held[other] @ own), -other) for other in beside), default=(0.0, 0))
    return slice(min(row, -other), max(row, -other) + 1) if added >= _EXTENDS else slice(row, row + 1)


def _cosines(claim: str, aligned: Alignment, rows: Sequence[int], left: Array, embed: Embed) -> Array:
    """Of the lines that hold most of the claim, their cosine to it; 0 of all others."""
    best = np.argsort(-(aligned.held[rows] @ left), kind="stable")[:COMPARED]
    vectors = np.asarray(embed([clear(claim), *(aligned.lines[rows[row]].text for row in best)]), np.float64)
    near = np.zeros(len(rows))
    near[best] = vectors[1:] @ vectors[0]
    return near


def _is_beside(line: Line, other: Line) -> bool:
    return not line.is_head and line.n == other.n
