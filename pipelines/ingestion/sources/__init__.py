"""LIST: where documents come from. A lister names everything a source holds, and says whether the list is complete."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType

from config.sources import kind_of
from pipelines.errors import SourceError
from pipelines.ingestion.sources.base import Access, Listing, Read, SourceKind
from pipelines.ingestion.sources.files import Files
from pipelines.ingestion.sources.github import GitHub
from pipelines.ingestion.sources.locations import alike, each_once, spelled
from pipelines.ingestion.sources.notion import Notion
from pipelines.ingestion.sources.web import Web
from pipelines.store.fetched import forget
from pipelines.types import SourceItem

__all__ = ["SOURCES", "Access", "Listing", "Read", "SourceKind", "Sources", "alike", "each_once", "kind_of", "spelled"]

SOURCES: dict[str, Callable[[Access], SourceKind]] = {
    "file": Files,
    "github": GitHub,
    "notion": Notion,
    "web": Web,
}


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
        declared = {alike(location, hosts): location for location in self._access.declared}
        meant = [declared.get(alike(location, hosts), location) for location in locations]
        return [
            replace(self._kind(kind_of(location)).list(location), asked=alike(location, hosts)) for location in meant
        ]

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
