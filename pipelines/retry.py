"""Retry-After: the wait that a server asks for."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_MAX_DIGITS = 11  # of seconds to wait; a longer number is nonsense


def retry_after(header: str) -> float | None:
    """The seconds in a Retry-After header, a number or a date; None where it has none that can be read."""
    stated = header.strip()
    try:
        until = parsedate_to_datetime(stated)
    except (ValueError, TypeError, IndexError, OverflowError):
        return seconds_in(stated)
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max((until - datetime.now(UTC)).total_seconds(), 0.0)


def seconds_in(value: str | None) -> float | None:
    """The number of seconds in a header; None where it holds none."""
    whole, _, part = (value or "").partition(".")
    digits = whole + part
    return float(value) if value and digits.isascii() and digits.isdigit() and len(whole) <= _MAX_DIGITS else None
