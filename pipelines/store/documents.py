"""The documents table: rows to Documents and back, passages of their texts, and their links."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from sqlalchemy import (
    Connection,
    Integer,
    Row,
    Text,
    cast,
    column,
    delete,
    func,
    insert,
    or_,
    select,
    true,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.dialects.postgresql import insert as upsert

from pipelines.store.database import append_rows
from pipelines.store.filters import check, seen_by
from pipelines.store.schema import document_indexes, document_versions, documents
from pipelines.structure import STRUCTURE_VERSION, Structure, read_structure, stored_structure
from pipelines.text import line_breaks
from pipelines.types import Audience, Block, Document, Filters, Furniture, LineBox

_STRUCTURED = {"furniture", "pages", "pages_without_text", "blocks", "boxes", "metadata", "structure"}
_PLAIN = {field.name for field in fields(Document)} - _STRUCTURED - {"records"}

_PLACE = 7  # values of a box without its breaks
ADDED_NODES = "llamaindex"  # the source kind of a document whose text is made of added nodes
ADDED_SOURCE = f"{ADDED_NODES}:"
ADDED_RECIPE = f"{ADDED_NODES}@1"
MAKES_A_VERSION = ("content_sha", "meta_sha", "file_sha", "collection", "source", "source_uri", "name")
STATE = (*MAKES_A_VERSION, "stamp")  # where these are equal there is nothing to write


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A stored document without its text, as plans need it.

    `indexed_sha`, `parser`, `recipe`, `nodes`, `characters` and `covered` are those of one node table. `said` has what
    a person set (category, visibility, parser), which holds until it is set again; `ruled` what the rules of the
    settings set. `partial` counts what the source did not give, if it did not give all. `dated` is when it was
    published, else modified.
    """

    id: str
    collection: str
    source: str
    source_kind: str
    source_uri: str
    name: str
    category: str
    stamp: str
    file_sha: str
    indexed_sha: str
    content_sha: str
    meta_sha: str
    parser: str
    recipe: str
    nodes: int
    characters: int
    covered: int
    mime: str
    title: str
    visibility: str
    ingested_at: datetime
    pages_without_text: int
    year: int | None
    said: Mapping[str, str]
    ruled: Mapping[str, Any]
    partial: Mapping[str, Any] = field(default_factory=dict)
    author: str = ""
    dated: datetime | None = None


class Places:
    """The lines (from 1) and pages (from 1) of a text; `pages` are the offsets at which they begin."""

    def __init__(self, text: str, first_line: int, pages: Sequence[int]) -> None:
        self._ends = line_breaks(text)
        self._first_line = first_line
        self._pages = pages

    def of(self, start: int, end: int) -> dict[str, int | None]:
        """`start`, `end`, `line_start`, `line_end` and `page` of a span, as its node's metadata has them."""
        first, last = (self._first_line + bisect_left(self._ends, offset) for offset in (start, end - 1))
        page = bisect_right(self._pages, start) or None
        return {"start": start, "end": end, "line_start": first, "line_end": last, "page": page}


def is_as_stored(document: Document, stored: StoredDocument) -> bool:
    """True if the row has this version of the document from this file, so that there is nothing to write."""
    return all(getattr(document, name) == getattr(stored, name) for name in STATE)


def write_documents(connection: Connection, written: Sequence[Document], *, keep: int) -> dict[str, int | None]:
    """Insert or replace the rows of documents; each replaced row becomes a version.

    Returns:
        The id of the version, by document; None if there was no row or the row was the same, 0 if no versions are kept.
    """
    stored = written_at(connection, [document.id for document in written])
    kept = {
        document.id: keep_version(connection, document.id, keep, but=document) if document.id in stored else None
        for document in written
    }
    append_rows(connection, documents, [_row(document) for document in written if document.id not in stored])
    if stored:
        statement = upsert(documents)
        excluded = {each.name: statement.excluded[each.name] for each in documents.c if each.name != "id"}
        connection.execute(
            statement.on_conflict_do_update(index_elements=[documents.c.id], set_=excluded),
            [_row(document) for document in written if document.id in stored],
        )
    return kept


def _box(stored: Sequence[Any]) -> LineBox:
    """The box of stored values; documents that were stored before fonts were read have no breaks."""
    place, breaks = stored[:_PLACE], stored[_PLACE:]
    return LineBox(*place, *map(tuple, breaks))


def _row(document: Document) -> dict[str, Any]:
    return {name: getattr(document, name) for name in _PLAIN if name != "ingested_at"} | {
        "ingested_at": document.ingested_at or datetime.now(UTC),
        "furniture": [asdict(item) for item in document.furniture],
        "pages": list(document.pages),
        "pages_without_text": list(document.pages_without_text),
        "blocks": [[block.start, block.end, block.kind, block.level] for block in document.blocks],
        "boxes": [list(astuple(box)) for box in document.boxes],
        "structure": dict(stored_structure(document)),
        "structure_version": STRUCTURE_VERSION,
        "metadata": dict(document.metadata),
    }


def keep_version(connection: Connection, document_id: str, keep: int, but: Document | None = None) -> int | None:
    """Make the row a version, unless it is equal to `but`, and return its id; 0 if no versions are kept."""
    d, versions = documents.c, document_versions
    row = func.to_jsonb(documents.table_valued())
    differs = or_(*(d[name] != getattr(but, name) for name in MAKES_A_VERSION)) if but else true()
    old = select(d.id, d.content_sha, row).where(d.id == document_id, differs)
    if not keep:
        return None if connection.execute(old.with_only_columns(d.id)).first() is None else 0
    made = insert(versions).from_select(["document_id", "content_sha", "row"], old).returning(versions.c.id)
    kept: int | None = connection.execute(made).scalar()
    if kept is not None:
        of_it = versions.c.document_id == document_id
        newest = select(versions.c.id).where(of_it).order_by(versions.c.id.desc()).limit(keep)
        connection.execute(delete(versions).where(of_it, versions.c.id.not_in(newest.scalar_subquery())))
    return kept


def index_states(connection: Connection, document_ids: Collection[str], node_table: str) -> dict[str, tuple[str, str]]:
    """(content_sha, recipe) of each of these documents that a node table holds, by id."""
    i = document_indexes.c
    of_them = i.document_id.in_(document_ids), i.node_table == node_table
    rows = connection.execute(select(i.document_id, i.content_sha, i.recipe).where(*of_them))
    return {row.document_id: (row.content_sha, row.recipe) for row in rows}


def written_at(connection: Connection, document_ids: Collection[str]) -> dict[str, datetime]:
    """When each of the stored ones of these documents was written last, by id."""
    d = documents.c
    rows = connection.execute(select(d.id, d.ingested_at).where(d.id.in_(document_ids)))
    return {row.id: row.ingested_at for row in rows}


def has_values(connection: Connection, document: Document, names: Collection[str]) -> bool:
    """True if the document's row has its values of these columns now."""
    d = documents.c
    same = select(d.id).where(d.id == document.id, *(d[name] == getattr(document, name) for name in names))
    return connection.execute(same).first() is not None


def stored_documents(
    connection: Connection, node_table: str, *, collection: str | None = None, ids: Collection[str] | None = None
) -> list[StoredDocument]:
    """Every stored document, or those of a collection or of these ids, with what one node table holds, by name."""
    d, i = documents.c, document_indexes.c
    columns = {
        "indexed_sha": func.coalesce(i.content_sha, ""),
        "dated": func.coalesce(d.published_at, d.modified_at),
        "pages_without_text": func.jsonb_array_length(d.pages_without_text),
        **{name: func.coalesce(i[name], "") for name in ("parser", "recipe")},
        **{name: func.coalesce(i[name], 0) for name in ("nodes", "covered", "characters")},
        **{name: d["metadata"][name] for name in ("said", "ruled", "partial")},
    }
    statement = (
        select(*(columns[name] if name in columns else d[name] for name in StoredDocument.__slots__))
        .outerjoin(document_indexes, (i.document_id == d.id) & (i.node_table == node_table))
        .order_by(d.name, d.source_uri, d.collection)
    )
    if collection is not None:
        statement = statement.where(d.collection == collection)
    if ids is not None:
        statement = statement.where(d.id.in_(ids))
    return [  # by place, and without reading empty objects as JSON: half of an unchanged run's time
        StoredDocument(*(*plain, said or {}, ruled or {}, partial or {}, author, dated))
        for *plain, said, ruled, partial, author, dated in connection.execute(statement)
    ]


def load_document(connection: Connection, document_id: str, audience: Audience) -> Document | None:
    """A stored document with its text; None if it is gone or this audience may not see it."""
    row = connection.execute(select(documents).where(documents.c.id == document_id, seen_by(audience))).one_or_none()
    return None if row is None else from_row(row._mapping)


def from_row(row: Mapping[Any, Any]) -> Document:
    """The Document that a row holds."""
    return Document(
        **{name: row[name] for name in _PLAIN},
        furniture=tuple(Furniture(**item) for item in row["furniture"]),
        pages=tuple(row["pages"]),
        pages_without_text=tuple(row["pages_without_text"]),
        blocks=tuple(Block(start, end, kind, level) for start, end, kind, level in row["blocks"]),
        boxes=tuple(map(_box, row["boxes"])),
        structure=row.get("structure") or {},
        metadata=row["metadata"],
    )


@dataclass(frozen=True, slots=True)
class DocumentSection:
    """The text under a heading, that included: `document.text[start:end]`."""

    document_id: str
    title: str
    category: str
    heading: str
    start: int
    end: int


def sections_of(connection: Connection, document_ids: Collection[str], audience: Audience) -> list[DocumentSection]:
    """The sections of documents that this audience may see, in their order; a section holds those below it."""
    d = documents.c
    statement = select(d.id, d.title, d.name, d.category, d.structure).where(d.id.in_(document_ids), seen_by(audience))
    return [
        DocumentSection(row.id, row.title or row.name, row.category, element.name, element.start, element.of)
        for row in connection.execute(statement.order_by(d.name, d.id))
        for element in (read_structure(row.structure).elements if row.structure else ())
        if element.kind == "heading"
    ]


def find_documents(connection: Connection, named: str) -> list[str]:
    """The ids of the documents with the id, URI or name `named`; else of those with that title or a name `.../named`.

    Raises:
        RetrievalError: If the name holds a character that cannot be compared.
    """
    check(Filters(document=(named,)))
    d = documents.c
    ids = select(d.id).order_by(d.name, d.source_uri)
    exact = ids.where(or_(d.id == named, d.source_uri == named, d.name == named))
    found = list(connection.execute(exact).scalars())
    if not found:
        ending = func.right(d.name, len(named) + 1) == f"/{named}"
        found = list(connection.execute(ids.where(or_(d.title == named, ending))).scalars())
    return found


SHOWS_LINES = (documents.c.source_kind, documents.c.mime, documents.c.metadata["path"].astext.label("path"))
_README = "#readme"
_CONVERTED = "text/html"


def lines_uri(source_kind: str, source_uri: str, mime: str, path: str | None) -> str:
    """The address of a repository's file at its host; empty for any other document, and for a converted file.

    The address of a document is that of its file, or of the repository whose README it is; `path` is that of the file,
    empty for a repository without a README.
    """
    if source_kind != "github" or not path or mime == _CONVERTED:
        return ""
    if not source_uri.endswith(_README):
        return source_uri
    return in_repository(source_uri.removesuffix(_README), path)


def in_repository(repository_uri: str, path: str) -> str:
    """The address of a file on the default branch of a repository."""
    return f"{repository_uri}/blob/HEAD/{quote(path, errors='replace')}"


def passages(
    connection: Connection, spans: Sequence[tuple[str, int, int]], audience: Audience
) -> dict[tuple[str, int, int], Row[Any]]:
    """The spans that this audience may see.

    Each has text, name, title, source_uri, content_sha, category, pages, and the columns of SHOWS_LINES.
    """
    if not spans:
        return {}
    d = documents.c
    ids, starts, ends = zip(*dict.fromkeys(spans), strict=True)  # as arrays: SQLAlchemy keeps no compiled VALUES
    arrays = cast(ids, ARRAY(Text)), cast(starts, ARRAY(Integer)), cast(ends, ARRAY(Integer))
    columns = column("document_id", Text), column("start", Integer), column("end", Integer)
    wanted = func.unnest(*arrays).table_valued(*columns, name="wanted").render_derived()
    body = func.substr(d.text, wanted.c.start + 1, wanted.c.end - wanted.c.start).label("text")
    statement = (
        select(*wanted.c, body, d.id, d.name, d.title, d.source_uri, d.content_sha, d.category, d.pages, *SHOWS_LINES)
        .join_from(wanted, documents, d.id == wanted.c.document_id)
        .where(seen_by(audience))
    )
    return {(row.document_id, row.start, row.end): row for row in connection.execute(statement)}


def structures(
    connection: Connection, document_ids: Iterable[str], audience: Audience
) -> dict[tuple[str, str], Structure]:
    """The structures of these documents that this audience may see, without their texts, by (id, content_sha).

    One that is not stored yet, or of an older version, is made.
    """
    d = documents.c
    wanted = d.id.in_(list(document_ids)), seen_by(audience)
    rows = connection.execute(select(d.id, d.content_sha, d.structure, d.structure_version).where(*wanted)).all()
    found = {}
    for row in rows:
        stored = row.structure if row.structure_version == STRUCTURE_VERSION else None
        if stored is None and (document := load_document(connection, row.id, audience)):
            stored = stored_structure(document)
        if stored is not None:
            found[row.id, row.content_sha] = read_structure(stored)
    return found


@dataclass(frozen=True, slots=True)
class DocumentLinks:
    """A document's name, its address, and the address that shows its lines."""

    name: str = ""
    uri: str = ""
    lines_uri: str = ""


def document_links(connection: Connection, document_ids: Iterable[str], audience: Audience) -> dict[str, DocumentLinks]:
    """The links of each of these documents that this audience may see."""
    d = documents.c
    statement = select(d.id, d.name, d.source_uri, *SHOWS_LINES).where(d.id.in_(list(document_ids)), seen_by(audience))
    return {row.id: links_of(row) for row in connection.execute(statement)}


def links_of(row: Any) -> DocumentLinks:
    """The links of a document, of a row of name, source_uri and SHOWS_LINES."""
    return DocumentLinks(row.name, row.source_uri, lines_uri(row.source_kind, row.source_uri, row.mime, row.path))


def passage(
    connection: Connection, document_id: str, span: tuple[int, int], *, around: int, audience: Audience
) -> tuple[str, str, str] | None:
    """The text before, inside and after a span, `around` characters on each side; None if it may not be seen."""
    start, end = span
    parts = (max(0, start - around), start), span, (end, end + around)
    found = passages(connection, [(document_id, *part) for part in parts], audience)
    before, inside, after = (found.get((document_id, *part)) for part in parts)
    return (before.text, inside.text, after.text) if before and inside and after else None


def lines_of(
    connection: Connection, document_id: str, spans: Sequence[tuple[int, int]], audience: Audience
) -> tuple[LineBox, ...]:
    """The lines of a document that these spans reach into, in the order of its text; none if it may not be seen."""
    d = documents.c
    row = connection.execute(select(d.boxes).where(d.id == document_id, seen_by(audience))).one_or_none()
    lines = map(_box, row.boxes) if row else ()
    return tuple(line for line in lines if any(line.start < end and start < line.end for start, end in spans))


PartialCounts = Mapping[str, Any]  # `metadata["partial"]` of a document: blocks fetched and rendered, and those refused


def describe_partial(counts: PartialCounts) -> str:
    """How much of a document is stored: `8 of its 12 blocks`, and how many of them lack their children."""
    fetched, refused = counts.get("fetched"), len(counts.get("refused") or ())
    share = f"{counts.get('rendered')} of its {fetched} block{'s' * (fetched != 1)}"
    return f"{share}, nothing of what lies below {refused} of them" if refused else share


def partial_notice(title: str, counts: PartialCounts) -> str:
    """The line under an answer that cites a partial document of this title."""
    return (
        f"Only part of '{' '.join(title.split())}' was given by its source ({describe_partial(counts)}): "
        "what it does not say may stand in the rest."
    )


def partial_documents(
    connection: Connection, document_ids: Collection[str], audience: Audience
) -> dict[str, PartialCounts]:
    """The counts of the partial ones of these documents that this audience may see, by id."""
    d = documents.c
    counts = d["metadata"]["partial"]
    statement = select(d.id, counts.label("counts")).where(
        d.id.in_(list(document_ids)), d["metadata"].has_key("partial"), seen_by(audience)
    )
    return {row.id: row.counts for row in connection.execute(statement)}
