"""Which types of answers are read, and which each is."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from pipelines.errors import UNTIL_MENDED, SourceError
from pipelines.ingestion.loaders.sniff import BINARY, CSV, HTML, IMAGES, MARKDOWN, MIME_OF_SUFFIX, PDF, PLAIN
from pipelines.ingestion.sources.web.address import readable

XML = "application/xml"
JSON_FEED = "application/feed+json"
LISTS: Mapping[str, str] = {XML: "XML", JSON_FEED: "a JSON Feed"}  # as they are called
UNSAID = ""  # told by its first bytes
_JSON = "application/json"  # a feed, or not read

_READ: Mapping[str, str] = {
    HTML: HTML,
    "application/xhtml+xml": HTML,
    PLAIN: PLAIN,
    MARKDOWN: MARKDOWN,
    "text/x-markdown": MARKDOWN,
    CSV: CSV,
    "application/csv": CSV,
    "application/x-pdf": PDF,
    **{kind: kind for kind in BINARY - IMAGES},
    XML: XML,
    "text/xml": XML,
    "application/rss+xml": XML,
    "application/atom+xml": XML,
    "application/rdf+xml": XML,
    JSON_FEED: JSON_FEED,
    _JSON: _JSON,
    **dict.fromkeys(
        ("application/gzip", "application/x-gzip", "application/octet-stream", "binary/octet-stream"), UNSAID
    ),
    "": UNSAID,
}
_LIST = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s|<\?[^<>]{0,500}>|<!--[^<>]{0,500}-->)*<(?:rss|feed|urlset|sitemapindex|rdf:RDF)[\s>]"
)
_FEED_VERSION = re.compile(rb"\"version\"\s{0,9}:\s{0,9}\"https?:\\?/\\?/(?:www\.)?jsonfeed\.org\\?/version\\?/")
_HEAD = 4_096
_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_SPACE = b"\xef\xbb\xbf \t\r\n"


def media_type(header: str, name: str) -> str:
    """The type that a `Content-Type` names; `UNSAID` where it names none.

    Raises:
        SourceError: If it is one that is not read.
    """
    said = header.partition(";")[0].strip().lower()
    if said not in _READ:
        raise _not_read(said, name)
    return _READ[said]


def charset_of(header: str) -> str:
    """The charset that a `Content-Type` names; empty where it names none."""
    found = _CHARSET.search(header)
    return found[1].lower() if found else ""


def told_by(body: bytes, path: str, name: str) -> str:
    """The type of an answer that says none: by its first bytes, else by the suffix of its path.

    Raises:
        SourceError: If neither tells.
    """
    head = body.lstrip(_SPACE)[:200].lower()
    if head.startswith((b"<!doctype html", b"<html")):
        return HTML
    if head.startswith((b"<?xml", b"<rss", b"<feed", b"<urlset", b"<sitemapindex")):
        return XML
    if _is_json_feed(body):
        return JSON_FEED
    if head.startswith(b"%pdf-"):
        return PDF
    suffix = PurePosixPath(path.partition("?")[0]).suffix.lower()
    found = MIME_OF_SUFFIX.get(suffix, "")
    if not found or found in IMAGES:
        raise SourceError(
            f"{name} does not say what it is.", hint="Fetch it by hand, and ingest the file.", wait=UNTIL_MENDED
        )
    return found


def as_told(kind: str, body: bytes, name: str) -> str:
    """The type that a server named, but that of the list where it calls a sitemap or a feed something else, as many do.

    Raises:
        SourceError: If it is JSON that is no feed.
    """
    if kind in (HTML, PLAIN) and _LIST.match(body[:_HEAD]):
        return XML
    if kind in (HTML, PLAIN, _JSON) and _is_json_feed(body):
        return JSON_FEED
    if kind == _JSON:
        raise _not_read(kind, name)
    return kind


def _is_json_feed(body: bytes) -> bool:
    """Whether bytes look like a JSON Feed; its version may stand at its end."""
    return body[:_HEAD].lstrip(_SPACE).startswith(b"{") and bool(_FEED_VERSION.search(body))


def _not_read(kind: str, name: str) -> SourceError:
    hint = "Pages, plain text, Markdown, CSV, PDF and office files are read. Leave it out."
    return SourceError(f"{name} is of the type {readable(kind)[:60]}, which is not read.", hint=hint, wait=UNTIL_MENDED)
