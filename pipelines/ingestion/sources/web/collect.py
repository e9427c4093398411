"""What a sitemap or a feed comes to: every page below it, read through indexes of sitemaps."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from pipelines.errors import SourceError
from pipelines.ingestion.sources.web.address import Address, join, shown
from pipelines.ingestion.sources.web.listed import Link, WebList
from pipelines.ingestion.sources.web.status import Unasked
from pipelines.wording import counted

_MOST_LISTS = 1_000
_FIRST = 3
_MOST_NAMED = 10  # of what cannot be fetched; the rest is counted


class Opened(NamedTuple):
    """A list that was read, and where it stood at last."""

    at: Address
    held: WebList


Open = Callable[[Address], Opened]


@dataclass(slots=True)
class Found:
    """The pages that are listed, each once, with its stamp; `complete` unless a list may hold others.

    `skipped` are the names of those of other sites, `problems` what is listed but cannot be fetched.
    """

    pages: dict[Address, str] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    problems: list[tuple[str, SourceError]] = field(default_factory=list)
    complete: bool = True

    def leave(self, start: Address, unasked: Mapping[str, Unasked]) -> None:
        """Note pages, by name, that were not asked for, with the reason of each: one problem, if there are any."""
        if not unasked:
            return
        names, error = list(unasked), next(iter(unasked.values()))
        first = ", ".join(names[:_FIRST]) + (", ..." if len(names) > _FIRST else "")
        count = f"{counted(len(names), 'page')} that {'were' if len(names) > 1 else 'was'}"
        said = f"{start.name} lists {count} not asked for: {first}. {error.message}"
        self.problems.append((start.name, SourceError(said, hint=error.hint, wait=error.wait)))
        self.complete = False


def collect(start: Address, first: Opened, *, open_list: Open, private_hosts: tuple[str, ...], most: int) -> Found:
    """All pages that a list comes to; of a sitemap those of its own site, of a feed those that it is about.

    A list that was redirected is of the site where it stands at last, too.

    A feed shows its newest entries only, and so is never complete.

    Args:
        start: The address of the list.
        first: What it lists.
        open_list: Reads another sitemap; it raises SourceError.
        private_hosts: Those of the settings.
        most: How many pages; those past it are a problem.
    """
    collection = _Collection(start, {start.site, first.at.site}, open_list, private_hosts)
    collection.take(first, most)
    return collection.found


class _Collection:
    def __init__(self, start: Address, sites: set[str], open_list: Open, private_hosts: tuple[str, ...]) -> None:
        self.found = Found()
        self._start = start
        self._sites = sites
        self._open_list = open_list
        self._private_hosts = private_hosts
        self._unfetchable = 0

    def take(self, first: Opened, most: int) -> None:
        """Take in a list and all below it, list after list."""
        waiting = deque([self._start])
        seen = {self._start, first.at}
        while waiting and len(self.found.pages) <= most:
            asked = waiting.popleft()
            where, held = first if asked == self._start else self._opened(asked)
            links = self._fetchable(where, held)
            if held.kind == "index":
                below = [child for child, _ in links if child not in seen]
                waiting += dict.fromkeys(below)
                seen.update(below)
                if len(seen) > _MOST_LISTS:
                    self._fall_short(f"comes to more than {_MOST_LISTS:,} sitemaps")
                    break
                continue
            self.found.complete &= held.kind != "feed"
            for address, stamp in self._own(where, held, links):
                self.found.pages.setdefault(address, stamp)
        if self._unfetchable > _MOST_NAMED:
            self._say_more(self._unfetchable - _MOST_NAMED)
        if len(self.found.pages) > most:
            self._fall_short(f"lists more than {most:,} pages; the first ones are taken")
            self.found.pages = dict(list(self.found.pages.items())[:most])

    def _fetchable(self, where: Address, held: WebList) -> Sequence[tuple[Address, str]]:
        """Where the links lead that may be fetched, with their stamps."""
        links = []
        for link in held.links:
            try:
                address = self._address(where, link)
                if address.private and not where.private:
                    hint = "Name it as a source of its own if it is meant."
                    raise SourceError(f"{where.name} lists the private {address.name}.", hint=hint)
                links.append((address, link.stamp))
            except SourceError as error:
                self._unfetchable += 1
                if self._unfetchable <= _MOST_NAMED:
                    self.found.problems.append((shown(link.url), error))
        return links

    def _address(self, where: Address, link: Link) -> Address:
        """Where a link in a list leads; what it is relative to is judged like an address itself."""
        for said in (*link.bases, link.url):
            where = join(where, said, self._private_hosts)
        return where

    def _opened(self, child: Address) -> Opened:
        """What another sitemap lists; nothing where it cannot be read."""
        try:
            if child.site not in self._sites:
                hint = "Name it as a source of its own."
                raise SourceError(f"{child.name} is a sitemap of another site.", hint=hint)
            return self._open_list(child)
        except SourceError as error:
            self.found.problems.append((child.name, error))
            self.found.complete = False
            return Opened(child, WebList("sitemap"))

    def _own(
        self, where: Address, held: WebList, links: Sequence[tuple[Address, str]]
    ) -> Sequence[tuple[Address, str]]:
        """Those of the list's own site; all of a feed that has none of its host nor of the site that it names."""
        sites = {*self._sites}
        with suppress(SourceError):
            sites.add(self._address(where, held.site).site)
        own = [link for link in links if link[0].site in sites]
        if not own and held.kind == "feed":
            return links
        self.found.skipped += [address.name for address, _ in links if address.site not in sites]
        return own

    def _say_more(self, count: int) -> None:
        hint = "Tell who runs the site."
        said = f"{self._start.name} lists {count:,} more addresses that are not fetched."
        self.found.problems.append((f"{self._start.name} (addresses)", SourceError(said, hint=hint)))

    def _fall_short(self, why: str) -> None:
        hint = "Raise `most_pages` of this source in the file of sources, or name smaller sitemaps."
        self.found.problems.append((self._start.name, SourceError(f"{self._start.name} {why}.", hint=hint)))
        self.found.complete = False
