"""`footnote facts`: careers and projects as the documents state them, with computed durations."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from app.cli import output
from app.cli.options import Json, filtered, settings_now
from app.cli.output import emit, render, say

if TYPE_CHECKING:
    from pipelines.types import Filters

verbs = typer.Typer()


@dataclass(frozen=True, slots=True)
class Careers:
    """Careers as plain data."""

    people: Sequence[dict[str, Any]]
    projects: Sequence[dict[str, Any]] = ()


@verbs.command()
@filtered
def facts(*, filters: "Filters", as_json: Json = False) -> None:
    """Show the careers, projects and talks that documents state, with durations by company, title and skill.

    Example: footnote facts --document resume.pdf --json
    """
    settings = settings_now()
    from app.careers import read_careers
    from pipelines.models.identity import identity, is_model_configured
    from pipelines.store.database import open_database
    from pipelines.store.embedding_models import model_to_use
    from pipelines.store.vector_store import build_vector_store

    database = open_database(settings)
    model = model_to_use(database.engine, identity(settings), stated=is_model_configured(settings))
    store = build_vector_store(settings, database, model)
    emit(Careers(**read_careers(store, filters, "owner")), as_json)


@render.register(Careers)
def _render_careers(careers: Careers) -> None:
    for person in careers.people:
        _render_person(person)
    rows = [[each["name"], each["purpose"], ", ".join(each["languages"]), ", ".join(each["topics"]),
             _places(each["stated"])] for each in careers.projects]  # fmt: skip
    _table("projects", ["project", "what it is", "languages", "topics", "where"], rows)
    if not careers.people and not careers.projects:
        say("No document states a career yet: `footnote ingest` a resume or a LinkedIn export.")


def _render_person(person: dict[str, Any]) -> None:
    total = person["experience"]
    say(f"{person['name'] or 'Somebody'}  ({', '.join(person['documents'])})", "bold")
    if total["duration"]:
        say(f"{total['duration']} of work experience in {total['jobs']} jobs, overlapping jobs counted once")
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
    rows = [[row["title"], row["place"], row["date_range"], _places(row["stated"])] for row in person["talks"]]
    _table("talks", ["title", "place", "date", "where"], rows)
    for summary in person["summaries"]:
        output.console.print()
        say(f"{summary['text']}  ({_places(summary['stated'])})")
    for job in person["jobs"]:
        if job["disagreement"]:
            say(f"The documents disagree on {job['disagreement']}", "yellow")


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    if rows:
        output.console.print()
        output.table(title, columns, rows)


def _places(stated: Iterable[dict[str, Any]]) -> str:
    places = (f"{at['document']} p.{at['page']}" if at["page"] else f"{at['document']}:{at['line_start']}"
              for at in stated)  # fmt: skip
    return ", ".join(dict.fromkeys(places))
