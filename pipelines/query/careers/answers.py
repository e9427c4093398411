"""Answers that career facts give to a question as it was read, every word of it understood, or by its kind."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TypeVar

from pipelines.facts import EducationFacts
from pipelines.query.careers.computed_answer import (
    COUNTABLE,
    ComputedAnswer,
    ComputedItem,
    as_far_as_read,
    bound_entries,
    certificate_items,
    count_items,
    current_entries,
    duty_items,
    employer_items,
    field_items,
    first_skill_list,
    job_entries,
    job_item,
    jobs_in_year,
    language_items,
    list_answer,
    skill_forms,
    skill_items,
    stated_jobs,
    studies_by_institution,
    study_items,
    total_duration,
    with_person,
)
from pipelines.query.careers.people import (
    LEGAL_FORMS,
    Job,
    Person,
    find_organisation,
    jobs_by_company,
    months_of,
    organisation_words,
    people_named,
)
from pipelines.query.question.careers import LISTS, CareerAsk, CareerKind, career_asks
from pipelines.query.question.words import words
from pipelines.store.facts import Fact
from pipelines.store.known_names import is_ordinary, name_words
from pipelines.store.tokens import STOP_WORDS, index_terms, tokenise
from pipelines.structure import sentences
from pipelines.text import fold, word_parts
from pipelines.types import QueryIntent

_ALSO_WORDS = frozenset("as co company corporation incorporated limited spa".split())  # of legal forms
_LEGAL = LEGAL_FORMS - _ALSO_WORDS
_MAX_SKILL = 4  # words
_OF_ALL = {**dict.fromkeys(("duration", "count", "year", "former", "work"), "job"), "studies": "study"}
_MOST = 3  # people of whom one question is answered
_LEVELS = tuple(map(words, ("doctorate", "master", "bachelor")))
_LEAST_TITLE = 2  # words of a title that a question must say
_HALF_YEAR = 6  # months that the July, for which a year counts, is after its first
_GENERAL = 5  # letters of one word that names an employer: "the hospital"


def answer_from_people(intent: QueryIntent, known: Sequence[Person]) -> ComputedAnswer | None:
    """The answer computed from the facts of these people; None unless every word of the question is understood.

    A question without a name is about the only person whose facts answer it.
    """
    asks = career_asks(intent)
    if not asks:
        return None
    values = [ask for ask in asks if ask.kind in _VALUES]
    lists = [ask for ask in asks if ask.kind in LISTS]
    named = people_named(asks[-1].words, known) or known
    found = [own for person in named if (own := _first(values, person, (*organisation_words(person.name), *_LEGAL)))]
    if not found and lists:
        who = lists[0].kind == "who"
        found = list(filter(None, [people_matching(known, lists[0]) if who else _list_for_people(known, lists)]))
    if not found and len(named) == 1 and asks[-1].kind == "named":
        found = list(filter(None, [answer_for_named(named[0], asks[-1], organisation_words(named[0].name))]))
    return found[0] if len(found) == 1 else None


def _first(asks: Iterable[CareerAsk], person: Person, spare: Collection[str]) -> ComputedAnswer | None:
    """The answer to the first of these asks that a person's facts answer."""
    readers = {**_VALUES, **_LISTS}
    found = ((ask.kind, own) for ask in asks if (own := readers[ask.kind](person, ask, spare)))
    kind, first = next(found, ("", None))
    is_of_all = first is not None and kind in _OF_ALL and not first.of.startswith(" at ")
    return as_far_as_read(first, person, _OF_ALL[kind]) if first and is_of_all else first


def _there(person: Person, ask: CareerAsk) -> tuple[tuple[Job, ...], set[int], str]:
    """(the jobs at the company that the question names, the places of its name, "at" it)."""
    jobs, used = find_organisation(jobs_by_company(person.jobs), ask.words)
    return jobs or (), used, f" at {jobs[0].record.company}" if jobs else ""


def _duration(person: Person, ask: CareerAsk, spare: Collection[str]) -> ComputedAnswer | None:
    there, used, at = _there(person, ask)
    jobs = there or person.jobs
    rest, is_now = ask.left(used, spare), not there and "there" in ask.marks  # where somebody works now
    if not rest and not is_now:
        return total_duration(jobs, at or " of work experience") if there or "work" in ask.marks else None
    if words("current").issuperset(rest):
        return total_duration([job for job in jobs if job.record.current], f" in the current job{at}")
    wanted = set(tokenise(" ".join(rest)))
    if titled := [job for job in jobs if wanted and wanted <= set(tokenise(job.record.position))]:
        return total_duration(titled, f" as {' '.join(rest)}{at}")
    if len(rest) > _MAX_SKILL or not ask.is_about(rest):
        return None
    phrase = " ".join(rest)
    skill = next((skill for skill, _ in person.skills if phrase in map(fold, skill_forms(skill))), phrase)
    return total_duration(jobs, f" in jobs{at} that name {skill_forms(skill)[:2][-1]}", skill)


def _count(person: Person, ask: CareerAsk, spare: Collection[str]) -> ComputedAnswer | None:
    is_known = ask.noun in COUNTABLE and not ask.left((), spare)
    is_skill = ask.noun.startswith("language") and "speaking" not in ask.marks
    return count_items(person, ask.noun) if is_known and not is_skill else None


def _former(person: Person, ask: CareerAsk, spare: Collection[str]) -> ComputedAnswer | None:
    """The jobs that are over, latest first; of "her previous job" that one."""
    over = [job for job in person.jobs if not job.record.current][: None if "several" in ask.marks else 1]
    return None if ask.left((), spare) else job_entries(over, "earlier", mine="before, I was")


def _bounds(person: Person, ask: CareerAsk, spare: Collection[str]) -> ComputedAnswer | None:
    """The current jobs, or those at a company that the person joined or left."""
    there, used, _ = _there(person, ask)
    if ask.left(used, spare):
        return None
    if there and ask.marks & {"began", "ended"}:
        return bound_entries(there, began="began" in ask.marks)
    return current_entries(person) if "now" in ask.marks and not there else None


def _beside(person: Person, ask: CareerAsk, spare: Collection[str]) -> ComputedAnswer | None:
    """The dated jobs before or after those that the question names by their company or a word of their titles, the
    nearest first; with "right before" the nearest alone. None if the named jobs have no dates."""
    there, used, _ = _there(person, ask)
    if not there and (title := tokenise(" ".join(ask.words[ask.place + 1 :]))):
        there = tuple(job for job in person.jobs if {*title} <= {*tokenise(job.record.position)})
        used = set(range(ask.place + 1, len(ask.words)))
    if not there or ask.left({*used, ask.place}, spare) or min(used) - 1 != ask.place:
        return None
    starts = [span.first for job, span in person.dated_jobs if job in there]
    if not starts:
        return None
    others, is_before = [pair for pair in person.dated_jobs if pair[0] not in there], "before" in ask.marks
    if is_before:
        beside = [job for job, span in others if span.first < min(starts)]
    else:
        beside = [job for job, span in reversed(others) if span.first > max(starts)]
    when = f"{'before' if is_before else 'after'} {there[0].record.company or there[0].record.position}"
    return job_entries(beside[:1] if "nearest" in ask.marks else beside, when, mine=f"{when} I was")


def _employed(person: Person, ask: CareerAsk, spare: Collection[str]) -> ComputedAnswer | None:
    """The jobs that have every word of what is asked: "Did she work at Acme?", "Was she an editor?"."""
    wanted, is_role = set(ask.left((), spare)), "role" in ask.marks
    able = [job for job in person.jobs if job.record.current or "now" not in ask.marks]
    said = [(job, _words(job, "position"), _words(job, "company"), _words(job, "location")) for job in able]
    jobs = [
        job for job, *fields in said if wanted <= fields[0].union(*fields[1:]) and (fields[0] & wanted or not is_role)
    ]
    found = job_entries(jobs, "yes") if wanted else None
    if found and is_role:
        stated = stated_jobs(jobs, person)
        return replace(found, items=stated.items) if stated else None
    if not found:
        return None
    placed = ((item, getattr(item.fact.record, "location", "")) for item in found.items)
    items = [  # with the place of the job where that was asked for
        replace(item, text=f"{item.text}, {place}", quotes=(*item.quotes, place))
        if wanted & {*word_parts(place)}
        else item
        for item, place in placed
    ]
    return replace(found, items=tuple(items))


def _words(job: Job, field: str) -> set[str]:
    return {word for fact in job.stated for word in word_parts(getattr(fact.record, field))}


# Lists


def _list_for_people(known: Sequence[Person], asks: Sequence[CareerAsk]) -> ComputedAnswer | None:
    """The list of facts about the people the question names; None unless somebody is meant.

    With several people each item starts with a name; if the question names none of them, the answer is not exact.
    """
    named = people_named(asks[0].words, known) or list(known)
    own = {word for person in named for word in organisation_words(person.name)}
    is_named = not own.isdisjoint(asks[0].words)
    if not 0 < len(named) <= _MOST or not (is_named or "somebody" in asks[0].marks):
        return None
    found = [(person, own_list) for person in named if (own_list := _first(asks, person, own))]
    if len(named) == 1:
        return replace(found[0][1], listed=True) if found else None
    items = [with_person(person, item) for person, own_list in found if person.stated for item in own_list.items]
    several = list_answer(items)
    return replace(several, exact=is_named and all(own.exact for _, own in found)) if several else None


def _studies(person: Person, ask: CareerAsk, spare: Collection[str]) -> ComputedAnswer | None:
    there, used = find_organisation(studies_by_institution(person), ask.words)
    groups = list(there or person.education)
    if "when" in ask.marks:
        groups = [group for group in groups if getattr(group[0].record, "date_range", "")]
    return None if ask.left(used, spare) else list_answer(study_items(groups, degrees="degrees" in ask.marks))


def _skills(person: Person, ask: CareerAsk, spare: Collection[str]) -> ComputedAnswer | None:
    """Lists of skills: all, or those whose name the question holds."""
    named, used = skill_items(person, ask.words)
    if ask.left(used, spare):
        return None
    if used or "speaks" in ask.marks:
        return list_answer([*named, *(language_items(person) if "speaks" in ask.marks else ())])
    return list_answer(skill_items(person, ())[0]) if "skills" in ask.marks else None


def _volunteering(person: Person, ask: CareerAsk, spare: Collection[str]) -> ComputedAnswer | None:
    """The jobs that call themselves voluntary, by their title, company, or section."""
    there, used, _ = _there(person, ask)
    said = [
        (job, (job.record.position, job.record.company, *job.stated[0].section_path)) for job in there or person.jobs
    ]
    unpaid = [job for job, texts in said if words("volunteering") & {*fold(" ".join(texts)).split()}]
    return None if ask.left(used, spare) else job_entries(unpaid, "")


def _work(person: Person, ask: CareerAsk, spare: Collection[str]) -> ComputedAnswer | None:
    there, used, _ = _there(person, ask)
    if there and "duties" in ask.marks and not ask.left(used, {*spare, *words("duties")}):
        return list_answer(duty_items(there))
    if ask.left(used, spare):
        return None
    if there and "one" in ask.marks:
        return stated_jobs(there, person)
    if "titles" in ask.marks or ("history" in ask.marks and "companies" not in ask.marks):
        return job_entries(there or person.jobs, "")
    return list_answer(employer_items(person)) if "companies" in ask.marks and not there else None


def people_matching(known: Sequence[Person], ask: CareerAsk) -> ComputedAnswer | None:
    """The people who match a "who" question; None unless every word is understood and somebody matches.

    If nobody works at the company now, former employees are listed and the answer is not exact.
    """
    people, now = [person for person in known if person.stated], "now" in ask.marks
    for current in (True, False) if now else (False,):
        items = (with_person(person, item) for person in people for item in _matching_items(person, ask, now=current))
        if found := list_answer(items):
            return replace(found, exact=current or not now)
    return None


def _matching_items(person: Person, ask: CareerAsk, *, now: bool) -> list[ComputedItem]:
    wanted = " ".join(ask.left((), words("experienced")))
    stating = (stated for skill, stated in person.skills if wanted in map(fold, skill_forms(skill)))
    if wanted and "skilled" in ask.marks and (skilled := first_skill_list(next(stating, ()))):
        return skilled
    jobs, used, _ = _there(person, ask)
    if jobs and "worked" in ask.marks and not ask.left(used, words("worked")):
        return [job_item(job, job.stated[0]) for job in jobs if job.record.current or not now]
    groups, used = find_organisation(studies_by_institution(person), ask.words)
    if groups and "studied" in ask.marks and not ask.left(used, words("studied-there")):
        return study_items(groups)
    spoken = [(getattr(group[0].record, "language", ""), group) for group in person.languages]
    language, used = find_organisation(spoken, ask.words)
    if language and "speaking" in ask.marks and not ask.left(used, words("speaking")):
        return field_items([language], "language", "level")
    return []


_Reader = Callable[[Person, CareerAsk, Collection[str]], ComputedAnswer | None]
_VALUES: Mapping[CareerKind, _Reader] = {
    "year": lambda person, ask, spare: None if ask.left((), spare) else jobs_in_year(person, ask.year),
    "duration": _duration, "count": _count, "beside": _beside, "former": _former, "bounds": _bounds,
    "employed": _employed,
}  # fmt: skip
_LISTS: Mapping[CareerKind, _Reader] = {
    "studies": _studies, "skills": _skills, "work": _work, "volunteering": _volunteering,
    "certificates": lambda person, ask, spare: None if ask.left((), spare) else list_answer(certificate_items(person)),
    "languages": lambda person, ask, spare: None if ask.left((), spare) else list_answer(language_items(person)),
}  # fmt: skip


# What a question names: a title, a degree or an employer


@dataclass(frozen=True, slots=True)
class _Named:
    """The jobs and studies that words name, and the places of those words."""

    jobs: tuple[Job, ...]
    studies: tuple[tuple[Fact, ...], ...]
    used: frozenset[int]


def answer_for_named(person: Person, ask: CareerAsk, spare: Collection[str]) -> ComputedAnswer | None:
    """The answer about what the question names of a career; None unless every word is understood or `spare` (a
    name).
    """
    bound, marks = ask.place, ask.marks
    named, limit = _named(person, ask.words[:bound]), _named(person, ask.words[bound + 1 :])
    if left := ask.left(named.used | {bound} | {bound + 1 + at for at in limit.used}, spare):
        said = [({word for fact in group for word in word_parts(fact.own_text)}, group) for group in named.studies]
        stating = [group for told, group in said if told.issuperset(left)]
        return list_answer(study_remarks(stating, left)) if bound == len(ask.words) else None
    is_bound = bool(marks & {"before", "after"})
    jobs, studies = named.jobs, list_answer(study_items(named.studies))
    if not (jobs or named.studies) and not (is_bound and "work" in marks):
        return _by_order(person, marks)
    if is_bound:
        beside = _around(jobs or person.jobs, limit, before="before" in marks)
        if "after" in marks:
            beside = beside[::-1][: 1 if marks & {"first", "began"} else None]
        return job_entries(beside, " ".join(ask.words[bound:])) if beside and limit.used else None
    if "long" in marks:
        return total_duration(jobs, f" as {jobs[0].record.position}") if jobs else studies
    if "true" in marks:
        return stated_jobs([job for job in jobs if job.record.current or "past" in marks], person)
    is_asked = bool(marks & {"when", "which"})
    return studies or (stated_jobs(jobs, person, by_dates="when" in marks) if is_asked else None)


def study_remarks(studies: Iterable[Sequence[Fact]], asked: Sequence[str]) -> Iterator[ComputedItem]:
    """The sentences of these studies that have one of the words as a remark: their theses, supervisors or grades.

    Words that a question about any study has, and those of its degree, subject and school are no remarks.
    """
    for fact in (fact for group in studies for fact in group):
        fields = (getattr(fact.record, name) for name in ("degree", "area", "institution", "location", "date_range"))
        usual = STOP_WORDS.union(words("studying"), *map(word_parts, fields))
        wanted = {word for word in asked if len(word) >= _GENERAL and word not in usual}
        for start, end in sentences(fact.own_text):
            said = fact.own_text[start:end].strip(" -•\t\n")
            if not wanted.isdisjoint(word_parts(said)):
                yield ComputedItem(said, fact, (said,))


def _by_order(person: Person, marks: Collection[str]) -> ComputedAnswer | None:
    """The first or the latest job; of "the last job" the one before a current one."""
    dated = [job for job, _ in person.dated_jobs]
    if not dated or not {"posts", "which"} <= {*marks} or not {"first", "latest"} & {*marks}:
        return None
    over = [job for job in dated if not job.record.current] if "last" in marks else []
    return stated_jobs(person.first_job if "first" in marks else (over or dated)[:1], person)


def _named(person: Person, asked: Sequence[str]) -> _Named:
    """The things that the asked words name: a title of two words or more, a degree's level, an employer by one word."""
    used: set[int] = set()
    jobs: list[Job] = []
    for job in person.jobs:
        for title in {getattr(fact.record, "position", "") for fact in job.stated}:
            own = tokenise(title.split(",")[0])
            at = _place(own, asked) if len(own) >= _LEAST_TITLE else None
            if at is not None:
                jobs.append(job)
                used |= set(range(at, at + len(own)))
    levels = [(level, {at for at, word in enumerate(asked) if word in level}) for level in _LEVELS]
    said = [(level, places) for level, places in levels if places]
    studies = [group for group in person.education if any(not level.isdisjoint(_degree(group)) for level, _ in said)]
    for level, places in said:
        used |= places
        jobs += [job for job in person.jobs if not level.isdisjoint(fold(job.record.position).split())]
    if not jobs and not studies:
        for at, word in enumerate(asked):
            there = [job for job in person.jobs if word in organisation_words(job.record.company)]
            if there and len(word) >= _GENERAL and word not in words("naming") | STOP_WORDS:
                jobs += there
                used.add(at)
    return _Named(tuple(dict.fromkeys(jobs)), tuple(studies), frozenset(used))


def _degree(group: Sequence[Fact]) -> set[str]:
    """The words of a degree as every document states it: `Doctor of Philosophy - PhD` has `doctor` and `phd`, `B.Eng.`
    has `beng`.
    """
    stated = [word for fact in group for word in fold(getattr(fact.record, "degree", "")).split()]
    return {part for word in stated for part in (*word_parts(word), "".join(word_parts(word)))}


def _place(own: Sequence[str], asked: Sequence[str]) -> int | None:
    """The place where these terms begin in the words; None where they do not stand there in a row."""
    terms = [next(iter(tokenise(word)), word) for word in asked]
    return next((at for at in range(len(terms)) if terms[at : at + len(own)] == list(own)), None)


def _around(jobs: Iterable[Job], limit: _Named, *, before: bool) -> list[Job]:
    """The jobs that began before what the limit names began, or after it ended."""
    spans = [job.stretch for job in limit.jobs] + [months_of(group[0], date.today()) for group in limit.studies]
    dated = [span for span in spans if span]
    if not dated:
        return []
    first = min(span.first for span in dated)
    last = max(span.last - (0 if span.exact else _HALF_YEAR) for span in dated)
    stretches = [(job, job.stretch) for job in jobs if job.stretch]
    return [job for job, span in stretches if (span.first < first if before else span.first >= last)]


# By the kind of a question, where not every word of it is one that rules know

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
        return _thing_named(jobs_by_company(self.person.jobs), self.said) or tuple(
            filter(self._names_post, self.person.jobs)
        )

    def _names_post(self, job: Job) -> bool:
        """True if the question names the position, of two words at least, and the place of a job together."""
        said = set(self.said)
        posts, places = ([{*word_parts(getattr(fact.record, field))} for fact in job.stated] for field in _POST)
        return any(len(own) > 1 and own <= said for own in posts) and any(own & said for own in places)


def _thing_named(things: Iterable[tuple[str, T]], said: Sequence[str]) -> T | None:
    known = list(things)
    found, _ = find_organisation(known, said)
    if found is not None:
        return found
    rare = (["at", *said[at:]] for at, word in enumerate(said) if len(word) > 3 and not is_ordinary(word))
    return next((held for phrase in rare if (held := find_organisation(known, phrase)[0]) is not None), None)


def answer_of_kind(kind: str, asked: CareerOf) -> ComputedAnswer | None:
    """The answer of a career's facts to a question of this kind; None for other kinds, and where no fact gives one.

    A list answers "Does she speak Dutch?" only by the items that have every word of the question which is neither of
    the person nor of such questions.
    """
    reader = _KIND_READERS.get(kind)
    found = reader(asked) if reader else None
    if found and kind in _OF_ALL_KINDS:
        found = as_far_as_read(found, asked.person, _OF_ALL_KINDS[kind])
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
    there = _thing_named(studies_by_institution(asked.person), asked.said)
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
_KIND_READERS: Mapping[str, Callable[[CareerOf], ComputedAnswer | None]] = {
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
CAREER_KINDS = frozenset(_KIND_READERS)
_JOB_KINDS = ("first_job", "previous_jobs", "employers", "job_in_year", "total_years")
_OF_ALL_KINDS = {**dict.fromkeys(_JOB_KINDS, "job"), "education": "study"}
