"""The documents whose last attempt failed, until one does not, and the sources whose last listing did."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Engine, exists, select

from pipelines.errors import RetrievalError
from pipelines.store.database import writing
from pipelines.store.fetched import folded
from pipelines.store.originals import named_uri
from pipelines.store.runs import Logged, write_items
from pipelines.store.tables import documents, ingest_items, ingest_runs
from pipelines.types import IngestItem, SourceItem


@dataclass(frozen=True, slots=True)
class Standing:
    """A document whose last attempt failed, and why; `stored` says whether an older version serves.

    What could not be listed is one, too: a source, or a part of it.
    """

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

    @property
    def is_listing(self) -> bool:
        """Whether it is no document, but a source that could not be listed, or a part of one."""
        return self.stage == "list"


def standing_failures(connection: Connection, collection: str | None = None) -> list[Standing]:
    """What failed the last time it was tried, by name and address; of every collection unless one is named.

    What could not be listed stands until its source is looked at and does not say so again. A rollback tries no file.
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
        .where(item.outcome == "failed", item.run_id.not_in(rollbacks), ~tried_again)
        .order_by(item.document, item.source_uri, item.id)
    )
    if collection is not None:
        statement = statement.where(item.collection == collection)
    return [Standing(**row._mapping) for row in connection.execute(statement)]


def unstored_failures(connection: Connection) -> list[Standing]:
    """What failed of which nothing is stored, by name; of every collection."""
    return [failure for failure in standing_failures(connection) if not failure.stored]


def failures_named(failures: Iterable[Standing], named: str) -> list[Standing]:
    """Those of one document, by its name or address; of each collection where it failed.

    Raises:
        RetrievalError: If it could be several documents.
    """
    found = [failure for failure in failures if named in (failure.document, failure.source_uri)]
    if len(addresses := dict.fromkeys(failure.source_uri for failure in found)) > 1:
        listed = ", ".join(list(addresses)[:5])
        said = f"{named!r} could be {len(addresses)} documents that failed: {listed}."
        raise RetrievalError(said, hint="Give the address.")
    return found


def failures_from(failures: Iterable[Standing], location: str) -> list[Standing]:
    """Those of a file, of a folder with all below it, or of a remote source; GitHub's in any case of letters."""
    uri = named_uri(location)
    places = {folded(location), uri}
    return [
        failure
        for failure in failures
        if not {folded(failure.source), folded(failure.source_uri)}.isdisjoint(places)
        or failure.source_uri.startswith(f"{uri}/")
    ]


def settle_failures(engine: Engine, run_id: int, collection: str, settled: Mapping[SourceItem, str]) -> None:
    """Write of documents that failed before why that holds no longer; nothing else is changed."""
    with writing(engine, "settling past failures") as connection:
        rows = [
            Logged(collection, item, IngestItem(item.name, "unchanged", message=why)) for item, why in settled.items()
        ]
        write_items(connection, run_id, rows)
