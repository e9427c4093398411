"""Daily snapshots: how many documents and nodes there are, how large, and how fast the last run brought them in."""

from datetime import UTC, date, datetime
from typing import Any

from sqlalchemy import Connection, Engine, delete, func, select
from sqlalchemy.dialects.postgresql import insert as upsert

from pipelines.store.database import reading, writing
from pipelines.store.tables import document_indexes, documents, embedding_models, snapshots

ALL = ""  # the category under which a day's totals stand


def take_snapshot(engine: Engine, documents_per_second: float | None, day: date | None = None) -> None:
    """Write what the model that serves holds now as the (UTC) day's snapshot, one row a category and one for all.

    `bytes` is what both node tables take on disk with their indexes (text, metadata, vectors), shared among the
    categories by their nodes: an estimate. Characters are counted without spaces. Documents per second are those of the
    day's last run that added or changed one.
    """
    day = day or datetime.now(UTC).date()
    with writing(engine, "writing the day's snapshot") as connection:
        serves = connection.execute(
            select(embedding_models.c.node_table).where(embedding_models.c.active)
        ).scalar_one_or_none()
        rows = _volumes(connection, serves or "")
        total = _bytes(connection, serves or "")
        nodes = sum(row["nodes"] for row in rows)
        for row in rows:
            row["bytes"] = round(total * row["nodes"] / nodes) if nodes else 0
        whole = {name: sum(row[name] for row in rows) for name in ("documents", "nodes", "characters")}
        rows.insert(0, {"category": ALL, **whole, "bytes": total, "documents_per_second": documents_per_second})
        for row in rows:
            _write(connection, {"day": day, "at": datetime.now(UTC), "documents_per_second": None, **row})
        kept = [row["category"] for row in rows]
        connection.execute(delete(snapshots).where(snapshots.c.day == day, snapshots.c.category.not_in(kept)))


def _volumes(connection: Connection, node_table: str) -> list[dict[str, Any]]:
    d, held = documents.c, document_indexes.c
    counted = (
        select(
            d.category,
            func.count().label("documents"),
            func.coalesce(func.sum(held.nodes), 0).label("nodes"),
            func.coalesce(func.sum(held.characters), 0).label("characters"),
        )
        .outerjoin(document_indexes, (held.document_id == d.id) & (held.node_table == node_table))
        .group_by(d.category)
        .order_by(d.category)
    )
    return [dict(row._mapping) for row in connection.execute(counted)]


def _bytes(connection: Connection, node_table: str) -> int:
    sizes = [
        func.coalesce(func.pg_total_relation_size(func.to_regclass(name)), 0)
        for name in (f"data_{node_table}", f"{node_table}_windows")
    ]
    return int(connection.execute(select(sizes[0] + sizes[1])).scalar_one())


def _write(connection: Connection, row: dict[str, Any]) -> None:
    given = upsert(snapshots).values(row)
    changed: dict[str, Any] = {name: given.excluded[name] for name in row if name not in ("day", "category")}
    changed["documents_per_second"] = func.coalesce(
        given.excluded.documents_per_second, snapshots.c.documents_per_second
    )
    connection.execute(given.on_conflict_do_update(index_elements=["day", "category"], set_=changed))


def latest_snapshots(engine: Engine, days: int) -> list[dict[str, Any]]:
    """The snapshots of the last days that have one, newest first; of each day the totals first, then by category.

    Each has `day`, `category` (empty for all), `documents`, `nodes`, `characters`, `bytes`, `documents_per_second`.
    """
    wanted = ("day", "category", "documents", "nodes", "characters", "bytes", "documents_per_second")
    newest = select(snapshots.c.day).distinct().order_by(snapshots.c.day.desc()).limit(days)
    statement = (
        select(*(snapshots.c[name] for name in wanted))
        .where(snapshots.c.day.in_(newest))
        .order_by(snapshots.c.day.desc(), snapshots.c.category)
    )
    with reading(engine, "reading the snapshots") as connection:
        rows = connection.execute(statement).all()
    return [{**row._mapping, "day": row.day.isoformat()} for row in rows]
