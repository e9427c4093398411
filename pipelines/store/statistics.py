"""Statistics: daily volumes of the corpus, and sums over the query log and the feedback."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from sqlalchemy import Connection, Engine, delete, func, select, text
from sqlalchemy.dialects.postgresql import insert as upsert

from pipelines.store.database import read_rows, reading, writing
from pipelines.store.embedding_models import active_table, table_bytes
from pipelines.store.schema import document_indexes, documents, snapshots

ALL = ""  # the category under which a day's totals stand


def take_snapshot(engine: Engine, documents_per_second: float | None, day: date | None = None) -> None:
    """Write the volumes of the active model as the (UTC) day's snapshot: one row a category and one for all.

    `bytes` is the size on disk of both node tables with their indexes, divided among the categories by their nodes: an
    estimate. Characters are counted without spaces. Documents per second are those of the day's last run that added or
    changed one.
    """
    day = day or datetime.now(UTC).date()
    with writing(engine, "writing the day's snapshot") as connection:
        table = active_table(connection)
        rows, total = _volumes(connection, table), table_bytes(connection, table)
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
    d, i = documents.c, document_indexes.c
    sums = (func.coalesce(func.sum(i[name]), 0).label(name) for name in ("nodes", "characters"))
    counted = (
        select(d.category, func.count().label("documents"), *sums)
        .outerjoin(document_indexes, (i.document_id == d.id) & (i.node_table == node_table))
        .group_by(d.category)
        .order_by(d.category)
    )
    return [dict(row._mapping) for row in connection.execute(counted)]


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
    rows = read_rows(engine, "reading the snapshots", statement)
    return [{**row._mapping, "day": row.day.isoformat()} for row in rows]


PERCENTILES = (0.5, 0.95, 0.99)
_NAMES = ("p50", "p95", "p99")
_TOKENS = ("prompt_tokens", "completion_tokens", "total_tokens", "embedding_tokens", "estimated_tokens", "calls")

_COUNTS = text("""
    SELECT count(*) AS questions, count(*) FILTER (WHERE kind = 'ask') AS asked,
           count(*) FILTER (WHERE answered) AS answered, count(*) FILTER (WHERE NOT answered) AS abstained
    FROM queries WHERE asked_at >= :since
""")
_BY_DAY = text("""
    SELECT (asked_at AT TIME ZONE 'UTC')::date AS day, kind, route, count(*) AS questions,
           count(*) FILTER (WHERE answered) AS answered, count(*) FILTER (WHERE NOT answered) AS abstained
    FROM queries WHERE asked_at >= :since GROUP BY 1, 2, 3 ORDER BY 1 DESC, 2, 3
""")
_BANDS = text("""
    SELECT answer ->> 'confidence' AS band, count(*) AS answers FROM queries
    WHERE asked_at >= :since AND answered GROUP BY 1 ORDER BY 1
""")
_LATENCY = text("""
    SELECT kind, count(*) AS count,
           percentile_cont(CAST(:shares AS float8[])) WITHIN GROUP (ORDER BY latency_ms) AS ms
    FROM queries WHERE asked_at >= :since GROUP BY kind ORDER BY kind
""")
_STAGES = text("""
    SELECT stage.key AS stage, count(*) AS count,
           percentile_cont(CAST(:shares AS float8[])) WITHIN GROUP (ORDER BY stage.value::float8) AS ms
    FROM queries, jsonb_each_text(timings_ms) AS stage
    WHERE asked_at >= :since AND stage.key <> 'total' GROUP BY stage.key ORDER BY ms DESC, stage.key
""")
_SPENT = ", ".join(f"coalesce(sum((usage ->> '{name}')::bigint), 0)::bigint AS {name}" for name in _TOKENS)
_DAILY_USAGE = text(f"""
    SELECT (asked_at AT TIME ZONE 'UTC')::date AS day, count(*) FILTER (WHERE kind = 'ask') AS answers, {_SPENT},
           coalesce(sum(cost), 0) AS cost, count(*) FILTER (WHERE cost IS NULL) AS unpriced
    FROM queries WHERE asked_at >= :since GROUP BY 1 ORDER BY 1 DESC
""")  # noqa: S608 - names of this module
_PER_ANSWER = text("""
    SELECT avg(coalesce((usage ->> 'total_tokens')::bigint, 0))::float8 AS tokens, avg(cost) AS cost,
           percentile_cont(CAST(:shares AS float8[])) WITHIN GROUP (
               ORDER BY coalesce((usage ->> 'total_tokens')::bigint, 0)::float8) AS token_percentiles,
           percentile_cont(CAST(:shares AS float8[])) WITHIN GROUP (ORDER BY cost) AS cost_percentiles
    FROM queries WHERE asked_at >= :since AND kind = 'ask'
""")
_FEEDBACK = text("""
    SELECT count(*) FILTER (WHERE f.kind = 'thumb' AND f.value > 0) AS up,
           count(*) FILTER (WHERE f.kind = 'thumb' AND f.value < 0) AS down,
           count(*) FILTER (WHERE f.kind = 'wrong_source') AS wrong_source,
           count(*) FILTER (WHERE f.kind = 'text') AS text
    FROM feedback AS f JOIN queries AS q ON q.id = f.query_id WHERE q.asked_at >= :since
""")
_CLICKS = text("""
    SELECT count(*) AS opened, count(DISTINCT f.query_id) AS answers
    FROM feedback AS f JOIN queries AS q ON q.id = f.query_id WHERE q.asked_at >= :since AND f.kind = 'opened'
""")
_CLICKS_BY = {
    "by_number": text("""
        SELECT f.source AS key, count(*) AS opened FROM feedback AS f JOIN queries AS q ON q.id = f.query_id
        WHERE q.asked_at >= :since AND f.kind = 'opened' GROUP BY 1 ORDER BY 1
    """),
    "by_place": text("""
        SELECT f.place AS key, count(*) AS opened FROM feedback AS f JOIN queries AS q ON q.id = f.query_id
        WHERE q.asked_at >= :since AND f.kind = 'opened' GROUP BY 1 ORDER BY 1
    """),
}


def statistics(engine: Engine, days: int, *, today: date | None = None) -> dict[str, Any]:
    """Sums over the query log of the last `days` (UTC) days, today included, and the volumes at the end of each.

    Latencies are milliseconds, costs US dollars; percentiles are interpolated, and None if there is no value. A cost
    sums the answers whose price is known, and `unpriced` counts the others. No words of the log are read.
    """
    first = (today or datetime.now(UTC).date()) - timedelta(days=days - 1)
    given = {"since": datetime.combine(first, time(), UTC), "shares": list(PERCENTILES)}
    with reading(engine, "adding the query log up") as connection:
        counted = _rows(connection, _COUNTS, given)[0]
        stages = _rows(connection, _STAGES, given)
        daily = [{**row, "day": row["day"].isoformat()} for row in _rows(connection, _DAILY_USAGE, given)]
        report: dict[str, Any] = {
            "since": first.isoformat(),
            "days": days,
            **counted,
            "by_day": [{**row, "day": row["day"].isoformat()} for row in _rows(connection, _BY_DAY, given)],
            "confidence": {row["band"]: row["answers"] for row in _rows(connection, _BANDS, given)},
            "latency_ms": {row["kind"]: _measured(row) for row in _rows(connection, _LATENCY, given)},
            "stages_ms": {row["stage"]: _measured(row) for row in stages},
            "usage": {"per_answer": _per_answer(connection, given), "by_day": daily},
            "clicks": _clicks(connection, given, counted["asked"]),
            "feedback": _rows(connection, _FEEDBACK, given)[0],
        }
    return report | {"volumes": latest_snapshots(engine, days)}


def _rows(connection: Connection, statement: Any, given: dict[str, Any]) -> list[dict[str, Any]]:
    return [dict(row._mapping) for row in connection.execute(statement, given)]


def _measured(row: dict[str, Any]) -> dict[str, Any]:
    return {"count": row["count"], **_named(row["ms"], 2)}


def _named(values: list[float] | None, digits: int) -> dict[str, float | None]:
    each: list[float | None] = [*values] if values else [None] * len(_NAMES)
    return {name: None if value is None else round(value, digits) for name, value in zip(_NAMES, each, strict=True)}


def _per_answer(connection: Connection, given: dict[str, Any]) -> dict[str, Any]:
    row = _rows(connection, _PER_ANSWER, given)[0]
    return {
        "tokens": {"mean": row["tokens"], **_named(row["token_percentiles"], 1)},
        "cost": {"mean": row["cost"], **_named(row["cost_percentiles"], 9)},
    }


def _clicks(connection: Connection, given: dict[str, Any], asked: int) -> dict[str, Any]:
    row = _rows(connection, _CLICKS, given)[0]
    by = {
        name: {str(one["key"]): one["opened"] for one in _rows(connection, statement, given)}
        for name, statement in _CLICKS_BY.items()
    }
    share = row["answers"] / asked if asked else 0.0
    return {**row, "per_answer": row["opened"] / asked if asked else 0.0, "share_of_answers": share, **by}
