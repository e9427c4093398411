"""The contract of a source, its errors, and the messages of one that asks to wait or fails."""

import errno
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from config.settings import Settings
from config.sources import DeclaredSource
from pipelines.errors import SourceError
from pipelines.store.fetch_cache import normalised_source
from pipelines.types import SourceItem
from pipelines.wording import format_duration

RUN_LATER = "Run again later: what is stored stays."

_THROTTLE_SECONDS = 10.0
_NAME_NOT_FOUND = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})
_SLOW = "it took too long to answer"
_RESET = "it broke off the connection"
_NO_ROUTE = "no way leads there from here"
_REASONS = {
    errno.ECONNREFUSED: "it refuses connections",
    **dict.fromkeys((errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE), _RESET),
    **dict.fromkeys((errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN), _NO_ROUTE),
    errno.ETIMEDOUT: _SLOW,
}


class Gone(SourceError):
    """Raised when a source says that there is no such thing, or none that it may show."""


class Refused(SourceError):
    """Raised when a source refuses this one request, and would refuse it again."""


class Remark(NamedTuple):
    """The name of something at a source, and why it is skipped or taken in part; shown at every run."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Listing:
    """The items that a source holds now.

    Attributes:
        source: The URI of the source. It is a location too: listing it gives the same.
        kind: file, github, notion or web.
        items: All items, ordered by name.
        complete: True if nothing can be missing: only then may absent documents be removed.
        skipped: What is there but not taken.
        problems: (name, error) of what should have been listed but could not be.
        unread: URIs of archives that could not be read whole: their stored documents stay.
        location_key: The key of the location that was listed; the source may have another name by now.
        partial: What is taken in part only, because the source gives no more.
    """

    source: str
    kind: str
    items: tuple[SourceItem, ...]
    complete: bool
    skipped: tuple[Remark, ...] = ()
    problems: tuple[tuple[str, SourceError], ...] = ()
    unread: tuple[str, ...] = ()
    location_key: str = ""
    partial: tuple[Remark, ...] = ()

    @property
    def places(self) -> frozenset[str]:
        """The keys by which this source is known."""
        return frozenset({normalised_source(self.source), self.location_key} - {""})


@dataclass(frozen=True, slots=True)
class Read:
    """The SHA-256 of an item's bytes, and True if they are among the originals already."""

    sha: str
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Access:
    """The settings and callbacks that sources are read with.

    Attributes:
        settings: Keys, addresses, limits, and the home where fetched bytes are kept.
        most_bytes: Limit of a file; fetched documents have the limits of their kind.
        declared: Options of the sources that the file of sources declares, by location.
        verify: Read everything again, even unchanged items.
        say: Receives messages for a person: why a listing waits, or what differs from the request.
        stop: Once set, waits end and listings stop, incomplete.
        progress: Receives the progress of a listing, at each document.
    """

    settings: Settings
    most_bytes: int
    declared: Mapping[str, DeclaredSource] = field(default_factory=dict)
    verify: bool = False
    say: Callable[[str], None] = lambda message: None
    stop: threading.Event = field(default_factory=threading.Event)
    progress: Callable[[str], None] = lambda message: None

    def options(self, location: str) -> DeclaredSource:
        """The declared options of a location, else the defaults."""
        return self.declared.get(location) or DeclaredSource(location=location)


class DocumentSource(Protocol):
    """A kind of source. One object lists all locations of its kind for one plan, and is closed after it."""

    def list(self, location: str) -> Listing:
        """List a location; what cannot be listed is a problem of the listing, never an exception."""

    def read(self, item: SourceItem) -> Read:
        """Read an item; the bytes of a remote one are kept among the originals.

        Raises:
            SourceError: If it is gone, refused, or cannot be reached.
            StoreError: If the bytes cannot be kept.
        """

    def close(self) -> None:
        """Close connections and files."""


@dataclass(frozen=True, slots=True)
class Reporter:
    """Receives the messages of a plan for a person.

    Attributes:
        say: Receives the reason whenever a source makes the run wait.
        progress: Receives the progress at each document; None = `say` receives it every ten seconds.
    """

    say: Callable[[str], None] = lambda message: None
    progress: Callable[[str], None] | None = None


SILENT = Reporter()


def throttled(say: Callable[[str], None], now: Callable[[], float] = time.monotonic) -> Callable[[str], None]:
    """Wrap `say` so that it receives at most one message every ten seconds, the first after ten seconds."""
    last = now()

    def say_at_times(message: str) -> None:
        nonlocal last
        if now() - last >= _THROTTLE_SECONDS:
            last = now()
            say(message)

    return say_at_times


def asked_wait(who: str, seconds: float, why: str = "") -> str:
    """Say that a wait is asked for."""
    return f"{who} asks to wait {format_duration(seconds)}{f' ({why})' if why else ''}"


def connection_failure(error: BaseException) -> str:
    """Say why a host was not reached, by what the operating system or TLS reported below a library's error."""
    cause: BaseException | None = error
    while cause is not None:
        match cause:
            case ssl.SSLCertVerificationError():
                reason = getattr(cause, "verify_message", "").rstrip(".")
                return f"its certificate is not accepted{f' ({reason})' if reason else ''}"
            case ssl.SSLError():
                return "no secure connection to it came about"
            case socket.gaierror():
                found = cause.errno not in _NAME_NOT_FOUND
                return "its name cannot be looked up now" if found else "there is no such name"
            case TimeoutError():
                return _SLOW
            case OSError() if cause.errno in _REASONS:
                return _REASONS[cause.errno]
        cause = cause.__cause__ or cause.__context__
    return _SLOW if "Timeout" in type(error).__name__ else "no connection to it came about"
