"""Values that are computed from career facts, each with the facts that it was computed from."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pipelines.facts import CareerRecord, JobFacts
from pipelines.months import named, spoken
from pipelines.query.careers.jobs import Job, agreeing, redated
from pipelines.query.careers.timeline import Person
from pipelines.query.conflicts.career_conflicts import dates_of, fact_source, titles_of
from pipelines.query.conflicts.disagreement import Disagreement
from pipelines.query.verification.agree import holds
from pipelines.store.facts import Fact
from pipelines.text import fold
from pipelines.types import Source

_TOKEN = re.compile(r"\.?\w+(?:\+\+|#)?")
_SHORT = 2  # letters up to which a skill must stand in its own spelling: `Go` is not `go`


@dataclass(frozen=True, slots=True)
class Item:
    """A fact that was counted, as the answer names it.

    `quotes` are the words of it that must stand in its span; `also_in` names other documents that state the same.
    `whose` states the name of the person whose fact it is, where the answer says it.
    """

    text: str
    fact: Fact
    quotes: tuple[str, ...]
    also_in: tuple[str, ...] = ()
    whose: Fact | None = None

    @property
    def quoted(self) -> list[tuple[Fact, tuple[str, ...]]]:
        """Each fact that it rests on, with the words that must stand in that one's span."""
        named = [(self.whose, (getattr(self.whose.record, "name", ""),))] if self.whose else []
        return [*named, (self.fact, self.quotes)]


@dataclass(frozen=True, slots=True)
class Reckoning:
    """A computed value, what it is the value of, and the facts that it was computed from.

    `doubts` are what documents say differently of it; `undated` facts belong to it, but could not be summed. Of what is
    `listed` the items are the answer, a sentence each.
    """

    value: str
    of: str
    items: tuple[Item, ...]
    doubts: tuple[Disagreement, ...] = ()
    undated: int = 0
    exact: bool = True
    listed: bool = False

    @property
    def said(self) -> list[tuple[str, tuple[Item, ...]]]:
        """The sentences of the answer, each with the items that it rests on."""
        return [(item.text, (item,)) for item in self.items] if self.listed else [(self.sentence, self.items)]

    @property
    def sentence(self) -> str:
        """The answer: `3 years 2 months at Acme: Engineer at Acme (May 2019 - Jul 2022).`"""
        listed = "; ".join(item.text for item in self.items)
        return f"{self.value[:1].upper()}{self.value[1:]}{self.of}: {listed.rstrip('.')}."


def summed(jobs: Sequence[Job], of: str, skill: str = "") -> Reckoning | None:
    """How long the jobs were, or those of them that name a skill; None when none of them is dated."""
    told = [(job, naming(job, skill) if skill else Named(job.stated[0], "")) for job in jobs]
    counted = [(job, named) for job, named in told if named is not None]
    dated = [(named, job.stretch, dates_of(job)) for job, named in counted if job.stretch is not None]
    if not dated:
        return None
    stretches = [each for _, each, _ in dated]
    return Reckoning(
        spoken(stretches),
        of if len(dated) == 1 else f"{of}, overlapping jobs counted once",
        tuple(job_item(job, *named) for job, named in counted if job.stretch is not None),
        tuple(doubt for _, _, doubt in dated if doubt),
        len(counted) - len(dated),
        all(each.exact for each in stretches),
    )


def held_in(person: Person, year: int) -> Reckoning | None:
    """The jobs that somebody had in a year; None when no dated one reaches into it."""
    spans = [(job, job.stretch) for job in person.jobs if job.stretch]
    jobs = [job for job, span in spans if span.first // 12 <= year <= span.last // 12]
    items = tuple(job_item(job, job.stated[0]) for job in jobs)
    doubts = (doubt for job in jobs for doubt in (dates_of(job), titles_of(job)) if doubt)
    return Reckoning(f"in {year}", "", items, tuple(doubts)) if items else None


def entries(jobs: Sequence[Job], value: str, of: str = "") -> Reckoning | None:
    """The jobs as they are stated, each in every way in which documents date it; None when there are none."""
    items = tuple(job_item(job, fact) for job in jobs for fact in redated(job) or job.stated[:1])
    doubts = tuple(doubt for job in jobs for doubt in (dates_of(job), titles_of(job)) if doubt)
    return Reckoning(value, of, items, doubts) if items else None


class Named(NamedTuple):
    """A statement of a job, and the words that it names a skill by."""

    fact: Fact
    form: str


def naming(job: Job, skill: str) -> Named | None:
    """The first statement of a job that names a skill in one of its forms, whole words of it; None when none does."""
    for fact in job.stated:
        for form in forms_of(skill):
            if _says(fact.own_text, form):
                return Named(fact, form)
    return None


def _says(text: str, form: str) -> bool:
    """Whether a text holds these words; a very short one in their own spelling."""
    return holds(text, fold(form)) and (len(form) > _SHORT or form in _TOKEN.findall(text))


def forms_of(skill: str) -> list[str]:
    """What a skill may be called: `Kubernetes (k8s)` is `Kubernetes` and `k8s`."""
    before, _, inside = skill.partition("(")
    return list(dict.fromkeys(filter(None, (skill, before.strip(), inside.rstrip(") ").strip()))))


def job_item(job: Job, fact: Fact, form: str = "") -> Item:
    """A job as an answer names it: `Engineer at Acme (May 2019 - Jul 2022)`; `form` must stand in its span too."""
    record = fact.record
    assert isinstance(record, JobFacts)
    what = f"{record.position} at {record.company}" if record.position else record.company
    months = [named(month) for month in (record.start_month, record.end_month or "") if month]
    when = record.date_range or " to ".join([*months, *(["today"] if record.current else [])])
    quotes = tuple(filter(None, (record.company, record.position, record.date_range, form)))
    return Item(f"{what} ({when})" if when else what, fact, quotes, others(fact, agreeing(job), quotes))


def fields(groups: Iterable[Sequence[Fact]], *names: str) -> list[Item]:
    """An item for each group: what its first fact states in these fields."""
    stated = [(group, [value for name in names if (value := getattr(group[0].record, name))]) for group in groups]
    return [Item(", ".join(said), group[0], tuple(said), others(group[0], group, said)) for group, said in stated]


def others(fact: Fact, facts: Iterable[Fact], quotes: Iterable[str]) -> tuple[str, ...]:
    """The names of other documents whose statement holds these words of a fact; its dates in any spelling."""
    record, wanted = fact.record, {*quotes}
    dates = {getattr(record, "date_range", "")} & wanted
    names = (
        other.document_name
        for other in facts
        if other.document_id != fact.document_id
        and (not dates or _months(other.record) == _months(record))
        and all(_says(other.text if said == _organisation(record) else other.own_text, said) for said in wanted - dates)
    )
    return tuple(dict.fromkeys(names))


def _months(record: CareerRecord) -> tuple[str, str | None, bool]:
    return getattr(record, "start_month", ""), getattr(record, "end_month", None), getattr(record, "current", False)


def _organisation(record: CareerRecord) -> str:
    """Whose name may stand above the span of a record."""
    return getattr(record, "company", "") or getattr(record, "institution", "")


def said_of(reckoning: Reckoning) -> str:
    """How it was computed, for people: of how many facts, and what could not be summed."""
    documents = {item.fact.document_id for item in reckoning.items}
    facts, held = len(reckoning.items), len(documents)
    said = f"Computed from {facts} career fact{'s' * (facts > 1)} of {held} document{'s' * (held > 1)}."
    return f"{said} {reckoning.undated} more without dates were left out." if reckoning.undated else said


Quoted = list[tuple[int, tuple[str, ...]]]


def cited_facts(reckoning: Reckoning) -> tuple[tuple[Source, ...], list[tuple[str, Quoted]]]:
    """(the facts' spans as sources from 1, and each sentence with the numbers of its sources and the words quoted)."""
    sources: dict[tuple[str, int, int], Source] = {}
    said: list[tuple[str, Quoted]] = []
    for sentence, items in reckoning.said:
        quoted: Quoted = []
        for item in items:
            for fact, words in item.quoted:
                key = (fact.document_id, fact.start, fact.end)
                sources.setdefault(key, fact_source(fact, len(sources) + 1, item.also_in if fact is item.fact else ()))
                quoted.append((sources[key].n, words))
        said.append((sentence, quoted))
    return tuple(sources.values()), said
