"""Documents of which their source gave only a part, and how people are told."""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import Connection, select

from pipelines.store.filters import seen_by
from pipelines.store.tables import documents
from pipelines.types import Audience

Counts = Mapping[str, Any]  # `metadata["partial"]` of a document: blocks fetched and rendered, and those refused


def how_much(counts: Counts) -> str:
    """How much of a document is stored: `8 of its 12 blocks`, and how many of them lack what lies below."""
    fetched, refused = counts.get("fetched"), len(counts.get("refused") or ())
    said = f"{counts.get('rendered')} of its {fetched} block{'s' * (fetched != 1)}"
    return f"{said}, nothing of what lies below {refused} of them" if refused else said


def only_part(title: str, counts: Counts) -> str:
    """The line under an answer that rests on a document of this title."""
    called = " ".join(title.split())
    return (
        f"Only part of '{called}' was given by its source ({how_much(counts)}): "
        "what it does not say may stand in the rest."
    )


def in_part(connection: Connection, document_ids: Collection[str], audience: Audience) -> dict[str, Counts]:
    """The counts of those of the documents that are stored in part and that this audience may see, by id."""
    d = documents.c
    counts = d["metadata"]["partial"]
    statement = select(d.id, counts.label("counts")).where(
        d.id.in_(list(document_ids)), d["metadata"].has_key("partial"), seen_by(audience)
    )
    return {row.id: row.counts for row in connection.execute(statement)}
