"""What a status means that is no page."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from pipelines.errors import UNTIL_MENDED, SourceError
from pipelines.ingestion.sources.outages import LATER
from pipelines.wording import lasting

MOVED = frozenset({301, 302, 303, 307, 308})
BUSY = frozenset({429, 503})
_GONE = frozenset({404, 410})
_VALIDATORS = {"If-None-Match": "etag", "If-Modified-Since": "last-modified"}


class Gone(SourceError):
    """Raised when there is nothing at an address: it answers 404 or 410."""


class Closed(SourceError):
    """Raised when a server refuses an address: it answers any other 4xx."""


class Unreached(SourceError):
    """Raised when a host cannot be connected to, breaks off, or takes too long."""


class Unasked(SourceError):
    """Raised for a page of a host that is not asked any more, for now."""


def unanswered(name: str, status: int) -> SourceError:
    """The error that a status means which comes with no page of that name."""
    if status in _GONE:
        return Gone(
            f"{name} is gone: it answers {status}.", hint="Leave it out, or look for it elsewhere.", wait=UNTIL_MENDED
        )
    if 400 <= status < 500:
        return Closed(
            f"{name} is refused: it answers {status}.", hint="What needs a login is fetched by hand.", wait=UNTIL_MENDED
        )
    return SourceError(f"{name} answers {status}.", hint=LATER)


def busy(host: str, status: int, wait: float | None) -> SourceError:
    """The error of a host that answers nobody now."""
    asks = f" and asks to wait {lasting(wait)}" if wait else ""
    return SourceError(f"{host} is busy: it answers {status}{asks}.", hint=LATER, wait=wait or 0.0)


def validators_of(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that ask next time whether a page changed."""
    return {asks: headers[tells][:500] for asks, tells in _VALIDATORS.items() if headers.get(tells)}


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a `Retry-After` asks for; None where it asks for nothing that can be read."""
    value = headers.get("retry-after", "").strip()
    if value.isdecimal():
        return float(value[:9])
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max((moment - datetime.now(UTC)).total_seconds(), 0.0)
