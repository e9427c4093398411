"""Notion as a source: a page or a database, with all pages and databases below it."""

from pipelines.errors import SourceError
from pipelines.ingestion.sources.base import Access, Listing, Read
from pipelines.ingestion.sources.notion.address import id_of
from pipelines.ingestion.sources.notion.api import Api, open_api
from pipelines.ingestion.sources.notion.walk import Walk
from pipelines.store.fetched import recall
from pipelines.types import SourceItem

__all__ = ["Notion"]


class Notion:
    """Pages and databases of Notion, by an integration's token."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._api: Api | None = None
        self._fetched: dict[str, str] = {}
        self._failed: dict[str, SourceError] = {}

    def list(self, location: str) -> Listing:
        """The page or database with all below it, to the depth that its source declares.

        A page that changed is fetched while it is listed, as only its blocks say what lies below it; one that did not
        is asked for its time alone.
        """
        source = location
        try:
            root = id_of(location)
            source = f"notion:{root}"
            walk = Walk(self._opened(), self._access, source, self._access.options(location).depth)
        except SourceError as error:
            return Listing(source, "notion", (), False, problems=((source, error),))
        listing = walk.listing(root)
        self._fetched |= walk.found.fetched
        self._failed |= walk.found.failed
        return listing

    def read(self, item: SourceItem) -> Read:
        """What was fetched of a page, by this listing or an earlier one.

        Raises:
            SourceError: If it was not fetched.
        """
        if error := self._failed.get(item.uri):
            raise error
        sha = self._fetched.get(item.uri)
        if sha is None:
            held = recall(self._access.settings.home, item.uri)
            if held is None or not item.stamp or held.stamp != item.stamp:
                raise SourceError(f"{item.name} was not fetched.", hint="Ingest its source again.")
            sha = held.sha
        return Read(sha, kept=True)

    def close(self) -> None:
        """Let go of the connection."""
        if self._api:
            self._api.close()

    def _opened(self) -> Api:
        if self._api is None:
            self._api = open_api(self._access)
        return self._api
