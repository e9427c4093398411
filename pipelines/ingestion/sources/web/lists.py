"""What sitemaps and feeds list. Their XML is hostile: no entity is taken in, and nothing is fetched for it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from pipelines.errors import SourceError
from pipelines.ingestion.loaders.sniff import HTML, PLAIN
from pipelines.ingestion.sources.web.address import readable

ListKind = Literal["sitemap", "index", "feed", ""]
_ROOTS: dict[str, ListKind] = {
    "urlset": "sitemap", "sitemapindex": "index", "rss": "feed", "feed": "feed", "RDF": "feed",
}  # fmt: skip
_LONGEST_STAMP = 40
_NAMES = re.compile(
    r"(?:sitemaps?|feeds?|rss|atom)(?:\.(?!html?$)\w{1,5})?|.{1,300}\.(?:xml|rss|atom|rdf)(?:\.gz)?", re.IGNORECASE
)
_ENTITY = tuple("<!ENTITY".encode(codec) for codec in ("ascii", "utf-16-le", "utf-16-be"))


@dataclass(frozen=True, slots=True)
class Link:
    """A page, or another sitemap, that is listed: where, and when it changed; empty where that is not said."""

    url: str
    stamp: str = ""


@dataclass(frozen=True, slots=True)
class WebList:
    """What a sitemap, an index of sitemaps or a feed lists, in its order; `site` is the page that a feed is of."""

    kind: ListKind
    links: tuple[Link, ...] = ()
    site: str = ""


def list_of(body: bytes, media_type: str, name: str) -> WebList:
    """The sitemap or feed that an answer of a type is.

    Raises:
        SourceError: If it is none.
    """
    if media_type == HTML:
        hint = 'Run again later. If a page is meant, say `follow = "page"` of it in the file of sources.'
        raise SourceError(f"{name} answers a page where a sitemap or a feed is expected.", hint=hint)
    held = read_text_list(body) if media_type == PLAIN else read_list(body, name)
    if not held.kind or (media_type == PLAIN and not held.links):
        raise SourceError(f"{name} is neither a sitemap nor a feed.", hint="Check the address.")
    return held


def read_list(body: bytes, name: str) -> WebList:
    """The sitemap or feed that these bytes are; of no kind where they are other XML.

    Raises:
        SourceError: If they are no XML that can be read, or declare entities.
    """
    root = _parsed(body, name)
    kind = _ROOTS.get(_local(root), "")
    if kind == "feed":
        site = _link_of(next(iter(_children(root, "channel")), root))
        return WebList(kind, tuple(_entries(root)), site)
    parts = _children(root, "url" if kind == "sitemap" else "sitemap") if kind else ()
    links = (Link(_text(one, "loc"), _stamp(_text(one, "lastmod"))) for one in parts)
    return WebList(kind, tuple(link for link in links if link.url))


def read_text_list(body: bytes) -> WebList:
    """A sitemap in plain text: an address a line."""
    lines = (line.strip() for line in body.decode("utf-8-sig", "replace").splitlines())
    return WebList("sitemap", tuple(Link(line) for line in lines if line.startswith(("http://", "https://"))))


def is_named_as_list(target: str) -> bool:
    """Whether the path of an address says that a sitemap or a feed stands there."""
    return bool(_NAMES.fullmatch(target.partition("?")[0].rstrip("/").rpartition("/")[2]))


def _parsed(body: bytes, name: str) -> Any:
    from lxml import etree

    if any(mark in body.upper() for mark in _ENTITY):
        raise SourceError(f"{name} declares entities, which are not read.", hint="Tell who runs the site.")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, huge_tree=False, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(body.lstrip(), parser)
    except (etree.LxmlError, ValueError) as error:
        why = readable(str(error))[:200]
        raise SourceError(f"{name} is no XML that can be read: {why}.", hint="Tell who runs the site.") from error


def _entries(root: Any) -> Iterator[Link]:
    """The entries of a feed: RSS 2.0 and 1.0 items, whose time is that of writing, and Atom's, which say changes."""
    for one in root.iter("{*}item", "{*}entry"):
        permanent = (guid.text or "" for guid in _children(one, "guid") if guid.get("isPermaLink") != "false")
        if url := (_link_of(one) or next(permanent, "")).strip():
            yield Link(url, _stamp(_text(one, "updated")))


def _link_of(element: Any) -> str:
    """The page that an entry, a channel or a feed is about: the text of its link, or Atom's alternate one."""
    for link in _children(element, "link"):
        if link.get("rel", "alternate") == "alternate" and (found := (link.text or "").strip() or link.get("href", "")):
            return str(found).strip()
    return ""


def _children(element: Any, name: str) -> list[Any]:
    return [child for child in element if isinstance(child.tag, str) and _local(child) == name]


def _text(element: Any, name: str) -> str:
    return next(((child.text or "").strip() for child in _children(element, name)), "")


def _local(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _stamp(said: str) -> str:
    """What a list says of when a page changed, if it looks like a time."""
    return said if said[:4].isdecimal() and len(said) <= _LONGEST_STAMP else ""
