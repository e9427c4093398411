"""Build the messages for a chat model from rules, conversation, context and question, within its window."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from config.prompts import MEANT, QUESTION, REMINDER_JSON, REMINDER_PROSE, answer_system
from config.settings import PersonaSettings, Settings
from pipelines.errors import ModelError
from pipelines.models.measured import measured
from pipelines.models.usage import token_margin
from pipelines.query.delimit import Context, escape_delimiters
from pipelines.text import count_tokens
from pipelines.types import QueryIntent, Turn

Messages = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class WritingOptions:
    """The form of a language model's answer.

    `unsupported` says what is done to sentences without support. Refusals of a model that is not trusted, and replies
    that are only supported in part, are no answer. `room` is the most cl100k tokens of the whole prompt, None without a
    limit; `seconds` the limit of the whole reply; with `keeps_prompts` the trace keeps both. `rules` are the system
    prompt, in place of the usual one.
    """

    persona: PersonaSettings
    output: Literal["prose", "json"] = "prose"
    unsupported: Literal["mark", "remove"] = "mark"
    is_trusted: bool = True
    room: float | None = None
    keeps_prompts: bool = False
    seconds: float = 60.0
    rules: str = ""


def writing_options(settings: Settings, model: str, window: int) -> WritingOptions:
    """The writing options of these settings, with the room that a window leaves for the prompt."""
    options, limits = settings.answer, settings.llm
    room = (window - limits.reply_tokens(window)) / token_margin(model)
    output: Literal["prose", "json"] = "json" if options.output == "json" else "prose"
    known = measured(model)
    return WritingOptions(
        persona=settings.persona,
        output=output,
        unsupported=known.unsupported if options.unsupported == "auto" else options.unsupported,
        is_trusted=known.is_trusted,
        room=room,
        keeps_prompts=limits.keep_prompts,
        seconds=limits.timeout_seconds,
    )


def build_messages(intent: QueryIntent, context: Context, history: Sequence[Turn], options: WritingOptions) -> Messages:
    """(role, content) for a chat model: the rules; then conversation, sources and question, and the rules of form."""
    key = context.delimiter
    turns = "\n".join(
        f"User: {escape_delimiters(turn.question)}\nAnswer: {escape_delimiters(turn.answer)}" for turn in history
    )
    conversation = f"<<conversation {key}>>\n{turns}\n<</conversation {key}>>\n\n" if turns else ""
    meant = f"\n{MEANT}{escape_delimiters(intent.condensed)}" if intent.condensed_by == "model" else ""
    reminder = REMINDER_JSON if options.output == "json" else REMINDER_PROSE
    asked = f"{QUESTION}{escape_delimiters(intent.question)}{meant}\n\n{reminder}"
    return [
        ("system", options.rules or answer_system(options.persona, options.output)),
        ("user", f"{conversation}{context.text}\n\n{asked}"),
    ]


def fit_to_window(
    intent: QueryIntent, context: Context, history: Sequence[Turn], options: WritingOptions
) -> tuple[Context, tuple[Turn, ...]]:
    """Cut context and conversation to the model's window.

    The oldest turns are dropped first, then the last sources.

    Raises:
        ModelError: If the rules, the question and one source are too long already.
    """

    def fits(context: Context, turns: Sequence[Turn]) -> bool:
        prompt = build_messages(intent, context, turns, options)
        return options.room is None or sum(count_tokens(content) for _, content in prompt) <= options.room

    for first in range(len(history) + 1):
        if fits(context, history[first:]):
            return context, tuple(history[first:])
    for kept in range(len(context.sources) - 1, 0, -1):
        if fits(shorter := first_sources(context, kept), ()):
            return shorter, ()
    raise ModelError(
        f"The rules, the question and one source do not fit into the {options.room or 0:,.0f} tokens that the language "
        "model has for them.",
        hint="Raise FOOTNOTE_LLM__CONTEXT_WINDOW to what the model has, or lower FOOTNOTE_LLM__MAX_TOKENS.",
    )


def first_sources(context: Context, count: int) -> Context:
    """The context with its first sources only; the nodes of the others are dropped for the window."""
    sources = context.sources[:count]
    left_out = [(node, "window") for source in context.sources[count:] for node in source.node_ids]
    return replace(
        context,
        sources=sources,
        dropped=(*context.dropped, *left_out),
    )
