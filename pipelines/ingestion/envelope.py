"""Envelope: one remote document as bytes: what its source states about it, and its body.

These bytes are the document's original: they are hashed, stored and loaded like a file's, so a remote document can be
loaded again without network. Values that change with every fetch, such as an ETag, are not included.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.errors import LoadError
from pipelines.store.originals import keep_original, original_path

_MARK = b"footnote envelope 1\n"


@dataclass(frozen=True, slots=True)
class Envelope:
    """Facts from the source (JSON values by name), and the document's bytes."""

    facts: Mapping[str, Any]
    body: bytes


def pack(envelope: Envelope) -> bytes:
    """Serialise an envelope; equal envelopes give equal bytes."""
    header = json.dumps(envelope.facts, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return _MARK + header.encode() + b"\n" + envelope.body


def keep_envelope(home: Path, envelope: Envelope, *, name: str) -> tuple[str, int]:
    """Keep an envelope among the originals; returns the SHA-256 and the number of its bytes.

    Raises:
        StoreError: If it cannot be kept.
    """
    data = pack(envelope)
    sha = hashlib.sha256(data).hexdigest()
    keep_original(home, sha, data, name=name)
    return sha, len(data)


def unpack(data: bytes, name: str) -> Envelope:
    """Parse the envelope of the document `name`.

    Raises:
        LoadError: If the bytes are not an envelope.
    """
    header, found, body = data.removeprefix(_MARK).partition(b"\n")
    try:
        if not (data.startswith(_MARK) and found):
            raise ValueError
        facts = json.loads(header)
    except ValueError as error:
        raise LoadError(f"The fetched data of {name} is damaged.", hint="Ingest it again with --verify.") from error
    return Envelope(facts, body)


def stored_envelope(home: Path, sha: str, name: str) -> Envelope | None:
    """The envelope stored under this SHA-256; None if its bytes are missing or changed."""
    try:
        data = original_path(home, sha).read_bytes()
        return unpack(data, name) if hashlib.sha256(data).hexdigest() == sha else None
    except (OSError, LoadError):
        return None
