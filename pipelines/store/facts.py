"""Career facts: the records of resumes and profiles, a row a record, written with their nodes."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.schema import BaseNode
from pydantic import TypeAdapter
from sqlalchemy import Connection, delete, func, insert, select

from pipelines.facts import CareerRecord, records_of
from pipelines.store.database import read_rows
from pipelines.store.documents import SHOWS_LINES, lines_uri
from pipelines.store.filters import seen_by
from pipelines.store.node_reader import NodeReader
from pipelines.store.schema import documents, facts
from pipelines.types import Audience, Filters, NodeMetadata

_SHARED_NAME = 4000  # characters above an entry that may have a name which several entries share
_RECORD: TypeAdapter[CareerRecord] = TypeAdapter(CareerRecord)


@dataclass(frozen=True, slots=True)
class Fact:
    """A record and the passage that states it: `text` is `document.text[start:end]`; pages and lines count from 1.

    The passage is the record's span; if several entries share a name above them, it starts at that name of the company
    or institution.
    """

    record: CareerRecord
    document_id: str
    document_name: str
    title: str
    uri: str
    content_sha: str
    category: str
    page: int | None
    line_start: int
    line_end: int
    section_path: tuple[str, ...]
    node_id: str
    start: int
    end: int
    text: str
    lines_uri: str = ""

    @property
    def own_text(self) -> str:
        """The record's span alone."""
        return self.text[self.record.span[0] - self.start :]


def write_facts(connection: Connection, nodes: Mapping[str, Sequence[BaseNode]]) -> None:
    """Replace the facts of documents with those of their nodes; a record of several parts of a job counts once."""
    connection.execute(delete(facts).where(facts.c.document_id.in_(nodes)))
    rows = [
        _row(record) | {"document_id": document_id, "ordinal": place}
        for document_id, of_it in nodes.items()
        for place, record in enumerate(dict.fromkeys(_records(of_it)))
    ]
    if rows:
        connection.execute(insert(facts), rows)


def _records(nodes: Sequence[BaseNode]) -> Iterator[CareerRecord]:
    for node in nodes:
        if node.metadata["facts"]:
            yield from records_of(NodeMetadata.model_validate(node.metadata).facts)


def _row(record: CareerRecord) -> dict[str, Any]:
    stated = record.model_dump(mode="json")
    names = ("company", "institution", "issuer"), ("position", "degree", "name", "title", "language", "group")
    organisation, title = (next((stated[name] for name in some if stated.get(name)), "") for some in names)
    return {
        "kind": record.type,
        "organisation": organisation,
        "title": title,
        "start_month": stated.get("start_month", ""),
        "end_month": stated.get("end_month"),
        "current": stated.get("current", False),
        "skills": stated.get("skills", []),
        "span_start": record.span[0],
        "span_end": record.span[1],
        "record": stated,
    }


def read_facts(reader: NodeReader, filters: Filters, audience: Audience) -> list[Fact]:
    """The facts of the nodes that pass the filters and that this audience may see, by document name and place."""
    d, f, node = documents.c, facts.c, reader.passing(filters, audience)
    body = func.substr(d.text, f.span_start + 1, f.span_end - f.span_start)
    before = func.left(d.text, f.span_start)
    above, breaks = func.right(before, _SHARED_NAME), func.length(before) - func.length(func.replace(before, "\n", ""))
    statement = (
        select(
            f.record, f.span_start, d.id, d.name, d.title, d.source_uri, d.content_sha, d.category, d.pages,
            *SHOWS_LINES, node.c.node_id, node.c.section_path, body.label("text"), above.label("above"),
            (d.first_line + breaks).label("line"),
        )
        .distinct(d.name, d.id, f.ordinal)
        .join_from(facts, documents, d.id == f.document_id)
        .join(node, (node.c.document_id == d.id) & (node.c.start < f.span_end) & (node.c.end > f.span_start))
        .where(seen_by(audience))
        .order_by(d.name, d.id, f.ordinal, node.c.start)
    )  # fmt: skip
    return [_fact(row) for row in read_rows(reader.engine, "reading facts", statement)]


def stated_people(reader: NodeReader, audience: Audience) -> list[tuple[str, str]]:
    """The (name, document id) of each document that names the person of its career, ordered by document."""
    return [(name, document_id) for name, document_id, _ in stated_names(reader, audience, "person")]


def stated_names(reader: NodeReader, audience: Audience, kind: str) -> list[tuple[str, str, str]]:
    """The (name, document id, category of the document) of each fact of a kind (`person`, `project`) that has a name,
    ordered by document.
    """
    f, d = facts.c, documents.c
    named = select(f.title, f.document_id, d.category).join_from(facts, documents, d.id == f.document_id)
    statement = named.where(f.kind == kind, f.title != "", seen_by(audience)).order_by(f.document_id, f.ordinal)
    rows = read_rows(reader.engine, "reading the names of facts", statement)
    return [(row.title, row.document_id, row.category) for row in rows]


def _fact(row: Any) -> Fact:
    record = _RECORD.validate_python(row.record)
    shared = _shared(record, row.above, row.text)
    text, line, start = shared + row.text, row.line - shared.count("\n"), row.span_start - len(shared)
    return Fact(
        record=record,
        document_id=row.id,
        document_name=row.name,
        title=row.title,
        uri=row.source_uri,
        content_sha=row.content_sha,
        category=row.category,
        page=bisect_right(row.pages, start) or None,
        line_start=line,
        line_end=line + text.count("\n"),
        section_path=tuple(row.section_path),
        node_id=row.node_id,
        start=start,
        end=start + len(text),
        text=text,
        lines_uri=lines_uri(row.source_kind, row.source_uri, row.mime, row.path),
    )


def _shared(record: CareerRecord, above: str, text: str) -> str:
    """The text from an organisation's name above the span to the span; empty if the span has the name."""
    name = getattr(record, "company", "") or getattr(record, "institution", "")
    place = above.rfind(name) if name and name not in text else -1
    return above[place:] if place >= 0 else ""
