"""Strength of the evidence: signals of the candidates, and the calibration that turns them into a probability."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from llama_index.core.schema import NodeWithScore

from config.settings import EvidenceSettings
from pipelines.query.question.related import with_related
from pipelines.query.question.rules import typed_words
from pipelines.query.trace import Ledger
from pipelines.store.lexical_index import LexicalIndex
from pipelines.store.tokens import tokenise
from pipelines.types import Band, Evidence, QueryIntent


@dataclass(frozen=True, slots=True)
class Threshold:
    """A probability, and the shares (0..1) of labelled questions that reached it in the fit; None = a guess."""

    at: float
    answerable: float | None = None
    unanswerable: float | None = None


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic model: 1 / (1 + exp(-(intercept + sum of weight * signal))), see `signals`.

    `far` and `near` are cosine similarities, on the model's scale, of a question and a text about something else, and
    the passage that answers it. From `floor` a question counts as answerable, from `high` its evidence is called high.
    """

    far: float
    near: float
    intercept: float
    weights: Mapping[str, float]
    floor: Threshold
    high: Threshold

    def on_scale(self, far: float, near: float) -> "Calibration":
        """A guess for a model with another scale of similarities: the same weights, and bounds without rates."""
        return replace(self, far=far, near=near, floor=Threshold(self.floor.at), high=Threshold(self.high.at))


# Fitted by `python -m tests.bench.fit_weights evidence FILE anthropic_docs cacm cisi scifact`: 202 questions of
# dialogues, and 1,037 that were asked with and without the passages that answer them. Rates are means over the sets.
MINILM = Calibration(
    far=0.05,
    near=0.6,
    intercept=-4.41,
    weights={"support": 2.395, "contrast": 0.266, "agreement": 0.59},
    floor=Threshold(0.269, 0.953, 0.770),
    high=Threshold(0.724, 0.308, 0.049),
)
# The same command with FOOTNOTE_RETRIEVAL__MODE=sparse: for searches without vectors.
LEXICAL = Calibration(
    far=0.0,
    near=1.0,
    intercept=-0.942,
    weights={"bm25": 2.833},
    floor=Threshold(0.354, 0.901, 0.838),
    high=Threshold(0.657, 0.206, 0.048),
)
# Its similarities lie between .75 and .9, and stand out from the corpus's by 12 deviations where MiniLM's do by 5.
# Fitted by the same command with FOOTNOTE_EMBEDDING__MODEL=multilingual on half of the dialogues and data/eval/small.
E5 = Calibration(
    far=0.765,
    near=0.875,
    intercept=-6.998,
    weights={"support": 3.779, "contrast": 0.256, "agreement": 1.199},
    floor=Threshold(0.166, 0.951, 0.623),
    high=Threshold(0.755, 0.619, 0.044),
)
# Hashed words have no meaning to measure; half of a question's words in one passage is enough for a test.
HASHED = Calibration(0.0, 1.0, -3.5, {"support": 10.0}, Threshold(0.5), Threshold(0.9))

# Scales of models that could not be run here are guessed from published similarities: fit them on your own questions.
CALIBRATIONS: dict[str, Calibration] = {
    "all-MiniLM-L6-v2": MINILM,
    "text-embedding-3-small": MINILM.on_scale(0.1, 0.55),
    "text-embedding-3-large": MINILM.on_scale(0.08, 0.55),
    "text-embedding-ada-002": MINILM.on_scale(0.7, 0.87),
    "multilingual-e5-small": E5,
    "hashed": HASHED,
}
DEFAULT = CALIBRATIONS["text-embedding-3-small"]


def calibration(model: str, *, dense: bool = True) -> Calibration:
    """The parameters for an embedding model, or for a search without vectors."""
    return CALIBRATIONS.get(model, DEFAULT) if dense else LEXICAL


COVERAGE_WEIGHT = 0.5  # of a passage's share of the question's terms, beside its similarity on a scale of 0..1
_DEPTH = 20  # candidates by each of similarity and BM25 that count, however many were asked for
_ASSESSED = 5  # those that a writer is shown by default
_NAMED = 4  # missing words in a reason
_WORD_TERMS = 3  # of a word that is not ASCII


@dataclass(frozen=True, slots=True)
class TermMatch:
    """The match of one candidate with the question.

    `similarity` is the cosine to the question itself, None without a dense retriever; `bm25` is over the sum of the
    question's idf (0..1); `coverage` is the share (0..1) of that idf which its `terms` have.
    """

    similarity: float | None
    bm25: float
    terms: frozenset[str]
    coverage: float


def assess(
    ranked: Sequence[NodeWithScore],
    intent: QueryIntent,
    ledger: Ledger,
    index: LexicalIndex,
    *,
    settings: EvidenceSettings,
    model: str,
) -> Evidence:
    """The support of a ranking (every candidate, best first) for an answer to the question, by a model's parameters."""
    found = term_matches(ranked, intent.terms, ledger, index)
    measured = signals(found, ledger.background, calibration(model))
    parameters = calibration(model, dense="similarity" in measured)
    missing = _missing(intent, found)
    bare = Evidence(
        strength=0.0,
        band="low",
        similarity=measured.get("similarity"),
        coverage=round(measured.get("coverage", 0.0), 4),
        signals={name: round(value, 4) for name, value in measured.items()},
        matches=len(ranked),
        missing=tuple(missing),
        sufficient=False,
    )
    return with_strength(bare, strength(measured, parameters), settings=settings, model=model)


def term_matches(
    ranked: Sequence[NodeWithScore], terms: Sequence[str], ledger: Ledger, index: LexicalIndex
) -> list[TermMatch]:
    """The matches of each candidate, in the order of the ranking."""
    ids = [hit.node.node_id for hit in ranked]
    weight = {term: index.idf(term) for term in terms}
    total = sum(weight.values()) or 1.0
    bm25 = index.score_of(dict.fromkeys(weight, 1.0), ids)
    holders = {term: index.holders(with_related({term: 1.0}, index.document_frequency), ids) for term in weight}
    matches = []
    for node_id in ids:
        present = frozenset(term for term in weight if node_id in holders[term])
        coverage = sum(weight[term] for term in present) / total
        matches.append(TermMatch(ledger.similarity(node_id), bm25[node_id] / total, present, coverage))
    return matches


def signals(
    found: Sequence[TermMatch], background: tuple[float, float] | None, parameters: Calibration
) -> dict[str, float]:
    """Signals by name; empty when nothing was found, and without a dense retriever only the lexical ones.

    - `coverage` (0..1): the largest share of the question's idf that one of the best five holds.
    - `bm25` (0..1): the best BM25, over the question's idf sum.
    - `similarity` (-1..1): the best cosine to the question.
    - `support`: the best of similarity on the model's own scale plus half the coverage, of one and the same candidate.
    - `contrast`: by how many standard deviations the best similarity stands out from the corpus's (`background`).
    - `agreement` (0..1): 1 / log2(1 + r), where r is the place, by similarity, of the candidate of highest BM25.
    """
    if not found:
        return {}
    lexical = {
        "coverage": max(match.coverage for match in found[:_ASSESSED]),
        "bm25": max(match.bm25 for match in found),
    }
    compared = [(match.similarity, match) for match in found if match.similarity is not None]
    if not compared:
        return lexical
    nearest = sorted(compared, key=lambda pair: -pair[0])
    ranked = sorted(nearest, key=lambda pair: -pair[1].bm25)[:_DEPTH]
    span = parameters.near - parameters.far
    best = nearest[0][0]
    mean, deviation = background or (0.0, 1.0)
    matched, top = ranked[0]
    return lexical | {
        "similarity": best,
        "support": max(
            (similarity - parameters.far) / span + COVERAGE_WEIGHT * match.coverage
            for similarity, match in (*nearest[:_DEPTH], *ranked)
        ),
        "contrast": (best - mean) / deviation,
        "agreement": 1 / math.log2(2 + sum(other > matched for other, _ in compared)) if top.bm25 > 0 else 0.0,
    }


def strength(measured: Mapping[str, float], parameters: Calibration) -> float:
    """The probability (0..1) that the passages hold an answer; 0 when nothing was found.

    Source: Platt, Advances in Large Margin Classifiers, 1999 (a logistic model over scores).
    """
    if not measured:
        return 0.0
    odds = parameters.intercept + sum(weight * measured[name] for name, weight in parameters.weights.items())
    return logistic(odds)


def idf_share(idf: Callable[[str], float], terms: Iterable[str], held: Collection[str]) -> float:
    """The share (0..1) of the terms' idf that is held; 1 without terms."""
    weights = {term: idf(term) for term in terms}
    return (
        sum(own for term, own in weights.items() if term in held) / total if (total := sum(weights.values())) else 1.0
    )


def logistic(odds: float) -> float:
    """The probability (0..1) of these log-odds, which count as -50 to 50."""
    return 1 / (1 + math.exp(-max(min(odds, 50.0), -50.0)))


def with_strength(evidence: Evidence, strength: float, *, settings: EvidenceSettings, model: str) -> Evidence:
    """The evidence with another strength, and the band and sufficiency that follow from it."""
    parameters = calibration(model, dense=evidence.similarity is not None or not evidence.matches)
    floor = settings.min_strength or parameters.floor.at
    lacking = _lacking(evidence, strength, floor, settings)
    band: Band = "low" if lacking else "high" if strength >= max(parameters.high.at, floor) else "medium"
    return replace(evidence, strength=round(strength, 4), band=band, sufficient=not lacking, reason=lacking)


def _lacking(evidence: Evidence, strength: float, floor: float, settings: EvidenceSettings) -> str:
    """Why the evidence is not sufficient; empty when it is."""
    if not evidence.matches:
        return "nothing was found"
    far = ""
    if settings.rule == "plain":
        if evidence.similarity is not None and evidence.similarity < settings.plain_similarity:
            far = f"similarity {evidence.similarity:.2f} of {settings.plain_similarity:.2f} needed"
        elif evidence.matches < settings.plain_matches:
            return f"only {evidence.matches} of {settings.plain_matches} passages needed were found"
    elif strength < floor:
        far = f"{strength:.2f} of {floor:.2f} needed"
    if not far:
        return ""
    unsaid = f"no passage speaks of {', '.join(evidence.missing[:_NAMED])}, and " if evidence.missing else ""
    return f"{unsaid}the nearest passages are too far from the question ({far})"


def _missing(intent: QueryIntent, found: Sequence[TermMatch]) -> list[str]:
    """The question's words whose terms no candidate holds, as typed; of words with equal terms, the last."""
    held = frozenset().union(*(match.terms for match in found))
    asked = set(intent.terms)
    words = (
        word for word in typed_words(intent) if word.isascii() or len(tokenise(word)) <= _WORD_TERMS
    )  # no clause without spaces
    unheld = {frozenset(own): word for word in words if (own := asked & set(tokenise(word))) and not own & held}
    return list(unheld.values())
