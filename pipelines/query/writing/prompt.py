"""PROMPT: rules, conversation, context and question -> the messages of a chat model, within its window."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from config.prompts import MEANT, QUESTION, answer_system
from config.settings import PersonaSettings, Settings
from pipelines.errors import ModelError
from pipelines.models.prompt_tokens import margin
from pipelines.query.context.quoted import harmless
from pipelines.query.context.shown import SEPARATOR, shown
from pipelines.text import count_tokens
from pipelines.types import Context, QueryIntent, Source, Turn

Messages = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Manner:
    """How a language model is to write, and how much it may be told.

    Attributes:
        persona: Who speaks.
        output: What is asked for.
        unsupported: What becomes of sentences that no source bears out.
        room: cl100k tokens of the whole prompt; None = as many as there are.
    """

    persona: PersonaSettings
    output: Literal["prose", "json"] = "prose"
    unsupported: Literal["mark", "remove", "repair"] = "mark"
    room: float | None = None


def manner_of(settings: Settings, model: str) -> Manner:
    """How this language model is to write under these settings, with what its window leaves for the prompt."""
    options, limits = settings.answer, settings.llm
    room = (limits.context_window - limits.max_tokens) / margin(model, settings.context.token_margin)
    return Manner(settings.persona, "json" if options.output == "json" else "prose", options.unsupported, room)


def messages(intent: QueryIntent, context: Context, history: Sequence[Turn], manner: Manner) -> Messages:
    """(role, content) for a chat model: the rules; then the conversation and the sources, quoted, and the question."""
    key = context.delimiter
    told = "\n".join(f"User: {harmless(turn.question)}\nAnswer: {harmless(turn.answer)}" for turn in history)
    conversation = f"<<conversation {key}>>\n{told}\n<</conversation {key}>>\n\n" if told else ""
    meant = f"\n{MEANT}{harmless(intent.condensed)}" if intent.condensed_by == "model" else ""
    asked = f"{QUESTION}{harmless(intent.question)}{meant}"
    return [
        ("system", answer_system(manner.persona, manner.output)),
        ("user", f"{conversation}{context.text}\n\n{asked}"),
    ]


def fitted(
    intent: QueryIntent, context: Context, history: Sequence[Turn], manner: Manner
) -> tuple[Context, tuple[Turn, ...]]:
    """As much of the context and of the conversation as the model's window has room for.

    The oldest turns go first, then the last sources: those of the documents that were found last.

    Raises:
        ModelError: If the rules, the question and one source are too long already.
    """

    def fits(context: Context, turns: Sequence[Turn]) -> bool:
        said = messages(intent, context, turns, manner)
        return manner.room is None or sum(count_tokens(content) for _, content in said) <= manner.room

    for first in range(len(history) + 1):
        if fits(context, history[first:]):
            return context, tuple(history[first:])
    for kept in range(len(context.sources) - 1, 0, -1):
        if fits(shorter := _first(context, kept), ()):
            return shorter, ()
    raise ModelError(
        f"The rules, the question and one source do not fit into the {manner.room or 0:,.0f} tokens that the language "
        "model has for them.",
        hint="Raise FOOTNOTE_LLM__CONTEXT_WINDOW to what the model has, or lower FOOTNOTE_LLM__MAX_TOKENS.",
    )


def _first(context: Context, count: int) -> Context:
    """The context with its first sources only."""
    sources, key = context.sources[:count], context.delimiter
    above: tuple[Source | None, ...] = (None, *sources)
    left_out = [(node, "window") for source in context.sources[count:] for node in source.node_ids]
    return replace(
        context,
        sources=sources,
        text=SEPARATOR.join(shown(source, key, before) for source, before in zip(sources, above, strict=False)),
        dropped=(*context.dropped, *left_out),
        sentences=tuple(span for span in context.sentences if span[0] <= count),
    )
