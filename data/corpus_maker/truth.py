"""The truth of a page as JSON: what it states, at the precision that it states."""

import json
from pathlib import Path
from typing import Any

from corpus_maker.dates import Dates
from corpus_maker.people import Person

Truth = dict[str, Any]


def truth_of(
    person: Person,
    dates: Dates,
    kind: str,
    theme: str,
    language: str,
    shown: set[str],
    *,
    located: bool = True,
    ended: bool = False,
    described: bool = True,
) -> Truth:
    """What a page of this person states; `shown` are its sections.

    `ended` says that degrees state one date only, `described` that jobs have list items.
    """
    truth: Truth = {
        "kind": kind,
        "theme": theme,
        "language": language,
        "person": {"name": person.name, "headline": person.headline, "email": person.email},
        "jobs": [
            {
                "company": job.company,
                "position": job.position,
                "location": job.location if located else "",
                "start": dates.stated(job.start),
                "end": dates.stated(job.end),
                "current": job.end is None,
                "bullets": list(job.bullets) if described else [],
            }
            for job in person.jobs
        ],
    }
    if "education" in shown:
        truth["education"] = [
            {
                "institution": school.institution,
                "degree": school.degree,
                "area": school.area,
                "start": "" if ended else dates.stated(school.start),
                "end": "" if ended else dates.stated(school.end),
            }
            | ({"date": dates.stated(school.end)} if ended else {})
            for school in person.schools
        ]
    if "skills" in shown:
        truth["skills"] = list(person.flat_skills)
    if "projects" in shown:
        truth["projects"] = [{"name": project.name} for project in person.projects]
    if "certifications" in shown:
        truth["certifications"] = [{"name": each.name, "issuer": each.issuer} for each in person.certificates]
    if "languages" in shown:
        truth["languages"] = [{"language": spoken, "level": level} for spoken, level in person.languages]
    return truth


def write_truth(path: Path, truth: Truth) -> None:
    path.write_text(json.dumps(truth, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
