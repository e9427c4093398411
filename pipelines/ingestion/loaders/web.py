"""LOAD a web page: the envelope of what was fetched, its article where it is HTML."""

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urljoin, urlsplit

from pipelines.errors import LoadError
from pipelines.ingestion.envelope import unpack
from pipelines.ingestion.loaders.article import Article, article_of
from pipelines.ingestion.loaders.base import Content, Limits, as_document
from pipelines.ingestion.loaders.front_matter import moment
from pipelines.ingestion.loaders.html import load_html
from pipelines.ingestion.loaders.page_plain import is_deeper, is_vast, plain_of, tree_of
from pipelines.ingestion.loaders.page_text import page_text
from pipelines.ingestion.loaders.sniff import BINARY, HTML, PLAIN, sniff
from pipelines.text import canonical
from pipelines.types import Document, SourceItem

_FEW_WORDS = 30
_NEXT_TO_NONE = 10
_DEEPEST = 2_000  # elements in each other: libxml2 drops what lies below 2,048
_SHORT_WAIT = 30.0  # seconds: who reads a page may well be led on later, but not while reading it
_REFRESH = re.compile(r"\s{0,9}([0-9]{0,9})[^=]{0,20}\burl\s{0,3}=\s{0,3}[\"']?([^\"'\s]{1,300})", re.IGNORECASE)
_SCRIPT = re.compile(r"<script\b", re.IGNORECASE)
_WBR = re.compile(r"</?wbr\b[^<>]{0,200}>", re.IGNORECASE)  # lxml takes it for open, and loses words 256 levels deep
_DECLARATION = re.compile(r"\s*<\?xml[^<>]{0,500}\?>")


def load_web(data: bytes, item: SourceItem, limits: Limits) -> Document:
    """The Document of an envelope: of HTML its article, of any other type what the loader of that type makes.

    Raises:
        LoadError: If it is damaged, too large, of a kind that no loader reads, or shows its text only by scripts.
    """
    from pipelines.ingestion.loaders import LOADERS

    envelope = unpack(data, item.name)
    told = str(envelope.told.get("type", ""))
    mime = told if told in LOADERS and told != PLAIN else sniff(envelope.body, item.name)
    if len(envelope.body) > limits.of(binary=mime in BINARY):
        hint = "Leave it out, or raise FOOTNOTE_INGESTION__MAX_TEXT_BYTES or __MAX_BINARY_BYTES."
        raise LoadError(f"{item.name} has {len(envelope.body):,} bytes, over the limit.", hint=hint)
    address = str(envelope.told.get("url") or item.uri)
    if mime in BINARY:
        content = _with(LOADERS[mime](envelope.body, item, limits), {"url": address})
        return as_document(content, data, item, mime)
    text = page_text(envelope.body, item.name, str(envelope.told.get("charset", "")))
    if mime == HTML:
        declared = _DECLARATION.match(text)
        content = _page(_WBR.sub("", text[declared.end() :] if declared else text), address, item, limits)
    else:
        content = _with(LOADERS[mime](text.encode(), item, limits), {"url": address})
    return as_document(content, data, item, mime)


def _page(source: str, address: str, item: SourceItem, limits: Limits) -> Content:
    if is_vast(source):
        return _words(source, address, item)
    article = article_of(source, address)
    if not article.rendering.text:
        return _whole(source, address, item, limits)
    _assert_written(article.rendering.text, source, address, item, is_article=True)
    return Content(
        text=article.rendering.text,
        blocks=article.rendering.blocks,
        title=_line(article.title),
        author=_line(article.author),
        published_at=moment(article.date),
        metadata=_facts(article, address),
    )


def _whole(source: str, address: str, item: SourceItem, limits: Limits) -> Content:
    """The whole text of a page without an article: a list of links, a table, a form."""
    try:
        content = load_html(source.encode(), item, limits)
    except LoadError:
        _assert_written("", source, address, item, is_article=False)
        raise
    _assert_written(content.text, source, address, item, is_article=False)
    return _with(content, {"url": address})


def _words(source: str, address: str, item: SourceItem) -> Content:
    """The words of a page that has too many elements, or too deep ones, to look for its article."""
    if is_deeper(tree_of(source), _DEEPEST):
        hint = "Save it from a browser as PDF and ingest that file."
        raise LoadError(f"{item.name} has over {_DEEPEST:,} elements inside each other.", hint=hint)
    rendering, title = plain_of(source)
    _assert_written(rendering.text, source, address, item, is_article=False)
    return Content(text=rendering.text, blocks=rendering.blocks, title=_line(title), metadata={"url": address})


def _assert_written(text: str, source: str, address: str, item: SourceItem, *, is_article: bool) -> None:
    """Refuse a page that says next to nothing and leads on, or has scripts, which would say it in a browser."""
    count = len(text.split())
    longest = math.inf if count < _NEXT_TO_NONE else _SHORT_WAIT
    if count < _FEW_WORDS and (onward := _onward(source, address, longest)):
        hint = "Name that address instead, if it is meant."
        raise LoadError(f"{item.name} says next to nothing but leads on to {onward}.", hint=hint)
    few = count < _FEW_WORDS and (not is_article or "javascript" in text.casefold())
    if (few or count < _NEXT_TO_NONE) and _SCRIPT.search(source):
        raise LoadError(
            f"{item.name} needs JavaScript: without its scripts it says next to nothing.",
            hint="Save it from a browser as HTML or PDF and ingest that file, or name the feed or sitemap of its site.",
        )


def _onward(source: str, address: str, longest: float) -> str:
    """Where a page sends its readers by a `refresh` within so many seconds; empty where it does not, or to itself.

    What stands in comments, in `noscript` and in `template` sends nobody.
    """
    tree = tree_of(source)
    for meta in tree.iter("meta") if tree is not None else ():
        if meta.get("http-equiv", "").strip().lower() != "refresh" or any(
            True for _ in meta.iterancestors("noscript", "template")
        ):
            continue
        told = _REFRESH.match(meta.get("content", ""))
        if told and float(told[1] or 0) <= longest and _leads_elsewhere(address, told[2]):
            return _line(told[2])
    return ""


def _leads_elsewhere(address: str, link: str) -> bool:
    """Whether a link on the page at an address leads to another one; not so where nobody can tell where it leads."""
    try:
        here, there = urlsplit(address), urlsplit(urljoin(address, link))
    except ValueError:
        return False
    return (there.hostname, there.path.rstrip("/"), there.query) != (here.hostname, here.path.rstrip("/"), here.query)


def _with(content: Content, facts: Mapping[str, Any]) -> Content:
    return replace(content, metadata={**content.metadata, **facts})


def _facts(article: Article, address: str) -> dict[str, Any]:
    """What the page says of itself; `url` is its canonical address."""
    facts = {
        "url": _line(article.url) if article.url.startswith(("https://", "http://")) else address,
        "site": _line(article.site),
        "description": _line(article.description),
        "language": _line(article.language),
    }
    return {name: value for name, value in facts.items() if value}


def _line(text: str) -> str:
    return " ".join(canonical(text).split())
