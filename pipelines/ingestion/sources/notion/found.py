"""What a walk found: documents, what of them cannot be read, and what it is without."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pipelines.errors import FootnoteError, SourceError, as_source_error
from pipelines.ingestion.sources.base import Listing
from pipelines.ingestion.sources.notion.address import page_address
from pipelines.store.fetched import Fetched
from pipelines.types import SourceItem

_TOLD_EVERY = 25


class Found:
    """A listing in the making; by URI, `fetched` has the SHA-256 of what was fetched, `failed` why the rest was not."""

    def __init__(self, source: str, say: Callable[[str], None]) -> None:
        self.fetched: dict[str, str] = {}
        self.failed: dict[str, SourceError] = {}
        self._source, self._say = source, say
        self._names: dict[str, str] = {}
        self._items: dict[str, SourceItem] = {}
        self._skipped: list[str] = []
        self._problems: list[tuple[str, SourceError]] = []

    def listing(self) -> Listing:
        """All of it; complete unless something failed."""
        items = tuple(sorted(self._items.values(), key=lambda item: (item.name, item.uri)))
        complete = not self._problems and not self.failed
        return Listing(self._source, "notion", items, complete, tuple(self._skipped), tuple(self._problems))

    def name(self, place_id: str, names: Sequence[str]) -> str:
        """The path of a page or a database, once its title is known."""
        self._names[place_id] = "/".join(names)
        return self._names[place_id]

    def called(self, place_id: str, above: Sequence[str]) -> str:
        """The path of a page or a database, which ends in its id as long as its title is not known."""
        return self._names.get(place_id) or "/".join((*above, place_id))

    def add(self, held: Fetched, name: str) -> None:
        """List a document."""
        self._items[held.uri] = SourceItem(held.uri, name, self._source, "notion", held.stamp)

    def count(self, held: Fetched, name: str) -> None:
        """Note that a document was fetched."""
        self.fetched[held.uri] = held.sha
        if len(self.fetched) % _TOLD_EVERY == 0:
            self._say(f"Notion: {len(self.fetched)} pages fetched, now at {name}.")

    def fail(self, place_id: str, above: Sequence[str], error: SourceError) -> None:
        """Have a page or a database be a document that cannot be read, so that it is tried again."""
        uri = page_address(place_id)
        self.failed[uri] = error
        self._items.setdefault(uri, SourceItem(uri, self.called(place_id, above), self._source, "notion"))

    def end(self, error: FootnoteError) -> None:
        """Have the listing end there, incomplete."""
        self._problems.append((self._source, as_source_error(error)))

    def skip(self, name: str, why: str) -> None:
        """Name what is not listed."""
        self._skipped.append(f"{name} ({why.rstrip('.')})")

    def without(self, name: str, what: str) -> None:
        """Say at every run what a document is without."""
        self.skip(name, f"partial, without {what}")
        self._say(f"{name} is stored without {what.rstrip('.')}.")

    def warn(self, name: str, more: Mapping[str, Any]) -> None:
        """Name the blocks of a page that Notion only names, and those whose children it refuses."""
        if missing := more.get("missing"):
            first = missing[0]
            which = f"{len(missing)} of its blocks, such as {first['type']} {first['id']}"
            self.without(name, f"what lies below {which}: {first['why']}")
        if more.get("unread"):
            kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(more["unread"].items()))
            self.without(name, f"blocks that the API does not give: {kinds}")
