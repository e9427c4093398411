"""LANGUAGE: the language of a text by its function words: German, French, Spanish, Italian, Portuguese or Dutch."""

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from types import MappingProxyType

from bm25s import stopwords

from pipelines.text import without_accents

_LISTED = {
    "de": stopwords.STOPWORDS_GERMAN,
    "fr": stopwords.STOPWORDS_FRENCH,
    "es": stopwords.STOPWORDS_SPANISH,
    "it": stopwords.STOPWORDS_ITALIAN,
    "pt": stopwords.STOPWORDS_PORTUGUESE,
    "nl": stopwords.STOPWORDS_DUTCH,
}
# What asks, which the lists of function words leave out in part.
_INTERROGATIVES = {
    "de": "wer wem wen wessen wo wohin woher wann warum wieso weshalb wie was welche welcher welches welchen wieviel",
    "fr": "qui que quoi où quand pourquoi comment combien quel quelle quels quelles",
    "es": "quién quiénes qué dónde adónde cuándo cómo cuál cuáles cuánto cuánta cuántos cuántas",
    "it": "chi che cosa dove quando perché come quale quali quanto quanta quanti quante",
    "pt": "quem quê que onde quando porquê qual quais quanto quanta quantos quantas",
    "nl": "wie wat waar wanneer waarom hoe welk welke hoeveel wiens",
}
# English words that are function words of another language only in its lists.
_HOMOGRAPHS = frozenset(
    "die hat war man also door men want over son on sin come due sue per sea era dos fut par pas sur ton".split()
)
_ENGLISH = frozenset((*stopwords.STOPWORDS_EN_PLUS, "many", "much", "us", "would", "could", "may", "must"))
_NO_OTHERS: Mapping[str, Collection[str]] = MappingProxyType({})


# The algorithms that stem a language.
SNOWBALL = {"de": "german", "fr": "french", "es": "spanish", "it": "italian", "pt": "portuguese", "nl": "dutch"}
_SIGNS = '.,;:!?()[]"“”„«»*_#'
_TEXT = 5  # function words of a text that tell its language


@cache
def function_words(language: str) -> frozenset[str]:
    """The function words of a language, in lower case, with its question words; each also without accents."""
    listed = (*_LISTED[language], *_INTERROGATIVES[language].split())
    return frozenset((*listed, *map(without_accents, listed)))


@cache
def _telling(language: str) -> frozenset[str]:
    return function_words(language) - _ENGLISH - _HOMOGRAPHS


def is_interrogative(word: str, language: str) -> bool:
    """True if a word in lower case asks in this language."""
    asking = _INTERROGATIVES[language]
    return word in (*asking.split(), *without_accents(asking).split())


def language_of(
    words: Iterable[str], others: Mapping[str, Collection[str]] = _NO_OTHERS
) -> tuple[str, tuple[str, ...]]:
    """(the language of words in lower case, or empty; its function words among them that are none in English).

    It has more of them than any other, and than English has of its own. `others` are further words of a language.
    """
    said = list(words)
    telling = {name: _telling(name) for name in _LISTED}
    for name, more in others.items():
        telling[name] |= set(more) - _ENGLISH - _HOMOGRAPHS
    found = {name: tuple(word for word in said if word in telling[name]) for name in _LISTED}
    language, own = max(found.items(), key=lambda item: len(item[1]))
    english = sum(word in _ENGLISH and word not in function_words(language) for word in said)
    return (language, own) if len(own) > english else ("", ())


def text_language(text: str) -> str:
    """The language of a passage; empty for English, for other languages and for a list of names."""
    language, own = language_of(word.strip(_SIGNS) for word in text.lower().split())
    return language if len(own) >= _TEXT else ""
