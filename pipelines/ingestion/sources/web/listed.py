"""What a list of pages says, whatever it is written in."""

from dataclasses import dataclass
from typing import Literal

ListKind = Literal["sitemap", "index", "feed", ""]
_LONGEST_STAMP = 40


@dataclass(frozen=True, slots=True)
class Link:
    """A page, or another sitemap, that is listed.

    Attributes:
        url: Where, as it is written there.
        stamp: When it changed; empty where that is not said.
        bases: What `url` is relative to, from the outermost on, the first of them to the list itself.
    """

    url: str
    stamp: str = ""
    bases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WebList:
    """What a sitemap, an index of sitemaps or a feed lists, in its order; `site` is the page that a feed is of."""

    kind: ListKind
    links: tuple[Link, ...] = ()
    site: Link = Link("")


def stamp_of(said: object) -> str:
    """What a list says of when a page changed, if it looks like a time; else empty."""
    return said if isinstance(said, str) and said[:4].isdecimal() and len(said) <= _LONGEST_STAMP else ""
