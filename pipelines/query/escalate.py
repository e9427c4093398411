"""Auto-RAG: the search of a question, and query variants by a language model where its evidence is weak.

A variant is kept only where it improves the evidence for the question as it was asked.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from llama_index.core.schema import QueryBundle
from numpy.typing import ArrayLike, NDArray

from config import prompts
from pipelines.errors import FootnoteError
from pipelines.models.consult import consult, reply_limit
from pipelines.observe import log_failure
from pipelines.query.evidence import with_strength
from pipelines.query.fuse import by_score, min_max_scaled, reciprocal_rank_fusion, scores_of
from pipelines.query.llm_queries import MAX_REPLY, parse_passage, parse_queries
from pipelines.query.retrieve import WeightedQuery
from pipelines.query.search import Search, SearchOutcome
from pipelines.store.tokens import tokenise
from pipelines.types import Evidence

MARGIN = 0.02  # of strength, by which an attempt must be better
_DAMPING = 60
_VARIANTS = 3  # of a multi-query
_REPLY_TOKENS = 60  # of a rewrite, by which its time is expected
_HINT = "Raise FOOTNOTE_ESCALATION__SECONDS, or set FOOTNOTE_ESCALATION__MODE=off."
_NOTHING_ASKED = Evidence(0.0, "low", None, 0.0, {}, 0, (), sufficient=False, reason="nothing is asked")
_UNASSESSED = Evidence(0.0, "low", None, 0.0, {}, 0, (), sufficient=False, reason="not searched")
Vector = NDArray[np.float32]


def find(search: Search) -> SearchOutcome:
    """The best search for a question: its own, or an escalation that brought better evidence.

    Raises:
        ModelError, ServiceUnavailable: If no retriever worked.
    """
    ledger, query = search.ledger, QueryBundle(search.intent.search_text)
    if search.intent.greeting:
        return SearchOutcome(search.intent, query, [], [], _NOTHING_ASKED, ledger)
    best = escalate(search, search.attempt(query, ledger.fork("base")))
    ledger.adopt(best.ledger)
    return replace(best, ledger=ledger)


def escalate(search: Search, base: SearchOutcome) -> SearchOutcome:
    """The base search, or the outcome of a strategy that is better evidence for the question as asked.

    Every attempt is noted in the ledger with its reason. When none is better, the base is returned as it is. A
    strategy that fails, by the language model or otherwise, is noted too and does not end the search.
    """
    settings, ledger = search.settings.escalation, search.ledger
    ledger.attempt("base", base.query.query_str, base.evidence, kept=True, why="first")
    if base.intent.greeting or not _is_due(search, base.evidence):
        return base
    context, best = EscalationContext(search, base), base
    for name in dict.fromkeys(settings.kinds):
        if context.calls >= settings.calls:
            break
        if context.seconds_left <= 0:
            ledger.lacking("A second try was left out: the time was used up.")
            break
        best = _better(best, name, context)
        if settings.mode == "auto" and not is_weak(best.evidence):
            break
    return best


def is_weak(evidence: Evidence) -> bool:
    """True if the evidence calls for an escalation."""
    return evidence.band == "low" or not evidence.sufficient


def _is_due(search: Search, evidence: Evidence) -> bool:
    mode = search.settings.escalation.mode
    can = search.escalates and search.llm is not None
    return can and (mode == "always" or (mode == "auto" and is_weak(evidence)))


@dataclass(frozen=True, slots=True)
class EscalationResult:
    """The result of a strategy; `outcome` is None, with the reason, if there was nothing to search."""

    search_text: str
    outcome: SearchOutcome | None
    why: str = ""


@dataclass(slots=True)
class EscalationContext:
    """A question whose evidence is to improve, and the time and calls that it may still take."""

    search: Search
    base: SearchOutcome
    calls: int = 0
    began: float = field(default_factory=time.perf_counter)

    @property
    def question(self) -> str:
        """The text that is searched; a follow-up stands alone in it."""
        return self.base.intent.search_text

    @property
    def seconds_left(self) -> float:
        """The time in which another search may begin."""
        return self.search.settings.escalation.seconds - (time.perf_counter() - self.began)

    @property
    def has_vectors(self) -> bool:
        """True if the dense retriever was used."""
        return self.base.evidence.similarity is not None

    def vector(self, text: str) -> Sequence[float]:
        """The vector of a text."""
        return self.search.embedder.vector(QueryBundle(text))

    def ask(self, prompt: str) -> str:
        """The language model's reply; a model that failed is not asked again.

        Raises:
            ServiceUnavailable, ModelError: If it does not reply in time or fails.
        """
        assert self.search.llm is not None
        self.calls += 1
        messages = [("system", prompt), ("user", f"Question: {self.question}")]
        try:
            seconds = reply_limit(self.search.llm, messages, reply_tokens=_REPLY_TOKENS, least=self.seconds_left)
            return consult(self.search.llm, messages, seconds=seconds, limit=MAX_REPLY, hint=_HINT)
        except FootnoteError:
            self.calls = self.search.settings.escalation.calls
            raise

    def trust(self, text: str) -> float:
        """The trust (0..1) that a text means the question: their squared cosine.

        Of their vectors; without a dense retriever, of their terms weighted by idf.
        """
        if self.has_vectors:
            return cosine(self.vector(self.question), self.vector(text)) ** 2
        return lexical_cosine(tokenise(self.question), tokenise(text), self.search.lexical.idf) ** 2


def _better(best: SearchOutcome, name: str, context: EscalationContext) -> SearchOutcome:
    """The outcome of the strategy if it is better than the best so far, else that; noted either way."""
    began, ledger = time.perf_counter(), context.search.ledger
    try:
        result = STRATEGIES[name](context)
    except FootnoteError as error:
        log_failure(f"escalation failed: {name}", error)
        ledger.lacking(f"A second try ({name}) failed: {error.message}")
        result = EscalationResult("", None, f"failed: {error.message}")
    outcome, evidence = result.outcome, result.outcome.evidence if result.outcome else _UNASSESSED
    before = best.evidence.strength
    kept = outcome is not None and evidence.strength > before + MARGIN
    moved = f"the evidence {'rose' if kept else 'did not rise'} ({before:.2f} -> {evidence.strength:.2f})"
    ms = (time.perf_counter() - began) * 1000
    ledger.attempt(name, result.search_text, evidence, kept=kept, why=result.why or moved, ms=ms)
    if outcome is None or not kept:
        return best
    ledger.tag(name)
    return outcome


# Strategies


def rewrite(context: EscalationContext) -> EscalationResult:
    """The question in the words of a language model, beside its own."""
    texts = parse_queries(context.ask(prompts.REWRITE), context.question, 1)
    return _one_variant(context, "rewrite", texts[0]) if texts else _UNUSABLE


def hyde(context: EscalationContext) -> EscalationResult:
    """The question's terms, and the direction of a hypothetical answer beside its own (HyDE).

    Source: Gao et al., ACL 2023, arXiv:2212.10496.
    """
    text = parse_passage(context.ask(prompts.HYPOTHETICAL), context.question)
    return _one_variant(context, "hyde", text, with_terms=False) if text else _UNUSABLE


def multi_query(context: EscalationContext) -> EscalationResult:
    """Several wordings, each searched; their rankings are fused with the question's own, weighted by trust."""
    texts = parse_queries(context.ask(prompts.VARIANTS.format(count=_VARIANTS)), context.question, _VARIANTS)
    if not texts:
        return _UNUSABLE
    outcomes: list[SearchOutcome] = []
    weighted: list[tuple[float, float]] = []
    for n, (text, trust) in enumerate(zip(texts, map(context.trust, texts), strict=True), start=1):
        if outcomes and context.seconds_left <= 0:
            context.search.ledger.lacking("A part of a second try was left out: the time was used up.")
            break
        outcome, strength = _search_variant(context, f"multi {n}", text, trust)
        outcomes.append(outcome)
        weighted.append((trust, strength))
    fused = _fused(context, outcomes, [trust for trust, _ in weighted])
    own = max([context.base, *outcomes], key=lambda each: each.evidence.strength).evidence
    searched = " | ".join(texts[: len(outcomes)])
    return EscalationResult(searched, _with_expected_strength(context, replace(fused, evidence=own), weighted))


# By the name in the settings.
STRATEGIES: dict[str, Callable[[EscalationContext], EscalationResult]] = {
    "rewrite": rewrite,
    "hyde": hyde,
    "multi": multi_query,
}
_UNUSABLE = EscalationResult("", None, "the reply held nothing to search for")


def _one_variant(context: EscalationContext, name: str, text: str, *, with_terms: bool = True) -> EscalationResult:
    trust = context.trust(text)
    outcome, strength = _search_variant(context, name, text, trust, with_terms=with_terms)
    return EscalationResult(text, _with_expected_strength(context, outcome, [(trust, strength)]))


def _search_variant(
    context: EscalationContext, name: str, text: str, trust: float, *, with_terms: bool = True
) -> tuple[SearchOutcome, float]:
    """The outcome of question and variant together, and its strength as evidence for the variant alone."""
    search, question = context.search, context.question
    weights: dict[str, float] = {term: float(times) for term, times in Counter(tokenise(question)).items()}
    for term in tokenise(text) if with_terms else ():
        weights[term] = weights.get(term, 0.0) + trust
    embedding = (
        weighted_direction(context.vector(question), context.vector(text), trust) if context.has_vectors else None
    )
    query = WeightedQuery(text if with_terms else question, embedding=embedding, term_weights=weights)
    outcome = search.attempt(query, search.ledger.fork(name))
    in_these_words = replace(context.base.intent, search_text=text, terms=tuple(dict.fromkeys(tokenise(text))))
    return outcome, search.assess_as(outcome, in_these_words).strength


def _with_expected_strength(
    context: EscalationContext, outcome: SearchOutcome, variants: Sequence[tuple[float, float]]
) -> SearchOutcome:
    """The outcome with the evidence that the question and its variants, each (trust, strength), together make it.

    Passages that support the question itself less than its own search did are not better for what a variant says.
    """
    own, search = outcome.evidence, context.search
    if own.strength < context.base.evidence.strength:
        return outcome
    strength = expected_strength(own.strength, variants)
    return replace(
        outcome, evidence=with_strength(own, strength, settings=search.settings.evidence, model=search.model)
    )


def _fused(context: EscalationContext, outcomes: Sequence[SearchOutcome], trusts: Sequence[float]) -> SearchOutcome:
    """One ranking of several by weighted RRF, the question's own among them; what each of them cut stays cut."""
    searched = {**{str(n): each for n, each in enumerate(outcomes)}, "": context.base}
    weights = {"": 1.0} | {str(n): trust for n, trust in enumerate(trusts)}
    rankings = {key: scores_of(each.ranked) for key, each in searched.items()}
    nodes = {hit.node.node_id: hit.node for each in searched.values() for hit in each.ranked}
    ranked = by_score(min_max_scaled(reciprocal_rank_fusion(rankings, weights, k=_DAMPING)), nodes)
    ledger = context.search.ledger.fork("multi")
    for each in searched.values():
        ledger.join(each.ledger)
    ledger.fused(ranked)
    uncut = {hit.node.node_id for each in searched.values() for hit in each.ranking}
    most = max(len(each.ranking) for each in searched.values())
    ranking = [hit for hit in ranked if hit.node.node_id in uncut][:most]
    ledger.shown(ranking)
    return replace(context.base, ranked=ranked, ranking=ranking, ledger=ledger)


# Vectors and strengths


def unit(vector: ArrayLike) -> Vector:
    """The vector at length 1; zeros stay zeros."""
    given = np.asarray(vector, dtype=np.float32)
    length = float(np.linalg.norm(given))
    return (given / length if length > 0 else given).astype(np.float32)


def weighted_direction(question: ArrayLike, other: ArrayLike, weight: float) -> list[float]:
    """The unit vector of a question's direction plus `weight` times another direction."""
    return [float(value) for value in unit(unit(question) + weight * unit(other))]


def cosine(left: ArrayLike, right: ArrayLike) -> float:
    """The cosine of two vectors, negatives as 0."""
    return max(float(np.dot(unit(left), unit(right))), 0.0)


def lexical_cosine(left: Sequence[str], right: Sequence[str], weight: Callable[[str], float]) -> float:
    """The cosine (0..1) of two texts' idf vectors, for searches without embeddings; 0 when one has no terms."""
    one, other = ({term: weight(term) for term in dict.fromkeys(terms)} for terms in (left, right))
    shared = sum(value * other[term] for term, value in one.items() if term in other)
    lengths = math.hypot(*one.values()) * math.hypot(*other.values())
    return shared / lengths if lengths else 0.0


def expected_strength(own: float, variants: Sequence[tuple[float, float]]) -> float:
    """The strength (0..1) to be expected when the question may mean itself or one of its variants.

    (own + sum of trust * strength) / (1 + sum of trust): the total probability over the wordings, where the question
    as it was asked has the weight 1.

    Args:
        own: The strength of the passages as evidence for the question as asked.
        variants: For each variant how far it is trusted to mean the question (0..1), and the passages' strength as
            evidence for it.
    """
    return (own + sum(trust * strength for trust, strength in variants)) / (1 + sum(trust for trust, _ in variants))
