"""Questions to ask next: proposed from what stands near an answer, shown only when retrieval finds them answered."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from llama_index.core.embeddings import BaseEmbedding

from pipelines.query.searching.find import Finder, Found, Request
from pipelines.query.suggestions.proposals import Proposal
from pipelines.query.suggestions.propose import Answered, cited_spans, from_documents, from_model
from pipelines.query.trace import Ledger
from pipelines.store.tokens import tokenise
from pipelines.types import QueryIntent

_CHECKED = 6  # proposals at most; each costs a search
_ASKING = frozenset(tokenise("Which documents say degree do project speak"))  # the words of the templates
_AHEAD = 3  # hits among which the document that should answer must be

Find = Callable[[str], Found]
Search = Callable[[Finder, Request, QueryIntent, Ledger], Found]


def follow_ups(answered: Answered, finder: Finder, search: Search) -> tuple[str, ...]:
    """Questions that the corpus answers and that were not asked yet, as many as the settings want, the best first.

    A language model proposes them where the settings say so, else what stands near the answer. Each stands alone: it is
    searched for without the conversation, and without a second try; no search is begun when the time is over.

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
    return answerable(
        fresh,
        said_in(answered),
        lambda question: search(quick, asked[question], intents[question], Ledger()),
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
    """What was asked so far, with the question that was just answered, and what its answer cites."""
    earlier = (turn.question for turn in answered.request.history)
    return Said((answered.answer.question, *earlier), cited_spans(answered.answer), answered.answer.answer)


def new_ones(proposed: Sequence[Proposal], said: Said) -> list[Proposal]:
    """At most six proposals that were not asked yet, whatever their stop words, endings and case."""
    asked = {_key(question) for question in said.questions}
    fresh: dict[frozenset[str], Proposal] = {}
    for proposal in proposed:
        key = _key(proposal.question)
        if key and key not in asked:
            fresh.setdefault(key, proposal)
    return list(fresh.values())[:_CHECKED]


def answerable(proposed: Sequence[Proposal], said: Said, find: Find, *, limit: int, until: float) -> tuple[str, ...]:
    """At most `limit` of the proposals that the corpus answers, in their order.

    The evidence must be sufficient and at least of medium strength, and the document that should answer among the first
    hits. What stands first must be no other follow-up's, and where the answer stands on it, it must hold something that
    is asked for and that was neither asked for before nor said.

    Args:
        proposed: The most promising first.
        said: What is not to be repeated.
        find: The search of the engine.
        limit: How many are wanted.
        until: `time.perf_counter()` after which no further search is begun.
    """
    chosen: list[str] = []
    seen: set[str] = set()
    for proposal in proposed:
        if len(chosen) >= limit or time.perf_counter() >= until:
            break
        found = find(proposal.question)
        if holds_up(found, proposal, said) and found.ranking[0].node.node_id not in seen:
            seen.add(found.ranking[0].node.node_id)
            chosen.append(proposal.question)
    return tuple(chosen)


def holds_up(found: Found, proposal: Proposal, said: Said) -> bool:
    """Whether what was found answers a proposal, with something that was not said yet."""
    evidence = found.evidence
    if not found.ranking or not evidence.sufficient or evidence.band == "low":
        return False
    ahead = {hit.node.metadata["document_id"] for hit in found.ranking[:_AHEAD]}
    if proposal.aim and proposal.aim not in ahead:
        return False
    first = found.ranking[0].node
    here, start, end = (first.metadata[name] for name in ("document_id", "start", "end"))
    is_quoted = any(here == other and start < until and since < end for other, since, until in said.quoted)
    return not is_quoted or bool(_unsaid(proposal.question, said) & _key(first.get_content()))


def _unsaid(question: str, said: Said) -> frozenset[str]:
    """The terms of a question that neither the conversation's questions nor the answer have."""
    return _key(question) - _key(" ".join([*said.questions, said.answer])) - _ASKING


def _key(question: str) -> frozenset[str]:
    return frozenset(tokenise(question))
