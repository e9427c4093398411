"""What every kind of source takes and gives."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from config.settings import Settings
from config.sources import DeclaredSource
from pipelines.errors import SourceError
from pipelines.types import SourceItem


@dataclass(frozen=True, slots=True)
class Listing:
    """What a source holds now.

    Attributes:
        source: The source's own URI, which is a location too: listing it lists the same.
        items: Everything there is, ordered by name.
        complete: Whether nothing can be missing: only then may absent documents be removed.
        skipped: Names that are there but of no kind we load.
        problems: (name, error) of what should have been listed but could not be.
        unread: URIs of archives that could not be opened, or not read whole: what is held of them stays.
    """

    source: str
    kind: str
    items: tuple[SourceItem, ...]
    complete: bool
    skipped: tuple[str, ...] = ()
    problems: tuple[tuple[str, SourceError], ...] = ()
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Read:
    """What an item holds now: the SHA-256 of its bytes, and whether they are kept among the originals already."""

    sha: str
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Access:
    """What sources are reached with.

    Attributes:
        settings: Keys, addresses, limits, and the home where what is fetched is kept.
        most_bytes: Of a file; what is fetched has the limits of its kind.
        declared: How sources are listed, by location, where a file of the settings says it.
        verify: Whether everything is read anew, whatever tells cheaply that it did not change.
        say: Told what takes long, for a person: a wait for a rate limit, how far a long listing is.
        stop: Once set, waits end and listings stop, incomplete.
    """

    settings: Settings
    most_bytes: int
    declared: Mapping[str, DeclaredSource] = field(default_factory=dict)
    verify: bool = False
    say: Callable[[str], None] = lambda said: None
    stop: threading.Event = field(default_factory=threading.Event)

    def options(self, location: str) -> DeclaredSource:
        """How a location is listed."""
        return self.declared.get(location) or DeclaredSource(location=location)


class SourceKind(Protocol):
    """A kind of source. It is made once a plan, for all locations of its kind, and closed after it."""

    def list(self, location: str) -> Listing:
        """What the source holds now; what cannot be listed is a problem of the listing, never an exception."""

    def read(self, item: SourceItem) -> Read:
        """What an item holds now; of a remote one, the bytes are kept among the originals.

        Raises:
            SourceError: If it is gone, refused, or cannot be reached.
            StoreError: If the bytes cannot be kept.
        """

    def close(self) -> None:
        """Let go of connections."""
