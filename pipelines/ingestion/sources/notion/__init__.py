"""Notion as a source: a page or a database, with all pages and databases below it."""

from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from pipelines.errors import UNTIL_MENDED, SourceError, StoreError, as_source_error
from pipelines.ingestion.loaders.notion import plain_rich_text
from pipelines.ingestion.sources.base import Access, Gone, Listing, Read, Refused, Remark
from pipelines.ingestion.sources.http import Ended
from pipelines.ingestion.sources.notion.client import (
    Json,
    NotionApi,
    checked_id,
    id_of,
    page_address,
)
from pipelines.ingestion.sources.notion.pages import (
    PageBlocks,
    Properties,
    fetch_rows,
    is_current,
    is_trashed,
    keep_database,
    keep_page,
    rich_text_pieces,
)
from pipelines.observe import log_failure
from pipelines.store.fetch_cache import Fetched, recall_fetched
from pipelines.text import canonical
from pipelines.types import SourceItem

_MAX_TITLE = 80
_SHARE_HINT = (
    "Open it in Notion, and under ... > Connections add the integration; or check the id: of a linked view, "
    "name the database that it shows."
)
_MALFORMED = (KeyError, TypeError, AttributeError, ValueError, IndexError, RecursionError)


class Notion:
    """Pages and databases of Notion, read with the token of an integration."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._api: NotionApi | None = None
        self._fetched: dict[str, str] = {}
        self._failed: dict[str, SourceError] = {}

    def list(self, location: str) -> Listing:
        """List the page or database with all below it, to the depth that its source declares.

        A page that changed is fetched while it is listed, because only its blocks say what lies below it; one that did
        not change takes one request.
        """
        source = location
        try:
            root = id_of(location)
            source = f"notion:{root}"
            if self._api is None:
                self._api = NotionApi(self._access)
            walk = _Walk(self._api, self._access, source, self._access.options(location).depth)
        except SourceError as error:
            return Listing(source, "notion", (), False, problems=((source, error),))
        listing = walk.listing(root)
        self._fetched |= walk.fetched
        self._failed |= walk.failed
        return listing

    def read(self, item: SourceItem) -> Read:
        """Return what this listing or an earlier one fetched of a page.

        Raises:
            SourceError: If it was not fetched.
        """
        if error := self._failed.get(item.uri):
            raise error
        sha = self._fetched.get(item.uri)
        if sha is None:
            note = recall_fetched(self._access.settings.home, item.uri)
            if note is None or not item.stamp or note.stamp != item.stamp:
                raise SourceError(f"{item.name} was not fetched.", hint="Ingest its source again.")
            sha = note.sha
        return Read(sha, kept=True)

    def close(self) -> None:
        """Close the connection."""
        if self._api:
            self._api.close()


@dataclass(frozen=True, slots=True)
class _Place:
    """A page or database to visit: its type (`page` or `database`), id, the titles above, and what is known."""

    what: str
    id: str
    above: tuple[str, ...] = ()
    answer: Json | None = None
    properties: tuple[list[str], ...] | None = None

    @property
    def depth(self) -> int:
        """The depth below the root of the source, which has 0."""
        return len(self.above)


class _Walk:
    """One listing: visits the root and everything below it, breadth first.

    By URI, `fetched` has the SHA-256 of what was fetched, `failed` why the rest was not.
    """

    def __init__(self, api: NotionApi, access: Access, source: str, max_depth: int) -> None:
        self.fetched: dict[str, str] = {}
        self.failed: dict[str, SourceError] = {}
        self._api, self._home, self._source = api, access.settings.home, source
        self._verify, self._max_depth = access.verify, max_depth
        self._properties = Properties(api)
        self._queue: deque[_Place] = deque()
        self._seen = set[str]()
        self._names: dict[str, str] = {}
        self._items: dict[str, SourceItem] = {}
        self._skipped: list[Remark] = []
        self._partial: list[Remark] = []

    def listing(self, root: str) -> Listing:
        """List everything below the page or database with that id; what ends the listing is a problem of it."""
        problems: list[tuple[str, SourceError]] = []
        try:
            self._queue.append(self._root(root))
            while self._queue:
                place = self._queue.popleft()
                if place.id not in self._seen:
                    self._seen.add(place.id)
                    self._visit(place)
        except _MALFORMED as error:
            log_failure("an answer of Notion cannot be read", error, source=root)
            problems.append((self._source, SourceError(f"Notion's answer for {root} does not follow its API.")))
        except (SourceError, StoreError) as error:
            problems.append((self._source, as_source_error(error)))
        items = tuple(sorted(self._items.values(), key=lambda item: (item.name, item.uri)))
        return Listing(
            self._source, "notion", items, not (problems or self.failed), tuple(self._skipped), tuple(problems),
            partial=tuple(self._partial),
        )  # fmt: skip

    def _root(self, root: str) -> _Place:
        """Return the page with that id, else the database, else the database of that data source.

        Raises:
            SourceError: If it is neither, not shared, or in the trash.
        """
        for ask in (self._api.page, self._api.database, self._api.database_of):
            with suppress(Gone, Refused, ValueError):
                answer = ask(root)
                break
        else:
            raise SourceError(
                f"Notion shares no page or database {root} with the integration.",
                hint=_SHARE_HINT,
                wait=UNTIL_MENDED,
            )
        if is_trashed(answer):
            raise SourceError(
                f"{page_address(root)} is in Notion's trash.",
                hint="Restore it, or name another.",
                wait=UNTIL_MENDED,
            )
        return _Place(answer["object"], checked_id(answer["id"]), answer=answer)

    def _visit(self, place: _Place) -> None:
        """Visit a place; one that fails is listed as a document that cannot be read, and the walk goes on."""
        try:
            (self._visit_page if place.what == "page" else self._visit_database)(place)
            return
        except Ended:
            raise
        except SourceError as failure:
            error = failure
        except _MALFORMED as failure:
            log_failure("an answer of Notion cannot be read", failure, place=place.id)
            problem = f"Notion's answer for {self._path(place)} does not follow its API."
            error = SourceError(problem, hint="Try again later.")
        uri = page_address(place.id)
        self.failed[uri] = error
        self._items.setdefault(uri, SourceItem(uri, self._path(place), self._source, "notion"))

    def _path(self, place: _Place) -> str:
        """Return the path of a page or database; it ends in the id as long as the title is not known."""
        return self._names.get(place.id) or "/".join((*place.above, place.id))

    def _named(self, place: _Place, title: str) -> tuple[str, ...]:
        """Return the titles down to a page or database whose own is known now, and report them as the progress."""
        names = (*place.above, " ".join(canonical(title).replace("/", "-").split())[:_MAX_TITLE].strip() or "Untitled")
        self._names[place.id] = "/".join(names)
        self._api.step(f"page {len(self._names):,}, {self._names[place.id]}")
        return names

    def _add(self, note: Fetched, place: _Place) -> None:
        self._items[note.uri] = SourceItem(note.uri, self._names[place.id], self._source, "notion", note.stamp)

    def _lacks(self, place: _Place, what: str) -> None:
        """Say what a document lacks."""
        self._partial.append(Remark(self._names[place.id], f"without {what.rstrip('.')}"))

    def _shared(self, place: _Place) -> Json | None:
        """Return what Notion says of a page or database; None if it is gone, in the trash, or not shared."""
        try:
            answer = place.answer or (self._api.page if place.what == "page" else self._api.database)(place.id)
        except Gone as error:
            self._skipped.append(Remark(self._path(place), error.message.rstrip(".")))
            return None
        return None if is_trashed(answer) else answer

    def _visit_page(self, place: _Place) -> None:
        page = self._shared(place)
        if page is None:
            return
        title = self._properties.remember_title(page)
        names = self._named(place, title)
        note = recall_fetched(self._home, page_address(place.id))
        is_usable = note is not None and "below" in note.more and not self._verify
        if note is None or not is_usable or not is_current(note.stamp, page, place.properties):
            properties = place.properties if place.properties is not None else self._properties.of(page, {})[0]
            blocks = PageBlocks(self._api, place.id)
            if blocks.missing:
                blocks.below = _with_earlier(blocks.below, note)
            note = keep_page(self._home, page, title, properties, blocks)
            self.fetched[note.uri] = note.sha
        self._add(note, place)
        self._enter(place, names, [_Place(what, checked_id(below)) for what, below in note.more["below"]])
        if missing := note.more.get("missing"):
            first = missing[0]
            which = f"{len(missing)} of its blocks, such as {first['type']} {first['id']}"
            self._lacks(place, f"what lies below {which}: {first['why']}")
        if unread := note.more.get("unread"):
            kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(unread.items()))
            self._lacks(place, f"blocks that the API does not give: {kinds}")

    def _visit_database(self, place: _Place) -> None:
        database = self._shared(place)
        if database is None:
            return
        title = " ".join(plain_rich_text(rich_text_pieces(database.get("title"))).split())
        names = self._named(place, title)
        old = recall_fetched(self._home, page_address(place.id))
        cached = {} if self._verify or old is None else old.more.get("asked", {})
        rows = fetch_rows(self._api, self._properties, database, cached)
        below = _with_earlier(rows.below, old) if rows.hidden or not rows.tables else rows.below
        note = keep_database(self._home, database, title, rows, below)
        self.fetched[note.uri] = note.sha
        self._add(note, place)
        pages = {
            checked_id(page["id"]): _Place("page", checked_id(page["id"]), answer=page, properties=tuple(texts))
            for page, texts in rows.pages
        }
        self._enter(place, names, [pages.get(each) or _Place(what, each) for what, each in below])
        if rows.hidden or not rows.tables:
            hidden = ", ".join(rows.hidden) or "all"
            self._lacks(place, f"tables that are not shared with the integration: {hidden}")

    def _enter(self, place: _Place, names: tuple[str, ...], below: Sequence[_Place]) -> None:
        """Queue what lies below a place, unless it lies too deep."""
        if place.depth < self._max_depth:
            self._queue.extend(replace(each, above=names) for each in below)
        elif below:
            why = f"{len(below)} below it, deeper than {self._max_depth}"
            self._skipped.append(Remark(f"{'/'.join(names)}/...", why))


def _with_earlier(below: Sequence[Sequence[str]], note: Fetched | None) -> list[list[str]]:
    """Return what lies below a place of which Notion refuses a part: what it shows, then what it showed earlier.

    Each is visited, so that what is gone or in the trash leaves the listing, and nothing else does.
    """
    earlier = note.more.get("below", ()) if note else ()
    return [list(each) for each in dict.fromkeys(map(tuple, (*below, *earlier)))]
