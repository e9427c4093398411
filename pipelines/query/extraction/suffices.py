"""SUFFICES: whether the lines that were found answer the question, or only speak of the same things."""

import math
from collections.abc import Mapping

import numpy as np

from pipelines.query.extraction.aim import Aim
from pipelines.query.extraction.fitting import EXACT
from pipelines.query.extraction.marks import Signals

_OPEN = 0.8  # likeness for a question that asks nothing of what it names but whether it is there
_NAMED = 0.5  # share of what a question names below which the lines are about something else
_VALUED = 1 / 3  # of what the best line tells: less, and the lines that hold such a value are about something else
_STRENGTH = 0.12  # of the evidence, below which nothing was found
_STRONG = 0.6  # of the evidence, from which names of earlier turns need not be there
FLOOR = 0.5  # probability from which the lines count as an answer
# A logistic model; fitted on the portfolio topics and the dialogues of mtrag_un together.
INTERCEPT = -1.82
WEIGHTS: Mapping[str, float] = {"told": 1.02, "fitting": 1.64, "focused": 0.4, "strength": 0.5}


def tell(signals: Signals, aim: Aim) -> dict[str, float]:
    """How far any line tells what is asked for of what the question names.

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
    like = np.maximum(signals["about"], 0.0) if aim.focus else np.full_like(on, _OPEN)
    told = on**2 * (np.sqrt(signals["focus"]) + like)
    fitting = told[signals["fit"] >= 0.5]
    most, held = float(told.max()), float(fitting.max()) if len(fitting) else 0.0
    return {
        "named": float(on.max()),
        "typed": float(signals["typed"].max()),
        "told": most,
        "fitting": held,
        "valued": held / max(most, 1e-9) if aim.focus and aim.kind in EXACT else 1.0,
        "focused": float(min(len(aim.focus), 4) or 4),
    }


def suffices(told: Mapping[str, float], strength: float) -> float:
    """The probability (0..1) that the lines answer.

    It is 0 where most of what the question names is not around any, where none of them that is about it holds the
    kind of value that is asked for, and where the evidence is next to nothing. Names that an earlier turn said need not
    be there when the evidence is strong.

    Args:
        told: What `tell` makes of the lines.
        strength: Of the evidence, 0..1.
    """
    named = told["typed" if strength >= _STRONG else "named"]
    if named < _NAMED or told["valued"] < _VALUED or strength < _STRENGTH:
        return 0.0
    held = min(max(strength, 0.01), 0.99)
    signals = {**told, "strength": math.log(held / (1 - held))}
    odds = INTERCEPT + sum(weight * signals[name] for name, weight in WEIGHTS.items())
    return 1 / (1 + math.exp(-max(min(odds, 50.0), -50.0)))
