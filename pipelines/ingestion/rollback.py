"""ROLLBACK: undo a run: bring each document that it changed back to its version before, wholly or not at all."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sqlalchemy import Connection

from pipelines.errors import ParseError, RetrievalError, StoreError
from pipelines.ingestion.parsers import PARSERS, parser_for
from pipelines.ingestion.plan import Plan, Step
from pipelines.ingestion.prepare import PreparationFailure, PreparedDocument, PrepareOptions, Task
from pipelines.ingestion.reindex import parse_stored
from pipelines.ingestion.run import Ingestion, Progress
from pipelines.ingestion.workers import PrepareResult
from pipelines.store import documents as document_rows
from pipelines.store.database import Database, reading
from pipelines.store.runs import find_run
from pipelines.store.vector_store import FootnoteVectorStore
from pipelines.store.versions import Change, changes_of, read_version, taken_by
from pipelines.types import Document, IngestReport, SourceItem


@dataclass(frozen=True, slots=True)
class RollbackPlan:
    """The steps that undo a run: one for each change of the run, the newest change first.

    An `add` restores a removed document, an `update` restores a kept version, a `remove` removes what the run added.
    """

    undoes: int
    steps: tuple[Step, ...]
    changes: tuple[Change, ...]

    @property
    def plan(self) -> Plan:
        """The steps as a plan."""
        return Plan(self.steps, (), (), undoes=self.undoes)


def plan_rollback(database: Database, run_id: int, *, keep_later: bool = False) -> RollbackPlan:
    """Plan the undoing of a run; writes nothing.

    Args:
        database: Where the run is logged.
        run_id: The run to be undone; an ingest, a reindex, a removal, or a rollback.
        keep_later: Skip the documents that later runs changed again; else those changes are undone too, and stay as
            versions.

    Raises:
        RetrievalError: If there is no such run, or it is still running.
    """
    run = find_run(database.engine, run_id)
    if run["state"] == "running":
        raise RetrievalError(f"Run {run_id} is still running.", hint="Wait until it ends, or stop it.")
    with reading(database.engine, "planning a rollback") as connection:
        changes = changes_of(connection, run_id)
        changed = {change.document_id for change in changes}
        taken = {change.document_id for change in changes if _place_is_taken(connection, change, but=changed)}
    steps = [
        rollback_step(change, run_id, keep_later=keep_later, taken=change.document_id in taken) for change in changes
    ]
    return RollbackPlan(run_id, tuple(steps), tuple(changes))


def _place_is_taken(connection: Connection, change: Change, but: set[str]) -> bool:
    before, now = change.before, change.now
    if before is None or (now and now["source_uri"] == before["source_uri"]):
        return False
    return taken_by(connection, before["collection"], before["source_uri"], change.document_id) not in {None, *but}


def rollback_step(change: Change, run_id: int, *, keep_later: bool = False, taken: bool = False) -> Step:
    """The step that undoes one change; `taken` means that another document has its former URI now."""
    former = change.before or change.now or {}
    item = replace(
        change.item, uri=former.get("source_uri", change.item.uri), name=former.get("name", change.item.name),
        source=former.get("source", change.item.source),
    )  # fmt: skip
    step = Step("unchanged", item, "", change.document_id, collection=former.get("collection", change.collection))
    if needless := _why_nothing_to_undo(change):
        return replace(step, reason=needless)
    later = f"run {change.covered_by} changed it again" if change.effect == "covered" else ""
    if later and keep_later:
        return replace(step, reason=later)
    if error := _obstacle(change, run_id, item, taken=taken):
        return replace(step, action="fail", reason=error.message, error=error, stage="undo")
    too = f"; {later}, which is undone too" if later else ""
    step = replace(step, held_since=change.written_at, original=former.get("file_sha", ""))
    if change.outcome == "added":
        return replace(step, action="remove", reason=f"the run added it{too}")
    if change.now is None:
        return replace(step, action="add", reason=f"it comes back as it was{too}")
    return replace(step, action="update", reason=f"its version before the run comes back{too}")


def _why_nothing_to_undo(change: Change) -> str:
    """The reason that there is nothing to undo; empty if there is something."""
    if change.outcome in ("updated", "metadata") and change.version is None:
        return "its text and its facts were the same before"
    if change.effect == "undone":
        return "that is undone already"
    as_before = change.now is None if change.outcome == "added" else change.before and change.now == change.before
    return "it is as it was before" if as_before else ""


def _obstacle(change: Change, run_id: int, item: SourceItem, *, taken: bool) -> StoreError | None:
    """The error if the change cannot be undone; None if it can."""
    if change.outcome != "added" and change.before is None:
        return StoreError(
            f"The version of {item.name} before run {run_id} is no longer stored.",
            hint="FOOTNOTE_INGESTION__VERSIONS_KEPT sets how many versions of a document are kept.",
        )
    if taken:
        return StoreError(f"Another document has the address {item.uri} now.", hint="Remove that one first.")
    return None


def roll_back(ingestion: Ingestion, undo: RollbackPlan, on_progress: Progress | None = None) -> IngestReport:
    """Execute a rollback, as a run of its own that can be undone; what cannot be restored is a failed item.

    The nodes of the old versions are made by today's parsers, and their vectors come from the cache. Files stay as they
    are: the next ingest of their sources ingests them again.

    Raises:
        ServiceUnavailable: If the database or the embedding model is gone; finished documents stay.
    """
    executor = partial(_prepare_versions, ingestion.store, undo.changes)
    undoing = replace(ingestion, executor=executor, cluster=None)
    return undoing.run(undo.plan, kind="rollback", on_progress=on_progress)


def _prepare_versions(
    store: FootnoteVectorStore, changes: Sequence[Change], tasks: Iterable[tuple[int, Task]], options: PrepareOptions
) -> Iterator[PrepareResult]:
    """An executor: prepare for each task the version before the change at the task's index, without a stamp."""
    for place, task in tasks:
        stage, version = "read", changes[place].version
        try:
            with reading(store.engine, "reading a version") as connection:
                document = read_version(connection, version or 0)
                if document is None:
                    raise StoreError(f"Version {version} of {task.item.name} is no longer stored.")
                states = document_rows.index_states(connection, [document.id], store.table)
            stage = "parse"
            indexed_sha, _ = states.get(document.id, ("", ""))
            yield place, _prepare_version(document.with_(stamp=""), version, indexed_sha, options)
        except Exception as error:  # noqa: BLE001 - one version that cannot be restored stops only itself
            yield place, PreparationFailure.of(error, stage, task.item.name)


def _prepare_version(
    document: Document, version: int | None, indexed_sha: str, options: PrepareOptions
) -> PreparedDocument:
    """Prepare a version under a recipe that differs from today's, so that the next plan compares the file again.

    If the table holds the same content, it has no nodes, so that only metadata is written.
    """
    parser = parser_for(document)
    if parser not in PARSERS:
        raise ParseError(f"{document.name} was made by the parser {parser}, which no longer exists.")
    if indexed_sha == document.content_sha:
        return PreparedDocument(document, parser, "", None)
    prepared = parse_stored(document, parser, options)
    return replace(prepared, recipe=f"{prepared.recipe} from version {version}")
