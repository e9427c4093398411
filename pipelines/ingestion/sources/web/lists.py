"""Sitemaps, RSS and Atom feeds: what they list, and the pages that this makes. They may hold anything."""

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Literal, NamedTuple

from pipelines.errors import UNTIL_MENDED, SourceError
from pipelines.ingestion.loaders.sniff import HTML, PLAIN
from pipelines.ingestion.sources.web.address import Address, join, printable_url
from pipelines.ingestion.sources.web.responses import NotAsked
from pipelines.text import one_line
from pipelines.wording import format_count

ListKind = Literal["sitemap", "index", "feed", ""]

_HTTP = ("https://", "http://")
_LIST_NAME = re.compile(
    r"(?:sitemaps?|feeds?|rss|atom)(?:\.(?!(?:html?|json)$)\w{1,5})?|.{1,300}\.(?:xml|rss|atom|rdf)(?:\.gz)?",
    re.IGNORECASE,
)
_MAX_STAMP = 40
_ROOTS: dict[str, ListKind] = {
    "urlset": "sitemap", "sitemapindex": "index", "rss": "feed", "feed": "feed", "RDF": "feed",
}  # fmt: skip
_ATOM = "feed"
_BASE = "{http://www.w3.org/XML/1998/namespace}base"
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ENTITY = tuple("<!ENTITY".encode(codec) for codec in ("ascii", "utf-16-le", "utf-16-be"))
_MAX_LISTS = 1_000
_NAMES_SHOWN = 3
_MAX_NAMED = 10  # addresses that cannot be fetched; the others are counted
_TELL_THE_SITE = "Tell the operator of the site."


@dataclass(frozen=True, slots=True)
class Link:
    """A page, or another sitemap, that is listed.

    Attributes:
        url: As it is written in the list.
        stamp: When it changed; empty where the list does not say.
        bases: What `url` is relative to, outermost first; the first of them is relative to the list itself.
    """

    url: str
    stamp: str = ""
    bases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WebList:
    """The links of a sitemap, an index of sitemaps or a feed, in order; `site` is the page that a feed is of."""

    kind: ListKind
    links: tuple[Link, ...] = ()
    site: Link = Link("")


def read_list(body: bytes, media_type: str, name: str) -> WebList:
    """Read a sitemap or a feed.

    Raises:
        SourceError: If it is none, or one that cannot be read.
    """
    if media_type == HTML:
        hint = 'Check the address. If a page is meant, say `follow = "page"` of it in the file of sources.'
        raise SourceError(
            f"{name} returned a page where a sitemap or a feed was expected.", hint=hint, wait=UNTIL_MENDED
        )
    found = _read_text_list(body) if media_type == PLAIN else read_xml_list(body, name)
    if not found.kind or (media_type == PLAIN and not found.links):
        raise SourceError(f"{name} is neither a sitemap nor a feed.", hint="Check the address.", wait=UNTIL_MENDED)
    return found


def is_named_as_list(target: str) -> bool:
    """Return True if the path of an address has the name of a sitemap or a feed."""
    return bool(_LIST_NAME.fullmatch(target.partition("?")[0].rstrip("/").rpartition("/")[2]))


def settled_stamp(stamp: str, now: datetime) -> str:
    """Return the stamp if its day is over everywhere, so that an edit from now on has another one; else empty.

    A month or a year is never relied on.
    """
    try:
        return stamp if date.fromisoformat(stamp[:10]) + timedelta(days=2) <= now.date() else ""
    except (ValueError, OverflowError):
        return ""


def read_xml_list(body: bytes, name: str) -> WebList:
    """Read a sitemap, an RSS or an Atom feed; other XML has no kind. No entity is expanded, and nothing is fetched.

    Raises:
        SourceError: If it is no XML that can be read, or declares entities.
    """
    root = _parse_xml(body, name)
    kind = _ROOTS.get(_local(root), "")
    if kind == "feed":
        site = _link_of(root, next(iter(_children(root, "channel")), root))
        return WebList(kind, tuple(_entries(root)), site)
    parts = _children(root, "url" if kind == "sitemap" else "sitemap") if kind else ()
    links = (Link(_text(one, "loc"), _plausible_stamp(_text(one, "lastmod"))) for one in parts)
    return WebList(kind, tuple(link for link in links if link.url))


def _read_text_list(body: bytes) -> WebList:
    """Read a sitemap in plain text: an address a line."""
    lines = (line.strip() for line in body.decode("utf-8-sig", "replace").splitlines())
    return WebList("sitemap", tuple(Link(line) for line in lines if line.startswith(_HTTP)))


def _parse_xml(body: bytes, name: str) -> Any:
    from lxml import etree

    if any(mark in body.upper() for mark in _ENTITY):
        raise SourceError(f"{name} declares entities, which are not allowed.", hint=_TELL_THE_SITE)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, huge_tree=False, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(body.lstrip(), parser)
    except (etree.LxmlError, ValueError) as error:
        why = one_line(str(error))[:200]
        raise SourceError(f"{name} is not readable XML: {why}.", hint=_TELL_THE_SITE) from error


def _entries(root: Any) -> Iterator[Link]:
    """Yield the entries of a feed; only Atom says when an entry changed: RSS says when it was written."""
    for one in root.iter("{*}item", "{*}entry"):
        link = _link_of(root, one)
        permanent = (guid.text or "" for guid in _children(one, "guid") if guid.get("isPermaLink") != "false")
        if url := link.url or next(permanent, "").strip():
            yield Link(url, _plausible_stamp(_text(one, "updated")), link.bases)


def _link_of(root: Any, element: Any) -> Link:
    """Return the page of an entry, a channel or a feed: the text of its link, or Atom's alternate one."""
    for link in _children(element, "link"):
        url = (link.text or "").strip() or link.get("href", "").strip()
        if url and link.get("rel", "alternate") == "alternate":
            around = dict.fromkeys((root, element, link)) if _local(root) == _ATOM else ()
            return Link(url, bases=_bases(url, [one.get(_BASE, "").strip() for one in around]))
    return Link("")


def _bases(url: str, declared: list[str]) -> tuple[str, ...]:
    """Return the bases that apply to a link: none if it is absolute, else from the last absolute one on.

    Source: https://www.w3.org/TR/xmlbase/, RFC 4287 section 2.
    """
    if _ABSOLUTE.match(url):
        return ()
    bases = [base for base in declared if base]
    absolute = [number for number, base in enumerate(bases) if _ABSOLUTE.match(base)]
    return tuple(bases[absolute[-1] if absolute else 0 :])


def _children(element: Any, name: str) -> list[Any]:
    return [child for child in element if isinstance(child.tag, str) and _local(child) == name]


def _text(element: Any, name: str) -> str:
    return next(((child.text or "").strip() for child in _children(element, name)), "")


def _local(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _plausible_stamp(text: str) -> str:
    return text if text[:4].isdecimal() and len(text) <= _MAX_STAMP else ""


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
