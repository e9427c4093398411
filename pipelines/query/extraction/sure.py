"""SURE: whether what is quoted holds what is asked for, beside speaking of it."""

import re
from collections.abc import Callable, Sequence

from pipelines.query.extraction.aim import Aim
from pipelines.query.extraction.fitting import EXACT
from pipelines.query.extraction.lines import Line
from pipelines.query.extraction.marks import Signals
from pipelines.query.postprocess.duplicates import jaccard
from pipelines.query.verification.agree import denials
from pipelines.text import fold

_EXTREME = re.compile(
    r"\b(?:highest|lowest|largest|smallest|biggest|longest|shortest|oldest|newest|youngest|tallest|fastest|slowest"
    r"|cheapest|dearest|heaviest|lightest|best|worst|(?:most|least)(?= (?:\w+ly )?\w+))\b"
)
_REPEAT = 0.6  # shared index terms from which a line repeats another
_SAID = 1 / 3  # share of the weight of what is asked that must stand by a value


def is_sure(
    aim: Aim, lines: Sequence[Line], chosen: Sequence[int], signals: Signals, weight: Callable[[str], float]
) -> bool:
    """Whether the chosen lines may be relied on; False for each of four reasons not to.

    - They say nothing that the question does not say itself, and that is no question of yes or no.
    - A number, a date or a person is asked for, and none stands by what is asked.
    - The most of something is asked for, and rows or items are quoted that do not call theirs so.
    - One document denies what another says.
    """
    picks = [lines[at] for at in chosen]
    new = frozenset[str]().union(*(pick.own for pick in picks)) - aim.terms
    if aim.kind != "yes-no" and not new:
        return False
    if aim.kind in EXACT and aim.focus:
        fitting = [lines[at] for at in chosen if signals["fit"][at] >= 1]
        if not any(_said_by(line, aim.focus, weight) >= _SAID for line in fitting):
            return False
    extremes = set(_EXTREME.findall(fold(aim.text)))
    called = {extreme for pick in picks for extreme in _EXTREME.findall(fold(pick.text))}
    if extremes and not extremes & called and any(pick.item for pick in picks):
        return False
    return not any(repeats(one, other) and denies(one, other) for one in picks for other in picks)


def repeats(one: Line, other: Line) -> bool:
    """Whether a line has most of its words from another."""
    return jaccard(one.own, other.own) >= _REPEAT


def denies(one: Line, other: Line) -> bool:
    """Whether, of two lines of two documents, one denies what the other says: neither stands for both."""
    apart = one.source.document_id != other.source.document_id
    return apart and bool(denials(one.text, other.text)) != bool(denials(other.text, one.text))


def _said_by(line: Line, asked: Sequence[str], weight: Callable[[str], float]) -> float:
    """The share (0..1) of the weight of what is asked that stands in a line, beside it or above it."""
    held, weights = line.near | line.headings | line.lead, {term: weight(term) for term in asked}
    return sum(weights[term] for term in weights if term in held) / (sum(weights.values()) or 1.0)
