"""The query log: what was asked, how it was answered, and with which settings."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import is_dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, insert, select, text

from pipelines.errors import RetrievalError
from pipelines.store.database import reading
from pipelines.store.tables import queries
from pipelines.types import Answer, Trace

_DIGITS = frozenset("0123456789abcdef")  # of a query's id


def save_query(
    engine: Engine,
    trace: Trace,
    *,
    kind: str,
    answer: Answer | None = None,
    usage: Mapping[str, int] | None = None,
    cost: float | None = None,
) -> None:
    """Write a query's ledger, with its answer if there was one; a crash may lose the last moment's.

    `usage` and `cost` are those of all models that were asked for it, as in Answer.
    """
    with reading(engine, "logging a query") as connection, connection.begin():
        connection.execute(text("SET LOCAL synchronous_commit = off"))
        connection.execute(
            insert(queries).values(
                id=trace.id,
                kind=kind,
                question=trace.intent.question,
                audience=trace.audience,
                corpus_version=trace.corpus_version,
                settings=trace.settings,
                trace=jsonable(trace),
                answer=None if answer is None else jsonable(answer),
                latency_ms=trace.timings_ms["total"],
                route="auto" if "auto" in trace.tags else "base",
                tags=list(trace.tags),
                timings_ms=dict(trace.timings_ms),
                usage=dict(usage or {}),
                cost=cost,
                band=next((tried.evidence.band for tried in reversed(trace.attempts) if tried.kept), ""),
                answered=None if answer is None else answer.answered,
            )
        )


def latest_queries(engine: Engine, limit: int) -> list[dict[str, Any]]:
    """The last questions, newest first.

    Each has `id`, `asked_at`, `kind` (search or ask), `question`, `audience`, `route` (base or auto), `tags`,
    `latency_ms`, `band` (of the evidence), `answered` (None for a search).
    """
    wanted = ("id", "asked_at", "kind", "question", "audience", "route", "tags", "latency_ms", "band", "answered")
    with reading(engine, "reading the query log") as connection:
        rows = connection.execute(
            select(*(queries.c[name] for name in wanted)).order_by(queries.c.asked_at.desc(), queries.c.id).limit(limit)
        ).all()
    return [{name: jsonable(getattr(row, name)) for name in wanted} for row in rows]


def read_query(engine: Engine, named: str) -> dict[str, Any]:
    """One logged query with its `trace` and `answer`, by its id or by the beginning of one, if no other begins so.

    Raises:
        RetrievalError: If there is none, or there are several.
    """
    found: list[str] = []
    with reading(engine, "reading the query log") as connection:
        if named and set(named) <= _DIGITS:
            begins = queries.c.id.startswith(named)
            found = list(connection.execute(select(queries.c.id).where(begins).limit(6)).scalars())
        if len(found) > 1:
            raise RetrievalError(
                f"{named!r} could be {len(found)} queries or more: {', '.join(sorted(found)[:5])}.",
                hint="Give more of the id.",
            )
        if not found:
            raise RetrievalError(f"There is no query {named[:80]!r}.", hint="`footnote trace` lists the latest.")
        row = connection.execute(select(queries).where(queries.c.id == found[0])).one()
    return {name: jsonable(value) for name, value in row._mapping.items()}


def jsonable(value: Any) -> Any:
    """A value type as what `json.dumps` takes: dataclasses become objects, tuples lists, dates ISO strings."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: jsonable(item) for name, item in _shallow(value).items()}
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [jsonable(item) for item in value]
    return value.isoformat() if isinstance(value, datetime) else value


def _shallow(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


def fingerprint(settings: Mapping[str, Any]) -> str:
    """Twelve hex digits that tell two settings apart."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode()).hexdigest()[:12]
