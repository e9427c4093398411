"""Notes on fetched pages (title, canonical address, digest of the words, validators), and copies among them."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from pipelines.errors import SourceError
from pipelines.ingestion.sources.web.address import Address, join
from pipelines.store.fetch_cache import Fetched, forget_fetched, recall_fetched, remember_fetched

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


def page_note(home: Path, uri: str) -> Fetched | None:
    """Return the note of a page whose bytes are kept."""
    note = recall_fetched(home, uri)
    return note if note and note.sha else None


def noted_head(home: Path, uri: str) -> Head:
    """Return the head that is noted of a page; empty without a note."""
    note = page_note(home, uri)
    return Head(*map(str, note.more.get("head", ()))) if note else Head()


def noted_validators(note: Fetched | None) -> dict[str, str]:
    """Return the request headers that ask whether a page is still as it was noted."""
    return {str(name): str(value) for name, value in note.more.get("validators", {}).items()} if note else {}


def noted_place(note: Fetched | None) -> str:
    """Return the address of a page after redirects, as it was noted; empty without a note."""
    return str(note.more.get("told", {}).get("url", "")) if note else ""


def begin_look(home: Path, uri: str, now: datetime) -> str:
    """Return the mark of a listing that begins: that of one of the last hour that did not finish, which it continues.

    Raises:
        StoreError: If it cannot be noted.
    """
    note = recall_fetched(home, _look_uri(uri))
    if note and timedelta() <= now - datetime.fromisoformat(note.stamp) < _RECENT:
        return note.stamp
    remember_fetched(home, Fetched(_look_uri(uri), now.isoformat(), "", 0))
    return now.isoformat()


def end_look(home: Path, uri: str) -> None:
    """Note that a listing finished: the next one continues none."""
    forget_fetched(home, _look_uri(uri))


def is_from_look(note: Fetched, look: str, stamp: str) -> bool:
    """Return True if this same listing fetched a page, and no validator could tell cheaply whether it changed since."""
    return bool(look) and note.more.get("look") == look and note.stamp == stamp and not noted_validators(note)


def note_list(home: Path, uri: str, kind: str) -> None:
    """Note that an address is a sitemap or a feed.

    Raises:
        StoreError: If it cannot be written.
    """
    remember_fetched(home, Fetched(uri, "", "", 0, {"list": kind}))


def was_list(home: Path, uri: str) -> bool:
    """Return True if an address was a sitemap or a feed when it was listed last."""
    note = recall_fetched(home, uri)
    return bool(note and note.more.get("list"))


def _look_uri(uri: str) -> str:
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
