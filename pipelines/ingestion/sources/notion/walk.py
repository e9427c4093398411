"""The walk over everything below a page or a database."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from pipelines.errors import SourceError, StoreError
from pipelines.ingestion.sources.base import Access, Listing
from pipelines.ingestion.sources.notion.address import digits, page_address
from pipelines.ingestion.sources.notion.api import Api
from pipelines.ingestion.sources.notion.asking import Ended, Gone, Refused
from pipelines.ingestion.sources.notion.found import Found
from pipelines.ingestion.sources.notion.pages import keep_database, keep_page
from pipelines.ingestion.sources.notion.properties import Properties
from pipelines.ingestion.sources.notion.reduce import is_gone, pieces
from pipelines.ingestion.sources.notion.rows import fetch_rows
from pipelines.ingestion.sources.notion.tree import fetch_tree
from pipelines.store.fetched import Fetched, recall
from pipelines.text import canonical

_LONGEST_TITLE = 80
_SHARE = (
    "Open it in Notion, and under ... > Connections add the integration; or check the id: of a linked view, "
    "name the database that it shows."
)
_NONSENSE = (KeyError, TypeError, AttributeError, ValueError, IndexError, RecursionError)

Told = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Place:
    """What is to be visited: a page or a database, where it lies, and what is known of it."""

    what: str
    id: str
    above: tuple[str, ...] = ()
    depth: int = 0
    told: Told | None = None
    properties: tuple[list[str], ...] | None = None


class Walk:
    """One listing; `found` has what it found."""

    def __init__(self, api: Api, access: Access, source: str, most_depth: int) -> None:
        self.found = Found(source, access.say)
        self._api, self._home = api, access.settings.home
        self._verify, self._most_depth = access.verify, most_depth
        self._properties = Properties(api)
        self._queue: deque[_Place] = deque()
        self._seen: set[str] = set()
        self._left: dict[str, _Place] = {}

    def listing(self, root: str) -> Listing:
        """Everything below the page or database with that id; what cannot be fetched is a problem of the listing."""
        try:
            self._queue.append(self._root(root))
            self._visit()
            self._queue.extend(self._moved())
            self._visit()
        except _NONSENSE:
            self.found.end(SourceError(f"What Notion answers of {root} is not of its API."))
        except (SourceError, StoreError) as error:
            self.found.end(error)
        return self.found.listing()

    def _root(self, root: str) -> _Place:
        """The page of that id, else the database, else the database of that data source.

        Raises:
            SourceError: If it is neither, not shared, or in the trash.
        """
        for ask in (self._api.page, self._api.database, self._api.database_of):
            with suppress(Gone, Refused, ValueError):
                told = ask(root)
                break
        else:
            raise SourceError(f"Notion shares no page or database {root} with the integration.", hint=_SHARE)
        if is_gone(told):
            raise SourceError(f"{page_address(root)} lies in the trash of Notion.", hint="Restore it, or name another.")
        return _Place(told["object"], digits(told["id"]), told=told)

    def _visit(self) -> None:
        while self._queue:
            self._try(self._queue.popleft())

    def _moved(self) -> list[_Place]:
        """The places that left a page but are there: some move to where this listing had been before they arrived."""
        found = []
        for place in self._left.values():
            if place.id in self._seen:
                continue
            with suppress(Gone):
                told = (self._api.page if place.what == "page" else self._api.database)(place.id)
                parent = told.get("parent") or {}
                above = parent.get("page_id") or parent.get("database_id")
                is_here = digits(above) in self._seen if above else "block_id" in parent  # no block says of which page
                if is_here:
                    found.append(replace(place, told=told))
        return found

    def _try(self, place: _Place) -> None:
        """Visit a place; what goes wrong there alone fails alone, and the walk goes on."""
        if place.id in self._seen or place.depth > self._most_depth:
            return
        self._seen.add(place.id)
        try:
            if place.what == "page":
                self._page(place)
            else:
                self._database(place)
        except Ended:
            raise
        except SourceError as error:
            self.found.fail(place.id, place.above, error)
        except _NONSENSE:
            said = f"What Notion answers of {self.found.called(place.id, place.above)} is not of its API."
            self.found.fail(place.id, place.above, SourceError(said, hint="Try again later."))

    def _asked(self, place: _Place, ask: Callable[[str], Told]) -> Told | None:
        """What Notion says of a page or a database; None where it is gone, in the trash, or not shared."""
        try:
            told = place.told or ask(place.id)
        except Gone as error:
            self.found.skip(self.found.called(place.id, place.above), error.message)
            return None
        return None if is_gone(told) else told

    def _enter(self, place: _Place, names: tuple[str, ...], below: Sequence[_Place]) -> None:
        """Have what lies below a place visited, unless it lies too deep."""
        if below and place.depth == self._most_depth:
            self.found.skip(f"{'/'.join(names)}/...", f"{len(below)} below it, deeper than {self._most_depth}")
        else:
            self._queue.extend(replace(each, above=names, depth=place.depth + 1) for each in below)

    def _page(self, place: _Place) -> None:
        page = self._asked(place, self._api.page)
        if page is None:
            return
        title = self._properties.know(page)
        names = (*place.above, _name(title))
        name = self.found.name(place.id, names)
        edited = str(page.get("last_edited_time") or "")
        held = self._held(place, "below")
        if held is None or not edited or held.stamp != edited:
            held = self._fetch(place, page, title, names)
            self.found.count(held, name)
        self.found.add(held, name)
        self._enter(place, names, [_Place(what, digits(below)) for what, below in held.more["below"]])
        self.found.warn(name, held.more)

    def _fetch(self, place: _Place, page: Told, title: str, names: tuple[str, ...]) -> Fetched:
        properties = place.properties if place.properties is not None else self._properties.of(page, {})[0]
        tree = fetch_tree(self._api, place.id)
        old, now = recall(self._home, page_address(place.id)), {below for _, below in tree.below}
        left = [each for each in (old.more.get("below", ()) if old else ()) if each[1] not in now]
        if tree.missing:  # they may lie below what is refused
            tree.below += left
        else:
            self._left |= {below: _Place(what, digits(below), names, place.depth + 1) for what, below in left}
        return keep_page(self._home, page, title, properties, tree)

    def _database(self, place: _Place) -> None:
        database = self._asked(place, self._api.database)
        if database is None:
            return
        title = " ".join("".join(text for text, _ in pieces(database.get("title"))).split())
        names = (*place.above, _name(title))
        name = self.found.name(place.id, names)
        old = self._held(place, "asked")
        rows = fetch_rows(self._api, self._properties, database, old.more["asked"] if old else {})
        fresh = keep_database(self._home, database, title, rows.tables, rows.asked)
        if old is None or old.sha != fresh.sha:
            self.found.count(fresh, name)
        self.found.fetched[fresh.uri] = fresh.sha
        self.found.add(fresh, name)
        pages = [_Place("page", digits(page["id"]), told=page, properties=tuple(said)) for page, said in rows.pages]
        self._enter(place, names, [*pages, *(_Place("database", each) for each in rows.databases)])
        if rows.hidden or not rows.tables:
            hidden = ", ".join(rows.hidden) or "all"
            self.found.without(name, f"tables that are not shared with the integration: {hidden}")

    def _held(self, place: _Place, has: str) -> Fetched | None:
        """The note of an earlier fetching; none where everything is to be read anew, or where the note lacks this."""
        held = None if self._verify else recall(self._home, page_address(place.id))
        return held if held and has in held.more else None


def _name(title: str) -> str:
    """A title as a part of a path."""
    return " ".join(canonical(title).replace("/", "-").split())[:_LONGEST_TITLE].strip() or "Untitled"
