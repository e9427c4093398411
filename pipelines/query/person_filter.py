"""Restrict quotations to the people that a question names."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from pipelines.answers import Source
from pipelines.query.careers.people import organisation_words
from pipelines.query.delimit import Context
from pipelines.query.question.careers import asks_for_spoken_languages
from pipelines.query.question.names import known_names_in, names_one_of, person_names
from pipelines.query.question.person import asks_for_hobbies, role_asked
from pipelines.query.question.words import read, words
from pipelines.query.quotable_units import ExcludeSpan, QuotableSources
from pipelines.store.facts import stated_people
from pipelines.store.known_names import CAREER_CATEGORIES, NameIndex, is_same_name, name_words
from pipelines.store.node_reader import NodeReader
from pipelines.store.tokens import STOP_WORDS, index_terms
from pipelines.text import fold
from pipelines.types import Audience, QueryIntent

_OWN_STORY = "journey"  # a category whose "I" is the one whose career it is
_LED = 4  # words before a role, of which one says that somebody has it
_NAMED_WITHIN = 200  # characters before a sentence with "she" in which she is named


def quotable_sources(intent: QueryIntent, context: Context, store: NodeReader, audience: Audience) -> QuotableSources:
    """The sources without the careers of people whom the question does not name, and the spans that are excluded.

    Excluded are spans about other people if the question names a person whose career no document states, lists of
    programming languages if it asks which languages a person speaks, and roles of others if it asks for one.
    """
    has_careers = any(source.category in CAREER_CATEGORIES for source in context.sources)
    is_spoken, role = asks_for_spoken_languages(intent), role_asked(intent)
    is_named = not is_spoken and bool(person_names(intent))
    stated = stated_people(store, audience) if has_careers or is_named else []
    others = documents_of_others(intent, stated) if has_careers else frozenset[str]()
    sources = [source for source in context.sources if source.document_id not in others]
    if asks_for_hobbies(intent):
        sources = [source for source in sources if not _lists_followed(source)]
    if is_spoken:
        return QuotableSources(sources, lists_programming_languages)
    if role:
        return QuotableSources(sources, tells_of_others_role(role))
    if not is_named or not stated:
        return QuotableSources(sources)
    names = unknown_people(intent, stated, [name for name, _ in store.stated_names(audience)])
    about_others = about_other_people(names, {document for _, document in stated}) if names else None
    return QuotableSources(sources, about_others)


def _lists_followed(source: Source) -> bool:
    """True for the interests of a LinkedIn profile: the organisations and people that somebody follows."""
    return source.category == "linkedin" and fold("".join(source.section_path[-1:])) == "interests"


def tells_of_others_role(role: Collection[str]) -> ExcludeSpan:
    """A test for spans of a text, not of a career, that say a role (index terms) not of one person: "an intern and
    I".
    """

    def of_others(source: Source, start: int, end: int) -> bool:
        said = source.snippet[start:end]
        if source.category in CAREER_CATEGORIES or index_terms(said).isdisjoint(role):
            return False
        spoken = read(said).all
        places = (at for at, word in enumerate(spoken) if not index_terms(word).isdisjoint(role))
        led = (set(spoken[max(at - _LED, 0) : at]) for at in places)
        return not any("and" not in before and before & words("being-one") for before in led)

    return of_others


def unknown_people(
    intent: QueryIntent, stated: Sequence[tuple[str, str]], organisations: Iterable[str]
) -> frozenset[str]:
    """Folded words of the names of people whose career no document states; empty if the question names a known person.

    A name counts as a person's if it acts, owns something or the question asks who it is, and it names nothing else
    that is known. `stated` are (person's name, document id); organisations are companies, schools and projects.
    """
    people = [name_words(name) for name, _ in stated]
    if not people or any(names_one_of(intent, own) for own in people):
        return frozenset()
    things = [frozenset(organisation_words(name)) for name in (*intent.names, *organisations)]
    unknown = [words for words in person_names(intent) if not any(words <= thing for thing in things)]
    return frozenset[str]().union(*unknown)


def about_other_people(names: frozenset[str], documents: Collection[str]) -> ExcludeSpan:
    """A test for spans that are about other people than those with these names, of folded words.

    Those are all spans of a resume or profile that states a name and the first-person spans of a journey, unless the
    span names one of them, or uses a pronoun right after a sentence that does.
    """

    def of_others(source: Source, start: int, end: int) -> bool:
        said = source.snippet[start:end]
        before = source.snippet[max(start - _NAMED_WITHIN, 0) : start].rpartition("\n\n")[2]
        if _mentions(said, names) or (read(said).has("third-person") and _mentions(before, names)):
            return False
        stated = source.category in CAREER_CATEGORIES and source.document_id in documents
        is_first_person = any(word.typed in ("I", "my", "me", "mine", "myself") for word in read(said).words)
        return stated or (source.category == _OWN_STORY and is_first_person)

    return of_others


def _mentions(text: str, names: frozenset[str]) -> bool:
    return any(not names.isdisjoint(word.parts) for word in read(text).words)


def documents_of_others(intent: QueryIntent, stated: Sequence[tuple[str, str]]) -> frozenset[str]:
    """Ids of the documents about other people than those the question names; empty if it names no person.

    A part of a name is enough. A single ordinary word counts only if it is capitalised inside a sentence, or if the
    question has no capitals; no word counts inside another known name (`Parker Hannifin`).
    """
    near = [(name, document) for name, document in stated if names_one_of(intent, name_words(name))]
    found = known_names_in(intent, NameIndex(_name_forms(intent, near))) if near else ()
    meant = [name_words(name) for name, document in stated if any(document in held for _, held in found)]
    if not meant:
        return frozenset()
    others = (document for name, document in stated if not any(is_same_name(name_words(name), own) for own in meant))
    return frozenset(others)


def _name_forms(intent: QueryIntent, stated: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """(name, document id): each person's full name and its words; other known names with an empty id."""
    people = [name_words(name) for name, _ in stated]
    for name in intent.names:
        own = name_words(name)
        if not any(own <= person or person <= own for person in people):
            yield name, ""
    for name, document in stated:
        yield name, document
        yield from ((word, document) for word in name_words(name) - STOP_WORDS)


def lists_programming_languages(source: Source, start: int, end: int) -> bool:
    """True if a span names at least two programming languages."""
    return len(read(source.snippet[start:end]).set & words("programming-languages")) > 1
