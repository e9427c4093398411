"""A follow-up question is made whole by rules, from the questions before it and what their answers cited."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from pipelines.query.understanding.ellipsis import OPENER, is_cut, put_into
from pipelines.query.understanding.naming import NAME
from pipelines.query.understanding.refer import PERSON, points_at_person, resolved
from pipelines.query.understanding.trim import terms_of, trim
from pipelines.types import Turn

Weight = Callable[[str], float]

_TOPIC_WORDS = 5  # measured on multi-turn questions: fewer lose the topic, more drown the question
_TITLE_WORDS = 6
_TURNS = 12  # that are read
_OWN_TERMS = 4  # a question with more terms of its own stands alone
_WORD = re.compile(r"\w(?:[\w'’.+#-]*\w)?[+#]*")
_GERMAN_WORDS = frozenset(
    """der die das den dem des ein eine einen einem einer und oder aber wer wen wem wann wo wohin woher warum wieso wie
    welche welcher welches hat haben hatte ist sind war waren wird wurde wurden kann er sie es ihr ihre sein seine mit
    von bei zu zum zur im am auf aus für nach vor seit gibt auch denn""".split()
)
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
    rf"|^(?:{OPENER}|what about|how about|was ist mit)\b",
    re.IGNORECASE,
)


def condense(question: str, history: Sequence[Turn], weight: Weight, *, typed: str = "") -> str:
    """The question as it stands alone: what it points at is named, and what it leaves unsaid follows it.

    A question that only swaps a part of the last one ("And when?", "What about Berlin?") is that one with the part in
    its place. In another, "she", "it", "there" and "before that" are put into words where it is clear what they mean.
    What is still unsaid are the weightiest words of the last question that stood alone, and of those since. A question
    with matter of its own that points at a person is given the last names only; one that points at a thing, also the
    title of the first source cited. A question that stands alone comes back as it was.

    Args:
        question: Without its request phrases.
        history: The turns before it, oldest first, greetings left out.
        weight: How rare an index term is; the index's idf.
        typed: The question with its request phrases ("and"), where it has any.
    """
    if not is_follow_up(question, history, typed=typed):
        return question
    chain = _chain(history)
    if whole := put_into(typed or question, chain[0]):
        return whole
    said = resolved(question, chain)
    at_thing = _points_at_thing(said)
    if not at_thing and _points_at_thing(question) and len(terms_of(said)) > 1:
        return said
    words = [word for turn in reversed(chain) for word in _WORD.findall(turn.question) if _tells(word)]
    if not at_thing and points_at_person(question) and (len(terms_of(question)) > 1 or NAME.search(question)):
        topic = [word for word in words if word in _names(chain)]
    elif not at_thing and points_at_person(said) and terms_of(question):
        topic = _weightiest([word for word in words if word not in _names(chain, after=True)], weight)
    else:
        topic = _weightiest(words, weight)
    if at_thing and history[-1].sources:
        topic += [word for word in _WORD.findall(history[-1].sources[0]) if _tells(word)][:_TITLE_WORDS]
    held = {word.casefold() for word in _WORD.findall(said)}
    unsaid = " ".join(word for word in dict.fromkeys(topic) if word.casefold() not in held)
    return f"{said} ({unsaid})" if unsaid else said


def is_follow_up(question: str, history: Sequence[Turn], *, typed: str = "") -> bool:
    """Whether a question leaves unsaid what it is about: it points back, or it is short and names nothing new."""
    if not history:
        return False
    if is_cut(typed or question) or _points_at_thing(question) or points_at_person(question):
        return True
    own = set(terms_of(question))
    if len(own) > _OWN_TERMS:
        return False
    return not NAME.search(question) or not own.isdisjoint(terms_of(_last_with_matter(history)))


def _tells(word: str) -> bool:
    return bool(terms_of(word)) and word.casefold() not in _GERMAN_WORDS


def _points_at_thing(question: str) -> bool:
    return bool(_THING.search(_EMPTY.sub(" ", question)))


def _last_with_matter(history: Sequence[Turn]) -> str:
    told = (turn.question for turn in reversed(history) if len(terms_of(turn.question)) > 1)
    return next(told, history[-1].question)


def _chain(history: Sequence[Turn]) -> list[Turn]:
    """The turns back to the last question that stands alone, the last one first, with what they point at named.

    A follow-up that swapped a part of the one before it stands alone by what it was read as.
    """
    chain: list[Turn] = []
    recent = history[-_TURNS:]
    for place, turn in enumerate(recent):
        text = trim(turn.question)
        follows = is_follow_up(text, recent[:place], typed=turn.question)
        whole = put_into(turn.question, chain[0]) if follows else ""
        said = whole or (resolved(text, chain) if follows else text)
        stands = bool(whole) or (not follows and len(terms_of(text)) > 1)
        chain = [replace(turn, question=said), *(() if stands else chain)]
    return chain


def _names(chain: Sequence[Turn], *, after: bool = False) -> set[str]:
    """The names in the questions, but for those after a "she", which are not who that is; or these alone."""
    parts = [PERSON.split(turn.question, maxsplit=1) for turn in chain]
    return {name for part in parts for text in (part[1:] if after else part[:1]) for name in NAME.findall(text)}


def _weightiest(words: Sequence[str], weight: Weight) -> list[str]:
    """The weightiest words, each once, in the order in which they were said."""
    distinct = list(dict.fromkeys(words))
    ranked = sorted(distinct, key=lambda word: -max(weight(term) for term in terms_of(word)))
    kept = set(ranked[:_TOPIC_WORDS])
    return [word for word in distinct if word in kept]
