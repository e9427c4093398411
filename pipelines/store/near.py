"""What stands near a passage: the sections of its document, and other documents of its kind."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import select

from pipelines.store.database import reading
from pipelines.store.filters import seen_by
from pipelines.store.reads import NodeReader
from pipelines.store.tables import documents
from pipelines.types import Audience, Filters

_MOST_SECTIONS = 400


@dataclass(frozen=True, slots=True)
class Section:
    """A node's place: `document.text[start:end]`, and the headings above it, the outermost first."""

    document_id: str
    title: str
    category: str
    path: tuple[str, ...]
    start: int
    end: int


def sections_of(reader: NodeReader, filters: Filters, audience: Audience) -> list[Section]:
    """The places of the first 400 nodes that pass the filters, in the order of their documents."""
    node, d = reader.passing(filters, audience), documents.c
    statement = (
        select(d.id, d.title, d.name, d.category, node.c.section_path, node.c.start, node.c.end)
        .join_from(node, documents, d.id == node.c.document_id)
        .where(seen_by(audience))
        .order_by(d.name, d.id, node.c.start)
        .limit(_MOST_SECTIONS)
    )
    with reading(reader.engine, "reading sections") as connection:
        rows = connection.execute(statement).all()
    return [
        Section(row.id, row.title or row.name, row.category, tuple(row.section_path), row.start, row.end)
        for row in rows
    ]


def others_like(
    reader: NodeReader, document_ids: Collection[str], categories: Collection[str], audience: Audience, *, limit: int
) -> list[tuple[str, str]]:
    """(id, title) of other documents of these categories that this audience may see, the newest first."""
    d = documents.c
    statement = (
        select(d.id, d.title, d.name)
        .where(d.category.in_(categories), d.id.not_in(document_ids), seen_by(audience))
        .order_by(d.year.desc().nulls_last(), d.name, d.id)
        .limit(limit)
    )
    with reading(reader.engine, "reading documents of a kind") as connection:
        return [(row.id, row.title or row.name) for row in connection.execute(statement)]
