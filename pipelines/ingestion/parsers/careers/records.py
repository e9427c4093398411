"""Career records: their dates, their check against the text, and the facts of a piece made of them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from pipelines.facts import (
    CareerRecord,
    Facts,
    JobFacts,
    PersonFacts,
    SeveralFacts,
    UnreadLine,
    records_of,
)
from pipelines.ingestion.parsers.careers.dates import DateRange
from pipelines.ingestion.parsers.pieces import Piece
from pipelines.text import plain

_MAIN = {
    "skills": "skills",
    "language": "language",
    "education": "institution",
    "project": "name",
    "certification": "name",
    "talk": "title",
    "summary": "text",
}


def supported_by(record: CareerRecord, passage: str) -> CareerRecord | None:
    """Return the record without the values that do not occur in the passage; None if its main value does not.

    White space does not count; languages and topics, which have names of ours, stay. A date range that does not occur
    takes its months with it.
    """
    bare, at = "".join(passage.split()), 0

    def is_stated(value: str) -> bool:
        nonlocal at
        squeezed = "".join(value.split())
        place = bare.find(squeezed, at)  # values stand in the order of the text, so that most are near the one before
        at = max(at, place)
        return place >= 0 or squeezed in bare or squeezed in _without_markup(passage)

    dropped: dict[str, object] = {}
    for name, value in record:
        if isinstance(value, str) and name not in ("type", "start_month", "end_month"):
            if value and not is_stated(value):
                dropped[name] = ""
        elif isinstance(value, tuple) and name not in ("span", "languages", "topics"):
            kept = tuple(filter(is_stated, value))
            dropped |= {name: kept} if kept != value else {}
    if dropped.get("date_range") == "":
        dropped |= {"start_month": "", "end_month": None, "current": False}
    checked = record.model_copy(update=dropped) if dropped else record
    return checked if _main_value(checked) else None


@lru_cache(maxsize=1)
def _without_markup(passage: str) -> str:
    """The words of the passage without white space; cached for the records of one passage."""
    return "".join(plain(passage).split())


def _main_value(record: CareerRecord) -> object:
    if isinstance(record, PersonFacts):
        return record.name or record.email or record.links or record.phone
    if isinstance(record, JobFacts):
        return record.company or record.position
    return getattr(record, _MAIN[record.type])


def combined(records: Sequence[CareerRecord]) -> Facts | None:
    """The records as the facts of one node: SeveralFacts if there are several, None if there is none."""
    return SeveralFacts(records=tuple(records)) if len(records) > 1 else records[0] if records else None


def job_line(facts: Facts | None) -> str:
    """`Company | Position | Location | Date Range` of a job, without empty values; "" for other facts."""
    if not isinstance(facts, JobFacts):
        return ""
    return " | ".join(filter(None, (facts.company, facts.position, facts.location, facts.date_range)))


def date_fields(dated: DateRange | None) -> dict[str, Any]:
    """The date fields of a record, as keyword arguments; empty without a date."""
    if dated is None:
        return {}
    return {
        "date_range": dated.text,
        "start_month": dated.start_month,
        "end_month": dated.end_month,
        "current": dated.current,
    }


def end_year(dated: DateRange | JobFacts | None) -> int | None:
    """The year in which a range or a job ended; this year if it is still open; None without dates."""
    if dated is None or not dated.start_month:
        return None
    return datetime.now(UTC).year if dated.current else int((dated.end_month or dated.start_month)[:4])


def states(records: Sequence[CareerRecord], dates: DateRange, place: int) -> bool:
    """True if one of the records whose span holds a place has these dates."""
    held = (record for record in records if record.span[0] <= place < record.span[1])
    stated = {(getattr(record, "start_month", ""), getattr(record, "end_month", None)) for record in held}
    return (dates.start_month, dates.end_month) in stated


def with_unread_lines(pieces: Sequence[Piece], unread: Sequence[UnreadLine]) -> list[Piece]:
    """The pieces, each with the lines in it from which no job or study was read."""
    return [
        replace(piece, facts=combined([*records_of(piece.facts), *held]))
        if (held := [line for line in unread if piece.start <= line.span[0] < line.span[1] <= piece.end])
        else piece
        for piece in pieces
    ]
