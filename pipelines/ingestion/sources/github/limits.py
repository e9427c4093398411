"""What GitHub asks of a client that asks too much: its primary and secondary rate limits."""

from collections.abc import Mapping

from pipelines.errors import SourceError
from pipelines.ingestion.sources import outages

RATE_LIMIT = "its rate limit"

_UNSAID = 60.0  # seconds, doubled each time, where GitHub names no time
_SECONDARY = ("rate limit", "abuse detection")  # the latter on older Enterprise servers


def asked_to_wait(
    status: int, headers: Mapping[str, str], message: str, *, now: float, before: int = 0
) -> float | None:
    """For how many seconds GitHub asks to wait; None where the answer is about something else.

    A limit that holds although its time is over, as where the clock here is fast, is one that names no time.

    Args:
        status: Of the answer.
        headers: By their names in lower case.
        message: What the answer says.
        now: Seconds since 1970.
        before: How many waits went before.

    Source: docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api (Exceeding the rate limit).
    """
    if status not in (403, 429):
        return None
    named = _named(headers, now)
    if named is not None:
        return max(named, _UNSAID * 2.0 ** (before - 1)) if before and named < 1 else named
    if status == 429 or any(words in message.lower() for words in _SECONDARY):
        return _UNSAID * 2.0**before
    return None


def too_long(seconds: float, *, has_token: bool) -> SourceError:
    """The error of a wait that is not waited for."""
    more = "" if has_token else "With a GITHUB_TOKEN, GitHub answers 5,000 questions an hour instead of 60."
    return outages.too_long("GitHub", seconds, "FOOTNOTE_GITHUB__WAIT_SECONDS", why=RATE_LIMIT, more=more)


def _named(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds until the time that the headers name; None where they name none."""
    after, reset = _number(headers.get("retry-after")), _number(headers.get("x-ratelimit-reset"))
    if after is None and reset is not None and headers.get("x-ratelimit-remaining") == "0":
        return max(0.0, reset - now + 1)  # the reset is a whole second, and may be anywhere in it
    return after


def _number(said: str | None) -> float | None:
    """Seconds that a header names; None where it names none that make sense."""
    return float(said) if said is not None and said.isascii() and said.isdigit() and len(said) < 12 else None
