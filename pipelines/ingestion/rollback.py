"""ROLLBACK: undo a run: bring each document that it changed back to its version before, wholly or not at all."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from pipelines.errors import ParseError, RetrievalError, StoreError
from pipelines.ingestion.parsers import PARSERS, parser_for
from pipelines.ingestion.plan import Plan, Step
from pipelines.ingestion.prepare import PreparationFailure, PreparedDocument, PrepareOptions, Task
from pipelines.ingestion.reindex import parse_stored
from pipelines.ingestion.run import Ingestion, Progress
from pipelines.ingestion.workers import PrepareResults
from pipelines.store import documents as document_rows
from pipelines.store.database import Database, reading
from pipelines.store.runs import find_run
from pipelines.store.vector_store import FootnoteVectorStore
from pipelines.store.versions import changes_of, read_version
from pipelines.types import IngestReport, SourceItem


def plan_rollback(database: Database, run_id: int, *, keep_later: bool = False) -> Plan:
    """Plan the undoing of a run, the newest change first; writes nothing.

    An `add` restores a removed document, an `update` restores a kept version, a `remove` removes what the run added.

    The run may be an ingest, a reindex, a removal, or a rollback. With `keep_later` the documents that later runs
    changed again are skipped; else those changes are undone too, and stay as versions.

    Raises:
        RetrievalError: If there is no such run, or it is still running.
    """
    if find_run(database.engine, run_id)["state"] == "running":
        raise RetrievalError(f"Run {run_id} is still running.", hint="Wait until it ends, or stop it.")
    with reading(database.engine, "planning a rollback") as connection:
        changes = changes_of(connection, run_id)
    steps = [_step(change, run_id, keep_later=keep_later) for change in changes]
    return Plan(tuple(steps), undoes=run_id)


def _step(change: Any, run_id: int, *, keep_later: bool) -> Step:
    """The step that undoes one change, a row of `changes_of`."""
    item = SourceItem(change.source_uri, change.name, change.source, change.source_kind)
    step = Step("unchanged", item, "", change.document_id, collection=change.collection)
    later = f"run {change.later} changed it again" if change.later else ""
    needless = later if keep_later else ""
    if change.outcome in ("updated", "metadata") and change.version is None:
        needless = "its text and its facts were the same before"
    elif change.same or (change.outcome == "added" and not change.stored):
        needless = "it is as it was before"
    if needless:
        return replace(step, reason=needless)
    if change.outcome != "added" and not change.kept:
        error = StoreError(
            f"The version of {item.name} before run {run_id} is no longer stored.",
            hint="FOOTNOTE_INGESTION__VERSIONS_KEPT sets how many versions of a document are kept.",
        )
        return replace(step, action="fail", reason=error.message, error=error, stage="undo")
    too = f"; {later}, which is undone too" if later else ""
    step = replace(step, held_since=change.written_at, original=change.file_sha, version=change.version)
    if change.outcome == "added":
        return replace(step, action="remove", reason=f"the run added it{too}")
    if not change.stored:
        return replace(step, action="add", reason=f"it comes back as it was{too}")
    return replace(step, action="update", reason=f"its version before the run comes back{too}")


def roll_back(ingestion: Ingestion, undo: Plan, on_progress: Progress | None = None) -> IngestReport:
    """Execute a rollback, as a run of its own that can be undone; what cannot be restored is a failed item.

    The nodes of the old versions are made by today's parsers, and their vectors come from the cache. Files stay as they
    are: the next ingest of their sources ingests them again.

    Raises:
        ServiceUnavailable: If the database or the embedding model is gone; finished documents stay.
    """
    undoing = replace(ingestion, executor=partial(_prepare_versions, ingestion.store), cluster=None)
    return undoing.run(undo, kind="rollback", on_progress=on_progress)


def _prepare_versions(
    store: FootnoteVectorStore, tasks: Iterable[tuple[int, Task]], options: PrepareOptions
) -> PrepareResults:
    """An executor: prepare for each task the version that its step restores, without a stamp.

    Its recipe differs from today's, so that the next plan compares the file again. If the table holds the same content,
    it has no nodes, so that only metadata is written.
    """
    for place, task in tasks:
        stage, version, name = "read", task.step.version, task.step.item.name
        try:
            with reading(store.engine, "reading a version") as connection:
                document = read_version(connection, version or 0)
                if document is None:
                    raise StoreError(f"Version {version} of {name} is no longer stored.")
                indexed_sha, _ = document_rows.index_states(connection, [document.id], store.table).get(
                    document.id, ("", "")
                )
            stage, document, parser = "parse", document.with_(stamp=""), parser_for(document)
            if parser not in PARSERS:
                raise ParseError(f"{document.name} was made by the parser {parser}, which no longer exists.")
            if indexed_sha == document.content_sha:
                yield place, PreparedDocument(document, parser, "", None)
            else:
                prepared = parse_stored(document, parser, options)
                yield place, replace(prepared, recipe=f"{prepared.recipe} from version {version}")
        except Exception as error:  # noqa: BLE001 - one version that cannot be restored stops only itself
            yield place, PreparationFailure.of(error, stage, name)
