"""`footnote db`, `doctor`, `audit` and `stats`: the database, its checks and its statistics."""

from collections.abc import Mapping, Sequence
from typing import Any

import typer

from app.cli import output
from config.settings import Settings
from pipelines.errors import ConfigError, RetrievalError


def _embedded(settings: Settings) -> Any:
    from pipelines.store.embedded import EmbeddedServer

    if settings.database_url is not None:
        raise ConfigError("DATABASE_URL is set, so there is no embedded server.", hint="Unset it to use one.")
    return EmbeddedServer(settings.home)


def _done(said: str, *, as_json: bool, **facts: Any) -> None:
    if as_json:
        output.print_json(facts)
    else:
        output.say(said)


def start_database(settings: Settings, *, as_json: bool) -> None:
    """Start the embedded server for good."""
    server = _embedded(settings)
    server.acquire()
    server.keep(True)
    _done(f"running: {server.libpq_url}", as_json=as_json, running=True, url=server.libpq_url)


def stop_database(settings: Settings, *, as_json: bool) -> None:
    """Stop the embedded server; exit 5 when others use it."""
    stopped = _embedded(settings).stop()
    said = "stopped" if stopped else "Another process uses the database; close it first (a chat, an ingest)."
    _done(said, as_json=as_json, running=not stopped)
    if not stopped:
        raise typer.Exit(5)


def migrate_database(settings: Settings, to: str, *, yes: bool, as_json: bool) -> None:
    """Migrate, by default to the newest version, and say where the database stands; going down asks first."""
    from pipelines.store.database import HEAD, assert_known, losses, migrate, reach

    to = to or HEAD
    if to == "base":
        raise RetrievalError("Nothing would be left.", hint="`footnote db reset` empties the database.")
    assert_known(to)
    database, stands = reach(settings)
    lost = losses(stands, to)
    if lost and not yes:
        for each in (*lost, _advice(database.embedded)):
            output.warn(f"   {each}")
        way = f"from migration {stands} down to {to}"
        said = f"The database would go {way}, and lose something."
        output.agree(f"Take the database {way}?", said, as_json=as_json)
    before = migrate(database.engine, to)
    later = "" if to == HEAD else f"; the next command of this Footnote brings it to {HEAD} again"
    _done(f"at migration {to}{later}", as_json=as_json, migration=to, before=before)


def _advice(embedded: bool) -> str:
    """How to keep a copy; the embedded server needs the pg_dump that came with it."""
    from pipelines.store.embedded import binaries

    dump = f"footnote db start && {binaries() / 'pg_dump'}" if embedded else "pg_dump"
    return f'Keep a copy first: {dump} "$(footnote db url)" > footnote.sql'


def show_url(settings: Settings, *, as_json: bool) -> None:
    """Print a URL that psql takes."""
    from pipelines.store.database import database_url

    url = database_url(settings).set(drivername="postgresql").render_as_string(hide_password=True)
    _done(url, as_json=as_json, url=url)


def reset_database(settings: Settings, *, yes: bool, as_json: bool) -> None:
    """Empty the database; refuses without --yes."""
    from pipelines.store.database import open_database, reset

    if not yes:
        raise RetrievalError("This deletes every document, node and log.", hint="Say --yes to do it.")
    reset(open_database(settings).engine)
    _done("empty", as_json=as_json, empty=True)


def sweep_home(settings: Settings, *, yes: bool, as_json: bool) -> None:
    """Delete the kept files that nothing needs any more, if somebody agrees."""
    from pipelines.store.database import open_database, reading
    from pipelines.store.health import sweep, unused

    home, engine = settings.home.resolve(), open_database(settings).engine
    with reading(engine, "looking for unused files") as connection:
        found = unused(connection, home)
    if found.paths and not yes:
        said = f"{found} in {home} would be deleted: no document and no kept version of one needs them."
        question = "Delete them? Another database that shares this folder would miss its own."
        output.agree(question, said, as_json=as_json)
    with reading(engine, "looking for unused files again") as connection:
        gone = sweep(connection, home, found)
    said = f"deleted: {gone}" if gone.paths else "nothing to delete"
    _done(said, as_json=as_json, deleted=len(gone.paths), bytes=gone.size)


def show_stats(settings: Settings, days: int, *, as_json: bool) -> None:
    """Print questions, latency, usage, volumes, clicks and thumbs of the last days."""
    from pipelines.store.database import open_database
    from pipelines.store.statistics import statistics

    report = statistics(open_database(settings).engine, days)
    if as_json:
        output.print_json(report)
        return
    output.say(
        f"Since {report['since']} (UTC): {report['questions']} questions, {report['asked']} to be answered: "
        f"{report['answered']} answered ({_counts(report['confidence'], ' confidence')}), "
        f"{report['abstained']} abstained.",
        "bold",
    )
    _table("questions", report["by_day"], ("day", "kind", "route", "questions", "answered", "abstained"))
    latency = [_latency(f"all: {kind}", row) for kind, row in report["latency_ms"].items()]
    latency += [_latency(stage, row) for stage, row in report["stages_ms"].items()]
    if latency:
        output.table("latency, ms", ["stage", "questions", "p50", "p95", "p99"], latency)
    _print_usage(report["usage"])
    _print_volumes(report["volumes"])
    _print_readers(report["clicks"], report["feedback"])


def _latency(name: str, row: Mapping[str, Any]) -> list[str]:
    return [name, str(row["count"]), *(f"{row[share]:,.1f}" for share in ("p50", "p95", "p99"))]


def _print_usage(usage: Mapping[str, Any]) -> None:
    asked = [row for row in usage["by_day"] if row["answers"] or row["embedding_tokens"]]
    if asked:
        columns = ["day", "answers", "model calls", "read", "written", "embedded", "estimated", "US $"]
        names = ("day", "answers", "calls", "prompt_tokens", "completion_tokens", "embedding_tokens",
                 "estimated_tokens")  # fmt: skip
        rows = [[*(str(row[name]) for name in names), _dollars(row)] for row in asked]
        output.table("tokens and cost", columns, rows)
    tokens, cost = usage["per_answer"]["tokens"], usage["per_answer"]["cost"]
    if tokens["mean"] is not None:
        priced = "cost not known" if cost["mean"] is None else f"${cost['mean']:.6f} (p95 ${cost['p95']:.6f})"
        output.say(f"An answer takes {tokens['mean']:,.0f} tokens (p95 {tokens['p95']:,.0f}) and {priced}.")


def _dollars(row: Mapping[str, Any]) -> str:
    unknown = f", {row['unpriced']} of unknown price" if row["unpriced"] else ""
    return f"{row['cost']:.6f}{unknown}"


def _print_volumes(volumes: Sequence[Mapping[str, Any]]) -> None:
    rows = [{**row, "category": row["category"] or "all"} for row in volumes]
    newest = [row for row in rows if row["day"] == rows[0]["day"]]
    _table("volumes at the end of the last day of a run", newest, ("day", "category", "documents", "nodes"))


def _print_readers(clicks: Mapping[str, Any], said: Mapping[str, int]) -> None:
    if clicks["opened"]:
        where = _counts(clicks["by_place"], "")
        numbers = ", ".join(f"[{number}] {count}" for number, count in clicks["by_number"].items())
        output.say(
            f"{clicks['opened']} sources opened in {clicks['answers']} answers, {clicks['per_answer']:.2f} an answer: "
            f"{where}; {numbers}"
        )
    output.say(
        f"Thumbs: {said['up']} up, {said['down']} down; {said['wrong_source']} sources reported as wrong, "
        f"{said['text']} comments"
    )


def _counts(counts: Mapping[str, int], after: str) -> str:
    return ", ".join(f"{count} {name}{after}" for name, count in counts.items()) or "none"


def _table(title: str, rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> None:
    if rows:
        output.table(title, names, [[row[name] for name in names] for row in rows])


def run_doctor(settings: Settings, *, fix: bool, as_json: bool) -> None:
    """Print each check; exit 3 when one found a problem."""
    from app.cli.models import model_finding
    from pipelines.models.minilm import examine_model
    from pipelines.store.database import interruptible
    from pipelines.store.health import Finding, examine

    with interruptible():
        model, agrees = model_finding(settings)
        findings = [agrees, *(examine(settings, model, fix=fix) if model else ())]
    if model and model.provider == "local":
        findings.append(Finding("local model", *examine_model(settings.embedding.model_path)))
    if as_json:
        output.print_json({"healthy": all(f.ok for f in findings), "checks": [f.as_dict() for f in findings]})
    else:
        for finding in findings:
            output.say(f"{'ok' if finding.ok else 'PROBLEM':>8}  {finding.name}: {finding.said}",
                       "" if finding.ok else "red")  # fmt: skip
            if not finding.ok:
                output.say(f"          mend: {finding.mend}")
    if not all(finding.ok for finding in findings):
        raise typer.Exit(3)


def run_audit(settings: Settings, *, as_json: bool) -> None:
    """Check every span and citation; exit 1 when one does not hold."""
    from pipelines.store.audit import audit
    from pipelines.store.database import interruptible, open_database

    with interruptible(), output.progress(quiet=as_json) as advance:
        report = audit(open_database(settings).engine, advance)
    if as_json:
        output.print_json(report)
    else:
        for violation in report["violations"]:
            output.say(f"{violation['kind']}: {violation['document']}: {violation['said']}", "red")
        if {violation["kind"] for violation in report["violations"]} - {"citation", "snippet"}:
            output.say("mend: footnote doctor --fix; if a document is wrong still, remove it and ingest it again")
        output.say(
            f"{report['nodes']} nodes and {report['facts']} facts of {report['documents']} documents, "
            f"{report['citations']} citations and {report['snippets']} snippets of answers checked, "
            f"{len(report['violations'])} wrong, {report['unverifiable']} of a version that is no longer kept",
            "bold",
        )
    if report["violations"]:
        raise typer.Exit(1)
