"""Strength of the evidence, from signals before fusion."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from llama_index.core.schema import NodeWithScore

from config.settings import EvidenceSettings
from pipelines.query.searching.calibration import Calibration, calibration
from pipelines.query.trace import Ledger
from pipelines.store.lexical import LexicalIndex
from pipelines.store.tokens import tokenise
from pipelines.types import Band, Evidence, QueryIntent

COVERAGE_WEIGHT = 0.5  # of a passage's share of the question's terms, beside its similarity on a scale of 0..1
_DEPTH = 20  # candidates by each of similarity and BM25 that count, however many were asked for
_ASSESSED = 5  # those that a writer is shown by default
_NAMED = 4  # missing words in a reason


@dataclass(frozen=True, slots=True)
class Reading:
    """What one candidate has of the question.

    Attributes:
        similarity: Cosine to the question itself; None without a dense leg.
        bm25: BM25 over the sum of the question's idf, 0..1.
        held: The question's terms that stand in it.
        coverage: Their share (0..1) of the question's idf.
    """

    similarity: float | None
    bm25: float
    held: frozenset[str]
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
    """How well a ranking bears on the question.

    Args:
        ranked: Every candidate, best first.
        intent: The question's terms.
        ledger: The candidates' similarity to the question, and the corpus's.
        index: The snapshot that the sparse leg searched.
        settings: Which rule decides.
        model: The embedding model, whose parameters are used.
    """
    found = readings(ranked, intent.terms, ledger, index)
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
    return regraded(bare, strength(measured, parameters), settings=settings, model=model)


def readings(
    ranked: Sequence[NodeWithScore], terms: Sequence[str], ledger: Ledger, index: LexicalIndex
) -> list[Reading]:
    """What each candidate has of the question, in the order of the ranking."""
    ids = [hit.node.node_id for hit in ranked]
    weight = {term: index.idf(term) for term in terms}
    total = sum(weight.values()) or 1.0
    bm25 = index.score_of(dict.fromkeys(weight, 1.0), ids)
    holding = {term: index.score_of({term: 1.0}, ids) for term in weight}
    held = [frozenset(term for term in weight if holding[term][node_id] > 0) for node_id in ids]
    return [
        Reading(
            ledger.candidate(node_id).similarity, bm25[node_id] / total, own, sum(weight[term] for term in own) / total
        )
        for node_id, own in zip(ids, held, strict=True)
    ]


def signals(
    found: Sequence[Reading], background: tuple[float, float] | None, parameters: Calibration
) -> dict[str, float]:
    """Signals by name; empty when nothing was found, and without a dense leg only the lexical ones.

    - `coverage` (0..1): the largest share of the question's idf that one of the best five holds.
    - `bm25` (0..1): the best BM25, over the question's idf sum.
    - `similarity` (-1..1): the best cosine to the question.
    - `support`: the best of similarity on the model's own scale plus half the coverage, of one and the same candidate.
    - `contrast`: by how many standard deviations the best similarity stands out from the corpus's.
    - `agreement` (0..1): 1 / log2(1 + r), where r is the place, by similarity, of the candidate of highest BM25.

    Args:
        found: The candidates, in the order of the ranking.
        background: Mean and standard deviation of the question's similarity to the corpus.
        parameters: The scale of the model's similarities.
    """
    if not found:
        return {}
    lexical = {
        "coverage": max(reading.coverage for reading in found[:_ASSESSED]),
        "bm25": max(reading.bm25 for reading in found),
    }
    compared = [(reading.similarity, reading) for reading in found if reading.similarity is not None]
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
            (similarity - parameters.far) / span + COVERAGE_WEIGHT * reading.coverage
            for similarity, reading in (*nearest[:_DEPTH], *ranked)
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
    return 1 / (1 + math.exp(-max(min(odds, 50.0), -50.0)))


def regraded(evidence: Evidence, strength: float, *, settings: EvidenceSettings, model: str) -> Evidence:
    """The evidence as it stands at another strength: the same signals, the band and the verdict of that strength."""
    parameters = calibration(model, dense=evidence.similarity is not None or not evidence.matches)
    floor = settings.min_strength or parameters.floor.at
    lacking = _lacking(evidence, strength, floor, settings)
    band: Band = "low" if lacking else "high" if strength >= max(parameters.high.at, floor) else "medium"
    return replace(evidence, strength=round(strength, 4), band=band, sufficient=not lacking, reason=lacking)


def _lacking(evidence: Evidence, strength: float, floor: float, settings: EvidenceSettings) -> str:
    """Why no answer should be written; empty when one should."""
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


def _missing(intent: QueryIntent, found: Sequence[Reading]) -> list[str]:
    """The question's words of which no candidate holds any term, as they were typed; of one stem, the last."""
    held = frozenset().union(*(reading.held for reading in found))
    asked = set(intent.terms)
    words = (word.strip(".,;:!?\"'()[]{}“”‘’„«»¿¡") for word in intent.search_text.split())
    unheld = {frozenset(own): word for word in words if (own := asked & set(tokenise(word))) and not own & held}
    return list(unheld.values())
