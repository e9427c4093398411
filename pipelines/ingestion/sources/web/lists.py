"""Which sitemap or feed an answer is, and which addresses are named as one."""

import re

from pipelines.errors import UNTIL_MENDED, SourceError
from pipelines.ingestion.loaders.sniff import HTML, PLAIN
from pipelines.ingestion.sources.web.json_feed import read_json_feed
from pipelines.ingestion.sources.web.listed import Link, WebList
from pipelines.ingestion.sources.web.media import JSON_FEED
from pipelines.ingestion.sources.web.xml_lists import read_xml_list

_NAMES = re.compile(
    r"(?:sitemaps?|feeds?|rss|atom)(?:\.(?!html?$)\w{1,5})?|.{1,300}\.(?:xml|rss|atom|rdf|json)(?:\.gz)?",
    re.IGNORECASE,
)


def list_of(body: bytes, media_type: str, name: str) -> WebList:
    """The sitemap or feed that an answer of a type is.

    Raises:
        SourceError: If it is none, or one that cannot be read.
    """
    if media_type == HTML:
        hint = 'Check the address. If a page is meant, say `follow = "page"` of it in the file of sources.'
        raise SourceError(f"{name} answers a page where a sitemap or a feed is expected.", hint=hint, wait=UNTIL_MENDED)
    readers = {PLAIN: _read_text_list, JSON_FEED: read_json_feed}
    held = readers.get(media_type, read_xml_list)(body, name)
    if not held.kind or (media_type == PLAIN and not held.links):
        raise SourceError(f"{name} is neither a sitemap nor a feed.", hint="Check the address.", wait=UNTIL_MENDED)
    return held


def is_named_as_list(target: str) -> bool:
    """Whether the path of an address says that a sitemap or a feed stands there."""
    return bool(_NAMES.fullmatch(target.partition("?")[0].rstrip("/").rpartition("/")[2]))


def _read_text_list(body: bytes, name: str) -> WebList:
    """A sitemap in plain text: an address a line."""
    lines = (line.strip() for line in body.decode("utf-8-sig", "replace").splitlines())
    return WebList("sitemap", tuple(Link(line) for line in lines if line.startswith(("http://", "https://"))))
