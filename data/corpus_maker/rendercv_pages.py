"""Resumes in rendercv's own themes, typeset by a Python that has it."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from corpus_maker.people import Month, Person

TYPESET = Path(__file__).parent / "typeset.py"


def yaml_of(person: Person, theme: str, titles: dict[str, str]) -> str:
    """The person as rendercv reads it."""
    sections: dict[str, Any] = {
        titles["summary"]: [person.summary],
        titles["experience"]: [
            {
                "company": job.company,
                "position": job.position,
                "location": job.location,
                "start_date": _month(job.start),
                "end_date": _month(job.end) if job.end else "present",
                "highlights": list(job.bullets),
            }
            for job in person.jobs
        ],
        titles["education"]: [
            {
                "institution": school.institution,
                "area": school.area,
                "degree": school.degree,
                "start_date": _month(school.start),
                "end_date": _month(school.end),
                "highlights": [school.detail] if school.detail else [],
            }
            for school in person.schools
        ],
        titles["skills"]: [{"label": group, "details": ", ".join(skills)} for group, skills in person.skills],
        titles["projects"]: [
            {"name": project.name, "date": _month(project.start), "highlights": [project.summary]}
            for project in person.projects
        ],
        titles["languages"]: [{"label": spoken, "details": level} for spoken, level in person.languages],
    }
    card = {"name": person.name, "location": person.city, "email": person.email, "sections": sections}
    held = {"cv": card, "design": {"theme": theme}, "rendercv_settings": {"date": "2025-06-15"}}
    return yaml.safe_dump(held, allow_unicode=True, sort_keys=False)


def _month(month: Month) -> str:
    return f"{month[0]}-{month[1]:02d}"


def typeset(python: str, pages: Sequence[tuple[str, Path]]) -> str:
    """Write the PDF of each (yaml, path); what went wrong, empty when nothing did."""
    given = json.dumps({"pages": [[content, str(path.resolve())] for content, path in pages]})
    try:
        done = subprocess.run([python, str(TYPESET)], input=given, text=True, capture_output=True, check=False)
    except OSError as error:
        return str(error)
    return done.stderr.strip().rpartition("\n")[2] if done.returncode else ""
