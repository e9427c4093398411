"""Auto-RAG: the search of a question, and query variants by a language model where its evidence is weak.

A variant is kept only where it improves the evidence for the question as it was asked.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import NamedTuple

import numpy as np
from llama_index.core.schema import QueryBundle
from numpy.typing import ArrayLike, NDArray

from pipelines.errors import FootnoteError
from pipelines.models.consult import consult, reply_limit
from pipelines.observe import log_failure
from pipelines.query.citation_markers import split_markers
from pipelines.query.evidence import idf_share, with_strength
from pipelines.query.llm_queries import MAX_REPLY, parse_passage, parse_queries
from pipelines.query.retrieve import WeightedQuery
from pipelines.query.search import Search, SearchOutcome
from pipelines.store.tokens import tokenise
from pipelines.types import Evidence, Filters

MARGIN = 0.02  # of strength, by which an attempt must be better
_LEAST_TERMS, _MOST_TERMS, _MOST_LINES = 4, 60, 2  # of the last answer, by which its passages are found
_SAME_LINE = 0.6  # share of a line's terms, by idf, that its passage holds
_REPLY_TOKENS = 60  # of a rewrite, by which its time is expected
_HINT = "Raise FOOTNOTE_ESCALATION__SECONDS, or set FOOTNOTE_ESCALATION__MODE=off."
_NOTHING_ASKED = Evidence(0.0, "low", None, 0.0, {}, 0, (), sufficient=False, reason="nothing is asked")
_UNASSESSED = Evidence(0.0, "low", None, 0.0, {}, 0, (), sufficient=False, reason="not searched")
Vector = NDArray[np.float32]


class Strategy(NamedTuple):
    """The name of a prompt, the text to search for that a reply to it holds (by reply and question), empty if none, and
    whether the terms of the text are searched for beside its direction."""

    prompt: str
    parse: Callable[[str, str], str]
    with_terms: bool


# By the name in the settings. HyDE: Gao et al., ACL 2023, arXiv:2212.10496.
STRATEGIES = {
    "rewrite": Strategy("rewrite", lambda reply, asked: next(iter(parse_queries(reply, asked, 1)), ""), True),
    "hyde": Strategy("hypothetical", parse_passage, False),
}


def find(search: Search) -> SearchOutcome:
    """The best search for a question: its own, or an escalation that brought better evidence.

    Raises:
        ModelError, ServiceUnavailable: If no retriever worked.
    """
    ledger, query = search.ledger, QueryBundle(search.intent.search_text)
    if search.intent.greeting:
        return SearchOutcome(search.intent, query, [], [], _NOTHING_ASKED, ledger)
    if search.intent.follow_up:
        search = replace(search, intent=replace(search.intent, told=_documents_told(search)))
    best = _with_last_answer(search, escalate(search, search.attempt(query, ledger.fork("base"))))
    ledger.adopt(best.ledger)
    return replace(best, ledger=ledger)


def _documents_told(search: Search) -> tuple[str, ...]:
    """The documents of the last answer's passages, at most two; none where no stored passage has its words."""
    lexical, audience = search.lexical, search.request.audience
    lines = [tokenise(line)[:_MOST_TERMS] for line in split_markers(search.request.history[-1].answer)[0].splitlines()]
    said = [dict.fromkeys(terms, 1.0) for terms in lines if len(terms) >= _LEAST_TERMS][:_MOST_LINES]
    best = [(node_id, terms) for terms in said for node_id, _ in lexical.search(terms, 1)]
    nodes = search.store.fetch({node_id for node_id, _ in best}, filters=Filters(), audience=audience)
    texts = {node_id: {*tokenise(node.get_content())} for node_id, node in nodes.items()}
    told = (node_id for node_id, terms in best if idf_share(lexical.idf, terms, texts.get(node_id, ())) >= _SAME_LINE)
    return tuple(dict.fromkeys(nodes[node_id].metadata["document_id"] for node_id in told))


def _with_last_answer(search: Search, found: SearchOutcome) -> SearchOutcome:
    """The outcome with the best passages of the documents that were told of between its own, one by one."""
    told, filters = search.intent.told, search.request.filters
    if not told or filters.document:
        return found
    request = replace(search.request, filters=replace(filters, document=told))
    near = replace(search, request=request).attempt(found.query, search.ledger.fork("conversation"))
    pairs = zip_longest(near.ranking, found.ranking)
    ranking = list({hit.node.node_id: hit for pair in pairs for hit in pair if hit}.values())
    known = {hit.node.node_id for hit in found.ranked}
    ranked = [*found.ranked, *(hit for hit in near.ranked if hit.node.node_id not in known)]
    found.ledger.join(near.ledger)
    evidence = max(found.evidence, near.evidence, key=lambda each: each.strength)
    return replace(found, ranked=ranked, ranking=ranking[: 2 * search.request.top_n], evidence=evidence)


def escalate(search: Search, base: SearchOutcome) -> SearchOutcome:
    """The base search, or the outcome of a strategy that is better evidence for the question as asked.

    Every attempt is noted in the ledger with its reason. When none is better, the base is returned as it is. A
    strategy that fails, by the language model or otherwise, is noted too, and is the last.
    """
    options, ledger, best = search.settings.escalation, search.ledger, base
    ledger.attempt("base", base.query.query_str, base.evidence, kept=True, why="first")
    is_due = options.mode == "always" or (options.mode == "auto" and is_weak(base.evidence))
    if base.intent.greeting or not (is_due and search.escalates and search.llm is not None):
        return base
    end = time.perf_counter() + options.seconds
    for name in [*dict.fromkeys(options.kinds)][: options.calls]:
        began = time.perf_counter()
        if began >= end:
            ledger.lacking("A second try was left out: the time was used up.")
            break
        text, outcome, why = "", None, ""
        try:
            text = _wording(search, base, STRATEGIES[name], end - began)
            outcome = search_variant(search, base, name, text) if text else None
        except FootnoteError as error:
            log_failure(f"escalation failed: {name}", error)
            ledger.lacking(f"A second try ({name}) failed: {error.message}")
            why = f"failed: {error.message}"
        evidence = outcome.evidence if outcome else _UNASSESSED
        kept = evidence.strength > best.evidence.strength + MARGIN
        if outcome:
            moved = f"{best.evidence.strength:.2f} -> {evidence.strength:.2f}"
            why = f"the evidence {'rose' if kept else 'did not rise'} ({moved})"
        ms = (time.perf_counter() - began) * 1000
        ledger.attempt(name, text, evidence, kept=kept, why=why or "the reply held nothing to search for", ms=ms)
        if outcome and kept:
            ledger.tag(name)
            best = outcome
        if why.startswith("failed") or (options.mode == "auto" and not is_weak(best.evidence)):
            break
    return best


def is_weak(evidence: Evidence) -> bool:
    """True if the evidence calls for an escalation."""
    return evidence.band == "low" or not evidence.sufficient


def _wording(search: Search, base: SearchOutcome, strategy: Strategy, seconds: float) -> str:
    """The text to search for that a language model makes of the question, a follow-up standing alone in it."""
    assert search.llm is not None
    question = base.intent.search_text
    messages = [("system", getattr(search.prompts, strategy.prompt)), ("user", f"Question: {question}")]
    seconds = reply_limit(search.llm, messages, reply_tokens=_REPLY_TOKENS, least=seconds)
    reply = consult(search.llm, messages, seconds=seconds, limit=MAX_REPLY, hint=_HINT)
    return strategy.parse(reply, question)


def search_variant(search: Search, base: SearchOutcome, name: str, text: str) -> SearchOutcome:
    """The outcome of a question and a variant of it together, with the strength that is to be expected of both.

    The variant is trusted by its squared cosine to the question: of their vectors; without a dense retriever, of their
    terms weighted by idf. Passages that support the question itself less than its own search did are not better for
    what a variant says.
    """
    searched, with_terms = base.intent.search_text, STRATEGIES[name].with_terms
    embedding = None
    if base.evidence.similarity is not None:
        asked, varied = (search.embedder.vector(QueryBundle(each)) for each in (searched, text))
        trust = cosine(asked, varied) ** 2
        embedding = weighted_direction(asked, varied, trust)
    else:
        trust = lexical_cosine(tokenise(searched), tokenise(text), search.lexical.idf) ** 2
    weights: dict[str, float] = {term: float(times) for term, times in Counter(tokenise(searched)).items()}
    for term in tokenise(text) if with_terms else ():
        weights[term] = weights.get(term, 0.0) + trust
    query = WeightedQuery(text if with_terms else searched, embedding=embedding, term_weights=weights)
    outcome = search.attempt(query, search.ledger.fork(name))
    if outcome.evidence.strength < base.evidence.strength:
        return outcome
    in_these_words = replace(base.intent, search_text=text, terms=tuple(dict.fromkeys(tokenise(text))))
    variant = search.assess_as(outcome, in_these_words).strength
    strength = expected_strength(outcome.evidence.strength, trust, variant)
    evidence = with_strength(outcome.evidence, strength, settings=search.settings.evidence, model=search.model)
    return replace(outcome, evidence=evidence)


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


def expected_strength(own: float, trust: float, variant: float) -> float:
    """The strength (0..1) to be expected when the question may mean itself or its variant.

    (own + trust * variant) / (1 + trust): the total probability over both wordings, where the question as it was asked
    has the weight 1. `trust` (0..1) is that the variant means the question, `variant` the strength of the passages as
    evidence for it.
    """
    return (own + trust * variant) / (1 + trust)
