"""The schools of a LinkedIn profile, and the dates that a line ends in."""

import re
from collections.abc import Sequence

from pipelines.facts import EducationFacts
from pipelines.ingestion.parsers.career.career_words import (
    DEGREE_ENDINGS,
    DEGREE_WORDS,
    INSTITUTION_ENDINGS,
    INSTITUTION_WORDS,
)
from pipelines.ingestion.parsers.career.dates import DateRange, date_ranges, durations
from pipelines.ingestion.parsers.linkedin.jobs import Entry
from pipelines.ingestion.parsers.linkedin.lines import Row
from pipelines.ingestion.parsers.linkedin.sections import ProfileSection
from pipelines.text import fold

_EDGES = " \t\n·•|,;:–—-()"
_WORD = re.compile(r"[^\W\d_][\w.'’-]*")
_MORE = re.compile(
    r"(?:activities and societies|grade|aktivitäten|note|activités|notes|actividades|nota|atividades|attività|voto)\b"
    r".{0,40}:",
    re.IGNORECASE,
)
_DETAILS = 2


def schools(section: ProfileSection, text: str) -> list[Entry]:
    """The institutions in order, each with the degree, the subject and the years that stand under it."""
    found: list[list[Row]] = []
    rows = section.rows
    dated = False
    for at, row in enumerate(rows):
        if found and _belongs(row, len(found[-1]), dated, rows[at + 1] if at + 1 < len(rows) else None):
            found[-1].append(row)
            dated = dated or years_of(row) is not None
        else:
            found.append([row])
            dated = years_of(row) is not None
    return [_school(entry) for entry in found]


def _belongs(row: Row, above: int, dated: bool, following: Row | None) -> bool:
    """Whether the row says more of the school above it, rather than naming the next one.

    Args:
        row: The row.
        above: How many rows that school has already.
        dated: Whether one of them holds its years.
        following: The row below, if any.
    """
    if row.bullet or _MORE.match(row.words):
        return True
    if years_of(row) and not dated:
        return True
    if _is_institution(row.words) and not _is_degree(row.words):
        return False
    if dated or above > _DETAILS:
        return len(row.words) > 120 or row.words.endswith(".")
    return _is_degree(row.words) or following is None or not years_of(following) or not _is_institution(row.words)


def _school(rows: Sequence[Row]) -> Entry:
    span = rows[0].start, rows[-1].end
    dated = next((row for row in rows[: 1 + _DETAILS] if years_of(row)), None)
    years = years_of(dated) if dated else None
    stated = [without_dates(row.words) for row in rows[: 1 + _DETAILS] if not _MORE.match(row.words)]
    named, *details = stated or [""]
    said = ", ".join(filter(None, details)) if details else ""
    degree, _, area = said.partition(", ")
    if not _is_degree(degree) and not area:
        degree, area = "", degree
    record = EducationFacts(
        span=span,
        institution=named[:200],
        degree=degree[:200],
        area=area[:200],
        **date_fields(years),
    )
    return Entry(*span, record if named else None)


def years_of(row: Row) -> DateRange | None:
    """The dates that a row ends in: in brackets, after a dot or a comma, or alone."""
    ranges = date_ranges(row.words)
    if not ranges:
        return None
    last = ranges[-1]
    rest = row.words[last.end :]
    for start, end in durations(rest):
        rest = rest[:start] + rest[end:]
    before = row.words[: last.start].rstrip()
    return last if not rest.strip(_EDGES) and (not before or before[-1] in "(·,–-|") else None


def without_dates(words: str) -> str:
    years = years_of(Row(0, 0, words))
    return (words[: years.start] if years else words).rstrip(" \t·•|,;:–—-(").strip()


def date_fields(years: DateRange | None) -> dict[str, str | bool | None]:
    if years is None:
        return {}
    start, end = years.start_month, years.end_month
    return {"date_range": years.text, "start_month": start, "end_month": end, "current": years.current}


def _is_institution(words: str) -> bool:
    folded = _WORD.findall(fold(words))
    return any(word in INSTITUTION_WORDS or word.endswith(tuple(INSTITUTION_ENDINGS)) for word in folded)


def _is_degree(words: str) -> bool:
    folded = [word.rstrip(".") for word in _WORD.findall(fold(words).partition(",")[0])]
    return any(word in DEGREE_WORDS or word.endswith(tuple(DEGREE_ENDINGS)) for word in folded)
