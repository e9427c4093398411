"""STRANGERS: people whom a question names and whose career no document states; nobody else's is told as theirs."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence

from pipelines.query.careers.jobs import own_words
from pipelines.query.careers.timeline import name_words
from pipelines.query.conflicts.career_conflicts import CAREERS
from pipelines.query.understanding.naming import OWNER, Name, names_in
from pipelines.text import fold
from pipelines.types import QueryIntent, Source

_WORD = re.compile(r"[^\W_]+")
_WHO_IS = re.compile(r"\b(?:who|wer) (?:is|was|are|were|ist|war) $", re.IGNORECASE)
_BEING = re.compile(r"\b(?:is|was) $", re.IGNORECASE)
_SOMEBODY = re.compile(r" (?:an? |the |(?:currently |still |ever )?(?:working|employed|hired|promoted|married|born)\b)")
# What things do, and people seldom are asked about.
_OF_THINGS = re.compile(
    r" (?:work\W*$|(?:abstain|answer|compare|contain|cost|differ|fail|find|handle|look|mean|measure|need|perform|rank"
    r"|read|return|run|search|store|support|use|weigh)\b)"
)
_BEFORE = 24  # characters before a name
_OWN_STORY = "journey"  # a category whose "I" is the one whose career it is
_I = re.compile(r"\b(?:I|my|me|mine|myself)\b")
_THEY = re.compile(r"\b(?:he|him|his|she|her|hers|they|them|their)\b", re.IGNORECASE)
_NEAR = 200  # characters before a sentence with "she" in which she is named


def may_name_somebody(intent: QueryIntent) -> bool:
    """Whether a question has a name that could be somebody's; it spares the others the reading of who is known."""
    return bool(_typed(intent.search_text))


def strangers(intent: QueryIntent, stated: Sequence[tuple[str, str]], organisations: Iterable[str]) -> frozenset[str]:
    """The folded words of the names of such people; none where the question names somebody whose career is stated.

    A name is somebody's where it does or owns something or it is asked who that is, and nothing else is known by it.

    Args:
        intent: What is asked.
        stated: (name, document id) of each document that says whose it is.
        organisations: What companies, schools and projects are called.
    """
    text = intent.search_text
    people = [name_words(name) for name, _ in stated]
    asked = set(_WORD.findall(fold(text)))
    if not people or any(not asked.isdisjoint(words) for words in people):
        return frozenset()
    things = [frozenset(own_words(name)) for name in (*intent.names, *organisations)]
    unknown = [words for words in _typed(text) if not any(words <= thing for thing in things)]
    return frozenset[str]().union(*unknown)


def tells_of_others(names: Collection[str], documents: Collection[str]) -> Callable[[Source, int, int], bool]:
    """Whether a span of a source tells of somebody else than those of these names.

    What a resume or profile states does, and what a journey says of "I", unless it names them, or says "she" right
    after a sentence that does.

    Args:
        names: Folded words of their names.
        documents: The ids of the documents that say whose they are.
    """

    def of_others(source: Source, start: int, end: int) -> bool:
        said = source.snippet[start:end]
        before = source.snippet[max(start - _NEAR, 0) : start].rpartition("\n\n")[2]
        if _names(said, names) or (_THEY.search(said) and _names(before, names)):
            return False
        stated = source.category in CAREERS and source.document_id in documents
        return stated or (source.category == _OWN_STORY and bool(_I.search(said)))

    return of_others


def _names(text: str, names: Collection[str]) -> bool:
    return not set(_WORD.findall(fold(text))).isdisjoint(names)


def _typed(text: str) -> list[frozenset[str]]:
    """The words of each name in a text that could be somebody's."""
    words = (name_words(name.text) for name in names_in(text) if _is_somebody(text, name))
    return [own for own in words if own]


def _is_somebody(text: str, name: Name) -> bool:
    before, after = text[max(name.start - _BEFORE, 0) : name.start], text[name.end :]
    if name.placed or name.article:
        return False
    is_described = bool(_BEING.search(before) and _SOMEBODY.match(after))
    acts = name.acts and not (_OF_THINGS.match(after) and not text.lower().startswith(("where", "who", "when")))
    return acts or is_described or bool(_WHO_IS.search(before) or OWNER.match(after))
