"""Who worked where as what: the company, the position and the place of each job of a section, by what most jobs do."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pipelines.ingestion.parsers.career.career_words import NOT_INDUSTRIES
from pipelines.ingestion.parsers.career.job_words import is_employment_type, tokens
from pipelines.ingestion.parsers.career.places import place_score
from pipelines.ingestion.parsers.resume.entries import Entry
from pipelines.ingestion.parsers.resume.job_groups import groups_of
from pipelines.ingestion.parsers.resume.job_places import shared, tail_spot
from pipelines.ingestion.parsers.resume.job_readings import Job, readings
from pipelines.ingestion.parsers.resume.job_slots import Slots, slots_of
from pipelines.ingestion.parsers.resume.lines import words_of

_ASIDE = re.compile(r"([^()]*[^\s()])\s*\(([^()]{2,60})\)")
_STREET = re.compile(r"(?<=\w),\s+(?=\d)")
_LEAST, _MOST = -2.0, 4.0
_FEW = 4
# More jobs than anybody has had: only their segments are read.
_MANY = 200


def read_jobs(entries: Sequence[Entry]) -> list[Job]:
    """The job that each entry states, in order.

    Every way to read an entry is scored by the words of positions and companies in it, and by how well the same way
    reads the other entries: a resume keeps to one layout.
    """
    slots = [slots_of(entry, sides=len(entries) <= _MANY) for entry in entries]
    places = shared([one.spots for one in slots])
    found = [
        _labelled(one) or list(readings(one, places, group))
        for one, group in zip(slots, groups_of(entries, slots), strict=True)
    ]
    votes: dict[str, float] = defaultdict(float)
    for options in found:
        for key, score in _votes(options).items():
            votes[key] += score
    weight = 3 / max(len(entries), _FEW)
    return [_with_industry(_without_street(_best(options, votes, weight))) for options in found]


def _best(options: Sequence[Job], votes: Mapping[str, float], weight: float) -> Job:
    own = _votes(options)
    return max(
        options,
        key=lambda job: (job.score + weight * max(votes[key] - own.get(key, 0.0) for key in job.keys), job.keys),
        default=Job(),
    )


def _votes(options: Sequence[Job]) -> dict[str, float]:
    """What the readings of a job count for like ones elsewhere."""
    best: dict[str, float] = {}
    for job in options:
        for key in job.like:
            best[key] = max(best.get(key, _LEAST), min(job.score, _MOST))
    return best


def _labelled(slots: Slots) -> list[Job]:
    """The job whose lines say "Employer: ..." or "Position: ..."; the other one is the first part without a label."""
    company, position = slots.known.get("company", ""), slots.known.get("position", "")
    if not company and not position:
        return []
    other = next((slot.words for slot in slots.slots if not slot.later), "") or slots.known.get("client", "")
    read = Job(company or other, position or other, slots.known.get("location", ""), keys=("label",))
    tail = tail_spot(0, 0, "", read.company)
    if not read.location and tail and tail.score > 0:
        return [replace(read, company=tail.head, location=tail.words)]
    return [read]


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


def _without_street(job: Job) -> Job:
    """The job, its company without the street that follows it ("British Council, 123 Bridge Street")."""
    return replace(job, company=_STREET.split(job.company, maxsplit=1)[0])
