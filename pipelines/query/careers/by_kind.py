"""Answers that career facts give to a question by its kind, where not every word of it is one that rules know."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pipelines.query.careers.computed_answer import (
    ComputedAnswer,
    bound_entries,
    certificate_items,
    duty_items,
    employer_items,
    job_entries,
    jobs_in_year,
    language_items,
    list_answer,
    skill_items,
    stated_jobs,
    studies_by_institution,
    study_items,
    total_duration,
)
from pipelines.query.careers.named_items import study_remarks
from pipelines.query.careers.people import Job, Person, find_organisation, jobs_by_company
from pipelines.query.question.words import words
from pipelines.store.known_names import is_ordinary
from pipelines.text import fold, word_parts

T = TypeVar("T")
_WHOLE = 6  # letters of a word that may be the beginning of a longer one


@dataclass(frozen=True, slots=True)
class CareerOf:
    """Whose career is asked about, and what the question names of it.

    Attributes:
        person: Whose.
        said: The folded words of the question.
        years: Years that it names.
        languages: Programming languages of the stored projects, folded.
    """

    person: Person
    said: tuple[str, ...]
    years: tuple[int, ...] = ()
    languages: frozenset[str] = frozenset()

    @property
    def there(self) -> tuple[Job, ...]:
        """The jobs that the question names: at a company, by its whole name or a word that is no ordinary one, else by
        their position and place.
        """
        return _named(jobs_by_company(self.person.jobs), self.said) or self._by_position_and_place()

    def _by_position_and_place(self) -> tuple[Job, ...]:
        """The jobs of a position, of two words at least, and a place that the question names together."""
        said = set(self.said)
        return tuple(
            job
            for job in self.person.jobs
            if any(len(set(own)) > 1 and said.issuperset(own) for own in self._stated(job, "position"))
            and any(not said.isdisjoint(own) for own in self._stated(job, "location"))
        )

    @staticmethod
    def _stated(job: Job, field: str) -> list[list[str]]:
        return [word_parts(getattr(fact.record, field)) for fact in job.stated]


def _named(things: Iterable[tuple[str, T]], said: Sequence[str]) -> T | None:
    known = list(things)
    found, _ = find_organisation(known, said)
    if found is not None:
        return found
    rare = (["at", *said[at:]] for at, word in enumerate(said) if len(word) > 3 and not is_ordinary(word))
    return next((held for phrase in rare if (held := find_organisation(known, phrase)[0]) is not None), None)


def answer_of_kind(kind: str, asked: CareerOf) -> ComputedAnswer | None:
    """What the facts of a career say to a question of this kind; None for other kinds, and where no fact does.

    A list answers "Does she speak Dutch?" only if an item of it has a word of the question.
    """
    reader = _READERS.get(kind)
    found = reader(asked) if reader else None
    if found is None or not found.listed or asked.said[:1] == () or asked.said[0] not in words("auxiliaries"):
        return found
    named = [item for item in found.items if not set(asked.said).isdisjoint(word_parts(item.text))]
    return list_answer(named)


def _current(asked: CareerOf) -> ComputedAnswer | None:
    return job_entries([job for job in asked.person.jobs if job.record.current], "now", mine="now I am")


def _first(asked: CareerOf) -> ComputedAnswer | None:
    dated = [(job.stretch.first, job) for job in asked.person.jobs if job.stretch]
    return stated_jobs([min(dated, key=lambda each: each[0])[1]], asked.person) if dated else None


def _history(asked: CareerOf) -> ComputedAnswer | None:
    return None if asked.there else job_entries(asked.person.jobs, "")


def _employers(asked: CareerOf) -> ComputedAnswer | None:
    return None if asked.there else list_answer(employer_items(asked.person))


def _in_year(asked: CareerOf) -> ComputedAnswer | None:
    return jobs_in_year(asked.person, asked.years[0]) if len(asked.years) == 1 else None


def _began(asked: CareerOf) -> ComputedAnswer | None:
    return bound_entries(asked.there, began=True)


def _ended(asked: CareerOf) -> ComputedAnswer | None:
    return bound_entries(asked.there, began=False)


def _duties(asked: CareerOf) -> ComputedAnswer | None:
    return list_answer(duty_items(asked.there))


def _titles(asked: CareerOf) -> ComputedAnswer | None:
    return stated_jobs(asked.there or [job for job in asked.person.jobs if job.record.current], asked.person)


def _years(asked: CareerOf) -> ComputedAnswer | None:
    return None if asked.there else total_duration(asked.person.jobs, " of work experience")


def _time_there(asked: CareerOf) -> ComputedAnswer | None:
    there = asked.there
    return total_duration(there, f" at {there[0].record.company}") if there else None


def _education(asked: CareerOf) -> ComputedAnswer | None:
    there = _named(studies_by_institution(asked.person), asked.said)
    if remarks := list_answer(study_remarks(there or asked.person.education, asked.said)):
        return remarks
    posts = [job for job in asked.person.jobs if not there and _begins_position(job, asked.said)]
    return stated_jobs(posts, asked.person) or list_answer(study_items(there or asked.person.education))


def _begins_position(job: Job, said: Iterable[str]) -> bool:
    """True if a word of the question begins a word of the position, which is none of a study: "postdoc"."""
    own = [word for word in word_parts(job.record.position) if word not in words("studying")]
    return any(len(word) >= _WHOLE and one.startswith(word) for word in said for one in own)


def _skills(asked: CareerOf) -> ComputedAnswer | None:
    return list_answer(skill_items(asked.person)[0])


def _programming(asked: CareerOf) -> ComputedAnswer | None:
    """The lists that are called after code or languages; else those that hold a language of a stored project."""
    items = skill_items(asked.person)[0]
    groups = [(item, getattr(item.fact.record, "group", ""), getattr(item.fact.record, "skills", ())) for item in items]
    called = [item for item, group, _ in groups if not words("code-lists").isdisjoint(fold(group).split())]
    held = [item for item, _, skills in groups if not asked.languages.isdisjoint(map(fold, skills))]
    return list_answer(called or held[:2])


def _spoken(asked: CareerOf) -> ComputedAnswer | None:
    return list_answer(language_items(asked.person))


def _certificates(asked: CareerOf) -> ComputedAnswer | None:
    return list_answer(certificate_items(asked.person))


_READERS: Mapping[str, Callable[[CareerOf], ComputedAnswer | None]] = {
    "current_job": _current, "first_job": _first, "previous_jobs": _history, "employers": _employers,
    "job_in_year": _in_year, "start_date": _began, "end_date": _ended, "duties": _duties, "title_at": _titles,
    "total_years": _years, "years_with": _time_there, "education": _education, "skills": _skills,
    "programming_languages": _programming, "spoken_languages": _spoken, "certificates": _certificates,
}  # fmt: skip
CAREER_KINDS = frozenset(_READERS)
