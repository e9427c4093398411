"""Answers that career facts give to a question by its kind, where not every word of it is one that rules know."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pipelines.facts import EducationFacts
from pipelines.query.careers.answers import study_remarks
from pipelines.query.careers.computed_answer import (
    ComputedAnswer,
    ComputedItem,
    as_far_as_read,
    bound_entries,
    certificate_items,
    current_entries,
    duty_items,
    employer_items,
    job_entries,
    job_item,
    jobs_in_year,
    language_items,
    list_answer,
    skill_items,
    stated_jobs,
    studies_by_institution,
    study_items,
    total_duration,
)
from pipelines.query.careers.people import Job, Person, find_organisation, jobs_by_company
from pipelines.query.question.words import words
from pipelines.store.known_names import is_ordinary, name_words
from pipelines.store.tokens import STOP_WORDS, index_terms
from pipelines.text import fold, word_parts

T = TypeVar("T")
_VOCABULARY: Mapping[str, tuple[str, ...]] = {
    "education": ("studying",), "spoken_languages": ("languages", "speaking"), "certificates": ("certified",),
    "skills": ("knowing", "skills", "languages", "coding", "experienced"),
    "programming_languages": ("knowing", "skills", "languages", "coding", "experienced"),
    "employers": ("employed",),
    "current_job": ("current-job-words",), "title_at": ("employed",), "duties": ("employed", "duties"),
}  # fmt: skip
_POST = ("position", "location")
_WHOLE = 6  # letters of a word that may be the beginning of a longer one


@dataclass(frozen=True, slots=True)
class CareerOf:
    """Whose career is asked about, the folded words and years of the question, and the stored projects' folded
    languages.
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
        return _named(jobs_by_company(self.person.jobs), self.said) or tuple(filter(self._names_post, self.person.jobs))

    def _names_post(self, job: Job) -> bool:
        """True if the question names the position, of two words at least, and the place of a job together."""
        said = set(self.said)
        posts, places = ([{*word_parts(getattr(fact.record, field))} for fact in job.stated] for field in _POST)
        return any(len(own) > 1 and own <= said for own in posts) and any(own & said for own in places)


def _named(things: Iterable[tuple[str, T]], said: Sequence[str]) -> T | None:
    known = list(things)
    found, _ = find_organisation(known, said)
    if found is not None:
        return found
    rare = (["at", *said[at:]] for at, word in enumerate(said) if len(word) > 3 and not is_ordinary(word))
    return next((held for phrase in rare if (held := find_organisation(known, phrase)[0]) is not None), None)


def answer_of_kind(kind: str, asked: CareerOf) -> ComputedAnswer | None:
    """What the facts of a career say to a question of this kind; None for other kinds, and where no fact does.

    A list answers "Does she speak Dutch?" only by the items that have every word of the question which is neither of
    the person nor of such questions.
    """
    reader = _READERS.get(kind)
    found = reader(asked) if reader else None
    if found and kind in _OF_ALL:
        found = as_far_as_read(found, asked.person, _OF_ALL[kind])
    if found is None or not found.listed or asked.said[:1] == () or asked.said[0] not in words("auxiliaries"):
        return found
    known = STOP_WORDS.union(words_of_kind(kind), *map(words, ("overview-fillers", "overview-persons", "listing")))
    wanted = {word for word in asked.said if word not in known and word not in name_words(asked.person.name)}
    named = [item for item in found.items if wanted and all(_meets(item, word) for word in wanted)]
    return list_answer(named, found.doubts)


def words_of_kind(kind: str) -> frozenset[str]:
    """The words that questions of a kind have of themselves, and that no item need have."""
    return frozenset[str]().union(*map(words, _VOCABULARY.get(kind, ())))


def _meets(item: ComputedItem, word: str) -> bool:
    """True if an item has a word, or of a level of study another name of it; a study also by what is told of it."""
    is_study = isinstance(item.fact.record, EducationFacts)
    text = item.fact.own_text if is_study else item.text
    levels = [level for level in map(words, ("doctorate", "master", "bachelor")) if word in level]
    said = {part for raw in fold(text).split() for part in (*word_parts(raw), "".join(word_parts(raw)))}
    return any(not level.isdisjoint(said) for level in levels) if levels else index_terms(text) >= index_terms(word)


def _current(asked: CareerOf) -> ComputedAnswer | None:
    if not (wanted := led_things(asked.said)):
        return current_entries(asked.person)
    jobs = asked.person.current_jobs
    told = [item for item in duty_items(jobs) if index_terms(item.text) >= wanted]
    return list_answer([*told, *(job_item(job, job.stated[0]) for job in jobs)]) if told else None


def led_things(said: Iterable[str]) -> frozenset[str]:
    """The index terms of what a question says that somebody leads: "Which team does she run?"; empty for others."""
    held = frozenset(said)
    return index_terms(" ".join(held & words("teams"))) if held & words("leading") else frozenset()


def _education(asked: CareerOf) -> ComputedAnswer | None:
    there = _named(studies_by_institution(asked.person), asked.said)
    if remarks := list_answer(study_remarks(there or asked.person.education, asked.said)):
        return remarks
    begun = tuple(word for word in asked.said if len(word) >= _WHOLE)  # "postdoc"
    titled = [(job, {*word_parts(job.record.position)} - words("studying")) for job in asked.person.jobs if not there]
    posts = [job for job, own in titled if any(word.startswith(begun) for word in own)]
    return stated_jobs(posts, asked.person) or list_answer(study_items(there or asked.person.education))


def _programming(asked: CareerOf) -> ComputedAnswer | None:
    """The lists that are called after code or languages; else those that hold a language of a stored project."""
    items = skill_items(asked.person)[0]
    groups = [(item, getattr(item.fact.record, "group", ""), getattr(item.fact.record, "skills", ())) for item in items]
    called = [item for item, group, _ in groups if not words("code-lists").isdisjoint(fold(group).split())]
    held = [item for item, _, skills in groups if not asked.languages.isdisjoint(map(fold, skills))]
    return list_answer(called or held[:2])


# Of previous jobs, employers and years, a question that names an employer asks something else.
_READERS: Mapping[str, Callable[[CareerOf], ComputedAnswer | None]] = {
    "current_job": _current,
    "first_job": lambda asked: stated_jobs(asked.person.first_job, asked.person),
    "previous_jobs": lambda asked: None if asked.there else job_entries(asked.person.jobs, ""),
    "employers": lambda asked: None if asked.there else list_answer(employer_items(asked.person)),
    "job_in_year": lambda asked: jobs_in_year(asked.person, asked.years[0]) if len(asked.years) == 1 else None,
    "start_date": lambda asked: bound_entries(asked.there, began=True),
    "end_date": lambda asked: bound_entries(asked.there, began=False),
    "duties": lambda asked: list_answer(duty_items(asked.there)),
    "title_at": lambda asked: stated_jobs(asked.there or asked.person.current_jobs, asked.person),
    "total_years": lambda asked: None if asked.there else total_duration(asked.person.jobs, " of work experience"),
    "years_with": lambda asked: (
        total_duration(there, f" at {there[0].record.company}") if (there := asked.there) else None
    ),
    "education": _education,
    "skills": lambda asked: list_answer(skill_items(asked.person)[0]),
    "programming_languages": _programming,
    "spoken_languages": lambda asked: list_answer(language_items(asked.person)),
    "certificates": lambda asked: list_answer(certificate_items(asked.person)),
}
CAREER_KINDS = frozenset(_READERS)
_JOB_KINDS = ("first_job", "previous_jobs", "employers", "job_in_year", "total_years")
_OF_ALL = {**dict.fromkeys(_JOB_KINDS, "job"), "education": "study"}
