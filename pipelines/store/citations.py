"""What answers quoted of documents, and the versions that they quoted."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, func, select, text

from pipelines.store.filters import seen_by
from pipelines.store.tables import document_versions, documents, ingest_items
from pipelines.types import Audience

# Citations stand below sentences and conflicts; what was shown to the writer, or came nearest, stands beside them.
# The conflicts that older releases logged were only told: they are strings.
_QUOTATIONS = text("""
    WITH quoted AS (
        SELECT id, 'citation' AS kind, own.value AS held, own.value ->> 'quote' AS said
        FROM queries, jsonb_array_elements(coalesce(answer -> 'sentences', '[]')) AS sentence,
             jsonb_array_elements(coalesce(sentence.value -> 'evidence', '[]')) AS own
        UNION ALL
        SELECT id, 'citation', own.value, own.value ->> 'quote'
        FROM queries, jsonb_array_elements(coalesce(answer -> 'conflicts', '[]')) AS conflict,
             jsonb_array_elements(coalesce(conflict.value -> 'sides', '[]')) AS own
        UNION ALL
        SELECT id, 'snippet', own.value, own.value ->> 'snippet'
        FROM queries,
             jsonb_array_elements(coalesce(answer -> 'sources', '[]') || coalesce(answer -> 'nearest', '[]')) AS own
    )
    SELECT quoted.id AS query, kind, said, held ->> 'document_id' AS document_id, held ->> 'content_sha' AS content_sha,
           (held ->> 'start')::integer AS start, (held ->> 'end')::integer AS "end", documents.name AS name,
           count(*) OVER () AS total
    FROM quoted LEFT JOIN documents ON documents.id = held ->> 'document_id'
    ORDER BY document_id, content_sha, query
""")


def quotations(connection: Connection) -> Iterator[Row[Any]]:
    """Every citation and snippet of the logged answers, one version of a document after the other.

    Each has `query`, `kind` (citation or snippet), `said` (the words), `document_id`, `content_sha`, `start`, `end`,
    the document's `name`, None for one that is gone, and the `total` of them all.
    """
    yield from connection.execute(_QUOTATIONS.execution_options(yield_per=1000))


def version_text(connection: Connection, document_id: str, content_sha: str) -> str | None:
    """The text of a version of a document, stored or kept; None when it is no longer kept."""
    d, v = documents.c, document_versions.c
    now = select(d.text).where(d.id == document_id, d.content_sha == content_sha)
    before = select(v.row["text"].astext).where(v.document_id == document_id, v.content_sha == content_sha).limit(1)
    held: str | None = connection.execute(now).scalar() or connection.execute(before).scalar()
    return held


@dataclass(frozen=True, slots=True)
class Hashes:
    """Which version of a document is stored: the hashes of its text and of its file, and when it was last added."""

    name: str
    content_sha: str
    file_sha: str
    added_at: datetime | None


def hashes_of(connection: Connection, document_ids: Collection[str], audience: Audience) -> dict[str, Hashes]:
    """The versions of these documents that are stored now; those that this audience cannot see are missing."""
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
