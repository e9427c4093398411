"""What a PDF states of itself: its title, its author, and when it was changed."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone

from pipelines.ingestion.loaders.pdf.words import readable
from pipelines.text import fold

_NO_TITLE = re.compile(
    r"untitled|\(?anonymous\)?|microsoft word.*|.*\.(?:docx?|indd|pdf|tex|rtf|odt|dvi)|\W*", re.IGNORECASE
)
_NO_AUTHOR = re.compile(r"\(?anonymous\)?|unknown|\W*", re.IGNORECASE)
_MOMENT = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:Z|([+-])(\d\d)'?(\d\d)?)?")


def title_of(facts: Mapping[str, str], text: str, heading: str) -> str:
    """What the file states, unless it says nothing or few of its words stand in the text; else the heading."""
    stated = _stated(facts, "Title", _NO_TITLE)
    named = _words(stated)
    if named and len(named & _words(text)) >= 0.5 * len(named):
        return stated
    return heading or stated


def author_of(facts: Mapping[str, str]) -> str:
    """Who the file says wrote it, or nothing."""
    return _stated(facts, "Author", _NO_AUTHOR)


def _words(text: str) -> set[str]:
    return {word for word in fold(text).split() if len(word) > 3}


def _stated(facts: Mapping[str, str], key: str, nothing: re.Pattern[str]) -> str:
    value = " ".join(readable(facts.get(key, "")).split())
    return "" if nothing.fullmatch(value) else value[:300]


def moment(value: str) -> datetime | None:
    """The moment of a PDF date such as `D:20240203040506+02'00'`; None if it is none."""
    match = _MOMENT.match(value)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part) if part else None for part in match.groups()[:6])
    offset = timedelta(hours=int(match[8] or 0), minutes=int(match[9] or 0)) * (-1 if match[7] == "-" else 1)
    try:
        zone = timezone(offset) if match[7] else UTC
        return datetime(year or 1, month or 1, day or 1, hour or 0, minute or 0, second or 0, tzinfo=zone)
    except ValueError:
        return None
