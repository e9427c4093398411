"""Whom a question means: the person that it names, or the word for somebody whom it leaves unnamed."""

from collections.abc import Sequence

from pipelines.query.question.names import names_in
from pipelines.query.question.words import Phrase, Text, read, words
from pipelines.store.known_names import is_own_word, is_same_name, name_words
from pipelines.store.tokens import index_terms
from pipelines.types import QueryIntent

_SHORT = 3  # letters of an ordinary word


def person_meant(question: str, people: Sequence[str]) -> str:
    """The person whom a question is about: the one it names, else the only one there is; empty if that is not clear."""
    said = {part for word in read(question).words for part in word.parts}
    named = [name for name in people if not said.isdisjoint(name_words(name))]
    own = [name_words(name) for name in people]
    distinct = [name for at, name in enumerate(people) if not any(is_same_name(own[at], one) for one in own[:at])]
    return named[0] if len(named) == 1 else distinct[0] if len(distinct) == 1 else ""


def unnamed_person(intent: QueryIntent, people: Sequence[str]) -> str:
    """The first "she" or "his" of a question that names nobody whom it may mean; empty without one.

    Not one after a word that opens a clause of its own ("the manager said when she left"), nor one after a name: that
    may be hers. The names that a follow-up takes from its conversation count.
    """
    text = read(intent.wording)
    at = next((at for at, word in enumerate(text.all) if word in words("they")), None)
    said = {part for word in text.words for part in word.parts}
    if at is None or any(not said.isdisjoint(name_words(name)) for name in people):
        return ""
    before = text.words[1:at]
    led = any(word.text in words("clause-openers") or word.typed[:1].isupper() for word in before)
    return "" if led or intent.names else text.all[at]


def points_at_person(question: str) -> bool:
    """True if a question speaks of somebody whom it does not name."""
    text = read(question)
    at, _ = _one(text)
    return at >= 0 and not named_before(text, at)


def named_before(text: Text, at: int) -> bool:
    """True if the clauses before that of a word hold a name: "Did Ann say where she works?" says who she is."""
    opener = next((place for place in range(at - 1, 0, -1) if text.all[place] in words("clause-openers")), 0)
    before = text.text[: text.words[opener].start] if opener else ""
    return any(not name.placed for name in names_in(before)) or any(
        is_own_word(word.typed) and len(word.text) > _SHORT for word in read(before).words
    )


def with_person(question: str, who: str) -> str:
    """The question with a name for its first "she" or "her"."""
    text = read(question)
    at, owns = _one(text)
    return text.with_words(Phrase(at, at + 1), f"{who}’s" if owns else who) if at >= 0 else question


def _one(text: Text) -> tuple[int, bool]:
    """(the place of the first word for somebody, True if it says whose); (-1, False) without one."""
    at = next((at for at, word in enumerate(text.all) if word in words("they")), -1)
    if at < 0 or text.all[at] != "her":
        return at, at >= 0 and text.all[at] in ("hers", "his")
    return at, text.after(at) == " " and text.all[at + 1] not in words("after-her")


def role_asked(intent: QueryIntent) -> frozenset[str]:
    """The index terms of the role that a question asks of a person: "Was she an editor?"; empty for any other."""
    text = read(intent.wording)
    place = text.find("is-a-role")
    persons = words("overview-persons") | name_words(intent.person)
    if place is None or not intent.person or persons.isdisjoint(text.all[1 : place.last - 1]):
        return frozenset()
    return index_terms(text.text[text.words[place.last - 1].end :])


def asks_for_hobbies(intent: QueryIntent) -> bool:
    """True if a question says a word for a hobby."""
    return read(intent.wording).has("hobbies")


def fits_pronoun(word: str, stated: str) -> bool:
    """True if a word for somebody is one of stated pronouns: "her" of "she/her"."""
    groups = ({"she", "her", "hers"}, {"he", "him", "his"}, {"they", "them", "their"})
    said = next((group for group in groups if word in group), {word})
    return not said.isdisjoint(read(stated).set)
