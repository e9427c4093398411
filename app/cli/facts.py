"""`footnote facts`: careers as the documents state them, with computed durations."""

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

from app.cli import output
from config.settings import Settings
from pipelines.facts import JobFacts
from pipelines.models.identity import identity, is_model_configured
from pipelines.months import duration_text, merge_ranges
from pipelines.query.careers.computed_answer import skill_mention
from pipelines.query.careers.people import Job, Person, describe_date_conflict, group_people, jobs_by_company
from pipelines.store.database import open_database
from pipelines.store.embedding_models import model_to_use
from pipelines.store.facts import Fact, read_facts
from pipelines.store.tokens import STOP_WORDS
from pipelines.store.vector_store import build_vector_store
from pipelines.text import fold
from pipelines.types import Filters


def show_facts(settings: Settings, filters: Filters, *, as_json: bool) -> None:
    """Print everybody's jobs, education and skills with where they stand, and how long each lasted."""
    database = open_database(settings)
    model = model_to_use(database.engine, identity(settings), stated=is_model_configured(settings))
    store = build_vector_store(settings, database, model)
    known = [person_json(person) for person in group_people(read_facts(store, filters, "owner"), date.today())]
    if as_json:
        output.print_json({"people": known})
        return
    for person in known:
        _print_person(person)
    if not known:
        output.say("No document states a career yet: `footnote ingest` a resume or a LinkedIn export.")


def person_json(person: Person) -> dict[str, Any]:
    """A person's career as plain data; each entry has `stated`, the spans that state it."""
    jobs = person.jobs
    titles = dict.fromkeys(word for job in jobs for word in _title_words(job.record.position))
    skills = [(skill, [job for job in jobs if skill_mention(job, skill)], stated) for skill, stated in person.skills]
    return {
        "name": person.name,
        "documents": list(person.documents),
        "experience": _lasted(jobs),
        "jobs": [_job_json(job) for job in jobs],
        "companies": [{"company": name, **_lasted(held)} for name, held in jobs_by_company(jobs)],
        "titles": [{"title": word, **_lasted([job for job in jobs if word in _title_words(job.record.position)])}
                   for word in titles],
        "skills": [{"skill": skill, **_lasted(held), "stated": _spans(stated),
                    "used": _spans(named.fact for job in held if (named := skill_mention(job, skill)))}
                   for skill, held, stated in skills],
        **{name: [_entry(group) for group in getattr(person, name)]
           for name in ("education", "certifications", "languages", "projects")},
    }  # fmt: skip


def _lasted(jobs: Sequence[Job]) -> dict[str, Any]:
    """How long these jobs were together, overlaps counted once, and of how many that is known."""
    stretches = [job.stretch for job in jobs if job.stretch]
    return {
        "months": sum(each.months for each in merge_ranges(stretches)),
        "duration": duration_text(stretches),
        "exact": all(each.exact for each in stretches),
        "jobs": len(jobs),
        "undated": len(jobs) - len(stretches),
    }


def _job_json(job: Job) -> dict[str, Any]:
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


def _print_person(person: dict[str, Any]) -> None:
    total = person["experience"]
    output.say(f"{person['name'] or 'Somebody'}  ({', '.join(person['documents'])})", "bold")
    if total["duration"]:
        output.say(f"{total['duration']} of work experience in {total['jobs']} jobs, overlapping jobs counted once")
    rows = [[job["company"], job["position"], job["date_range"], job["duration"], _places(job["stated"])]
            for job in person["jobs"]]  # fmt: skip
    _table("jobs", ["company", "position", "dates", "how long", "where"], rows)
    _table("companies", ["company", "how long"], [[row["company"], row["duration"]] for row in person["companies"]])
    _table("titles", ["word", "how long"], [[row["title"], row["duration"]] for row in person["titles"]])
    rows = [[row["skill"], row["duration"], _places([*row["stated"], *row["used"]])] for row in person["skills"]]
    _table("skills", ["skill", "how long in jobs that name it", "where"], rows)
    rows = [[row["institution"], ", ".join(filter(None, [row["degree"], row["area"]])), row["date_range"],
             _places(row["stated"])] for row in person["education"]]  # fmt: skip
    _table("education", ["institution", "degree", "dates", "where"], rows)
    for kind, name, more in (("certifications", "name", "issuer"), ("languages", "language", "level")):
        rows = [[row[name], row[more], _places(row["stated"])] for row in person[kind]]
        _table(kind, [name, more, "where"], rows)
    for job in person["jobs"]:
        if job["disagreement"]:
            output.say(f"The documents disagree on {job['disagreement']}", "yellow")


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    if rows:
        output.console.print()
        output.table(title, columns, rows)


def _places(stated: Iterable[dict[str, Any]]) -> str:
    places = (f"{at['document']} p.{at['page']}" if at["page"] else f"{at['document']}:{at['line_start']}"
              for at in stated)  # fmt: skip
    return ", ".join(dict.fromkeys(places))
