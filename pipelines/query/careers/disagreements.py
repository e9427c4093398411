"""Disagreements of documents on a career: dates, titles or employers of the same job or study."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from pipelines.answers import ConflictKind, Source
from pipelines.facts import EducationFacts, JobFacts
from pipelines.months import months_agree, overlap_share
from pipelines.query.careers.people import Job, Person, differently_dated, is_similar_organisation
from pipelines.query.verification.normalise import contains_phrase
from pipelines.store.facts import Fact
from pipelines.store.tokens import tokenise
from pipelines.structure import sentences
from pipelines.text import fold

_MIN_OVERLAP = 0.25  # of the months of either that both have, for two jobs at one employer to be taken for one
_MAX_QUOTE = 400  # characters of a quotation; a longer one is only the sentence with the value
# The same word of a title, by its stem.
_TITLE_ABBREVIATIONS = {
    "sr": "senior", "jr": "junior", "eng": "engineer", "engin": "engineer", "dev": "develop", "mgr": "manag",
    "vp": "vicepresident", "swe": "softwareengineer",
}  # fmt: skip
_OF_SOURCE = (
    "document_id", "title", "uri", "content_sha", "category", "page", "line_start", "line_end", "section_path",
    "start", "end", "lines_uri",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ConflictSide:
    """A value that one document states, and its span: offsets in the document, inside `source`."""

    said: str
    source: Source
    start: int
    end: int

    @property
    def quote(self) -> str:
        """The stored text of the span."""
        return self.source.snippet[self.start - self.source.start : self.end - self.source.start]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """At least two sides of different documents; `about` names their subject."""

    kind: ConflictKind
    about: str
    sides: tuple[ConflictSide, ...]


def career_disagreements(people: Iterable[Person]) -> list[Disagreement]:
    """The disagreements between the documents about each person: jobs, then studies."""
    return [found for person in people for found in (*_job_disagreements(person), *_study_disagreements(person))]


def conflicting_dates(job: Job) -> Disagreement | None:
    """The differing dates of a job; None if the documents agree."""
    facts = differently_dated(job)
    return _disagreement("dates", job.record.company, facts, "date_range") if facts else None


def conflicting_titles(job: Job, jobs: Sequence[Job] = ()) -> Disagreement | None:
    """The differing titles of a job; None if one may be a shorter form of the other.

    The months must be equal, unless the person's jobs are given and each document knows one job at that employer.
    """
    first, *others = job.stated
    one = _job_record(first)
    for fact in others:
        other = _job_record(fact)
        months = [(record.start_month, record.end_month, record.current) for record in (one, other)]
        same_months = one.start_month and months[0] == months[1]
        is_one_job = same_months or (jobs and job.stretch and all(_knows_once(each, jobs) for each in (first, fact)))
        if is_one_job and is_other_title(one.position, other.position):
            return _disagreement("title", one.company, [first, fact], "position")
    return None


def fact_source(fact: Fact, n: int = 0, also_in: tuple[str, ...] = ()) -> Source:
    """The passage that states a fact, as a source."""
    fields: dict[str, Any] = {name: getattr(fact, name) for name in _OF_SOURCE}
    fields |= {"documentName": fact.document_name, "snippet": fact.text, "node_ids": (fact.node_id,)}
    return Source(n=n, also_in=also_in, **fields)


def job_disagreements(jobs: Sequence[Job]) -> tuple[Disagreement, ...]:
    """The differing dates and titles of each of these jobs."""
    return tuple(found for job in jobs for found in (conflicting_dates(job), conflicting_titles(job)) if found)


def _job_disagreements(person: Person) -> Iterator[Disagreement]:
    for job in person.jobs:
        yield from filter(None, (conflicting_dates(job), conflicting_titles(job, person.jobs)))
    for one, other in combinations(person.jobs, 2):
        pair = [one.stated[0], other.stated[0]]
        if _is_other_employer(one, other, person):
            yield _disagreement("employer", one.record.position, pair, "company")
        elif _is_one_job_stated_twice(one, other, person.jobs):
            yield _disagreement("dates", one.record.company, pair, "date_range")
            yield _disagreement("title", one.record.company, pair, "position")


def _is_one_job_stated_twice(one: Job, other: Job, jobs: Sequence[Job]) -> bool:
    """True if two jobs must be one job with another title and other dates: same employer, overlapping times."""
    first, second = one.stated[0], other.stated[0]
    overlaps = one.stretch and other.stretch and overlap_share(one.stretch, other.stretch) >= _MIN_OVERLAP
    return (
        bool(overlaps)
        and len(one.stated) == len(other.stated) == 1
        and first.document_id != second.document_id
        and is_similar_organisation(one.record.company, other.record.company)
        and is_other_title(one.record.position, other.record.position)
        and all(_knows_once(fact, jobs) for fact in (first, second))
    )


def _knows_once(fact: Fact, jobs: Sequence[Job]) -> bool:
    return _documents_naming(_job_record(fact).company, jobs).count(fact.document_id) == 1


def _documents_naming(company: str, jobs: Sequence[Job]) -> list[str]:
    """The document of each statement of a job at a company."""
    at_company = (job for job in jobs if is_similar_organisation(job.record.company, company))
    return [fact.document_id for job in at_company for fact in job.stated]


def _is_other_employer(one: Job, other: Job, person: Person) -> bool:
    """True if two jobs must be one: same title, same months, and no document knows both companies."""
    mine, theirs = one.record, other.record
    exact = one.stretch and one.stretch == other.stretch and one.stretch.exact and not mine.current
    same_title = mine.position and fold(mine.position) == fold(theirs.position)
    if not exact or not same_title or is_similar_organisation(mine.company, theirs.company):
        return False
    knowing = [set(_documents_naming(company, person.jobs)) for company in (mine.company, theirs.company)]
    return knowing[0].isdisjoint(knowing[1])


def _study_disagreements(person: Person) -> Iterator[Disagreement]:
    """Degrees that two documents state once each, with different dates."""
    studies = [group[0] for group in person.education]
    for one, other in combinations(studies, 2):
        mine, theirs = _study_record(one), _study_record(other)
        alike = [study for study in studies if _is_same_degree(mine, _study_record(study))]
        months = (mine.start_month, theirs.start_month), (mine.end_month, theirs.end_month)
        differ = mine.date_range and theirs.date_range and not all(months_agree(*pair) for pair in months)
        if differ and one.document_id != other.document_id and alike == [one, other]:
            yield _disagreement("dates", f"{mine.degree}, {mine.institution}", [one, other], "date_range")


def _is_same_degree(one: EducationFacts, other: EducationFacts) -> bool:
    same = bool(one.degree) and fold(one.degree) == fold(other.degree)
    return same and is_similar_organisation(one.institution, other.institution)


def is_other_title(one: str, other: str) -> bool:
    """True if two titles name different work: neither is a shorter or an abbreviated form of the other."""
    mine, theirs = ({_TITLE_ABBREVIATIONS.get(word, word) for word in tokenise(title)} for title in (one, other))
    if not mine or not theirs or mine <= theirs or theirs <= mine:
        return False
    initials = ["".join(word[0] for word in fold(title).split()) for title in (one, other)]
    return initials[0] != fold(other) and initials[1] != fold(one)


def _disagreement(kind: ConflictKind, about: str, facts: Sequence[Fact], field: str) -> Disagreement:
    return Disagreement(kind, about, tuple(_side(fact, str(getattr(fact.record, field))) for fact in facts))


def _side(fact: Fact, value: str) -> ConflictSide:
    """The side of a fact: its sentences that name the organisation and the value; if too long, only the latter."""
    organisation = fold(getattr(fact.record, "company", "") or getattr(fact.record, "institution", ""))
    spans = sentences(fact.text) or [(0, len(fact.text))]
    stating = next((span for span in spans if contains_phrase(fact.text[slice(*span)], fold(value))), spans[0])
    naming = next((span for span in spans if contains_phrase(fact.text[slice(*span)], organisation)), stating)
    first, last = min(naming, stating), max(naming, stating)
    if last[1] - first[0] > _MAX_QUOTE:
        first = last = stating
    return ConflictSide(value, fact_source(fact), fact.start + first[0], fact.start + last[1])


def _job_record(fact: Fact) -> JobFacts:
    assert isinstance(fact.record, JobFacts)
    return fact.record


def _study_record(fact: Fact) -> EducationFacts:
    assert isinstance(fact.record, EducationFacts)
    return fact.record
