"""QUESTION LANGUAGE: the language of a question, its words in English, and those of an answer in its language."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache

from config.languages import LANGUAGES, language_words
from pipelines.language import function_words, is_interrogative, language_of
from pipelines.models.identity import LOCAL_MODEL
from pipelines.query.question.words import Text, read, words
from pipelines.store.tokens import foreign_stems, tokenise
from pipelines.text import fold

_LONGEST = 5  # words of a phrase
_WITHOUT_PRONOUNS = frozenset({"es", "it", "pt"})
_PARTICLES = frozenset("van von der den de la le du di da del della dos das do des ten ter".split())  # of names
_MOST_ELIDED = 2  # letters before an apostrophe: l'université, qu'elle


@lru_cache(maxsize=256)  # asked several times of each question
def question_language(question: str) -> tuple[str, tuple[str, ...]]:
    """(one of six languages, or empty; the question's function words that are none in English).

    A question is in one of them if it has more such words than English has of its own, and two of them or a question
    word among its first two. Between languages that share them, the words of questions about careers decide.
    """
    typed = [word.typed for word in read(question).words]
    said = [word.lower() for at, word in enumerate(typed) if not _is_of_name(typed, at)]
    language, own = language_of(said, {name: _asked_words(name) for name in LANGUAGES})
    begins = bool(language) and any(is_interrogative(word, language) for word in said[:2])
    return (language, own) if len(own) > 1 or begins else ("", ())


def _is_of_name(typed: Sequence[str], at: int) -> bool:
    """True for "van" and "der" of "van der Berg", which tell no language."""
    ahead = next((word for word in typed[at:] if word.lower() not in _PARTICLES), "")
    return typed[at].lower() in _PARTICLES and ahead[:1].isupper()


@cache
def _asked_words(language: str) -> frozenset[str]:
    said = ", ".join(language_words(language, "questions").values())
    return frozenset(said.replace(",", "").split()) - words("career") - words("speaking")


def other_language(question: str, model: str, document_frequency: Callable[[str], int]) -> str:
    """A sentence in the question's language that the documents are in another one, and the command that would help.

    Empty for another embedding model than the local one, which reads English, and if the corpus has half of the
    question's function words, as documents in its language do.
    """
    language, own = question_language(question) if model == LOCAL_MODEL else ("", ())
    unknown = [word for word in own if not any(map(document_frequency, tokenise(word)))]
    return language_words(language, "texts")["other_language"] if 2 * len(unknown) > len(own) else ""


def matter(question: str, language: str) -> list[str]:
    """The runs of words of a question that are no function words of its language, as they were typed."""
    text, runs = read(question), list[list[int]]()
    for at, word in enumerate(text.words):
        if word.typed.lower() in function_words(language) or not tokenise(word.typed):
            continue
        is_next = bool(runs) and runs[-1][1] == at and not text.words[at].before.strip()
        runs[-1:] = [[runs[-1][0], at + 1]] if is_next else [*runs[-1:], [at, at + 1]]
    return [text.slice(first, last) for first, last in runs]


def question_terms(question: str) -> list[str]:
    """The index terms of a question, without the function words of its language where that is not English."""
    language, _ = question_language(question)
    terms = [term for run in matter(question, language) for term in tokenise(run)] if language else []
    return terms or tokenise(question)


def question_stems(question: str) -> list[str]:
    """The stems of a question in its language, which nodes in that language have too; none for English."""
    language, _ = question_language(question)
    return foreign_stems(question, language) if language else []


def in_english(question: str, language: str) -> str:
    """The question with the words of questions about careers in English, word by word; function words are left out.

    Its order stays, and so do all other words: whoever reads it must understand each of them. Where a verb alone says
    that somebody is meant, "she" is said at the end.
    """
    listed = [(word, own) for own, said in language_words(language, "questions").items() for word in said.split(", ")]
    table = {fold(word): own for word, own in listed} | dict(listed)  # "trabajo" is a job, "trabajó" worked
    known = {*table, *map(fold, function_words(language))}
    parts = (part for word in read(question).words for part in _parts(word.whole, known))
    spare = {fold(word) for word in function_words(language)}
    said = _replaced(" ".join(parts), table, spare).split()
    is_unsaid = language in _WITHOUT_PRONOUNS and words("somebody").isdisjoint(said)
    return " ".join([*said, "she"] if is_unsaid else said)


def _parts(word: str, known: Collection[str]) -> list[str]:
    """A word, or its parts where all are known: `a-t-elle`; without an article that lost its vowel: `l'université`."""
    elided, apostrophe, rest = word.replace("’", "'").partition("'")
    if fold(word) not in known and apostrophe and len(elided) <= _MOST_ELIDED and rest:
        word = rest
    parts = [part for part in word.split("-") if part != "t"]
    return parts if all(fold(part) in known for part in parts) else [word]


def in_language(said: str, language: str, kept: Iterable[str]) -> str:
    """A sentence of a computed answer in a language, with a capital where it had one; what it quotes is kept."""
    quotes = sorted((quote for quote in set(kept) if quote and quote in said), key=len, reverse=True)
    if quotes:
        made = quotes[0].join(in_language(part, language, quotes[1:]) for part in said.split(quotes[0]))
    else:
        made = _replaced(said, language_words(language, "answers"))
    return f"{made[:1].upper()}{made[1:]}" if said[:1].isupper() else made


def _replaced(said: str, table: Mapping[str, str], spare: Collection[str] = ()) -> str:
    """The text with the longest phrases of the table replaced; words to spare are left out where they are in none."""
    text, at, made, after = read(said), 0, "", 0
    while at < len(text.words):
        ends = range(min(at + _LONGEST, len(text.words)), at, -1)
        last, other = next(((end, one) for end in ends if (one := _meaning(text, at, end, table))), (at + 1, ""))
        word, end = text.words[at], text.words[last - 1]
        made += said[after : word.start] + (other or ("" if word.text in spare else word.whole))
        at, after = last, end.start + len(end.whole)
    return made + said[after:]


def _meaning(text: Text, first: int, last: int, table: Mapping[str, str]) -> str:
    """What the table has for these words as they are written, else without their accents; empty for nothing."""
    phrase = " ".join(word.whole for word in text.words[first:last]).lower()
    return table.get(phrase) or table.get(fold(phrase), "")
