"""The article of a web page, as trafilatura finds it."""

import logging
from dataclasses import dataclass
from typing import Any

from pipelines.ingestion.loaders.article_blocks import rendering_of
from pipelines.ingestion.loaders.rendering import Rendering

_SHORT = 250  # characters: less is rarely an article, and then what precision left out is looked at
_LAST_DATE = "2100-01-01"  # else trafilatura takes today for it, and the same bytes would not say the same
_BROKEN = (ValueError, TypeError, AttributeError, LookupError, RecursionError, AssertionError)


@dataclass(frozen=True, slots=True)
class Article:
    """An article's rendering, and what its page says of it; what it does not say is empty."""

    rendering: Rendering
    title: str = ""
    author: str = ""
    date: str = ""
    url: str = ""
    site: str = ""
    description: str = ""
    language: str = ""


def article_of(page: str, url: str) -> Article:
    """The article of a page, menus, comments and the like apart; its rendering is empty where none is found.

    A page that says it is an article is read strictly: what surrounds one is much. Any other, such as a page of a
    manual, is read so that less of it is lost.

    Args:
        page: The source of the page.
        url: Where it stands, for the addresses that are given relative to it.
    """
    found = _extracted(page, url, precise=True)
    if found is None or "article" not in (found.pagetype or "").lower() or len(_words(found.body)) < _SHORT:
        found = _longer(found, _extracted(page, url, precise=False))
    if found is None:
        return Article(Rendering())
    return Article(
        rendering_of(found.body),
        title=found.title or "",
        author=", ".join(dict.fromkeys((found.author or "").split("; "))),
        date=found.date or "",
        url=found.url or "",
        site=found.sitename or "",
        description=found.description or "",
        language=found.language or "",
    )


def _longer(one: Any, other: Any) -> Any:
    if one is None or other is None:
        return one or other
    return other if len(_words(other.body)) > len(_words(one.body)) else one


def _words(body: Any) -> str:
    return "".join(body.itertext())


def _extracted(page: str, url: str, *, precise: bool) -> Any:
    """trafilatura's document; None where it finds no article or cannot read the page."""
    for name in ("trafilatura", "htmldate"):  # which tell of pages without an article or a date
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
    """The page with headings that do not link to themselves: trafilatura takes what is all link for a menu."""
    for heading in tree.iter("h1", "h2", "h3", "h4", "h5", "h6") if tree is not None else ():
        for link in [one for one in heading.iter("a") if (one.get("href") or "").startswith("#")]:
            if any(map(str.isalnum, link.text_content())):
                link.drop_tag()
            else:  # a pilcrow, or a picture of a chain
                link.drop_tree()
    return tree
