"""Questions to ask next: proposed from what stands near an answer, shown only when retrieval finds them answered."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from llama_index.core.embeddings import BaseEmbedding

from pipelines.query.postprocess.duplicates import jaccard
from pipelines.query.searching.find import Finder, Found, Request
from pipelines.query.suggestions.proposals import Proposal
from pipelines.query.suggestions.propose import Answered, cited_spans, from_documents, from_model
from pipelines.query.suggestions.quotable import is_quotable
from pipelines.query.trace import Ledger
from pipelines.query.understanding.trim import terms_of
from pipelines.store.tokens import tokenise
from pipelines.types import QueryIntent

_CHECKED = 6  # proposals at most; each costs a search
_ASKING = frozenset(tokenise("Which documents say degree earned do project speak"))  # the words of the templates
_ALIKE = 0.7  # of the terms of two questions, from which they are the same
_AHEAD = 3  # hits among which the document that should answer must be

Find = Callable[[str], Found]
Search = Callable[[Finder, Request, QueryIntent, Ledger], Found]


def follow_ups(answered: Answered, finder: Finder, search: Search) -> tuple[str, ...]:
    """Questions that the corpus answers and that were not asked yet, as many as the settings want, the best first.

    A language model proposes them where the settings say so, else what stands near the answer. Each stands alone: it is
    searched for without the conversation, and without a second try. Where no language model writes, its passages must
    hold what extraction would quote. What was not checked when the time was over is not shown.

    Raises:
        ModelError, ServiceUnavailable: If a model or the database cannot be asked.
    """
    until = time.perf_counter() + finder.settings.answer.follow_up_seconds
    proposed = from_model(answered, finder)
    with finder.store.moment():
        fresh = new_ones([*proposed, *from_documents(answered, finder)], said_in(answered))
        return _checked(fresh, answered, finder, search, until)


def _checked(
    fresh: Sequence[Proposal], answered: Answered, finder: Finder, search: Search, until: float
) -> tuple[str, ...]:
    """Those that the corpus answers; each is searched for once, and all are embedded together."""
    once = finder.settings.escalation.model_copy(update={"mode": "off"})
    quick = replace(finder, settings=finder.settings.model_copy(update={"escalation": once}), llm=None)
    asked = {proposal.question: replace(answered.request, question=proposal.question, history=()) for proposal in fresh}
    intents = {question: quick.understand(request, Ledger()) for question, request in asked.items()}
    if answered.request.mode != "sparse":
        texts = [intent.search_text for intent in intents.values()]
        quick = replace(quick, embed_model=holding(finder.embed_model, texts))
    weight = finder.indexes.current(answered.request.audience).idf
    return answerable(
        fresh,
        said_in(answered),
        lambda question: search(quick, asked[question], intents[question], Ledger()),
        lambda found: finder.llm is not None or is_quotable(found, finder.settings, weight),
        limit=finder.settings.answer.follow_ups,
        until=until,
    )


class HeldVectors(BaseEmbedding):
    """An embedding model that knows the vectors of some texts, and asks the model itself for others."""

    vectors: dict[str, list[float]]
    model: BaseEmbedding

    def _get_query_embedding(self, query: str) -> list[float]:
        return self.vectors.get(query) or self.model.get_query_embedding(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_query_embedding(text)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


def holding(model: BaseEmbedding, texts: Sequence[str]) -> HeldVectors:
    """The model with the vectors of these texts at hand, made in one batch.

    Raises:
        ModelError, ServiceUnavailable: If the model cannot be asked.
    """
    wanted = list(dict.fromkeys(texts))
    vectors = model.get_text_embedding_batch(wanted) if wanted else []
    return HeldVectors(vectors=dict(zip(wanted, vectors, strict=True)), model=model)


@dataclass(frozen=True, slots=True)
class Said:
    """What a follow-up must not repeat: the conversation's questions, and the answer with the words that it quotes."""

    questions: tuple[str, ...]
    quoted: tuple[tuple[str, int, int], ...] = ()
    answer: str = ""


def said_in(answered: Answered) -> Said:
    """What was asked so far, with the question that was just answered as it was read, and what its answer cites."""
    answer = answered.answer
    asked = (answer.question, answer.condensed, *(turn.question for turn in answered.request.history))
    return Said(tuple(filter(None, asked)), cited_spans(answer), answer.answer)


def new_ones(proposed: Sequence[Proposal], said: Said) -> list[Proposal]:
    """At most six proposals of which none asks what was asked already, or what another asks, in whatever words.

    Two questions ask the same when most of their terms are the same, without those that only ask.
    """
    keys = [_matter(question) for question in said.questions]
    fresh: list[Proposal] = []
    for proposal in proposed:
        key = _matter(proposal.question)
        if key and not any(jaccard(key, other) >= _ALIKE for other in keys):
            keys.append(key)
            fresh.append(proposal)
    return fresh[:_CHECKED]


def answerable(
    proposed: Sequence[Proposal], said: Said, find: Find, is_told: Callable[[Found], bool], *, limit: int, until: float
) -> tuple[str, ...]:
    """At most `limit` of the proposals that the corpus answers, in their order; none that was not checked in time.

    The evidence must be sufficient and at least of medium strength, and the place that should answer among the first
    hits. What stands first must be no other follow-up's, and where the answer stands on it, it must hold something that
    is asked for and that was neither asked for before nor said.

    Args:
        proposed: The most promising first.
        said: What is not to be repeated.
        find: The search of the engine.
        is_told: Whether the writer would answer from what was found.
        limit: How many are wanted.
        until: `time.perf_counter()` when it is over; no check is begun that would take as long as those before it.
    """
    chosen: list[str] = []
    seen: set[str] = set()
    begun = time.perf_counter()
    for checked, proposal in enumerate(proposed):
        now = time.perf_counter()
        if len(chosen) >= limit or now + (now - begun) / max(checked, 1) >= until:
            break
        found = find(proposal.question)
        holds = holds_up(found, proposal, said) and found.ranking[0].node.node_id not in seen and is_told(found)
        if holds and time.perf_counter() < until:
            seen.add(found.ranking[0].node.node_id)
            chosen.append(proposal.question)
    return tuple(chosen)


def holds_up(found: Found, proposal: Proposal, said: Said) -> bool:
    """Whether what was found answers a proposal, with something that was not said yet."""
    evidence = found.evidence
    if not found.ranking or not evidence.sufficient or evidence.band == "low":
        return False
    if not any(_is_aimed_at(hit.node.metadata, proposal) for hit in found.ranking[:_AHEAD]):
        return False
    first = found.ranking[0].node
    here, start, end = (first.metadata[name] for name in ("document_id", "start", "end"))
    is_quoted = any(here == other and start < until and since < end for other, since, until in said.quoted)
    return not is_quoted or bool(_unsaid(proposal.question, said) & _key(first.get_content()))


def _is_aimed_at(place: Mapping[str, Any], proposal: Proposal) -> bool:
    """Whether a hit stands where a proposal should be answered."""
    if proposal.aim and place["document_id"] != proposal.aim:
        return False
    return proposal.place is None or (place["start"] < proposal.place[1] and proposal.place[0] < place["end"])


def _unsaid(question: str, said: Said) -> frozenset[str]:
    """The terms of a question that neither the conversation's questions nor the answer have."""
    return _key(question) - _key(" ".join([*said.questions, said.answer])) - _ASKING


def _matter(question: str) -> frozenset[str]:
    """The terms of what a question asks."""
    return frozenset(terms_of(question)) - _ASKING


def _key(question: str) -> frozenset[str]:
    return frozenset(tokenise(question))
