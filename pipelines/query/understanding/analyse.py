"""ANALYSE: question -> QueryIntent."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date

from pipelines.errors import RetrievalError
from pipelines.query.understanding.condense import Weight, condense, is_follow_up
from pipelines.query.understanding.trim import terms_of, trim
from pipelines.query.understanding.words import categories_of, is_greeting, sections_of, wants_of
from pipelines.query.understanding.years import asks_for_recent, years_in
from pipelines.text import canonical, fold, sentences
from pipelines.types import CondensedBy, QueryIntent, Turn

_QUOTED = re.compile(r"""(?<!\w)"(?=\S)([^"]*[^"\s])"(?!\w)|[“„‟](?=\S)([^“”„‟]*\S)[”“]|«\s*([^«»]*[^«»\s])\s*»""")
_MAX_PHRASES = 5
_MAX_PHRASE = 200
_REQUEST_WORDS = 15  # with a second sentence, more are a long request
_LONG_SENTENCE = 30

Named = Callable[[str], Sequence[tuple[str, Sequence[str]]]]
Reword = Callable[[str, Sequence[Turn]], str]


def analyse(
    question: str,
    *,
    history: Sequence[Turn] = (),
    today: date | None = None,
    named: Named = lambda _: (),
    weight: Weight = lambda _: 1.0,
    reword: Reword = lambda _question, _history: "",
    trims: bool = True,
    phrases: bool = True,
    categories: bool = True,
    years: bool = True,
    limit: int = 2000,
) -> QueryIntent:
    """What is asked: the text to search for, what it is about, and the words that guess where it is answered.

    Args:
        question: As it was typed.
        history: The turns before it, oldest first; a follow-up is made whole from them.
        today: What "last year" is counted from; None = today.
        named: The (name, document ids) of stored documents that stand in a text.
        weight: How rare an index term is; it chooses what a follow-up takes over.
        reword: A follow-up as a question that stands alone, when a language model says it; else empty, and rules do.
        trims, phrases, categories, years: Whether request phrases are taken out, words in quotation marks bind,
            and categories and years are read at all.
        limit: Characters of a question.

    Raises:
        RetrievalError: If the question is empty or longer than `limit` characters.
    """
    cleaned = _checked(question, limit)
    if is_greeting(cleaned):
        return QueryIntent(question=cleaned, search_text=cleaned, greeting=True)
    quoted = _phrases(cleaned) if phrases else ()
    bare = _QUOTED.sub(lambda match: next(text for text in match.groups() if text is not None), cleaned)
    asked = trim(bare) if trims else bare
    turns = [_shortened(turn, limit) for turn in history if not is_greeting(turn.question)]
    condensed, by = _condensed(asked, cleaned, turns, weight, reword)
    whole = trim(condensed) if trims and by == "model" else condensed
    search_text = whole[:limit]
    found = named(search_text)
    now = today or date.today()
    return QueryIntent(
        question=cleaned,
        search_text=search_text,
        terms=tuple(dict.fromkeys(terms_of(search_text))),
        categories=categories_of(search_text) if categories else (),
        sections=sections_of(search_text),
        years=(years_in(asked, now) or years_in(search_text, now)) if years else (),
        recent=asks_for_recent(asked),
        phrases=quoted,
        documents=tuple(dict.fromkeys(document for _, ids in found for document in ids)),
        names=tuple(dict.fromkeys(name for name, _ in found)),
        wants=wants_of(search_text),
        follow_up=bool(by),
        condensed=condensed[:limit] if by else "",
        condensed_by=by,
    )


def _condensed(
    asked: str, question: str, turns: Sequence[Turn], weight: Weight, reword: Reword
) -> tuple[str, CondensedBy]:
    """(the question as it stands alone, who made it so)."""
    if not is_follow_up(asked, turns, typed=question):
        return asked, ""
    if said := reword(question, turns):
        return said, "model"
    whole = condense(asked, turns, weight, typed=question)
    return whole, "rules" if whole != asked else ""


def _shortened(turn: Turn, limit: int) -> Turn:
    """The turn with texts no longer than a question may be: a conversation is not checked as a question is."""
    return replace(turn, question=turn.question[:limit], sources=tuple(title[:limit] for title in turn.sources[:1]))


def _checked(question: str, limit: int) -> str:
    """The question on one line."""
    if len(question) > limit:
        raise RetrievalError(
            f"The question has {len(question):,} characters, and {limit:,} is the limit.", hint="Ask it more briefly."
        )
    cleaned = " ".join(canonical(question).split())
    if not cleaned:
        raise RetrievalError("The question is empty.", hint="Write what you would like to know.")
    return cleaned


def _phrases(question: str) -> tuple[str, ...]:
    """What stands in quotation marks, without the marks of a sentence's end.

    Nothing of a question that is quoted whole, nor of a long request: there quotations are examples.
    """
    words = len(question.split())
    if words > _LONG_SENTENCE or (words > _REQUEST_WORDS and len(list(sentences(question))) > 1):
        return ()
    texts = [next(text for text in groups if text) for groups in _QUOTED.findall(question)]
    if texts and texts[0].endswith("?") and len(texts[0]) + 2 >= len(question):
        return ()
    stripped = [text.strip(" .,;:!?") for text in texts]
    held = [text for text in dict.fromkeys(stripped) if len(text) <= _MAX_PHRASE and fold(text).strip("'\"-")]
    return tuple(held[:_MAX_PHRASES])
