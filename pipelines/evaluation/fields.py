"""Stated and found records compared field by field, after each entry was given at most one partner."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from rapidfuzz.fuzz import ratio

from pipelines.evaluation.likeness import alike, ends, normal, same_bullet, same_month, same_study
from pipelines.evaluation.truth import Truth
from pipelines.facts import (
    CareerRecord,
    CertificationFacts,
    EducationFacts,
    JobFacts,
    LanguageFacts,
    ProjectFacts,
    SkillsFacts,
)

CORE = ("company", "position", "dates", "institution", "skills")
BESIDE = ("degree", "location", "bullets", "project", "certification", "language")
_Kind = TypeVar("_Kind")


@dataclass(slots=True)
class Tally:
    """How many values of a field are stated, found, and right."""

    stated: int = 0
    found: int = 0
    right: int = 0

    def add(self, other: "Tally") -> None:
        """Count the other's values with these."""
        self.stated += other.stated
        self.found += other.found
        self.right += other.right

    @property
    def f1(self) -> float | None:
        """2 right / (stated + found), the harmonic mean of precision and recall; None where there is nothing."""
        total = self.stated + self.found
        return 2 * self.right / total if total else None


@dataclass(slots=True)
class Comparison:
    """The tallies by field; the values that are stated and not found, and those that are found and not stated."""

    tallies: dict[str, Tally] = field(default_factory=lambda: {name: Tally() for name in CORE + BESIDE})
    missed: list[tuple[str, str]] = field(default_factory=list)
    wrong: list[tuple[str, str]] = field(default_factory=list)

    def judge(self, name: str, stated: str, found: str, same: Callable[[str, str], bool] | None = None) -> None:
        """Count one value on each side; an empty one is no value."""
        right = bool(stated and found and (same or alike)(stated, found))
        self.tallies[name].add(Tally(bool(stated), bool(found), right))
        if stated and not right:
            self.missed.append((name, stated))
        if found and not right:
            self.wrong.append((name, found))


def compare(truth: Truth, found: Sequence[CareerRecord]) -> Comparison:
    """How far the found records say what the truth says; kinds of which the truth does not speak are passed over."""
    made = Comparison()
    if "job" in truth.kinds:
        _compare_jobs(made, _of(JobFacts, truth.records), _of(JobFacts, found))
    if "education" in truth.kinds:
        _compare_schools(made, _of(EducationFacts, truth.records), _of(EducationFacts, found))
    if "skills" in truth.kinds:
        _compare_skills(made, _of(SkillsFacts, truth.records), _of(SkillsFacts, found))
    named: tuple[tuple[str, type[ProjectFacts | CertificationFacts | LanguageFacts], str], ...] = (
        ("project", ProjectFacts, "name"),
        ("certification", CertificationFacts, "name"),
        ("language", LanguageFacts, "language"),
    )
    for name, kind, attribute in named:
        if name in truth.kinds:
            stated, heard = (
                [getattr(record, attribute) for record in _of(kind, side)] for side in (truth.records, found)
            )
            _compare_lists(made, name, stated, heard)
    return made


def duplicates(found: Iterable[CareerRecord]) -> int:
    """How many jobs say the same company, position and dates as one before them."""
    keys = Counter((normal(job.company), normal(job.position), job.start_month, job.end_month)
                   for job in _of(JobFacts, found))  # fmt: skip
    return keys.total() - len(keys)


def _of(kind: type[_Kind], records: Iterable[object]) -> list[_Kind]:
    return [record for record in records if isinstance(record, kind)]


def paired(
    stated: Sequence[_Kind], found: Sequence[_Kind], likeness: Callable[[_Kind, _Kind], float]
) -> list[tuple[_Kind | None, _Kind | None]]:
    """Each entry with at most one partner, the likest pairs first; then what is left alone on either side."""
    ranked = sorted(
        ((likeness(one, other), -n, -m) for n, one in enumerate(stated) for m, other in enumerate(found)), reverse=True
    )
    pairs: list[tuple[_Kind | None, _Kind | None]] = []
    left, right = set(range(len(stated))), set(range(len(found)))
    for score, n, m in ranked:
        if score > 0 and -n in left and -m in right:
            left.discard(-n)
            right.discard(-m)
            pairs.append((stated[-n], found[-m]))
    pairs += [(stated[n], None) for n in sorted(left)]
    return pairs + [(None, found[m]) for m in sorted(right)]


def _compare_jobs(made: Comparison, stated: list[JobFacts], found: list[JobFacts]) -> None:
    located, detailed = any(job.location for job in stated), any(job.bullets for job in stated)
    nothing = JobFacts(company="")
    for one, other in paired(stated, found, _job_likeness):
        said, heard = one or nothing, other or nothing
        made.judge("company", said.company, heard.company)
        made.judge("position", said.position, heard.position)
        _judge_dates(made, said, heard)
        if located:
            made.judge("location", said.location, heard.location)
        if detailed:
            _compare_lists(made, "bullets", said.bullets, heard.bullets, same_bullet)


def _job_likeness(one: JobFacts, other: JobFacts) -> float:
    dates = same_month(one.start_month, other.start_month) + same_month(*ends(one, other))
    names = ratio(normal(one.company), normal(other.company)) + ratio(normal(one.position), normal(other.position))
    return dates + names / 50


def _compare_schools(made: Comparison, stated: list[EducationFacts], found: list[EducationFacts]) -> None:
    studied = any(school.degree or school.area for school in stated)
    nothing = EducationFacts(institution="")
    for one, other in paired(stated, found, _school_likeness):
        said, heard = one or nothing, other or nothing
        made.judge("institution", said.institution, heard.institution)
        _judge_dates(made, said, heard)
        if studied:
            made.judge("degree", _studied(said), _studied(heard), same_study)


def _school_likeness(one: EducationFacts, other: EducationFacts) -> float:
    dates = same_month(one.start_month, other.start_month) + same_month(*ends(one, other))
    degrees = ratio(normal(_studied(one)), normal(_studied(other)))
    return dates + (ratio(normal(one.institution), normal(other.institution)) + degrees) / 50


def _studied(school: EducationFacts) -> str:
    return f"{school.degree} {school.area}".strip()


def _judge_dates(made: Comparison, said: JobFacts | EducationFacts, heard: JobFacts | EducationFacts) -> None:
    made.judge("dates", said.start_month, heard.start_month, same_month)
    last, ended = ends(said, heard)
    made.judge("dates", last, ended, same_month)


def _compare_skills(made: Comparison, stated: list[SkillsFacts], found: list[SkillsFacts]) -> None:
    """Skills as sets; what a group is called is neither missed nor wrong when it is found as a skill."""
    groups = {normal(each.group) for each in stated if each.group}
    said = {normal(skill): skill for each in stated for skill in each.skills}
    heard = {normal(skill): skill for each in found for skill in each.skills}
    for key, skill in said.items():
        made.judge("skills", skill, heard.get(key, ""))
    for key, skill in heard.items():
        if key not in said and key not in groups:
            made.judge("skills", "", skill)


def _compare_lists(
    made: Comparison,
    name: str,
    stated: Sequence[str],
    found: Sequence[str],
    same: Callable[[str, str], bool] | None = None,
) -> None:
    for one, other in paired(stated, found, lambda a, b: float((same or alike)(a, b))):
        made.judge(name, one or "", other or "", same)
