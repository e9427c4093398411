"""The documents whose last attempt failed, until one does not."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, Engine, exists, select

from pipelines.store.database import writing
from pipelines.store.runs import Logged, write_items
from pipelines.store.tables import documents, ingest_items, ingest_runs
from pipelines.types import IngestItem, SourceItem


@dataclass(frozen=True, slots=True)
class Standing:
    """A document whose last attempt failed, and why; `stored` says whether an older version serves."""

    collection: str
    source: str
    source_uri: str
    document: str
    stage: str
    error: str
    message: str
    hint: str
    at: datetime
    stored: bool


def standing_failures(connection: Connection, collection: str | None = None) -> list[Standing]:
    """What failed the last time it was tried, by name; of every collection unless one is named.

    A place that could not even be listed is no document; its run says so. A rollback tries no file.
    """
    item, later, held = ingest_items.c, ingest_items.alias().c, documents.c
    rollbacks = select(ingest_runs.c.id).where(ingest_runs.c.kind == "rollback")
    tried_again = exists().where(
        later.collection == item.collection, later.source_uri == item.source_uri, later.id > item.id,
        later.run_id.not_in(rollbacks),
    )  # fmt: skip
    stored = exists().where(held.collection == item.collection, held.source_uri == item.source_uri)
    wanted = (item[name] for name in Standing.__slots__ if name != "stored")
    statement = (
        select(*wanted, stored.label("stored"))
        .where(item.outcome == "failed", item.stage != "list", item.run_id.not_in(rollbacks), ~tried_again)
        .order_by(item.document, item.id)
    )
    if collection is not None:
        statement = statement.where(item.collection == collection)
    return [Standing(**row._mapping) for row in connection.execute(statement)]


def failures_of(connection: Connection, named: Collection[str], location: str = "") -> list[Standing]:
    """What failed of which nothing is stored: by its name or address, or by the file, folder or source it came from."""
    uri = Path(location).expanduser().resolve().as_uri() if location else ""
    places = {location.lower(), uri.lower()} - {""}
    return [
        failure
        for failure in standing_failures(connection)
        if not failure.stored
        and (
            not {failure.document, failure.source_uri}.isdisjoint(named)
            or not {failure.source.lower(), failure.source_uri.lower()}.isdisjoint(places)
            or (uri and failure.source_uri.startswith(f"{uri}/"))
        )
    ]


def settle_failures(engine: Engine, run_id: int, collection: str, settled: Mapping[SourceItem, str]) -> None:
    """Write of documents that failed before why that holds no longer; nothing else is changed."""
    with writing(engine, "settling past failures") as connection:
        rows = [
            Logged(collection, item, IngestItem(item.name, "unchanged", message=why)) for item, why in settled.items()
        ]
        write_items(connection, run_id, rows)
