"""Extract the article of a web page with trafilatura."""

import logging
from typing import Any

from pipelines.ingestion.loaders.base import Content, parse_datetime
from pipelines.ingestion.loaders.html import render_page
from pipelines.text import canonical, digit_runs

_SHORT = 250  # characters; less is rarely an article, so it is extracted again with higher recall
_LAST_DATE = "2100-01-01"  # the default, today, would make the same bytes load differently later
_BROKEN = (ValueError, TypeError, AttributeError, LookupError, RecursionError, AssertionError)
_TAGS = {"item": "li", "row": "tr", "lb": "br", "quote": "blockquote"}  # of trafilatura's in HTML
_KEPT = frozenset({"p", "div", "table", "body"})


def extract_article(page: str, url: str) -> Content | None:
    """The article of a page without menus and comments; None if none is found.

    A page that states it is an article is extracted with high precision. Any other page, such as a manual's, is
    extracted with higher recall.

    Args:
        page: The source of the page.
        url: Its address, to resolve relative ones.
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
        "url": _clean(address) if address.startswith(("https://", "http://")) else url,
        "site": _clean(found.sitename),
        "description": _clean(found.description),
        "language": _clean(found.language),
    }
    return Content(
        text=rendering.text,
        blocks=rendering.blocks,
        title=_clean(found.title),
        author=_clean(", ".join(dict.fromkeys((found.author or "").split("; ")))),
        published_at=parse_datetime(found.date or ""),
        metadata={name: value for name, value in facts.items() if value},
    )


def _clean(text: str | None) -> str:
    return " ".join(canonical(text or "").split())


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
        tree = _with_plain_headings(load_html(page))
        return bare_extraction(
            tree, url=url or None, favor_precision=precise, include_comments=False, include_tables=True,
            with_metadata=True, date_extraction_params=dates,
        )  # fmt: skip
    except (*_BROKEN, LxmlError):
        return None


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
