"""The second tries: what each searches for, and how much its finds are worth as evidence for the question as asked."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from llama_index.core.schema import NodeWithScore, QueryBundle

from config import prompts
from pipelines.query.searching.feedback import relevance_model, rm3, rocchio
from pipelines.query.searching.fuse import reciprocal_rank_fusion
from pipelines.query.searching.readings import TRUST, Case, meaning, merged, search_reading, weighed
from pipelines.query.searching.retrieve import WeightedQuery
from pipelines.query.searching.rewrites import passage, searches
from pipelines.store.tokens import tokenise
from pipelines.text import searchable

if TYPE_CHECKING:
    from pipelines.query.searching.find import Found

# Of feedback: the best passages, the terms they add and those terms' share, and the passages' weight as vectors.
TOP, TERMS, MIX, ALPHA = 5, 20, 0.2, 0.4
_DAMPING = 60


@dataclass(frozen=True, slots=True)
class Tried:
    """What was searched for and found; found is None, with the reason, when there was nothing to search for."""

    search_text: str
    found: "Found | None"
    why: str = ""


def feedback(case: Case) -> Tried:
    """The question with the words (RM3) and the direction (Rocchio) of the best passages; needs no language model."""
    best = case.base.ranked[:TOP]
    if not best:
        return Tried("", None, "no passage to learn from")
    scores = [float(hit.score or 0.0) for hit in best]
    spoken = [_terms(hit) for hit in best]
    model = relevance_model(spoken, scores, case.senses.idf, count=TERMS)
    embedding = None
    if case.by_vector:
        held = case.senses.vectors([hit.node.node_id for hit in best])
        known = [(held[hit.node.node_id], score) for hit, score in zip(best, scores, strict=True)
                 if hit.node.node_id in held]  # fmt: skip
        embedding = rocchio(case.vector(case.question), [v for v, _ in known], [s for _, s in known], alpha=ALPHA)
    weights = rm3(tokenise(case.question), model, mix=MIX)
    query = WeightedQuery(case.question, embedding=embedding, term_weights=weights)
    found = case.senses.attempt(query, ledger=case.ledger.fork("feedback"))
    return Tried(f"{case.question} + {', '.join(list(model)[:8])}", found)


def rewrite(case: Case) -> Tried:
    """The question in the words of a language model, beside its own."""
    texts = searches(case.ask(prompts.REWRITE), case.question, 1)
    return _reading(case, "rewrite", texts[0]) if texts else _UNUSABLE


def hypothetical(case: Case) -> Tried:
    """The question's terms, and the direction of a hypothetical answer beside its own (HyDE).

    Source: Gao et al., ACL 2023, arXiv:2212.10496.
    """
    text = passage(case.ask(prompts.HYPOTHETICAL), case.question)
    return _reading(case, "hyde", text, terms=False) if text else _UNUSABLE


def variants(case: Case) -> Tried:
    """Several wordings, each searched; rankings fused with the question's own, weighted by trust."""
    count = case.settings.variants
    texts = searches(case.ask(prompts.VARIANTS.format(count=count)), case.question, count)
    read = [(text, trust) for text in texts if (trust := case.trust([text])) >= TRUST]
    if not texts:
        return _UNUSABLE
    if not read:
        return _unlike(" | ".join(texts), max(case.trust([text]) for text in texts))
    found = case.each(
        [partial(search_reading, case, f"multi {n}", text, trust) for n, (text, trust) in enumerate(read, start=1)]
    )
    read = read[: len(found)]
    weights = {"": 1.0} | {str(n): trust for n, (_, trust) in enumerate(read)}
    fused = merged(
        case, "multi", [own for own, _ in found], lambda rankings: reciprocal_rank_fusion(rankings, weights, k=_DAMPING)
    )
    own = max([case.base, *(own for own, _ in found)], key=lambda each: each.evidence.strength).evidence
    readings = [(trust, strength) for (_, trust), (_, strength) in zip(read, found, strict=True)]
    return Tried(" | ".join(text for text, _ in read), weighed(case, fused, own, readings))


def parts(case: Case) -> Tried:
    """The questions that make up a compound one, each searched; of each part's passages the best come first.

    The parts count as a reading of the question that is borne out as far as the part with the least evidence.
    """
    count = case.settings.variants
    texts = searches(case.ask(prompts.PARTS_OF_QUESTION.format(count=count)), case.question, count)
    if len(texts) < 2:
        return replace(_UNUSABLE, why="the reply held no parts")
    trust = case.trust(texts)
    if trust < TRUST:
        return _unlike(" | ".join(texts), trust)
    found = case.each([partial(_part, case, f"decompose {n}", text) for n, text in enumerate(texts, start=1)])
    if len(found) < len(texts):
        return Tried(" | ".join(texts), None, "the time was used up before every part was searched")
    joined = merged(case, "decompose", found, best_rank)
    weakest = min(part.evidence.strength for part in found)
    return Tried(" | ".join(texts), weighed(case, joined, case.base.evidence, [(trust, weakest)]))


# By name, in order of cost.
TRIES: dict[str, Callable[[Case], Tried]] = {
    "feedback": feedback,
    "rewrite": rewrite,
    "hyde": hypothetical,
    "multi": variants,
    "decompose": parts,
}
_UNUSABLE = Tried("", None, "the reply held nothing to search for")


def best_rank(rankings: Mapping[str, Sequence[tuple[str, float]]]) -> dict[str, float]:
    """Score each id by 1 / its best rank; of the same rank, ids of earlier rankings come first."""
    scores: dict[str, float] = {}
    for place, ranking in enumerate(rankings.values()):
        for rank, (node_id, _) in enumerate(ranking, start=1):
            scores[node_id] = max(scores.get(node_id, 0.0), 1 / (rank + place / (len(rankings) + 1)))
    return scores


def _part(case: Case, name: str, text: str) -> "Found":
    return case.senses.attempt(QueryBundle(text), intent=meaning(case, text), ledger=case.ledger.fork(name))


def _reading(case: Case, name: str, text: str, *, terms: bool = True) -> Tried:
    trust = case.trust([text])
    if trust < TRUST:
        return _unlike(text, trust)
    found, strength = search_reading(case, name, text, trust, terms=terms)
    return Tried(text, weighed(case, found, found.evidence, [(trust, strength)]))


def _terms(hit: NodeWithScore) -> list[str]:
    meta = hit.node.metadata
    return tokenise(searchable(meta["header"], hit.node.get_content(), meta["mime"], meta["kind"]))


def _unlike(text: str, trust: float) -> Tried:
    return Tried(text, None, f"the reply is about something else ({trust:.2f} in common, {TRUST:.2f} needed)")
