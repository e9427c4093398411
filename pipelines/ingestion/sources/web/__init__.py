"""The web as a source: a page, or the pages that a sitemap or a feed lists.

Pages are fetched while they are listed: only so does a list show which of its pages are gone (404 or 410; they are left
out) and which are copies of each other. `read` then returns what is kept already.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

from config.sources import DeclaredSource
from pipelines.errors import FootnoteError, SourceError, StoreError, as_source_error
from pipelines.ingestion.envelope import Envelope, keep_envelope
from pipelines.ingestion.loaders.html import parse_html
from pipelines.ingestion.loaders.sniff import HTML
from pipelines.ingestion.sources.base import Access, Gone, Listing, Read, Remark
from pipelines.ingestion.sources.web.address import Address, join, printable_url
from pipelines.ingestion.sources.web.lists import (
    CollectedPages,
    FetchedList,
    is_named_as_list,
    read_list,
    settled_stamp,
)
from pipelines.ingestion.sources.web.responses import XML, NotAsked
from pipelines.store.fetch_cache import Fetched, forget_fetched, recall_fetched, remember_fetched
from pipelines.types import SourceItem

if TYPE_CHECKING:
    from pipelines.ingestion.sources.web.fetch import FetchedPage, Fetcher
    from pipelines.ingestion.sources.web.guard import Network

_HIDDEN_ELEMENTS = frozenset({"script", "style", "noscript", "template", "input", "iframe"})
_SHOWN_ATTRIBUTES = ("alt", "datetime", "data-utime", "lang", "title")
_META_NAMES = ("og:", "article", "twitter:", "dc", "citation_", "author", "description", "date", "pub", "title", "last")


class Web:
    """Pages, sitemaps and feeds; `network` resolves names and connects, by default as the system does."""

    def __init__(self, access: Access, network: "Network | None" = None) -> None:
        self._access = access
        self._web = access.settings.web
        self._home = access.settings.home
        self._network = network
        self._looked: dict[str, Read | FootnoteError] = {}

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
        if options.follow == "auto" and page.type != XML and not listed:
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
        """Fetch the collected pages, and list them without those that are gone and without copies.

        Copies have one canonical address and the same words (some sites give all their pages one canonical address by
        mistake); the page at that address stays, else the first one.
        """
        items, gone = self._existing(start, found)
        items = sorted(items, key=lambda item: (item.name, item.uri))
        notes = {item.uri: self._page_note(item.uri) for item in items}
        says = {uri: (str(note.more.get("canonical")), note.more.get("says")) for uri, note in notes.items() if note}
        stays = {key: uri for uri, key in reversed(list(says.items()))}
        stays |= {key: uri for uri, key in says.items() if key[0] == uri}
        twice = {uri: stays[key] for uri, key in says.items() if key[1] and stays[key] != uri}
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
        if note and "says" not in note.more:  # of an earlier release
            note = None
        if note and item.stamp and note.stamp == item.stamp:
            return Read(note.sha, kept=True)
        validators = {str(name): str(value) for name, value in note.more.get("validators", {}).items()} if note else {}
        place = str(note.more.get("told", {}).get("url", "")) if note else ""
        page = self._fetcher.get(self._fetcher.address(item.uri), validators, place)
        if page.fresh or note is None:
            return self._keep(item, page, note)
        return self._unchanged(item, note, {**validators, **page.validators})

    def _keep(self, item: SourceItem, page: "FetchedPage", note: Fetched | None = None) -> Read:
        """Keep a page, unless its words are those that were noted."""
        if page.type == XML:
            hint = "If it is a sitemap or a feed, name it as a source of its own."
            if self._page_note(item.uri):
                forget_fetched(self._home, item.uri)  # it was a page once; the next listing looks again
            if item.uri == item.source:
                hint = "If it is a sitemap or a feed now, run again: then it is listed as one."
            raise SourceError(f"{item.name} is XML, not a page.", hint=hint)
        facts = {"url": page.address.url, "type": page.type, "charset": page.charset}
        says = _words_digest(page.body) if page.type == HTML else ""
        if note and says and (note.more.get("told"), note.more.get("says")) == (facts, says):
            return self._unchanged(item, note, page.validators)
        sha, size = keep_envelope(self._home, Envelope(facts, page.body), name=item.name)
        canonical = _canonical(page, self._web.private_hosts) if page.type == HTML else page.address.url
        more = {"validators": page.validators, "told": facts, "says": says, "canonical": canonical}
        remember_fetched(self._home, Fetched(item.uri, item.stamp, sha, size, more))
        return Read(sha, kept=True)

    def _unchanged(self, item: SourceItem, note: Fetched, validators: Mapping[str, str]) -> Read:
        more = {**note.more, "validators": validators}
        remember_fetched(self._home, replace(note, stamp=item.stamp, more=more))
        return Read(note.sha, kept=True)


def _canonical(page: "FetchedPage", private_hosts: tuple[str, ...]) -> str:
    """Return the canonical address that a page states, else its own."""
    tree = parse_html(page.body.decode("utf-8", "replace"))
    links = tree.iter("link") if tree is not None else ()
    stated = (link.get("href") for link in links if "canonical" in (link.get("rel") or "").lower().split())
    try:
        return join(page.address, next(filter(None, stated), page.address.url), private_hosts).url
    except SourceError:
        return page.address.url


def _words_digest(body: bytes) -> str:
    """Return a digest of what a reader of an HTML page sees or is told; empty if it has no elements.

    It leaves out what servers change at each request: scripts, tokens of forms, most attributes.
    """
    tree = parse_html(body.decode("latin-1"))  # keeps all bytes apart, whatever the charset
    words: list[str] = []
    for element in tree.iter() if tree is not None else ():
        if element.tag not in _HIDDEN_ELEMENTS or element.get("type") == "application/ld+json":
            words += [element.tag, element.text or "", *(element.get(name) or "" for name in _SHOWN_ATTRIBUTES)]
        if element.tag == "meta" and str(element.get("name") or element.get("property")).lower().startswith(
            _META_NAMES
        ):
            words.append(element.get("content") or "")
        words.append(element.tail or "")
    return sha256("\n".join(words).encode("utf-8", "replace")).hexdigest() if words else ""


def _item(address: Address, source: str, stamp: str) -> SourceItem:
    return SourceItem(address.url, address.name, source, "web", stamp)
