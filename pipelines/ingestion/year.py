"""YEAR: the year of a document, from the most reliable evidence."""

import re
from datetime import UTC, datetime

from pipelines.ingestion.parsers.careers.dates import date_ranges
from pipelines.types import Document

_NAME_DATE = re.compile(r"(?<!\d)(\d{4})[-_](\d{1,2})[-_](\d{1,2})(?!\d)")
_NAME_YEAR = re.compile(r"(?<!\d)(19[5-9]\d|20\d\d)(?!\d)")
_DATELINE = re.compile(
    r"(?:(?:by|von|par|por|di|published|posted|updated|date|datum|veröffentlicht|publié|publicado|pubblicato|le|el|il|am|on)"
    r"\b[^\d\n]{0,60})?",
    re.IGNORECASE,
)
_HEAD_LINES = 6


def year_of(document: Document, stem: str, fiscal: int | None) -> int | None:
    """The first year that is known: front matter, fiscal year, date in the name, date of publication, year in the
    name, then the text: a resume's or profile's latest year, else the date in its first lines. None if none is known.

    Args:
        document: Its category must be set.
        stem: Its folded name without the ending.
        fiscal: The fiscal year of its name or its first lines.
    """
    declared = document.metadata.get("year")
    if isinstance(declared, int):
        return declared
    dated = name_date(stem) or document.published_at
    in_name = _NAME_YEAR.search(stem)
    known = fiscal or (dated.year if dated else int(in_name[1]) if in_name else None)
    if known:
        return known
    career = document.category in ("resume", "linkedin")
    return latest_year(document.text) if career else dateline_year(document.text)


def head_of(text: str) -> str:
    """The first lines that are not empty, which may hold a title and a date."""
    lines = [line.strip() for line in text[:3_000].split("\n") if line.strip()]
    return "\n".join(line[:200] for line in lines[:_HEAD_LINES])


def name_date(stem: str) -> datetime | None:
    """The date of a `YYYY-MM-DD` in a name; None without one."""
    match = _NAME_DATE.search(stem)
    if match is None:
        return None
    try:
        return datetime(int(match[1]), int(match[2]), int(match[3]), tzinfo=UTC)
    except ValueError:
        return None


def latest_year(text: str) -> int | None:
    """The latest year in which a career entry began or ended; future years (a graduation) do not count."""
    now = datetime.now(UTC).year
    years = [int((found.end_month or found.start_month)[:4]) for found in date_ranges(text[:100_000])]
    return max((year for year in years if year <= now), default=None)


def dateline_year(text: str) -> int | None:
    """The year of a date that is alone in one of the first lines ("March 3, 2021", "By Ann | 3 March 2021")."""
    for line in head_of(text).split("\n"):
        ranges = date_ranges(line) if len(line) <= 120 else []
        if len(ranges) != 1 or ranges[0].end_month or ranges[0].current or len(ranges[0].text) < 7:
            continue
        before, after = line[: ranges[0].start].strip(" \t*_#|·•—–-:,("), line[ranges[0].end :].strip(" \t*_|·•—–-:,.)")
        if not after and (not before or _DATELINE.fullmatch(before) or "|" in line or "·" in line):
            return int(ranges[0].start_month[:4])
    return None
