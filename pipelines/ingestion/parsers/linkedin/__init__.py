"""Parse a LinkedIn profile: nodes by section, several jobs per node, the jobs of a company together."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import ClassVar, Literal

from pydantic import Field

from pipelines.facts import (
    CareerRecord,
    CertificationFacts,
    EducationFacts,
    JobFacts,
    ProjectFacts,
    UnreadLine,
    records_of,
)
from pipelines.headings import trim_span
from pipelines.ingestion.parsers.careers.dates import durations
from pipelines.ingestion.parsers.careers.records import (
    combined,
    date_fields,
    states,
    supported_by,
    with_unread_lines,
)
from pipelines.ingestion.parsers.careers.vocabulary import company_score, is_break, title_score
from pipelines.ingestion.parsers.linkedin.entries import READERS, trailing_dates
from pipelines.ingestion.parsers.linkedin.export import (
    is_typeset,
    typeset_jobs,
    typeset_person,
    typeset_schools,
    typeset_sections,
)
from pipelines.ingestion.parsers.linkedin.jobs import JobGroup, LinkedInEntry, job_groups, row_dates
from pipelines.ingestion.parsers.linkedin.sections import ProfileSection, profile_sections
from pipelines.ingestion.parsers.nodes import SpanParser
from pipelines.ingestion.parsers.pieces import Piece, cut_span
from pipelines.ingestion.parsers.resume import ResumeParser
from pipelines.text import count_tokens
from pipelines.types import Document

_TYPESET = {"person": typeset_person, "education": typeset_schools}
_KINDS = {"experience": "job"}
_DATED: dict[str, Literal["job", "study"]] = {"experience": "job", "education": "study", "other": "job"}


@dataclass(frozen=True, slots=True)
class _PackingUnit:
    """A span that is not cut further, with its records; if `closed`, no other unit is packed with it."""

    start: int
    end: int
    records: tuple[CareerRecord, ...] = ()
    companies: tuple[str, ...] = ()
    lead: str = ""
    closed: bool = False


def _units(section: ProfileSection, text: str, span: tuple[int, int], limit: int) -> Iterator[_PackingUnit]:
    """The units of a section: companies, or their jobs if a company is too long, or parts of a long job."""
    groups = _groups(section, text)
    starts = [span[0], *(group.entries[0].start for group in groups[1:])]
    for group, start, end in zip(groups, starts, [*starts[1:], span[1]], strict=False):
        whole = _PackingUnit(*trim_span(text, start, end), _records(group.entries), (group.lead,))
        if _fits(text, whole.start, whole.end, limit):
            yield whole
        else:
            yield from _apart(group, text, whole, limit)
    if not groups:
        yield from (_PackingUnit(*part, closed=True) for part in _cut(text, span, limit))


def _apart(group: JobGroup, text: str, whole: _PackingUnit, limit: int) -> Iterator[_PackingUnit]:
    """The units of a company that is too long for one piece."""
    starts = [whole.start, *(entry.start for entry in group.entries[1:])]
    for at, (entry, start, end) in enumerate(zip(group.entries, starts, [*starts[1:], whole.end], strict=True)):
        parts = _cut(text, trim_span(text, start, end), limit)
        for number, part in enumerate(parts):
            lead = entry.lead if number else group.lead if at else ""
            records = _records([entry]) if part[0] <= entry.start < part[1] else ()
            yield _PackingUnit(*part, records, whole.companies, lead, closed=len(parts) > 1)


def _groups(section: ProfileSection, text: str) -> list[JobGroup]:
    if section.name == "experience":
        return typeset_jobs(section.rows) if section.typeset else job_groups(section.rows)
    if section.typeset and section.name in _TYPESET:
        return [JobGroup((entry,)) for entry in _TYPESET[section.name](section)]
    if section.name not in READERS:
        return []
    return [JobGroup((entry,)) for entry in READERS[section.name][1](section, text)]


def _records(entries: Sequence[LinkedInEntry]) -> tuple[CareerRecord, ...]:
    return tuple(entry.record for entry in entries if entry.record and not _is_break(entry.record))


def _unread_lines(section: ProfileSection, text: str) -> Iterator[UnreadLine]:
    """The rows of dates in a section of jobs or schools that are those of no entry: something there was not read.

    So is a row of dates and a duration in a section of an unknown name: jobs may be there.
    """
    if section.typeset or section.name not in _DATED:
        return
    read = [entry.record for group in _groups(section, text) for entry in group.entries if entry.record]
    for row in section.rows:
        dated = trailing_dates(row.words) if section.name == "education" else row_dates(row)
        is_range = dated is not None and bool(dated.end_month or dated.current)
        is_doubtful = section.name == "other" and not durations(row.words)
        if dated and is_range and not is_doubtful and not states(read, dated, row.start):
            yield UnreadLine(span=(row.start, row.end), about=_DATED[section.name], **date_fields(dated))


def _is_break(record: CareerRecord) -> bool:
    """True for a time without work ("Career break", "Parental leave"), which a profile lists among the jobs."""
    if not isinstance(record, JobFacts) or title_score(record.position) >= 1 or company_score(record.company) >= 1:
        return False
    return is_break(record.company) or is_break(record.position)


def _packed(text: str, units: Iterable[_PackingUnit], limit: int) -> list[_PackingUnit]:
    packed: list[_PackingUnit] = []
    for unit in units:
        last = packed[-1] if packed else None
        if last and not last.closed and not unit.closed and _fits(text, last.start, unit.end, limit):
            companies = tuple(dict.fromkeys((*last.companies, *unit.companies)))
            packed[-1] = replace(last, end=unit.end, records=(*last.records, *unit.records), companies=companies)
        else:
            packed.append(unit)
    return packed


def _piece(text: str, section: ProfileSection, unit: _PackingUnit) -> Piece:
    title = (section.title.words,) if section.title else ()
    company = unit.companies if len(unit.companies) == 1 and unit.companies[0] else ()
    passage = f"{text[unit.start : unit.end]}\n{unit.lead}"
    records = [record for each in unit.records if (record := supported_by(_clipped(each, unit), passage))]
    kind = _KINDS.get(section.name) or READERS.get(section.name, ("text", None))[0]
    return Piece(unit.start, unit.end, title + company, kind, combined(records), _year(records), unit.lead)


def _clipped(record: CareerRecord, unit: _PackingUnit) -> CareerRecord:
    """The record with its span clipped to the unit, for a long job that was cut."""
    return record.model_copy(update={"span": (max(record.span[0], unit.start), min(record.span[1], unit.end))})


def _year(records: Sequence[CareerRecord]) -> int | None:
    """The latest end year of the records, this year if one is still open; None without dates."""
    years: list[int] = []
    for record in records:
        if isinstance(record, (JobFacts, EducationFacts, CertificationFacts, ProjectFacts)) and record.start_month:
            last = record.end_month or record.start_month
            years.append(datetime.now(UTC).year if record.current else int(last[:4]))
    return max(years, default=None)


def _fits(text: str, start: int, end: int, limit: int) -> bool:
    return count_tokens(text[start:end]) <= limit


def _cut(text: str, span: tuple[int, int], limit: int) -> list[tuple[int, int]]:
    """The span in parts that fit; smaller limits are tried because tokens do not add up exactly."""
    size, parts = limit, [span]
    while size > 1 and not all(_fits(text, *part, limit) for part in parts):
        parts = cut_span(text, span, size, count_tokens)
        size = size * 3 // 4
    return parts


def _jobs(pieces: Sequence[Piece]) -> bool:
    """True if a piece states a job."""
    return any(isinstance(record, JobFacts) for piece in pieces for record in records_of(piece.facts))


class LinkedInParser(SpanParser):
    """Parse a LinkedIn profile into nodes by section, with the facts of each.

    Jobs are packed into nodes, those of a company into one if they fit. Later positions at a company repeat its name;
    the header of a node that begins with such a position names the company, and that of a later part of a long job has
    the job line. Every fact occurs in its node's span or in its header.

    Attributes:
        max_tokens: Maximum size of a node in cl100k tokens.
    """

    category: ClassVar[str] = "linkedin"
    name: str = "linkedin"
    version: int = 8
    max_tokens: int = Field(default=800, ge=50)

    def fits(self, text: str) -> bool:
        """True if the text has at most `max_tokens` cl100k tokens."""
        return count_tokens(text) <= self.max_tokens

    def split(self, document: Document) -> list[Piece]:
        """The pieces of the document; those of a resume if it is laid out as one, not as LinkedIn lays out jobs."""
        typeset = is_typeset(document)
        pieces = self._profile(document, typeset_sections(document) if typeset else profile_sections(document))
        if typeset or _jobs(pieces):
            return pieces
        written = ResumeParser(max_tokens=self.max_tokens).split(document)
        return written if _jobs(written) else pieces

    def _profile(self, document: Document, sections: Sequence[ProfileSection]) -> list[Piece]:
        text = document.text
        pieces: list[Piece] = []
        begin = 0
        for section, following in zip(sections, [*sections[1:], None], strict=False):
            end = following.start if following else len(text)
            if following and not section.rows and section.name != "person":
                continue
            units = _units(section, text, trim_span(text, begin, end), self.max_tokens)
            pieces.extend(_piece(text, section, unit) for unit in _packed(text, units, self.max_tokens))
            begin = end
        if begin < len(text) and text[begin:].strip():
            pieces.extend(Piece(*part) for part in _cut(text, trim_span(text, begin, len(text)), self.max_tokens))
        return with_unread_lines(pieces, [line for section in sections for line in _unread_lines(section, text)])
