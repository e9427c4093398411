"""A person's career as plain data: jobs, education and skills with their spans, and how long each lasted."""

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

from pipelines.facts import JobFacts
from pipelines.months import duration_text, merge_ranges
from pipelines.query.careers.computed_answer import skill_mention
from pipelines.query.careers.people import (
    Job,
    Person,
    Project,
    corpus_projects,
    describe_date_conflict,
    group_people,
    jobs_by_company,
)
from pipelines.store.facts import Fact, read_facts
from pipelines.store.node_reader import NodeReader
from pipelines.store.tokens import STOP_WORDS
from pipelines.text import fold
from pipelines.types import Audience, Filters


def read_careers(reader: NodeReader, filters: Filters, audience: Audience) -> dict[str, list[dict[str, Any]]]:
    """The `people` and `projects` that documents state, as plain data; undated jobs that go on end today."""
    stated, today = read_facts(reader, filters, audience), date.today()
    return {
        "people": list(map(describe_person, group_people(stated, today))),
        "projects": list(map(describe_project, corpus_projects(stated, today))),
    }


def describe_person(person: Person) -> dict[str, Any]:
    """A person's career as plain data; each entry has `stated`, the spans that state it."""
    jobs = person.jobs
    titles = dict.fromkeys(word for job in jobs for word in _title_words(job.record.position))
    skills = [(skill, [job for job in jobs if skill_mention(job, skill)], stated) for skill, stated in person.skills]
    return {
        "name": person.name,
        "documents": list(person.documents),
        "experience": _lasted(jobs),
        "jobs": [_job(job) for job in jobs],
        "companies": [{"company": name, **_lasted(worked)} for name, worked in jobs_by_company(jobs)],
        "titles": [{"title": word, **_lasted([job for job in jobs if word in _title_words(job.record.position)])}
                   for word in titles],
        "skills": [{"skill": skill, **_lasted(worked), "stated": _spans(stated),
                    "used": _spans(named[0] for job in worked if (named := skill_mention(job, skill)))}
                   for skill, worked, stated in skills],
        **{name: [_entry(group) for group in getattr(person, name)]
           for name in ("education", "certifications", "languages", "projects", "talks")},
        "summaries": [_entry([fact]) for fact in person.summaries],
        "profile": [_entry([fact]) for fact in person.stated],
    }  # fmt: skip


def describe_project(project: Project) -> dict[str, Any]:
    """A project as plain data, its languages and topics those of all that is stated of it."""
    together = {"languages": list(project.languages), "topics": list(project.topics), "person": project.person}
    return {**_entry(project.stated), **together}


def _lasted(jobs: Sequence[Job]) -> dict[str, Any]:
    """The total duration of these jobs, overlaps counted once, and the number of undated ones."""
    stretches = [job.stretch for job in jobs if job.stretch]
    return {
        "months": sum(each.months for each in merge_ranges(stretches)),
        "duration": duration_text(stretches),
        "exact": all(each.exact for each in stretches),
        "jobs": len(jobs),
        "undated": len(jobs) - len(stretches),
    }


def _job(job: Job) -> dict[str, Any]:
    record, lasted = job.record.model_dump(mode="json", exclude={"span", "type", "bullets"}), _lasted([job])
    known = {name: lasted[name] for name in ("months", "duration", "exact")}
    return {**record, **known, "disagreement": describe_date_conflict(job), "stated": _spans(job.stated)}


def _entry(group: Sequence[Fact]) -> dict[str, Any]:
    return {**group[0].record.model_dump(mode="json", exclude={"span", "type"}), "stated": _spans(group)}


def _spans(facts: Iterable[Fact]) -> list[dict[str, Any]]:
    return [
        {
            "document_id": fact.document_id,
            "document": fact.document_name,
            "page": fact.page,
            "line_start": fact.line_start,
            "line_end": fact.line_end,
            "start": fact.start,
            "end": fact.end,
            **({"date_range": fact.record.date_range} if isinstance(fact.record, JobFacts) else {}),
        }
        for fact in facts
    ]


def _title_words(position: str) -> list[str]:
    words = (word.strip(",;/()&-|.") for word in fold(position).split())
    return [word for word in words if len(word) > 1 and word not in STOP_WORDS]
