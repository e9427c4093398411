"""WHO: the people who worked at a company, studied at a school, speak a language or know a skill, by their facts."""

import re
from collections.abc import Sequence
from dataclasses import replace

from pipelines.query.careers.jobs import companies, found_at
from pipelines.query.careers.listing import SPEAKING, STUDIED, TOKEN, WHO, WORKED, beyond
from pipelines.query.careers.lists import at_institutions, held, lists_with, studies, whose
from pipelines.query.careers.reckoning import Item, Reckoning, fields, forms_of, job_item
from pipelines.query.careers.timeline import Person
from pipelines.store.tokens import STOP_WORDS
from pipelines.text import fold
from pipelines.types import QueryIntent

_SPARE = STOP_WORDS | frozenset(
    "people person persons candidate candidates applicant applicants else been ever now currently".split()
)
_STUDYING = STUDIED | {"attended", "went", "go", "gone"}
_KNOWING = frozenset("know knows use uses used skilled skill skills experience experienced".split())
_SIGNED = re.compile(r"\.?\w+(?:[.'-]\w+)*(?:\+\+|#)?")  # C++, C#, .NET
_NOW = re.compile(r"\b(?:works|(?:is|are) (?:currently )?(?:working|employed))\b|\b(?:now|currently)\b")


def who_was_there(known: Sequence[Person], intent: QueryIntent) -> Reckoning | None:
    """Who that is; None unless every word of the question is understood, or the facts of nobody state it.

    Where nobody works at a company now, those who did are listed, and the answer is not sure.
    """
    text = fold(intent.search_text)
    if not WHO.search(text):
        return None
    people = [person for person in known if person.stated]
    now = bool(_NOW.search(text))
    current = held(whose(person, item) for person in people for item in _found(person, text, now=now))
    if current or not now:
        return current
    past = held(whose(person, item) for person in people for item in _found(person, text, now=False))
    return replace(past, exact=False) if past else None


def _found(person: Person, text: str, *, now: bool) -> list[Item]:
    if skilled := _skilled(person, text):
        return skilled
    words = TOKEN.findall(text)
    jobs, used = found_at(companies(person.jobs), words)
    if jobs and not WORKED.isdisjoint(words) and not beyond(words, used, _SPARE, WORKED):
        return [job_item(job, job.stated[0]) for job in jobs if job.record.current or not now]
    groups, used = found_at(at_institutions(person), words)
    if groups and not _STUDYING.isdisjoint(words) and not beyond(words, used, _SPARE, _STUDYING):
        return studies(groups)
    spoken = [(getattr(group[0].record, "language", ""), group) for group in person.languages]
    language, used = found_at(spoken, words)
    if language and not SPEAKING.isdisjoint(words) and not beyond(words, used, _SPARE, SPEAKING):
        return fields([language], "language", "level")
    return []


def _skilled(person: Person, text: str) -> list[Item]:
    """The list of skills that holds what a question says beside its own words, whole (`C#` is not `C`)."""
    words = _SIGNED.findall(text)
    wanted = " ".join(word for word in words if word not in _SPARE | _KNOWING)
    if not wanted or _KNOWING.isdisjoint(words):
        return []
    stating = (stated for skill, stated in person.skills if wanted in map(fold, forms_of(skill)))
    return lists_with(next(stating, ()))
