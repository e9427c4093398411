"""Invented people with jobs, schools and skills, drawn from word lists by a seed."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import yaml

WORDS = Path(__file__).parent / "words"
Month = tuple[int, int]
_OWN_NAMES = ("people", "stems", "companies", "cities")  # of languages that are not written like the others


@dataclass(frozen=True)
class Job:
    """A job; `end` None = it goes on; `note` is a sentence about it, `tools` what was used."""

    company: str
    position: str
    location: str
    start: Month
    end: Month | None
    bullets: tuple[str, ...]
    note: str = ""
    tools: tuple[str, ...] = ()


@dataclass(frozen=True)
class School:
    """A degree at an institution; dates None = not told."""

    institution: str
    degree: str
    area: str
    location: str
    start: Month | None
    end: Month | None
    detail: str = ""


@dataclass(frozen=True)
class Project:
    """A project with one sentence about it."""

    name: str
    summary: str
    start: Month


@dataclass(frozen=True)
class Certificate:
    """A certificate, its issuer and its date."""

    name: str
    issuer: str
    date: Month


@dataclass(frozen=True)
class Person:
    """Everything a page may tell of somebody; jobs and schools newest first, skills by group."""

    name: str
    headline: str
    city: str
    email: str
    phone: str
    link: str
    summary: str
    jobs: tuple[Job, ...]
    schools: tuple[School, ...]
    skills: tuple[tuple[str, tuple[str, ...]], ...]
    projects: tuple[Project, ...]
    certificates: tuple[Certificate, ...]
    languages: tuple[tuple[str, str], ...]
    awards: tuple[str, ...] = ()
    publications: tuple[str, ...] = ()
    interests: tuple[str, ...] = ()

    @property
    def flat_skills(self) -> tuple[str, ...]:
        """Every skill, in the order of the groups."""
        return tuple(skill for _, skills in self.skills for skill in skills)


@cache
def words(name: str, heldout: bool) -> dict[str, Any]:
    """A word list; the held-out half takes what is kept for it wherever there is such a list."""
    lists: dict[str, Any] = yaml.safe_load((WORDS / f"{name}.yaml").read_text(encoding="utf-8"))
    kept = {key.removeprefix("heldout_"): value for key, value in lists.items() if key.startswith("heldout_")}
    shown = {key: value for key, value in lists.items() if not key.startswith("heldout_")}
    return shown | kept if heldout else shown


def invent(
    seed: str,
    language: str = "en",
    *,
    heldout: bool = False,
    jobs: int = 4,
    group: int | None = None,
    commas: bool = True,
) -> Person:
    """The person of that seed.

    The two jobs after number `group` are at its company; without `commas` no company and no title
    has one, for pages that part them by commas.
    """
    random = Random(seed)
    said = words(language, heldout)
    names = words("names", heldout) | {key: said[key] for key in _OWN_NAMES if key in said}
    if not commas:
        names = names | {"companies": [name for name in names["companies"] if ", " not in name]}
        said = said | {"titles": [title for title in said["titles"] if ", " not in title]}
    stems = random.sample(names["stems"], len(names["stems"]))
    number = sum(seed.encode()) % len(names["people"])
    name = names["people"][(number + random.randrange(5)) % len(names["people"])]
    plain = name.lower().replace(" ", ".").replace("'", "").encode("ascii", "ignore").decode() or "profile"
    work = _jobs(random, names, said, stems, jobs, group)
    schools = _schools(random, names, said, stems, work[-1].start)
    return Person(
        name=name,
        headline=random.choice([work[0].position, f"{work[0].position} | {said['areas'][0]}"]),
        city=random.choice(names["cities"]),
        email=f"{plain[0]}.{plain.rsplit('.', 1)[-1]}@example.com",
        phone=f"+{random.randrange(30, 60)} {random.randrange(100, 999)} 555 01{random.randrange(10, 99)}",
        link=f"www.linkedin.com/in/{plain.replace('.', '-')}",
        summary=random.choice(said["summaries"]),
        jobs=work,
        schools=schools,
        skills=_skills(random, said["skills"]),
        projects=tuple(
            Project(
                title,
                _fill(random, random.choice(said["bullets"]), said),
                (random.randrange(2012, 2024), random.randrange(1, 13)),
            )
            for title in random.sample(said["projects"], 2)
        ),
        certificates=tuple(
            Certificate(title, issuer, (random.randrange(2012, 2025), random.randrange(1, 13)))
            for title, issuer in random.sample(said["certifications"], min(2, len(said["certifications"])))
        ),
        languages=tuple((spoken, level) for spoken, level in said["languages"]),
        awards=tuple(said.get("awards", ())),
        publications=tuple(said.get("publications", ())),
        interests=tuple(said.get("interests", ())),
    )


def _fill(random: Random, pattern: str, said: dict[str, Any]) -> str:
    return str(pattern).format(n=random.randrange(12, 80), k=random.randrange(3, 12), tool=random.choice(said["tools"]))


def _jobs(
    random: Random, names: dict[str, Any], said: dict[str, Any], stems: list[str], count: int, group: int | None
) -> tuple[Job, ...]:
    titles = (random.sample(said["titles"], len(said["titles"])) * 2)[:count]
    cities = random.sample(names["cities"], count)
    patterns = random.sample(names["companies"], min(count, len(names["companies"])))
    bullets = random.sample(said["bullets"], len(said["bullets"]))
    year, month = 2024, random.randrange(1, 13)
    jobs: list[Job] = []
    for n in range(count):
        length = random.choice([5, 9, 14, 23, 27, 36, 41])
        end = None if n == 0 and random.random() < 0.75 else (year, month)
        first = year * 12 + month - 1 - length
        start = (first // 12, first % 12 + 1)
        same = group is not None and group < n < group + 3
        company = jobs[-1].company if same else patterns[n % len(patterns)].format(s=stems[n], t=stems[-1 - n])
        said_bullets = tuple(
            _fill(random, bullets[(n * 3 + k) % len(bullets)], said) for k in range(random.randrange(2, 5))
        )
        note = _fill(random, random.choice(said["notes"]), said) if "notes" in said else ""
        tools = tuple(random.sample(said["tools"], 2))
        place = jobs[-1].location if same else cities[n]
        jobs.append(Job(company, titles[n], place, start, end, said_bullets, note, tools))
        gap = first - random.choice([0, 1, 1, 3])
        year, month = gap // 12, gap % 12 + 1
    return tuple(jobs)


def _schools(
    random: Random, names: dict[str, Any], said: dict[str, Any], stems: list[str], before: Month
) -> tuple[School, ...]:
    year = before[0]
    schools: list[School] = []
    patterns = random.sample(said["institutions"], 2)
    degrees, areas = random.sample(said["degrees"], 2), random.sample(said["areas"], 2)
    for n in range(2):
        end = (year, random.choice([5, 6, 7]))
        start = (year - random.choice([2, 3, 4]), random.choice([9, 10]))
        institution = patterns[n].format(s=stems[-10 - n])
        detail = random.choice(said["details"]) if "details" in said else ""
        schools.append(School(institution, degrees[n], areas[n], random.choice(names["cities"]), start, end, detail))
        year = start[0]
    return tuple(schools)


def _skills(random: Random, groups: dict[str, list[str]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(
        (group, tuple(random.sample(skills, random.randrange(3, len(skills) + 1)))) for group, skills in groups.items()
    )
