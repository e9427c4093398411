"""Score how well each unit of quotation answers a question, and how likely the best one is right, by fitted models."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import NodeWithScore
from numpy.typing import NDArray

from pipelines.errors import FootnoteError
from pipelines.models.embedding import piece_vectors
from pipelines.models.minilm import Pieces
from pipelines.observe import log_failure
from pipelines.query.evidence import log_odds, logistic
from pipelines.query.late_interaction import normalised, piece_weights, softmax, weighted_nearest
from pipelines.query.missing import MISSING, missing_of
from pipelines.query.question.form import EXACT_KINDS, QuestionType, asks_for_code, holds_kind, kind_fit
from pipelines.query.question.related import related_terms
from pipelines.query.quotable_units import QuotableUnit
from pipelines.store.tokens import index_terms

Array = NDArray[np.float32]
SIGNALS = (
    "interaction", "focus_heading", "alike", "coverage", "passage", "document", "code_asked", "code_unasked",
    "list_asked", "list_unasked", "early_definition", "fit", "subject", "short",
)  # fmt: skip
ANSWER_SIGNALS = ("share", "fitting", "focused", "asked", "is_open", *MISSING)
_LEARNED = SIGNALS.index("coverage")  # signals that need word pieces
WEIGHTS_FILE = Path(__file__).with_name("unit_weights.json")

_MOST_UNITS = 10  # units that are embedded
_EMBEDDED = 500  # characters of a unit that are read
_EARLY = 1_000  # characters from the beginning of a document at which a definition counts half
_SHORT = 5  # words
_OPEN_LIKENESS = 0.8  # likeness for a question that asks nothing of what it names but whether it is there
_FITS = 0.5  # of `kind_fit`
_DOCUMENT_SHARE = 0.6  # of a name that only another place of the document holds
_LEAST_NAMED = 0.4  # share of what a question names below which the units are about something else
_LEAST_VALUED = 0.5  # of what is told: less, and the parts that hold such a value are about something else
_LEAST_SAID = 0.1  # share of the question's term weight in the unit that holds the most
_LEAST_STRENGTH = 0.05  # of the evidence, below which nothing was found
_NOT_WORDS = re.compile(r"[-_./]")


@dataclass(frozen=True, slots=True)
class UnitScorer:
    """Term weights, and the word pieces of texts for late interaction.

    Attributes:
        weight: Inverse document frequency of a term.
        pieces: The pieces of texts, in order; empty ones without a model.
    """

    weight: Callable[[str], float]
    pieces: Callable[[Sequence[str]], list[Pieces]]

    def share(self, terms: Sequence[str] | frozenset[str], held: frozenset[str]) -> float:
        """The share (0..1) of the terms' weight that is held; 1 without terms."""
        weights = {term: self.weight(term) for term in terms}
        total = sum(weights.values())
        if not total:
            return 1.0
        told = (term for term in weights if term in held or not held.isdisjoint(related_terms(term)))
        return sum(weights[term] for term in told) / total


NO_PIECES = Pieces(np.zeros((0, 384), np.float32), np.zeros(0, np.int64), np.zeros(0, np.int64))


def build_unit_scorer(
    embed_model: BaseEmbedding, weight: Callable[[str], float], known: dict[str, Pieces]
) -> UnitScorer:
    """A scorer by terms and late interaction, which reads no text twice; by terms alone if the model fails.

    Args:
        embed_model: The local model, if it is one, gives the pieces; else the packaged one does.
        weight: The idf of a term.
        known: The pieces of texts that were read before; those of new texts are added.
    """

    def pieces(texts: Sequence[str]) -> list[Pieces]:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        try:
            known.update(zip(new, piece_vectors(embed_model, new), strict=True))
        except FootnoteError as error:
            log_failure("units are ranked without late interaction", error)
            return [NO_PIECES for _ in texts]
        return [known[text] for text in texts]

    return UnitScorer(cache(weight), pieces)


@dataclass(frozen=True, slots=True)
class ScoredUnits:
    """Units with their signals for a question.

    Attributes:
        units: In order.
        signals: (n, len(SIGNALS)).
        scores: (n,): log-odds, up to a constant of the question, that a unit is the one that answers.
        parts: For each unit the scores of its sentences, items, rows or lines, which compare within one unit.
        named: (n,): the share of what is named in the unit and around it, at the best of its parts.
        missing: (n, len(MISSING)): what a unit mentions without stating it, see `missing_of`.
        told, fitting: (n,): see `answer_signals`.
        focused: How many terms say what is asked, four at most; four where none does.
        asked: (n,): the likeness (-1..1) of the first word that says what is asked to the unit's nearest; 1 where its
            heading is the date that is asked for.
        is_open: True if a way or a reason is asked for, which many words can tell.
        is_exact: True if a value is asked for that a part either holds or does not.
    """

    units: tuple[QuotableUnit, ...]
    signals: Array
    scores: Array
    parts: tuple[Array, ...]
    named: Array
    missing: Array
    told: Array
    fitting: Array
    focused: float
    asked: Array
    is_open: bool
    is_exact: bool

    @property
    def best(self) -> int:
        """The index of the unit that scores best."""
        return int(np.argmax(self.scores))

    @property
    def share(self) -> float:
        """Probability (0..1) of the best unit, given that one of those there answers."""
        return float(1 / np.exp(self.scores - self.scores.max()).sum())


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
    """At most ten of the units, chosen by their words, with the signals that rank them.

    What a question asks about a document's subject is told by the words of its title; the rest of its words is its
    focus, by document.

    - `interaction`: the late interaction of the question with the unit under its headings, -1..1.
    - `focus_heading`: the same of the focus with what stands above the unit.
    - `alike`: the best cosine of the question to one of its parts.
    - `coverage`: the share of the question's term weight in the unit, its headings, its lead-in and its title.
    - `passage`: the score of its passage by the best one's.
    - `document`: 1 / place of its document in the ranking.
    - `code_asked`, `list_asked`: 1 for code and lists where the question asks for such; `..._unasked`: where it does
      not.
    - `early_definition`: of a question "what is", 1 at the beginning of a document and half after 1,000 characters.
    - `fit`: whether a part holds the kind of value that is asked for.
    - `subject`: the share of the question's term weight in the title of its document.
    - `short`: 1 for less than five words.

    Args:
        units: That can be quoted.
        wanted: What the question asks for.
        ranking: The passages, best first.
        scorer: Term weights and pieces.
    """
    read = [_Read(unit, wanted) for unit in units]
    lexical = _lexical_signals(read, wanted, ranking, scorer)
    if len(units) > _MOST_UNITS:
        rough = _rough(lexical, read, wanted, scorer)
        kept = sorted(np.argsort(-rough, kind="stable")[:_MOST_UNITS].tolist())
        read, lexical = [read[at] for at in kept], lexical[kept]
    typed, *texts = scorer.pieces([wanted.text, *(each.text for each in read)])
    question = _Question(wanted, typed)
    found = [question.interaction(own, each) for own, each in zip(texts, read, strict=True)]
    learned = np.array([each[:_LEARNED] for each in found], np.float32).reshape(-1, _LEARNED)
    asked = np.array([each[_LEARNED] for each in found], np.float32)
    if wanted.kind == "when":
        asked = np.maximum(asked, np.array([each.under for each in read], np.float32))
    signals = np.concatenate([learned, lexical], axis=1)
    model = unit_weights()
    parts = tuple(
        _part_scores(each, likenesses, wanted, scorer) for each, (*_, likenesses) in zip(read, found, strict=True)
    )
    told = [_Told(each, likenesses, wanted, scorer) for each, (*_, likenesses) in zip(read, found, strict=True)]
    return ScoredUnits(
        units=tuple(each.unit for each in read),
        signals=signals,
        scores=np.asarray(((signals - model.mean) / model.deviation) @ model.weight, np.float32),
        parts=parts,
        named=np.array([each.named for each in told], np.float32),
        missing=np.array([missing_of(wanted, each.unit) for each in read], np.float32),
        told=np.array([each.told for each in told], np.float32),
        fitting=np.array([each.fitting for each in told], np.float32),
        focused=float(min(len(wanted.focus), 4) or 4),
        asked=asked,
        is_open=wanted.kind in ("how", "why"),
        is_exact=wanted.kind in EXACT_KINDS and bool(wanted.focus),
    )


def answer_signals(scored: ScoredUnits) -> Array:
    """(len(ANSWER_SIGNALS),) of units: how far any of them states what is asked about the things that are named.

    - `share`: log-odds of the best unit among all.
    - `fitting` (0..2): the most that one part which holds the kind of value that is asked for has of the root of the
      share of the focus in it and beside it, and its likeness to the question, times the square of the share of the
      names around it. `told` is the same over all parts.
    - `focused`: how many terms say what is asked.
    - `asked`: how near the best unit comes to the first word that says what is asked (a degree, a price).
    - `is_open`: 1 where a way or a reason is asked for.
    - `unnamed`, `nameless`, `priceless`: what the best unit mentions without stating it.
    """
    fitting, asked = float(scored.fitting.max()), float(scored.asked[scored.best])
    known = (log_odds(scored.share), fitting, scored.focused, asked, scored.is_open)
    return np.array((*known, *scored.missing[scored.best]), np.float32)


def answer_probability(scored: ScoredUnits, strength: float) -> float:
    """The probability (0..1) that the best unit answers.

    It is 0 if most of what the question names stands near no unit, if no unit about it holds the kind of value that is
    asked for, or if there is almost no evidence (`strength`, 0..1) or almost no word of the question in any unit.

    Source: Platt, Advances in Large Margin Classifiers, 1999 (a logistic model over scores).
    """
    lacks_value = scored.is_exact and scored.fitting.max() < _LEAST_VALUED * scored.told.max()
    is_unsaid = scored.signals[:, SIGNALS.index("coverage")].max() < _LEAST_SAID
    if scored.named.max() < _LEAST_NAMED or lacks_value or is_unsaid or strength < _LEAST_STRENGTH:
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


class _Read:
    """A unit with the terms of its parts and of what stands above it, and the text that is embedded."""

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
        self.text = self.front + unit.text[:_EMBEDDED]
        self.under = float(bool(heading_with_value(wanted, unit)))
        self.fits = [max(kind_fit(wanted, part.text), self.under) for part in unit.parts]
        self.fit = max(self.fits)

    def spans(self) -> Iterator[tuple[int, int]]:
        """Where each part stands in the embedded text."""
        at = len(self.front)
        for part in self.unit.parts:
            yield at, at + len(part.text)
            at += len(part.text) + 1


class _Question:
    """The pieces of a question with their weights, and of which word each is a part."""

    def __init__(self, wanted: QuestionType, pieces: Pieces) -> None:
        self._vectors = normalised(pieces.vectors)
        self._weights = softmax(pieces.vectors @ piece_weights()) if len(pieces.vectors) else np.zeros(0, np.float32)
        mean = pieces.vectors.mean(axis=0) if len(pieces.vectors) else np.zeros(0, np.float32)
        self._mean = mean / max(float(np.linalg.norm(mean)), 1e-9)
        self._words: list[tuple[Array, frozenset[str]]] = []
        for start, end, terms in wanted.spans:
            inside = (pieces.starts >= start) & (pieces.starts < end)
            self._words.append((inside.astype(np.float32), terms))
        asked = (inside for inside, terms in self._words if terms & {*wanted.focus} and inside.any())
        self._asked = next((inside / inside.sum() for inside in asked), 0 * self._weights)

    def interaction(self, text: Pieces, read: _Read) -> tuple[float, float, float, float, list[float]]:
        """(interaction, focus_heading, alike, asked, the likeness of each part), 0 without pieces.

        Source: Khattab and Zaharia 2020, ColBERT, doi:10.1145/3397271.3401075, with a weighted mean for the sum.
        """
        spans = list(read.spans())
        if not len(text.vectors) or not len(self._vectors):
            return 0.0, 0.0, 0.0, 0.0, [0.0] * len(spans)
        cosines = self._vectors @ normalised(text.vectors).T
        heading = weighted_nearest(self._focus(read.title), cosines[:, text.starts < len(read.front)])
        inside = [(text.starts >= start) & (text.starts < end) for start, end in spans]
        alike = [self._likeness(text.vectors[held]) for held in inside]
        near = [weighted_nearest(self._weights, cosines[:, held]) for held in inside]
        asked = weighted_nearest(self._asked, cosines) if self._asked.any() else 1.0
        return weighted_nearest(self._weights, cosines), heading, max(alike, default=0.0), asked, near

    def _likeness(self, vectors: Array) -> float:
        if not len(vectors):
            return 0.0
        mean = vectors.mean(axis=0)
        return float(mean @ self._mean) / max(float(np.linalg.norm(mean)), 1e-9)

    def _focus(self, title: frozenset[str]) -> Array:
        """The pieces' weights without the words of a title; all of them if nothing is left."""
        kept = np.ones(len(self._weights), np.float32)
        for inside, terms in self._words:
            if terms and terms <= title:
                kept -= inside
        weights = self._weights * kept
        return weights / weights.sum() if weights.sum() > 0 else self._weights


def _lexical_signals(
    read: Sequence[_Read], wanted: QuestionType, ranking: Sequence[NodeWithScore], scorer: UnitScorer
) -> Array:
    """(n, len(SIGNALS) - _LEARNED): the signals that need no pieces."""
    best = max((hit.score or 0.0 for hit in ranking), default=0.0) or 1.0
    documents = {name: place for place, name in enumerate(dict.fromkeys(_document(hit) for hit in ranking), start=1)}
    terms, wants_code, found = wanted.asked, asks_for_code(wanted.text), []
    for each in read:
        unit = each.unit
        is_code, is_list = unit.kind == "code", unit.kind in ("list", "table")
        found.append((
            scorer.share(terms, each.body | each.above | each.title),
            _passage_score(unit, ranking) / best,
            1 / documents.get(unit.source.document_id, len(documents) + 1),
            is_code and wants_code,
            is_code and not wants_code,
            is_list and wanted.listed,
            is_list and not wanted.listed,
            (wanted.kind == "what") / (1 + unit.start / _EARLY),
            each.fit,
            scorer.share(terms, each.title) if terms else 0.0,
            len(unit.text.split()) < _SHORT,
        ))  # fmt: skip
    return np.array(found, np.float32).reshape(-1, len(SIGNALS) - _LEARNED)


def _rough(lexical: Array, read: Sequence[_Read], wanted: QuestionType, scorer: UnitScorer) -> Array:
    """The score (n,) by which units are chosen to be embedded."""
    named = dict(zip(SIGNALS[_LEARNED:], lexical.T, strict=True))
    told = np.array([_told(each, wanted, scorer) for each in read], np.float32)
    rough = named["coverage"] + told + named["passage"] + 0.5 * named["fit"] + 0.5 * named["document"]
    return np.asarray(rough, np.float32)


def _part_scores(each: _Read, near: Sequence[float], wanted: QuestionType, scorer: UnitScorer) -> Array:
    """The scores of a unit's parts: their interaction, the asked terms that they hold, and whether their kind fits."""
    held = [scorer.share(wanted.asked, own) for own in each.parts]
    return np.array([a + b + 0.5 * c for a, b, c in zip(near, held, each.fits, strict=True)], np.float32)


class _Told:
    """How far the parts of a unit state what is asked about what is named: all of them, and those of the right kind."""

    def __init__(self, each: _Read, likenesses: Sequence[float], wanted: QuestionType, scorer: UnitScorer) -> None:
        told, fitting, self.named = [0.0], [0.0], 0.0
        for at, (part, likeness) in enumerate(zip(each.parts, likenesses, strict=True)):
            beside = part.union(*each.parts[max(at - 1, 0) : at + 2])
            near = scorer.share(wanted.names, beside | each.above)
            named = max(near, _DOCUMENT_SHARE * scorer.share(wanted.names, each.body | each.above | each.title))
            self.named = max(self.named, named)
            focus = scorer.share(wanted.focus, beside | each.near)
            told.append(named**2 * (focus**0.5 + (likeness if wanted.focus else _OPEN_LIKENESS)))
            if each.fits[at] >= _FITS:
                fitting.append(told[-1])
        self.told, self.fitting = max(told), max(fitting)


def _told(each: _Read, wanted: QuestionType, scorer: UnitScorer) -> float:
    return max(scorer.share(wanted.asked, part | each.near) for part in each.parts)


def _document(hit: NodeWithScore) -> str:
    return str(hit.node.metadata["document_id"])


def _passage_score(unit: QuotableUnit, ranking: Sequence[NodeWithScore]) -> float:
    """The score of the first passage that overlaps the unit; 0 where none does."""
    for hit in ranking:
        meta = hit.node.metadata
        if meta["document_id"] == unit.source.document_id and meta["start"] < unit.end and unit.start < meta["end"]:
            return max(hit.score or 0.0, 0.0)
    return 0.0
