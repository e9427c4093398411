"""Coverage: what is indexed, how much of it, and what failed and why."""

from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, select

from config.settings import Settings
from pipelines.store.database import Database, reading
from pipelines.store.documents import Known, known
from pipelines.store.runs import standing_failures
from pipelines.store.tables import document_indexes, documents


def coverage(database: Database, settings: Settings) -> dict[str, Any]:
    """`documents` (state indexed, stale or failed; nodes, coverage 0..1, reason, hint, last success) and `totals`.

    Counts the nodes of whichever model holds most of each document, so that no model needs to be loaded.
    """
    with reading(database.engine, "reading the documents") as connection:
        table = _fullest_table(connection)
        rows = [_row(document) for document in known(connection, table)]
    failures = {failure["source_uri"]: failure for failure in standing_failures(database.engine, settings.collection)}
    for row in rows:
        failure = failures.pop(row["uri"], None)
        if failure:
            row |= {"state": "stale", "reason": failure["message"], "hint": failure["hint"]}
    rows += [_failed(failure) for failure in failures.values()]
    failed = sum(row["state"] in ("failed", "stale") for row in rows)
    totals = {
        "documents": len(rows),
        "indexed": sum(row["state"] != "failed" for row in rows),
        "failed": failed,
        "nodes": sum(row["nodes"] for row in rows),
        "pages_without_text": sum(row["pages_without_text"] for row in rows),
    }
    return {"documents": sorted(rows, key=lambda row: row["document"]), "totals": totals}


def from_source(connection: Connection, location: str) -> list[str]:
    """The ids of the documents that came from a file or folder."""
    uri = Path(location).expanduser().resolve().as_uri()
    d = documents.c
    below = func.left(d.source_uri, len(uri) + 1) == f"{uri}/"
    statement = select(d.id).where((d.source == uri) | (d.source == location) | (d.source_uri == uri) | below)
    return list(connection.execute(statement.order_by(d.name)).scalars())


def _fullest_table(connection: Connection) -> str:
    held = document_indexes.c
    counted = select(held.node_table).group_by(held.node_table).order_by(func.sum(held.nodes).desc()).limit(1)
    return str(connection.execute(counted).scalar() or "")


def _row(document: Known) -> dict[str, Any]:
    return {
        "id": document.id,
        "document": document.name,
        "title": document.title,
        "uri": document.source_uri,
        "category": document.category,
        "collection": document.collection,
        "state": "indexed",
        "reason": f"{document.pages_without_text} pages without text" if document.pages_without_text else "",
        "hint": "",
        "year": document.year,
        "nodes": document.nodes,
        "pages_without_text": document.pages_without_text,
        "coverage": round(document.covered / document.characters, 4) if document.characters else 0.0,
        "last_success": document.ingested_at.isoformat(),
    }


def _failed(failure: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "",
        "document": failure["document"],
        "title": "",
        "uri": failure["source_uri"],
        "category": "",
        "collection": "",
        "state": "failed",
        "reason": failure["message"],
        "hint": failure["hint"],
        "year": None,
        "nodes": 0,
        "pages_without_text": 0,
        "coverage": 0.0,
        "last_success": None,
    }
