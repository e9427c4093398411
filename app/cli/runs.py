"""`footnote runs`, `rollback` and `reindex`: the run log, undo, and indexing again from the originals."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from app.cli import output
from app.cli.ingest import exit_with_report, ingest_progress, say_sources_stay, show_plan, show_report
from app.cli.options import EXIT_FAILED_DOCUMENTS
from app.cli.output import Entry, print_entries
from app.cli.signals import stopping
from config.settings import Settings
from pipelines.errors import RetrievalError
from pipelines.store.originals import named_place
from pipelines.wording import format_count, with_hint, without_label

if TYPE_CHECKING:
    from pipelines.ingestion.plan import Step
    from pipelines.ingestion.run import Ingestion
    from pipelines.store.documents import StoredDocument
    from pipelines.store.runs import Failure


_VERBS = {"add": "bring back", "update": "restore", "remove": "remove", "unchanged": "leave", "fail": "fail"}


def run_rollback(
    settings: Settings, run_id: int, *, plan_only: bool, keep_later: bool, yes: bool, as_json: bool
) -> None:
    """Undo a run, after asking where somebody can be asked: it can be undone itself.

    Exit 4 when a document failed, or would, where only a plan is asked for.
    """
    from pipelines.ingestion.rollback import plan_rollback, roll_back
    from pipelines.ingestion.run import build_ingestion

    ingestion = build_ingestion(settings)
    undo = plan_rollback(ingestion.database, run_id, keep_later=keep_later)
    if plan_only:
        _show_undo(run_id, undo.steps, as_json=as_json)
        if undo.plan.count("fail"):
            raise typer.Exit(EXIT_FAILED_DOCUMENTS)
        return
    if not yes:
        _ask(run_id, undo.steps, as_json=as_json)
    with stopping(ingestion.stop) as stopped, ingest_progress(len(undo.steps), quiet=as_json) as advance:
        report = roll_back(ingestion, undo, on_progress=advance)
    show_report(report, undo.plan, as_json=as_json)
    if not as_json:
        say_sources_stay(step.item.source for step in undo.steps)
    exit_with_report(report, stopped)


def _show_undo(run_id: int, steps: "tuple[Step, ...]", *, as_json: bool) -> None:
    counts = {verb: sum(_VERBS[step.action] == verb for step in steps) for verb in _VERBS.values()}
    if as_json:
        shown = [
            {
                "action": _VERBS[step.action],
                "document": step.item.name,
                "document_id": step.document_id,
                "reason": step.reason,
                "hint": step.error.hint if step.error else "",
            }
            for step in steps
        ]
        output.print_json({"undoes": run_id, "counts": counts, "steps": shown})
        return
    rows = [
        Entry([_VERBS[step.action], step.item.name], _why(step), "red" if step.action == "fail" else "dim")
        for step in steps
    ]
    print_entries(["action", "document"], rows, most=200)
    totals = ", ".join(f"{count} to {verb}" for verb, count in counts.items() if count)
    output.say(totals or f"run {run_id} changed nothing", "bold")
    say_sources_stay(step.item.source for step in steps)


def _why(step: "Step") -> str:
    return with_hint(step.reason, step.error.hint) if step.error else step.reason


def _ask(run_id: int, steps: "tuple[Step, ...]", *, as_json: bool) -> None:
    import sys

    if not as_json and sys.stdin.isatty():
        _show_undo(run_id, steps, as_json=False)
        output.confirm(f"Undo run {run_id}?")


def run_reindex(settings: Settings, source: str, *, plan_only: bool, as_json: bool) -> None:
    """Make stored documents again from their originals, by today's settings; exit 4 when one failed, or would."""
    from pipelines.ingestion.reindex import plan_reindex
    from pipelines.ingestion.run import Overrides, build_ingestion

    ingestion = build_ingestion(settings)
    plan = plan_reindex(ingestion, source)
    if plan_only:
        show_plan(ingestion, plan, Overrides(), as_json=as_json)
        return
    with stopping(ingestion.stop) as stopped, ingest_progress(len(plan.steps), quiet=as_json) as advance:
        report = ingestion.run(plan, on_progress=advance, kind="reindex")
    show_report(report, plan, as_json=as_json)
    exit_with_report(report, stopped)


def show_runs(settings: Settings, run_id: int | None, *, limit: int, snapshots: bool, as_json: bool) -> None:
    """The last runs, or one with what became of its documents, or the daily snapshots."""
    from pipelines.store.database import open_database
    from pipelines.store.runs import list_runs, read_run
    from pipelines.store.statistics import latest_snapshots

    engine = open_database(settings).engine
    printed: Callable[[dict[str, Any]], None]
    if snapshots:
        shown, printed = {"snapshots": latest_snapshots(engine, limit)}, _print_snapshots
    elif run_id is None:
        shown, printed = {"runs": list_runs(engine, limit)}, _print_runs
    else:
        shown, printed = read_run(engine, run_id), _print_run
    if as_json:
        output.print_json(shown)
    else:
        printed(shown)


def _print_runs(shown: dict[str, Any]) -> None:
    rows = [
        Entry([run["id"], run["kind"], _state(run), output.moment(run["started_at"]),
               _number(run["seconds"], "{:.1f} s"), _number(run["documents_per_second"], "{:.1f}/s"),
               _counts(run["counts"])], _sources(run))
        for run in shown["runs"]
    ]  # fmt: skip
    print_entries(["run", "kind", "state", "started", "took", "speed", "outcome"], rows)
    if not rows:
        output.say("There was no run yet.")


def _print_run(run: dict[str, Any]) -> None:
    output.say(f"run {run['id']}: {run['kind']}, {_state(run)}, started {_started(run)}", "bold")
    if run["sources"]:
        output.say(f"  from {_sources(run)}", "dim")
    rows = [
        Entry([item["outcome"], item["nodes"] or "", item["embedded"] or "", f"{item['seconds']:.2f} s",
               item["version"] or "", item["document"]], _reason(item), "red" if item["outcome"] == "failed" else "dim")
        for item in run["items"]
    ]  # fmt: skip
    print_entries(["outcome", "nodes", "embedded", "took", "version kept", "document"], rows, most=200)
    rate = _number(run["documents_per_second"], ", {:.1f} documents/s")
    lasted = _number(run["seconds"], " in {:.1f} s")
    made = f"{format_count(run['nodes'], 'node')}, {run['embedded']:,} embedded{lasted}{rate}"
    output.say(f"{_counts(run['counts']) or 'nothing was done'}; {made}", "bold")


def _reason(item: dict[str, Any]) -> str:
    return with_hint(without_label(item["document"], item["error"]), item["hint"])


def _print_snapshots(shown: dict[str, Any]) -> None:
    rows = [
        [row["day"], row["category"] or "all", f"{row['documents']:,}", f"{row['nodes']:,}", f"{row['characters']:,}",
         f"{row['bytes'] / 2**20:.1f} MB", _number(row["documents_per_second"], "{:.1f}/s")]
        for row in shown["snapshots"]
    ]  # fmt: skip
    columns = ["day", "category", "documents", "nodes", "characters", "size", "speed"]
    print_entries(columns, [Entry(row) for row in rows])
    if not rows:
        output.say("There is no snapshot yet; each run writes the day's.")


def _state(run: dict[str, Any]) -> str:
    also = [f"undoes {run['undoes']}"] if run["undoes"] else []
    also += [f"undone by {', '.join(map(str, run['undone_by']))}"] if run["undone_by"] else []
    return f"{run['state']} ({'; '.join(also)})" if also else str(run["state"])


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {outcome}" for outcome, count in counts.items() if count)


def _sources(run: dict[str, Any]) -> str:
    return ", ".join(map(named_place, run["sources"]))


def _started(run: dict[str, Any]) -> str:
    return output.moment(run["started_at"], "%Y-%m-%d %H:%M:%S")


def _number(value: float | None, shape: str) -> str:
    return "" if value is None else shape.format(value)


def run_remove(settings: Settings, named: Sequence[str], source: str, *, yes: bool, as_json: bool) -> None:
    """Remove documents by name or by source, after asking; where nobody can be asked, only with --yes.

    What failed, and of which nothing is stored, is forgotten.
    """
    from app.cli.ingest import say_sources_stay
    from pipelines.ingestion.run import build_ingestion
    from pipelines.ingestion.sources.locations import normalized_location
    from pipelines.store.fetch_cache import forget_listing
    from pipelines.store.status import nothing_from

    ingestion = build_ingestion(settings)
    everything = {document.id: document for document in ingestion.known()}
    place = normalized_location(source, settings.web.private_hosts) if source else ""
    chosen, failed = _unwanted(ingestion, named, place, everything)
    if not (chosen or failed):
        if source:
            raise nothing_from(source, [document.source for document in everything.values()])
        raise RetrievalError("No document was named.", hint="Name one, or use --source; `footnote status` lists them.")
    if not yes:
        for document_id in chosen:
            output.warn(f"   remove  {everything[document_id].name}")
        for failure in failed:
            output.warn(f"   forget  {failure.document} ({named_place(failure.source)})")
        output.agree("Remove these?", _said(len(chosen), len(failed)), as_json=as_json)
    report = ingestion.remove(chosen, failed)
    if source:
        forget_listing(settings.home, place)
    gone = [item for item in report.items if item.outcome == "removed"]
    forgotten = [failure.document for failure in failed]
    if as_json:
        removed = [{"id": item.document_id, "document": item.document} for item in gone]
        output.print_json({"run_id": report.run_id, "removed": removed, "forgotten": forgotten})
        return
    for name in forgotten:
        output.say(f"{name}, which failed, is forgotten")
    if gone:
        output.say(f"{len(gone):,} removed; `footnote rollback {report.run_id}` brings them back", "bold")
        say_sources_stay(everything[item.document_id].source for item in gone)


def _said(stored: int, failed: int) -> str:
    if not stored:
        return f"{format_count(failed, 'failure')} would be forgotten."
    also = f" and {format_count(failed, 'failure')} forgotten" if failed else ""
    return f"{format_count(stored, 'document')} would be removed{also}."


def _unwanted(
    ingestion: "Ingestion", named: Sequence[str], source: str, everything: "Mapping[str, StoredDocument]"
) -> tuple[list[str], list["Failure"]]:
    """(the ids of the documents of these names and of that source, what failed of it and is not stored).

    A whole name is that of a stored document before it is that of a failure, and a failure's before it is a guess.
    """
    from pipelines.store.database import reading
    from pipelines.store.documents import find_documents
    from pipelines.store.runs import failures_from, failures_named, unstored_failures
    from pipelines.store.status import from_source

    whole = {name for known in everything.values() for name in (known.id, known.source_uri, known.name)}
    chosen, failed = list[str](), list["Failure"]()
    with reading(ingestion.database.engine, "looking documents up") as connection:
        failures = unstored_failures(connection)
        for name in named:
            missed = [] if name in whole else failures_named(failures, name)
            failed += missed
            chosen += [] if missed else [_one(find_documents(connection, name), name, everything)]
        if source:
            chosen += from_source(connection, source)
            failed += failures_from(failures, source)
    return list(dict.fromkeys(chosen)), list(dict.fromkeys(failed))


def _one(found: list[str], name: str, everything: "Mapping[str, StoredDocument]") -> str:
    if not found:
        raise RetrievalError(f"No document is called {name!r}.", hint="`footnote status` lists them.")
    if len(found) > 1:
        names = ", ".join(everything[document_id].name for document_id in found[:5] if document_id in everything)
        raise RetrievalError(f"{name!r} could be {len(found)} documents: {names}.", hint="Give the whole name.")
    return found[0]
