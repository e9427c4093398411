"""`footnote runs`, `rollback`, `reindex` and `remove`: the run log, undo, and indexing again from the originals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.ingest import emit_plan, emit_run, say_sources_stay
from app.cli.options import EXIT_FAILED_DOCUMENTS, Json, PlanOnly, argument, option, settings_now
from app.cli.output import ListEntry, agree, emit, local_time, print_entries, render, say, warn
from pipelines.errors import RetrievalError
from pipelines.store.originals import named_place
from pipelines.wording import format_count, with_hint, without_label

if TYPE_CHECKING:
    from pipelines.ingestion.plan import Step
    from pipelines.ingestion.run import Ingestion
    from pipelines.store.documents import StoredDocument
    from pipelines.store.runs import FailedDocument
    from pipelines.types import IngestItem, IngestReport

verbs = typer.Typer()
_VERBS = {"add": "bring back", "update": "restore", "remove": "remove", "unchanged": "leave", "fail": "fail"}
_CHANGING = frozenset({"add", "update", "remove"})


@dataclass(frozen=True, slots=True)
class Removal:
    """The report of `footnote remove`, the sources of the removed documents, the forgotten failures."""

    report: "IngestReport"
    sources: Sequence[str]
    failed: "Sequence[FailedDocument]"

    @property
    def removed(self) -> "list[IngestItem]":
        """The documents that are gone."""
        return [item for item in self.report.items if item.outcome == "removed"]


@verbs.command()
def remove(
    documents: Annotated[list[str] | None, argument("Ids, names or titles.")] = None,
    source: Annotated[str, option("Remove every document of this file, folder or source.")] = "",
    collection: Annotated[str, option("Only documents of this collection; without names, all of them.")] = "",
    yes: Annotated[bool, option("Do not ask.", "--yes")] = False,
    as_json: Json = False,
) -> None:
    """Remove documents and all that was derived from them; failures of documents that were never stored are forgotten.

    Example: footnote remove resume.pdf

    Example: footnote remove --source github:ann
    """
    settings = settings_now()
    from pipelines.ingestion.run import build_ingestion
    from pipelines.ingestion.sources.locations import normalized_location
    from pipelines.store.fetch_cache import forget_listing
    from pipelines.store.known_values import assert_collection
    from pipelines.store.status import nothing_from

    ingestion = build_ingestion(settings)
    if collection:
        assert_collection(ingestion.database.engine, collection)
    everything = {document.id: document for document in ingestion.known(collection or None)}
    place = normalized_location(source, settings.web.private_hosts) if source else ""
    chosen, failed = _unwanted(ingestion, documents or (), place, everything)
    if collection and not (documents or source):
        chosen = list(everything)
    if not (chosen or failed):
        if source:
            raise nothing_from(source, [document.source for document in everything.values()])
        raise RetrievalError("No document was named.", hint="Name one, or use --source; `footnote status` lists them.")
    if not yes:
        for document_id in chosen:
            warn(f"   remove  {everything[document_id].name}")
        for failure in failed:
            warn(f"   forget  {failure.document} ({named_place(failure.source)})")
        agree("Remove these?", _would_remove(len(chosen), len(failed)), as_json=as_json)
    report = ingestion.remove(chosen, failed)
    if source:
        forget_listing(settings.home, place)
    sources = [everything[item.document_id].source for item in report.items if item.outcome == "removed"]
    emit(Removal(report, sources, failed), as_json)


def _would_remove(stored: int, failed: int) -> str:
    if not stored:
        return f"{format_count(failed, 'failure')} would be forgotten."
    also = f" and {format_count(failed, 'failure')} forgotten" if failed else ""
    return f"{format_count(stored, 'document')} would be removed{also}."


def _unwanted(
    ingestion: "Ingestion", named: Sequence[str], source: str, everything: "Mapping[str, StoredDocument]"
) -> tuple[list[str], list["FailedDocument"]]:
    """(the ids of the documents of these names and of that source, the failures of which nothing is stored).

    A whole name is first that of a stored document, then that of a failure; last, it may be a part of a name.
    """
    from pipelines.store.database import reading
    from pipelines.store.documents import find_documents
    from pipelines.store.runs import current_failures, failures_from, failures_named
    from pipelines.store.status import from_source

    whole = {name for known in everything.values() for name in (known.id, known.source_uri, known.name)}
    chosen, failed = list[str](), list["FailedDocument"]()
    with reading(ingestion.database.engine, "looking documents up") as connection:
        failures = [failure for failure in current_failures(connection) if not failure.stored]
        for name in named:
            missed = [] if name in whole else failures_named(failures, name)
            failed += missed
            if not missed:
                chosen.append(_one(list(filter(everything.get, find_documents(connection, name))), name, everything))
        if source:
            chosen += [each for each in from_source(connection, source) if each in everything]
            failed += failures_from(failures, source)
    return list(dict.fromkeys(chosen)), list(dict.fromkeys(failed))


def _one(found: list[str], name: str, everything: "Mapping[str, StoredDocument]") -> str:
    """The only document of a name; names that are equal are told apart by their collections."""
    if not found:
        near = get_close_matches(name, [each.name for each in everything.values()], 1)
        meant = f"Did you mean {near[0]!r}? " if near else ""
        raise RetrievalError(f"No document is called {name!r}.", hint=f"{meant}`footnote status` lists them.")
    if len(found) > 1:
        documents = [everything[document_id] for document_id in found[:5]]
        if len({each.collection for each in documents}) == len(documents):
            held = ", ".join(each.collection for each in documents)
            raise RetrievalError(f"{name!r} is in {len(found)} collections: {held}.", hint="Add --collection.")
        names = ", ".join(each.name for each in documents)
        raise RetrievalError(f"{name!r} could be {len(found)} documents: {names}.", hint="Give the whole name.")
    return found[0]


@render.register(Removal)
def _render_removal(removal: Removal) -> None:
    for failure in removal.failed:
        say(f"{failure.document}, which failed, is forgotten")
    if removal.removed:
        run_id = removal.report.run_id
        say(f"{len(removal.removed):,} removed; `footnote rollback {run_id}` brings them back", "bold")
        say_sources_stay(removal.sources)


@verbs.command()
def reindex(
    source: Annotated[str, option("Only documents of this file, folder or source, even if it no longer exists.")] = "",
    collection: Annotated[str, option("Only documents of this collection.")] = "",
    plan: PlanOnly = False,
    as_json: Json = False,
) -> None:
    """Parse and embed the stored originals again with the current settings; the old nodes are used until then.

    Example: footnote reindex --plan
    """
    from pipelines.ingestion.reindex import plan_reindex
    from pipelines.ingestion.run import build_ingestion

    ingestion = build_ingestion(settings_now())
    due = plan_reindex(ingestion, source, collection)
    if plan:
        emit_plan(ingestion, due, as_json)
    else:
        emit_run(ingestion, due, as_json, lambda advance: ingestion.run(due, on_progress=advance, kind="reindex"))


@dataclass(frozen=True, slots=True)
class RunLog:
    """The last runs, newest first."""

    runs: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class SnapshotLog:
    """The volumes at the end of the last days."""

    snapshots: Sequence[Mapping[str, Any]]


class RunRecord(dict[str, Any]):
    """One run with the outcome of each document, as `pipelines.store.runs` gives it."""


@verbs.command()
def runs(
    run: Annotated[int | None, argument("Show this run with the outcome of each document.", metavar="[ID]")] = None,
    limit: Annotated[int, option("Number of runs, or of days, to list.", min=1, max=10_000)] = 20,
    snapshots: Annotated[
        bool, option("Show the number of documents and nodes at the end of each day instead.", "--snapshots")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show the ingest log: each run with its outcome, speed and failures.

    Example: footnote runs 7 --json
    """
    from pipelines.store.database import open_database
    from pipelines.store.runs import list_runs, read_run
    from pipelines.store.statistics import latest_snapshots

    engine = open_database(settings_now()).engine
    if snapshots:
        emit(SnapshotLog(latest_snapshots(engine, limit)), as_json)
    else:
        emit(RunLog(list_runs(engine, limit)) if run is None else RunRecord(read_run(engine, run)), as_json)


@render.register(RunLog)
def _render_runs(log: RunLog) -> None:
    rows = [
        ListEntry([
            run["id"], run["kind"], _state(run), local_time(run["started_at"]), _number(run["seconds"], "{:.1f} s"),
            _number(run["documents_per_second"], "{:.1f}/s"), _counts(run["counts"]),
        ], _sources(run))
        for run in log.runs
    ]  # fmt: skip
    print_entries(["run", "kind", "state", "started", "took", "speed", "outcome"], rows)
    if not rows:
        say("No run is logged yet.")


@render.register(RunRecord)
def _render_run_record(run: RunRecord) -> None:
    started = local_time(run["started_at"], "%Y-%m-%d %H:%M:%S")
    say(f"run {run['id']}: {run['kind']}, {_state(run)}, started {started}", "bold")
    if run["sources"]:
        say(f"  from {_sources(run)}", "dim")
    rows = [
        ListEntry([item["outcome"], item["nodes"] or "", item["embedded"] or "", f"{item['seconds']:.2f} s",
               item["version"] or "", item["document"]],
              with_hint(without_label(item["document"], item["error"]), item["hint"]),
              "red" if item["outcome"] == "failed" else "dim")
        for item in run["items"]
    ]  # fmt: skip
    print_entries(["outcome", "nodes", "embedded", "took", "version kept", "document"], rows, most=200)
    rate = _number(run["documents_per_second"], ", {:.1f} documents/s")
    lasted = _number(run["seconds"], " in {:.1f} s")
    made = f"{format_count(run['nodes'], 'node')}, {run['embedded']:,} embedded{lasted}{rate}"
    say(f"{_counts(run['counts']) or 'nothing was done'}; {made}", "bold")


@render.register(SnapshotLog)
def _render_snapshots(log: SnapshotLog) -> None:
    rows = [
        ListEntry([row["day"], row["category"] or "all", f"{row['documents']:,}", f"{row['nodes']:,}",
               f"{row['characters']:,}", f"{row['bytes'] / 2**20:.1f} MB",
               _number(row["documents_per_second"], "{:.1f}/s")])
        for row in log.snapshots
    ]  # fmt: skip
    print_entries(["day", "category", "documents", "nodes", "characters", "size", "speed"], rows)
    if not rows:
        say("There is no snapshot yet; each run writes one for its day.")


def _state(run: Mapping[str, Any]) -> str:
    also = [f"undoes {run['undoes']}"] if run["undoes"] else []
    also += [f"undone by {', '.join(map(str, run['undone_by']))}"] if run["undone_by"] else []
    return f"{run['state']} ({'; '.join(also)})" if also else str(run["state"])


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {outcome}" for outcome, count in counts.items() if count)


def _sources(run: Mapping[str, Any]) -> str:
    return ", ".join(map(named_place, run["sources"]))


def _number(value: float | None, shape: str) -> str:
    return "" if value is None else shape.format(value)


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """The steps of a rollback of a run."""

    run_id: int
    undone: "Sequence[Step]"

    @property
    def counts(self) -> dict[str, int]:
        """The number of steps by what they do."""
        return {verb: sum(_VERBS[step.action] == verb for step in self.undone) for verb in _VERBS.values()}

    @property
    def steps(self) -> "list[tuple[str, Step, str]]":
        """(the action, the step, the hint if it would fail) of each step."""
        return [(_VERBS[step.action], step, step.error.hint if step.error else "") for step in self.undone]


@verbs.command()
def rollback(
    run: Annotated[int, argument("The number of a run in `footnote runs`.", metavar="RUN_ID")],
    plan: PlanOnly = False,
    keep_later: Annotated[bool, option("Skip documents that later runs changed again.", "--keep-later")] = False,
    yes: Annotated[bool, option("Do not ask.", "--yes")] = False,
    as_json: Json = False,
) -> None:
    """Undo a run: restore its documents to their versions before it; a rollback can itself be undone.

    Changes of later runs to the same documents are undone with it, unless --keep-later is given.

    Example: footnote rollback 7 --plan
    """
    from pipelines.ingestion.rollback import plan_rollback, roll_back
    from pipelines.ingestion.run import build_ingestion

    ingestion = build_ingestion(settings_now())
    undo = plan_rollback(ingestion.database, run, keep_later=keep_later)
    if plan:
        emit(UndoPlan(run, undo.steps), as_json, EXIT_FAILED_DOCUMENTS if undo.count("fail") else 0)
        return
    if not yes and any(step.action in _CHANGING for step in undo.steps):
        for step in undo.steps:
            if step.action in _CHANGING:
                warn(f"  {_VERBS[step.action]:>10}  {step.item.name} ({step.reason})")
        agree(f"Undo run {run}?", f"Run {run} would be undone: {_totals(UndoPlan(run, undo.steps))}.", as_json=as_json)
    emit_run(ingestion, undo, as_json, lambda advance: roll_back(ingestion, undo, on_progress=advance), undo.steps)


@render.register(UndoPlan)
def _render_undo(undo: UndoPlan) -> None:
    rows = [
        ListEntry([verb, step.item.name], with_hint(step.reason, hint), "red" if step.action == "fail" else "dim")
        for verb, step, hint in undo.steps
    ]
    print_entries(["action", "document"], rows, most=200)
    say(_totals(undo) or f"run {undo.run_id} changed nothing", "bold")
    say_sources_stay(step.item.source for step in undo.undone)


def _totals(undo: UndoPlan) -> str:
    return ", ".join(f"{count} to {verb}" for verb, count in undo.counts.items() if count)
