"""Decide whether the extracted lines answer the question, and whether they can be relied on."""

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from pipelines.query.evidence import log_odds, logistic
from pipelines.query.line_scoring import Signals
from pipelines.query.postprocess.duplicates import jaccard
from pipelines.query.question_type import EXACT_KINDS, QuestionType
from pipelines.query.quotable_lines import QuotableLine
from pipelines.query.verification.normalise import count_negations
from pipelines.text import fold

_OPEN_LIKENESS = 0.8  # likeness for a question that asks nothing of what it names but whether it is there
_LEAST_NAMED = 0.5  # share of what a question names below which the lines are about something else
_LEAST_VALUED = (
    1 / 3
)  # of what the best line tells: less, and the lines that hold such a value are about something else
_LEAST_STRENGTH = 0.12  # of the evidence, below which nothing was found
_STRONG_EVIDENCE = 0.6  # of the evidence, from which names of earlier turns need not be there
ANSWER_FLOOR = 0.5  # probability from which the lines count as an answer
# A logistic model; fitted on the portfolio topics and the dialogues of mtrag_un together.
INTERCEPT = -1.82
WEIGHTS: Mapping[str, float] = {"told": 1.02, "fitting": 1.64, "focused": 0.4, "strength": 0.5}


def sufficiency_signals(signals: Signals, wanted: QuestionType) -> dict[str, float]:
    """Signals of how far any line states what the question asks about the things it names.

    - `named` (0..1): the largest share of the question's names around one line.
    - `typed` (0..1): the same of the names that no earlier turn said.
    - `told` (0..2.5): the most that one line has of the root of the share of the focus near it and its likeness to the
      question without its names, times the square of the share of the names around it.
    - `fitting`: the same over the lines that hold the kind of value that is asked for.
    - `valued` (0..1): the share of `told` that `fitting` is, for questions after a number, a date or a person; else 1.
    - `focused`: how many terms say what is asked, four at most; four where none does.
    """
    on = signals["on"]
    if not len(on):
        return {"named": 0.0, "typed": 0.0, "told": 0.0, "fitting": 0.0, "valued": 0.0, "focused": 0.0}
    like = np.maximum(signals["about"], 0.0) if wanted.focus else np.full_like(on, _OPEN_LIKENESS)
    evidence = on**2 * (np.sqrt(signals["focus"]) + like)
    fitting = evidence[signals["fit"] >= 0.5]
    most, best_fitting = float(evidence.max()), float(fitting.max()) if len(fitting) else 0.0
    return {
        "named": float(on.max()),
        "typed": float(signals["typed"].max()),
        "told": most,
        "fitting": best_fitting,
        "valued": best_fitting / max(most, 1e-9) if wanted.focus and wanted.kind in EXACT_KINDS else 1.0,
        "focused": float(min(len(wanted.focus), 4) or 4),
    }


def answer_probability(evidence: Mapping[str, float], strength: float) -> float:
    """The probability (0..1) that the lines answer.

    It is 0 if most of the names in the question stand near no line, if no line about them holds the kind of value that
    is asked for, or if there is almost no evidence. With strong evidence, names from earlier turns are not required.

    Args:
        evidence: The result of `sufficiency_signals`.
        strength: Of the evidence, 0..1.
    """
    named = evidence["typed" if strength >= _STRONG_EVIDENCE else "named"]
    if named < _LEAST_NAMED or evidence["valued"] < _LEAST_VALUED or strength < _LEAST_STRENGTH:
        return 0.0
    signals = {**evidence, "strength": log_odds(strength)}
    return logistic(INTERCEPT + sum(weight * signals[name] for name, weight in WEIGHTS.items()))


_EXTREME = re.compile(
    r"\b(?:highest|lowest|largest|smallest|biggest|longest|shortest|oldest|newest|youngest|tallest|fastest|slowest"
    r"|cheapest|dearest|heaviest|lightest|best|worst|(?:most|least)(?= (?:\w+ly )?\w+))\b"
)
_REPEATED = 0.6  # shared index terms from which a line repeats another
_LEAST_BESIDE = 1 / 3  # share of the weight of what is asked that must stand by a value


def is_reliable(
    wanted: QuestionType,
    lines: Sequence[QuotableLine],
    chosen: Sequence[int],
    signals: Signals,
    weight: Callable[[str], float],
) -> bool:
    """True if the chosen lines can be relied on. They cannot if any of these holds:

    - They add nothing to the words of the question, and it is not a yes-no question.
    - A number, a date or a person is asked for, and none stands near the asked terms.
    - A superlative is asked for, and list items or rows are quoted that do not contain it.
    - One document denies what another says.
    """
    picks = [lines[at] for at in chosen]
    new = frozenset[str]().union(*(pick.own for pick in picks)) - wanted.terms
    if wanted.kind != "yes-no" and not new:
        return False
    if wanted.kind in EXACT_KINDS and wanted.focus:
        fitting = [lines[at] for at in chosen if signals["fit"][at] >= 1]
        if not any(_weight_beside(line, wanted.focus, weight) >= _LEAST_BESIDE for line in fitting):
            return False
    extremes = set(_EXTREME.findall(fold(wanted.text)))
    called = {extreme for pick in picks for extreme in _EXTREME.findall(fold(pick.text))}
    if extremes and not extremes & called and any(pick.item for pick in picks):
        return False
    return not any(repeats(one, other) and denies(one, other) for one in picks for other in picks)


def repeats(one: QuotableLine, other: QuotableLine) -> bool:
    """True if two lines share most of their index terms."""
    return jaccard(one.own, other.own) >= _REPEATED


def denies(one: QuotableLine, other: QuotableLine) -> bool:
    """True if one of two lines of different documents denies what the other says."""
    apart = one.source.document_id != other.source.document_id
    return apart and bool(count_negations(one.text, other.text)) != bool(count_negations(other.text, one.text))


def _weight_beside(line: QuotableLine, asked: Sequence[str], weight: Callable[[str], float]) -> float:
    """The share (0..1) of the asked terms' weight that stands in a line, next to it or above it."""
    held, weights = line.near | line.headings | line.lead, {term: weight(term) for term in asked}
    return sum(weights[term] for term in weights if term in held) / (sum(weights.values()) or 1.0)
