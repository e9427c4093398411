"""WRITE: answer by a language model, falling back to quotation or abstention."""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from llama_index.core.llms import LLM

from config.prompts import NO_DOCUMENTS, NO_MORE, NOTHING_PASSES, REPAIR
from config.settings import Settings
from pipelines.answers import Answer, Footnote, Sentence, Source, Token, Verdict
from pipelines.errors import FootnoteError, ModelError
from pipelines.models.cross_encoder import load_inference
from pipelines.observe import log_failure
from pipelines.query.answer import AnswerEvents, WriterInput, abstain, abstention
from pipelines.query.citation_markers import MarkerFilter, strip_unfinished_marker
from pipelines.query.confidence import confidence
from pipelines.query.context import Retrieved, build_context
from pipelines.query.escalate import find
from pipelines.query.extract import write_by_quotation
from pipelines.query.followup import recent_turns
from pipelines.query.layout import CitedText, cited_sentences, joined, without
from pipelines.query.prompt import Messages, WritingOptions, build_messages, fit_to_window, writing_options
from pipelines.query.reply import (
    ModelReply,
    is_empty_reply,
    is_refusal,
    listed_source_numbers,
    looks_like_json,
    parse_json_reply,
    strip_sources_list,
    strip_thoughts,
)
from pipelines.query.search import Search
from pipelines.query.trace import Ledger
from pipelines.query.verify import build_judge, cached_embedding, check_source, verify
from pipelines.store.tokens import tokenise
from pipelines.text import canonical
from pipelines.types import Turn
from pipelines.wording import format_count


def passage_count(settings: Settings, llm: LLM | None) -> int:
    """Number of passages for an answer, within the token budget; a quotation is picked from more."""
    top_n = settings.retrieval.top_n
    return top_n if llm else max(top_n, settings.answer.passages)


def write(retrieved: Retrieved, search: Search) -> AnswerEvents:
    """Answer by the language model; if it fails or there is none, by quotation.

    The model is not called if the evidence is too weak. Its failure is noted and is the Answer's `fallback_reason`.

    Raises:
        ServiceUnavailable: If the database cannot be read.
    """
    found, failure, mode = retrieved.found, "", search.request.mode
    searched = (
        () if found.intent.greeting else (f"{found.intent.search_text} ({mode}: {found.evidence.reason or 'found'})",)
    )
    is_blind, nli = mode == "sparse" or found.ledger.degraded, search.settings.answer.nli_model
    embed = None if is_blind else cached_embedding(search.embed_model)
    judge = build_judge(search.model, embed, load_inference(nli) if nli else None)
    task = WriterInput(found.intent, retrieved.context, found.evidence, searched, judge=judge)
    if search.llm is not None:
        if not (found.evidence.sufficient and task.context.sources):
            return (yield from abstain(replace(task, instead=_nothing_to_search(retrieved, search))))
        try:
            return (yield from _write_within_window(task, search, search.llm, found.ledger))
        except FootnoteError as error:
            log_failure("language model failed, answering by extraction", error)
            failure = str(error)
            found.ledger.note(failure)
            retrieved = _widened(retrieved, search)
            task = replace(task, context=retrieved.context, evidence=retrieved.found.evidence)
    instead = _nothing_to_search(retrieved, search)
    if not task.context.sources or instead:
        return (yield from abstain(replace(task, instead=instead), failure))
    return (yield from write_by_quotation(task, retrieved, search, failure))


def _write_within_window(task: WriterInput, search: Search, llm: LLM, ledger: Ledger) -> AnswerEvents:
    """Answer by the language model from as many sources as fit into its window; raises as `write_by_llm` does."""
    options, writing = search.settings.answer, writing_options(search.settings, search.llm_name)
    turns = recent_turns(search.request.history, tokens=options.history_tokens)
    context, turns = fit_to_window(task.intent, task.context, turns, writing)
    for node_id, why in context.dropped[len(task.context.dropped) :]:
        ledger.cut(node_id, why)
    draft = yield from write_by_llm(replace(task, context=context), llm, turns, writing)
    for note in draft.notes:
        ledger.note(note)
    return draft


def _widened(retrieved: Retrieved, search: Search) -> Retrieved:
    """The evidence for a quotation: more passages than a language model is shown."""
    request, most = search.request, passage_count(search.settings, None)
    if most <= request.top_n:
        return retrieved
    try:
        wide = find(replace(search, request=replace(request, top_n=most), escalates=False))
        return replace(retrieved, found=wide, context=build_context(wide, search))
    except FootnoteError as error:
        log_failure("sentences are quoted from the passages of the language model alone", error)
        return retrieved


def _nothing_to_search(retrieved: Retrieved, search: Search) -> str:
    """The message for an empty index or filters that nothing passes; else empty."""
    if retrieved.found.intent.greeting or retrieved.found.ranked:
        return ""
    if not len(retrieved.index):
        return NO_DOCUMENTS
    filters = search.request.filters
    return "" if not filters or search.store.matching_ids(filters, search.request.audience) else NOTHING_PASSES


_DOUBTFUL_VERDICTS = ("unsupported", "uncited")
_LEAST_TERMS = 3  # terms that a sentence must have to be looked up in the sources
_ADDED = "{counted} of the language model's answer named no source; a source that supports it was found and is cited."


def write_by_llm(task: WriterInput, llm: LLM, history: Sequence[Turn], writing: WritingOptions) -> AnswerEvents:
    """Yield Tokens and Footnotes as the model writes, then a Verdict for each sentence; return the Answer.

    JSON is not streamed: its text is yielded when it is complete. Unsupported sentences are marked, removed or repaired
    in the Answer and its verdicts, as `writing` says, and this is noted; their tokens have been yielded before.

    Raises:
        ModelError, ServiceUnavailable: If the model fails before its first word, or says nothing that can be read.
    """
    from pipelines.models.llm import complete  # its libraries take a second to import

    model = str(llm.metadata.model_name)
    prompt = build_messages(task.intent, task.context, history, writing)
    completion = complete(llm, prompt)
    pieces, sources = strip_thoughts(completion), task.context.sources
    written, shown = yield from _stream_events(pieces, sources, streams=writing.output == "prose")
    reply = _parse_reply(written, model, is_cut=completion.truncated)
    rest = reply.text if looks_like_json(written) else written[shown:]
    yield from _stream_events([rest], sources, streams=True, holds_back=False)
    if is_empty_reply(reply.text) and not completion.truncated:
        return abstention(task, "llm", model)
    draft = _drafted(reply, task)
    if NO_MORE in draft.notes and not any(sentence.citations for sentence in draft.sentences):
        return abstention(task, "llm", model)
    if not draft.sentences:
        raise ModelError(f"{model} wrote no sentence.", hint="Try again, or choose another model.")
    if writing.unsupported == "repair" and draft.doubtful(writing) and not completion.truncated:
        draft = _repaired(draft, task, llm, prompt, writing)
    if writing.unsupported == "remove":
        draft = _without_doubtful(draft, writing)
    if not draft.sentences:
        return replace(abstention(task, "llm", model), notes=draft.notes)
    yield from (Verdict(index, sentence) for index, sentence in enumerate(draft.sentences))
    return Answer(
        question=task.intent.question,
        answered=True,
        confidence=confidence(task.evidence, draft.sentences, task.intent.terms),
        mode="llm",
        model=model,
        answer=draft.text,
        sentences=draft.sentences,
        sources=task.context.sources,
        truncated=completion.truncated,
        fallback_reason=str(completion.failure or ""),
        notes=draft.notes,
        usage=completion.usage,
    )


@dataclass(frozen=True, slots=True)
class _Draft:
    """Verified sentences, the same as parts of the reply's text, and notes on what was changed."""

    sentences: tuple[Sentence, ...]
    parts: tuple[CitedText, ...]
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The Markdown of the answer."""
        cited = zip(self.parts, self.sentences, strict=True)
        return joined([part._replace(citations=sentence.citations) for part, sentence in cited])

    def keep(self, is_kept: Callable[[Sentence], bool]) -> "_Draft":
        """The draft without the other sentences."""
        dropped = [index for index, sentence in enumerate(self.sentences) if not is_kept(sentence)]
        return replace(
            self, sentences=tuple(filter(is_kept, self.sentences)), parts=tuple(without(self.parts, dropped))
        )

    def doubtful(self, writing: WritingOptions) -> list[Sentence]:
        """The sentences without support, except those that give a link of the persona."""
        linked = writing.persona.links
        return [
            s for s in self.sentences if s.verdict in _DOUBTFUL_VERDICTS and not any(link in s.text for link in linked)
        ]


def _stream_events(
    pieces: Iterable[str], sources: Sequence[Source], *, streams: bool, holds_back: bool = True
) -> Generator[Token | Footnote, None, tuple[str, int]]:
    """Pass text on as it arrives; return (the whole text, the number of characters passed on).

    With `holds_back`, everything after the first brace or backtick waits, so that JSON is never shown.
    """
    markers, numbered = MarkerFilter(), {source.n: source for source in sources}
    text, shown = "", 0

    def events(parts: Iterable[str | int]) -> Iterator[Token | Footnote]:
        for part in parts:
            if isinstance(part, str):
                yield Token(part)
            elif part in numbered:
                yield Footnote(part, numbered[part])

    for piece in pieces:
        text += piece
        if not streams:
            continue
        stops = (place for place in map(piece.find, "{`" if holds_back else "") if place >= 0)
        free = min(stops, default=len(piece))
        yield from events(markers.feed(piece[:free]))
        shown += free
        streams = free == len(piece)
    yield from events(markers.close())
    return text, shown


def _parse_reply(written: str, model: str, *, is_cut: bool) -> ModelReply:
    """Parse a reply into its text and the sources that its JSON lists.

    Raises:
        ModelError: If it is JSON that cannot be read.
    """
    reply = parse_json_reply(written) if looks_like_json(written) else ModelReply(written)
    if reply is None:
        raise ModelError(
            f"{model} answered with JSON that cannot be read.",
            hint="Set FOOTNOTE_ANSWER__OUTPUT=prose, or choose another model.",
        )
    text = canonical(reply.text)
    return replace(reply, text=strip_unfinished_marker(text) if is_cut else text)


def _drafted(reply: ModelReply, task: WriterInput) -> _Draft:
    """The sentences of a reply with their verdicts, without refusals.

    A sentence that names no source cites the source that supports it, if one is found.
    """
    parts = cited_sentences(strip_sources_list(reply.text), [source.n for source in task.context.sources])
    written = _Draft(tuple(_verified_sentences(parts, reply, task)), tuple(parts))
    kept = written.keep(lambda sentence: not is_refusal(sentence.text, is_cited=bool(sentence.citations)))
    found = tuple(_with_found_source(sentence, task) for sentence in kept.sentences)
    added = sum(bool(now.citations) and not then.citations for now, then in zip(found, kept.sentences, strict=True))
    notes = (NO_MORE,) * (len(found) < len(written.sentences))
    notes += (_ADDED.format(counted=format_count(added, "sentence")),) * (added > 0)
    return replace(kept, sentences=found, notes=notes)


def _with_found_source(sentence: Sentence, task: WriterInput) -> Sentence:
    """The sentence with the source that supports it best, if it cites none and has at least three terms."""
    if sentence.citations or len(set(tokenise(sentence.text))) < _LEAST_TERMS:
        return sentence
    found = (check_source(sentence.text, source, task.judge) for source in task.context.sources)
    best = max((one for one in found if one.verdict == "supported"), key=lambda one: one.support, default=None)
    return verify(sentence.text, (best.n,), task.context.sources, task.judge) if best else sentence


def _verified_sentences(parts: Sequence[CitedText], reply: ModelReply, task: WriterInput) -> Iterator[Sentence]:
    """The sentences with their verdicts; if none has a marker, each cites the listed source that supports it best."""
    sources = task.context.sources
    listed = () if any(part.citations for part in parts) else listed_source_numbers(reply.sources, sources)
    for part in parts:
        found = verify(part.text, part.citations or listed, sources, task.judge)
        if not part.citations and listed:
            best = next((one.n for one in found.evidence if one.n in listed), listed[0])
            found = verify(part.text, (best,), sources, task.judge)
        yield found


def _repaired(draft: _Draft, task: WriterInput, llm: LLM, prompt: Messages, writing: WritingOptions) -> _Draft:
    """Ask the model once to repair the unsupported sentences; keep its reply if fewer of them remain."""
    from pipelines.models.llm import complete

    doubtful = draft.doubtful(writing)
    listed = "\n".join(f"- {sentence.verdict}: {sentence.text}" for sentence in doubtful)
    asked_again = [("assistant", draft.text), ("user", REPAIR.replace("{sentences}", listed))]
    note = (
        f"{_count_sentences(doubtful)} not supported by its source. The language model was asked once to repair the "
        "answer"
    )
    try:
        completion = complete(llm, [*prompt, *asked_again])
        text = "".join(strip_thoughts(completion))
        again = _drafted(_parse_reply(text, str(llm.metadata.model_name), is_cut=completion.truncated), task)
    except FootnoteError as error:
        log_failure("an answer was not repaired", error)
        return replace(draft, notes=(f"{note}, and failed: {error}",))
    if again.sentences and not completion.truncated and len(again.doubtful(writing)) < len(doubtful):
        return replace(again, notes=(f"{note}, and did.", *again.notes))
    return replace(draft, notes=(f"{note}, which made it no better.",))


def _without_doubtful(draft: _Draft, writing: WritingOptions) -> _Draft:
    doubtful = draft.doubtful(writing)
    if not doubtful:
        return draft
    note = f"{_count_sentences(doubtful)} left out, as no source supports it."
    return replace(draft.keep(lambda sentence: sentence not in doubtful), notes=(*draft.notes, note))


def _count_sentences(sentences: Sequence[Sentence]) -> str:
    verb = "was" if len(sentences) == 1 else "were"
    return f"{format_count(len(sentences), 'sentence')} of the language model's answer {verb}"
