"""Fit which unit of quotation answers a question, and whether the best one does, with ten folds by document.

The questions are those of the portfolios of `data/units`, of `data/eval` and of each --also; the reader was fitted on
none of them.

`--fit` writes the weights, `--fit-answers` those of the second model alone.
"""

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from config.settings import get_settings
from data.reader_portfolios import UNITS, unpacked
from pipelines.evaluation.answers import turns_before
from pipelines.evaluation.corpus import portfolio_engine
from pipelines.evaluation.datasets import Quote, Topic, load_topics
from pipelines.query.answerers.quotation import extract_from
from pipelines.query.context import retrieve_context
from pipelines.query.engine import QueryEngine
from pipelines.query.quotable_units import QuotableUnit
from pipelines.query.unit_scoring import (
    ANSWER_SIGNALS,
    SIGNALS,
    WEIGHTS_FILE,
    ScoredUnits,
    UnitWeights,
    answer_signals,
    unit_weights,
)
from pipelines.text import fold, plain
from tests.bench import show

DATA = Path(__file__).parents[2] / "data"
EVAL = DATA / "eval"
_READ = "wierzbin"  # the reader was fitted on it
PORTFOLIOS = tuple(
    (path, path.parent / "documents")
    for path in sorted(EVAL.glob("portfolios/*/topics.jsonl"))
    if path.parent.name != _READ
)
_NOT_QUOTED = frozenset({"career", "portfolio", "conflict"})  # facts answer
_SHORT = 15  # characters of a unit that any quote may hold by chance
FOLDS, PENALTY, STEPS, RATE = 10, 5.0, 300, 0.1
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Judged:
    """The units that were scored for a question, and which of them hold a quoted place (n,); none if unanswerable."""

    group: str
    scored: ScoredUnits
    right: NDArray[np.bool_]
    answerable: bool


def judged(engine: QueryEngine, topics: Sequence[Topic]) -> list[Judged]:
    """The topics of which units were scored."""
    found = []
    for topic in (topic for topic in topics if topic.kind not in _NOT_QUOTED):
        if (scored := scored_units(engine, topic)) is not None:
            group = topic.quotes[0].document if topic.quotes else topic.id
            found.append(Judged(group, scored, np.array(right_units(scored, topic)), topic.answerable))
    return found


def scored_units(engine: QueryEngine, topic: Topic) -> ScoredUnits | None:
    """The units that are read for a question; None if nothing was found that can be quoted."""
    turns = turns_before(engine, topic)
    request = engine._request(topic.question, top_n=engine.passages, history=turns)
    found, _, _ = engine._begun(request, lambda search: extract_from(retrieve_context(search), search, 1.0))
    return found.scored


def right_units(scored: ScoredUnits, topic: Topic) -> list[bool]:
    """For each unit True if it holds a quoted place."""
    return [any(holds(unit, quote) for quote in topic.quotes) for unit in scored.units]


def holds(unit: QuotableUnit, quote: Quote) -> bool:
    """True if a unit holds a half of the quote from an edge, or the quote holds the unit."""
    wanted, held = _words(quote.text), _words(f"{unit.lead_text} {unit.text}")
    half = len(wanted) // 2
    edges = wanted[:60], wanted[:half].strip(), wanted[half:].strip()
    found = any(edge and edge in held for edge in edges) or (len(held) > _SHORT and held in wanted)
    return unit.source.documentName == quote.document and found


def _words(text: str) -> str:
    return fold(" ".join(plain(text).split()))


def fit(questions: Sequence[Judged]) -> UnitWeights:
    """The weights that maximise the probability of the right units among those of each question that has one.

    Source: McFadden 1974, conditional logit; gradient steps with momentum, L2 penalty over the number of questions.
    """
    known = [question for question in questions if question.right.any()]
    rows = np.concatenate([question.scored.signals for question in known]).astype(np.float64)
    mean, deviation = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    scaled = [(question.scored.signals - mean) / deviation for question in known]
    weight, momentum = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    for _ in range(STEPS):
        slope = -PENALTY * weight / len(known)
        for own, question in zip(scaled, known, strict=True):
            odds = np.exp(own @ weight - (own @ weight).max())
            wanted = odds * question.right / (odds * question.right).sum()
            slope += (wanted - odds / odds.sum()) @ own / len(known)
        momentum = 0.9 * momentum + slope
        weight = weight + RATE * momentum
    return UnitWeights(mean, deviation, weight)


def rescored(question: Judged, weights: UnitWeights) -> Judged:
    """The question with its units scored by other weights."""
    scores = ((question.scored.signals - weights.mean) / weights.deviation) @ weights.weight
    return replace(question, scored=replace(question.scored, scores=np.asarray(scores)))


Row = tuple[Array, bool]  # signals of the best unit, and whether it is right


def answer_rows(questions: Sequence[Judged], weights: UnitWeights) -> list[Row]:
    """A row for each question whose best unit is right by these weights, and for each that nothing answers."""
    rows: list[Row] = []
    for question in (rescored(each, weights) for each in questions):
        is_right = bool(question.right[question.scored.best])
        if is_right or not question.answerable:
            rows.append((answer_signals(question.scored).astype(np.float64), is_right))
    return rows


def fit_answers(rows: Sequence[Row]) -> UnitWeights:
    """A logistic model of whether the best unit is right; gradient steps with momentum, L2 penalty."""
    signals, right = (np.array([row[place] for row in rows], np.float64) for place in range(2))
    mean, deviation = signals.mean(axis=0), signals.std(axis=0) + 1e-6
    scaled = np.concatenate([(signals - mean) / deviation, np.ones((len(rows), 1))], axis=1)
    weight, momentum = np.zeros(scaled.shape[1]), np.zeros(scaled.shape[1])
    for _ in range(10 * STEPS):
        missed = right - 1 / (1 + np.exp(-scaled @ weight))
        momentum = 0.9 * momentum + missed @ scaled / len(rows) - np.append(weight[:-1], 0.0) / len(rows)
        weight = weight + RATE * momentum
    return UnitWeights(mean, deviation, weight[:-1], float(weight[-1]))


def fold_of(group: str) -> int:
    """The fold of a document, 0 to 9."""
    return int(hashlib.md5(group.encode(), usedforsecurity=False).hexdigest(), 16) % FOLDS


def held_out(questions: Sequence[Judged]) -> dict[str, float]:
    """The measures of fits without the fold of each question's document.

    first, among two, among three: where a right unit stands, of the questions that have one. auc: of the probability
    that it answers, between questions of which the best is right and those that nothing answers.
    """
    places: list[tuple[float, ...]] = []
    told: list[tuple[float, bool]] = []
    for number in range(FOLDS):
        known = [each for each in questions if fold_of(each.group) != number]
        others = [each for each in questions if fold_of(each.group) == number]
        weights = fit(known)
        model = fit_answers(answer_rows(known, weights))
        for question in (rescored(each, weights) for each in others if each.right.any()):
            order = np.argsort(-question.scored.scores, kind="stable")
            places.append(tuple(float(question.right[order[:depth]].any()) for depth in (1, 2, 3)))
        for signals, right in answer_rows(others, weights):
            told.append((model.intercept + float((signals - model.mean) / model.deviation @ model.weight), right))
    first, second, third = np.mean(places, axis=0)
    return {"first": first, "among two": second, "among three": third, "auc": _auc(told)}


def _auc(told: Sequence[tuple[float, bool]]) -> float:
    """Probability that a right one has the higher odds than a wrong one."""
    right, wrong = ([odds for odds, is_right in told if is_right is wanted] for wanted in (True, False))
    return float(np.mean([(a > b) + 0.5 * (a == b) for a in right for b in wrong]))


def main(arguments: Sequence[str]) -> int:
    """Exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.fit_units", description=__doc__)
    parser.add_argument("--also", nargs=2, type=Path, action="append", metavar=("TOPICS", "DOCUMENTS"), default=[])
    parser.add_argument("--fit", action="store_true", help=f"write {WEIGHTS_FILE.name}")
    parser.add_argument("--fit-answers", action="store_true", help="write whether the best answers, and keep the rest")
    chosen = parser.parse_args(arguments)
    questions: list[Judged] = []
    with tempfile.TemporaryDirectory() as folder:
        unread = [unpacked(portfolio, Path(folder) / portfolio.stem) for portfolio in UNITS]
        for place, (topics, documents) in enumerate((*unread, *PORTFOLIOS, *chosen.also)):
            engine = portfolio_engine(get_settings(), documents, name=f"units{place}")
            questions += judged(engine, load_topics(topics))
    show({"questions": len(questions), **held_out(questions)})
    if chosen.fit or chosen.fit_answers:
        weights = fit(questions) if chosen.fit else unit_weights()
        answers = fit_answers(answer_rows(questions, weights))
        held = {
            "questions": len(questions),
            "signals": _named(SIGNALS, weights),
            "answers": {**_named(ANSWER_SIGNALS, answers), "intercept": _rounded(answers.intercept)},
        }
        WEIGHTS_FILE.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")
    return 0


def _named(names: Sequence[str], model: UnitWeights) -> dict[str, dict[str, float]]:
    columns = zip(names, model.mean, model.deviation, model.weight, strict=True)
    return {name: dict(zip(("mean", "deviation", "weight"), map(_rounded, row), strict=True)) for name, *row in columns}


def _rounded(value: float) -> float:
    return round(float(value), 4)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
