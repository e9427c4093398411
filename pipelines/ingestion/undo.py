"""UNDO: what bringing documents back to before a run would do; writes nothing."""

from dataclasses import dataclass, replace

from sqlalchemy import Connection

from pipelines.errors import RetrievalError, StoreError
from pipelines.ingestion.plan import Plan, Step
from pipelines.store.database import Database, reading
from pipelines.store.run_log import find_run
from pipelines.store.versions import Change, changes_of, taken_by
from pipelines.types import SourceItem


@dataclass(frozen=True, slots=True)
class Rollback:
    """What undoing a run would do: a step for each change of the run, the newest change first.

    An `add` brings a removed document back, an `update` makes a kept version the document again, a `remove` takes out
    what the run added.
    """

    undoes: int
    steps: tuple[Step, ...]
    changes: tuple[Change, ...]

    @property
    def plan(self) -> Plan:
        """The steps as any run's plan."""
        return Plan(self.steps, (), ())


def plan_rollback(database: Database, run_id: int, *, keep_later: bool = False) -> Rollback:
    """What undoing a run would do now.

    Args:
        database: Where the run is logged.
        run_id: The run to be undone; an ingest, a reindex, a removal, or a rollback.
        keep_later: Leave the documents alone that later runs changed again; else those changes are undone too, and stay
            as versions.

    Raises:
        RetrievalError: If there is no such run, or it is still at work.
    """
    run = find_run(database.engine, run_id)
    if run["state"] == "running":
        raise RetrievalError(f"Run {run_id} is still at work.", hint="Wait until it ends, or stop it.")
    with reading(database.engine, "planning a rollback") as connection:
        changes = changes_of(connection, run_id)
        own = {change.document_id for change in changes}
        taken = {change.document_id for change in changes if _place_is_taken(connection, change, but=own)}
    steps = [decide(change, run_id, keep_later=keep_later, taken=change.document_id in taken) for change in changes]
    return Rollback(run_id, tuple(steps), tuple(changes))


def _place_is_taken(connection: Connection, change: Change, but: set[str]) -> bool:
    before, now = change.before, change.now
    if before is None or (now and now["source_uri"] == before["source_uri"]):
        return False
    return taken_by(connection, before["collection"], before["source_uri"], change.document_id) not in {None, *but}


def decide(change: Change, run_id: int, *, keep_later: bool = False, taken: bool = False) -> Step:
    """What undoing one change takes; `taken` says that another document stands where this one stood."""
    stood = change.before or change.now or {}
    item = replace(
        change.item, uri=stood.get("source_uri", change.item.uri), name=stood.get("name", change.item.name),
        source=stood.get("source", change.item.source),
    )  # fmt: skip
    step = Step("unchanged", item, "", change.document_id, collection=stood.get("collection", change.collection))
    if needless := _needless(change):
        return replace(step, reason=needless)
    later = f"run {change.covered_by} changed it again" if change.effect == "covered" else ""
    if later and keep_later:
        return replace(step, reason=later)
    if error := _obstacle(change, run_id, item, taken=taken):
        return replace(step, action="fail", reason=error.message, error=error)
    too = f"; {later}, which is undone too" if later else ""
    if change.outcome == "added":
        return replace(step, action="remove", reason=f"the run added it{too}")
    if change.now is None:
        return replace(step, action="add", reason=f"it comes back as it was{too}")
    return replace(step, action="update", reason=f"its version before the run comes back{too}")


def _needless(change: Change) -> str:
    """Why there is nothing to undo; empty where there is."""
    if change.outcome in ("updated", "metadata") and change.version is None:
        return "its text and its facts were the same before"
    if change.effect == "undone":
        return "that is undone already"
    as_before = change.now is None if change.outcome == "added" else change.before and change.now == change.before
    return "it is as it was before" if as_before else ""


def _obstacle(change: Change, run_id: int, item: SourceItem, *, taken: bool) -> StoreError | None:
    """What stands in the way of undoing it."""
    if change.outcome != "added" and change.before is None:
        return StoreError(
            f"The version of {item.name} before run {run_id} is no longer kept.",
            hint="FOOTNOTE_INGESTION__VERSIONS_KEPT says how many versions of a document stay.",
        )
    if taken:
        return StoreError(f"Another document stands at {item.uri} by now.", hint="Remove that one first.")
    return None
