"""Strength of the evidence, from signals before fusion."""

from collections.abc import Callable, Mapping, Sequence

from llama_index.core.schema import NodeWithScore

from config.settings import EvidenceSettings
from pipelines.query.trace import Ledger
from pipelines.store.lexical import LexicalIndex
from pipelines.store.tokens import tokenise
from pipelines.types import Evidence, QueryIntent

COVERAGE_WEIGHT = 0.5
_ASSESSED = 5
# Strength from which a question counts as answerable, by model: similarities of different models do not compare.
# On dialogue questions the local model's floor answers 91 % of the answerable and leaves 43 % of the others.
STRENGTH_FLOOR: Mapping[str, float] = {
    "all-MiniLM-L6-v2": 0.60,
    "text-embedding-3-small": 0.60,
    "text-embedding-3-large": 0.60,
    "text-embedding-ada-002": 0.95,
    "hashed": 0.35,
}
DEFAULT_FLOOR = 0.60


def strength(similarity: float | None, coverage: float) -> float:
    """How strongly passages bear on a question: best cosine similarity plus half the best term coverage, -1..1.5.

    Without a dense leg the coverage stands in for the similarity; a question without terms has only its similarity.
    """
    return (coverage if similarity is None else similarity) + COVERAGE_WEIGHT * coverage


def term_coverage(
    terms: Sequence[str], texts: Sequence[str], weight: Callable[[str], float]
) -> tuple[float, list[str]]:
    """(the largest share of the terms' weight that one text holds, the terms that none holds); 0 without terms."""
    total = sum(weight(term) for term in terms)
    held = [set(tokenise(text)) for text in texts]
    best = max((sum(weight(term) for term in terms if term in own) for own in held), default=0.0)
    return best / total if total else 0.0, [term for term in terms if not any(term in own for own in held)]


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
        ledger: The legs' own scores of the candidates.
        index: The snapshot that the sparse leg searched, for idf.
        settings: Which rule decides.
        model: The embedding model, whose parameters are used.
    """
    floor = settings.min_strength or STRENGTH_FLOOR.get(model, DEFAULT_FLOOR)
    best = ranked[:_ASSESSED]
    candidates = [ledger.candidate(hit.node.node_id) for hit in best]
    similarity = max((candidate.dense.score for candidate in candidates if candidate.dense), default=None)
    texts = [f"{hit.node.metadata['header']}\n{hit.node.get_content()}" for hit in best]
    coverage, missing = term_coverage(intent.terms, texts, index.idf) if best else (0.0, list(intent.terms))
    reached = strength(similarity, coverage)
    reason = ""
    if not ranked:
        reason = "nothing was found"
    elif reached < floor:
        reason = f"the nearest passages are too far from the question ({reached:.2f} of {floor:.2f} needed)"
    return Evidence(
        strength=round(reached, 4),
        band="low" if reason else "medium",
        similarity=similarity,
        coverage=round(coverage, 4),
        signals={},
        matches=len(ranked),
        missing=tuple(missing),
        sufficient=not reason,
        reason=reason,
    )
