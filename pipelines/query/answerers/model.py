"""MODEL: answer by a language model, falling back to quotation or abstention."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import cache, partial

from llama_index.core.llms import LLM

from config.settings import Settings
from pipelines.answers import Answer
from pipelines.errors import FootnoteError, PromptTooLong
from pipelines.models.measured import measured
from pipelines.observe import log, log_failure
from pipelines.query.answer import AnswerEvent, AnswerEvents, Draft, WriterInput
from pipelines.query.answerers.quotation import extract_from, nearest_words, write_without_model, writer_input
from pipelines.query.context import Retrieved, build_context
from pipelines.query.delimit import Context
from pipelines.query.escalate import find
from pipelines.query.model_writer import ModelDraft, read_from, write_by_model
from pipelines.query.prompt import WritingOptions, build_messages, first_sources, fit_to_window, writing_options
from pipelines.query.question.followup import recent_turns
from pipelines.query.search import Search
from pipelines.query.trace import Ledger
from pipelines.types import ModelReading, Turn

_FEWEST_SOURCES = 2  # of which a prompt that was too long is made shorter
MODEL_PASSAGES = 8  # that a language model is shown, within its window and the budget
_REFUSED = "The language model found no answer in the passages; it was measured to overlook many."
_NOT_ASKED = "The language model was not asked: nothing answers word for word, and it was measured to invent then."
_NOT_SUPPORTED = "No source supports the language model's answer, so it was left out."


def passage_count(settings: Settings, llm: LLM | None) -> int:
    """Number of passages for an answer, within the token budget; a quotation is picked from more."""
    return max(settings.retrieval.top_n, MODEL_PASSAGES if llm else settings.answer.passages)


def try_answer(search: Search, retrieve: Callable[[], Retrieved]) -> Draft | None:
    """The answer of the language model, or of quotation in its place; None without a model, or if nothing was found."""
    if search.llm is None:
        search.ledger.declined("model", "no language model is set")
        return None
    retrieved = retrieve()
    if not retrieved.context.sources:
        search.ledger.declined("model", "no passage was found")
        return None
    return Draft(partial(write, retrieved, search), retrieved)


def write(retrieved: Retrieved, search: Search) -> AnswerEvents:
    """Answer by the language model; if there is none, it fails, or no source supports its reply, by quotation.

    The model is asked whenever there are passages, and may refuse. Of one that was measured to err too often in that,
    quotation decides whether to answer, and the model in which words. Its failure is noted and is the Answer's
    `fallback_reason`. Where the request wants previews, the quotation is yielded as a Preview while a slow model reads.
    """
    failure, previews = "", search.request.previews
    task = writer_input(retrieved, search)
    if search.llm is not None and task.context.sources:
        quotation = cache(partial(_quotation, retrieved, search))
        is_trusted = measured(search.llm_name).is_trusted
        try:
            if is_trusted or quotation() is not None:
                draft = yield from _write_within_window(task, search, search.llm, quotation if previews else None)
                if draft.answer and (draft.answer.answered or is_trusted):
                    if draft.answer.answered:
                        return draft.answer
                    extraction = extract_from(retrieved, search, retrieved.found.evidence.strength)
                    return replace(draft.answer, nearest=nearest_words(extraction))
                failure = draft.failure
                search.ledger.note(failure or (_REFUSED if draft.answer else _NOT_SUPPORTED))
            else:
                search.ledger.note(_NOT_ASKED)
        except FootnoteError as error:
            log("info", "the language model failed, sentences are quoted", reason=str(error))  # the answer says so
            failure = str(error)
            search.ledger.note(failure)
        retrieved = _widened(retrieved, replace(search, llm=None))
    return (yield from write_without_model(retrieved, search, failure))


def _quotation(retrieved: Retrieved, search: Search) -> Answer | None:
    """The answer without the language model; None if there is none. The search's own ledger stays as it is."""
    aside = replace(search, ledger=Ledger(), llm=None)
    events = write_without_model(_widened(retrieved, aside), aside, "")
    try:
        while True:
            next(events)
    except StopIteration as done:
        answer: Answer = done.value
        return answer if answer.answered else None
    except FootnoteError as error:
        log_failure("no quotation is shown while the language model reads", error)
        return None


def _write_within_window(
    task: WriterInput, search: Search, llm: LLM, preview: Callable[[], Answer | None] | None
) -> Generator[AnswerEvent, None, ModelDraft]:
    """Answer by the language model from as many sources as fit into its window; raises as `write_by_model` does.

    A request that its server finds too long is sent again with half of the sources.
    """
    from pipelines.models.llm import limited, window_of  # its libraries take a second to import

    ledger, window = search.ledger, window_of(llm, search.settings.llm)
    options = replace(writing_options(search.settings, search.llm_name, window), rules=search.prompts.answer)
    llm = limited(llm, search.settings.llm.reply_tokens(window))
    turns = recent_turns(search.request.history, tokens=search.settings.answer.history_tokens)
    dropped_before = task.context.dropped
    while True:
        context, kept_turns = fit_to_window(task.intent, task.context, turns, options)
        try:
            draft = yield from write_by_model(replace(task, context=context), llm, kept_turns, options, preview)
            break
        except PromptTooLong as error:
            ledger.readings.append(_failed(task, context, kept_turns, search.llm_name, options))
            if len(context.sources) < _FEWEST_SOURCES:
                raise
            log_failure("the prompt did not fit, trying again with fewer sources", error)
            preview = None  # it has been shown, or the server answers fast
            task = replace(task, context=first_sources(context, len(context.sources) // 2))
        except FootnoteError:
            ledger.readings.append(_failed(task, context, kept_turns, search.llm_name, options))
            raise
    for node_id, why in context.dropped[len(dropped_before) :]:
        ledger.cut(node_id, why)
    ledger.readings.append(draft.reading)
    for note in draft.answer.notes if draft.answer else ():
        ledger.note(note)
    return draft


def _failed(
    task: WriterInput, context: Context, turns: Sequence[Turn], model: str, options: WritingOptions
) -> ModelReading:
    """The record of a request that failed, with its prompt where the settings keep it."""
    reading = read_from(model, context, outcome="failed")
    prompt = tuple(build_messages(task.intent, context, turns, options)) if options.keeps_prompts else ()
    return replace(reading, prompt=prompt)


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
