"""What `runs`, `rollback` and `reindex` do: show the run log, undo a run, make documents again from their originals."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import typer

from app import output
from app.ingesting import ingest_progress, leave, show_plan, show_report
from app.options import EXIT_FAILED_DOCUMENTS
from app.planning import say_sources_stay
from app.stopping import stopping
from app.tables import Entry, print_entries
from config.settings import Settings
from pipelines.store.originals import named_place
from pipelines.wording import counted, unlabelled

if TYPE_CHECKING:
    from pipelines.ingestion.plan import Step

_VERBS = {"add": "bring back", "update": "restore", "remove": "remove", "unchanged": "leave", "fail": "fail"}


def run_rollback(
    settings: Settings, run_id: int, *, plan_only: bool, keep_later: bool, yes: bool, as_json: bool
) -> None:
    """Undo a run, after asking where somebody can be asked: it can be undone itself.

    Exit 4 when a document failed, or would, where only a plan is asked for.
    """
    from pipelines.ingestion.rollback import roll_back
    from pipelines.ingestion.run import build_ingestion
    from pipelines.ingestion.undo import plan_rollback

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
    leave(report, stopped)


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
    return f"{step.reason} {step.error.hint}".strip() if step.error else step.reason


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
    leave(report, stopped)


def show_runs(settings: Settings, run_id: int | None, *, limit: int, snapshots: bool, as_json: bool) -> None:
    """The last runs, or one with what became of its documents, or the daily snapshots."""
    from pipelines.store.database import open_database
    from pipelines.store.run_log import list_runs, read_run
    from pipelines.store.snapshots import latest_snapshots

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
    made = f"{counted(run['nodes'], 'node')}, {run['embedded']:,} embedded{lasted}{rate}"
    output.say(f"{_counts(run['counts']) or 'nothing was done'}; {made}", "bold")


def _reason(item: dict[str, Any]) -> str:
    return f"{unlabelled(item['document'], item['error'])} {item['hint']}".strip()


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
