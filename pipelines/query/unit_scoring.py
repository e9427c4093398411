"""Score how well each unit of quotation answers a question, and how likely the best one is right, by fitted models."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

import numpy as np
from llama_index.core.schema import NodeWithScore
from numpy.typing import NDArray

from pipelines.errors import FootnoteError
from pipelines.models.reader import load_reader
from pipelines.observe import log_failure
from pipelines.query.evidence import idf_share, logistic
from pipelines.query.missing import MISSING, missing_of
from pipelines.query.question.form import QuestionType, holds_kind, kind_fit
from pipelines.query.question.related import related_terms
from pipelines.query.quotable_units import QuotableUnit
from pipelines.store.tokens import index_terms

Array = NDArray[np.float32]
SIGNALS = ("reader", "passage", "short")
ANSWER_SIGNALS = ("reader", *MISSING)
WEIGHTS_FILE = Path(__file__).with_name("unit_weights.json")

# Units that are read at a time, and the log-odds of the reader from which no others are read.
_READINGS = ((8, 1.0), (8, 0.0), (16, 0.0))
_ELSEWHERE = -9.0  # those of a unit about something else, and of one that is not read
_OF_PART = 12  # units that are read for a part of the question, the best for all of it
_LONGEST = 500  # characters of a unit that are read
_SHORT = 5  # words
_FEW_PARTS = 12  # parts of a unit up to which each is read by itself
_LEAST_STRENGTH = 0.05  # of the evidence, below which nothing was found
_NOT_WORDS = re.compile(r"[-_./]")


@dataclass(frozen=True, slots=True)
class UnitScorer:
    """Term weights (idf), and the log-odds (n,) of a model that each text answers a question."""

    weight: Callable[[str], float]
    reads: Callable[[str, Sequence[str]], Array]

    def share(self, terms: Sequence[str] | frozenset[str], held: frozenset[str]) -> float:
        """The share (0..1) of the terms' weight that is held; 1 without terms."""
        told = {term for term in terms if term in held or not held.isdisjoint(related_terms(term))}
        return idf_share(self.weight, terms, told)


def by_words(question: str, texts: Sequence[str]) -> Array:
    """(n,) log-odds, -5 to 3, that texts answer, by the share of the question's terms in each: without a model."""
    asked = index_terms(question)
    held = [len(asked & index_terms(text)) / max(len(asked), 1) for text in texts]
    return 8 * np.array(held, np.float32) - 5


def build_unit_scorer(weight: Callable[[str], float]) -> UnitScorer:
    """A scorer by term weights (idf) and the packaged reader; by terms alone if its file is missing or damaged."""

    def reads(question: str, texts: Sequence[str]) -> Array:
        try:
            return load_reader().answers(question, texts)
        except FootnoteError as error:
            log_failure("units are ranked by their terms alone", error)
            return by_words(question, texts)

    return UnitScorer(cache(weight), reads)


@dataclass(frozen=True)
class ScoredUnits:
    """Units with their terms and signals (n, len(SIGNALS)) for a question, and what scored them.

    `scores` (n,) are log-odds, up to a constant of the question, that a unit is the one that answers.
    """

    reads: tuple["ReadUnit", ...]
    signals: Array
    scores: Array
    wanted: QuestionType
    scorer: UnitScorer

    @cached_property
    def units(self) -> tuple[QuotableUnit, ...]:
        """The units themselves, in order."""
        return tuple(each.unit for each in self.reads)

    @property
    def best(self) -> int:
        """The index of the unit that scores best."""
        return int(np.argmax(self.scores))

    def parts(self, at: int) -> Array:
        """The scores of a unit's sentences, items, rows or lines, which compare within the unit.

        Each is the sum of the probability that the part answers (of sentences and items, a few at most), the share of
        what is asked for that it holds, and half of `kind_fit`.
        """
        each = self.reads[at]
        parts = each.unit.parts
        is_read = each.unit.kind in ("paragraph", "list") and 1 < len(parts) <= _FEW_PARTS
        texts = [each.front + part.text for part in parts]
        found = self.scorer.reads(self.wanted.as_put, texts) if is_read else np.zeros(len(parts), np.float32)
        held = [self.scorer.share(self.wanted.asked, own) for own in each.parts]
        scores = [logistic(a) + b + 0.5 * c for a, b, c in zip(found.tolist(), held, each.fits, strict=True)]
        return np.array(scores, np.float32)


@dataclass(frozen=True, slots=True)
class UnitWeights:
    """A linear model over signals: the intercept and the sum of weight * (signal - mean) / deviation."""

    mean: Array
    deviation: Array
    weight: Array
    intercept: float = 0.0


@cache
def unit_weights() -> UnitWeights:
    """The fitted weights of SIGNALS; made by `python -m tests.bench.fit_units --fit`."""
    return _weights("signals", SIGNALS)


@cache
def answer_weights() -> UnitWeights:
    """The fitted weights of ANSWER_SIGNALS; made by the same command."""
    return _weights("answers", ANSWER_SIGNALS)


def _weights(name: str, signals: Sequence[str]) -> UnitWeights:
    model = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))[name]
    mean, deviation, weight = (
        np.array([model[signal][key] for signal in signals], np.float32) for key in ("mean", "deviation", "weight")
    )
    return UnitWeights(mean, deviation, weight, model.get("intercept", 0.0))


def score_units(
    units: Sequence[QuotableUnit], wanted: QuestionType, ranking: Sequence[NodeWithScore], scorer: UnitScorer
) -> ScoredUnits:
    """The units that are read, and what ranks them: eight, eight more and sixteen more while the reader is unsure.

    - `reader`: the log-odds of the reader that the unit under its headings answers.
    - `passage`: the score of its passage by the best one's.
    - `short`: 1 for less than five words.

    They are chosen by their words and those around them.

    Args:
        units: That can be quoted.
        wanted: What the question asks for.
        ranking: The passages, best first.
        scorer: Term weights and the reader.
    """
    read = [ReadUnit(unit, wanted) for unit in units]
    if len(read) > _READINGS[0][0]:
        rough = _rough(read, wanted, ranking, scorer)
        read = [read[at] for at in np.argsort(-rough, kind="stable")]
    answers = np.empty(0, np.float32)
    for size, sure in _READINGS:
        texts = [each.text for each in read[len(answers) : len(answers) + size]]
        answers = np.append(answers, scorer.reads(wanted.as_put, texts)) if texts else answers
        if answers.max() >= sure:
            break
    return _scored(read[: len(answers)], answers, wanted, ranking, scorer)


def score_again(scored: ScoredUnits, wanted: QuestionType, ranking: Sequence[NodeWithScore]) -> ScoredUnits:
    """The same units, in the same order, scored for a part of the question.

    The twelve that are best for the whole question are read; others do not answer its part. One of the things that it
    names is not read: units that do not tell of it do not answer it.
    """
    read = [ReadUnit(unit, wanted) for unit in scored.units]
    if wanted.as_put == scored.wanted.as_put:
        about = [each.whole.issuperset(wanted.names) for each in read]
        answers = np.where(about, scored.signals[:, SIGNALS.index("reader")], np.float32(_ELSEWHERE))
    else:
        best = np.argsort(-scored.scores, kind="stable")[:_OF_PART]
        answers = np.full(len(read), _ELSEWHERE, np.float32)
        answers[best] = scored.scorer.reads(wanted.as_put, [read[at].text for at in best])
    return _scored(read, answers, wanted, ranking, scored.scorer)


def _scored(
    read: Sequence["ReadUnit"],
    answers: Array,
    wanted: QuestionType,
    ranking: Sequence[NodeWithScore],
    scorer: UnitScorer,
) -> ScoredUnits:
    short = [len(each.unit.text.split()) < _SHORT for each in read]
    signals = np.stack([answers, _passages(read, ranking), np.array(short, np.float32)], axis=1)
    model = unit_weights()
    scores = ((signals - model.mean) / model.deviation) @ model.weight
    return ScoredUnits(tuple(read), signals, np.asarray(scores, np.float32), wanted, scorer)


def answer_signals(scored: ScoredUnits) -> Array:
    """(len(ANSWER_SIGNALS),) of the best unit: the reader's log-odds, and what it mentions without stating it."""
    best = scored.best
    read = scored.signals[best, SIGNALS.index("reader")]
    return np.array((read, *missing_of(scored.wanted, scored.units[best])), np.float32)


def answer_probability(scored: ScoredUnits, strength: float) -> float:
    """The probability (0..1) that the best unit answers.

    It is 0 with almost no evidence (`strength`, 0..1).

    Source: Platt, Advances in Large Margin Classifiers, 1999 (a logistic model over scores).
    """
    if strength < _LEAST_STRENGTH:
        return 0.0
    model = answer_weights()
    scaled = (answer_signals(scored) - model.mean) / model.deviation
    return logistic(model.intercept + float(scaled @ model.weight))


def heading_with_value(wanted: QuestionType, unit: QuotableUnit) -> str:
    """The innermost heading of a unit that holds the date or person that is asked for; empty if a part holds it."""
    if wanted.kind not in ("when", "who") or any(
        holds_kind(wanted.kind, part.text, wanted.terms) for part in unit.parts
    ):
        return ""
    holding = (heading for heading in reversed(unit.headings) if holds_kind(wanted.kind, heading, wanted.terms))
    return next(holding, "")


class ReadUnit:
    """A unit with the terms of its parts and of what stands above it, and the text that is read."""

    def __init__(self, unit: QuotableUnit, wanted: QuestionType) -> None:
        self.unit = unit
        self.parts = [index_terms(part.text) for part in unit.parts]
        heading = " > ".join(dict.fromkeys((*unit.headings[:1], *unit.headings[-2:])))
        self.front = f"{heading}: {unit.lead_text} "
        self.asked = frozenset(wanted.asked)
        above = float(bool(heading_with_value(wanted, unit)))
        self.fits = [max(kind_fit(wanted, part.text), above) for part in unit.parts]

    @property
    def near(self) -> frozenset[str]:
        """The terms of what stands right above it."""
        return index_terms(" ".join((self.unit.lead_text, *self.unit.headings[-1:])))

    @property
    def whole(self) -> frozenset[str]:
        """The terms of it, of all that stands above it, and of the title and name of its document."""
        source, above = self.unit.source, index_terms(" ".join((self.unit.lead_text, *self.unit.headings)))
        return above.union(index_terms(_NOT_WORDS.sub(" ", f"{source.title} {source.documentName}")), *self.parts)

    @cached_property
    def text(self) -> str:
        """The unit from its beginning, or from the part nearest to the question if that is too far down to be read.

        The words of rows and of code have more pieces than those of sentences.
        """
        shared = [len(own & self.asked) for own in self.parts]
        nearest = shared.index(max(shared))
        until = replace(self.unit, parts=self.unit.parts[: nearest + 1])
        read = self.unit
        if nearest and len(until.text) > (_LONGEST if read.kind == "paragraph" else _LONGEST // 2):
            read = replace(read, parts=read.parts[nearest:])
        return self.front + read.text[:_LONGEST]


def _rough(
    read: Sequence[ReadUnit], wanted: QuestionType, ranking: Sequence[NodeWithScore], scorer: UnitScorer
) -> Array:
    """(n,) the score by which units are chosen to be read.

    It sums the share of the question's term weight in a unit, its headings, its lead-in and its title; the largest in a
    part of it and beside it; the score of its passage by the best one's; and half of: whether a part holds the kind of
    value that is asked for, whether the last answer is from its document, and the place of its document.
    """
    places = {
        name: place
        for place, name in enumerate(dict.fromkeys(str(hit.node.metadata["document_id"]) for hit in ranking), start=1)
    }
    found = [
        scorer.share(wanted.asked, each.whole)
        + max(scorer.share(wanted.asked, own | near) for own in each.parts)
        + 0.5 * (max(each.fits) + (document in wanted.told) + 1 / places.get(document, len(places) + 1))
        for each in read
        for document, near in ((each.unit.source.document_id, each.near),)
    ]
    return np.asarray(np.array(found, np.float32) + _passages(read, ranking), np.float32)


def _passages(read: Sequence[ReadUnit], ranking: Sequence[NodeWithScore]) -> Array:
    """(n,) the score of each unit's passage by the best one's."""
    best = max((hit.score or 0.0 for hit in ranking), default=0.0) or 1.0
    return np.array([_passage_score(each.unit, ranking) / best for each in read], np.float32)


def _passage_score(unit: QuotableUnit, ranking: Sequence[NodeWithScore]) -> float:
    """The score of the first passage that overlaps the unit; 0 where none does."""
    for hit in ranking:
        meta = hit.node.metadata
        if meta["document_id"] == unit.source.document_id and meta["start"] < unit.end and unit.start < meta["end"]:
            return max(hit.score or 0.0, 0.0)
    return 0.0
