"""The web as a source: a page, or the pages that a sitemap or a feed lists.

Pages are fetched while they are listed: only so does a list show which of its pages are gone (404 or 410; they are left
out) and which are copies of each other. `read` then returns what is kept already.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from config.sources import DeclaredSource
from pipelines.errors import FootnoteError, SourceError, StoreError, as_source_error
from pipelines.ingestion.envelope import Envelope, keep_envelope
from pipelines.ingestion.loaders.sniff import HTML
from pipelines.ingestion.sources.base import Access, Gone, Listing, Read, Remark
from pipelines.ingestion.sources.github.repositories import place_of
from pipelines.ingestion.sources.notion.client import id_of
from pipelines.ingestion.sources.web.address import Address, printable_url
from pipelines.ingestion.sources.web.collect import CollectedPages, FetchedList
from pipelines.ingestion.sources.web.lists import is_named_as_list, read_list, settled_stamp
from pipelines.ingestion.sources.web.pages import Head, begin_look, find_copies, head_of, look_uri
from pipelines.ingestion.sources.web.responses import LIST_TYPES, NotAsked
from pipelines.store.fetch_cache import Fetched, forget_fetched, recall_fetched, remember_fetched
from pipelines.types import SourceItem

if TYPE_CHECKING:
    from pipelines.ingestion.sources.web.fetch import FetchedPage, Fetcher
    from pipelines.ingestion.sources.web.guard import Network


_NOTION_SITES = ("notion.so", "notion.site", "notion.com")
_GITHUB_PAGES = frozenset(
    "about apps collections enterprise explore features login marketplace new orgs pricing".split()
)
_GITHUB_PAGES |= frozenset("search security settings site sponsors topics trending".split())


def whole_source(address: Address) -> str:
    """Return the location that takes all of what this address shows one page of, as `github:OWNER/REPO`; else empty."""
    if address.site == "github.com":
        place = place_of(f"github:{address.target.partition('?')[0].strip('/')}")
        return place.location if place and place.owner.lower() not in _GITHUB_PAGES else ""
    if address.host.endswith(tuple(f".{name}" for name in _NOTION_SITES)) or address.host in _NOTION_SITES:
        try:
            return f"notion:{id_of(f'notion:{address.url}')}"
        except SourceError:
            return ""
    return ""


class Web:
    """Pages, sitemaps and feeds; `network` resolves names and connects, by default as the system does."""

    def __init__(self, access: Access, network: "Network | None" = None) -> None:
        self._access = access
        self._web = access.settings.web
        self._home = access.settings.home
        self._network = network
        self._looked: dict[str, Read | FootnoteError] = {}
        self._look_now = ""  # the mark of the listing that is under way
        self._reused = 0

    @cached_property
    def _fetcher(self) -> "Fetcher":
        from pipelines.ingestion.sources.web.fetch import Fetcher

        ca_file = self._access.settings.ca_file
        return Fetcher(self._web, self._access.stop, self._access.say, self._network, ca_file)

    def list(self, location: str) -> Listing:
        """List a page, or the pages of a sitemap or a feed; complete only if every sitemap was read."""
        try:
            start = self._fetcher.address(location)
        except SourceError as error:
            return Listing(printable_url(location), "web", (), False, problems=((printable_url(location), error),))
        options = self._access.options(location)
        if whole := whole_source(start):
            self._access.say(f"{start.name} is taken as a page of the web; {whole} takes all of it.")
        try:
            return self._list(start, options)
        except (SourceError, StoreError) as error:
            if options.follow == "page" or (options.follow == "auto" and not self._is_list(start)):
                self._looked[start.url] = error  # a page that fails is a document that does, and is tried again
                return Listing(start.url, "web", (_item(start, start.url, ""),), False)
            return Listing(start.url, "web", (), False, problems=((start.name, as_source_error(error)),))

    def read(self, item: SourceItem) -> Read:
        """Return what a page holds now, its bytes kept among the originals.

        Raises:
            SourceError: If it is gone, refused, or cannot be fetched.
            StoreError: If the bytes cannot be kept.
        """
        found = self._look(item)
        if isinstance(found, FootnoteError):
            raise found
        return found

    def close(self) -> None:
        """Close the connections."""
        if "_fetcher" in self.__dict__:
            self._fetcher.close()

    def _is_list(self, start: Address) -> bool:
        """Return True if an address is a sitemap or a feed, by its name or as it was before."""
        note = recall_fetched(self._home, start.url)
        return is_named_as_list(start.target) or bool(note and note.more.get("list"))

    def _page_note(self, uri: str) -> Fetched | None:
        """Return the note of a page whose bytes are kept."""
        note = recall_fetched(self._home, uri)
        return note if note and note.sha else None

    def _list(self, start: Address, options: DeclaredSource) -> Listing:
        item = _item(start, start.url, "")
        listed = self._is_list(start)
        if options.follow == "page" or (options.follow == "auto" and not listed and self._page_note(start.url)):
            return Listing(start.url, "web", (item,), False)
        page = self._fetcher.get(start)
        if options.follow == "auto" and page.type not in LIST_TYPES and not listed:
            self._looked[start.url] = self._keep(item, page)
            return Listing(start.url, "web", (item,), False)
        content = read_list(page.body, page.type, start.name)
        if options.follow == "auto":
            remember_fetched(self._home, Fetched(start.url, "", "", 0, {"list": content.kind}))

        def fetch_list(child: Address) -> FetchedList:
            self._access.progress(f"reading {child.name}")
            page = self._fetcher.get(child)
            return FetchedList(page.address, read_list(page.body, page.type, child.name))

        found = CollectedPages(start, fetch_list, self._web.private_hosts)
        found.collect(FetchedList(page.address, content), options.most_pages)
        return self._listing(start, found)

    def _listing(self, start: Address, found: CollectedPages) -> Listing:
        """Fetch the collected pages, and list them without those that are gone and without copies."""
        self._look_now, self._reused = begin_look(self._home, start.url, datetime.now(UTC)), 0
        items, gone = self._existing(start, found)
        if not self._access.stop.is_set():
            forget_fetched(self._home, look_uri(start.url))  # the next listing continues none
        if self._reused:
            reused = f"{self._reused:,} of {len(found.pages):,} pages taken as a run that did not finish fetched them"
            self._access.say(f"{start.name}: {reused}; --verify asks again.")
        self._look_now = ""
        items = sorted(items, key=lambda item: (item.name, item.uri))
        notes = {item.uri: self._page_note(item.uri) for item in items}
        heads = {uri: Head(*map(str, note.more.get("head", ()))) for uri, note in notes.items() if note}
        twice = find_copies(heads)
        names = {item.uri: item.name for item in items}
        skipped = dict.fromkeys(
            (
                *(Remark(name, "it is of another site") for name in found.skipped),
                *(Remark(name, "it is listed, but gone") for name in gone),
                *(Remark(names[uri], f"it says the same as {names[same]}") for uri, same in twice.items()),
            )
        )
        kept = tuple(item for item in items if item.uri not in twice)
        return Listing(start.url, "web", kept, found.complete, tuple(skipped), tuple(found.problems))

    def _existing(self, start: Address, found: CollectedPages) -> tuple[Sequence[SourceItem], Sequence[str]]:
        """Return (existing pages, names of those that are gone); pages that were not requested are a problem."""
        items, gone, not_asked = list[SourceItem](), list[str](), dict[str, NotAsked]()
        now = datetime.now(UTC)
        for number, (address, stamp) in enumerate(found.pages.items(), start=1):
            if self._access.stop.is_set():
                stopped = SourceError("The listing was stopped.", hint="Run it again to continue.")
                found.problems.append((start.name, stopped))
                found.complete = False
                break
            self._access.progress(f"{start.name}: page {number:,} of {len(found.pages):,}")
            item = _item(address, start.url, settled_stamp(stamp, now))
            match self._look(item):
                case Gone():
                    gone.append(item.name)
                case NotAsked() as error:
                    not_asked[item.name] = error
                case _:
                    items.append(item)
        found.add_not_asked(not_asked)
        return items, gone

    def _look(self, item: SourceItem) -> Read | FootnoteError:
        """Return what a page holds, or why it cannot be read; requested once a run."""
        if item.uri not in self._looked:
            try:
                self._looked[item.uri] = self._fetched(item)
            except (SourceError, StoreError) as error:
                self._looked[item.uri] = error
        return self._looked[item.uri]

    def _fetched(self, item: SourceItem) -> Read:
        note = None if self._access.verify else self._page_note(item.uri)
        if note and item.stamp and note.stamp == item.stamp:
            return Read(note.sha, kept=True)
        validators = {str(name): str(value) for name, value in note.more.get("validators", {}).items()} if note else {}
        same_look = note is not None and (note.more.get("look"), note.stamp) == (self._look_now, item.stamp)
        if note and self._look_now and same_look and not validators:  # nothing tells cheaply whether it changed since
            self._reused += 1
            return Read(note.sha, kept=True)
        place = str(note.more.get("told", {}).get("url", "")) if note else ""
        page = self._fetcher.get(self._fetcher.address(item.uri), validators, place)
        if page.fresh or note is None:
            return self._keep(item, page, note)
        return self._unchanged(item, note, {**validators, **page.validators})

    def _keep(self, item: SourceItem, page: "FetchedPage", note: Fetched | None = None) -> Read:
        """Keep a page, unless its words are those that were noted."""
        if page.type in LIST_TYPES:
            hint = "If it is a sitemap or a feed, name it as a source of its own."
            if self._page_note(item.uri):
                forget_fetched(self._home, item.uri)  # it was a page once; the next listing looks again
            if item.uri == item.source:
                hint = "If it is a sitemap or a feed now, run again: then it is listed as one."
            raise SourceError(f"{item.name} is {LIST_TYPES[page.type]}, not a page.", hint=hint)
        facts = {"url": page.address.url, "type": page.type, "charset": page.charset}
        head = head_of(page.body, page.address, self._web.private_hosts) if page.type == HTML else Head()
        head = head._replace(canonical=(head.title and head.canonical) or page.address.url)
        if note and head.says and (note.more.get("told"), note.more.get("head")) == (facts, list(head)):
            return self._unchanged(item, note, page.validators)
        sha, size = keep_envelope(self._home, Envelope(facts, page.body), name=item.name)
        more = {"validators": page.validators, "told": facts, "head": list(head), "look": self._look_now}
        remember_fetched(self._home, Fetched(item.uri, item.stamp, sha, size, more))
        return Read(sha, kept=True)

    def _unchanged(self, item: SourceItem, note: Fetched, validators: Mapping[str, str]) -> Read:
        more = {**note.more, "validators": validators, "look": self._look_now}
        remember_fetched(self._home, replace(note, stamp=item.stamp, more=more))
        return Read(note.sha, kept=True)


def _item(address: Address, source: str, stamp: str) -> SourceItem:
    return SourceItem(address.url, address.name, source, "web", stamp)
