"""Score how well each unit of quotation answers a question, and how likely the best one is right, by fitted models."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from llama_index.core.schema import NodeWithScore
from numpy.typing import NDArray

from pipelines.errors import FootnoteError
from pipelines.models.reader import load_reader
from pipelines.observe import log_failure
from pipelines.query.evidence import idf_share, logistic
from pipelines.query.missing import MISSING, missing_of
from pipelines.query.question.form import EXACT_KINDS, QuestionType, holds_kind, kind_fit
from pipelines.query.question.related import related_terms
from pipelines.query.quotable_units import QuotableUnit
from pipelines.store.tokens import index_terms

Array = NDArray[np.float32]
SIGNALS = ("reader", "coverage", "passage", "fit", "short", "told")
ANSWER_SIGNALS = ("reader", "passage", "fitting", "told", *MISSING)
WEIGHTS_FILE = Path(__file__).with_name("unit_weights.json")

_MOST_UNITS = 16  # units that are read
_LONGEST = 500  # characters of a unit that are read
_SHORT = 5  # words
_FEW_PARTS = 12  # parts of a unit up to which each is read by itself
_LEAST_NAMED = 0.4  # share of what a question names below which the units are about something else
_SURE = 2.0  # log-odds of the reader
_LEAST_STRENGTH = 0.05  # of the evidence, below which nothing was found
_DOCUMENT_SHARE = 0.6  # of a name that only another place of the document holds
_FITS = 0.5  # of `kind_fit`
_NOT_WORDS = re.compile(r"[-_./]")


@dataclass(frozen=True, slots=True)
class UnitScorer:
    """Term weights (idf), and the log-odds (n,) of a model that each text answers a question; zeros without a model."""

    weight: Callable[[str], float]
    reads: Callable[[str, Sequence[str]], Array]

    def share(self, terms: Sequence[str] | frozenset[str], held: frozenset[str]) -> float:
        """The share (0..1) of the terms' weight that is held; 1 without terms."""
        told = {term for term in terms if term in held or not held.isdisjoint(related_terms(term))}
        return idf_share(self.weight, terms, told)


def unread(_question: str, texts: Sequence[str]) -> Array:
    """(n,) zeros: log-odds of texts that no model reads."""
    return np.zeros(len(texts), np.float32)


def build_unit_scorer(weight: Callable[[str], float]) -> UnitScorer:
    """A scorer by term weights (idf) and the packaged reader; by terms alone if its file is missing or damaged."""

    def reads(question: str, texts: Sequence[str]) -> Array:
        try:
            return load_reader().answers(question, texts)
        except FootnoteError as error:
            log_failure("units are ranked by their terms alone", error)
            return unread(question, texts)

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

    @cached_property
    def stated(self) -> tuple[float, float]:
        """(named, fitting), both 0..1: the most of what is named that stands in and around one part of a unit; and the
        most of the question that a part says which holds the kind of value that is asked for.
        """
        found = [part for each in self.reads for part in _stated(each, self.wanted, self.scorer)]
        return max(each.named for each in found), max((each.told for each in found if each.fits), default=0.0)

    def parts(self, at: int) -> Array:
        """The scores of a unit's sentences, items, rows or lines, which compare within the unit.

        Each is the sum of the probability that the part answers (of sentences and items, a few at most), the share of
        what is asked for that it holds, and half of `kind_fit`.
        """
        each = self.reads[at]
        parts = each.unit.parts
        is_read = each.unit.kind in ("paragraph", "list") and 1 < len(parts) <= _FEW_PARTS
        read = self.scorer.reads if is_read else unread
        found = read(self.wanted.as_put, [each.front + part.text for part in parts])
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
    """At most sixteen of the units, chosen by their words, with the signals that rank them.

    - `reader`: the log-odds of the reader that the unit under its headings answers.
    - `coverage`: the share of the question's term weight in the unit, its headings, its lead-in and its title.
    - `passage`: the score of its passage by the best one's.
    - `fit`: whether a part holds the kind of value that is asked for.
    - `short`: 1 for less than five words.
    - `told`: 1 in a document that the last answer of the conversation is from.

    Args:
        units: That can be quoted.
        wanted: What the question asks for.
        ranking: The passages, best first.
        scorer: Term weights and the reader.
    """
    read = [ReadUnit(unit, wanted) for unit in units]
    lexical = _lexical_signals(read, wanted, ranking, scorer)
    if len(units) > _MOST_UNITS:
        rough = _rough(lexical, read, wanted, ranking, scorer)
        kept = sorted(np.argsort(-rough, kind="stable")[:_MOST_UNITS].tolist())
        read, lexical = [read[at] for at in kept], lexical[kept]
    answers = scorer.reads(wanted.as_put, [each.text for each in read])
    signals = np.concatenate([answers[:, None], lexical], axis=1)
    model = unit_weights()
    scores = ((signals - model.mean) / model.deviation) @ model.weight
    return ScoredUnits(tuple(read), signals, np.asarray(scores, np.float32), wanted, scorer)


def answer_signals(scored: ScoredUnits) -> Array:
    """(len(ANSWER_SIGNALS),) of units: whether the best one answers.

    - `reader`, `passage`: of the best unit, see `score_units`.
    - `fitting`: see `ScoredUnits.stated`.
    - `told`: 1 for a follow-up of an answer whose documents are known.
    - `unnamed`, `priceless`: what the best unit mentions without stating it.
    """
    best = dict(zip(SIGNALS, scored.signals[scored.best].tolist(), strict=True))
    known = (best["reader"], best["passage"], scored.stated[1], float(bool(scored.wanted.told)))
    return np.array((*known, *missing_of(scored.wanted, scored.units[scored.best])), np.float32)


def answer_probability(scored: ScoredUnits, strength: float) -> float:
    """The probability (0..1) that the best unit answers.

    It is 0 if most of what the question names stands near no unit, if no part that holds the kind of value that is
    asked for has a word of the question beside it and the reader is sure of no unit that holds such a value, or with
    almost no evidence (`strength`, 0..1).

    Source: Platt, Advances in Large Margin Classifiers, 1999 (a logistic model over scores).
    """
    named, fitting = scored.stated
    is_exact = scored.wanted.kind in EXACT_KINDS and bool(scored.wanted.focus)
    read, fits = (scored.signals[:, SIGNALS.index(name)] for name in ("reader", "fit"))
    is_sure = bool((read[fits >= _FITS] >= _SURE).any())
    if named < _LEAST_NAMED or (is_exact and not fitting and not is_sure) or strength < _LEAST_STRENGTH:
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
        source = unit.source
        self.unit = unit
        self.title = index_terms(_NOT_WORDS.sub(" ", f"{source.title} {source.documentName}"))
        self.above = index_terms(" ".join((unit.lead_text, *unit.headings)))
        self.near = index_terms(" ".join((unit.lead_text, *unit.headings[-1:])))
        self.parts = [index_terms(part.text) for part in unit.parts]
        self.body = frozenset[str]().union(*self.parts)
        heading = " > ".join(dict.fromkeys((*unit.headings[:1], *unit.headings[-1:])))
        self.front = f"{heading}: {unit.lead_text} "
        self.text = self.front + unit.text[:_LONGEST]
        self.under = float(bool(heading_with_value(wanted, unit)))
        self.fits = [max(kind_fit(wanted, part.text), self.under) for part in unit.parts]
        self.fit = max(self.fits)


def _lexical_signals(
    read: Sequence[ReadUnit], wanted: QuestionType, ranking: Sequence[NodeWithScore], scorer: UnitScorer
) -> Array:
    """(n, len(SIGNALS) - 1): the signals that need no reader."""
    best = max((hit.score or 0.0 for hit in ranking), default=0.0) or 1.0
    found = [
        (
            scorer.share(wanted.asked, each.body | each.above | each.title),
            _passage_score(each.unit, ranking) / best,
            each.fit,
            len(each.unit.text.split()) < _SHORT,
            each.unit.source.document_id in wanted.told,
        )
        for each in read
    ]
    return np.array(found, np.float32).reshape(-1, len(SIGNALS) - 1)


def _rough(
    lexical: Array, read: Sequence[ReadUnit], wanted: QuestionType, ranking: Sequence[NodeWithScore], scorer: UnitScorer
) -> Array:
    """The score (n,) by which units are chosen to be read."""
    named = dict(zip(SIGNALS[1:], lexical.T, strict=True))
    places = {
        name: place
        for place, name in enumerate(dict.fromkeys(str(hit.node.metadata["document_id"]) for hit in ranking), start=1)
    }
    document = np.array([1 / places.get(each.unit.source.document_id, len(places) + 1) for each in read], np.float32)
    told = np.array([max(scorer.share(wanted.asked, own | each.near) for own in each.parts) for each in read])
    held = named["coverage"] + named["passage"] + 0.5 * (named["fit"] + named["told"] + document)
    return np.asarray(held + told, np.float32)


class _Stated(NamedTuple):
    """Shares (0..1) of a question that a part of a unit states: of what it names, and of all; and if its kind fits."""

    named: float
    told: float
    fits: bool


def _stated(each: ReadUnit, wanted: QuestionType, scorer: UnitScorer) -> Iterator[_Stated]:
    """The shares that each part of a unit states, with the parts and headings around it."""
    whole = _DOCUMENT_SHARE * scorer.share(wanted.names, each.body | each.above | each.title)
    for at, part in enumerate(each.parts):
        beside = part.union(*each.parts[max(at - 1, 0) : at + 2])
        named = max(scorer.share(wanted.names, beside | each.above), whole)
        told = named**2 * scorer.share(wanted.focus, beside | each.near) ** 0.5
        yield _Stated(named, told, each.fits[at] >= _FITS)


def _passage_score(unit: QuotableUnit, ranking: Sequence[NodeWithScore]) -> float:
    """The score of the first passage that overlaps the unit; 0 where none does."""
    for hit in ranking:
        meta = hit.node.metadata
        if meta["document_id"] == unit.source.document_id and meta["start"] < unit.end and unit.start < meta["end"]:
            return max(hit.score or 0.0, 0.0)
    return 0.0
