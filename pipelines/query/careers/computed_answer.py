"""Answers computed from career facts: counts, durations and lists, each with the facts it rests on."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from config.settings import PersonaSettings
from pipelines.answers import Source
from pipelines.facts import CareerRecord, JobFacts, SkillsFacts, UnreadLine
from pipelines.months import duration_text, ends_of, month_text
from pipelines.query.careers.disagreements import (
    Disagreement,
    conflicting_dates,
    conflicting_titles,
    fact_source,
    job_disagreements,
)
from pipelines.query.careers.people import (
    Job,
    Person,
    agreeing_facts,
    differently_dated,
    is_same_organisation,
    jobs_by_company,
    organisation_of,
)
from pipelines.query.question.words import read
from pipelines.query.verification.normalise import contains_phrase
from pipelines.store.facts import Fact
from pipelines.store.tokens import tokenise
from pipelines.text import fold, shown_name

CAREER_FACTS = "career facts"  # the model name of a computed answer
NEUTRAL = PersonaSettings()
_SHOWN_LINES = 3
_SHORT = 2  # letters up to which a skill must stand in its own spelling: `Go` is not `go`


@dataclass(frozen=True, slots=True)
class ComputedItem:
    """A fact behind a computed answer as it words it, and the quotes that must stand in the fact's span.

    `also_in` names other documents that state the same; `whose` states the person's name, if the answer says it.
    """

    text: str
    fact: Fact
    quotes: tuple[str, ...]
    also_in: tuple[str, ...] = ()
    whose: Fact | None = None

    @property
    def quoted(self) -> list[tuple[Fact, tuple[str, ...]]]:
        """Each fact used, with the words that must stand in its span."""
        named = [(self.whose, (getattr(self.whose.record, "name", ""),))] if self.whose else []
        return [*named, (self.fact, self.quotes)]


@dataclass(frozen=True, slots=True)
class ComputedAnswer:
    """A value computed from career facts, or with `listed` the facts themselves, a sentence each.

    Attributes:
        value: The value in words; empty for a list.
        of: What it is the value of.
        items: The facts that it was computed from.
        doubts: Disagreements of documents about them.
        undated: Number of facts without dates, which could not be summed.
        unread: Dated lines from which no job or study was read.
        exact: True if all dates are exact to the month.
        mine: The words that lead in to the facts in the first person; empty where they are as well without.
        derived: Parts of quoted words that a sentence says alone, as one end of a range.
        language: The language to answer in; empty for English.
    """

    value: str
    of: str
    items: tuple[ComputedItem, ...]
    doubts: tuple[Disagreement, ...] = ()
    undated: int = 0
    unread: tuple[Fact, ...] = ()
    exact: bool = True
    listed: bool = False
    mine: str = ""
    derived: tuple[str, ...] = ()
    language: str = ""

    def said(self, persona: PersonaSettings) -> list[tuple[str, tuple[ComputedItem, ...]]]:
        """The sentences of the answer in the voice of a persona, each with its items."""
        if not self.listed:
            return [(self.sentence(persona), self.items)]
        own = f"{persona.name}: " if persona.voice == "first" and persona.name else ""
        return [(item.text.removeprefix(own), (item,)) for item in self.items]

    def sentence(self, persona: PersonaSettings) -> str:
        """The answer: `3 years 2 months at Acme: Engineer at Acme (May 2019 - Jul 2022).`, or `I worked 3 years
        ...`.
        """
        listed = "; ".join(item.text for item in self.items)
        lead = self.mine if persona.voice == "first" and self.mine else f"{self.value}{self.of}"
        said = f"{lead}: {listed}" if lead else listed
        return f"{said[:1].upper()}{said[1:].rstrip('.')}."


def total_duration(jobs: Sequence[Job], of: str, skill: str = "") -> ComputedAnswer | None:
    """Total duration of the jobs, or of those that name a skill; None if none is dated."""
    mentions = [(job, skill_mention(job, skill) if skill else (job.stated[0], "")) for job in jobs]
    counted = [(job, named) for job, named in mentions if named is not None]
    dated = [(named, job.stretch, conflicting_dates(job)) for job, named in counted if job.stretch is not None]
    if not dated:
        return None
    stretches = [each for _, each, _ in dated]
    of = of if len(dated) == 1 else f"{of}, overlapping jobs counted once"
    return ComputedAnswer(
        duration_text(stretches),
        of,
        tuple(job_item(job, *named) for job, named in counted if job.stretch is not None),
        tuple(doubt for _, _, doubt in dated if doubt),
        len(counted) - len(dated),
        exact=len(counted) == len(dated) and all(each.exact for each in stretches),
        mine=f"I have {duration_text(stretches)}{of}"
        if of.startswith(" of ")
        else f"I worked {duration_text(stretches)}{of}",
    )


def jobs_in_year(person: Person, year: int) -> ComputedAnswer | None:
    """The jobs of a person in a year; None if there is no dated one."""
    jobs = [job for job, span in person.dated_jobs if span.first // 12 <= year <= span.last // 12]
    items = tuple(job_item(job, job.stated[0]) for job in jobs)
    mine = f"in {year} my job{'s were' if len(items) > 1 else ' was'}"
    return ComputedAnswer(f"in {year}", "", items, job_disagreements(jobs), mine=mine) if items else None


def job_entries(jobs: Sequence[Job], value: str, of: str = "", *, mine: str = "") -> ComputedAnswer | None:
    """The jobs as stated, one item for each different dating; None without jobs. `mine` leads in as their holder."""
    items = tuple(job_item(job, fact) for job in jobs for fact in differently_dated(job) or job.stated[:1])
    # Of a whole job the employer, the position, and both ends of its dates, if it has any, were read.
    whole = [
        bool(job.record.company and job.record.position and (job.stretch or not job.record.date_range)) for job in jobs
    ]
    exact = all(whole) or not any(whole)
    return ComputedAnswer(value, of, items, job_disagreements(jobs), exact=exact, mine=mine) if items else None


def current_entries(person: Person) -> ComputedAnswer | None:
    """The jobs that go on."""
    return job_entries(person.current_jobs, "now", mine="now I am")


def bound_entries(jobs: Sequence[Job], *, began: bool) -> ComputedAnswer | None:
    """When the jobs at a company began or ended, once for each dating: `At Acme until July 2022 (Engineer)`.

    A job that another one there follows at once, or is preceded by, is left out. None without jobs.
    """
    spans = [(job, job.stretch) for job in jobs if job.stretch]
    if began:
        edges = [one for one, span in spans if not any(o.first < span.first <= o.last + 1 for _, o in spans)]
    else:
        edges = [
            one for one, span in spans if not any(span.last < o.last and o.first <= span.last + 1 for _, o in spans)
        ]
    different = [(job, differently_dated(job) or job.stated[:1]) for job in edges]
    ends_of_jobs = [(job, {_months(f.record)[not began]: f for f in reversed(facts)}) for job, facts in different]
    stated = [(job, [*by_end.values()][::-1]) for job, by_end in ends_of_jobs]
    items = [_bound_item(job, fact, began=began) for job, facts in stated for fact in facts]
    if not items or not all(items):
        return job_entries(jobs, "")
    doubts = tuple(filter(None, (conflicting_dates(job) for job, facts in stated if len(facts) > 1)))
    first, *others = (item for item in items if item)
    at = f"at {edges[0].record.company} "
    said = (replace(other, text=other.text.replace(at, "", 1)) for other in others)
    ends = tuple(end for job in edges for fact in job.stated for end in ends_of(getattr(fact.record, "date_range", "")))
    return ComputedAnswer("", "", (first, *said), doubts, derived=tuple(filter(None, ends)))


def _bound_item(job: Job, fact: Fact, *, began: bool) -> ComputedItem | None:
    """The beginning or end of a job in the words of its dates; None where these are no range."""
    record = fact.record
    assert isinstance(record, JobFacts)
    first, last = ends_of(record.date_range)
    if not last:
        return None
    said = first if began or record.current else last
    since = f"since {said}" if record.current else f"from {said}" if began else f"until {said}"
    still = "still " if record.current and not began else ""
    post = f" ({record.position})" if record.position else ""
    quotes = tuple(filter(None, (record.company, record.position, record.date_range)))
    also_in = other_documents(fact, agreeing_facts(job), quotes)
    return ComputedItem(f"{still}at {record.company} {since}{post}", fact, quotes, also_in)


def skill_mention(job: Job, skill: str) -> tuple[Fact, str] | None:
    """(the first statement of a job that holds a form of the skill as whole words, that form); None without one."""
    for fact in job.stated:
        for form in skill_forms(skill):
            if _contains_form(fact.own_text, form):
                return fact, form
    return None


def _contains_form(text: str, form: str) -> bool:
    """True if a text holds a form of a skill; a very short form must match in case."""
    return contains_phrase(text, fold(form)) and (
        len(form) > _SHORT or form in {word.typed for word in read(text).words}
    )


def skill_forms(skill: str) -> list[str]:
    """The forms of a skill: `Kubernetes (k8s)` gives `Kubernetes` and `k8s`."""
    before, _, inside = skill.partition("(")
    return list(dict.fromkeys(filter(None, (skill, before.strip(), inside.rstrip(") ").strip()))))


def job_item(job: Job, fact: Fact, form: str = "") -> ComputedItem:
    """A job as an answer names it: `Engineer at Acme (May 2019 - Jul 2022)`; `form` must stand in its span too."""
    record = fact.record
    assert isinstance(record, JobFacts)
    what = " at ".join(filter(None, (record.position, record.company)))
    months = [month_text(month) for month in (record.start_month, record.end_month or "") if month]
    when = record.date_range or " to ".join([*months, *(["today"] if record.current else [])])
    quotes = tuple(filter(None, (record.company, record.position, record.date_range, form)))
    return ComputedItem(
        f"{what} ({when})" if when else what, fact, quotes, other_documents(fact, agreeing_facts(job), quotes)
    )


def field_items(groups: Iterable[Sequence[Fact]], *names: str) -> list[ComputedItem]:
    """An item for each group: what its first fact states in these fields."""
    stated = [(group, [value for name in names if (value := getattr(group[0].record, name))]) for group in groups]
    return [
        ComputedItem(", ".join(said), group[0], tuple(said), other_documents(group[0], group, said))
        for group, said in stated
    ]


def other_documents(fact: Fact, facts: Iterable[Fact], quotes: Iterable[str]) -> tuple[str, ...]:
    """Names of other documents whose statement holds the same quotes; dates may be spelt differently."""
    record, wanted = fact.record, {*quotes}
    dates = {getattr(record, "date_range", "")} & wanted
    names = (
        other.document_name
        for other in facts
        if other.document_id != fact.document_id
        and (not dates or _months(other.record) == _months(record))
        and all(
            _contains_form(other.text if said == organisation_of(record) else other.own_text, said)
            for said in wanted - dates
        )
    )
    return tuple(dict.fromkeys(names))


def _months(record: CareerRecord) -> tuple[str, str | None, bool]:
    return getattr(record, "start_month", ""), getattr(record, "end_month", None), getattr(record, "current", False)


def as_far_as_read(found: ComputedAnswer, person: Person, about: str) -> ComputedAnswer:
    """The answer about all jobs, or all studies; if dated lines that may state one were not read, of the others."""
    unread = tuple(fact for fact in person.unread if isinstance(fact.record, UnreadLine) and fact.record.about == about)
    if not unread:
        return found
    of_read = ", as far as was read" if found.of else ""
    mine = f"{found.mine}{of_read}" if found.mine else ""
    return replace(found, of=f"{found.of}{of_read}", mine=mine, exact=False, unread=unread)


def left_out_note(computed: ComputedAnswer) -> str:
    """Facts without dates and dated lines that were not read, which the answer does not count; empty if none."""
    was = "were" if computed.undated > 1 else "was"
    undated = f"{computed.undated} more without dates {was} left out." if computed.undated else ""
    lines = [f"“{' '.join(fact.own_text.split())}” ({fact.document_name})" for fact in computed.unread]
    more = f", and {len(lines) - _SHOWN_LINES} more" if len(lines) > _SHOWN_LINES else ""
    unread = f"Dated lines from which no job or study was read: {', '.join(lines[:_SHOWN_LINES])}{more}."
    return " ".join(filter(None, (undated, unread if lines else "")))


Quoted = list[tuple[int, tuple[str, ...]]]
FactGroup = tuple[Fact, ...]


def cited_facts(
    computed: ComputedAnswer, persona: PersonaSettings = NEUTRAL
) -> tuple[tuple[Source, ...], list[tuple[str, Quoted]]]:
    """(the spans of the facts as numbered sources, each sentence with its source numbers and quoted words)."""
    sources: dict[tuple[str, int, int], Source] = {}
    sentences: list[tuple[str, Quoted]] = []
    for sentence, items in computed.said(persona):
        quoted: Quoted = []
        for item in items:
            for fact, words in item.quoted:
                key = (fact.document_id, fact.start, fact.end)
                sources.setdefault(key, fact_source(fact, len(sources) + 1, item.also_in if fact is item.fact else ()))
                quoted.append((sources[key].n, words))
        sentences.append((sentence, quoted))
    return tuple(sources.values()), sentences


def count_items(person: Person, noun: str) -> ComputedAnswer | None:
    """The number of things that a noun names (`companies`, `degrees`); None if no fact states any."""
    one, several, items = _COUNTS[noun]
    found = items(person)
    what = f" {one if len(found) == 1 else several}"
    mine = f"I count {len(found)}{what}"
    return ComputedAnswer(str(len(found)), what, tuple(found), mine=mine) if found else None


def employer_items(person: Person) -> list[ComputedItem]:
    """Each company once, the latest first."""
    firsts = [(name, jobs[0].stated) for name, jobs in jobs_by_company(person.jobs)]
    return [
        ComputedItem(name, stated[0], (name,), other_documents(stated[0], stated, (name,))) for name, stated in firsts
    ]


def language_items(person: Person) -> list[ComputedItem]:
    """Each language once, with its level."""
    return field_items(person.languages, "language", "level")


def _by_institution(person: Person) -> list[FactGroup]:
    groups = {fold(getattr(group[0].record, "institution", "")): group for group in reversed(person.education)}
    return [*reversed(groups.values())]


_Count = tuple[str, str, Callable[[Person], list[ComputedItem]]]
_KINDS: Mapping[str, _Count] = {
    "company companies employer employers organisation organisations organization organizations firm firms": (
        "company", "companies", employer_items,
    ),
    "job jobs position positions role roles": (
        "job", "jobs", lambda person: [job_item(job, job.stated[0]) for job in person.jobs],
    ),
    "degree degrees": (
        "degree", "degrees",
        lambda person: field_items(
            [group for group in person.education if getattr(group[0].record, "degree", "")], "degree", "institution"
        ),
    ),
    "university universities school schools college colleges": (
        "institution", "institutions", lambda person: field_items(_by_institution(person), "institution"),
    ),
    "language languages": ("language", "languages", language_items),
    "certificate certificates certification certifications": (
        "certificate", "certificates", lambda person: field_items(person.certifications, "name"),
    ),
}  # fmt: skip
_COUNTS = {noun: kind for nouns, kind in _KINDS.items() for noun in nouns.split()}
COUNTABLE = frozenset(_COUNTS)


def list_answer(items: Iterable[ComputedItem], doubts: Iterable[Disagreement] = ()) -> ComputedAnswer | None:
    """The list of these items; None when there are none."""
    found = tuple(items)
    return ComputedAnswer("", "", found, tuple(doubts), listed=True) if found else None


def stated_jobs(jobs: Iterable[Job], person: Person, *, by_dates: bool = False) -> ComputedAnswer | None:
    """Each job by every statement that has another title, or with `by_dates` other dates, and what is disputed."""
    items: list[ComputedItem] = []
    doubts: list[Disagreement | None] = []
    for job in jobs:
        if by_dates:
            facts: Sequence[Fact] = differently_dated(job) or job.stated[:1]
        else:
            facts = list({fold(getattr(fact.record, "position", "")): fact for fact in reversed(job.stated)}.values())
        items += [job_item(job, fact) for fact in facts]
        doubts.append(conflicting_dates(job) if by_dates else conflicting_titles(job, person.jobs))
    return list_answer(items, filter(None, doubts))


def with_person(person: Person, item: ComputedItem) -> ComputedItem:
    """The item with the person's name before it, and the fact that states the name."""
    return replace(item, text=f"{shown_name(person.name)}: {item.text}", whose=person.stated[0])


def duty_items(jobs: Iterable[Job]) -> list[ComputedItem]:
    """The bullet points of these jobs, from the statement that counts."""
    return [ComputedItem(said, job.stated[0], (said,)) for job in jobs for said in job.record.bullets]


def study_items(education: Iterable[FactGroup], *, degrees: bool = False) -> list[ComputedItem]:
    """Each study as stated; with `degrees`, only those that name one."""
    groups = [group for group in education if not degrees or bool(getattr(group[0].record, "degree", ""))]
    found = []
    for item in field_items(groups, "degree", "area", "institution", "date_range"):
        degree, area = (getattr(item.fact.record, name, "") for name in ("degree", "area"))
        text = item.text.replace(f"{degree}, {area}", f"{degree} in {area}", 1) if area else item.text
        found.append(replace(item, text=text))  # `MSc in Hydrology, University of Porto`
    return found


def studies_by_institution(person: Person) -> list[tuple[str, tuple[FactGroup, ...]]]:
    """(name, studies) of each school."""
    found: list[tuple[str, list[FactGroup]]] = []
    for group in person.education:
        name = getattr(group[0].record, "institution", "")
        known = next((held for other, held in found if is_same_organisation(name, other)), None)
        if known is None:
            found.append((name, [group]))
        else:
            known.append(group)
    return [(name, tuple(groups)) for name, groups in found]


def certificate_items(person: Person) -> list[ComputedItem]:
    """Each certificate once."""
    return field_items(person.certifications, "name", "issuer", "date_range")


def skill_items(person: Person, asked: Sequence[str] = ()) -> tuple[list[ComputedItem], set[int]]:
    """(the lists of skills, the indexes of the asked words that name them).

    With asked words, only lists whose name stands among them (`Databases`), of those the longest names.
    """
    groups: dict[tuple[str, ...], list[Fact]] = {}
    for fact in dict.fromkeys(fact for _, stated in person.skills for fact in stated):
        record = fact.record
        assert isinstance(record, SkillsFacts)
        groups.setdefault((fold(record.group), *map(fold, record.skills)), []).append(fact)
    if not asked:
        return [_skill_item(group) for group in groups.values()], set()
    stems = [_name_terms(word) for word in asked]
    heard = {term for terms in stems for term in terms}
    titles = [(str(getattr(group[0].record, "group", "")), group) for group in groups.values()]
    apart = [(title.replace(" and ", ",").replace("&", ",").replace("/", ","), group) for title, group in titles]
    called = [(_name_terms(name), group) for title, group in apart for name in title.split(",")]
    named = [(terms, group) for terms, group in called if terms and terms <= heard]
    most = max((len(terms) for terms, _ in named), default=0)
    chosen = [(terms, group) for terms, group in named if len(terms) == most]
    used = {place for place, terms in enumerate(stems) if any(own.intersection(terms) for own, _ in chosen)}
    return [_skill_item(group) for _, group in chosen], used


def _name_terms(name: str) -> set[str]:
    """The index terms of a name; of "Programming" another than of "Programs"."""
    return {f"{term}{'ing' * word.endswith('ing')}" for word in fold(name).split() for term in tokenise(word)}


def first_skill_list(stating: Sequence[Fact]) -> list[ComputedItem]:
    """The first list of skills, if there is one."""
    return [_skill_item(stating[:1])] if stating else []


def _skill_item(group: Sequence[Fact]) -> ComputedItem:
    """A list of skills, with its name if the span holds it."""
    fact, record = group[0], group[0].record
    assert isinstance(record, SkillsFacts)
    name = record.group if record.group and contains_phrase(fact.own_text, fold(record.group)) else ""
    said = ", ".join(record.skills)
    quotes = tuple(filter(None, (name, *record.skills)))
    return ComputedItem(f"{name}: {said}" if name else said, fact, quotes, other_documents(fact, group, quotes))
