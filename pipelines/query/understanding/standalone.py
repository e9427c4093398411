"""STAND ALONE: a language model makes a follow-up whole; its reply is checked, and read as a question, never obeyed."""

import re
from collections.abc import Sequence

from llama_index.core.llms import LLM

from config.prompts import CONDENSE
from pipelines.models.consult import consult
from pipelines.query.context.quoted import fresh_key, harmless
from pipelines.query.searching.rewrites import MAX_REPLY, MAX_SEARCH, searches
from pipelines.query.understanding.trim import terms_of
from pipelines.text import fold
from pipelines.types import Turn

_HINT = "Raise FOOTNOTE_ANSWER__CONDENSE_SECONDS, or set FOOTNOTE_ANSWER__CONDENSE=rules."
_NAME = re.compile(r"(?<=[\w,;:)'\"] )(?!I\b)[A-Z][\w'’.+#-]*\w|\d[\d.,]*")
_KEPT = 0.5  # of the follow-up's own terms


def stand_alone(question: str, history: Sequence[Turn], llm: LLM, *, seconds: float) -> str:
    """The follow-up as a question that is understood alone; empty when the model's reply is none.

    Args:
        question: The follow-up.
        history: The turns before it, oldest first, within their budget.
        llm: Asked once.
        seconds: It is given up after so many.

    Raises:
        ModelError, ServiceUnavailable: If the model fails or takes too long.
    """
    told = [text for turn in history for text in (turn.question, turn.answer)]
    key = fresh_key([*told, question])
    said = "\n".join(f"User: {harmless(turn.question)}\nAnswer: {harmless(turn.answer)}" for turn in history)
    quoted = f"<<conversation {key}>>\n{said}\n<</conversation {key}>>\n\nFollow-up: {question}"
    reply = consult(llm, [("system", CONDENSE), ("user", quoted)], seconds=seconds, limit=MAX_REPLY, hint=_HINT)
    return checked(reply, question, history)


def checked(reply: str, question: str, history: Sequence[Turn]) -> str:
    """The one question of a reply, if it says what the follow-up says and takes the rest from the conversation.

    Empty when there is none or are several, when it is no question, names somebody, something or a number that was
    not spoken of, takes nothing from the conversation, or loses half of the follow-up's own terms.
    """
    found = searches(reply, question, 2)
    if len(found) != 1 or not found[0].endswith("?") or len(found[0]) >= MAX_SEARCH:
        return ""
    text = found[0]
    told = fold(" ".join((question, *(t for turn in history for t in (turn.question, turn.answer, *turn.sources)))))
    if any(fold(name.strip(".,'’")) not in told for name in _NAME.findall(text)):
        return ""
    own, terms = set(terms_of(question)), set(terms_of(text))
    taken = (terms - own) & set(terms_of(told))
    return text if taken and len(own & terms) >= _KEPT * len(own) else ""
