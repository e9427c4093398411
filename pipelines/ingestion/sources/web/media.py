"""Which types of answers are read, and which each is."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from pipelines.errors import SourceError
from pipelines.ingestion.loaders.sniff import BINARY, CSV, HTML, IMAGES, MARKDOWN, MIME_OF_SUFFIX, PDF, PLAIN
from pipelines.ingestion.sources.web.address import readable

XML = "application/xml"
UNSAID = ""  # told by its first bytes

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
    **dict.fromkeys(
        ("application/gzip", "application/x-gzip", "application/octet-stream", "binary/octet-stream"), UNSAID
    ),
    "": UNSAID,
}
_LIST = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s|<\?[^<>]{0,500}>|<!--[^<>]{0,500}-->)*<(?:rss|feed|urlset|sitemapindex|rdf:RDF)[\s>]"
)
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
        hint = "Pages, plain text, Markdown, CSV, PDF and office files are read. Leave it out."
        raise SourceError(f"{name} is of the type {readable(said)[:60]}, which is not read.", hint=hint)
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
    if head.startswith(b"%pdf-"):
        return PDF
    suffix = PurePosixPath(path.partition("?")[0]).suffix.lower()
    found = MIME_OF_SUFFIX.get(suffix, "")
    if not found or found in IMAGES:
        raise SourceError(f"{name} does not say what it is.", hint="Fetch it by hand, and ingest the file.")
    return found


def as_told(kind: str, body: bytes) -> str:
    """The type that a server named, but XML where it calls a sitemap or a feed a page or plain text, as many do."""
    return XML if kind in (HTML, PLAIN) and _LIST.match(body[:_HEAD]) else kind
