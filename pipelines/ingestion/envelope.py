"""ENVELOPE: one remote document as bytes: what its source says of it, and its body.

These bytes are the document's original: they are hashed, kept and read again like those of a file, so that a document
of a remote source can be made again with no network. What changes at each fetch, such as an ETag, has no place in them.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.errors import LoadError
from pipelines.store.originals import original_path

_MARK = b"footnote envelope 1\n"


@dataclass(frozen=True, slots=True)
class Envelope:
    """What a source says of a document (JSON values by name), and the document's bytes."""

    told: Mapping[str, Any]
    body: bytes


def pack(envelope: Envelope) -> bytes:
    """The same bytes for the same envelope."""
    told = json.dumps(envelope.told, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return _MARK + told.encode() + b"\n" + envelope.body


def unpack(data: bytes, name: str) -> Envelope:
    """The envelope that the bytes of the document of that name are.

    Raises:
        LoadError: If they are none.
    """
    told, found, body = data.removeprefix(_MARK).partition(b"\n")
    try:
        if not (data.startswith(_MARK) and found):
            raise ValueError
        facts = json.loads(told)
    except ValueError as error:
        raise LoadError(f"What was fetched of {name} is damaged.", hint="Ingest it again with --verify.") from error
    return Envelope(facts, body)


def kept_envelope(home: Path, sha: str, name: str) -> Envelope | None:
    """The envelope that is kept under this SHA-256; None where its bytes are gone, or are no longer those."""
    try:
        data = original_path(home, sha).read_bytes()
        return unpack(data, name) if hashlib.sha256(data).hexdigest() == sha else None
    except (OSError, LoadError):
        return None
