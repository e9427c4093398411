"""Proper names in a question, with the words before each; which of them could be a person's."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pipelines.query.question.words import Text, read, words
from pipelines.store.known_names import NameIndex, name_words
from pipelines.types import QueryIntent

_AFTER = tuple(f"{mark} " for mark in ("", *",;:)'\"”’"))  # what may stand between a word and a name


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a text, without a possessive ending: its words, its span, and the preposition or article before it.

    It `acts` if "did" or the like stands before it, and `owns` if it has a possessive ending.
    """

    text: str
    start: int
    end: int
    placed: str = ""
    article: bool = False
    acts: bool = False
    owns: bool = False


def is_capital(text: Text, at: int) -> bool:
    """True if a word has a capital that only a name has there; of the first word that is not known."""
    word = text.words[at]
    is_name = word.typed[:1].isupper() and sum(map(str.isalnum, word.typed)) > 1
    return at > 0 and is_name and word.before in _AFTER


def capitals(text: str) -> bool:
    """True if a text holds a name after its first word."""
    asked = read(text)
    return any(is_capital(asked, at) for at in range(len(asked.words)))


def names_in(text: str) -> list[Name]:
    """The names in a text, in its order; those that stand side by side are one.

    The first word counts where it owns something, or a name follows.
    """
    asked = read(text)
    spans = [(word.start, word.end) for at, word in enumerate(asked.words) if is_capital(asked, at)]
    first = asked.words[0] if asked.words else None
    if first and first.typed[:1].isupper() and sum(map(str.isalnum, first.typed)) > 1:
        follows = bool(spans) and spans[0][0] == first.end + 1
        if first.text not in words("opening") and (first.owns or follows):
            spans.insert(0, (first.start, first.end))
    runs: list[tuple[int, int]] = []
    for start, end in spans:
        between = text[runs[-1][1] : start] if runs else ""
        joins = between[:1] == between[-1:] == " " and set(between.split()) <= words("between-names") | {"&"}
        if joins and (between == " " or not text[slice(*runs[-1])].isupper()):  # not in "CEO of Acme"
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return [_name(asked, start, end) for start, end in runs]


def _name(asked: Text, start: int, end: int) -> Name:
    at = next((place for place, word in enumerate(asked.words) if word.start >= start), len(asked.words))
    before = [asked.all[place] for place in (at - 1, at - 2) if place >= 0]
    is_next = at > 0 and at < len(asked.words) and asked.words[at].before == " "
    led = before if is_next else []
    the = bool(led) and led[0] == "the"
    preposition = next(iter(led[1:] if the else led), "")
    placed = asked.words[at - 1 - the].typed if preposition in words("placed") else ""
    acts = bool(led) and led[0] in words("doing")
    owns = asked.text[end : end + 2] in ("'s", "’s")
    return Name(asked.text[start:end], start, end, placed, bool(led) and led[0] in words("articles"), acts, owns)


def person_names(intent: QueryIntent) -> list[frozenset[str]]:
    """The folded words of each name in a question that could be a person's: it acts, owns something, or the question
    asks who it is."""
    text = intent.search_text
    own = (name_words(name.text) for name in names_in(text) if is_person_name(read(text), name))
    return [found for found in own if found]


def is_person_name(text: Text, name: Name) -> bool:
    """True if a name acts, owns something, or is asked or told who it is."""
    if name.placed or name.article:
        return False
    before = [word.text for word in text.words if word.end <= name.start][-2:]
    after = [word.text for word in text.words if word.start >= name.end]
    is_asked = before[-1:] != [] and before[-1] in words("being") and before[0] == "who"
    is_described = before[-1:] in (["is"], ["was"]) and not words("somebody-s").isdisjoint(after[:1])
    of_thing = bool(after) and (after[0] in words("by-things") or after == ["work"])
    acts = name.acts and not (of_thing and text.all[0] not in words("asks-of-people"))
    return acts or is_described or is_asked or name.owns


def names_one_of(intent: QueryIntent, name: Collection[str]) -> bool:
    """True if a question holds one of these folded words of a name."""
    return any(not set(word.parts).isdisjoint(name) for word in read(intent.search_text).words)


def known_names_in(intent: QueryIntent, known: NameIndex) -> list[tuple[str, Sequence[str]]]:
    """The known names that a question holds; one that is typed without capitals is read as if each word had one."""
    text = intent.search_text
    return known.find(text.title() if text == text.lower() else text)
