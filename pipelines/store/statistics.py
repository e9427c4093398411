"""Statistics: daily volumes of the corpus, and sums over the query log and the feedback."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from sqlalchemy import Engine, bindparam, delete, func, select, text
from sqlalchemy.dialects.postgresql import insert as upsert

from pipelines.store.database import read_rows, reading, writing
from pipelines.store.embedding_models import active_table, table_bytes
from pipelines.store.schema import document_indexes, documents, feedback, queries, snapshots

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
        total = table_bytes(connection, table)
        d, i = documents.c, document_indexes.c
        sums = (func.coalesce(func.sum(i[name]), 0).label(name) for name in ("nodes", "characters"))
        counted = (
            select(d.category, func.count().label("documents"), *sums)
            .outerjoin(document_indexes, (i.document_id == d.id) & (i.node_table == table))
            .group_by(d.category)
            .order_by(d.category)
        )
        rows = [dict(row._mapping) for row in connection.execute(counted)]
        nodes = sum(row["nodes"] for row in rows)
        for row in rows:
            row["bytes"] = round(total * row["nodes"] / nodes) if nodes else 0
        whole = {name: sum(row[name] for row in rows) for name in ("documents", "nodes", "characters")}
        rows.insert(0, {"category": ALL, **whole, "bytes": total, "documents_per_second": documents_per_second})
        for row in rows:
            full = {"day": day, "at": datetime.now(UTC), "documents_per_second": None, **row}
            given = upsert(snapshots).values(full)
            new: dict[str, Any] = {name: given.excluded[name] for name in full if name not in ("day", "category")}
            speed = "documents_per_second"
            new[speed] = func.coalesce(given.excluded[speed], snapshots.c[speed])
            connection.execute(given.on_conflict_do_update(index_elements=["day", "category"], set_=new))
        kept = [row["category"] for row in rows]
        connection.execute(delete(snapshots).where(snapshots.c.day == day, snapshots.c.category.not_in(kept)))


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
    name: select(column.label("key"), func.count().label("opened"))
    .join(queries, queries.c.id == feedback.c.query_id)
    .where(queries.c.asked_at >= bindparam("since"), feedback.c.kind == "opened")
    .group_by(column)
    .order_by(column)
    for name, column in {"by_number": feedback.c.source, "by_place": feedback.c.place}.items()
}


def statistics(engine: Engine, days: int, *, today: date | None = None) -> dict[str, Any]:
    """Sums over the query log of the last `days` (UTC) days, today included, and the volumes at the end of each.

    Latencies are milliseconds, costs US dollars; percentiles are interpolated, and None if there is no value. A cost
    sums the answers whose price is known, and `unpriced` counts the others. No words of the log are read.
    """
    first = (today or datetime.now(UTC).date()) - timedelta(days=days - 1)
    given = {"since": datetime.combine(first, time(), UTC), "shares": list(PERCENTILES)}
    with reading(engine, "adding the query log up") as connection:

        def rows(statement: Any) -> list[dict[str, Any]]:
            return [dict(row._mapping) for row in connection.execute(statement, given)]

        def measured(statement: Any, name: str) -> dict[str, Any]:
            return {row[name]: {"count": row["count"], **_named(row["ms"], 2)} for row in rows(statement)}

        counted, answer, opened = rows(_COUNTS)[0], rows(_PER_ANSWER)[0], rows(_CLICKS)[0]
        asked = counted["asked"]
        clicks = {name: {str(row["key"]): row["opened"] for row in rows(by)} for name, by in _CLICKS_BY.items()}
        report: dict[str, Any] = {
            "since": first.isoformat(),
            "days": days,
            **counted,
            "by_day": [{**row, "day": row["day"].isoformat()} for row in rows(_BY_DAY)],
            "confidence": {row["band"]: row["answers"] for row in rows(_BANDS)},
            "latency_ms": measured(_LATENCY, "kind"),
            "stages_ms": measured(_STAGES, "stage"),
            "usage": {
                "per_answer": {
                    "tokens": {"mean": answer["tokens"], **_named(answer["token_percentiles"], 1)},
                    "cost": {"mean": answer["cost"], **_named(answer["cost_percentiles"], 9)},
                },
                "by_day": [{**row, "day": row["day"].isoformat()} for row in rows(_DAILY_USAGE)],
            },
            "clicks": {
                **opened,
                "per_answer": opened["opened"] / asked if asked else 0.0,
                "share_of_answers": opened["answers"] / asked if asked else 0.0,
                **clicks,
            },
            "feedback": rows(_FEEDBACK)[0],
        }
    return report | {"volumes": latest_snapshots(engine, days)}


def _named(values: list[float] | None, digits: int) -> dict[str, float | None]:
    each: list[float | None] = [*values] if values else [None] * len(_NAMES)
    return {name: None if value is None else round(value, digits) for name, value in zip(_NAMES, each, strict=True)}
