"""The run log, as it is read: what each run did to which document, what failed and why, and which run undid which."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, func, select, text

from pipelines.errors import RetrievalError
from pipelines.store.database import reading
from pipelines.store.runs import IDS, LOCK, counts_by_outcome, documents_per_second
from pipelines.store.tables import ingest_items, ingest_runs


def list_runs(engine: Engine, limit: int) -> list[dict[str, Any]]:
    """The last runs, newest first.

    Each has `id`, `kind`, `state` (running, done, stopped; interrupted = its process died; failed = it came to its end,
    and all that it tried failed), `started_at`,
    `finished_at`, `seconds`, `sources`, `counts` (documents by outcome), `nodes` and `embedded` of the documents it
    made, `documents_per_second`, `undoes` (the run that it undid) and `undone_by` (the runs that undid it).
    """
    with reading(engine, "reading the run log") as connection:
        newest = select(ingest_runs.c.id).order_by(ingest_runs.c.id.desc()).limit(limit)
        return _read_runs(connection, list(connection.execute(newest).scalars()))


def find_run(engine: Engine, run_id: int) -> dict[str, Any]:
    """A run as `list_runs` gives it.

    Raises:
        RetrievalError: If there is no such run.
    """
    with reading(engine, "reading the run log") as connection:
        found = _read_runs(connection, [run_id]) if 0 < run_id < IDS else []
    if not found:
        raise RetrievalError(f"There is no run {run_id}.", hint="`footnote runs` lists them.")
    return found[0]


def read_run(engine: Engine, run_id: int) -> dict[str, Any]:
    """A run as `list_runs` gives it, with its `items` in the order in which they ended.

    Each has `document`, `document_id`, `collection`, `source_uri`, `outcome`, `stage`, `error`, `error_class`, `hint`,
    `nodes`, `embedded`, `seconds`, `version` (the kept version that it took the place of) and `at`. Documents that a
    plan left alone have none.

    Raises:
        RetrievalError: If there is no such run.
    """
    found, item = find_run(engine, run_id), ingest_items.c
    wanted = (
        item.document, item.document_id, item.collection, item.source_uri, item.outcome, item.stage,
        item.message.label("error"), item.error.label("error_class"), item.hint, item.nodes, item.embedded,
        item.seconds, func.nullif(item.version_id, 0).label("version"), item.at,
    )  # fmt: skip
    with reading(engine, "reading the run log") as connection:
        rows = connection.execute(select(*wanted).where(item.run_id == run_id).order_by(item.id)).all()
    return {**found, "items": [{**row._mapping, "at": row.at.isoformat()} for row in rows]}


def _state(state: str, counts: Mapping[str, int]) -> str:
    tried = [outcome for outcome, count in counts.items() if count]
    return "failed" if state == "done" and tried == ["failed"] else state


def _read_runs(connection: Connection, run_ids: Sequence[int]) -> list[dict[str, Any]]:
    runs, item = ingest_runs.c, ingest_items.c
    rows = connection.execute(select(ingest_runs).where(runs.id.in_(run_ids)).order_by(runs.id.desc())).all()
    undone = connection.execute(select(runs.id, runs.undoes).where(runs.undoes.in_(run_ids)).order_by(runs.id)).all()
    sums = select(item.run_id, func.sum(item.nodes).label("nodes"), func.sum(item.embedded).label("embedded"))
    made = sums.where(item.run_id.in_(run_ids), item.outcome.in_(("added", "updated"))).group_by(item.run_id)
    work = {row.run_id: row for row in connection.execute(made)}
    counts, working = counts_by_outcome(connection, run_ids), _working(connection)
    return [
        {
            "id": row.id,
            "kind": row.kind,
            "state": "interrupted"
            if row.state == "running" and row.id not in working
            else _state(row.state, row.counts),
            "started_at": row.started_at.isoformat(),
            "finished_at": row.finished_at.isoformat() if row.finished_at else None,
            "seconds": row.seconds,
            "sources": row.sources,
            "counts": row.counts or counts.get(row.id, {}),
            "nodes": int(work[row.id].nodes) if row.id in work else 0,
            "embedded": int(work[row.id].embedded) if row.id in work else 0,
            "documents_per_second": documents_per_second(row.counts, row.seconds),
            "undoes": row.undoes,
            "undone_by": [run.id for run in undone if run.undoes == row.id],
        }
        for row in rows
    ]


def _working(connection: Connection) -> set[int]:
    """The runs whose processes are at work."""
    held = text(
        "SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND classid = :lock AND objsubid = 2 "
        "AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    return set(connection.execute(held, {"lock": LOCK}).scalars())
