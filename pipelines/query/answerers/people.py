"""PEOPLE: asks back whom a question means, where a "she" fits several people of the stored documents."""

from dataclasses import dataclass, replace
from datetime import date

from config.prompts import ASKED_BACK, WHICH_PERSON
from pipelines.answers import Token
from pipelines.facts import PersonFacts
from pipelines.query.answer import AnswerEvents, unanswered
from pipelines.query.careers.disagreements import fact_source
from pipelines.query.careers.people import Person
from pipelines.query.question.person import fits_pronoun, unnamed_person, with_person
from pipelines.query.search import Search
from pipelines.store.known_names import is_same_name, name_words
from pipelines.text import shown_name

_MOST = 5  # people that are named
_COUNTS = {2: "Two", 3: "Three", 4: "Four", 5: "Five"}


@dataclass(frozen=True, slots=True)
class PeopleThatFit:
    """The word for somebody whom a question leaves unnamed, and the people that it fits."""

    word: str
    people: tuple[Person, ...]


def find(search: Search) -> PeopleThatFit | None:
    """The people who fit; None where the question, its conversation or the persona tells whom it means, or one fits.

    Two names that share a word may be one person's, and one without a job or study is only named somewhere.
    """
    people = search.names.people
    word = unnamed_person(search.intent, people)
    if (
        not word
        or len(people) < 2
        or any(is_same_name(name_words(search.settings.persona.name), name_words(name)) for name in people)
    ):
        return None
    known = search.careers(replace(search.request.filters, phrase=())).people(date.today())
    fitting: list[Person] = []
    for person in known:
        is_other = all(name_words(person.name).isdisjoint(name_words(other.name)) for other in fitting)
        if person.name and (person.jobs or person.education) and is_other and _may_be(person, word):
            fitting.append(person)
    return PeopleThatFit(word, tuple(fitting)) if len(fitting) > 1 else None


def _may_be(person: Person, word: str) -> bool:
    """True if no document states pronouns of this person that are other ones."""
    stated = [fact.record.pronouns for fact in person.stated if isinstance(fact.record, PersonFacts)]
    return all(fits_pronoun(word, pronouns) for pronouns in stated if pronouns)


def write(search: Search, found: PeopleThatFit) -> AnswerEvents:
    """The question who is meant, with the passages that state the names, and the question asked of each."""
    people, count = found.people[:_MOST], len(found.people)
    names = [shown_name(person.name) for person in people]
    listed = f"{', '.join(names[:-1])} and {names[-1]}" if count == len(names) else f"{', '.join(names)} and others"
    text = WHICH_PERSON.format(count=_COUNTS.get(count, "Several"), word=found.word, names=listed)
    nearest = [replace(fact_source(each.stated[0]), n=n) for n, each in enumerate(people, start=1)]
    asked = search.intent.question
    yield Token(text)
    return replace(
        unanswered(asked, text, ASKED_BACK, nearest), follow_ups=tuple(with_person(asked, name) for name in names[:3])
    )
