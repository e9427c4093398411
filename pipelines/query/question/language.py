"""QUESTION LANGUAGE: whether a question is in a language that neither the documents nor the local model speak."""

from collections.abc import Callable
from functools import cache

from bm25s import stopwords

from config.prompts import OTHER_LANGUAGE
from pipelines.models.identity import LOCAL_MODEL
from pipelines.query.question.words import read
from pipelines.store.tokens import tokenise

# What asks, which the lists of function words leave out in part.
_INTERROGATIVES = {
    "de": "wer wem wen wessen wo wohin woher wann warum wieso weshalb wie was welche welcher welches welchen wieviel",
    "fr": "qui que quoi où quand pourquoi comment combien quel quelle quels quelles",
    "es": "quién quiénes qué dónde adónde cuándo cómo cuál cuáles cuánto cuánta cuántos cuántas",
}

_ENGLISH = frozenset(stopwords.STOPWORDS_EN_PLUS)


@cache
def _function_words() -> dict[str, frozenset[str]]:
    """The function words of each language."""
    listed = {"de": stopwords.STOPWORDS_GERMAN, "fr": stopwords.STOPWORDS_FRENCH, "es": stopwords.STOPWORDS_SPANISH}
    return {name: frozenset((*words, *_INTERROGATIVES[name].split())) for name, words in listed.items()}


def question_language(question: str) -> tuple[str, tuple[str, ...]]:
    """(`de`, `fr`, `es` or empty, the question's function words that are none in English).

    A question is in one of them if it has more such words than English has of its own, and two of them or a question
    word at its beginning.
    """
    words = [word.typed.lower() for word in read(question).words]
    told = {name: tuple(word for word in words if word in own - _ENGLISH) for name, own in _function_words().items()}
    name, own = max(told.items(), key=lambda item: len(item[1]))
    english = sum(word in _ENGLISH - _function_words()[name] for word in words)
    begins = any(word in _INTERROGATIVES[name].split() for word in words[:1])
    return (name, own) if own and len(own) > english and (len(own) > 1 or begins) else ("", ())


def other_language(question: str, model: str, document_frequency: Callable[[str], int]) -> str:
    """A sentence in the question's language that the documents are in another one, and the setting that would help.

    Empty for another embedding model than the local one, which reads English, and if the corpus has half of the
    question's function words, as documents in its language do.
    """
    language, words = question_language(question) if model == LOCAL_MODEL else ("", ())
    unknown = [word for word in words if not any(map(document_frequency, tokenise(word)))]
    return OTHER_LANGUAGE[language] if 2 * len(unknown) > len(words) else ""
