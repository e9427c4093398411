"""WHOSE: the resumes and profiles of other people than those that a question names; nothing of them is quoted."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from pipelines.query.careers.timeline import is_same_name, name_words
from pipelines.store.names import NameIndex
from pipelines.store.tokens import STOP_WORDS
from pipelines.text import fold
from pipelines.types import Context, QueryIntent

_WORD = re.compile(r"[^\W_]+")


def of_others(intent: QueryIntent, stated: Sequence[tuple[str, str]]) -> frozenset[str]:
    """The ids of the documents about somebody else than the people whom the question names; none where it names nobody.

    A part of a name will do. One ordinary word counts only with a capital inside a sentence, or in a question that has
    no capitals at all; none counts inside the name of something else that is known (`Parker Hannifin`).

    Args:
        intent: What is asked.
        stated: (name, document id) of each document that says whose it is.
    """
    text = intent.search_text
    words = set(_WORD.findall(fold(text)))
    near = [(name, document) for name, document in stated if not words.isdisjoint(name_words(name))]
    found = NameIndex(_forms(intent, near)).find(text.title() if text == text.lower() else text) if near else ()
    meant = [name_words(name) for name, document in stated if any(document in held for _, held in found)]
    if not meant:
        return frozenset()
    others = (document for name, document in stated if not any(is_same_name(name_words(name), own) for own in meant))
    return frozenset(others)


def without(context: Context, documents: Collection[str]) -> Context:
    """The context without the sources of these documents; the others keep their numbers."""
    return replace(context, sources=tuple(source for source in context.sources if source.document_id not in documents))


def _forms(intent: QueryIntent, stated: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """(name, document id): each person's name and the words of it, and with no document what else is known by name."""
    people = [name_words(name) for name, _ in stated]
    for name in intent.names:
        own = name_words(name)
        if not any(own <= person or person <= own for person in people):
            yield name, ""
    for name, document in stated:
        yield name, document
        yield from ((word, document) for word in name_words(name) - STOP_WORDS)
