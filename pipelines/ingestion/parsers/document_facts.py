"""The records that a document states as a whole: the project of a README."""

from collections.abc import Sequence
from dataclasses import replace

from pipelines.facts import CareerRecord
from pipelines.ingestion.parsers.careers.records import combined
from pipelines.ingestion.parsers.pieces import Piece
from pipelines.ingestion.parsers.projects import is_readme, project_of
from pipelines.types import Document

_OWN_READERS = frozenset({"resume", "linkedin", "journey"})  # categories whose parsers read their records themselves


def document_records(document: Document) -> tuple[CareerRecord, ...]:
    """The records of a document as a whole, in order; their spans are those of its text."""
    if document.category in _OWN_READERS or not is_readme(document):
        return ()
    project = project_of(document)
    return (project,) if project else ()


def with_document_records(document: Document, pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces, each with the document's records of which it holds the end; spans are clipped to their pieces."""
    found: dict[int, list[CareerRecord]] = {}
    for record in document_records(document):
        start, end = record.span
        holding = [number for number, piece in enumerate(pieces) if piece.start < end <= piece.end]
        if holding and not pieces[holding[0]].facts:
            number = holding[0]
            clipped = record.model_copy(update={"span": (max(start, pieces[number].start), end)})
            found.setdefault(number, []).append(clipped)
    return [
        replace(piece, facts=combined(found[number])) if number in found else piece
        for number, piece in enumerate(pieces)
    ]
