"""SUGGEST: follow-up questions after an answer, each checked before it is shown."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from llama_index.core.schema import NodeWithScore

from config.settings import Settings
from pipelines.answers import Answer
from pipelines.errors import FootnoteError
from pipelines.observe import log_failure
from pipelines.query.context import Passage, Retrieved, source_of, span_of
from pipelines.query.extract import extract, is_answer
from pipelines.query.postprocess.duplicates import jaccard
from pipelines.query.proposals import Proposal, cited_spans, from_documents, from_model, is_cited
from pipelines.query.question_rules import terms_of
from pipelines.query.quotable_units import QuotableSources
from pipelines.query.search import Search, SearchOutcome, begin_search
from pipelines.query.unit_scoring import lexical_unit_scorer
from pipelines.store.tokens import tokenise

_CHECKED = 6  # proposals at most
_ASKING = frozenset(tokenise("Which documents say degree earned do project speak"))  # the words of the templates
_ALIKE = 0.7  # share of the terms of two questions, from which they are the same
_AHEAD = 3  # hits among which the document that should answer must be
_READ = 3  # passages in which a quotable line is looked for
_WHOLE = 1_000_000  # nodes on each side: the whole document


def suggest_follow_ups(answer: Answer, search: Search, retrieved: Retrieved | None) -> tuple[str, ...]:
    """Unasked questions that documents close to the answer can answer; best first.

    They are proposed by a language model if the settings ask for it, else from the surroundings of the answer. Each is
    checked without the conversation, on the retrieved nodes and the documents that should answer it; the corpus is not
    searched again. Without a language model the passages must contain something that extraction would quote. Questions
    that were not checked within the time limit are not shown.

    Nothing where a part of the search failed.
    """
    options, ledger = search.settings.answer, search.ledger
    if not options.follow_ups or search.intent.greeting or ledger.degraded:
        return ()
    until = time.perf_counter() + options.follow_up_seconds
    with ledger.stage("follow_ups"):
        try:
            proposed = from_model(answer, search, retrieved)
            with search.store.read_snapshot():
                asked = (answer.question, answer.condensed, *(turn.question for turn in search.request.history))
                conversation = Conversation(tuple(filter(None, asked)), cited_spans(answer), answer.answer)
                fresh = without_repeats([*proposed, *from_documents(answer, search, retrieved)], conversation)
                return _checked(fresh, conversation, _pool(answer, search, retrieved, fresh), search, until)
        except FootnoteError as error:
            log_failure("no follow-up questions are suggested", error)
            return ()


def _pool(
    answer: Answer, search: Search, retrieved: Retrieved | None, fresh: Sequence[Proposal]
) -> list[NodeWithScore]:
    """The nodes that a proposal may be answered from: those found, and those of the documents near the answer."""
    near = {source.document_id: None for source in (*answer.sources, *answer.nearest)}
    near |= {proposal.document: None for proposal in fresh if proposal.document}
    hits = {hit.node.node_id: hit for hit in (retrieved.found.ranked or retrieved.found.ranking if retrieved else ())}
    for document_id in near:
        hits |= {hit.node.node_id: hit for hit in search.read_window(document_id, 0, _WHOLE)}
    return list(hits.values())


def _checked(
    fresh: Sequence[Proposal],
    conversation: "Conversation",
    pool: Sequence[NodeWithScore],
    search: Search,
    until: float,
) -> tuple[str, ...]:
    """Those that nodes of the pool answer; all are embedded together."""
    request, options = search.request, search.settings
    asked = {
        proposal.question: replace(
            begin_search(replace(request, question=proposal.question, history=()), options, search.index),
            embedder=search.embedder,
        )
        for proposal in fresh
    }
    if request.mode != "sparse":
        search.embedder.embed([each.intent.search_text for each in asked.values()])
    return answerable(
        fresh,
        conversation,
        lambda question: asked[question].rank(pool),
        lambda outcome: search.llm is not None or is_quotable(outcome, options, search.lexical.idf),
        limit=options.answer.follow_ups,
        until=until,
    )


@dataclass(frozen=True, slots=True)
class Conversation:
    """The conversation that follow-ups must not repeat: its questions, and the answer with its quoted spans."""

    questions: tuple[str, ...]
    quoted: tuple[tuple[str, int, int], ...] = ()
    answer: str = ""


def without_repeats(proposed: Sequence[Proposal], conversation: Conversation) -> list[Proposal]:
    """At most six proposals, without repeats of earlier questions or of each other, in any wording.

    Two questions are repeats if most of their terms are equal, apart from question words.
    """
    keys = [_matter(question) for question in conversation.questions]
    fresh: list[Proposal] = []
    for proposal in proposed:
        key = _matter(proposal.question)
        if key and not any(jaccard(key, other) >= _ALIKE for other in keys):
            keys.append(key)
            fresh.append(proposal)
    return fresh[:_CHECKED]


def answerable(
    proposed: Sequence[Proposal],
    conversation: Conversation,
    find: Callable[[str], SearchOutcome],
    is_told: Callable[[SearchOutcome], bool],
    *,
    limit: int,
    until: float,
) -> tuple[str, ...]:
    """At most `limit` proposals that the corpus answers, in order; unchecked ones are left out.

    The evidence must be sufficient and at least of medium strength, and the place that should answer among the first
    hits. What stands first must be no other follow-up's, and where the answer stands on it, it must hold something that
    is asked for and that was neither asked for before nor said.

    Args:
        proposed: The most promising first.
        conversation: What is not to be repeated.
        find: The search of the engine.
        is_told: True if the writer would answer from what was found.
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
        holds = holds_up(found, proposal, conversation) and found.ranking[0].node.node_id not in seen and is_told(found)
        if holds and time.perf_counter() < until:
            seen.add(found.ranking[0].node.node_id)
            chosen.append(proposal.question)
    return tuple(chosen)


def holds_up(found: SearchOutcome, proposal: Proposal, conversation: Conversation) -> bool:
    """True if the search result answers a proposal with something new."""
    evidence = found.evidence
    if not found.ranking or not evidence.sufficient or evidence.band == "low":
        return False
    places = [hit.node.metadata for hit in found.ranking[:_AHEAD]]
    if not any(_holds(place, proposal) for place in places):
        return False
    first = found.ranking[0].node
    place = first.metadata
    is_quoted = is_cited(place["document_id"], place["start"], place["end"], conversation.quoted)
    known = _key(" ".join([*conversation.questions, conversation.answer]))
    return not is_quoted or bool((_key(proposal.question) - known - _ASKING) & _key(first.get_content()))


def _holds(place: Mapping[str, Any], proposal: Proposal) -> bool:
    """True if a hit is at the place that should answer a proposal."""
    if proposal.document and place["document_id"] != proposal.document:
        return False
    return proposal.place is None or (place["start"] < proposal.place[1] and proposal.place[0] < place["end"])


def _matter(question: str) -> frozenset[str]:
    """The terms of what a question asks."""
    return frozenset(terms_of(question)) - _ASKING


def _key(question: str) -> frozenset[str]:
    return frozenset(tokenise(question))


def is_quotable(found: SearchOutcome, settings: Settings, weight: Callable[[str], float]) -> bool:
    """True if lines of the first three passages could be quoted as the answer.

    The writer sees more passages and uses similarities too, so this is a lower bound; it needs neither a model nor a
    read.

    Args:
        found: The search result.
        settings: The writer's.
        weight: The idf of a term.
    """
    sources = []
    for n, hit in enumerate(found.ranking[:_READ], start=1):
        meta = hit.node.metadata
        passage = Passage(hit.node.get_content(), "", meta["title"], "", "", meta["category"])
        sources.append(source_of(n, span_of(hit), passage))
    strength, most = found.evidence.strength, settings.answer.max_sentences
    quotable, scorer = QuotableSources(sources), lexical_unit_scorer(weight)
    extraction = extract(found.intent, quotable, found.ranking, scorer, strength=strength, max_sentences=most)
    return is_answer(extraction, found.evidence, settings.evidence)
