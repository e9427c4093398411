"""Notes on fetched pages (title, canonical address, digest of the words, validators), and copies among them."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from pipelines.errors import SourceError
from pipelines.ingestion.sources.web.address import Address, join
from pipelines.store.fetch_cache import Fetched, recall_fetched, remember_fetched

_HIDDEN_ELEMENTS = frozenset({"script", "style", "noscript", "template", "input", "iframe"})
_META_NAMES = re.compile(
    r"(?:og:|article[:._]|twitter:|dc[.:]|dcterms\.|citation_|author|description|date|pub|title|(?:last-?)?modified"
    r"|created|release_date|revision_date|sailthru\.date|parsely-pub-date)"
)
_WITH_ATTRIBUTES = frozenset({"img", "meta", "link", "html", "time", "abbr"})
_TIME_ATTRIBUTES = ("datetime", "data-utime")
_RECENT = timedelta(hours=1)


class Head(NamedTuple):
    """The canonical address of a page, its title, and a digest of its words; empty if it is no HTML.

    The digest leaves out what servers change at each request: scripts, tokens of forms, attributes.
    """

    canonical: str = ""
    title: str = ""
    says: str = ""


def head_of(body: bytes, address: Address, private_hosts: tuple[str, ...]) -> Head:
    """Return the head of an HTML page."""
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
    words = "\n".join(_words(tree)).encode("utf-8", "replace")
    return Head(canonical, " ".join(title.split())[:300], hashlib.sha256(words).hexdigest())


def find_copies(heads: Mapping[str, Head]) -> dict[str, str]:
    """Return the pages that are copies of another, by address, each with the address of the one that stays.

    That is the page at their canonical address, else the first one. Copies have the same title and the same words: some
    sites give all their pages one canonical address by mistake.
    """
    keys = {uri: head for uri, head in heads.items() if head.canonical}
    stays = {key: uri for uri, key in reversed(list(keys.items()))}
    stays |= {key: uri for uri, key in keys.items() if key.canonical == uri}
    return {uri: stays[key] for uri, key in keys.items() if stays[key] != uri}


def begin_look(home: Path, uri: str, now: datetime) -> str:
    """Return the mark of a listing that begins: that of one of the last hour that did not finish, which it continues.

    Raises:
        StoreError: If it cannot be noted.
    """
    note = recall_fetched(home, look_uri(uri))
    if note and timedelta() <= now - datetime.fromisoformat(note.stamp) < _RECENT:
        return note.stamp
    remember_fetched(home, Fetched(look_uri(uri), now.isoformat(), "", 0))
    return now.isoformat()


def look_uri(uri: str) -> str:
    """Return the key under which it is noted that a list is being looked through."""
    return f"look:{uri}"


def _words(tree: Any) -> Iterator[str]:
    """Yield the words of a page with the names of their elements, the texts of images, and the metadata in its head."""
    for element in tree.iter():
        if not isinstance(element.tag, str):  # a comment or an instruction
            yield element.tail or ""
            continue
        yield element.tag
        if element.tag not in _HIDDEN_ELEMENTS or element.get("type") == "application/ld+json":
            yield element.text or ""
        if element.tag in _WITH_ATTRIBUTES:
            yield from _attribute_words(element)
        yield element.tail or ""


def _attribute_words(element: Any) -> Iterator[str]:
    """Yield the attributes of an element that a reader of the page sees or is told."""
    names = (element.get(name) or "" for name in ("name", "property", "itemprop", "http-equiv"))
    if element.tag == "meta" and any(_META_NAMES.match(name.lower()) for name in names):
        yield element.get("content") or ""
    if element.tag == "link" and _is_canonical(element.get("rel")):
        yield element.get("href") or ""
    if element.tag in ("time", "abbr"):
        yield from (element.get(name) or "" for name in (*_TIME_ATTRIBUTES, "title"))
    yield element.get("alt") or element.get("lang") or ""


def _is_canonical(rel: str | None) -> bool:
    return "canonical" in (rel or "").lower().split()
