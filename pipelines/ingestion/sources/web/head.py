"""What a look at a page tells that tells copies of it, and whether what it says changed since."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pipelines.errors import SourceError
from pipelines.ingestion.sources.web.address import Address, join

_UNSEEN = frozenset({"script", "style", "noscript", "template", "input", "iframe"})
_TELLING = re.compile(
    r"(?:og:|article[:._]|twitter:|dc[.:]|dcterms\.|citation_|author|description|date|pub|title|(?:last-?)?modified"
    r"|created|release_date|revision_date|sailthru\.date|parsely-pub-date)"
)
_TOLD_BY = frozenset({"img", "meta", "link", "html", "time", "abbr"})
_TIMES = ("datetime", "data-utime")


class Head(NamedTuple):
    """Where a page says that it stands, what it is called, and a digest of all that it says; empty where it is none.

    The digest passes over what servers put in anew at each request: scripts, tokens of forms, attributes.
    """

    canonical: str = ""
    title: str = ""
    says: str = ""


def head_of(body: bytes, address: Address, private_hosts: tuple[str, ...]) -> Head:
    """What a look at an HTML page tells."""
    from lxml import html
    from lxml.etree import LxmlError

    try:
        tree = html.document_fromstring(body)
    except (LxmlError, ValueError):
        return Head()
    link = next((one.get("href") for one in tree.iter("link") if _is_canonical(one.get("rel")) and one.get("href")), "")
    title = next((one.text_content() for one in tree.iter("title")), "")
    try:
        canonical = join(address, link, private_hosts).url if link else ""
    except SourceError:
        canonical = ""
    said = "\n".join(_said(tree)).encode("utf-8", "replace")
    return Head(canonical, " ".join(title.split())[:300], hashlib.sha256(said).hexdigest())


def copies(heads: Mapping[str, Head]) -> dict[str, str]:
    """Of pages, by their address, those that are copies of another, with its address: one of each canonical one stays.

    It is the page that stands at that address, else the first one. Copies have the same title and say the same, for
    some sites give all their pages one canonical address by mistake.
    """
    keys = {uri: head for uri, head in heads.items() if head.canonical}
    stays = {key: uri for uri, key in reversed(list(keys.items()))}
    stays |= {key: uri for uri, key in keys.items() if key.canonical == uri}
    return {uri: stays[key] for uri, key in keys.items() if stays[key] != uri}


def _said(tree: Any) -> Iterator[str]:
    """The words of a page with the names of their elements, what images show, and what its head says of it."""
    for element in tree.iter():
        if not isinstance(element.tag, str):  # a comment or an instruction
            yield element.tail or ""
            continue
        yield element.tag
        if element.tag not in _UNSEEN or element.get("type") == "application/ld+json":
            yield element.text or ""
        if element.tag in _TOLD_BY:
            yield from _told(element)
        yield element.tail or ""


def _told(element: Any) -> Iterator[str]:
    """What the attributes of an element say that a reader of the page is told."""
    names = (element.get(name) or "" for name in ("name", "property", "itemprop", "http-equiv"))
    if element.tag == "meta" and any(_TELLING.match(name.lower()) for name in names):
        yield element.get("content") or ""
    if element.tag == "link" and _is_canonical(element.get("rel")):
        yield element.get("href") or ""
    if element.tag in ("time", "abbr"):
        yield from (element.get(name) or "" for name in (*_TIMES, "title"))
    yield element.get("alt") or element.get("lang") or ""


def _is_canonical(rel: str | None) -> bool:
    return "canonical" in (rel or "").lower().split()
