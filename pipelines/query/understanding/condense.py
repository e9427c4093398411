"""A follow-up question is made whole by rules, from the questions before it and what their answers cited."""

import re
from collections.abc import Callable, Sequence

from pipelines.query.understanding.trim import terms_of, trim
from pipelines.types import Turn

Weight = Callable[[str], float]

_TOPIC_WORDS = 5  # measured on multi-turn questions: fewer lose the topic, more drown the question
_TITLE_WORDS = 6
_OWN_TERMS = 4  # a question with more terms of its own stands alone
_WORD = re.compile(r"\w(?:[\w'’.+#-]*\w)?[+#]*")
_NAME = re.compile(r"(?<=[\w,;:)'\"] )(?!I\b)[A-Z][\w'’.+#-]*\w[+#]*")
# "Is it true", "are there", "this year" point at nothing that was said.
_EMPTY = re.compile(
    r"\b(?:(?:is|was) it (?:possible|true|correct|likely|safe|legal|better|necessary)|(?:is|are|was|were) there"
    r"|there (?:is|are|was|were)|this (?:year|month|week))\b",
    re.IGNORECASE,
)
_THING = re.compile(
    r"\b(?:it|its|itself|they|them|their|theirs|this|these|those|ones?(?! of)|both|such|same|others?|another|else"
    r"|more(?! than)|there|latter|former)\b"
    r"|\bthat(?=\s*(?:[?.!,]|$|(?:one|time|period|year|case|is|was|mean)\b))"
    r"|^(?:and|but|so|also|or|what about|how about)\b",
    re.IGNORECASE,
)
_PERSON = re.compile(r"\b(?:he|him|his|she|her|hers)\b", re.IGNORECASE)


def condense(question: str, history: Sequence[Turn], weight: Weight) -> str:
    """The question followed by what it leaves unsaid; unchanged when it stands alone.

    What it leaves unsaid are the weightiest words of the last question that stood alone, and of those since. A
    question with matter of its own that points at a person is given the last names only; one that points at a thing,
    also the title of the first source cited.

    Args:
        question: Without its request phrases.
        history: The turns before it, oldest first, greetings left out.
        weight: How rare an index term is; the index's idf.
    """
    if not is_follow_up(question, history):
        return question
    earlier = _chain(history)
    at_thing = _points_at_thing(question)
    if not at_thing and _PERSON.search(question) and (len(terms_of(question)) > 1 or _NAME.search(question)):
        topic = [word for word in earlier if word in _names(history)]
    else:
        topic = _weightiest(earlier, weight)
    if at_thing and history[-1].sources:
        topic += [word for word in _WORD.findall(history[-1].sources[0]) if terms_of(word)][:_TITLE_WORDS]
    said = {word.casefold() for word in _WORD.findall(question)}
    return " ".join([question, *(word for word in dict.fromkeys(topic) if word.casefold() not in said)])


def is_follow_up(question: str, history: Sequence[Turn]) -> bool:
    """Whether a question leaves unsaid what it is about: it points back, or it is short and names nothing new."""
    if not history:
        return False
    if _points_at_thing(question) or _PERSON.search(question):
        return True
    own = set(terms_of(question))
    if len(own) > _OWN_TERMS:
        return False
    return not _NAME.search(question) or not own.isdisjoint(terms_of(_last_with_matter(history)))


def _points_at_thing(question: str) -> bool:
    return bool(_THING.search(_EMPTY.sub(" ", question)))


def _last_with_matter(history: Sequence[Turn]) -> str:
    told = (turn.question for turn in reversed(history) if len(terms_of(turn.question)) > 1)
    return next(told, history[-1].question)


def _chain(history: Sequence[Turn]) -> list[str]:
    """The words of the last question that stands alone and of the follow-ups since, oldest first."""
    words: list[str] = []
    for place in range(len(history) - 1, -1, -1):
        question = history[place].question
        words = [word for word in _WORD.findall(trim(question)) if terms_of(word)] + words
        if len(terms_of(question)) > 1 and not is_follow_up(question, history[:place]):
            break
    return words


def _names(history: Sequence[Turn]) -> set[str]:
    return {name for turn in history for name in _NAME.findall(turn.question)}


def _weightiest(words: Sequence[str], weight: Weight) -> list[str]:
    """The weightiest words, each once, in the order in which they were said."""
    distinct = list(dict.fromkeys(words))
    ranked = sorted(distinct, key=lambda word: -max(weight(term) for term in terms_of(word)))
    kept = set(ranked[:_TOPIC_WORDS])
    return [word for word in distinct if word in kept]
