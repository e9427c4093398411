"""Jobs out of the statements of several documents: which are one job, and where they disagree."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

from pipelines.facts import JobFacts
from pipelines.months import Stretch, agree, overlap, stretch
from pipelines.store.facts import Fact
from pipelines.store.tokens import STOP_WORDS
from pipelines.text import fold

_WORD = re.compile(r"[^\W_]+")
_AT = frozenset({"at", "for", "with", "from", "by", "join", "joined", "leave", "left", "quit", "attend", "attended"})
_SAME_TIME = 0.5  # share of the months of two statements that both have
_LEGAL = frozenset(
    """ab ag as asa bv co company corp corporation gmbh inc incorporated kg limited llc llp lp ltd nv oy plc pty sa
    sarl sas se spa srl the""".split()
)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Job:
    """A job as one or several documents state it, each once; the first statement is the one that is counted."""

    stated: tuple[Fact, ...]
    stretch: Stretch | None

    @property
    def record(self) -> JobFacts:
        """The statement that is counted."""
        assert isinstance(self.stated[0].record, JobFacts)
        return self.stated[0].record


def merged_jobs(facts: Iterable[Fact], today: date) -> list[Job]:
    """Each job once, however many documents state it: companies alike, and times that overlap by half, or at all where
    the positions are the same (one of two resumes may be old, and its "Present" long past).

    Two entries of one document are two jobs. Of several statements the most precise one is counted, else that of the
    resume. The latest job first, undated ones last.
    """
    jobs: list[list[tuple[Fact, Stretch | None]]] = []
    for fact in facts:
        span = _stretch(fact, today)
        fits = [(_likeness(fact, span, job), -place) for place, job in enumerate(jobs)]
        best, place = max(fits, default=(0.0, 0))
        if best:
            jobs[-place].append((fact, span))
        else:
            jobs.append([(fact, span)])
    found = [_job(stated) for stated in jobs]
    return sorted(found, key=lambda job: (job.stretch is None, *_latest_first(job.stretch)))


def _stretch(fact: Fact, today: date) -> Stretch | None:
    assert isinstance(fact.record, JobFacts)
    return stretch(fact.record.start_month, fact.record.end_month, current=fact.record.current, today=today)


def _latest_first(span: Stretch | None) -> tuple[int, int]:
    return (-span.last, -span.first) if span else (0, 0)


def _job(stated: Sequence[tuple[Fact, Stretch | None]]) -> Job:
    ordered = sorted(stated, key=lambda each: (each[1] is None, each[1] is not None and not each[1].exact))
    return Job(tuple(fact for fact, _ in ordered), ordered[0][1])


def _likeness(fact: Fact, span: Stretch | None, job: Sequence[tuple[Fact, Stretch | None]]) -> float:
    """How well (0..1) a statement fits a job that other documents state; 0 = it is another job."""
    first, other = job[0]
    assert isinstance(fact.record, JobFacts)
    assert isinstance(first.record, JobFacts)
    if any(fact.document_id == held.document_id for held, _ in job):
        return 0.0
    if not is_like(fact.record.company, first.record.company):
        return 0.0
    mine, theirs = set(_words(fact.record.position)), set(_words(first.record.position))
    if span and other:
        shared = overlap(span, other)
        return shared if shared >= _SAME_TIME or (mine == theirs and mine) else 0.0
    return 0.5 if mine & theirs or not mine or not theirs else 0.0


def is_same(one: str, other: str) -> bool:
    """Whether two names of an organisation are one, their legal forms apart (`Acme, Inc.`)."""
    return own_words(one) == own_words(other)


def is_like(one: str, other: str) -> bool:
    """Whether one name of an organisation is a longer form of the other (`Acme`, `Acme Robotics GmbH`)."""
    left, right = own_words(one), own_words(other)
    return left[:1] == right[:1] and (set(left) <= set(right) or set(right) <= set(left))


def own_words(name: str) -> tuple[str, ...]:
    """The folded words of a name, without its legal form."""
    words = _words(name)
    return tuple(word for word in words if word not in _LEGAL) or words


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(fold(text)))


def disagreement(job: Job) -> str:
    """The dates of a job that documents state differently, each with its document; empty when they agree."""
    ways = [(fact.record.date_range, fact.document_name) for fact in redated(job) if isinstance(fact.record, JobFacts)]
    return f"{job.record.company}: " + ", ".join(f"{said} ({document})" for said, document in ways) if ways else ""


def redated(job: Job) -> list[Fact]:
    """A statement for each way in which documents date a job, the counted one first; empty when they agree."""
    ways: dict[str, Fact] = {}
    for fact in job.stated:
        record = fact.record
        assert isinstance(record, JobFacts)
        if record is job.record or not _agree(job.record, record):
            ways.setdefault(record.date_range, fact)
    return list(ways.values()) if len(ways) > 1 else []


def agreeing(job: Job) -> list[Fact]:
    """The statements of a job that do not disagree with the one that is counted, which is the first."""
    return [fact for fact in job.stated if isinstance(fact.record, JobFacts) and _agree(job.record, fact.record)]


def _agree(one: JobFacts, other: JobFacts) -> bool:
    """Whether two statements name the same months, as far as both name them."""
    if not other.start_month and not other.end_month and not other.current:
        return True
    same_end = one.current == other.current and agree(one.end_month, other.end_month)
    return agree(one.start_month, other.start_month) and same_end


def companies(jobs: Iterable[Job]) -> list[tuple[str, tuple[Job, ...]]]:
    """(name, jobs) of each company, in the order of the jobs; a company with several jobs stands once."""
    groups: list[tuple[str, list[Job]]] = []
    for job in jobs:
        name = job.record.company
        group = next((held for other, held in groups if is_same(name, other)), None)
        if group is None:
            groups.append((name, [job]))
        else:
            group.append(job)
    return [(name, tuple(held)) for name, held in groups]


def found_at(named: Iterable[tuple[str, T]], words: Sequence[str]) -> tuple[T | None, set[int]]:
    """What belongs to the organisation whose name stands in the folded words, and the places of the name.

    After `at` or `for` its first words will do. None where no name stands there, or several that are as long.
    """
    found: list[tuple[int, int, T]] = []
    for name, held in named:
        own = own_words(name)
        for start in range(len(words)):
            length = _shared(own, words[start:])
            led = start > 0 and words[start - 1] in _AT
            if length and (length == len(own) or led) and not STOP_WORDS.issuperset(own[:length]):
                found.append((length, start, held))
    longest = max((length for length, _, _ in found), default=0)
    places = [(start, held) for length, start, held in found if length == longest]
    if len({held for _, held in places}) != 1:
        return None, set()
    return places[0][1], {place for start, _ in places for place in range(start, start + longest)}


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words two lists have in common from their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))
