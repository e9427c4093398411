"""Parse a LinkedIn profile: nodes by section, several jobs per node, the jobs of a company together."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

from pydantic import Field

from pipelines.blocks import text_blocks
from pipelines.facts import JobFacts, records_of
from pipelines.ingestion.parsers.careers.records import combined
from pipelines.ingestion.parsers.linkedin.export import TYPESET_READERS, is_typeset, typeset_parts
from pipelines.ingestion.parsers.linkedin.jobs import read_profile_jobs
from pipelines.ingestion.parsers.nodes import Limit, SpanParser
from pipelines.ingestion.parsers.pieces import Piece
from pipelines.ingestion.parsers.resume import pieces_of, resume_parts, with_unread
from pipelines.ingestion.parsers.resume.readers import READERS
from pipelines.text import count_tokens
from pipelines.types import Document

_PROFILE_READERS = {**READERS, "experience": read_profile_jobs}


def _packed(text: str, pieces: Sequence[Piece], limit: int) -> list[Piece]:
    """The pieces; those of one section that have facts are one where they fit, the jobs of a company first."""
    for are_together in (_are_of_one_company, _are_of_one_section):
        pieces = _joined(text, pieces, limit, are_together)
    return [replace(piece, section_path=(*piece.section_path, *_only_company(piece))) for piece in pieces]


def _joined(
    text: str, pieces: Sequence[Piece], limit: int, are_together: Callable[[Piece, Piece], bool]
) -> list[Piece]:
    joined: list[Piece] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if last and are_together(last, piece) and count_tokens(text[last.start : piece.end]) <= limit:
            facts = combined([*records_of(last.facts), *records_of(piece.facts)])
            year = max(filter(None, (last.year, piece.year)), default=None)
            joined[-1] = replace(last, end=piece.end, facts=facts, year=year)
        else:
            joined.append(piece)
    return joined


def _are_of_one_section(one: Piece, other: Piece) -> bool:
    return one.kind == other.kind and one.section_path == other.section_path and bool(one.facts and other.facts)


def _are_of_one_company(one: Piece, other: Piece) -> bool:
    companies = _companies(one)
    return _are_of_one_section(one, other) and bool(companies) and companies == _companies(other)


def _companies(piece: Piece) -> list[str]:
    """The companies of the jobs of a piece, each once; that of its lead if it is a later part of a job."""
    named = (record.company for record in records_of(piece.facts) if isinstance(record, JobFacts))
    return list(dict.fromkeys([*named] or [piece.lead.partition(" | ")[0]] * (piece.kind == "job")))


def _only_company(piece: Piece) -> list[str]:
    companies = _companies(piece)
    return companies if len(companies) == 1 and companies[0] else []


class LinkedInParser(SpanParser):
    """Parse a LinkedIn profile into nodes by section, with the facts of each.

    Jobs are packed into nodes, those of a company into one if they fit. Later positions at a company repeat its name;
    the header of a node that begins with such a position names the company, and that of a later part of a long job has
    the job line. Every fact occurs in its node's span or in its header.

    Attributes:
        max_tokens: Maximum size of a node in cl100k tokens.
    """

    category: ClassVar[str] = "linkedin"
    limit: ClassVar[Limit] = ("max_tokens", count_tokens)
    name: str = "linkedin"
    version: int = 18
    max_tokens: int = Field(default=800, ge=50)

    def split(self, document: Document) -> list[Piece]:
        """The pieces of the document; its sections are those of a resume unless LinkedIn typeset it."""
        text = document.text
        if is_typeset(document):
            pieces = pieces_of(text, typeset_parts(document), TYPESET_READERS, self.max_tokens)
        else:
            parts = resume_parts(text, document.blocks or text_blocks(text), document.boxes)
            pieces = with_unread(text, parts, pieces_of(text, parts, _PROFILE_READERS, self.max_tokens))
        return _packed(text, pieces, self.max_tokens)
