"""What can be listed of a career, each item with the fact that states it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pipelines.facts import SkillsFacts
from pipelines.query.careers.jobs import Job, is_same
from pipelines.query.careers.reckoning import Item, Reckoning, fields, others
from pipelines.query.careers.timeline import Person
from pipelines.query.verification.agree import holds
from pipelines.store.facts import Fact
from pipelines.store.tokens import tokenise
from pipelines.text import fold

Group = tuple[Fact, ...]
_AND = re.compile(r" and |[&,/]")


def held(items: Iterable[Item]) -> Reckoning | None:
    """The list of these items; None when there are none."""
    found = tuple(items)
    return Reckoning("", "", found, listed=True) if found else None


def whose(person: Person, item: Item) -> Item:
    """The item with the name of the person before it, and the fact that states the name."""
    return replace(item, text=f"{person.name}: {item.text}", whose=person.stated[0])


def did(jobs: Iterable[Job]) -> list[Item]:
    """What somebody did in these jobs, in the words of the statement that is counted."""
    return [Item(said, job.stated[0], (said,)) for job in jobs for said in job.record.bullets]


def studies(education: Iterable[Group], *, degrees: bool = False) -> list[Item]:
    """Each study as it is stated; with `degrees`, those that say which."""
    groups = [group for group in education if not degrees or bool(getattr(group[0].record, "degree", ""))]
    return fields(groups, "degree", "area", "institution", "date_range")


def at_institutions(person: Person) -> list[tuple[str, tuple[Group, ...]]]:
    """(name, studies there) of each school; one with several studies stands once."""
    found: list[tuple[str, list[Group]]] = []
    for group in person.education:
        name = getattr(group[0].record, "institution", "")
        known = next((held for other, held in found if is_same(name, other)), None)
        if known is None:
            found.append((name, [group]))
        else:
            known.append(group)
    return [(name, tuple(groups)) for name, groups in found]


def certificates(person: Person) -> list[Item]:
    """Each certificate once."""
    return fields(person.certifications, "name", "issuer", "date_range")


def skills(person: Person, asked: Sequence[str] = ()) -> tuple[list[Item], set[int]]:
    """(the lists of skills, the places of the asked words that name them).

    Without asked words, all lists. With them, those whose name stands among them (`Databases`), the longest names;
    none where none does.
    """
    groups: dict[tuple[str, ...], list[Fact]] = {}
    for fact in dict.fromkeys(fact for _, stated in person.skills for fact in stated):
        record = fact.record
        assert isinstance(record, SkillsFacts)
        groups.setdefault((fold(record.group), *map(fold, record.skills)), []).append(fact)
    if not asked:
        return [_skills(group) for group in groups.values()], set()
    stems = [tokenise(word) for word in asked]
    heard = {term for terms in stems for term in terms}
    called = [(terms, group) for group in groups.values() for terms in _names(group[0])]
    named = [(terms, group) for terms, group in called if terms and terms <= heard]
    most = max((len(terms) for terms, _ in named), default=0)
    chosen = [(terms, group) for terms, group in named if len(terms) == most]
    used = {place for place, terms in enumerate(stems) if any(own.intersection(terms) for own, _ in chosen)}
    return [_skills(group) for _, group in chosen], used


def _names(fact: Fact) -> list[set[str]]:
    """The index terms of what a list of skills is called; `Search and databases` is called both."""
    return [set(tokenise(name)) for name in _AND.split(str(getattr(fact.record, "group", "")))]


def lists_with(stating: Sequence[Fact]) -> list[Item]:
    """The first of the lists of skills; none where there is none."""
    return [_skills(stating[:1])] if stating else []


def _skills(group: Sequence[Fact]) -> Item:
    """A list of skills, after its name where the span holds it."""
    fact, record = group[0], group[0].record
    assert isinstance(record, SkillsFacts)
    name = record.group if record.group and holds(fact.own_text, fold(record.group)) else ""
    said = ", ".join(record.skills)
    quotes = tuple(filter(None, (name, *record.skills)))
    return Item(f"{name}: {said}" if name else said, fact, quotes, others(fact, group, quotes))
