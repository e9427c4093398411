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
from pipelines.store.fetched import forget
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


def spelled(location: str) -> str:
    """A location as its listing would spell it, as far as that can be told without asking."""
    kind = kind_of(location)
    try:
        if kind == "notion":
            return f"notion:{id_of(location)}"
        return read_address(location).url if kind == "web" else location
    except SourceError:
        return location


def alike(location: str) -> str:
    """The same for what the file of sources and the command line write in their own ways."""
    kind = kind_of(location)
    if kind == "github" and (place := place_of(location)):
        return place.location.casefold()
    return named_uri(location) if kind == "file" else spelled(location)


class Sources:
    """The sources of a plan, each kind opened when it is first asked for; closed by `with`."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._open: dict[str, SourceKind] = {}

    def list(self, locations: Sequence[str]) -> list[Listing]:
        """The listings of several locations, in order; one that cannot be listed becomes a problem of its own."""
        return [self._kind(kind_of(location)).list(location) for location in locations]

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
