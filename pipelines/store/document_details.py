"""One document as its owner looks at it: its text in nodes, its facts, documents like it, and its kept versions."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, select

from pipelines.store.documents import load_document
from pipelines.store.filters import seen_by
from pipelines.store.node_reader import NodeReader
from pipelines.store.read_snapshot import connected
from pipelines.store.schema import document_versions, documents, facts, families
from pipelines.types import Audience, Document, Filters

_ALL = 10**9  # nodes


@dataclass(frozen=True, slots=True)
class NodePlace:
    """A node: `document.text[start:end]` and its section."""

    start: int
    end: int
    section: str
    page: int | None


@dataclass(frozen=True, slots=True)
class StatedFact:
    """A fact that a document states, and the words that state it."""

    kind: str
    title: str
    organisation: str
    start_month: str
    end_month: str
    words: str


@dataclass(frozen=True, slots=True)
class KeptVersion:
    """A version that a run replaced; undoing that run restores it."""

    run_id: int | None
    replaced_at: datetime
    title: str
    characters: int


@dataclass(frozen=True, slots=True)
class DocumentDetails:
    """A stored document with its nodes in order, its facts, the names of near-duplicates, and its versions."""

    document: Document
    nodes: tuple[NodePlace, ...]
    facts: tuple[StatedFact, ...]
    alike: tuple[str, ...]
    versions: tuple[KeptVersion, ...]


def document_details(reader: NodeReader, document_id: str, audience: Audience) -> DocumentDetails | None:
    """A document with all that is derived from it; None if it is gone or may not be seen. Versions are newest first."""
    with connected(reader.engine) as connection:
        document = load_document(connection, document_id, audience)
        if document is None:
            return None
        d, f = documents.c, facts.c
        columns = (f.kind, f.title, f.organisation, f.start_month, f.end_month, f.span_start, f.span_end)
        rows = connection.execute(select(*columns).where(f.document_id == document.id).order_by(f.ordinal)).all()
        stated = [
            StatedFact(row.kind, row.title, row.organisation, row.start_month, row.end_month or "",
                       document.text[row.span_start : row.span_end])
            for row in rows
        ]  # fmt: skip
        # Other documents with the same file or with a passage that is nearly the same.
        mine = select(families.c.family).where(families.c.document_id == document.id)
        sharing = d.id.in_(select(families.c.document_id).where(families.c.family.in_(mine)))
        others = (d.file_sha == document.file_sha) | sharing, d.id != document.id, seen_by(audience)
        alike = connection.execute(select(d.name).where(*others).order_by(d.name)).scalars().all()
        versions = kept_versions(connection, document_id)
    nodes = reader.window(document_id, 0, _ALL, filters=Filters(), audience=audience)
    places = [
        NodePlace(node.metadata["start"], node.metadata["end"], node.metadata.get("section", ""),
                  node.metadata.get("page"))
        for node in nodes
    ]  # fmt: skip
    return DocumentDetails(document, tuple(places), tuple(stated), tuple(alike), versions)


def kept_versions(connection: Connection, document_id: str) -> tuple[KeptVersion, ...]:
    """The versions of a document that runs replaced, newest first."""
    v = document_versions.c
    columns = (v.run_id, v.replaced_at, v.row["title"].astext.label("title"),
               func.length(v.row["text"].astext).label("characters"))  # fmt: skip
    rows = connection.execute(select(*columns).where(v.document_id == document_id).order_by(v.id.desc()))
    return tuple(KeptVersion(row.run_id, row.replaced_at, row.title, row.characters) for row in rows)
