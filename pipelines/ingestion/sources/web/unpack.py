"""What a server packed, unpacked as it comes: no more than so many bytes of it, packed or not."""

import zlib
from collections.abc import Iterable, Iterator

from pipelines.errors import UNTIL_MENDED, SourceError
from pipelines.ingestion.sources.web.address import readable

_GZIP = b"\x1f\x8b"
_EITHER = zlib.MAX_WBITS | 32  # gzip or zlib, by its head
_RAW = -zlib.MAX_WBITS
_PIECE = 16_384  # bytes: what is left over after each member of a gzip file is copied
_MOST_MEMBERS = 10_000


def body_of(chunks: Iterable[bytes], encoding: str, most: int, name: str) -> bytes:
    """The whole body.

    Args:
        chunks: As they come.
        encoding: What the server says it packed it with.
        most: How many bytes it may have, and may come to.
        name: Of the page, for errors.

    Raises:
        SourceError: If it is larger, packed otherwise, or broken off.
    """
    match encoding.strip().lower():
        case "" | "identity":
            return _plain(chunks, most, name)
        case "gzip" | "x-gzip" | "deflate":
            return _inflated(chunks, most, name)
        case other:
            said = f"{name} answers packed as {readable(other)[:40]}, though gzip and deflate alone were asked for."
            raise SourceError(said, hint="Tell who runs the site.")


def gunzip(data: bytes, most: int, name: str) -> bytes:
    """What a gzip file holds; other bytes as they are.

    Raises:
        SourceError: If it comes to more than so many bytes, or is broken.
    """
    return _inflated([data], most, name) if data.startswith(_GZIP) else data


def too_large(name: str, most: int) -> SourceError:
    """The refusal of a page of that name that is larger than so many bytes."""
    hint = "Leave it out, or raise FOOTNOTE_WEB__MAX_BYTES."
    return SourceError(f"{name} is larger than {most:,} bytes.", hint=hint, wait=UNTIL_MENDED)


def _plain(chunks: Iterable[bytes], most: int, name: str) -> bytes:
    whole = bytearray()
    for chunk in chunks:
        whole += chunk
        if len(whole) > most:
            raise too_large(name, most)
    return bytes(whole)


def _pieces(chunks: Iterable[bytes], most: int, name: str) -> Iterator[bytes]:
    """Small pieces of no more than so many bytes in all."""
    packed = 0
    for chunk in chunks:
        packed += len(chunk)
        if packed > most:
            raise too_large(name, most)
        yield from (chunk[at : at + _PIECE] for at in range(0, len(chunk), _PIECE))


def _inflated(chunks: Iterable[bytes], most: int, name: str) -> bytes:
    unpacking, whole, held = zlib.decompressobj(_EITHER), bytearray(), b""
    began, members = False, 1
    try:
        for piece in _pieces(chunks, most, name):
            left, held = held + piece, b""
            while left:
                if unpacking.eof and left == _GZIP[:1]:
                    held = left  # the next piece tells
                    break
                if unpacking.eof and not left.startswith(_GZIP):
                    return bytes(whole)  # some servers pad
                if unpacking.eof:  # a gzip file may hold several, one after the other
                    unpacking, members = zlib.decompressobj(_EITHER), members + 1
                if members > _MOST_MEMBERS:
                    raise zlib.error("too many members")
                try:
                    whole += unpacking.decompress(left, most - len(whole) + 1)
                except zlib.error:
                    if began:
                        raise
                    unpacking = zlib.decompressobj(_RAW)  # what some servers call deflate
                    whole += unpacking.decompress(left, most - len(whole) + 1)
                began = True
                if len(whole) > most:
                    raise too_large(name, most)
                left = unpacking.unconsumed_tail or unpacking.unused_data
    except zlib.error as error:
        raise SourceError(f"{name} answers what cannot be unpacked.", hint="Try again later.") from error
    if began and not unpacking.eof:
        raise SourceError(f"{name} broke off in the middle.", hint="Try again later.")
    return bytes(whole)
