"""Disagreements of documents on a career: dates, titles or employers of the same job or study."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from pipelines.answers import ConflictKind, Source
from pipelines.facts import EducationFacts, JobFacts
from pipelines.months import months_agree, overlap_share
from pipelines.query.careers.people import Job, Person, differently_dated, is_similar_organisation
from pipelines.query.verification.normalise import contains_phrase
from pipelines.store.facts import Fact
from pipelines.store.tokens import tokenise
from pipelines.text import fold, sentences


@dataclass(frozen=True, slots=True)
class ConflictSide:
    """A value that one document states, and its span: offsets in the document, inside `source`.

    The number of `source` is valid only if the writer was shown it.
    """

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
    """At least two sides of different documents; `about` names their subject, if it has a name."""

    kind: ConflictKind
    about: str
    sides: tuple[ConflictSide, ...]


CAREER_CATEGORIES = frozenset({"resume", "linkedin"})  # categories of documents that state career facts
_LEAST_OVERLAP = 0.25  # of the months of either that both have, for two jobs at one employer to be taken for one
_LONGEST = 400  # characters of a quotation; a longer one is only the sentence with the value
# The same word of a title, by its stem.
_TITLE_ABBREVIATIONS = {
    "sr": "senior", "jr": "junior", "eng": "engineer", "engin": "engineer", "dev": "develop", "mgr": "manag",
    "vp": "vicepresident", "swe": "softwareengineer",
}  # fmt: skip


def career_disagreements(people: Iterable[Person]) -> list[Disagreement]:
    """The disagreements between the documents about each person: jobs, then studies."""
    return [found for person in people for found in (*_job_disagreements(person), *_study_disagreements(person))]


def conflicting_dates(job: Job) -> Disagreement | None:
    """The differing dates of a job; None if the documents agree."""
    facts = differently_dated(job)
    return _disagreement("dates", job.record.company, facts, _stated_dates) if facts else None


def conflicting_titles(job: Job, jobs: Sequence[Job] = ()) -> Disagreement | None:
    """The differing titles of a job; None if one may be a shorter form of the other.

    The months must be equal, unless the person's jobs are given and each document knows one job at that employer.
    """
    first = job.stated[0]
    for other in job.stated[1:]:
        one, two = _job_record(first), _job_record(other)
        one_job = _same_months(one, two) or (bool(jobs) and _both_know_one_job(first, other, job, jobs))
        if one_job and is_other_title(one.position, two.position):
            return _disagreement("title", job.record.company, [first, other], lambda fact: _job_record(fact).position)
    return None


def fact_source(fact: Fact, n: int = 0, also_in: tuple[str, ...] = ()) -> Source:
    """The passage that states a fact, as a source."""
    return Source(
        n=n,
        document_id=fact.document_id,
        documentName=fact.document_name,
        title=fact.title,
        uri=fact.uri,
        content_sha=fact.content_sha,
        category=fact.category,
        page=fact.page,
        line_start=fact.line_start,
        line_end=fact.line_end,
        section_path=fact.section_path,
        snippet=fact.text,
        start=fact.start,
        end=fact.end,
        node_ids=(fact.node_id,),
        also_in=also_in,
        lines_uri=fact.lines_uri,
    )


def _job_disagreements(person: Person) -> Iterator[Disagreement]:
    for job in person.jobs:
        yield from filter(None, (conflicting_dates(job), conflicting_titles(job, person.jobs)))
    for one, other in combinations(person.jobs, 2):
        pair = [one.stated[0], other.stated[0]]
        if _other_employer(one, other, person):
            yield _disagreement("employer", one.record.position, pair, lambda fact: _job_record(fact).company)
        elif _is_one_job_stated_twice(one, other, person.jobs):
            yield _disagreement("dates", one.record.company, pair, _stated_dates)
            yield _disagreement("title", one.record.company, pair, lambda fact: _job_record(fact).position)


def _is_one_job_stated_twice(one: Job, other: Job, jobs: Sequence[Job]) -> bool:
    """True if two jobs must be one job with another title and other dates: same employer, overlapping times."""
    if not (one.stretch and other.stretch and overlap_share(one.stretch, other.stretch) >= _LEAST_OVERLAP):
        return False
    if (
        len(one.stated) > 1
        or len(other.stated) > 1
        or not is_similar_organisation(one.record.company, other.record.company)
    ):
        return False
    first, second = one.stated[0], other.stated[0]
    apart = first.document_id != second.document_id and is_other_title(one.record.position, other.record.position)
    return apart and all(_knows_once(fact, jobs) for fact in (first, second))


def _both_know_one_job(one: Fact, other: Fact, job: Job, jobs: Sequence[Job]) -> bool:
    """True if each of two documents knows one job at an employer."""
    return job.stretch is not None and _knows_once(one, jobs) and _knows_once(other, jobs)


def _knows_once(fact: Fact, jobs: Sequence[Job]) -> bool:
    company = _job_record(fact).company
    stated = (own for job in jobs if is_similar_organisation(job.record.company, company) for own in job.stated)
    return sum(own.document_id == fact.document_id for own in stated) == 1


def _study_disagreements(person: Person) -> Iterator[Disagreement]:
    """Degrees that two documents state once each, with different dates."""
    for one, other in combinations([group[0] for group in person.education], 2):
        mine, theirs = one.record, other.record
        assert isinstance(mine, EducationFacts)
        assert isinstance(theirs, EducationFacts)
        alike = [
            group[0]
            for group in person.education
            if isinstance(group[0].record, EducationFacts) and _same_degree(mine, group[0].record)
        ]
        if (
            one.document_id != other.document_id
            and len(alike) == 2
            and other in alike
            and _study_dates_differ(mine, theirs)
        ):
            yield _disagreement("dates", f"{mine.degree}, {mine.institution}", [one, other], _stated_dates)


def _same_degree(one: EducationFacts, other: EducationFacts) -> bool:
    return (
        bool(one.degree)
        and fold(one.degree) == fold(other.degree)
        and is_similar_organisation(one.institution, other.institution)
    )


def _study_dates_differ(one: EducationFacts, other: EducationFacts) -> bool:
    dated = one.date_range and other.date_range
    return bool(dated) and not (
        months_agree(one.start_month, other.start_month) and months_agree(one.end_month, other.end_month)
    )


def _other_employer(one: Job, other: Job, person: Person) -> bool:
    """True if two jobs must be one: same title, same months, and no document knows both companies."""
    mine, theirs = one.record, other.record
    if (
        not mine.position
        or fold(mine.position) != fold(theirs.position)
        or is_similar_organisation(mine.company, theirs.company)
    ):
        return False
    exact = one.stretch and other.stretch and one.stretch.exact and other.stretch.exact and not mine.current
    if not exact or one.stretch != other.stretch:
        return False
    held = [{fact.document_id for fact in job.stated} for job in (one, other)]
    known = [
        {
            fact.document_id
            for job in person.jobs
            if is_similar_organisation(job.record.company, name)
            for fact in job.stated
        }
        for name in (mine.company, theirs.company)
    ]
    return held[0].isdisjoint(known[1]) and held[1].isdisjoint(known[0])


def _same_months(one: JobFacts, other: JobFacts) -> bool:
    """True if two records name the same start and end months."""
    same_end = one.current == other.current and one.end_month == other.end_month
    return bool(one.start_month) and one.start_month == other.start_month and same_end


def is_other_title(one: str, other: str) -> bool:
    """True if two titles name different work: neither is a shorter or an abbreviated form of the other."""
    mine, theirs = _title_words(one), _title_words(other)
    if not mine or not theirs or mine <= theirs or theirs <= mine:
        return False
    initials = [{"".join(word[0] for word in words)} for words in (fold(one).split(), fold(other).split())]
    return not (initials[0] & {fold(other)} or initials[1] & {fold(one)})


def _title_words(title: str) -> set[str]:
    return {_TITLE_ABBREVIATIONS.get(word, word) for word in tokenise(title)}


def _disagreement(kind: ConflictKind, about: str, facts: Sequence[Fact], value: Callable[[Fact], str]) -> Disagreement:
    return Disagreement(kind, about, tuple(fact_side(fact, value(fact)) for fact in facts))


def fact_side(fact: Fact, value: str) -> ConflictSide:
    """The side of a fact: its sentences that name the organisation and the value; if too long, only the latter."""
    organisation = getattr(fact.record, "company", "") or getattr(fact.record, "institution", "")
    spans = sentences(fact.text) or [(0, len(fact.text))]
    with_value = [span for span in spans if contains_phrase(fact.text[slice(*span)], fold(value))] or spans[:1]
    named = [span for span in spans if organisation and contains_phrase(fact.text[slice(*span)], fold(organisation))]
    first, last = min([*named[:1], with_value[0]]), max([*named[:1], with_value[0]])
    if last[1] - first[0] > _LONGEST:
        first = last = with_value[0]
    return ConflictSide(value, fact_source(fact), fact.start + first[0], fact.start + last[1])


def _job_record(fact: Fact) -> JobFacts:
    assert isinstance(fact.record, JobFacts)
    return fact.record


def _stated_dates(fact: Fact) -> str:
    """The dates as they are stated."""
    return str(getattr(fact.record, "date_range", ""))
