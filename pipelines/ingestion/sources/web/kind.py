"""The web as a source: a page, or the pages that a sitemap or a feed lists.

Pages are fetched while they are listed: only so does a list tell which of its pages are gone (they answer 404 or 410,
and are left out) and which are copies of each other. `read` then gives what is kept already.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from config.sources import DeclaredSource
from pipelines.errors import FootnoteError, SourceError, StoreError, as_source_error
from pipelines.ingestion.envelope import Envelope, pack
from pipelines.ingestion.loaders.sniff import HTML
from pipelines.ingestion.sources.base import Access, Listing, Read, Remark
from pipelines.ingestion.sources.web.address import Address, shown
from pipelines.ingestion.sources.web.collect import Found, Opened, collect
from pipelines.ingestion.sources.web.elsewhere import taken_whole_by
from pipelines.ingestion.sources.web.head import Head, copies, head_of
from pipelines.ingestion.sources.web.lists import is_named_as_list, list_of
from pipelines.ingestion.sources.web.media import LISTS
from pipelines.ingestion.sources.web.noted import (
    is_of,
    look_at,
    look_ended,
    note_list,
    noted_head,
    noted_place,
    noted_validators,
    page_note,
    was_list,
)
from pipelines.ingestion.sources.web.stamps import settled
from pipelines.ingestion.sources.web.status import Gone, Unasked
from pipelines.store.fetched import Fetched, forget, remember
from pipelines.store.originals import keep_original
from pipelines.types import SourceItem

if TYPE_CHECKING:
    from pipelines.ingestion.sources.web.fetch import Fetcher, Page
    from pipelines.ingestion.sources.web.wire import Network


class Web:
    """Pages, sitemaps and feeds; `network` is how they are reached, the system's way unless given."""

    def __init__(self, access: Access, network: "Network | None" = None) -> None:
        self._access = access
        self._web = access.settings.web
        self._home = access.settings.home
        self._network = network
        self._looked: dict[str, Read | FootnoteError] = {}
        self._look_now = ""  # the mark of the look at a list that is under way
        self._spared = 0

    @cached_property
    def _fetcher(self) -> "Fetcher":
        from pipelines.ingestion.sources.web.fetch import Fetcher

        ca_file = self._access.settings.ca_file
        return Fetcher(self._web, self._access.stop, self._access.say, self._network, ca_file)

    def list(self, location: str) -> Listing:
        """A page, or what a sitemap or a feed lists; complete only when every sitemap was read."""
        try:
            start = self._fetcher.address(location)
        except SourceError as error:
            return Listing(shown(location), "web", (), False, problems=((shown(location), error),))
        options = self._access.options(location)
        if whole := taken_whole_by(start):
            self._access.say(f"{start.name} is taken as a page of the web; {whole} takes all of it.")
        try:
            return self._list(start, options)
        except (SourceError, StoreError) as error:
            if options.follow == "page" or (options.follow == "auto" and not self._is_list(start)):
                self._looked[start.url] = error  # a page that fails is a document that does, and is tried again
                return Listing(start.url, "web", (_item(start, start.url, ""),), False)
            return Listing(start.url, "web", (), False, problems=((start.name, as_source_error(error)),))

    def read(self, item: SourceItem) -> Read:
        """What a page holds now, its bytes kept among the originals.

        Raises:
            SourceError: If it is gone, refused, or cannot be fetched.
            StoreError: If the bytes cannot be kept.
        """
        found = self._look(item)
        if isinstance(found, FootnoteError):
            raise found
        return found

    def close(self) -> None:
        """Let go of the connections."""
        if "_fetcher" in self.__dict__:
            self._fetcher.close()

    def _is_list(self, start: Address) -> bool:
        """Whether an address is a sitemap or a feed, by its name or as it was before."""
        return is_named_as_list(start.target) or was_list(self._home, start.url)

    def _list(self, start: Address, options: DeclaredSource) -> Listing:
        item = _item(start, start.url, "")
        listed = self._is_list(start)
        if options.follow == "page" or (options.follow == "auto" and not listed and page_note(self._home, start.url)):
            return Listing(start.url, "web", (item,), False)
        page = self._fetcher.get(start)
        if options.follow == "auto" and page.type not in LISTS and not listed:
            self._looked[start.url] = self._keep(item, page)
            return Listing(start.url, "web", (item,), False)
        held = list_of(page.body, page.type, start.name)
        if options.follow == "auto":
            note_list(self._home, start.url, held.kind)
        return self._listing(start, self._collected(start, Opened(page.address, held), options.most_pages))

    def _collected(self, start: Address, first: Opened, most: int) -> Found:
        def open_list(child: Address) -> Opened:
            self._access.far(f"reading {child.name}")
            page = self._fetcher.get(child)
            return Opened(page.address, list_of(page.body, page.type, child.name))

        return collect(start, first, open_list=open_list, private_hosts=self._web.private_hosts, most=most)

    def _listing(self, start: Address, found: Found) -> Listing:
        """What was found, each page looked at, without those that are gone and without copies."""
        self._look_now, self._spared = look_at(self._home, start.url, datetime.now(UTC)), 0
        items, gone = self._looked_at(start, found)
        if not self._access.stop.is_set():
            look_ended(self._home, start.url)
        if self._spared:
            said = f"{self._spared:,} of {len(found.pages):,} pages taken as a run that did not finish fetched them"
            self._access.say(f"{start.name}: {said}; --verify asks again.")
        self._look_now = ""
        items = sorted(items, key=lambda item: (item.name, item.uri))
        twice = copies({item.uri: noted_head(self._home, item.uri) for item in items})
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

    def _looked_at(self, start: Address, found: Found) -> tuple[Sequence[SourceItem], Sequence[str]]:
        """(the pages that there are, the names of those that are gone); what was not asked for is a problem."""
        items, gone, unasked = list[SourceItem](), list[str](), dict[str, Unasked]()
        now = datetime.now(UTC)
        for number, (address, stamp) in enumerate(found.pages.items(), start=1):
            if self._access.stop.is_set():
                stopped = SourceError("The listing was stopped.", hint="Run it again to go on.")
                found.problems.append((start.name, stopped))
                found.complete = False
                break
            self._access.far(f"{start.name}: page {number:,} of {len(found.pages):,}")
            item = _item(address, start.url, settled(stamp, now))
            match self._look(item):
                case Gone():
                    gone.append(item.name)
                case Unasked() as error:
                    unasked[item.name] = error
                case _:
                    items.append(item)
        found.leave(start, unasked)
        return items, gone

    def _look(self, item: SourceItem) -> Read | FootnoteError:
        """What a page holds, or why it cannot be had; asked once a run."""
        if item.uri not in self._looked:
            try:
                self._looked[item.uri] = self._fetched(item)
            except (SourceError, StoreError) as error:
                self._looked[item.uri] = error
        return self._looked[item.uri]

    def _fetched(self, item: SourceItem) -> Read:
        note = None if self._access.verify else page_note(self._home, item.uri)
        if note and item.stamp and note.stamp == item.stamp:
            return Read(note.sha, kept=True)
        if note and is_of(note, self._look_now, item.stamp):
            self._spared += 1
            return Read(note.sha, kept=True)
        page = self._fetcher.get(self._fetcher.address(item.uri), noted_validators(note), noted_place(note))
        if page.fresh or note is None:
            return self._keep(item, page, note)
        return self._unchanged(item, note, {**noted_validators(note), **page.validators})

    def _keep(self, item: SourceItem, page: "Page", note: Fetched | None = None) -> Read:
        """Keep a page, unless it says just what it said when it was noted."""
        if page.type in LISTS:
            hint = "If it is a sitemap or a feed, name it as a source of its own."
            if page_note(self._home, item.uri):
                forget(self._home, item.uri)  # it was a page once; the next listing looks again
            if item.uri == item.source:
                hint = "If it is a sitemap or a feed now, run again: then it is listed as one."
            raise SourceError(f"{item.name} is {LISTS[page.type]}, not a page.", hint=hint)
        told = {"url": page.address.url, "type": page.type, "charset": page.charset}
        head = head_of(page.body, page.address, self._web.private_hosts) if page.type == HTML else Head()
        head = head._replace(canonical=(head.title and head.canonical) or page.address.url)
        if note and head.says and (note.more.get("told"), note.more.get("head")) == (told, list(head)):
            return self._unchanged(item, note, page.validators)
        data = pack(Envelope(told, page.body))
        sha = hashlib.sha256(data).hexdigest()
        keep_original(self._home, sha, data, name=item.name)
        more = {"validators": page.validators, "told": told, "head": list(head), "look": self._look_now}
        remember(self._home, Fetched(item.uri, item.stamp, sha, len(data), more))
        return Read(sha, kept=True)

    def _unchanged(self, item: SourceItem, note: Fetched, validators: Mapping[str, str]) -> Read:
        more = {**note.more, "validators": validators, "look": self._look_now}
        remember(self._home, replace(note, stamp=item.stamp, more=more))
        return Read(note.sha, kept=True)


def _item(address: Address, source: str, stamp: str) -> SourceItem:
    return SourceItem(address.url, address.name, source, "web", stamp)
