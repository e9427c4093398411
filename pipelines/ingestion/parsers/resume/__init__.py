"""Parse a resume: one node per job, study and project with its facts; one node per other section."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Literal

from pydantic import Field

from pipelines.blocks import text_blocks
from pipelines.contacts import email_in, is_link
from pipelines.facts import CareerRecord, Facts, UnreadLine, records_of
from pipelines.ingestion.parsers.careers.dates import date_ranges
from pipelines.ingestion.parsers.careers.records import combined, date_fields, job_line, states, with_unread_lines
from pipelines.ingestion.parsers.careers.talks import names_talks
from pipelines.ingestion.parsers.careers.vocabulary import degree_score, has_school, has_title, is_break
from pipelines.ingestion.parsers.generic import GenericParser
from pipelines.ingestion.parsers.nodes import Limit, SpanParser
from pipelines.ingestion.parsers.pieces import Piece, Span, cut_span
from pipelines.ingestion.parsers.resume.entries import HEADING, ResumeEntry, split_entries
from pipelines.ingestion.parsers.resume.lines import DatedLine, dated_lines
from pipelines.ingestion.parsers.resume.person import with_name, with_name_of_file
from pipelines.ingestion.parsers.resume.readers import READERS, Reader, read_text
from pipelines.ingestion.parsers.resume.sections import SectionPart, parts_of, with_addresses
from pipelines.text import count_tokens
from pipelines.types import Block, Document, LineBox

_FALLBACK_CHARACTERS = 1000
_MAX_ITEM_WORDS = 4
# Sections whose dates are no career of their own.
_BESIDE_CAREER = frozenset(
    "volunteering publications talks interests awards references courses patents organizations availability".split()
)


def _with_experience(text: str, parts: Sequence[SectionPart]) -> list[SectionPart]:
    """The parts; if none is an experience section, unnamed ones that list dated positions become one.

    So do such lines below the person's name and address, in a resume without headings.
    """
    if any(part.section == "experience" for part in parts):
        return list(parts)
    titles = {part.title for part in parts if _lists_jobs(text, part)}
    listing = [not part.section and part.title in titles for part in parts]
    named = [replace(part, section="experience") if one else part for part, one in zip(parts, listing, strict=True)]
    if any(part.section == "experience" for part in named):
        return named
    return [cut for part in named for cut in _without_jobs_below(text, part)]


def _without_jobs_below(text: str, part: SectionPart) -> list[SectionPart]:
    """The part; the lines before the first section, from the first dated position on, are a part of their own."""
    if part.section != "contact" or part.title or not part.lines:
        return [part]
    lines = dated_lines(text, part.lines)
    jobs = [entry for entry in split_entries(lines).entries if _names_dated_job(entry)]
    at = next((number for number, one in enumerate(lines) if jobs and one in jobs[0].head and one.dates), 0)
    while at > 1 and lines[at - 1].named:
        at -= 1
    if not at:
        return [part]
    cut = next(number for number, line in enumerate(part.lines) if line.end > lines[at].line.start)
    return [replace(part, lines=part.lines[:cut]), SectionPart("experience", "", None, part.lines[cut:])]


def _names_dated_job(entry: ResumeEntry) -> bool:
    is_range = entry.dated is not None and entry.dated.is_range
    return is_range and any(has_title(part.words) for line in (*entry.head, *entry.after) for part in line.parts)


def _with_skills(text: str, parts: Sequence[SectionPart]) -> list[SectionPart]:
    """The parts; if none is a section of skills, unnamed ones that list short items and no dates become such."""
    if any(part.section in ("skills", "top_skills") for part in parts):
        return list(parts)
    return [replace(part, section="skills") if _lists_items(text, part) else part for part in parts]


def _lists_items(text: str, part: SectionPart) -> bool:
    if part.section or not part.heading or not part.lines:
        return False
    items = [item for line in part.lines for item in text[line.body : line.end].split(",")]
    are_short = all(len(item.split()) <= _MAX_ITEM_WORDS and not date_ranges(item) for item in items)
    return are_short and len(items) > 1 and not any(is_link(item) or email_in(item) for item in items)


def _lists_jobs(text: str, part: SectionPart) -> bool:
    return not part.section and any(map(_names_dated_job, split_entries(dated_lines(text, part.lines)).entries))


def resume_parts(text: str, blocks: Sequence[Block], boxes: Sequence[LineBox] = ()) -> list[SectionPart]:
    """The parts of a resume: its sections by their titles, and by what they hold."""
    parts = _with_experience(text, with_name(text, parts_of(text, blocks, boxes)))
    return [  # what is called "Presentation" and has dates is no summary, but lists talks
        replace(part, section="talks")
        if part.section == "summary"
        and names_talks(part.title)
        and any(date_ranges(text[line.start : line.end]) for line in part.lines)
        else part
        for part in _with_skills(text, parts)
    ]


def pieces_of(text: str, parts: Sequence[SectionPart], readers: Mapping[str, Reader], limit: int) -> list[Piece]:
    """The pieces of the parts, each of at most `limit` tokens, with its heading and what its section's reader reads."""
    return [part for piece in _with_headings(_pieces(text, parts, readers)) for part in _limited(text, piece, limit)]


def with_unread(text: str, parts: Sequence[SectionPart], pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces with the dated lines of the parts from which none of their records was read."""
    read = [record for piece in pieces for record in records_of(piece.facts)]
    return with_unread_lines(pieces, list(_unread_lines(text, parts, read)))


def _pieces(text: str, parts: Sequence[SectionPart], readers: Mapping[str, Reader]) -> Iterator[Piece]:
    """The pieces of each part in order; each heading is a piece of its own."""
    by_section = {section: read(text, parts) for section, read in readers.items()}
    for number, part in enumerate(parts):
        if part.heading:
            yield Piece(part.heading.start, part.heading.end, part.path, HEADING)
        if part.lines:
            yield from by_section[part.section][number] if part.section in by_section else [read_text(text, part)]


def _with_headings(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """The pieces, each heading joined to the piece that follows it.

    A heading with nothing below it (at the end, or before a column that continues another section) is joined to the
    piece before it.
    """
    last: Piece | None = None
    heading: Piece | None = None
    for piece in pieces:
        if piece.kind == HEADING:
            heading = replace(piece, start=heading.start) if heading else piece
            continue
        if heading and last and heading.section_path != piece.section_path:
            last, heading = replace(last, end=heading.end), None
        if last:
            yield last
        last, heading = (replace(piece, start=heading.start) if heading else piece), None
    if last:
        yield replace(last, end=heading.end) if heading else last
    elif heading:
        yield replace(heading, kind="text")


def _limited(text: str, piece: Piece, limit: int) -> list[Piece]:
    """The piece cut into parts of at most `limit` tokens; each part keeps the records that begin in it."""
    span = piece.start, piece.end
    if count_tokens(text[slice(*span)]) <= limit:
        return [piece]
    later = job_line(piece.facts) or piece.lead
    return [
        replace(
            piece,
            start=start,
            end=end,
            facts=_facts_of_part(piece.facts, start, end),
            lead=later if number else piece.lead,
        )
        for number, (start, end) in enumerate(_cut_between_lines(text, span, limit))
    ]


def _cut_between_lines(text: str, span: Span, limit: int) -> list[Span]:
    """The span cut between lines; a part can have more tokens than its lines have in sum, and is then cut again."""
    parts = cut_span(text, span, limit, count_tokens, by_line=True)
    for tighter in (limit * 3 // 4, limit // 2, limit // 4):
        parts = [
            smaller
            for start, end in parts
            for smaller in (
                cut_span(text, (start, end), tighter, count_tokens, by_line=True)
                if count_tokens(text[start:end]) > limit
                else [(start, end)]
            )
        ]
    return parts


def _facts_of_part(facts: Facts | None, start: int, end: int) -> Facts | None:
    """The records that begin in the span, their own spans clipped to it."""
    return combined(
        [
            record.model_copy(update={"span": (record.span[0], min(record.span[1], end))})
            for record in records_of(facts)
            if start <= record.span[0] < end
        ]
    )


def _unread_lines(text: str, parts: Sequence[SectionPart], read: Sequence[CareerRecord]) -> Iterator[UnreadLine]:
    """The lines whose dates are those of no record: something there was not read."""
    for part in parts:
        is_dated = part.lines and date_ranges(text[part.lines[0].start : part.lines[-1].end])
        lines = dated_lines(text, part.lines) if is_dated and part.section not in _BESIDE_CAREER else []
        for number, one in enumerate(lines):
            above = lines[number - 1].parts if number and not one.parts else ()  # what dates alone may date
            about = _may_be_about(one, part.section, [each.words for each in (*above, *one.parts)])
            is_column = about == "job" and "\t" in text[one.line.start : one.line.end]
            is_apart = one.anchor or is_column  # the dates, from a sentence
            ranges = [dates for dates in one.dates if dates.is_range] if is_apart and about else []
            unread = next((dates for dates in ranges if not states(read, dates, dates.start)), None)
            if unread and about:
                yield UnreadLine(span=(one.line.start, one.line.end), about=about, **date_fields(unread))


def _may_be_about(one: DatedLine, section: str, words: Sequence[str]) -> Literal["job", "study"] | None:
    """The kind of entry a dated line may state, by its section or else its words; None for a break and other lines."""
    if any(map(is_break, words)):
        return None
    if section == "education" or any(has_school(each) or degree_score(each) > 0 for each in words):
        return "study"
    is_titled = one.anchor != "inside" and any(map(has_title, words))
    return "job" if is_titled or section in ("experience", "contact") else None


class ResumeParser(SpanParser):
    """Parse a resume into nodes: one per job, study and project, one per other section.

    A section's heading belongs to its first node. A node over `max_tokens` is cut between lines; the header of a later
    part of a job repeats the job line. A text without any known section is split like a generic document.

    Attributes:
        max_tokens: Maximum size of a node in cl100k tokens.
    """

    category: ClassVar[str] = "resume"
    limit: ClassVar[Limit] = ("max_tokens", count_tokens)
    name: str = "resume"
    version: int = 31
    max_tokens: int = Field(default=800, ge=50)

    def split(self, document: Document) -> list[Piece]:
        """The pieces of the document."""
        pieces = self.pieces(document.text, document.blocks or text_blocks(document.text), document.boxes)
        return with_name_of_file(document.text, document.name, pieces)

    def pieces(self, text: str, blocks: Sequence[Block], boxes: Sequence[LineBox] = ()) -> list[Piece]:
        """The pieces of a text with these blocks, and with the positions of its lines if they are known."""
        parts = with_addresses(text, resume_parts(text, blocks, boxes))
        if any(part.section for part in parts if part.heading or part.section == "experience"):
            pieces = pieces_of(text, parts, READERS, self.max_tokens)
        else:
            whole = GenericParser(characters=_FALLBACK_CHARACTERS).pieces(text, blocks)
            pieces = [part for piece in whole for part in _limited(text, piece, self.max_tokens)]
        return with_unread(text, parts, pieces)
