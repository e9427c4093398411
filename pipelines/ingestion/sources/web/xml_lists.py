"""Sitemaps and feeds in XML. It is hostile: no entity is taken in, and nothing is fetched for it."""

import re
from collections.abc import Iterator
from typing import Any

from pipelines.errors import SourceError
from pipelines.ingestion.sources.web.address import readable
from pipelines.ingestion.sources.web.listed import Link, ListKind, WebList, stamp_of

_ROOTS: dict[str, ListKind] = {
    "urlset": "sitemap", "sitemapindex": "index", "rss": "feed", "feed": "feed", "RDF": "feed",
}  # fmt: skip
_ATOM = "feed"
_BASE = "{http://www.w3.org/XML/1998/namespace}base"
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ENTITY = tuple("<!ENTITY".encode(codec) for codec in ("ascii", "utf-16-le", "utf-16-be"))


def read_xml_list(body: bytes, name: str) -> WebList:
    """The sitemap or feed that these bytes are; of no kind where they are other XML.

    Raises:
        SourceError: If they are no XML that can be read, or declare entities.
    """
    root = _parsed(body, name)
    kind = _ROOTS.get(_local(root), "")
    if kind == "feed":
        site = _link_of(root, next(iter(_children(root, "channel")), root))
        return WebList(kind, tuple(_entries(root)), site)
    parts = _children(root, "url" if kind == "sitemap" else "sitemap") if kind else ()
    links = (Link(_text(one, "loc"), stamp_of(_text(one, "lastmod"))) for one in parts)
    return WebList(kind, tuple(link for link in links if link.url))


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
        link = _link_of(root, one)
        permanent = (guid.text or "" for guid in _children(one, "guid") if guid.get("isPermaLink") != "false")
        if url := link.url or next(permanent, "").strip():
            yield Link(url, stamp_of(_text(one, "updated")), link.bases)


def _link_of(root: Any, element: Any) -> Link:
    """The page that an entry, a channel or a feed is about: the text of its link, or Atom's alternate one."""
    for link in _children(element, "link"):
        url = (link.text or "").strip() or link.get("href", "").strip()
        if url and link.get("rel", "alternate") == "alternate":
            around = dict.fromkeys((root, element, link)) if _local(root) == _ATOM else ()
            return Link(url, bases=_bases(url, [one.get(_BASE, "").strip() for one in around]))
    return Link("")


def _bases(url: str, said: list[str]) -> tuple[str, ...]:
    """Those that a link is relative to: none if it is absolute, else from the last absolute one on.

    Source: https://www.w3.org/TR/xmlbase/, RFC 4287 section 2.
    """
    if _ABSOLUTE.match(url):
        return ()
    bases = [base for base in said if base]
    absolute = [number for number, base in enumerate(bases) if _ABSOLUTE.match(base)]
    return tuple(bases[absolute[-1] if absolute else 0 :])


def _children(element: Any, name: str) -> list[Any]:
    return [child for child in element if isinstance(child.tag, str) and _local(child) == name]


def _text(element: Any, name: str) -> str:
    return next(((child.text or "").strip() for child in _children(element, name)), "")


def _local(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]
