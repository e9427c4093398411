"""Strength of the evidence, from signals before fusion."""

from collections.abc import Callable, Mapping, Sequence

from llama_index.core.schema import NodeWithScore

from pipelines.query.trace import Ledger
from pipelines.store.tokens import tokenise
from pipelines.types import Evidence

COVERAGE_WEIGHT = 0.5
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
    ranking: Sequence[NodeWithScore],
    terms: Sequence[str],
    ledger: Ledger,
    *,
    weight: Callable[[str], float],
    floor: float,
) -> Evidence:
    """How well a ranking bears on the question; it suffices when its strength reaches `floor`."""
    candidates = [ledger.candidate(hit.node.node_id) for hit in ranking]
    similarity = max((candidate.dense.score for candidate in candidates if candidate.dense), default=None)
    texts = [f"{hit.node.metadata['header']}\n{hit.node.get_content()}" for hit in ranking]
    coverage, missing = term_coverage(terms, texts, weight) if ranking else (0.0, list(terms))
    top = [candidate for candidate in candidates if candidate.dense and candidate.dense.rank <= 5]
    agreement = sum(candidate.sparse is not None for candidate in top) / len(top) if top else 0.0
    reached = strength(similarity, coverage)
    reason = ""
    if not ranking:
        reason = "nothing was found"
    elif reached < floor:
        reason = f"the nearest passages are too far from the question ({reached:.2f} of {floor:.2f} needed)"
    return Evidence(
        similarity=similarity,
        coverage=round(coverage, 4),
        agreement=agreement,
        strength=round(reached, 4),
        matches=len(ranking),
        missing=tuple(missing),
        sufficient=not reason,
        reason=reason,
    )
