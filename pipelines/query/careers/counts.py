"""What can be counted of a career: companies, jobs, degrees, schools, languages, certificates."""

from collections.abc import Callable, Mapping, Sequence

from pipelines.query.careers.jobs import companies
from pipelines.query.careers.reckoning import Item, Reckoning, fields, job_item, others
from pipelines.query.careers.timeline import Person
from pipelines.store.facts import Fact
from pipelines.text import fold


def counted(person: Person, noun: str) -> Reckoning | None:
    """How many of what a noun names (`companies`, `degrees`) somebody has; None when no fact states any."""
    one, several, items = _COUNTS[noun]
    found = items(person)
    return Reckoning(str(len(found)), f" {one if len(found) == 1 else several}", tuple(found)) if found else None


def employers(person: Person) -> list[Item]:
    """Each company once, the latest first."""
    firsts = [(name, jobs[0].stated) for name, jobs in companies(person.jobs)]
    return [Item(name, stated[0], (name,), others(stated[0], stated, (name,))) for name, stated in firsts]


def _jobs(person: Person) -> list[Item]:
    return [job_item(job, job.stated[0]) for job in person.jobs]


def _degrees(person: Person) -> list[Item]:
    return fields([group for group in person.education if _has_degree(group)], "degree", "institution")


def _has_degree(group: Sequence[Fact]) -> bool:
    return bool(getattr(group[0].record, "degree", ""))


def _institutions(person: Person) -> list[Item]:
    groups = {fold(getattr(group[0].record, "institution", "")): group for group in reversed(person.education)}
    return fields(reversed(groups.values()), "institution")


def languages(person: Person) -> list[Item]:
    """Each language once, with its level."""
    return fields(person.languages, "language", "level")


def _certificates(person: Person) -> list[Item]:
    return fields(person.certifications, "name")


_Count = tuple[str, str, Callable[[Person], list[Item]]]
_KINDS: Mapping[str, _Count] = {
    "company companies employer employers organisation organisations organization organizations firm firms": (
        "company", "companies", employers,
    ),
    "job jobs position positions role roles": ("job", "jobs", _jobs),
    "degree degrees": ("degree", "degrees", _degrees),
    "university universities school schools college colleges": ("institution", "institutions", _institutions),
    "language languages": ("language", "languages", languages),
    "certificate certificates certification certifications": ("certificate", "certificates", _certificates),
}  # fmt: skip
_COUNTS = {noun: kind for nouns, kind in _KINDS.items() for noun in nouns.split()}
COUNTABLE = frozenset(_COUNTS)
