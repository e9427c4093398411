"""The cache of remote sources: a file a URI under FOOTNOTE_HOME/fetched, with its bytes among the originals.

A file a source has what it listed last, so that a document of two sources is not removed when one drops it. Without the
cache everything is fetched again, and nothing is lost.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipelines.errors import StoreError
from pipelines.store.originals import HINT, is_full, is_kept, write_whole

_DAMAGED = (OSError, ValueError, KeyError, TypeError)  # what reading a missing or damaged file raises


@dataclass(frozen=True, slots=True)
class Fetched:
    """The content of a URI when it was fetched last.

    Attributes:
        stamp: The state that the source gave: a time, or a hash; empty = it is requested each time.
        sha: SHA-256 of the bytes, which are kept among the originals; empty if `more` has all of it.
        size: The number of bytes.
        more: What its source needs again, such as validators or the pages below it; JSON.
    """

    uri: str
    stamp: str
    sha: str
    size: int
    more: Mapping[str, Any] = field(default_factory=dict)


def recall_fetched(home: Path, uri: str) -> Fetched | None:
    """The cached content of a URI; None if there is none, or its bytes are no longer kept."""
    try:
        saved = json.loads(_place(home, uri).read_text("utf-8"))
        fetched = Fetched(saved["uri"], saved["stamp"], saved["sha"], saved["size"], saved["more"])
    except _DAMAGED:
        return None
    is_whole = not fetched.sha or is_kept(home, fetched.sha, fetched.size)
    return fetched if fetched.uri == uri and is_whole else None


def remember_fetched(home: Path, fetched: Fetched) -> None:
    """Cache the content of a URI, wholly or not at all.

    Raises:
        StoreError: If it cannot be written: the disk is full, or the folder is closed.
    """
    _save(_place(home, fetched.uri), asdict(fetched), f"What was fetched of {fetched.uri} cannot be noted")


def forget_fetched(home: Path, uri: str) -> None:
    """Delete the cached content of a URI, so that it is fetched again."""
    _place(home, uri).unlink(missing_ok=True)


def remember_listing(home: Path, collection: str, source: str, uris: Iterable[str]) -> None:
    """Save the last listing of a remote source in a collection.

    Raises:
        StoreError: If it cannot be written.
    """
    path = home / "fetched" / "listings" / _key(collection) / f"{_key(source)}.json"
    _save(path, {"source": source, "uris": sorted(uris)}, f"What {source} lists cannot be noted")


def _save(path: Path, content: Mapping[str, Any], failed: str) -> None:
    try:
        write_whole(path, json.dumps(content).encode())
    except OSError as error:
        hint = HINT if is_full(error) else "Check the permissions of FOOTNOTE_HOME."
        raise StoreError(f"{failed}: {error.strerror}.", hint=hint) from error


def recall_listings(home: Path, collection: str) -> dict[str, frozenset[str]]:
    """By source, the URIs of its last listing in a collection; damaged files are left out."""
    return {source: uris for _, source, uris in _listings_in(home, _key(collection))}


def listed_at(home: Path) -> dict[str, datetime]:
    """By remote source, when all of it was listed last, in any collection."""
    found: dict[str, datetime] = {}
    for path, source, _ in _listings_in(home, "*"):
        with suppress(OSError):  # deleted meanwhile
            at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            found[source] = max(at, found.get(source, at))
    return found


def _listings_in(home: Path, collections: str) -> Iterator[tuple[Path, str, frozenset[str]]]:
    """(the file, the source, its URIs) of each listing that can be read."""
    for path in sorted((home / "fetched" / "listings").glob(f"{collections}/*.json")):
        try:
            saved = json.loads(path.read_text("utf-8"))
            yield path, str(saved["source"]), frozenset(saved["uris"])
        except _DAMAGED:
            continue


def normalised_source(source: str) -> str:
    """The source in the spelling that is compared: GitHub's names in lower case."""
    return source.lower() if source.startswith("github:") else source


def forget_listing(home: Path, source: str) -> None:
    """Delete the listings of a source in all collections; GitHub's names are compared without case."""
    for path, named, _ in _listings_in(home, "*"):
        if normalised_source(named) == normalised_source(source):
            path.unlink(missing_ok=True)


def _place(home: Path, uri: str) -> Path:
    key = _key(uri)
    return home / "fetched" / key[:2] / f"{key}.json"


def _key(uri: str) -> str:
    return hashlib.sha256(uri.encode("utf-8", "surrogatepass")).hexdigest()
