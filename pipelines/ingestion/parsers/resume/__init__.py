"""PARSE a resume: one job is one node, with its facts; the other sections are nodes of their own kind."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pydantic import Field

from pipelines.ingestion.parsers.career.job_words import has_title
from pipelines.ingestion.parsers.career.limits import within
from pipelines.ingestion.parsers.cuts import Piece
from pipelines.ingestion.parsers.generic import split_generic
from pipelines.ingestion.parsers.nodes import SpanParser
from pipelines.ingestion.parsers.resume.entries import split_entries
from pipelines.ingestion.parsers.resume.entry_pieces import HEADING
from pipelines.ingestion.parsers.resume.marks import marked_lines
from pipelines.ingestion.parsers.resume.parts import Part, parts_of
from pipelines.ingestion.parsers.resume.pieces import READERS, read_text
from pipelines.ingestion.structure import text_blocks
from pipelines.text import count_tokens
from pipelines.types import Block, Document, LineBox

_FALLBACK_CHARACTERS = 1000


def split_resume(
    text: str, blocks: Sequence[Block] | None = None, boxes: Sequence[LineBox] = (), *, max_tokens: int = 800
) -> list[Piece]:
    """The pieces of a resume in order, covering all of its text.

    A job, a study and a project is a piece each, any other section is one; the heading of a section belongs to its
    first piece. A piece over `max_tokens` is cut between its lines, and the later parts of a job repeat the job line as
    their `lead`. A text without a section that is known is cut like any other.

    Args:
        text: Canonical text.
        blocks: Its blocks; None = those of plain text.
        boxes: Where its lines stand on their pages, if they do.
        max_tokens: The most that a piece holds, in cl100k tokens.
    """
    found = _with_experience(text, parts_of(text, text_blocks(text) if blocks is None else blocks, boxes))
    if not any(part.section for part in found if part.heading):
        pieces = split_generic(text, blocks, characters=_FALLBACK_CHARACTERS)
    else:
        pieces = list(_joined(text, found))
    return [part for piece in pieces for part in within(text, piece, max_tokens)]


def _with_experience(text: str, parts: Sequence[Part]) -> list[Part]:
    """The parts; where none is known to hold jobs, those of unknown name that list positions with dates do."""
    if any(part.section == "experience" for part in parts):
        return list(parts)
    return [replace(part, section="experience") if _lists_jobs(text, part) else part for part in parts]


def _lists_jobs(text: str, part: Part) -> bool:
    if part.section or not part.lines:
        return False
    entries = split_entries(marked_lines(text, part.lines)).entries
    named = [one for entry in entries if entry.dated and entry.dated.end_month for one in (*entry.head, *entry.after)]
    return any(has_title(words.words) for one in named for words in one.parts)


def _joined(text: str, parts: Sequence[Part]) -> Iterator[Piece]:
    """The pieces of all parts, the headings put to them.

    A heading goes with what follows under it; one with nothing under it, at the end or before a column that goes on
    with another section, goes with what precedes it.
    """
    last: Piece | None = None
    bare: Piece | None = None
    for piece in _pieces(text, parts):
        if piece.kind == HEADING:
            bare = replace(piece, start=bare.start) if bare else piece
            continue
        if bare and last and bare.section_path != piece.section_path:
            last, bare = replace(last, end=bare.end), None
        if last:
            yield last
        last, bare = (replace(piece, start=bare.start) if bare else piece), None
    if last:
        yield replace(last, end=bare.end) if bare else last
    elif bare:
        yield replace(bare, kind="text")


def _pieces(text: str, parts: Sequence[Part]) -> Iterator[Piece]:
    """The pieces of each part in order, each heading a piece of its own."""
    ready = {section: read(text, parts) for section, read in READERS.items()}
    for number, part in enumerate(parts):
        if part.heading:
            yield Piece(part.heading.start, part.heading.end, (part.title,) if part.title else (), HEADING)
        if part.lines:
            yield from ready[part.section][number] if part.section in ready else read_text(text, part)


class ResumeParser(SpanParser):
    """Nodes of a resume: a job each, and the other sections."""

    name: str = "resume"
    version: int = 3
    max_tokens: int = Field(default=800, ge=50)

    def fits(self, text: str) -> bool:
        """Whether the text has at most `max_tokens` tokens."""
        return count_tokens(text) <= self.max_tokens

    def split(self, document: Document) -> list[Piece]:
        """The pieces of the document."""
        return split_resume(document.text, document.blocks or None, document.boxes, max_tokens=self.max_tokens)
