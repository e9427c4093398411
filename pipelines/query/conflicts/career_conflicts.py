"""Where documents disagree on a career: other dates, another title, another employer, for the same thing."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations

from pipelines.facts import EducationFacts, JobFacts
from pipelines.months import agree, overlap
from pipelines.query.careers.jobs import Job, is_like, redated
from pipelines.query.careers.timeline import Person
from pipelines.query.conflicts.disagreement import Disagreement, Side
from pipelines.query.verification.agree import holds
from pipelines.store.facts import Fact
from pipelines.store.tokens import tokenise
from pipelines.text import fold, sentences
from pipelines.types import ConflictKind, Source

CAREERS = frozenset({"resume", "linkedin"})  # categories of documents that state career facts
_MUCH = 0.25  # of the months of either that both have, for two jobs at one employer to be taken for one
_LONGEST = 400  # characters of a quotation; a longer one is only the sentence with the value
# The same word of a title, by its stem.
_SPELT_OUT = {"sr": "senior", "jr": "junior", "eng": "engineer", "engin": "engineer", "dev": "develop", "mgr": "manag",
              "vp": "vicepresident", "swe": "softwareengineer"}  # fmt: skip


def career_disagreements(people: Iterable[Person]) -> list[Disagreement]:
    """What the documents about each person say differently, job by job, then studies."""
    return [found for person in people for found in (*_of_jobs(person), *_of_studies(person))]


def dates_of(job: Job) -> Disagreement | None:
    """The dates of a job that documents state differently; None when they agree."""
    facts = redated(job)
    return _disagreement("dates", job.record.company, facts, _when) if facts else None


def titles_of(job: Job, jobs: Sequence[Job] = ()) -> Disagreement | None:
    """The titles that documents give a job; None when one may be a shorter form of the other.

    Without the other jobs of the person the months must be the same; with them they may differ, where neither document
    knows another job at that employer.
    """
    first = job.stated[0]
    for other in job.stated[1:]:
        one, two = _job(first), _job(other)
        one_job = _same_months(one, two) or (bool(jobs) and _are_only(first, other, job, jobs))
        if one_job and other_title(one.position, two.position):
            return _disagreement("title", job.record.company, [first, other], lambda fact: _job(fact).position)
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


def _of_jobs(person: Person) -> Iterator[Disagreement]:
    for job in person.jobs:
        yield from filter(None, (dates_of(job), titles_of(job, person.jobs)))
    for one, other in combinations(person.jobs, 2):
        pair = [one.stated[0], other.stated[0]]
        if _other_employer(one, other, person):
            yield _disagreement("employer", one.record.position, pair, lambda fact: _job(fact).company)
        elif _is_torn(one, other, person.jobs):
            yield _disagreement("dates", one.record.company, pair, _when)
            yield _disagreement("title", one.record.company, pair, lambda fact: _job(fact).position)


def _is_torn(one: Job, other: Job, jobs: Sequence[Job]) -> bool:
    """Whether two jobs can only be one with another title and other dates: at one employer, much of it at one time."""
    if not (one.stretch and other.stretch and overlap(one.stretch, other.stretch) >= _MUCH):
        return False
    if len(one.stated) > 1 or len(other.stated) > 1 or not is_like(one.record.company, other.record.company):
        return False
    first, second = one.stated[0], other.stated[0]
    apart = first.document_id != second.document_id and other_title(one.record.position, other.record.position)
    return apart and all(_knows_once(fact, jobs) for fact in (first, second))


def _are_only(one: Fact, other: Fact, job: Job, jobs: Sequence[Job]) -> bool:
    """Whether each of two documents knows one job at an employer."""
    return job.stretch is not None and _knows_once(one, jobs) and _knows_once(other, jobs)


def _knows_once(fact: Fact, jobs: Sequence[Job]) -> bool:
    company = _job(fact).company
    stated = (own for job in jobs if is_like(job.record.company, company) for own in job.stated)
    return sum(own.document_id == fact.document_id for own in stated) == 1


def _of_studies(person: Person) -> Iterator[Disagreement]:
    """Degrees that two documents have once each, with other dates."""
    for one, other in combinations([group[0] for group in person.education], 2):
        mine, theirs = one.record, other.record
        assert isinstance(mine, EducationFacts)
        assert isinstance(theirs, EducationFacts)
        alike = [
            group[0]
            for group in person.education
            if isinstance(group[0].record, EducationFacts) and _same_degree(mine, group[0].record)
        ]
        if one.document_id != other.document_id and len(alike) == 2 and other in alike and _redated(mine, theirs):
            yield _disagreement("dates", f"{mine.degree}, {mine.institution}", [one, other], _when)


def _same_degree(one: EducationFacts, other: EducationFacts) -> bool:
    return bool(one.degree) and fold(one.degree) == fold(other.degree) and is_like(one.institution, other.institution)


def _redated(one: EducationFacts, other: EducationFacts) -> bool:
    dated = one.date_range and other.date_range
    return bool(dated) and not (agree(one.start_month, other.start_month) and agree(one.end_month, other.end_month))


def _other_employer(one: Job, other: Job, person: Person) -> bool:
    """Whether two jobs can only be one: the same title in the same months, and no document knows both companies."""
    mine, theirs = one.record, other.record
    if not mine.position or fold(mine.position) != fold(theirs.position) or is_like(mine.company, theirs.company):
        return False
    exact = one.stretch and other.stretch and one.stretch.exact and other.stretch.exact and not mine.current
    if not exact or one.stretch != other.stretch:
        return False
    held = [{fact.document_id for fact in job.stated} for job in (one, other)]
    known = [
        {fact.document_id for job in person.jobs if is_like(job.record.company, name) for fact in job.stated}
        for name in (mine.company, theirs.company)
    ]
    return held[0].isdisjoint(known[1]) and held[1].isdisjoint(known[0])


def _same_months(one: JobFacts, other: JobFacts) -> bool:
    """Whether both name the same start and the same end, to the month where one does."""
    same_end = one.current == other.current and one.end_month == other.end_month
    return bool(one.start_month) and one.start_month == other.start_month and same_end


def other_title(one: str, other: str) -> bool:
    """Whether two titles name different work: neither is a shorter or an abbreviated form of the other."""
    mine, theirs = _title_words(one), _title_words(other)
    if not mine or not theirs or mine <= theirs or theirs <= mine:
        return False
    initials = [{"".join(word[0] for word in words)} for words in (fold(one).split(), fold(other).split())]
    return not (initials[0] & {fold(other)} or initials[1] & {fold(one)})


def _title_words(title: str) -> set[str]:
    return {_SPELT_OUT.get(word, word) for word in tokenise(title)}


def _disagreement(kind: ConflictKind, about: str, facts: Sequence[Fact], value: Callable[[Fact], str]) -> Disagreement:
    return Disagreement(kind, about, tuple(fact_side(fact, value(fact)) for fact in facts))


def fact_side(fact: Fact, value: str) -> Side:
    """A fact's sentences from the first to the last that names its organisation or the value; short ones."""
    organisation = getattr(fact.record, "company", "") or getattr(fact.record, "institution", "")
    spans = sentences(fact.text) or [(0, len(fact.text))]
    with_value = [span for span in spans if holds(fact.text[slice(*span)], fold(value))] or spans[:1]
    named = [span for span in spans if organisation and holds(fact.text[slice(*span)], fold(organisation))]
    first, last = min([*named[:1], with_value[0]]), max([*named[:1], with_value[0]])
    if last[1] - first[0] > _LONGEST:
        first = last = with_value[0]
    return Side(value, fact_source(fact), fact.start + first[0], fact.start + last[1])


def _job(fact: Fact) -> JobFacts:
    assert isinstance(fact.record, JobFacts)
    return fact.record


def _when(fact: Fact) -> str:
    """The dates as they are stated."""
    return str(getattr(fact.record, "date_range", ""))
