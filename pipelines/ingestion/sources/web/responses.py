"""Read an HTTP response: the error of a status, the decoded body within a limit of bytes, the media type."""

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from pipelines.errors import UNTIL_MENDED, SourceError
from pipelines.ingestion.loaders.sniff import BINARY, CSV, HTML, IMAGES, MARKDOWN, MIME_OF_SUFFIX, PDF, PLAIN
from pipelines.ingestion.sources.base import RUN_LATER, Gone, Refused
from pipelines.text import one_line
from pipelines.wording import format_duration

MOVED = frozenset({301, 302, 303, 307, 308})
BUSY = frozenset({429, 503})
_GONE_STATUS = frozenset({404, 410})
_VALIDATORS = {"If-None-Match": "etag", "If-Modified-Since": "last-modified"}
_GZIP = b"\x1f\x8b"
_GZIP_OR_ZLIB = zlib.MAX_WBITS | 32  # gzip or zlib, by its head
_RAW_DEFLATE = -zlib.MAX_WBITS
_PIECE_BYTES = 16_384  # bytes: what is left over after each member of a gzip file is copied
_MAX_MEMBERS = 10_000
XML = "application/xml"
UNKNOWN_TYPE = ""  # its first bytes decide

_TYPES: Mapping[str, str] = {
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
        ("application/gzip", "application/x-gzip", "application/octet-stream", "binary/octet-stream"), UNKNOWN_TYPE
    ),
    "": UNKNOWN_TYPE,
}
_LIST_ROOT = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s|<\?[^<>]{0,500}>|<!--[^<>]{0,500}-->)*<(?:rss|feed|urlset|sitemapindex|rdf:RDF)[\s>]"
)
_HEAD_BYTES = 4_096
_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_SPACE = b"\xef\xbb\xbf \t\r\n"


class Unreached(SourceError):
    """Raised when a host cannot be connected to, breaks off, or takes too long."""


class NotAsked(SourceError):
    """Raised for a page of a host that is left alone for the rest of the run."""


def status_error(name: str, status: int) -> SourceError:
    """Return the error that a status without a page means."""
    if status in _GONE_STATUS:
        return Gone(
            f"{name} is gone: it answered {status}.", hint="Leave it out, or look for it elsewhere.", wait=UNTIL_MENDED
        )
    if 400 <= status < 500:
        return Refused(
            f"{name} is refused: it answered {status}.",
            hint="Pages behind a login must be saved by hand.",
            wait=UNTIL_MENDED,
        )
    return SourceError(f"{name} answers {status}.", hint=RUN_LATER)


def busy_error(host: str, status: int, wait: float | None) -> SourceError:
    """Return the error of a host that is overloaded."""
    asks = f" and asks to wait {format_duration(wait)}" if wait else ""
    return SourceError(f"{host} is busy: it answered {status}{asks}.", hint=RUN_LATER, wait=wait or 0.0)


def validators_of(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the request headers that ask next time whether a page changed."""
    return {request: headers[name][:500] for request, name in _VALIDATORS.items() if headers.get(name)}


def decoded_body(chunks: Iterable[bytes], encoding: str, most: int, name: str) -> bytes:
    """Return the whole body, unpacked as it arrives: at most `most` bytes of it, packed or not.

    Raises:
        SourceError: If it is larger, packed otherwise, or truncated.
    """
    match encoding.strip().lower():
        case "" | "identity":
            return b"".join(_pieces(chunks, most, name))
        case "gzip" | "x-gzip" | "deflate":
            return _inflate(chunks, most, name)
        case other:
            problem = f"{name} answers packed as {one_line(other)[:40]}, though gzip and deflate alone were asked for."
            raise SourceError(problem, hint="Tell the operator of the site.")


def gunzip(data: bytes, most: int, name: str) -> bytes:
    """Return what a gzip file holds; other bytes as they are.

    Raises:
        SourceError: If it comes to more than this many bytes, or is broken.
    """
    return _inflate([data], most, name) if data.startswith(_GZIP) else data


def too_large(name: str, most: int) -> SourceError:
    """Return the error of a page that is larger than `most` bytes."""
    hint = "Leave it out, or raise FOOTNOTE_WEB__MAX_BYTES."
    return SourceError(f"{name} is larger than {most:,} bytes.", hint=hint, wait=UNTIL_MENDED)


def _pieces(chunks: Iterable[bytes], most: int, name: str) -> Iterator[bytes]:
    """Yield small pieces of the chunks, up to `most` bytes in all."""
    packed = 0
    for chunk in chunks:
        packed += len(chunk)
        if packed > most:
            raise too_large(name, most)
        yield from (chunk[at : at + _PIECE_BYTES] for at in range(0, len(chunk), _PIECE_BYTES))


def _inflate(chunks: Iterable[bytes], most: int, name: str) -> bytes:
    unpacking, whole, kept = zlib.decompressobj(_GZIP_OR_ZLIB), bytearray(), b""
    began, members = False, 1
    try:
        for piece in _pieces(chunks, most, name):
            left, kept = kept + piece, b""
            while left:
                if unpacking.eof and left == _GZIP[:1]:
                    kept = left  # the next piece decides
                    break
                if unpacking.eof and not left.startswith(_GZIP):
                    return bytes(whole)  # some servers pad
                if unpacking.eof:  # a gzip file may hold several, one after the other
                    unpacking, members = zlib.decompressobj(_GZIP_OR_ZLIB), members + 1
                if members > _MAX_MEMBERS:
                    raise zlib.error("too many members")
                try:
                    whole += unpacking.decompress(left, most - len(whole) + 1)
                except zlib.error:
                    if began:
                        raise
                    unpacking = zlib.decompressobj(_RAW_DEFLATE)  # what some servers call deflate
                    whole += unpacking.decompress(left, most - len(whole) + 1)
                began = True
                if len(whole) > most:
                    raise too_large(name, most)
                left = unpacking.unconsumed_tail or unpacking.unused_data
    except zlib.error as error:
        raise SourceError(f"{name} sent a response that cannot be decompressed.", hint="Try again later.") from error
    if began and not unpacking.eof:
        raise SourceError(f"{name} ended before the response was complete.", hint="Try again later.")
    return bytes(whole)


def media_type(header: str, name: str) -> str:
    """Return the type that a `Content-Type` names; `UNKNOWN_TYPE` where it names none.

    Raises:
        SourceError: If it is one that is not read.
    """
    named = header.partition(";")[0].strip().lower()
    if named not in _TYPES:
        hint = "Pages, plain text, Markdown, CSV, PDF and office files are read. Leave it out."
        problem = f"{name} is of the type {one_line(named)[:60]}, which is not read."
        raise SourceError(problem, hint=hint, wait=UNTIL_MENDED)
    return _TYPES[named]


def charset_of(header: str) -> str:
    """Return the charset that a `Content-Type` names; empty where it names none."""
    found = _CHARSET.search(header)
    return found[1].lower() if found else ""


def sniffed_type(body: bytes, path: str, name: str) -> str:
    """Return the type of a response that names none: by its first bytes, else by the suffix of its path.

    Raises:
        SourceError: If neither decides.
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
        raise SourceError(
            f"{name} does not state its content type.", hint="Save it by hand and ingest the file.", wait=UNTIL_MENDED
        )
    return found


def corrected_type(kind: str, body: bytes) -> str:
    """Return the named type, but that of the list where a server calls a sitemap or a feed something else."""
    return XML if kind in (HTML, PLAIN) and _LIST_ROOT.match(body[:_HEAD_BYTES]) else kind
