"""Coverage: what is indexed, how much of it, what failed and why, and what was parsed by older rules."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, func, select

from pipelines.store.database import Database, reading
from pipelines.store.documents import Known, known
from pipelines.store.failures import Standing, standing_failures
from pipelines.store.in_part import how_much
from pipelines.store.originals import named_uri
from pipelines.store.tables import documents, embedding_models


def coverage(database: Database, *, outdated: Callable[[Known], str] = lambda _: "") -> dict[str, Any]:
    """`documents`, by name and address, and `totals`, as the model that serves holds them; no model is loaded.

    A document's `state` is `indexed`; `stale` where the last attempt failed and an older version serves; `unindexed`
    where it is stored but has no nodes; `failed` where nothing of it is stored. `coverage` is the share of characters,
    0 to 1, that stand in a node.

    Args:
        database: Whose documents; of every collection.
        outdated: Why a document's nodes are not as today's rules would make them; empty where they are.
    """
    with reading(database.engine, "reading the documents") as connection:
        stored = known(connection, _serving_table(connection))
        failures = {(each.collection, each.source_uri): each for each in standing_failures(connection)}
    rows = [_row(each, failures.pop((each.collection, each.source_uri), None), outdated(each)) for each in stored]
    rows += [_failed(failure) for failure in failures.values()]
    characters = sum(each.characters for each in stored)
    totals = {
        "documents": len(rows),
        "indexed": sum(row["state"] in ("indexed", "stale") for row in rows),
        "failed": sum(row["state"] in ("failed", "stale") for row in rows),
        "unindexed": sum(row["state"] == "unindexed" for row in rows),
        "outdated": sum(not row["current"] for row in rows if row["id"]),
        "nodes": sum(row["nodes"] for row in rows),
        "pages_without_text": sum(row["pages_without_text"] for row in rows),
        "coverage": round(sum(each.covered for each in stored) / characters, 4) if characters else 0.0,
    }
    return {"documents": sorted(rows, key=lambda row: (row["document"], row["uri"])), "totals": totals}


def from_source(connection: Connection, location: str) -> list[str]:
    """The ids of the documents that came from a file, a folder or a remote source; GitHub's in any case of letters."""
    uri = named_uri(location)
    d = documents.c
    below = func.left(d.source_uri, len(uri) + 1) == f"{uri}/"
    named = func.lower(d.source) == location.lower() if location.startswith("github:") else d.source == location
    statement = select(d.id).where((d.source == uri) | named | (d.source_uri == uri) | below)
    return list(connection.execute(statement.order_by(d.name, d.source_uri)).scalars())


def _serving_table(connection: Connection) -> str:
    """The node table of the embedding model that serves; empty while there is none."""
    return connection.execute(select(embedding_models.c.node_table).where(embedding_models.c.active)).scalar() or ""


def _row(document: Known, failure: Standing | None, outdated: str) -> dict[str, Any]:
    state, reason, hint = "indexed", "", ""
    if failure:
        state, reason, hint = "stale", failure.message, failure.hint
    elif not document.indexed_sha:
        state, reason, hint = "unindexed", "not yet in this model's nodes", "Run `footnote reindex`."
    elif outdated:
        reason, hint = outdated, "Run `footnote reindex`."
    elif document.partial:
        reason = f"in part: {how_much(document.partial)}"
    elif document.pages_without_text:
        reason = f"{document.pages_without_text} pages without text"
    return {
        "id": document.id,
        "document": document.name,
        "title": document.title,
        "uri": document.source_uri,
        "category": document.category,
        "collection": document.collection,
        "state": state,
        "reason": reason,
        "hint": hint,
        "stage": failure.stage if failure else "",
        "error": failure.error if failure else "",
        "year": document.year,
        "parser": document.parser,
        "current": not outdated,
        "nodes": document.nodes,
        "pages_without_text": document.pages_without_text,
        "coverage": round(document.covered / document.characters, 4) if document.characters else 0.0,
        "last_success": document.ingested_at.isoformat(),
    }


def _failed(failure: Standing) -> dict[str, Any]:
    return {
        "id": "",
        "document": failure.document,
        "title": "",
        "uri": failure.source_uri,
        "category": "",
        "collection": failure.collection,
        "state": "failed",
        "reason": failure.message,
        "hint": failure.hint,
        "stage": failure.stage,
        "error": failure.error,
        "year": None,
        "parser": "",
        "current": False,
        "nodes": 0,
        "pages_without_text": 0,
        "coverage": 0.0,
        "last_success": None,
    }
