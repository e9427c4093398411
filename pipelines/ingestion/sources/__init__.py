"""The sources of documents, by kind; a listing names everything that a source holds, and whether it is complete."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from config.sources import kind_of
from pipelines.errors import SourceError
from pipelines.ingestion.sources.base import Access, DocumentSource, Listing, Read
from pipelines.ingestion.sources.files import Files
from pipelines.ingestion.sources.github import GitHub
from pipelines.ingestion.sources.locations import location_key
from pipelines.ingestion.sources.notion import Notion
from pipelines.ingestion.sources.web import Web
from pipelines.store.fetch_cache import forget_fetched
from pipelines.types import SourceItem

__all__ = ["SOURCES", "Access", "Listing", "Read", "Sources", "kind_of"]

SOURCES: dict[str, Callable[[Access], DocumentSource]] = {
    "file": Files,
    "github": GitHub,
    "notion": Notion,
    "web": Web,
}


class Sources:
    """The sources of one plan; each kind is opened when it is first needed."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._open: dict[str, DocumentSource] = {}

    def list(self, locations: Sequence[str]) -> list[Listing]:
        """List several locations, in order; one that cannot be listed has a problem in its listing.

        A declared source is listed with its options, in whichever spelling its location is given here.
        """
        hosts = self._access.settings.web.private_hosts
        declared = {location_key(location, hosts): location for location in self._access.declared}
        listed = [declared.get(location_key(location, hosts), location) for location in locations]
        return [
            replace(self._source(kind_of(location)).list(location), location_key=location_key(location, hosts))
            for location in listed
        ]

    def read(self, item: SourceItem) -> Read:
        """Read an item.

        Raises:
            SourceError: If it is gone, refused, or cannot be reached.
            StoreError: If the bytes of a remote item cannot be kept.
        """
        try:
            return self._source(item.source_kind).read(item)
        except SourceError:
            if self._access.verify:  # else the next run would trust what was fetched before
                forget_fetched(self._access.settings.home, item.uri)
            raise

    def close(self) -> None:
        """Close what was opened."""
        for opened in self._open.values():
            opened.close()

    def _source(self, name: str) -> DocumentSource:
        if name not in self._open:
            self._open[name] = SOURCES[name](self._access)
        return self._open[name]
