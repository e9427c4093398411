"""The walk over everything below a page or a database."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from pipelines.errors import UNTIL_MENDED, SourceError, StoreError
from pipelines.ingestion.loaders.notion.words import bare
from pipelines.ingestion.sources.base import Access, Listing
from pipelines.ingestion.sources.notion.address import digits, page_address
from pipelines.ingestion.sources.notion.api import Api
from pipelines.ingestion.sources.notion.asking import Ended, Gone, Refused
from pipelines.ingestion.sources.notion.found import Found
from pipelines.ingestion.sources.notion.pages import is_as, keep_database, keep_page
from pipelines.ingestion.sources.notion.place import Place, left_since
from pipelines.ingestion.sources.notion.properties import Properties
from pipelines.ingestion.sources.notion.reduce import is_gone, pieces
from pipelines.ingestion.sources.notion.rows import Rows, fetch_rows
from pipelines.ingestion.sources.notion.tree import fetch_tree, kept_tree
from pipelines.observe import log_failure
from pipelines.store.fetched import Fetched, recall, remember
from pipelines.text import canonical

_LONGEST_TITLE = 80
_DEEPEST_BLOCK = 100
_SHARE = (
    "Open it in Notion, and under ... > Connections add the integration; or check the id: of a linked view, "
    "name the database that it shows."
)
_NONSENSE = (KeyError, TypeError, AttributeError, ValueError, IndexError, RecursionError)

Told = Mapping[str, Any]


class Walk:
    """One listing; `found` has what it found."""

    def __init__(self, api: Api, access: Access, source: str, most_depth: int) -> None:
        self.found = Found(source, api.step)
        self._api, self._home = api, access.settings.home
        self._verify, self._most_depth = access.verify, most_depth
        self._properties = Properties(api)
        self._queue: deque[Place] = deque()
        self._seen: dict[str, tuple[str, ...]] = {}  # the titles down to each place, once they are known
        self._left: list[tuple[Fetched, list[Place]]] = []
        self._again: set[str] = set()
        self._astray: dict[str, list[Place]] = {}

    def listing(self, root: str) -> Listing:
        """Everything below the page or database with that id; what cannot be fetched is a problem of the listing."""
        try:
            self._queue.append(self._root(root))
            self._visit()
            self._find_again()
        except _NONSENSE as error:
            log_failure("an answer of Notion cannot be read", error, source=root)
            self.found.end(SourceError(f"What Notion answers of {root} is not of its API."))
        except (SourceError, StoreError) as error:
            self.found.end(error)
        return self.found.listing()

    def _root(self, root: str) -> Place:
        """The page of that id, else the database, else the database of that data source.

        Raises:
            SourceError: If it is neither, not shared, or in the trash.
        """
        for ask in (self._api.page, self._api.database, self._api.database_of):
            with suppress(Gone, Refused, ValueError):
                told = ask(root)
                break
        else:
            raise SourceError(
                f"Notion shares no page or database {root} with the integration.", hint=_SHARE, wait=UNTIL_MENDED
            )
        if is_gone(told):
            raise SourceError(
                f"{page_address(root)} lies in the trash of Notion.",
                hint="Restore it, or name another.",
                wait=UNTIL_MENDED,
            )
        return Place(told["object"], digits(told["id"]), told=told)

    def _visit(self) -> None:
        while self._queue:
            self._try(self._queue.popleft())

    def _find_again(self) -> None:
        """Ask of all that left its page or database where it is now, and visit what is still below the source.

        Nothing else stays noted as having left: it is asked again the next time, as it may lie below a block that is
        refused, in a table that is not shared, or where this listing had been before it arrived.
        """
        asked: list[tuple[Fetched, list[Place]]] = []
        while self._left:
            held, places = self._left.pop()
            asked.append((held, places))
            for each in places:
                if each.id not in self._seen:
                    self._alone(each, self._ask_where)
            self._visit()
        for held, places in asked if not self.found.failed else ():  # below what failed, more may be
            left = [[each.what, each.id] for each in places if each.id in self._again]
            if len(left) < len(places):
                remember(self._home, replace(held, more={**held.more, "left": left}))

    def _ask_where(self, place: Place) -> None:
        """Have a place visited where it is now, at once or as soon as what holds it turns up."""
        try:
            told = (self._api.page if place.what == "page" else self._api.database)(place.id)
        except Gone:
            return
        parent = self._holder(told.get("parent") or {})
        above = parent.get("page_id") or parent.get("database_id")
        if is_gone(told) or not (above or "block_id" in parent):
            return
        place = replace(place, told=told)
        if above and digits(above) not in self._seen:
            self._astray.setdefault(digits(above), []).append(place)
        else:
            self._find(place, self._seen[digits(above)] if above else ())

    def _holder(self, parent: Told) -> Told:
        """The page or database that holds a block; the block where Notion does not say: it may be a refused one."""
        for _ in range(_DEEPEST_BLOCK):
            if "block_id" not in parent:
                break
            try:
                parent = self._api.block(digits(parent["block_id"])).get("parent") or {}
            except (Gone, Refused):
                break
        return parent

    def _find(self, place: Place, names: tuple[str, ...]) -> None:
        self._again.add(place.id)
        self._queue.append(replace(place, above=names or place.above))

    def _try(self, place: Place) -> None:
        """Visit a place, unless that was done or it lies too deep."""
        if place.depth > self._most_depth:
            self.found.skip(f"{'/'.join(place.above)}/...", f"1 moved below it, deeper than {self._most_depth}")
        elif place.id not in self._seen:
            self._seen[place.id] = ()
            self._alone(place, self._page if place.what == "page" else self._database)

    def _alone(self, place: Place, visit: Callable[[Place], None]) -> None:
        """Make a visit; what goes wrong there alone fails alone, and the walk goes on."""
        try:
            visit(place)
        except Ended:
            raise
        except SourceError as error:
            self.found.fail(place.id, place.above, error)
        except _NONSENSE as error:
            log_failure("an answer of Notion cannot be read", error, place=place.id)
            said = f"What Notion answers of {self.found.called(place.id, place.above)} is not of its API."
            self.found.fail(place.id, place.above, SourceError(said, hint="Try again later."))

    def _asked(self, place: Place, ask: Callable[[str], Told]) -> Told | None:
        """What Notion says of a page or a database; None where it is gone, in the trash, or not shared."""
        try:
            told = place.told or ask(place.id)
        except Gone as error:
            self.found.skip(self.found.called(place.id, place.above), error.message)
            return None
        return None if is_gone(told) else told

    def _enter(self, place: Place, names: tuple[str, ...], below: Sequence[Place], held: Fetched) -> None:
        """Have what lies below a place visited and what left it looked for, unless it lies too deep."""
        self._seen[place.id] = names
        for each in self._astray.pop(place.id, ()):
            self._find(each, names)
        if place.depth < self._most_depth:
            self._queue.extend(replace(each, above=names) for each in below)
            self._left.append((held, [Place(what, digits(left), names) for what, left in held.more.get("left", ())]))
        elif below:
            self.found.skip(f"{'/'.join(names)}/...", f"{len(below)} below it, deeper than {self._most_depth}")

    def _page(self, place: Place) -> None:
        page = self._asked(place, self._api.page)
        if page is None:
            return
        title = self._properties.know(page)
        names = (*place.above, _name(title))
        name = self.found.name(place.id, names)
        held = self._held(place, "below")
        if held is None or not is_as(held.stamp, page, place.properties):
            held = self._fetch(place, page, title, held)
            self.found.count(held)
        self.found.add(held, name)
        self._enter(place, names, [Place(what, digits(below)) for what, below in held.more["below"]], held)
        self.found.warn(name, held.more)

    def _fetch(self, place: Place, page: Told, title: str, held: Fetched | None) -> Fetched:
        properties = place.properties if place.properties is not None else self._properties.of(page, {})[0]
        tree = kept_tree(self._home, held) if held and is_as(held.stamp, page, None) else None
        if tree is None:
            tree = fetch_tree(self._api, place.id)
            tree.left = left_since(self._home, place.id, tree.below)
        return keep_page(self._home, page, title, properties, tree)

    def _database(self, place: Place) -> None:
        database = self._asked(place, self._api.database)
        if database is None:
            return
        title = " ".join(bare(pieces(database.get("title"))).split())
        names = (*place.above, _name(title))
        name = self.found.name(place.id, names)
        old = self._held(place, "asked")
        rows = fetch_rows(self._api, self._properties, database, old.more["asked"] if old else {})
        fresh = self._keep_rows(place, database, title, rows)
        if old is None or old.sha != fresh.sha:
            self.found.count(fresh)
        self.found.fetched[fresh.uri] = fresh.sha
        self.found.add(fresh, name)
        pages = [Place("page", digits(page["id"]), told=page, properties=tuple(said)) for page, said in rows.pages]
        self._enter(place, names, [*pages, *(Place("database", each) for each in rows.databases)], fresh)
        if rows.hidden or not rows.tables:
            hidden = ", ".join(rows.hidden) or "all"
            self.found.without(name, f"tables that are not shared with the integration: {hidden}")

    def _keep_rows(self, place: Place, database: Told, title: str, rows: Rows) -> Fetched:
        """The note of a database; its table stays as it was where none is shared but rows were there still."""
        left = left_since(self._home, place.id, rows.below)
        more = {"asked": rows.asked, "below": rows.below, "left": left}
        old = recall(self._home, page_address(place.id))
        if rows.tables or not left or old is None:
            return keep_database(self._home, database, title, rows.tables, more)
        kept = replace(old, more=more)
        remember(self._home, kept)
        return kept

    def _held(self, place: Place, has: str) -> Fetched | None:
        """The note of an earlier fetching; none where everything is to be read anew, or where the note lacks this."""
        held = None if self._verify else recall(self._home, page_address(place.id))
        return held if held and has in held.more else None


def _name(title: str) -> str:
    """A title as a part of a path."""
    return " ".join(canonical(title).replace("/", "-").split())[:_LONGEST_TITLE].strip() or "Untitled"
