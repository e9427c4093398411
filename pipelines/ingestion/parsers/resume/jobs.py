"""Who worked where as what: the company, the position and the place of each job of a section, by what most jobs do."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pipelines.ingestion.parsers.career.career_words import NOT_INDUSTRIES
from pipelines.ingestion.parsers.career.job_words import (
    company_score,
    is_employment_type,
    looks_named,
    title_score,
    tokens,
)
from pipelines.ingestion.parsers.career.places import place_score
from pipelines.ingestion.parsers.resume.entries import Entry
from pipelines.ingestion.parsers.resume.job_slots import SURE_AT, Slot, Slots, slots_of
from pipelines.ingestion.parsers.resume.lines import words_of

_ASIDE = re.compile(r"([^()]*[^\s()])\s*\(([^()]{2,60})\)")
_NAME_TAIL = re.compile(r"([^,]+),\s+([^\W\d_][\w.' -]{1,30})")
_STREET = re.compile(r"(?<=\w),\s+(?=\d)")
_LEAST, _MOST = -2.0, 4.0
_FEW = 4
_DASH = re.compile(r"\s[–—-]\s")
_NOWHERE = Slot("", "")


@dataclass(frozen=True, slots=True)
class Job:
    """What a job's lines say; `key` is the way in which they were read, `rest` what was not used.

    `in_tail` says that the place stood behind the company.
    """

    company: str = ""
    position: str = ""
    location: str = ""
    industry: str = ""
    key: str = ""
    score: float = 0.0
    rest: tuple[str, ...] = ()
    in_tail: bool = False


def read_jobs(entries: Sequence[Entry]) -> list[Job]:
    """The job that each entry states, in order.

    Every way to read an entry is scored by the words of positions and companies in it, and by how well the same way
    reads the other entries: a resume keeps to one layout.
    """
    readings = [_readings(entry) for entry in entries]
    votes: dict[str, float] = defaultdict(float)
    count = max(len(entries), _FEW)
    for options in readings:
        best: dict[str, float] = {}
        for job in options:
            best[job.key] = max(best.get(job.key, _LEAST), _vote(job))
        for key, score in best.items():
            votes[key] += score
    chosen = [
        max(options, key=lambda job: (job.score + 3 / count * (votes[job.key] - _vote(job)), job.key), default=Job())
        for options in readings
    ]
    return _with_places([_with_industry(job) for job in chosen])


def _vote(job: Job) -> float:
    """What a reading counts for the others; one of a company or a position alone says nothing of them."""
    return min(max(job.score, _LEAST), _MOST) if job.company and job.position else 0.0


def _readings(entry: Entry) -> list[Job]:
    """Every way to read the entry; "Zeta, Paris" may be a place, or a company and its place."""
    doubtful = any(place_score(part.words) in (1, 2) for one in (*entry.head, *entry.after) for part in one.parts)
    found = [slots_of(entry, sure) for sure in ((3, 1) if doubtful else (3,))]
    return [job for slots in found for job in (_labelled(slots) or _pairs(slots))]


def _labelled(slots: Slots) -> list[Job]:
    """The job whose lines say "Employer: ..." or "Position: ..."; the other one is the first part without a label."""
    company, position = slots.known.get("company", ""), slots.known.get("position", "")
    if not company and not position:
        return []
    other = next((slot.words for slot in slots.slots if not slot.later), "")
    return [Job(company or other, position or other, slots.known.get("location", ""), key="label")]


def _pairs(slots: Slots) -> Iterator[Job]:
    """The jobs of all pairs of slots, and of each slot alone."""
    whole = [slot for slot in slots.slots if not slot.later and not slot.joint]
    location = slots.known.get("location", "")
    for one in slots.slots:
        yield _single(one, _NOWHERE, len(whole), location)
        yield _single(_NOWHERE, one, len(whole), location)
        for other in slots.slots:
            if one is other or one.joint != other.joint or one.place == other.place:
                continue
            used = not one.later if one.joint else 2 - one.later - other.later
            cost = 0.4 * max(0, len(whole) - used) + 0.4 * (one.later + (other.later and not other.joint))
            if one.joint:
                cost += -1.0 if one.joint.rsplit(" ", 1)[1] in SURE_AT else 0.3
            rest = tuple(slot.words for slot in whole if slot not in (one, other)) if not one.joint else ()
            key = f"{one.place}|{other.place}"
            score = _fit(one.words, other.words) - cost
            city = location or one.city or other.city
            yield Job(one.words, other.words, city, "", key, score + 0.2 * bool(city), rest, in_tail=bool(one.city))


def _single(company: Slot, position: Slot, whole: int, location: str) -> Job:
    slot = company if company.words else position
    cost = 0.4 * max(0, whole - 1) + 0.8 + slot.later + bool(slot.joint)
    cost += position.words != "" and title_score(position.words) < 1
    key = f"only {'company' if company.words else 'position'} {slot.place}"
    return Job(company.words, position.words, location, key=key, score=_fit(company.words, position.words) - cost)


def _fit(company: str, position: str) -> float:
    """How well the words suit their roles, about -6 to 5."""
    score = title_score(position) - title_score(company) + company_score(company) - company_score(position)
    score -= 2.0 * (place_score(company) >= 3) + 2.0 * (place_score(position) >= 2)
    score -= 0.2 * (", " in company and company_score(company) < 2) + 0.3 * bool(_DASH.search(position))
    return (
        score
        - 0.7 * (bool(company) and not looks_named(company))
        - 0.5 * (bool(position) and not looks_named(position))
    )


def _with_industry(job: Job) -> Job:
    """The job, what stands in brackets after its company told apart."""
    aside = _ASIDE.fullmatch(job.company)
    if not aside or not tokens(aside[2]):
        return job
    inside, company = aside[2].strip(), words_of(aside[1])
    if inside.isupper() and len(inside) < 6 and " " not in inside and not place_score(inside):
        return job
    if place_score(inside) >= 2:
        return replace(job, company=company, location=job.location or inside)
    if tokens(inside)[0] in NOT_INDUSTRIES or any(map(str.isdigit, inside)) or is_employment_type(inside):
        return replace(job, company=company)
    return replace(job, company=company, industry=inside)


def _with_places(jobs: list[Job]) -> list[Job]:
    """The jobs, unknown places found where the others have theirs: after the company, or in a part that is left."""
    tails = sum(job.in_tail for job in jobs)
    return [_with_place(_without_street(job), 3 * tails >= len(jobs)) for job in jobs]


def _without_street(job: Job) -> Job:
    """The job, its company without the street that follows it ("British Council, 123 Bridge Street")."""
    return replace(job, company=_STREET.split(job.company, maxsplit=1)[0])


def _with_place(job: Job, in_tail: bool) -> Job:
    tail = _NAME_TAIL.fullmatch(job.company)
    left = [words for words in job.rest if looks_named(words) and len(words.split()) <= 4]
    if job.location:
        return job
    if tail and in_tail and not company_score(f"x {tail[2]}"):
        return replace(job, company=tail[1], location=tail[2])
    if len(left) == 1 and not title_score(left[0]) and not company_score(left[0]):
        return replace(job, location=left[0])
    return job
