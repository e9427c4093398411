"""WRITER: who answers from what was found: the language model, else a quotation, else nobody."""

from dataclasses import replace

from llama_index.core.llms import LLM

from config.prompts import NO_DOCUMENTS, NOTHING_PASSES
from config.settings import Settings
from pipelines.errors import FootnoteError
from pipelines.models.nli import load_inference
from pipelines.observe import log_failure
from pipelines.query.context.stored import context_of
from pipelines.query.gather import Retrieved
from pipelines.query.searching.find import Finder, Request
from pipelines.query.trace import Ledger
from pipelines.query.understanding.history import recent
from pipelines.query.verification.judge import Judge, embedding, judge_with
from pipelines.query.writing.prompt import fitted, manner_of
from pipelines.query.writing.quote import quote
from pipelines.query.writing.write import Brief, Written, abstain
from pipelines.query.writing.write_llm import write_by_llm


def passages_for(settings: Settings, llm: LLM | None) -> int:
    """How many passages an answer is made from, as far as the budget goes; a quotation is picked from more."""
    top_n = settings.retrieval.top_n
    return top_n if llm else max(top_n, settings.answer.passages)


def write(retrieved: Retrieved, request: Request, finder: Finder) -> Written:
    """What the language model writes, and where it fails or there is none, a quotation.

    It is not asked where the evidence is too weak. Its failure is noted, and is the Answer's `fallback_reason`.

    Raises:
        ServiceUnavailable: If the database cannot be read.
    """
    found, failure = retrieved.found, ""
    tried = f"{found.intent.search_text} ({request.mode}: {found.evidence.reason or 'found'})"
    searched = () if found.intent.greeting else (tried,)
    judge = _judge(finder, is_blind=request.mode == "sparse" or found.ledger.degraded)
    brief = Brief(found.intent, retrieved.context, found.evidence, searched, judge=judge)
    if finder.llm is not None:
        if not (found.evidence.sufficient and brief.context.sources):
            return (yield from abstain(replace(brief, instead=_instead(retrieved, request, finder))))
        try:
            return (yield from _by_llm(brief, finder, finder.llm, request, found.ledger))
        except FootnoteError as error:
            log_failure("language model failed, answering by extraction", error)
            failure = str(error)
            found.ledger.note(failure)
            retrieved = _without_llm(retrieved, request, finder)
            brief = replace(brief, context=retrieved.context, evidence=retrieved.found.evidence)
    instead = _instead(retrieved, request, finder)
    if not brief.context.sources or instead:
        return (yield from abstain(replace(brief, instead=instead), failure))
    return (yield from quote(brief, retrieved, request, finder, failure))


def _by_llm(brief: Brief, finder: Finder, llm: LLM, request: Request, ledger: Ledger) -> Written:
    """What the language model writes of as much as it has room for; raises what `write_by_llm` raises."""
    options, manner = finder.settings.answer, manner_of(finder.settings, finder.llm_name)
    turns = recent(request.history, turns=options.history_turns, tokens=options.history_tokens)
    context, turns = fitted(brief.intent, brief.context, turns, manner)
    for node_id, why in context.dropped[len(brief.context.dropped) :]:
        ledger.cut(node_id, why)
    draft = yield from write_by_llm(replace(brief, context=context), llm, turns, manner)
    for said in draft.notes:
        ledger.note(said)
    return draft


def _without_llm(retrieved: Retrieved, request: Request, finder: Finder) -> Retrieved:
    """What is found and shown where there is no language model: more passages than one is shown."""
    found, most = retrieved.found, passages_for(finder.settings, None)
    if most <= request.top_n:
        return retrieved
    try:
        wide = replace(finder, llm=None).find(replace(request, top_n=most), found.intent, found.ledger)
        context = context_of(wide, finder, request.audience, found.ledger)
    except FootnoteError as error:
        log_failure("sentences are quoted from the passages of the language model alone", error)
        return retrieved
    return replace(retrieved, found=wide, context=context)


def _instead(retrieved: Retrieved, request: Request, finder: Finder) -> str:
    """What to say when there was nothing to search in; empty when there was."""
    if retrieved.found.intent.greeting or retrieved.found.ranked:
        return ""
    if not len(retrieved.index):
        return NO_DOCUMENTS
    any_passes = not request.filters or finder.store.matching_ids(request.filters, request.audience)
    return "" if any_passes else NOTHING_PASSES


def _judge(finder: Finder, *, is_blind: bool) -> Judge:
    """What sentences are verified with; without vectors where the search had to do without them."""
    named = finder.settings.answer.nli_model
    embed = None if is_blind else embedding(finder.embed_model)
    return judge_with(finder.model, embed, load_inference(named) if named else None)
