"""Whole careers out of single facts: whose they are, and which of them say the same."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from pipelines.facts import (
    CertificationFacts,
    EducationFacts,
    JobFacts,
    LanguageFacts,
    PersonFacts,
    ProjectFacts,
    SkillsFacts,
)
from pipelines.months import agree
from pipelines.query.careers.jobs import Job, is_like, merged_jobs, own_words
from pipelines.store.facts import Fact
from pipelines.text import fold

_WORD = re.compile(r"[^\W_]+")
_ORDER = {"resume": 0, "linkedin": 1}  # of documents that state the same job, the first is counted
_TITLES = frozenset("dr dipl ing mr mrs ms msc mba phd prof bsc md jr sr".split())


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody's career; facts of each kind are grouped, a group for what several documents state.

    Attributes:
        name: As it is stated; empty where no document does.
        documents: Names of the documents that are about them.
        jobs: The latest first, undated ones last.
        stated: What states the name, a fact a document.
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


def people(facts: Iterable[Fact], today: date) -> list[Person]:
    """The people whom these facts are about, by name; a document that names nobody goes to the only one there is.

    Two documents are about one person when the words of one's name are among those of the other's.
    """
    by_document: dict[str, list[Fact]] = {}
    for fact in facts:
        by_document.setdefault(fact.document_id, []).append(fact)
    groups: list[tuple[frozenset[str], str, list[Fact]]] = []
    nameless: list[list[Fact]] = []
    for held in sorted(by_document.values(), key=lambda held: _place(held[0])):
        name = next(
            (fact.record.name for fact in held if isinstance(fact.record, PersonFacts) and fact.record.name), ""
        )
        words = name_words(name)
        place = next((i for i, (other, _, _) in enumerate(groups) if is_same_name(words, other)), None)
        if not words:
            nameless.append(held)
        elif place is None:
            groups.append((words, name, list(held)))
        else:
            groups[place][2].extend(held)
    if nameless and len(groups) <= 1:
        words, name, known = groups[0] if groups else (frozenset[str](), "", [])
        rest = [fact for held in nameless for fact in held]
        groups = [(words, name, sorted([*known, *rest], key=_place))]
    else:
        groups += [(frozenset[str](), "", held) for held in nameless]
    return sorted((_person(name, held, today) for _, name, held in groups), key=lambda person: person.name)


def meant_by(words: Sequence[str], known: Iterable[Person]) -> list[Person]:
    """The people of whose names the most words stand among these, which are folded; none where no word does."""
    held = [(len(set(words).intersection(own_words(person.name))), person) for person in known]
    most = max((count for count, _ in held), default=0)
    return [person for count, person in held if count == most > 0]


def _place(fact: Fact) -> tuple[int, str, str]:
    return _ORDER.get(fact.category, len(_ORDER)), fact.document_name, fact.document_id


def name_words(name: str) -> frozenset[str]:
    """The folded words of a name, without initials and titles."""
    return frozenset(word for word in _WORD.findall(fold(name)) if len(word) > 1 and word not in _TITLES)


def is_same_name(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether the words of one name, two at least, are among those of the other."""
    return bool(one) and (one == other or (min(len(one), len(other)) > 1 and (one <= other or other <= one)))


def _person(name: str, facts: Sequence[Fact], today: date) -> Person:
    skills: dict[str, tuple[str, list[Fact]]] = {}
    for fact in facts:
        for skill in fact.record.skills if isinstance(fact.record, SkillsFacts) else ():
            skills.setdefault(fold(skill), (skill, []))[1].append(fact)
    return Person(
        name=name,
        documents=tuple(dict.fromkeys(fact.document_name for fact in facts)),
        jobs=tuple(merged_jobs([fact for fact in facts if isinstance(fact.record, JobFacts)], today)),
        education=_grouped(facts, EducationFacts, _same_education),
        certifications=_grouped(facts, CertificationFacts, lambda one, other: fold(one.name) == fold(other.name)),
        languages=_grouped(facts, LanguageFacts, lambda one, other: fold(one.language) == fold(other.language)),
        projects=_grouped(facts, ProjectFacts, lambda one, other: fold(one.name) == fold(other.name)),
        skills=tuple((skill, tuple(stating)) for skill, stating in skills.values()),
        stated=tuple(fact for fact in facts if isinstance(fact.record, PersonFacts) and fact.record.name),
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
    same_time = agree(one.start_month, other.start_month) and agree(one.end_month, other.end_month)
    same_what = fold(one.degree) == fold(other.degree) or not one.degree or not other.degree
    return is_like(one.institution, other.institution) and (same_time if dated else same_what)
