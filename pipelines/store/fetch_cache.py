"""What was fetched from remote sources: a note a URI under FOOTNOTE_HOME/fetched, its bytes among the originals.

Beside them a note a source: what it listed last, so that what two sources hold is not removed when one drops it.

A cache that spares fetching: without it everything is fetched again, and nothing is lost.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipelines.errors import StoreError
from pipelines.store.originals import HINT, is_full, is_kept, write_whole


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a URI held when it was fetched last.

    Attributes:
        stamp: What the source said of its state: a time, a hash of what it tells; empty = it is looked at each time.
        sha: SHA-256 of the bytes, which are kept among the originals; empty where `more` says all of it.
        size: How many bytes.
        more: What its source wants to know again, such as validators or the pages below it; JSON.
    """

    uri: str
    stamp: str
    sha: str
    size: int
    more: Mapping[str, Any] = field(default_factory=dict)


def recall_fetched(home: Path, uri: str) -> Fetched | None:
    """What was fetched of a URI; None where nothing was, or its bytes are no longer kept."""
    try:
        told = json.loads(_place(home, uri).read_text("utf-8"))
        fetched = Fetched(told["uri"], told["stamp"], told["sha"], told["size"], told["more"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    held = not fetched.sha or is_kept(home, fetched.sha, fetched.size)
    return fetched if fetched.uri == uri and held else None


def remember_fetched(home: Path, fetched: Fetched) -> None:
    """Note what was fetched, wholly or not at all.

    Raises:
        StoreError: If it cannot be written: the disk is full, or the folder is closed.
    """
    try:
        write_whole(_place(home, fetched.uri), json.dumps(asdict(fetched), ensure_ascii=True).encode())
    except OSError as error:
        hint = HINT if is_full(error) else "Check the permissions of FOOTNOTE_HOME."
        raise StoreError(f"What was fetched of {fetched.uri} cannot be noted: {error.strerror}.", hint=hint) from error


def forget_fetched(home: Path, uri: str) -> None:
    """Have a URI fetched anew the next time."""
    _place(home, uri).unlink(missing_ok=True)


def remember_listing(home: Path, collection: str, source: str, uris: Iterable[str]) -> None:
    """Note what a remote source of a collection held when it was looked at last.

    Raises:
        StoreError: If it cannot be written.
    """
    try:
        write_whole(_listing(home, collection, source), json.dumps({"source": source, "uris": sorted(uris)}).encode())
    except OSError as error:
        hint = HINT if is_full(error) else "Check the permissions of FOOTNOTE_HOME."
        raise StoreError(f"What {source} lists cannot be noted: {error.strerror}.", hint=hint) from error


def recall_listings(home: Path, collection: str) -> dict[str, frozenset[str]]:
    """By source, what each of a collection held when it was looked at last; damaged notes are left out."""
    return _listings_in(_listings(home, collection))


def listed_at(home: Path) -> dict[str, datetime]:
    """By source, when each remote one was looked at last and all of it could be listed, in any collection."""
    found: dict[str, datetime] = {}
    for path in (home / "fetched" / "listings").glob("*/*.json"):
        try:
            source = str(json.loads(path.read_text("utf-8"))["source"])
            at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        except (OSError, ValueError, KeyError, TypeError):
            continue
        found[source] = max(at, found.get(source, at))
    return found


def _listings_in(folder: Path) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for path in sorted(folder.glob("*.json")):
        try:
            told = json.loads(path.read_text("utf-8"))
            found[told["source"]] = frozenset(told["uris"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return found


def normalised_source(source: str) -> str:
    """What two spellings of one remote source have in common: GitHub takes its names in any case of letters."""
    return source.lower() if source.startswith("github:") else source


def forget_listing(home: Path, source: str) -> None:
    """Have a source hold nothing any more, in no collection; GitHub's in any case of letters, as GitHub takes them."""
    for folder in (home / "fetched" / "listings").glob("*"):
        for named in _listings_in(folder):
            if normalised_source(named) == normalised_source(source):
                (folder / f"{_key(named)}.json").unlink(missing_ok=True)


def _place(home: Path, uri: str) -> Path:
    key = _key(uri)
    return home / "fetched" / key[:2] / f"{key}.json"


def _listings(home: Path, collection: str) -> Path:
    return home / "fetched" / "listings" / _key(collection)


def _listing(home: Path, collection: str, source: str) -> Path:
    return _listings(home, collection) / f"{_key(source)}.json"


def _key(uri: str) -> str:
    return hashlib.sha256(uri.encode("utf-8", "surrogatepass")).hexdigest()
