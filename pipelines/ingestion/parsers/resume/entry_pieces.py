"""What the readers of a resume's sections share: its entries, and facts that stand in their span."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from pipelines.facts import CareerRecord, Facts, SeveralFacts
from pipelines.ingestion.parsers.career.dates import DateRange
from pipelines.ingestion.parsers.career.job_words import has_school, has_title
from pipelines.ingestion.parsers.career.standing import standing
from pipelines.ingestion.parsers.cuts import Piece
from pipelines.ingestion.parsers.resume.entries import Split, split_entries
from pipelines.ingestion.parsers.resume.marks import marked_lines
from pipelines.ingestion.parsers.resume.parts import Part

HEADING = "heading"

_MAX_REMARK = 200

Read = dict[int, list[Piece]]


def splits_of(text: str, parts: Sequence[Part], section: str) -> dict[int, Split]:
    """The entries of each part of a section; a part without a heading goes on with the one before."""
    found: dict[int, Split] = {}
    reach: int | None = None
    for number, part in parts_in(parts, section):
        marked = marked_lines(text, part.lines)
        known = None if part.heading or reach is None else reach
        split = split_entries(marked, known, has_school if section == "education" else has_title)
        if split.entries and (part.heading or reach is None):
            reach = sum(bool(one.parts or one.dates) for one in split.entries[0].head) - 1
        found[number] = split
    return found


def parts_in(parts: Sequence[Part], section: str) -> Iterator[tuple[int, Part]]:
    """The parts of a section that hold lines, with their numbers."""
    return ((number, part) for number, part in enumerate(parts) if part.section == section and part.lines)


def leading(split: Split, part: Part, lead: str, kind: str) -> list[Piece]:
    """What precedes the first entry: the rest of the one before the page's end, the head of a table, or a remark.

    A short remark is put to the entry that follows it, as a heading is.
    """
    if not split.leading:
        return []
    start, end = split.leading[0].line.start, split.leading[-1].line.end
    short = bool(split.entries) and not lead and end - start <= _MAX_REMARK
    return [Piece(start, end, path_of(part), HEADING if short else kind, lead=lead)]


def path_of(part: Part) -> tuple[str, ...]:
    """The section path of a part's pieces."""
    return (part.title,) if part.title else ()


def facts_in(text: str, records: Sequence[CareerRecord], start: int, end: int) -> Facts | None:
    """The records without what does not stand in their own spans, as far as these are within `start` and `end`."""
    own = ((record, (max(start, record.span[0]), min(end, record.span[1]))) for record in records)
    known = [checked for record, span in own if (checked := standing(record, text[slice(*span)]))]
    return SeveralFacts(records=tuple(known)) if len(known) > 1 else known[0] if known else None


def dates_of(dated: DateRange | None) -> dict[str, Any]:
    """The fields of a dated record."""
    if dated is None:
        return {}
    return {
        "date_range": dated.text,
        "start_month": dated.start_month,
        "end_month": dated.end_month,
        "current": dated.current,
    }


def year_of(dated: DateRange | None) -> int | None:
    """The year in which it ended, this year for what goes on."""
    if dated is None:
        return None
    return datetime.now(UTC).year if dated.current else int((dated.end_month or dated.start_month)[:4])
