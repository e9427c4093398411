"""Answers about the jobs and studies that a question names: by a title, a degree or an employer."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from pipelines.facts import EducationFacts
from pipelines.months import MonthRange, month_range
from pipelines.query.careers.computed_answer import (
    ComputedAnswer,
    ComputedItem,
    job_entries,
    list_answer,
    stated_jobs,
    study_items,
    total_duration,
)
from pipelines.query.careers.people import Job, Person, organisation_words
from pipelines.query.question.careers import CareerAsk
from pipelines.query.question.words import words as listed_words
from pipelines.store.facts import Fact
from pipelines.store.tokens import STOP_WORDS, tokenise
from pipelines.structure import sentences
from pipelines.text import fold, word_parts

_LEVELS = tuple(map(listed_words, ("doctorate", "master", "bachelor")))
_LEAST_TITLE = 2  # words of a title that a question must say
_HALF_YEAR = 6  # months that the July, for which a year counts, is after its first
_GENERAL = 5  # letters of one word that names an employer: "the hospital"


@dataclass(frozen=True, slots=True)
class _Named:
    """The jobs and studies that words name, and the places of those words."""

    jobs: tuple[Job, ...]
    studies: tuple[tuple[Fact, ...], ...]
    used: frozenset[int]


def answer_for_named(person: Person, ask: CareerAsk, spare: Collection[str]) -> ComputedAnswer | None:
    """The answer about what the question names of a person's career; None unless every word is understood.

    Args:
        person: Whose career.
        ask: The question.
        spare: Words that say nothing of what is asked, as the person's name.
    """
    bound, marks = ask.place, ask.marks
    named, limit = _named(person, ask.words[:bound]), _named(person, ask.words[bound + 1 :])
    if left := ask.left(named.used | {bound} | {bound + 1 + at for at in limit.used}, spare):
        stating = [group for group in named.studies if _says_all(group, left)]
        return list_answer(study_remarks(stating, left)) if bound == len(ask.words) else None
    is_bound = bool(marks & {"before", "after"})
    jobs, studies = named.jobs, list_answer(study_items(named.studies))
    if not (jobs or named.studies) and not (is_bound and "work" in marks):
        return _by_order(person, marks)
    if is_bound:
        jobs = jobs or person.jobs
        beside = _beside(jobs, limit, before="before" in marks)
        if "after" in marks:
            beside = beside[::-1][: 1 if marks & {"first", "began"} else None]
        return job_entries(beside, " ".join(ask.words[bound:])) if beside and limit.used else None
    if "long" in marks:
        return total_duration(jobs, f" as {jobs[0].record.position}") if jobs else studies
    if "true" in marks:
        return stated_jobs([job for job in jobs if job.record.current or "past" in marks], person)
    is_asked = bool(marks & {"when", "which"})
    return studies or (stated_jobs(jobs, person, by_dates="when" in marks) if is_asked else None)


def _says_all(group: Sequence[Fact], asked: Sequence[str]) -> bool:
    return {word for fact in group for word in word_parts(fact.own_text)}.issuperset(asked)


def study_remarks(studies: Iterable[Sequence[Fact]], asked: Sequence[str]) -> Iterator[ComputedItem]:
    """The sentences of these studies that have one of the words as a remark: their theses, supervisors or grades.

    Words that a question about any study has, and those of its degree, subject and school are no remarks.
    """
    for fact in (fact for group in studies for fact in group):
        fields = (getattr(fact.record, name) for name in ("degree", "area", "institution", "location", "date_range"))
        usual = STOP_WORDS.union(listed_words("studying"), *map(word_parts, fields))
        wanted = {word for word in asked if len(word) >= _GENERAL and word not in usual}
        for start, end in sentences(fact.own_text):
            words = fact.own_text[start:end].strip(" -•\t\n")
            if not wanted.isdisjoint(word_parts(words)):
                yield ComputedItem(words, fact, (words,))


def _by_order(person: Person, marks: Collection[str]) -> ComputedAnswer | None:
    """The first or the latest job; of "the last job" the one before a current one."""
    dated = [job for job in person.jobs if job.stretch]
    if not dated or not {"posts", "which"} <= {*marks} or not {"first", "latest"} & {*marks}:
        return None
    if "first" in marks:
        return stated_jobs([min(dated, key=lambda job: job.stretch.first if job.stretch else 0)], person)
    over = [job for job in dated if not job.record.current]
    return stated_jobs(over[:1] if "last" in marks and over else dated[:1], person)


def _named(person: Person, words: Sequence[str]) -> _Named:
    """What these words name: a title of two words or more, the level of a degree, or an employer by one word."""
    used: set[int] = set()
    jobs: list[Job] = []
    for job in person.jobs:
        for title in {getattr(fact.record, "position", "") for fact in job.stated}:
            own = tokenise(title.split(",")[0])
            at = _place(own, words) if len(own) >= _LEAST_TITLE else None
            if at is not None:
                jobs.append(job)
                used |= set(range(at, at + len(own)))
    levels = [(level, {at for at, word in enumerate(words) if word in level}) for level in _LEVELS]
    said = [(level, places) for level, places in levels if places]
    studies = [group for group in person.education if any(not level.isdisjoint(_degree(group)) for level, _ in said)]
    for level, places in said:
        used |= places
        jobs += [job for job in person.jobs if not level.isdisjoint(fold(job.record.position).split())]
    if not jobs and not studies:
        for at, word in enumerate(words):
            there = [job for job in person.jobs if word in organisation_words(job.record.company)]
            if there and len(word) >= _GENERAL and word not in listed_words("naming") | STOP_WORDS:
                jobs += there
                used.add(at)
    return _Named(tuple(dict.fromkeys(jobs)), tuple(studies), frozenset(used))


def _degree(group: Sequence[Fact]) -> set[str]:
    """The words of a degree as every document states it: `Doctor of Philosophy - PhD` has `doctor` and `phd`, `B.Eng.`
    has `beng`.
    """
    stated = [word for fact in group for word in fold(getattr(fact.record, "degree", "")).split()]
    return {part for word in stated for part in (*word_parts(word), "".join(word_parts(word)))}


def _place(own: Sequence[str], words: Sequence[str]) -> int | None:
    """Where these terms begin in the words; None where they do not stand there in a row."""
    terms = [next(iter(tokenise(word)), word) for word in words]
    starts = range(len(terms) - len(own) + 1)
    return next((at for at in starts if list(terms[at : at + len(own)]) == list(own)), None)


def _beside(jobs: Iterable[Job], limit: _Named, *, before: bool) -> list[Job]:
    """The jobs that began before what the limit names began, or after it ended."""
    spans = [job.stretch for job in limit.jobs if job.stretch] + [
        span for group in limit.studies if (span := _span(group[0]))
    ]
    if not spans:
        return []
    first = min(span.first for span in spans)
    last = max(span.last - (0 if span.exact else _HALF_YEAR) for span in spans)
    dated = [(job, job.stretch) for job in jobs if job.stretch]
    return [job for job, span in dated if (span.first < first if before else span.first >= last)]


def _span(fact: Fact) -> MonthRange | None:
    record = fact.record
    assert isinstance(record, EducationFacts)
    return month_range(record.start_month, record.end_month, current=record.current, today=date.today())
