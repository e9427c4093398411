"""Whole careers out of single facts: people, their jobs, and which facts state the same."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from itertools import takewhile
from typing import Any, TypeVar

from pipelines.facts import (
    CareerRecord,
    CertificationFacts,
    EducationFacts,
    JobFacts,
    LanguageFacts,
    PersonFacts,
    ProjectDetail,
    ProjectFacts,
    SkillsFacts,
    SummaryFacts,
    TalkFacts,
    UnreadLine,
)
from pipelines.months import MonthRange, month_range, months_agree, overlap_share
from pipelines.store.facts import Fact
from pipelines.store.known_names import is_same_name, name_words, names_of_people
from pipelines.store.tokens import STOP_WORDS
from pipelines.text import fold, word_parts

_AT = frozenset({"at", "for", "with", "from", "by", "join", "joined", "leave", "left", "quit", "attend", "attended"})
_SAME_TIME = 0.5  # share of the months of two statements that both have
LEGAL_FORMS = frozenset(
    """ab ag as asa bv co company corp corporation gmbh inc incorporated kg limited llc llp lp ltd nv oy plc pty sa
    sarl sas se spa srl the""".split()
)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Job:
    """A job with the statements of it, one a document; the first statement counts."""

    stated: tuple[Fact, ...]
    stretch: MonthRange | None

    @property
    def record(self) -> JobFacts:
        """The record of the statement that counts."""
        assert isinstance(self.stated[0].record, JobFacts)
        return self.stated[0].record


def merged_jobs(facts: Iterable[Fact], today: date) -> list[Job]:
    """Merge the statements of the same job: similar companies, and times that overlap by half.

    With equal positions any overlap is enough, since one of two resumes may be old. Two entries of one document are two
    jobs. The most precise statement counts, else that of the resume. The latest job comes first, undated ones last.
    """
    jobs: list[list[tuple[Fact, MonthRange | None]]] = []
    for fact in facts:
        span = months_of(fact, today)
        fits = [(_likeness(fact, span, job), -place) for place, job in enumerate(jobs)]
        best, place = max(fits, default=(0.0, 0))
        if best:
            jobs[-place].append((fact, span))
        else:
            jobs.append([(fact, span)])
    found = []
    for stated in jobs:
        ordered = sorted(stated, key=lambda each: (each[1] is None, each[1] is not None and not each[1].exact))
        found.append(Job(tuple(fact for fact, _ in ordered), ordered[0][1]))
    return sorted(found, key=lambda job: (-job.stretch.last, -job.stretch.first) if job.stretch else (1, 0))


def months_of(fact: Fact, today: date) -> MonthRange | None:
    """The months of a job or study; None without dates."""
    record = fact.record
    assert isinstance(record, JobFacts | EducationFacts)
    return month_range(record.start_month, record.end_month, current=record.current, today=today)


def _likeness(fact: Fact, span: MonthRange | None, job: Sequence[tuple[Fact, MonthRange | None]]) -> float:
    """The fit (0..1) of a statement with a job of other documents; 0 = another job."""
    first, other = job[0]
    assert isinstance(fact.record, JobFacts)
    assert isinstance(first.record, JobFacts)
    if any(fact.document_id == held.document_id for held, _ in job):
        return 0.0
    if not is_similar_organisation(fact.record.company, first.record.company):
        return 0.0
    mine, theirs = set(word_parts(fact.record.position)), set(word_parts(first.record.position))
    if span and other:
        shared = overlap_share(span, other)
        return shared if shared >= _SAME_TIME or (mine == theirs and mine) else 0.0
    return 0.5 if mine & theirs or not mine or not theirs else 0.0


def is_same_organisation(one: str, other: str) -> bool:
    """True if two names of an organisation are equal without their legal forms (`Acme, Inc.`)."""
    return organisation_words(one) == organisation_words(other)


def is_similar_organisation(one: str, other: str) -> bool:
    """True if one name of an organisation is a longer form of the other (`Acme`, `Acme Robotics GmbH`)."""
    left, right = organisation_words(one), organisation_words(other)
    return left[:1] == right[:1] and (set(left) <= set(right) or set(right) <= set(left))


@lru_cache(maxsize=10_000)
def organisation_words(name: str) -> tuple[str, ...]:
    """The folded words of a name, without its legal form."""
    words = tuple(word_parts(name))
    return tuple(word for word in words if word not in LEGAL_FORMS) or words


def describe_date_conflict(job: Job) -> str:
    """The differing dates of a job, each with its document, as text; empty if they agree."""
    ways = [
        (fact.record.date_range, fact.document_name)
        for fact in differently_dated(job)
        if isinstance(fact.record, JobFacts)
    ]
    return f"{job.record.company}: " + ", ".join(f"{said} ({document})" for said, document in ways) if ways else ""


def differently_dated(job: Job) -> list[Fact]:
    """One statement for each different dating of a job, the one that counts first; empty if they agree."""
    ways: dict[str, Fact] = {}
    for fact in job.stated:
        record = fact.record
        assert isinstance(record, JobFacts)
        if record is job.record or not _months_agree(job.record, record):
            ways.setdefault(record.date_range, fact)
    return list(ways.values()) if len(ways) > 1 else []


def agreeing_facts(job: Job) -> list[Fact]:
    """The statements of a job whose dates agree with the one that counts, which is the first."""
    return [fact for fact in job.stated if isinstance(fact.record, JobFacts) and _months_agree(job.record, fact.record)]


def _months_agree(one: JobFacts, other: JobFacts) -> bool:
    """True if two statements agree on the months that both name."""
    if not other.start_month and not other.end_month and not other.current:
        return True
    same_end = one.current == other.current and months_agree(one.end_month, other.end_month)
    return months_agree(one.start_month, other.start_month) and same_end


def jobs_by_company(jobs: Iterable[Job]) -> list[tuple[str, tuple[Job, ...]]]:
    """(name, jobs) of each company, in the order of the jobs."""
    groups: list[tuple[str, list[Job]]] = []
    for job in jobs:
        name = job.record.company
        group = next((held for other, held in groups if is_same_organisation(name, other)), None)
        if group is None:
            groups.append((name, [job]))
        else:
            group.append(job)
    return [(name, tuple(held)) for name, held in groups]


def find_organisation(named: Iterable[tuple[str, T]], words: Sequence[str]) -> tuple[T | None, set[int]]:
    """(the value of the organisation that the folded words name, the indexes of its name).

    After `at` or `for` the first words of a name are enough. None if no name is found, or several of equal length.
    """
    found: list[tuple[int, int, T]] = []
    for name, held in named:
        own = organisation_words(name)
        for start in range(len(words)):
            length = len([*takewhile(lambda pair: pair[0] == pair[1], zip(own, words[start:], strict=False))])
            led = start > 0 and words[start - 1] in _AT
            if length and (length == len(own) or led) and not STOP_WORDS.issuperset(own[:length]):
                found.append((length, start, held))
    longest = max((length for length, _, _ in found), default=0)
    places = [(start, held) for length, start, held in found if length == longest]
    if len({held for _, held in places}) != 1:
        return None, set()
    return places[0][1], {place for start, _ in places for place in range(start, start + longest)}


_CATEGORY_ORDER = {"resume": 0, "linkedin": 1}  # of documents that state the same job, the first is counted


@dataclass(frozen=True, slots=True)
class Person:
    """A person's career; a group of facts holds what several documents state of the same thing.

    Jobs and talks are the latest first, undated ones last. `name` is empty if no document states it, and `stated` are
    the facts that do, one a document; `stated_facts` are all about the person themselves. `projects` are those of the
    person's documents, and of READMEs if there is no other person. `summaries` are in the person's own words, that of a
    resume first; `unread` are dated lines that no entry was read from.
    """

    name: str
    documents: tuple[str, ...]
    jobs: tuple[Job, ...]
    education: tuple[tuple[Fact, ...], ...]
    certifications: tuple[tuple[Fact, ...], ...]
    languages: tuple[tuple[Fact, ...], ...]
    projects: tuple[tuple[Fact, ...], ...]
    skills: tuple[tuple[str, tuple[Fact, ...]], ...]
    stated: tuple[Fact, ...] = ()
    summaries: tuple[Fact, ...] = ()
    talks: tuple[tuple[Fact, ...], ...] = ()
    stated_facts: tuple[Fact, ...] = ()
    unread: tuple[Fact, ...] = ()

    @property
    def dated_jobs(self) -> list[tuple[Job, MonthRange]]:
        """The jobs with dates, each with its months, the latest first."""
        return [(job, job.stretch) for job in self.jobs if job.stretch]

    @property
    def current_jobs(self) -> list[Job]:
        """The jobs that go on."""
        return [job for job in self.jobs if job.record.current]

    @property
    def first_job(self) -> list[Job]:
        """The dated job that began first, if there is one."""
        return [job for job, _ in sorted(self.dated_jobs, key=lambda dated: dated[1].first)[:1]]


@dataclass(frozen=True, slots=True)
class Project:
    """A project with what documents state of it, its README first; `person` is empty if it is not known whose it is."""

    stated: tuple[Fact, ...]
    person: str = ""

    @property
    def records(self) -> tuple[ProjectFacts, ...]:
        """The records of the statements."""
        return tuple(fact.record for fact in self.stated if isinstance(fact.record, ProjectFacts))

    @property
    def name(self) -> str:
        """The name, as first stated."""
        return self.records[0].name

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages and technologies of all statements, each once."""
        return tuple(dict.fromkeys(name for record in self.records for name in record.languages))

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics of all statements, each once."""
        return tuple(dict.fromkeys(topic for record in self.records for topic in record.topics))


def corpus_projects(facts: Iterable[Fact], today: date) -> list[Project]:
    """The projects of all documents, dated ones first, the latest first; the only person's where a document names
    nobody.
    """
    held = [fact for fact in facts if isinstance(fact.record, ProjectFacts) or _names_somebody(fact)]
    people = {name: person for person in group_people(held, today) for name in person.documents if person.name}
    only = next(iter(people.values())).name if len({person.name for person in people.values()}) == 1 else ""
    groups = _grouped(sorted(held, key=lambda fact: fact.category != "github"), ProjectFacts, _is_same_project)
    owners = (next((people[fact.document_name].name for fact in group if fact.document_name in people), only)
              for group in groups)  # fmt: skip
    found = [Project(group, owner) for group, owner in zip(groups, owners, strict=True)]
    by_name = sorted(found, key=lambda project: fold(project.name))
    return sorted(by_name, key=lambda project: max(map(_end_of, project.records)), reverse=True)


def _names_somebody(fact: Fact) -> bool:
    return isinstance(fact.record, PersonFacts) and bool(fact.record.name)


def _end_of(record: Any) -> str:
    """The month of the end or the start, for sorting; "9999" if it still goes on, "" without dates."""
    return "9999" if record.current else record.end_month or record.start_month


def _is_same_project(one: ProjectFacts, other: ProjectFacts) -> bool:
    """True if the names are equal, or one begins with the words of the other ("kelp", "kelp, a map server")."""
    first, second = sorted((word_parts(one.name), word_parts(other.name)), key=len)
    return bool(first) and second[: len(first)] == first


def group_people(facts: Iterable[Fact], today: date) -> list[Person]:
    """The people of these facts, by name; a document without a name belongs to the only person, if there is one.

    Two documents are about one person if the words of one name are a subset of the other's. A document that states
    nothing but projects and talks (a README) makes no person of its own.
    """
    by_document: dict[str, list[Fact]] = {}
    for fact in facts:
        by_document.setdefault(fact.document_id, []).append(fact)
    stated = [(name, held[0].category) for held in by_document.values() if (name := _stated_name(held))]
    known_names = frozenset(names_of_people(stated))
    groups: list[tuple[frozenset[str], str, list[Fact]]] = []
    nameless: list[list[Fact]] = []
    for all_held in sorted(by_document.values(), key=lambda held: _fact_order(held[0])):
        stated_name = _stated_name(all_held)
        name = stated_name if stated_name in known_names else ""
        held = all_held if name == stated_name else list(filter(_is_work, all_held))
        words = name_words(name)
        place = next((i for i, (other, _, _) in enumerate(groups) if is_same_name(words, other)), None)
        if not words:
            nameless.append(held)
        elif place is None:
            groups.append((words, name, list(held)))
        else:
            groups[place][2].extend(held)
    for held in list(nameless):
        if owners := [group for group in groups if not _organisations(held).isdisjoint(_organisations(group[2]))]:
            owners[0][2].extend(held)
            nameless.remove(held)
    if len(groups) != 1:
        nameless = [held for held in nameless if not all(map(_is_work, held))]
    if nameless and len(groups) <= 1:
        words, name, known = groups[0] if groups else (frozenset[str](), "", [])
        rest = [fact for held in nameless for fact in held]
        groups = [(words, name, sorted([*known, *rest], key=_fact_order))]
    else:
        groups += [(frozenset[str](), "", held) for held in nameless]
    return sorted((_person(name, held, today) for _, name, held in groups), key=lambda person: person.name)


@dataclass(frozen=True, slots=True)
class StatedCareers:
    """The typed facts of a corpus, and the people and projects that they tell of, which are grouped once a day."""

    facts: Sequence[Fact]
    _kept: dict[date, tuple[tuple[Person, ...], tuple[Project, ...]]] = field(default_factory=dict)

    def people(self, today: date) -> Sequence[Person]:
        """As `group_people`."""
        return self._on(today)[0]

    def projects(self, today: date) -> Sequence[Project]:
        """As `corpus_projects`."""
        return self._on(today)[1]

    def _on(self, today: date) -> tuple[tuple[Person, ...], tuple[Project, ...]]:
        if today not in self._kept:
            self._kept[today] = (tuple(group_people(self.facts, today)), tuple(corpus_projects(self.facts, today)))
        return self._kept[today]


def _stated_name(facts: Iterable[Fact]) -> str:
    return next((fact.record.name for fact in facts if isinstance(fact.record, PersonFacts) and fact.record.name), "")


def _organisations(facts: Iterable[Fact]) -> set[tuple[str, ...]]:
    return {tuple(word_parts(organisation_of(fact.record))) for fact in facts} - {()}


def organisation_of(record: CareerRecord) -> str:
    """The employer or the school of a record; empty for others."""
    return getattr(record, "company", "") or getattr(record, "institution", "")


def _is_work(fact: Fact) -> bool:
    return isinstance(fact.record, (ProjectFacts, ProjectDetail, TalkFacts, SummaryFacts))


def people_named(words: Sequence[str], known: Iterable[Person]) -> list[Person]:
    """The people whose names share the most words with these folded words; empty if none shares any."""
    held = [(len(set(words).intersection(organisation_words(person.name))), person) for person in known]
    most = max((count for count, _ in held), default=0)
    return [person for count, person in held if count == most > 0]


def _fact_order(fact: Fact) -> tuple[int, str, str]:
    return _CATEGORY_ORDER.get(fact.category, len(_CATEGORY_ORDER)), fact.document_name, fact.document_id


def _person(name: str, facts: Sequence[Fact], today: date) -> Person:
    talks = _grouped(facts, TalkFacts, lambda one, other: fold(one.title) == fold(other.title))
    skills: dict[str, tuple[str, list[Fact]]] = {}
    for fact in facts:
        for skill in fact.record.skills if isinstance(fact.record, SkillsFacts) else ():
            skills.setdefault(fold(skill), (skill, []))[1].append(fact)
    return Person(
        name=name,
        documents=tuple(dict.fromkeys(fact.document_name for fact in facts if not _is_work(fact))),
        jobs=tuple(merged_jobs([fact for fact in facts if isinstance(fact.record, JobFacts)], today)),
        education=_grouped(facts, EducationFacts, _same_education),
        certifications=_grouped(facts, CertificationFacts, lambda one, other: fold(one.name) == fold(other.name)),
        languages=_grouped(facts, LanguageFacts, lambda one, other: fold(one.language) == fold(other.language)),
        projects=_grouped(facts, ProjectFacts, _is_same_project),
        skills=tuple((skill, tuple(stating)) for skill, stating in skills.values()),
        stated_facts=tuple(fact for fact in facts if isinstance(fact.record, PersonFacts)),
        stated=tuple(fact for fact in facts if _names_somebody(fact)),
        summaries=tuple(fact for fact in facts if isinstance(fact.record, SummaryFacts)),
        unread=tuple(fact for fact in facts if isinstance(fact.record, UnreadLine)),
        talks=tuple(sorted(talks, key=lambda group: _end_of(group[0].record), reverse=True)),
    )


def _grouped(facts: Iterable[Fact], kind: type, same: Callable[[Any, Any], bool]) -> tuple[tuple[Fact, ...], ...]:
    groups: list[list[Fact]] = []
    for fact in facts:
        if isinstance(fact.record, kind):
            group = next((group for group in groups if same(group[0].record, fact.record)), None)
            if group is None:
                groups.append([fact])
            else:
                group.append(fact)
    return tuple(map(tuple, groups))


def _same_education(one: EducationFacts, other: EducationFacts) -> bool:
    dated = one.date_range and other.date_range
    same_time = months_agree(one.start_month, other.start_month) and months_agree(one.end_month, other.end_month)
    same_what = fold(one.degree) == fold(other.degree) or not one.degree or not other.degree
    return is_similar_organisation(one.institution, other.institution) and (same_time if dated else same_what)
