"""The pages that a sitemap or a feed lists, through indexes of sitemaps."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from pipelines.errors import SourceError
from pipelines.ingestion.sources.web.address import Address, join, printable_url
from pipelines.ingestion.sources.web.lists import Link, WebList
from pipelines.ingestion.sources.web.responses import NotAsked
from pipelines.wording import format_count

_MAX_LISTS = 1_000
_NAMES_SHOWN = 3
_MAX_NAMED = 10  # addresses that cannot be fetched; the others are counted


class FetchedList(NamedTuple):
    """A list that was read, and its address after redirects."""

    at: Address
    content: WebList


FetchList = Callable[[Address], FetchedList]


class CollectedPages:
    """The pages of a list, each once: of a sitemap those of its own site, of a feed those that it is about.

    A list that was redirected belongs to the site of its last address, too. A feed shows its newest entries only, and
    so is never complete.

    Attributes:
        pages: Stamps by address, in order.
        skipped: Names of pages of other sites.
        problems: What is listed but cannot be fetched.
        complete: False if a list may hold other pages.

    Args:
        start: The address of the list.
        fetch_list: Reads another sitemap; it raises SourceError.
        private_hosts: Those of the settings.
    """

    def __init__(self, start: Address, fetch_list: FetchList, private_hosts: tuple[str, ...]) -> None:
        self.pages: dict[Address, str] = {}
        self.skipped: list[str] = []
        self.problems: list[tuple[str, SourceError]] = []
        self.complete = True
        self._start, self._sites = start, {start.site}
        self._fetch_list, self._private_hosts = fetch_list, private_hosts
        self._unfetchable = 0

    def collect(self, first: FetchedList, most: int) -> None:
        """Read the list, given its content, and all lists below it, breadth first; more than `most` are a problem."""
        queue = deque([self._start])
        seen = {self._start, first.at}
        self._sites.add(first.at.site)
        while queue and len(self.pages) <= most:
            child = queue.popleft()
            at, content = first if child == self._start else self._fetched(child)
            links = self._fetchable(at, content)
            if content.kind == "index":
                below = [address for address, _ in links if address not in seen]
                queue += dict.fromkeys(below)
                seen.update(below)
                if len(seen) > _MAX_LISTS:
                    self._fall_short(f"comes to more than {_MAX_LISTS:,} sitemaps")
                    break
                continue
            self.complete &= content.kind != "feed"
            for address, stamp in self._of_site(at, content, links):
                self.pages.setdefault(address, stamp)
        if self._unfetchable > _MAX_NAMED:
            more = f"{self._start.name} lists {self._unfetchable - _MAX_NAMED:,} more addresses that are not fetched."
            error = SourceError(more, hint="Tell the operator of the site.")
            self.problems.append((f"{self._start.name} (addresses)", error))
        if len(self.pages) > most:
            self._fall_short(f"lists more than {most:,} pages; the first ones are taken")
            self.pages = dict(list(self.pages.items())[:most])

    def add_not_asked(self, not_asked: Mapping[str, NotAsked]) -> None:
        """Note pages, by name, that were not requested, each with the reason: as one problem, if there are any."""
        if not not_asked:
            return
        names, error = list(not_asked), next(iter(not_asked.values()))
        first = ", ".join(names[:_NAMES_SHOWN]) + (", ..." if len(names) > _NAMES_SHOWN else "")
        count = f"{format_count(len(names), 'page')} that {'were' if len(names) > 1 else 'was'}"
        problem = f"{self._start.name} lists {count} not asked for: {first}. {error.message}"
        self.problems.append((self._start.name, SourceError(problem, hint=error.hint, wait=error.wait)))
        self.complete = False

    def _fetchable(self, at: Address, content: WebList) -> Sequence[tuple[Address, str]]:
        """Return the addresses that may be fetched, with their stamps; a public list leads to no private host."""
        links = []
        for link in content.links:
            try:
                address = self._address(at, link)
                if address.private and not at.private:
                    hint = "Name it as a source of its own if it is meant."
                    raise SourceError(f"{at.name} lists the private {address.name}.", hint=hint)
                links.append((address, link.stamp))
            except SourceError as error:
                self._unfetchable += 1
                if self._unfetchable <= _MAX_NAMED:
                    self.problems.append((printable_url(link.url), error))
        return links

    def _address(self, at: Address, link: Link) -> Address:
        """Return where a link leads; each of its bases is checked like an address."""
        for part in (*link.bases, link.url):
            at = join(at, part, self._private_hosts)
        return at

    def _fetched(self, child: Address) -> FetchedList:
        """Return another sitemap; an empty one where it cannot be read."""
        try:
            if child.site not in self._sites:
                hint = "Name it as a source of its own."
                raise SourceError(f"{child.name} is a sitemap of another site.", hint=hint)
            return self._fetch_list(child)
        except SourceError as error:
            self.problems.append((child.name, error))
            self.complete = False
            return FetchedList(child, WebList("sitemap"))

    def _of_site(
        self, at: Address, content: WebList, links: Sequence[tuple[Address, str]]
    ) -> Sequence[tuple[Address, str]]:
        """Return the links to the list's own site; all of a feed that has none to its host or to the site it names."""
        sites = {*self._sites}
        with suppress(SourceError):
            sites.add(self._address(at, content.site).site)
        of_site = [link for link in links if link[0].site in sites]
        if not of_site and content.kind == "feed":
            return links
        self.skipped += [address.name for address, _ in links if address.site not in sites]
        return of_site

    def _fall_short(self, why: str) -> None:
        hint = "Raise `most_pages` of this source in the file of sources, or name smaller sitemaps."
        self.problems.append((self._start.name, SourceError(f"{self._start.name} {why}.", hint=hint)))
        self.complete = False
