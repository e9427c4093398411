"""Fit the weights of units of quotation on judged questions, with ten folds by document; `--fit` writes them."""

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from config.settings import get_settings
from pipelines.evaluation.answers import portfolio_engine
from pipelines.evaluation.datasets import Quote, Topic, load_topics
from pipelines.query.context import retrieve_context
from pipelines.query.engine import QueryEngine
from pipelines.query.extract import extract_from
from pipelines.query.quotable_units import QuotableUnit
from pipelines.query.unit_scoring import SIGNALS, WEIGHTS_FILE
from pipelines.text import fold, plain
from tests.bench import show

DATA = Path(__file__).parents[2] / "data"
EVAL = DATA / "eval"
OWN = ((EVAL / "topics.jsonl", DATA / "sample"), (EVAL / "qa" / "topics.jsonl", EVAL / "qa" / "documents"))
_SHORT = 15  # characters of a unit that any quote may hold by chance
FOLDS, PENALTY, STEPS, RATE = 10, 5.0, 300, 0.1
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Judged:
    """The units that were scored for a question: signals (n, s), and which of them hold a quoted place (n,)."""

    group: str
    signals: Array
    right: NDArray[np.bool_]


def judged(engine: QueryEngine, topics: Sequence[Topic]) -> list[Judged]:
    """The answerable topics of which a unit holds a quoted place."""
    found = []
    for topic in (topic for topic in topics if topic.answerable):
        for attempt in engine.active.attempts():
            with attempt as index:
                search = engine._begin(engine._request(topic.question, top_n=engine.passages), index)
                extraction = extract_from(retrieve_context(search), search, 1.0)
        if extraction.candidates is None:
            continue
        units, signals = extraction.candidates
        right = [any(holds(unit, quote) for quote in topic.quotes) for unit in units]
        if any(right):
            found.append(Judged(topic.quotes[0].document, signals.astype(np.float64), np.array(right)))
    return found


def holds(unit: QuotableUnit, quote: Quote) -> bool:
    """True if a unit holds a half of the quote from an edge, or the quote holds the unit."""
    wanted, held = _words(quote.text), _words(f"{unit.lead_text} {unit.text}")
    half = len(wanted) // 2
    edges = wanted[:60], wanted[:half].strip(), wanted[half:].strip()
    found = any(edge and edge in held for edge in edges) or (len(held) > _SHORT and held in wanted)
    return unit.source.documentName == quote.document and found


def _words(text: str) -> str:
    return fold(" ".join(plain(text).split()))


def fit(questions: Sequence[Judged]) -> tuple[Array, Array, Array]:
    """(means, deviations, weights) that maximise the probability of the right units among those of each question.

    Source: McFadden 1974, conditional logit; gradient steps with momentum, L2 penalty over the number of questions.
    """
    rows = np.concatenate([question.signals for question in questions])
    mean, deviation = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    scaled = [(question.signals - mean) / deviation for question in questions]
    weight, momentum = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    for _ in range(STEPS):
        slope = -PENALTY * weight / len(questions)
        for own, question in zip(scaled, questions, strict=True):
            odds = np.exp(own @ weight - (own @ weight).max())
            slope += (odds * question.right / (odds * question.right).sum() - odds / odds.sum()) @ own / len(questions)
        momentum = 0.9 * momentum + slope
        weight = weight + RATE * momentum
    return mean, deviation, weight


def fold_of(group: str) -> int:
    """The fold of a document, 0 to 9."""
    return int(hashlib.md5(group.encode(), usedforsecurity=False).hexdigest(), 16) % FOLDS


def held_out(questions: Sequence[Judged]) -> list[tuple[float, float, float]]:
    """By question, whether a right unit is first, among two and among three, by a fit without its fold."""
    fits = {n: fit([each for each in questions if fold_of(each.group) != n]) for n in range(FOLDS)}
    found = []
    for question in questions:
        mean, deviation, weight = fits[fold_of(question.group)]
        order = np.argsort(-((question.signals - mean) / deviation) @ weight, kind="stable")
        found.append(tuple(float(question.right[order[:depth]].any()) for depth in (1, 2, 3)))
    return found


def main(arguments: Sequence[str]) -> int:
    """Exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.fit_units", description=__doc__)
    parser.add_argument("--also", nargs=2, type=Path, action="append", metavar=("TOPICS", "DOCUMENTS"), default=[])
    parser.add_argument("--fit", action="store_true", help=f"write {WEIGHTS_FILE.name}")
    chosen = parser.parse_args(arguments)
    questions: list[Judged] = []
    for place, (topics, documents) in enumerate((*OWN, *chosen.also)):
        engine = portfolio_engine(get_settings(), documents, name=f"units{place}")
        questions += judged(engine, load_topics(topics))
    first, second, third = np.mean(held_out(questions), axis=0)
    show({"questions": len(questions), "first": first, "among two": second, "among three": third})
    if chosen.fit:
        columns = zip(SIGNALS, *fit(questions), strict=True)
        held = {
            name: dict(zip(("mean", "deviation", "weight"), map(_rounded, row), strict=True)) for name, *row in columns
        }
        WEIGHTS_FILE.write_text(
            json.dumps({"questions": len(questions), "signals": held}, indent=1) + "\n", encoding="utf-8"
        )
    return 0


def _rounded(value: float) -> float:
    return round(float(value), 4)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
