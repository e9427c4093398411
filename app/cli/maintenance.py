"""`footnote db`, `doctor`, `audit` and `stats`: the database, its checks and its statistics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli import output
from app.cli.options import Json, option, settings_now
from app.cli.output import Done, emit, render, say
from pipelines.errors import ConfigError, RetrievalError

if TYPE_CHECKING:
    from config.settings import Settings
    from pipelines.store.embedded import EmbeddedServer
    from pipelines.store.health import Finding

verbs = typer.Typer()
db = typer.Typer(help="The database: start, stop, migrate, url, reset. Example: footnote db url", no_args_is_help=True)


@db.command("start")
def db_start(as_json: Json = False) -> None:
    """Start the embedded server and keep it running until `footnote db stop`.

    Example: footnote db start
    """
    server = _embedded(settings_now())
    server.acquire()
    server.keep(True)
    emit(Done(f"running: {server.libpq_url}", {"running": True, "url": server.libpq_url}), as_json)


def _embedded(settings: "Settings") -> "EmbeddedServer":
    from pipelines.store.embedded import EmbeddedServer

    if settings.database_url is not None:
        raise ConfigError("DATABASE_URL is set, so there is no embedded server.", hint="Unset it to use one.")
    return EmbeddedServer(settings.home)


@db.command("stop")
def db_stop(as_json: Json = False) -> None:
    """Stop the embedded server, unless another process uses it.

    Example: footnote db stop
    """
    stopped = _embedded(settings_now()).stop()
    text = "stopped" if stopped else "Another process uses the database; close it first (a chat, an ingest)."
    emit(Done(text, {"running": not stopped}), as_json, 0 if stopped else 5)


@db.command("migrate")
def db_migrate(
    to: Annotated[
        str, option("The revision, e.g. 0003, of an older Footnote; default: the newest.", metavar="REVISION")
    ] = "",
    yes: Annotated[bool, option("Do not ask before a downgrade.", "--yes")] = False,
    as_json: Json = False,
) -> None:
    """Upgrade the tables to this version of Footnote, or downgrade them to an older one.

    Example: footnote db migrate --to 0003
    """
    from pipelines.store.database import HEAD, assert_known, losses, migrate, reach
    from pipelines.store.embedded import binaries

    to = to or HEAD
    if to == "base":
        raise RetrievalError(
            "A downgrade to base would drop every table.", hint="`footnote db reset` empties the database."
        )
    assert_known(to)
    database, stands = reach(settings_now())
    lost = losses(stands, to)
    if lost and not yes:
        # The embedded server needs the pg_dump that came with it.
        dump = f"footnote db start && {binaries() / 'pg_dump'}" if database.embedded else "pg_dump"
        for each in (*lost, f'Keep a copy first: {dump} "$(footnote db url)" > footnote.sql'):
            output.warn(f"   {each}")
        way = f"from migration {stands} down to {to}"
        would = f"The database would be downgraded {way}, and lose data."
        output.agree(f"Downgrade the database {way}?", would, as_json=as_json)
    before = migrate(database.engine, to)
    later = "" if to == HEAD else f"; the next command of this version upgrades it to {HEAD} again"
    emit(Done(f"at migration {to}{later}", {"migration": to, "before": before}), as_json)


@db.command("url")
def db_url(as_json: Json = False) -> None:
    """Print the address of the database, without its password.

    Example: footnote db start && psql "$(footnote db url)"
    """
    from pipelines.store.database import database_url

    url = database_url(settings_now()).set(drivername="postgresql").render_as_string(hide_password=True)
    emit(Done(url, {"url": url}), as_json)


@db.command("reset")
def db_reset(
    yes: Annotated[bool, option("Confirm that everything is deleted.", "--yes")] = False, as_json: Json = False
) -> None:
    """Delete every document, node and log of this database.

    Example: footnote db reset --yes
    """
    settings = settings_now()
    from pipelines.store.database import open_database, reset

    if not yes:
        raise RetrievalError("This deletes every document, node and log.", hint="Add --yes to confirm.")
    reset(open_database(settings).engine)
    emit(Done("empty", {"empty": True}), as_json)


@dataclass(frozen=True, slots=True)
class Health:
    """The findings of `footnote doctor`."""

    checks: Sequence["Finding"]

    @property
    def healthy(self) -> bool:
        """True if no check found a problem."""
        return all(finding.ok for finding in self.checks)


@verbs.command()
def doctor(
    fix: Annotated[bool, option("Run the safe repairs.", "--fix")] = False,
    sweep: Annotated[
        bool, option("Delete stored files that no document or version uses, after a confirmation.", "--sweep")
    ] = False,
    yes: Annotated[bool, option("Do not ask.", "--yes")] = False,
    as_json: Json = False,
) -> None:
    """Check the database, indexes and models, and print the command that repairs each problem.

    Example: footnote doctor --fix
    """
    settings = settings_now()
    if sweep:
        emit(_sweep(settings, yes=yes, as_json=as_json), as_json)
    else:
        from pipelines.query.doctor import examine_all
        from pipelines.store.database import interruptible

        with interruptible():
            health = Health(examine_all(settings, fix=fix))
        emit(health, as_json, 0 if health.healthy else 3)


def _sweep(settings: "Settings", *, yes: bool, as_json: bool) -> Done:
    """Delete the kept files that nothing needs any more, if a person agrees."""
    from pipelines.store.database import open_database, reading
    from pipelines.store.health import sweep, unused

    home, engine = settings.home.resolve(), open_database(settings).engine
    with reading(engine, "looking for unused files") as connection:
        found = unused(connection, home)
    if found.paths and not yes:
        would = f"{found} in {home} would be deleted: no document and no stored version uses them."
        question = "Delete them? Another database that shares this folder would lose its files too."
        output.agree(question, would, as_json=as_json)
    with reading(engine, "looking for unused files again") as connection:
        gone = sweep(connection, home, found)
    text = f"deleted: {gone}" if gone.paths else "nothing to delete"
    return Done(text, {"deleted": len(gone.paths), "bytes": gone.size})


@render.register(Health)
def _render_health(health: Health) -> None:
    for finding in health.checks:
        label, style = ("ok", "") if finding.ok else ("PROBLEM", "red")
        say(f"{label:>8}  {finding.name}: {finding.said}", style)
        if not finding.ok:
            say(f"          repair: {finding.mend}")


class Audit(dict[str, Any]):
    """The report of `pipelines.store.audit`."""


@verbs.command()
def audit(as_json: Json = False) -> None:
    """Check that nodes and citations match their spans of the stored text, and nodes the visibility of their document.

    Example: footnote audit --json
    """
    settings = settings_now()
    from pipelines.store.audit import audit as examine
    from pipelines.store.database import interruptible, open_database

    with interruptible(), output.progress(quiet=as_json) as advance:
        report = examine(open_database(settings).engine, advance)
    emit(Audit(report), as_json, 1 if report["violations"] else 0)


@render.register(Audit)
def _render_audit(report: Audit) -> None:
    for violation in report["violations"]:
        say(f"{violation['kind']}: {violation['document']}: {violation['said']}", "red")
    for repair in dict.fromkeys(violation["repair"] for violation in report["violations"]):
        say(f"repair: {repair}")
    say(
        f"{report['nodes']} nodes and {report['facts']} facts of {report['documents']} documents, "
        f"{report['citations']} citations and {report['snippets']} snippets of answers checked, "
        f"{len(report['violations'])} wrong, {report['unverifiable']} of a version that is no longer kept",
        "bold",
    )


class Statistics(dict[str, Any]):
    """The report of `pipelines.store.statistics`."""


@verbs.command()
def stats(
    days: Annotated[int, option("Number of days, including today (UTC).", min=1, max=3660)] = 30,
    as_json: Json = False,
) -> None:
    """Show questions, answers, abstentions, latency (p50, p95, p99) by stage, tokens, cost, volumes, clicks and thumbs.

    Example: footnote stats --days 7 --json
    """
    from pipelines.store.database import open_database
    from pipelines.store.statistics import statistics

    emit(Statistics(statistics(open_database(settings_now()).engine, days)), as_json)


@render.register(Statistics)
def _render_statistics(report: Statistics) -> None:
    say(
        f"Since {report['since']} (UTC): {report['questions']} questions, {report['asked']} to be answered: "
        f"{report['answered']} answered ({_counts(report['confidence'], ' confidence')}), "
        f"{report['abstained']} abstained.",
        "bold",
    )
    _table("questions", report["by_day"], ("day", "kind", "route", "questions", "answered", "abstained"))
    stages = {**{f"all: {kind}": row for kind, row in report["latency_ms"].items()}, **report["stages_ms"]}
    latency = [[name, row["count"], *(f"{row[share]:,.1f}" for share in ("p50", "p95", "p99"))]
               for name, row in stages.items()]  # fmt: skip
    if latency:
        output.table("latency, ms", ["stage", "questions", "p50", "p95", "p99"], latency)
    _say_usage(report["usage"])
    volumes = [{**row, "category": row["category"] or "all"} for row in report["volumes"]]
    newest = [row for row in volumes if row["day"] == volumes[0]["day"]]
    _table("volumes at the end of the last day of a run", newest, ("day", "category", "documents", "nodes"))
    clicks, given = report["clicks"], report["feedback"]
    if clicks["opened"]:
        numbers = ", ".join(f"[{number}] {count}" for number, count in clicks["by_number"].items())
        say(
            f"{clicks['opened']} sources opened in {clicks['answers']} answers, {clicks['per_answer']:.2f} an answer: "
            f"{_counts(clicks['by_place'])}; {numbers}"
        )
    say(
        f"Thumbs: {given['up']} up, {given['down']} down; {given['wrong_source']} sources reported as wrong, "
        f"{given['text']} comments"
    )


def _say_usage(usage: Mapping[str, Any]) -> None:
    names = ("day", "answers", "calls", "prompt_tokens", "completion_tokens", "embedding_tokens", "estimated_tokens")
    rows = [
        [*(row[name] for name in names),
         f"{row['cost']:.6f}" + (f", {row['unpriced']} of unknown price" if row["unpriced"] else "")]
        for row in usage["by_day"] if row["answers"] or row["embedding_tokens"]
    ]  # fmt: skip
    if rows:
        columns = ["day", "answers", "model calls", "read", "written", "embedded", "estimated", "US $"]
        output.table("tokens and cost", columns, rows)
    tokens, cost = usage["per_answer"]["tokens"], usage["per_answer"]["cost"]
    if tokens["mean"] is not None:
        priced = "cost not known" if cost["mean"] is None else f"${cost['mean']:.6f} (p95 ${cost['p95']:.6f})"
        say(f"An answer takes {tokens['mean']:,.0f} tokens (p95 {tokens['p95']:,.0f}) and {priced}.")


def _counts(counts: Mapping[str, int], after: str = "") -> str:
    return ", ".join(f"{count} {name}{after}" for name, count in counts.items()) or "none"


def _table(title: str, rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> None:
    if rows:
        output.table(title, names, [[row[name] for name in names] for row in rows])


@verbs.command()
def forget(
    visitor_data: Annotated[
        bool, option("Conversations, share links, questions and feedback.", "--visitor-data")
    ] = False,
    yes: Annotated[bool, option("Do not ask.", "--yes")] = False,
    as_json: Json = False,
) -> None:
    """Delete all that visitors of the chat asked and said; documents and the owner's conversations stay.

    Example: footnote forget --visitor-data
    """
    if not visitor_data:
        raise typer.BadParameter("Say what to forget: --visitor-data.")
    settings = settings_now()
    from pipelines.store.conversations import forget_visitors
    from pipelines.store.database import open_database
    from pipelines.store.query_log import forget_visitor_queries

    engine = open_database(settings).engine
    if not yes:
        output.agree("Forget them?", "All that visitors asked would be deleted, for good.", as_json=as_json)
    counts = {"conversations": forget_visitors(engine), "queries": forget_visitor_queries(engine)}
    said = f"{counts['conversations']:,} conversations and {counts['queries']:,} questions of visitors were deleted"
    emit(Done(said, counts), as_json)
