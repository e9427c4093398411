"""What a walk found: documents, what of them cannot be read, and what it is without."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pipelines.errors import FootnoteError, SourceError, as_source_error
from pipelines.ingestion.sources.base import Listing, Remark
from pipelines.ingestion.sources.notion.address import page_address
from pipelines.store.fetched import Fetched
from pipelines.types import SourceItem


class Found:
    """A listing in the making; by URI, `fetched` has the SHA-256 of what was fetched, `failed` why the rest was not."""

    def __init__(self, source: str, step: Callable[[str], None]) -> None:
        self.fetched: dict[str, str] = {}
        self.failed: dict[str, SourceError] = {}
        self._source, self._step = source, step
        self._names: dict[str, str] = {}
        self._items: dict[str, SourceItem] = {}
        self._skipped: list[Remark] = []
        self._partial: list[Remark] = []
        self._problems: list[tuple[str, SourceError]] = []

    def listing(self) -> Listing:
        """All of it; complete unless something failed."""
        items = tuple(sorted(self._items.values(), key=lambda item: (item.name, item.uri)))
        complete = not self._problems and not self.failed
        skipped, partial = tuple(self._skipped), tuple(self._partial)
        return Listing(self._source, "notion", items, complete, skipped, tuple(self._problems), partial=partial)

    def name(self, place_id: str, names: Sequence[str]) -> str:
        """The path of a page or a database, once its title is known; what is asked next is of it."""
        self._names[place_id] = "/".join(names)
        self._step(f"page {len(self._names):,}, {self._names[place_id]}")
        return self._names[place_id]

    def called(self, place_id: str, above: Sequence[str]) -> str:
        """The path of a page or a database, which ends in its id as long as its title is not known."""
        return self._names.get(place_id) or "/".join((*above, place_id))

    def add(self, held: Fetched, name: str) -> None:
        """List a document."""
        self._items[held.uri] = SourceItem(held.uri, name, self._source, "notion", held.stamp)

    def count(self, held: Fetched) -> None:
        """Note that a document was fetched."""
        self.fetched[held.uri] = held.sha

    def fail(self, place_id: str, above: Sequence[str], error: SourceError) -> None:
        """Have a page or a database be a document that cannot be read, so that it is tried again."""
        uri = page_address(place_id)
        self.failed[uri] = error
        self._items.setdefault(uri, SourceItem(uri, self.called(place_id, above), self._source, "notion"))

    def end(self, error: FootnoteError) -> None:
        """Have the listing end there, incomplete."""
        self._problems.append((self._source, as_source_error(error)))

    def skip(self, name: str, why: str) -> None:
        """Say why something is not listed."""
        self._skipped.append(Remark(name, why.rstrip(".")))

    def without(self, name: str, what: str) -> None:
        """Say what a document is without."""
        self._partial.append(Remark(name, f"without {what.rstrip('.')}"))

    def warn(self, name: str, more: Mapping[str, Any]) -> None:
        """Name the blocks of a page that Notion only names, and those whose children it refuses."""
        if missing := more.get("missing"):
            first = missing[0]
            which = f"{len(missing)} of its blocks, such as {first['type']} {first['id']}"
            self.without(name, f"what lies below {which}: {first['why']}")
        if more.get("unread"):
            kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(more["unread"].items()))
            self.without(name, f"blocks that the API does not give: {kinds}")
