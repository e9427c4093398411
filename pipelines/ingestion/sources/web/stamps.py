"""What a list says of when a page changed, once it can be relied on."""

from datetime import UTC, date, datetime, time, timedelta

_SETTLED = timedelta(minutes=2)  # clocks differ, and caches lag
_LAST_ZONE = timedelta(hours=14)  # a day, or a time without a zone, is over everywhere so long after it is in UTC


def settled(stamp: str, now: datetime) -> str:
    """The stamp, if a page that is edited from now on will have another one; else empty.

    A day tells only of edits until it is over, a month or a year likewise; midnight is what some sites write for a day.
    """
    end = _end(stamp)
    return stamp if end and end < now else ""


def _end(stamp: str) -> datetime | None:
    """The moment after which an edit has another stamp; None where that cannot be told."""
    try:
        if len(stamp) == 4:
            return _after(date(int(stamp), 12, 31))
        if len(stamp) == 7:
            return _after(date.fromisoformat(f"{stamp}-28") + timedelta(days=3))
        moment = datetime.fromisoformat(stamp)
        if moment.time() == time.min:
            return _after(moment.date())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC) + _LAST_ZONE) + _SETTLED
    except (ValueError, OverflowError):
        return None


def _after(day: date) -> datetime:
    return datetime.combine(day + timedelta(days=1), time.min, UTC) + _LAST_ZONE
