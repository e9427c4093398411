"""PEOPLE: asks back whom a question means, where a "she" fits several people of the stored documents."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import partial

from config.prompts import WHICH_PERSON
from pipelines.answers import Answer, Source, Token
from pipelines.facts import PersonFacts
from pipelines.query.answer import AnswerEvents, Draft
from pipelines.query.careers.disagreements import fact_source
from pipelines.query.careers.people import Person, group_people
from pipelines.query.question.followup import with_person
from pipelines.query.question.person import fits_pronoun, unnamed_person
from pipelines.query.search import Search

ASKED_BACK = "a question back"  # the model name of such an answer
_MOST = 5  # people that are named
_COUNTS = {2: "Two", 3: "Three", 4: "Four", 5: "Five"}


def try_answer(search: Search) -> Draft | None:
    """The question which person is meant; None where the question or its conversation tells, or at most one fits.

    Raises:
        ServiceUnavailable: If the database cannot be read.
    """
    intent, ledger = search.intent, search.ledger
    word = unnamed_person(intent, search.names.people)
    people: list[Person] = []
    if word and len(search.names.people) > 1:
        known = group_people(search.facts(replace(search.request.filters, phrase=())), date.today())
        people = [person for person in known if person.stated and _may_be(person, word)]
    if len(people) < 2:
        ledger.declined("people", "it names whom it means, or only one person fits")
        return None
    ledger.tag("people")
    return Draft(partial(ask_back, intent.question, word, people[:_MOST], len(people)))


def _may_be(person: Person, word: str) -> bool:
    """True if no document states pronouns of this person that are other ones."""
    stated = [fact.record.pronouns for fact in person.stated if isinstance(fact.record, PersonFacts)]
    return all(fits_pronoun(word, pronouns) for pronouns in stated if pronouns)


def ask_back(question: str, word: str, people: Sequence[Person], count: int) -> AnswerEvents:
    """The question who is meant, with the passages that state the names, and the question asked of each."""
    names = [person.name for person in people]
    listed = f"{', '.join(names[:-1])} and {names[-1]}" if count == len(names) else f"{', '.join(names)} and others"
    text = WHICH_PERSON.format(count=_COUNTS.get(count, "Several"), word=word, names=listed)
    nearest: list[Source] = [replace(fact_source(each.stated[0]), n=n) for n, each in enumerate(people, start=1)]
    yield Token(text)
    return Answer(
        question=question,
        answered=False,
        confidence="low",
        mode="extractive",
        model=ASKED_BACK,
        answer=text,
        sentences=(),
        sources=(),
        nearest=tuple(nearest),
        follow_ups=tuple(with_person(question, name) for name in names[:3]),
    )
