"""The kept versions of documents: the changes of a run, and the quotations of logged answers by version."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, func, literal, select

from pipelines.store.documents import MAKES_A_VERSION, from_row
from pipelines.store.filters import seen_by
from pipelines.store.schema import document_versions, documents, ingest_items
from pipelines.types import Audience, Document

_DATES = ("published_at", "modified_at", "ingested_at")


def changes_of(connection: Connection, run_id: int) -> Sequence[Row[Any]]:
    """The changes of a run, a row a document, the newest change first.

    Each has the document's `document_id` and `outcome` in the run; `version`, the id of the version that the run kept
    (None if there was none or it was equal, 0 if no versions are kept); `kept` and `stored`, None where that version
    and the document are no longer stored; `same`, true if the document is as that version was; `later`, the last run
    that changed the document since; `written_at`, when the stored state was written; and `collection`, `source`,
    `source_kind`, `source_uri`, `name` and `file_sha` of that version, else as they are now, else as they were logged.
    """
    item, d, v, since = ingest_items.c, documents.c, document_versions.c, ingest_items.alias().c
    replaced = since.outcome.in_(("updated", "metadata")) & since.version_id.is_not(None)
    again = since.outcome.in_(("added", "removed")) | replaced
    later = select(func.max(since.run_id)).where(
        since.document_id == item.document_id, since.id > item.id, since.run_id != run_id, again
    )
    logged: dict[str, ColumnElement[str]] = {name: item[name] for name in ("collection", "source", "source_uri")}
    logged |= {"name": item.document, "source_kind": literal("file"), "file_sha": literal("")}
    statement = (
        select(
            item.id, item.document_id, item.outcome, item.version_id.label("version"), v.id.label("kept"),
            d.id.label("stored"), d.ingested_at.label("written_at"), later.scalar_subquery().label("later"),
            and_(*(v.row[name].astext == d[name] for name in MAKES_A_VERSION)).label("same"),
            *(func.coalesce(v.row[name].astext, d[name], value).label(name) for name, value in logged.items()),
        )
        .distinct(item.document_id)
        .outerjoin(document_versions, (v.id == item.version_id) & (v.document_id == item.document_id))
        .outerjoin(documents, d.id == item.document_id)
        .where(item.run_id == run_id, item.outcome.in_(("added", "updated", "metadata", "removed")))
        .order_by(item.document_id, item.id)
    )  # fmt: skip
    return sorted(connection.execute(statement).all(), key=lambda row: -row.id)


def last_visibility(connection: Connection, document_id: str) -> str | None:
    """The visibility of the newest kept version of a document; None if there is none."""
    v = document_versions.c
    newest = select(v.row["visibility"].astext).where(v.document_id == document_id).order_by(v.id.desc()).limit(1)
    return connection.execute(newest).scalar()


def read_version(connection: Connection, version_id: int) -> Document | None:
    """The Document of a version; None if it is no longer stored."""
    row = connection.execute(
        select(document_versions.c.row).where(document_versions.c.id == version_id)
    ).scalar_one_or_none()
    return None if row is None else from_row(dated(row))


def dated(row: Mapping[str, Any]) -> dict[str, Any]:
    """A version's row with its dates parsed, which are strings in JSON."""
    return {**row, **{name: datetime.fromisoformat(row[name]) for name in _DATES if row.get(name)}}


def version_text(connection: Connection, document_id: str, content_sha: str) -> str | None:
    """The text of a version of a document; None if it is no longer stored."""
    d, v = documents.c, document_versions.c
    now = select(d.text).where(d.id == document_id, d.content_sha == content_sha)
    before = select(v.row["text"].astext).where(v.document_id == document_id, v.content_sha == content_sha).limit(1)
    found: str | None = connection.execute(now).scalar() or connection.execute(before).scalar()
    return found


@dataclass(frozen=True, slots=True)
class Hashes:
    """The hashes of a stored version's text and file, and when the document was last added."""

    name: str
    content_sha: str
    file_sha: str
    added_at: datetime | None


def hashes_of(connection: Connection, document_ids: Collection[str], audience: Audience) -> dict[str, Hashes]:
    """The stored versions of these documents, by id; those that this audience may not see are missing."""
    d, item = documents.c, ingest_items.c
    added = (
        select(func.max(item.at)).where(item.document_id == d.id, item.outcome == "added").correlate(documents)
    ).scalar_subquery()
    statement = select(d.id, d.name, d.content_sha, d.file_sha, added.label("added_at")).where(
        d.id.in_(list(document_ids)), seen_by(audience)
    )
    return {
        row.id: Hashes(row.name, row.content_sha, row.file_sha, row.added_at) for row in connection.execute(statement)
    }
