"""LIST: where documents come from. A lister names everything a source holds, and says whether the list is complete."""

from collections.abc import Callable, Sequence
from types import TracebackType

from pipelines.errors import SourceError
from pipelines.ingestion.sources.base import Access, Listing, Read, SourceKind
from pipelines.ingestion.sources.files import Files
from pipelines.ingestion.sources.github import GitHub
from pipelines.ingestion.sources.github.places import place_of
from pipelines.ingestion.sources.notion import Notion
from pipelines.ingestion.sources.notion.address import id_of
from pipelines.ingestion.sources.web import Web
from pipelines.ingestion.sources.web.address import read_address
from pipelines.store.fetched import folded, forget
from pipelines.store.originals import named_uri
from pipelines.types import SourceItem

__all__ = ["SOURCES", "Access", "Listing", "Read", "SourceKind", "Sources", "alike", "kind_of", "spelled"]

SOURCES: dict[str, Callable[[Access], SourceKind]] = {
    "file": Files,
    "github": GitHub,
    "notion": Notion,
    "web": Web,
}
_SCHEMES: dict[str, str] = {"github": "github", "notion": "notion", "http": "web", "https": "web"}


def kind_of(location: str) -> str:
    """The kind of source that a location on the command line or in the settings names."""
    return _SCHEMES.get(location.partition(":")[0].lower(), "file")


def spelled(location: str, private_hosts: tuple[str, ...]) -> str:
    """A location as its listing would spell it, as far as that can be told without asking.

    `private_hosts` are those of the settings: their ports are addresses, too.
    """
    kind = kind_of(location)
    try:
        if kind == "notion":
            return f"notion:{id_of(location)}"
        if kind == "web":
            return read_address(location, private_hosts).url
    except SourceError:
        return location
    place = place_of(location) if kind == "github" else None
    return place.location if place else location


def alike(location: str, private_hosts: tuple[str, ...]) -> str:
    """The same for what the file of sources and the command line write in their own ways."""
    if kind_of(location) == "file":
        return named_uri(location)
    return folded(spelled(location, private_hosts))


class Sources:
    """The sources of a plan, each kind opened when it is first asked for; closed by `with`."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._open: dict[str, SourceKind] = {}

    def list(self, locations: Sequence[str]) -> list[Listing]:
        """The listings of several locations, in order; one that cannot be listed becomes a problem of its own.

        A declared source is listed as it is declared, however its location is written here.
        """
        hosts = self._access.settings.web.private_hosts
        declared = {alike(location, hosts): location for location in reversed([*self._access.declared])}
        meant = [declared.get(alike(location, hosts), location) for location in locations]
        return [self._kind(kind_of(location)).list(location) for location in meant]

    def read(self, item: SourceItem) -> Read:
        """What an item holds now.

        Raises:
            SourceError: If it is gone, refused, or cannot be reached.
            StoreError: If the bytes of a remote item cannot be kept.
        """
        try:
            return self._kind(item.source_kind).read(item)
        except SourceError:
            if self._access.verify:  # or the next look would be content with what was fetched before
                forget(self._access.settings.home, item.uri)
            raise

    def __enter__(self) -> "Sources":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for opened in self._open.values():
            opened.close()

    def _kind(self, name: str) -> SourceKind:
        if name not in self._open:
            self._open[name] = SOURCES[name](self._access)
        return self._open[name]
