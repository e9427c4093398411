"""The sources of the stored documents: their counts, when each was listed last, and with which result."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection, func, select

from pipelines.errors import RetrievalError
from pipelines.store.database import Database, reading
from pipelines.store.documents import StoredDocument, describe_partial, stored_documents
from pipelines.store.embedding_models import active_table
from pipelines.store.fetch_cache import normalised_source
from pipelines.store.originals import named_place, named_uri
from pipelines.store.runs import FailedDocument, current_failures
from pipelines.store.schema import documents, ingest_runs


def source_rows(
    stored: Sequence[StoredDocument], standing: Sequence[FailedDocument], looks: Sequence[Mapping[str, datetime]]
) -> list[dict[str, Any]]:
    """One row a source, by name; GitHub's names are compared without case.

    A file or page that was ingested by its own address is a document, and no source.

    `looks` say when a source was listed, from different records; the latest counts.
    """
    latest: dict[str, datetime] = {}
    for source, at in (look for record in looks for look in record.items()):
        latest[normalised_source(source)] = max(at, latest.get(normalised_source(source), at))
    uris, failed = defaultdict[str, set[str]](set), defaultdict[str, list[FailedDocument]](list)
    names: dict[str, str] = {}
    for document in stored:
        names.setdefault(normalised_source(document.source), document.source)
        uris[normalised_source(document.source)].add(document.source_uri)
    for failure in standing:
        names.setdefault(normalised_source(failure.source), failure.source)
        failed[normalised_source(failure.source)].append(failure)
    rows = []
    for key, name in sorted(names.items()):
        if uris[key] | {failure.source_uri for failure in failed[key]} == {name}:
            continue
        unlisted = any(failure.is_listing for failure in failed[key])
        result = "unlisted" if unlisted else "failed" if failed[key] else "ok"
        look = latest[key].isoformat() if key in latest else None
        counts = {"documents": len(uris[key]), "failed": len(failed[key])}
        rows.append({"source": name, **counts, "last_look": look, "result": result})
    return rows


_FAILED = ("failed", "stale")
_MOST_PLACES = 5


def coverage(
    database: Database,
    *,
    outdated: Callable[[StoredDocument], str] = lambda _: "",
    looks: Mapping[str, datetime] = MappingProxyType({}),
    collection: str = "",
) -> dict[str, Any]:
    """`documents`, by name and address, `sources` and `totals`, of the active model's nodes; loads no model.

    A document's `state` is `indexed`; `stale` if the last attempt failed and an older version is stored; `unindexed`
    if it is stored but has no nodes; `failed` if nothing of it is stored. `coverage` is the share of its characters (0
    to 1) that is in a node. A source, or a part of one, that could not be listed has a row with the `stage` `list`; it
    counts as failed, and not as a document.

    A row of `sources` has `source`, `documents` (stored ones), `failed` (of these rows), `last_look` (when a run or one
    of `looks` listed it last; None if no run is left) and `result` (ok, failed; unlisted = all or a part of it could
    not be listed). A file or page that was ingested by its own address is a document, and no source.

    Of a `collection`, only its documents and failures count. `outdated` returns why a document's nodes differ from what
    today's rules would make, and `looks` say when a source was listed though no run had anything to do.
    """
    with reading(database.engine, "reading the documents") as connection:
        stored = stored_documents(connection, active_table(connection), collection=collection or None)
        standing = current_failures(connection, collection or None)
        run = ingest_runs.c
        listed = select(func.jsonb_array_elements_text(run.sources).label("source"), run.started_at)
        look = listed.where(run.kind == "ingest").subquery().c
        latest = select(look.source, func.max(look.started_at)).group_by(look.source)
        looked = {row[0]: row[1] for row in connection.execute(latest)}
    failures = {(each.collection, each.source_uri): each for each in standing}
    rows = [_row(each, failures.pop((each.collection, each.source_uri), None), outdated(each)) for each in stored]
    rows += [
        _NOT_STORED
        | {
            "document": failure.document,
            "uri": failure.source if failure.is_listing else failure.source_uri,
            "collection": failure.collection,
            "reason": failure.message,
            "hint": failure.hint,
            "stage": failure.stage,
            "error": failure.error,
        }
        for failure in failures.values()
    ]
    characters = sum(each.characters for each in stored)
    totals = {
        "documents": sum(row["stage"] != "list" for row in rows),
        "indexed": sum(row["state"] in ("indexed", "stale") for row in rows),
        "failed": sum(row["state"] in _FAILED for row in rows),
        "unindexed": sum(row["state"] == "unindexed" for row in rows),
        "outdated": sum(not row["current"] for row in rows if row["id"]),
        "nodes": sum(row["nodes"] for row in rows),
        "pages_without_text": sum(row["pages_without_text"] for row in rows),
        "coverage": round(sum(each.covered for each in stored) / characters, 4) if characters else 0.0,
    }
    return {
        "documents": sorted(rows, key=lambda row: (row["document"], row["uri"])),
        "sources": source_rows(stored, standing, [looked, looks]),
        "totals": totals,
    }


def from_source(connection: Connection, location: str) -> list[str]:
    """The ids of the documents from a file, a folder or a remote source; GitHub's names are compared without case."""
    uri = named_uri(location)
    d = documents.c
    below = func.left(d.source_uri, len(uri) + 1) == f"{uri}/"
    named = func.lower(d.source) == location.lower() if location.startswith("github:") else d.source == location
    statement = select(d.id).where((d.source == uri) | named | (d.source_uri == uri) | below)
    return list(connection.execute(statement.order_by(d.name, d.source_uri)).scalars())


def nothing_from(location: str, sources: Iterable[str]) -> RetrievalError:
    """The error for a source without documents; it names some sources that have some."""
    places = list(dict.fromkeys(map(named_place, sources)))
    more = f" and {len(places) - _MOST_PLACES:,} more" if len(places) > _MOST_PLACES else ""
    known = f"Documents came from {', '.join(places[:_MOST_PLACES])}{more}." if places else "Nothing is stored."
    return RetrievalError(f"No document came from {location}.", hint=known)


def _row(document: StoredDocument, failure: FailedDocument | None, outdated: str) -> dict[str, Any]:
    state, reason, hint = "indexed", "", ""
    if failure:
        state, reason, hint = "stale", failure.message, failure.hint
    elif not document.indexed_sha:
        state, reason, hint = "unindexed", "not yet in this model's nodes", "Run `footnote reindex`."
    elif outdated:
        reason, hint = outdated, "Run `footnote reindex`."
    elif document.partial:
        reason = f"in part: {describe_partial(document.partial)}"
    elif document.pages_without_text:
        reason = f"{document.pages_without_text} pages without text"
    return {
        **{name: getattr(document, name) for name in _AS_STORED},
        "document": document.name,
        "uri": document.source_uri,
        "state": state,
        "reason": reason,
        "hint": hint,
        "stage": failure.stage if failure else "",
        "error": failure.error if failure else "",
        "dated": document.dated.isoformat() if document.dated else "",
        "current": not outdated,
        "coverage": round(document.covered / document.characters, 4) if document.characters else 0.0,
        "last_success": document.ingested_at.isoformat(),
    }


_AS_STORED = (
    "id", "title", "category", "collection", "year", "author", "parser", "nodes", "pages_without_text",
)  # fmt: skip
_NOT_STORED = {
    "id": "", "title": "", "category": "", "state": "failed", "year": None, "author": "", "dated": "", "parser": "",
    "current": False, "nodes": 0, "pages_without_text": 0, "coverage": 0.0, "last_success": None,
}  # fmt: skip
