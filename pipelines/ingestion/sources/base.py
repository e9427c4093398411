"""What every kind of source takes and gives."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from config.settings import Settings
from config.sources import DeclaredSource
from pipelines.errors import SourceError
from pipelines.store.fetched import folded
from pipelines.types import SourceItem

_SELDOM = 10.0  # seconds


class Remark(NamedTuple):
    """What people are told at every run of something at a source: its name, and why it is not taken, or in part."""

    name: str
    said: str


@dataclass(frozen=True, slots=True)
class Listing:
    """What a source holds now.

    Attributes:
        source: The source's own URI, which is a location too: listing it lists the same.
        items: Everything there is, ordered by name.
        complete: Whether nothing can be missing: only then may absent documents be removed.
        skipped: What is there but not taken, and why.
        problems: (name, error) of what should have been listed but could not be.
        unread: URIs of archives that could not be opened, or not read whole: what is held of them stays.
        asked: The location that was listed, as `alike` spells it: a source may be called otherwise by now.
        partial: What is taken in part only, as its source gives no more, and what it is without.
    """

    source: str
    kind: str
    items: tuple[SourceItem, ...]
    complete: bool
    skipped: tuple[Remark, ...] = ()
    problems: tuple[tuple[str, SourceError], ...] = ()
    unread: tuple[str, ...] = ()
    asked: str = ""
    partial: tuple[Remark, ...] = ()

    @property
    def places(self) -> frozenset[str]:
        """The source by all the names that it is known by here, as `alike` spells them."""
        return frozenset({folded(self.source), self.asked} - {""})


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
        say: Told, for a person, why a look waits, and what it found to be otherwise than asked.
        stop: Once set, waits end and listings stop, incomplete.
        far: Told how far a look is, at each document: what shows it keeps the last, or says some of them (`seldom`).
    """

    settings: Settings
    most_bytes: int
    declared: Mapping[str, DeclaredSource] = field(default_factory=dict)
    verify: bool = False
    say: Callable[[str], None] = lambda said: None
    stop: threading.Event = field(default_factory=threading.Event)
    far: Callable[[str], None] = lambda said: None

    def options(self, location: str) -> DeclaredSource:
        """How a location is listed."""
        return self.declared.get(location) or DeclaredSource(location=location)


def seldom(say: Callable[[str], None], now: Callable[[], float] = time.monotonic) -> Callable[[str], None]:
    """What says only the first thing that it is told after ten seconds, then after ten more: for what is told often."""
    last = now()

    def told(said: str) -> None:
        nonlocal last
        if now() - last >= _SELDOM:
            last = now()
            say(said)

    return told


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
