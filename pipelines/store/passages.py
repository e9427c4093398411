"""What stands at spans of stored documents, for whom may see it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Integer, Row, Text, column, func, select, values

from pipelines.store.file_lines import SHOWS_LINES, lines_uri
from pipelines.store.filters import seen_by
from pipelines.store.tables import documents
from pipelines.types import Audience


def passages(
    connection: Connection, spans: Sequence[tuple[str, int, int]], audience: Audience
) -> dict[tuple[str, int, int], Row[Any]]:
    """The spans that this audience may see.

    Each has text, name, title, source_uri, content_sha, category, pages, and what tells where its lines are shown.
    """
    if not spans:
        return {}
    d = documents.c
    wanted = values(column("document_id", Text), column("start", Integer), column("end", Integer), name="wanted").data(
        list(dict.fromkeys(spans))
    )
    body = func.substr(d.text, wanted.c.start + 1, wanted.c.end - wanted.c.start).label("text")
    statement = select(
        wanted.c.document_id,
        wanted.c.start,
        wanted.c.end,
        body,
        d.name,
        d.title,
        d.source_uri,
        d.content_sha,
        d.category,
        d.pages,
        *SHOWS_LINES,
    ).join_from(wanted, documents, d.id == wanted.c.document_id)
    statement = statement.where(seen_by(audience))
    return {(row.document_id, row.start, row.end): row for row in connection.execute(statement)}


def names(connection: Connection, document_ids: Iterable[str], audience: Audience) -> dict[str, str]:
    """The name of each of these documents that this audience may see."""
    statement = select(documents.c.id, documents.c.name).where(
        documents.c.id.in_(list(document_ids)), seen_by(audience)
    )
    return {row.id: row.name for row in connection.execute(statement)}


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown of a document beside its words: its name, its address, and where its lines are shown."""

    name: str = ""
    uri: str = ""
    lines_uri: str = ""


def shown(connection: Connection, document_ids: Iterable[str], audience: Audience) -> dict[str, Shown]:
    """What is shown of each of these documents that this audience may see."""
    d = documents.c
    statement = select(d.id, d.name, d.source_uri, *SHOWS_LINES).where(d.id.in_(list(document_ids)), seen_by(audience))
    return {
        row.id: Shown(row.name, row.source_uri, lines_uri(row.source_kind, row.source_uri, row.mime, row.path))
        for row in connection.execute(statement)
    }


def passage(
    connection: Connection, document_id: str, span: tuple[int, int], *, around: int, audience: Audience
) -> tuple[str, str, str] | None:
    """The text before, inside and after a span, `around` characters on each side; None when it is not to be seen."""
    (start, end), body = span, documents.c.text
    before = max(0, start - around)
    statement = select(
        func.substr(body, before + 1, start - before),
        func.substr(body, start + 1, end - start),
        func.substr(body, end + 1, around),
    ).where(documents.c.id == document_id, seen_by(audience))
    row: Row[Any] | None = connection.execute(statement).one_or_none()
    return None if row is None else (row[0], row[1], row[2])
