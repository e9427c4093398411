"""The sources of what is stored: what each holds, when it was looked at last, and what came of that."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, select

from pipelines.store.documents import Known
from pipelines.store.failures import Standing
from pipelines.store.fetched import folded
from pipelines.store.tables import ingest_runs


def last_looks(connection: Connection) -> dict[str, datetime]:
    """By source, when a run that read sources looked at it last."""
    run = ingest_runs.c
    each = select(func.jsonb_array_elements_text(run.sources).label("source"), run.started_at)
    looks = each.where(run.kind == "ingest").subquery().c
    latest = select(looks.source, func.max(looks.started_at).label("latest")).group_by(looks.source)
    return {row.source: row.latest for row in connection.execute(latest)}


def source_rows(
    stored: Sequence[Known], standing: Sequence[Standing], looks: Sequence[Mapping[str, datetime]]
) -> list[dict[str, Any]]:
    """What is known of each source, by name; each once, in whatever case of letters GitHub's was written.

    A file or page that was named itself is a document, and not among them.

    Args:
        stored: The documents, of every collection.
        standing: What failed the last time it was tried.
        looks: By source, when it was looked at, from different records; the latest counts.
    """
    latest: dict[str, datetime] = {}
    for source, at in (look for record in looks for look in record.items()):
        latest[folded(source)] = max(at, latest.get(folded(source), at))
    held, failed = defaultdict[str, set[str]](set), defaultdict[str, list[Standing]](list)
    names: dict[str, str] = {}
    for document in stored:
        names.setdefault(folded(document.source), document.source)
        held[folded(document.source)].add(document.source_uri)
    for failure in standing:
        names.setdefault(folded(failure.source), failure.source)
        failed[folded(failure.source)].append(failure)
    return [
        _row(name, len(held[key]), failed[key], latest.get(key))
        for key, name in sorted(names.items())
        if held[key] | {failure.source_uri for failure in failed[key]} != {name}
    ]


def _row(name: str, documents: int, failed: Sequence[Standing], at: datetime | None) -> dict[str, Any]:
    unlisted = any(failure.is_listing for failure in failed)
    return {
        "source": name,
        "documents": documents,
        "failed": len(failed),
        "last_look": at.isoformat() if at else None,
        "result": "unlisted" if unlisted else "failed" if failed else "ok",
    }
