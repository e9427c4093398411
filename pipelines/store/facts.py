"""Career facts: what the nodes of resumes and profiles state, a row a record, written with their nodes."""

from collections.abc import Iterator, Sequence
from typing import Any

from llama_index.core.schema import BaseNode
from sqlalchemy import Connection, delete, insert

from pipelines.facts import CareerRecord, records_of
from pipelines.store.tables import facts
from pipelines.types import NodeMetadata


def write_facts(connection: Connection, document_id: str, nodes: Sequence[BaseNode]) -> None:
    """Make what these nodes state the facts of the document; a record that several parts of a job carry counts once."""
    connection.execute(delete(facts).where(facts.c.document_id == document_id))
    records = list(dict.fromkeys(_records(nodes)))
    if records:
        rows = [_row(record) | {"document_id": document_id, "ordinal": place} for place, record in enumerate(records)]
        connection.execute(insert(facts), rows)


def _records(nodes: Sequence[BaseNode]) -> Iterator[CareerRecord]:
    for node in nodes:
        yield from records_of(NodeMetadata.model_validate(node.metadata).facts)


def _row(record: CareerRecord) -> dict[str, Any]:
    stated = record.model_dump(mode="json")
    names = ("company", "institution", "issuer"), ("position", "degree", "name", "language", "group")
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
