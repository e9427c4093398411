"""Load web pages: the article that trafilatura finds on an HTML page, or whatever other document was fetched."""

import logging
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urljoin, urlsplit

from config.settings import Limits
from pipelines.errors import LoadError
from pipelines.ingestion.envelope import unpack
from pipelines.ingestion.loaders.base import Content, Loader, as_document, check_size, parse_datetime
from pipelines.ingestion.loaders.html import (
    BLOCKS,
    OUTSIDE,
    decode_page,
    is_deeper_than,
    is_hidden,
    load_html,
    parse_html,
    parse_page,
    render_page,
    title_element,
)
from pipelines.ingestion.loaders.sniff import BINARY, HTML, PLAIN, sniff
from pipelines.text import digit_runs, one_line
from pipelines.types import Document, SourceItem

_FEW_WORDS = 30
_ALMOST_NO_WORDS = 10
_MAX_DIGITS = 10
_SHORT_WAIT = 30.0  # seconds; a slower refresh reloads a page that is meant to be read
_WBR = re.compile(r"</?wbr\b[^<>]{0,200}>", re.IGNORECASE)  # lxml leaves it open, and loses text 256 levels deep
_MAX_DECLARATION = 500  # characters
_MAX_ELEMENTS = 20_000  # more take trafilatura seconds, and its time grows faster than their number
_MAX_INLINE_ELEMENTS = 2_000  # in one block; the time grows with their cube
_MAX_ARTICLE_DEPTH = 200  # nested elements; libxml2 by default drops those below 255
_QUICK = frozenset({"pre", "svg", "math", "select"})  # fast, whatever their size


def load_web(data: bytes, item: SourceItem, limits: Limits, loaders: Mapping[str, Loader]) -> Document:
    """The Document of an envelope: the article of HTML, or what the loader of any other MIME type makes.

    Raises:
        LoadError: If it is damaged, too large, of a kind that no loader reads, or shows its text only by scripts.
    """
    envelope = unpack(data, item.name)
    stated = str(envelope.facts.get("type", ""))
    mime = stated if stated in loaders and stated != PLAIN else sniff(envelope.body, item.name)
    check_size(item.name, len(envelope.body), limits, binary=mime in BINARY)
    address = str(envelope.facts.get("url") or item.uri)
    if mime in BINARY:
        content = _with_metadata(loaders[mime](envelope.body, item, limits), {"url": address})
        return as_document(content, data, item, mime)
    text = decode_page(envelope.body, item.name, str(envelope.facts.get("charset", "")))
    if mime == HTML:
        content = _load_page(_WBR.sub("", _without_declaration(text)), address, item, limits)
    else:
        content = _with_metadata(loaders[mime](text.encode(), item, limits), {"url": address})
    return as_document(content, data, item, mime)


def _load_page(source: str, address: str, item: SourceItem, limits: Limits) -> Content:
    if is_too_complex(source):
        return _load_plain_page(source, address, item)
    article = extract_article(source, address)
    if article is None:
        return _load_whole_page(source, address, item, limits)
    _check_text(article.text, source, address, item, is_article=True)
    return article


def _without_declaration(source: str) -> str:
    """The page without the declaration of XML before it."""
    end = source.find("?>", 0, _MAX_DECLARATION) + 2
    return source[end:] if source.lstrip().startswith("<?xml") and end > 1 else source


def _load_whole_page(source: str, address: str, item: SourceItem, limits: Limits) -> Content:
    """The whole text of a page without an article: a list of links, a table, a form."""
    try:
        content = load_html(source.encode(), item, limits)
    except LoadError:
        _check_text("", source, address, item, is_article=False)
        raise
    _check_text(content.text, source, address, item, is_article=False)
    return _with_metadata(content, {"url": address})


def _load_plain_page(source: str, address: str, item: SourceItem) -> Content:
    """The blocks of a page with too many or too deeply nested elements to extract an article from."""
    tree = parse_page(source, item.name)
    rendering = render_page(tree, skipped=OUTSIDE)
    _check_text(rendering.text, source, address, item, is_article=False)
    return Content(text=rendering.text, blocks=rendering.blocks, title=title_element(tree), metadata={"url": address})


def _with_metadata(content: Content, facts: Mapping[str, Any]) -> Content:
    return replace(content, metadata={**content.metadata, **facts})


def _check_text(text: str, source: str, address: str, item: SourceItem, *, is_article: bool) -> None:
    """Refuse a page with next to no text that redirects elsewhere, or that has scripts to render it."""
    count = len(text.split())
    longest = math.inf if count < _ALMOST_NO_WORDS else _SHORT_WAIT
    if count < _FEW_WORDS and (target := _redirect_target(source, address, longest)):
        hint = "Use that address instead, if it is the right one."
        raise LoadError(f"{item.name} has almost no text but redirects to {target}.", hint=hint)
    few = count < _FEW_WORDS and (not is_article or "javascript" in text.casefold())
    if (few or count < _ALMOST_NO_WORDS) and "<script" in source.lower():
        raise LoadError(
            f"{item.name} needs JavaScript: without its scripts it has almost no text.",
            hint="Save it from a browser as HTML or PDF and ingest that file, or name the feed or sitemap of its site.",
        )


def _redirect_target(source: str, address: str, longest: float) -> str:
    """The target of a `refresh` within this many seconds; empty if there is none, or to the page itself.

    Those in comments, `noscript` and `template` do not count.
    """
    tree = parse_html(source)
    for meta in tree.iter("meta") if tree is not None else ():
        if meta.get("http-equiv", "").strip().lower() != "refresh" or any(
            True for _ in meta.iterancestors("noscript", "template")
        ):
            continue
        wait, _, target = meta.get("content", "").partition("=")
        target = "".join(target.strip().strip("\"'").split(maxsplit=1)[:1])
        seconds = digit_runs(wait)[0] if wait.strip()[:1].isdecimal() else "0"
        is_refresh = wait.strip().lower().endswith("url") and bool(target) and len(seconds) < _MAX_DIGITS
        if is_refresh and float(seconds) <= longest and _leads_elsewhere(address, target):
            return one_line(target)
    return ""


def _leads_elsewhere(address: str, link: str) -> bool:
    """True if a link on the page at an address leads to another page; False if it cannot be resolved."""
    try:
        here, there = urlsplit(address), urlsplit(urljoin(address, link))
    except ValueError:
        return False
    return (there.hostname, there.path.rstrip("/"), there.query) != (here.hostname, here.path.rstrip("/"), here.query)


def is_too_complex(page: str) -> bool:
    """True if a page has too many elements, in all or in one line, or too deep ones, to extract an article."""
    count = sum(after[:1].isascii() and after[:1].isalpha() for after in page.split("<")[1:])
    if not _MAX_ARTICLE_DEPTH < count <= _MAX_ELEMENTS:
        return count > _MAX_ELEMENTS
    tree = parse_html(page)
    if tree is None:
        return False
    return is_deeper_than(tree, _MAX_ARTICLE_DEPTH) or (
        count > _MAX_INLINE_ELEMENTS and _max_inline_elements(tree) > _MAX_INLINE_ELEMENTS
    )


def _max_inline_elements(tree: Any) -> int:
    """The most inline elements (without line breaks) and texts after blocks, directly in any one block."""
    from lxml import etree

    most, counts = 0, [0]
    for event, element in etree.iterwalk(tree, events=("start", "end")):
        is_quick = element.tag in _QUICK
        if not is_quick and element.tag not in BLOCKS:
            counts[-1] += event == "start" and element.tag != "br"
        elif event == "start":
            counts.append(0)
        else:
            count = counts.pop()
            most = most if is_quick else max(most, count)
            counts[-1] += bool(element.tail and element.tail.strip())
    return max(most, *counts)


_SHORT = 250  # characters; less is rarely an article, so it is extracted again with higher recall
_LAST_DATE = "2100-01-01"  # the default, today, would make the same bytes load differently later
_BROKEN = (ValueError, TypeError, AttributeError, LookupError, RecursionError, AssertionError)
_TAGS = {"item": "li", "row": "tr", "lb": "br", "quote": "blockquote"}  # of trafilatura's in HTML
_KEPT = frozenset({"p", "div", "table", "body"})


def extract_article(page: str, url: str) -> Content | None:
    """The article of a page without menus and comments; None if none is found.

    A page that states it is an article is extracted with high precision. Any other page, such as a manual's, is
    extracted with higher recall.
    """
    found = _extract(page, url, precise=True)
    if found is None or "article" not in (found.pagetype or "").lower() or len(_body_text(found.body)) < _SHORT:
        documents = [one for one in (found, _extract(page, url, precise=False)) if one is not None]
        found = max(documents, key=lambda one: len(_body_text(one.body)), default=None)
    rendering = render_page(None if found is None else _as_html(found.body))
    if not rendering.text:
        return None
    address = found.url or ""
    facts = {
        "url": one_line(address) if address.startswith(("https://", "http://")) else url,
        "site": one_line(found.sitename),
        "description": one_line(found.description),
        "language": one_line(found.language),
    }
    return Content(
        text=rendering.text,
        blocks=rendering.blocks,
        title=one_line(found.title),
        author=one_line(", ".join(dict.fromkeys((found.author or "").split("; ")))),
        published_at=parse_datetime(found.date or ""),
        metadata={name: value for name, value in facts.items() if value},
    )


def _body_text(body: Any) -> str:
    return "".join(body.itertext())


def _extract(page: str, url: str, *, precise: bool) -> Any:
    """trafilatura's document; None if it finds no article or cannot read the page."""
    for name in ("trafilatura", "htmldate"):  # they log pages without an article or a date
        logging.getLogger(name).setLevel(logging.CRITICAL)
    from lxml.etree import LxmlError
    from trafilatura import bare_extraction, load_html

    dates = {"original_date": True, "extensive_search": False, "max_date": _LAST_DATE}
    try:
        tree = _with_plain_headings(_with_marked_hidden(load_html(page)))
        return bare_extraction(
            tree, url=url or None, favor_precision=precise, include_comments=False, include_tables=True,
            with_metadata=True, date_extraction_params=dates,
        )  # fmt: skip
    except (*_BROKEN, LxmlError):
        return None


def _with_marked_hidden(tree: Any) -> Any:
    """The page with the mark of what no reader sees that trafilatura goes by."""
    for element in tree.iter("*") if tree is not None else ():
        if is_hidden(element):
            element.set("style", "display:none")
    return tree


def _with_plain_headings(tree: Any) -> Any:
    """The page without links from headings to themselves: trafilatura takes such headings for a menu."""
    for heading in tree.iter("h1", "h2", "h3", "h4", "h5", "h6") if tree is not None else ():
        for link in [one for one in heading.iter("a") if (one.get("href") or "").startswith("#")]:
            if any(map(str.isalnum, link.text_content())):
                link.drop_tag()
            else:  # only a pilcrow or an image
                link.drop_tree()
    return tree


def _as_html(body: Any) -> Any:
    """The body with the tags of HTML; what is no block becomes a `span`."""
    for element in body.iter("*"):
        match element.tag:
            case "head":
                level = digit_runs(element.get("rend") or "")
                element.tag = f"h{min(max(int(level[0]), 1), 6) if level else 2}"
            case "list":
                element.tag = "ol" if element.get("rend") == "ol" else "ul"
            case "cell":
                element.tag = "th" if element.get("role") == "head" else "td"
            case "code":
                element.tag = "pre" if "\n" in "".join(element.itertext()) else "code"
            case tag if tag not in _KEPT:
                element.tag = _TAGS.get(tag, "span")
    return body
