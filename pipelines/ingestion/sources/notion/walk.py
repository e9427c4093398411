"""The walk over everything below a page or a database."""

from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pipelines.errors import SourceError, StoreError
from pipelines.ingestion.sources.base import Access, Listing
from pipelines.ingestion.sources.notion.address import digits, page_address
from pipelines.ingestion.sources.notion.api import Api
from pipelines.ingestion.sources.notion.asking import Ended, Gone, Refused
from pipelines.ingestion.sources.notion.pages import keep_database, keep_page, table_of
from pipelines.ingestion.sources.notion.properties import Properties
from pipelines.ingestion.sources.notion.reduce import is_gone, pieces
from pipelines.ingestion.sources.notion.tree import fetch_tree
from pipelines.store.fetched import Fetched, recall
from pipelines.text import canonical
from pipelines.types import SourceItem

_TOLD_EVERY = 25
_LONGEST_TITLE = 80
_SHARE = "Open it in Notion, and under ... > Connections add the integration; or check the id."
_NONSENSE = (KeyError, TypeError, AttributeError, ValueError, IndexError)

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
    """One listing; by URI, `fetched` has the SHA-256 of what it fetched, `failed` why the rest was not."""

    def __init__(self, api: Api, access: Access, source: str, most_depth: int) -> None:
        self.fetched: dict[str, str] = {}
        self.failed: dict[str, SourceError] = {}
        self._api, self._home, self._say = api, access.settings.home, access.say
        self._verify, self._source, self._most_depth = access.verify, source, most_depth
        self._properties = Properties(api)
        self._queue: deque[_Place] = deque()
        self._seen: set[str] = set()
        self._items: list[SourceItem] = []
        self._skipped: list[str] = []
        self._problems: list[tuple[str, SourceError]] = []

    def listing(self, root: str) -> Listing:
        """Everything below the page or database with that id; what cannot be fetched is a problem of the listing."""
        try:
            self._queue.append(self._root(root))
            while self._queue:
                self._try(self._queue.popleft())
        except _NONSENSE:
            self._problems.append((self._source, SourceError(f"What Notion answers of {root} is not of its API.")))
        except (SourceError, StoreError) as error:
            self._problems.append((self._source, SourceError(error.message, hint=error.hint)))
        items = tuple(sorted(self._items, key=lambda item: (item.name, item.uri)))
        complete = not self._problems and not self.failed
        return Listing(self._source, "notion", items, complete, tuple(self._skipped), tuple(self._problems))

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

    def _try(self, place: _Place) -> None:
        """Visit a place; what goes wrong there alone fails alone, and the walk goes on."""
        if place.id in self._seen or place.depth > self._most_depth:
            return
        self._seen.add(place.id)
        name = "/".join((*place.above, place.id))
        try:
            if place.what == "page":
                self._page(place)
            else:
                self._database(place)
        except Ended:
            raise
        except SourceError as error:
            self._fail(place, name, error)
        except _NONSENSE:
            said = SourceError(f"What Notion answers of {name} is not of its API.", hint="Try again later.")
            self._fail(place, name, said)

    def _fail(self, place: _Place, name: str, error: SourceError) -> None:
        """Have a place be a document that cannot be read, so that it is tried again."""
        uri = page_address(place.id)
        self.failed[uri] = error
        if all(item.uri != uri for item in self._items):
            self._items.append(SourceItem(uri, name, self._source, "notion"))

    def _asked(self, place: _Place, ask: Callable[[str], Told]) -> Told | None:
        """What Notion says of a page or a database; None where it is gone, in the trash, or not shared."""
        try:
            told = place.told or ask(place.id)
        except Gone:
            self._skipped.append(f"{'/'.join((*place.above, place.id))} (gone, or not shared with the integration)")
            return None
        return None if is_gone(told) else told

    # Pages

    def _page(self, place: _Place) -> None:
        page = self._asked(place, self._api.page)
        if page is None:
            return
        title = self._properties.know(page)
        names = (*place.above, _name(title))
        edited = str(page.get("last_edited_time") or "")
        held = self._held(place, "below")
        if held is None or not edited or held.stamp != edited:
            held = self._fetch(place, page, title, names)
        self._list(held, names)
        if held.more["below"] and place.depth == self._most_depth:
            count = len(held.more["below"])
            self._skipped.append(f"{'/'.join(names)}/... ({count} below it, deeper than {self._most_depth})")
        for what, below in held.more["below"]:
            self._queue.append(_Place(what, digits(below), names, place.depth + 1))
        self._warn("/".join(names), held.more)

    def _fetch(self, place: _Place, page: Told, title: str, names: tuple[str, ...]) -> Fetched:
        properties = place.properties if place.properties is not None else self._properties.of(page, {})[0]
        tree = fetch_tree(self._api, place.id)
        held = keep_page(self._home, page, title, properties, tree)
        self._count(held, names)
        return held

    def _warn(self, name: str, more: Told) -> None:
        """Name the blocks whose children Notion refuses, which make the listing incomplete, and those it only names."""
        if missing := more.get("missing"):
            first = missing[0]
            said = f"Of {name}, the blocks below {len(missing)} are missing; the first is {first['type']} {first['id']}"
            hint = "The page is stored without them and marked partial; share with the integration what it repeats."
            self._problems.append((name, SourceError(f"{said}: {first['why']}", hint=hint)))
        if more.get("unread"):
            kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(more["unread"].items()))
            self._skipped.append(f"{name} (partial: blocks that the API does not give: {kinds})")
            self._say(f"{name} is stored in part: Notion's API does not give {kinds}.")

    # Databases

    def _database(self, place: _Place) -> None:
        database = self._asked(place, self._api.database)
        if database is None:
            return
        title = " ".join("".join(text for text, _ in pieces(database.get("title"))).split())
        names = (*place.above, _name(title))
        old = self._held(place, "asked")
        asked_before = old.more["asked"] if old else {}
        tables, rows, asked = [], list[_Place](), dict[str, Any]()
        for source in database["data_sources"]:
            held = [row for row in self._api.rows(digits(source["id"])) if not is_gone(row)]
            pages = sorted((row for row in held if row["object"] == "page"), key=_age)
            for page in pages:
                self._properties.know(page)
            found = [self._row(page, asked_before, asked) for page in pages]
            tables.append(table_of(str(source.get("name") or ""), pages, found))
            rows += [
                _Place("page", digits(page["id"]), names, place.depth + 1, page, tuple(properties))
                for page, properties in zip(pages, found, strict=True)
            ]
            rows += [  # a wiki holds databases beside its pages
                _Place("database", digits(row["parent"]["database_id"]), names, place.depth + 1)
                for row in held
                if row["object"] == "data_source"
            ]
        fresh = keep_database(self._home, database, title, tables, asked)
        if old is None or old.sha != fresh.sha:
            self._count(fresh, names)
        self.fetched[fresh.uri] = fresh.sha
        self._list(fresh, names)
        self._queue.extend(rows)

    def _row(self, page: Told, before: Told, asked: dict[str, Any]) -> list[list[str]]:
        """The properties of a row; what took requests of its own is noted, and asked again only once it changed."""
        page_id, edited = digits(page["id"]), str(page.get("last_edited_time") or "")
        old = before.get(page_id, {})
        found, took = self._properties.of(page, old.get("texts", {}) if old.get("edited") == edited else {})
        if took:
            asked[page_id] = {"edited": edited, "texts": took}
        return found

    # What was found

    def _held(self, place: _Place, has: str) -> Fetched | None:
        """The note of an earlier fetching; none where everything is to be read anew, or where the note lacks this."""
        held = None if self._verify else recall(self._home, page_address(place.id))
        return held if held and has in held.more else None

    def _list(self, held: Fetched, names: tuple[str, ...]) -> None:
        self._items.append(SourceItem(held.uri, "/".join(names), self._source, "notion", held.stamp))

    def _count(self, held: Fetched, names: tuple[str, ...]) -> None:
        self.fetched[held.uri] = held.sha
        if len(self.fetched) % _TOLD_EVERY == 0:
            self._say(f"Notion: {len(self.fetched)} pages fetched, now at {'/'.join(names)}.")


def _name(title: str) -> str:
    """A title as a part of a path."""
    return " ".join(canonical(title).replace("/", "-").split())[:_LONGEST_TITLE].strip() or "Untitled"


def _age(page: Told) -> tuple[str, str]:
    return str(page.get("created_time")), str(page["id"])
