"""What is noted of addresses that were fetched: of a page its head and validators, of a list that it was one."""

from pathlib import Path

from pipelines.ingestion.sources.web.head import Head
from pipelines.store.fetched import Fetched, recall, remember


def page_note(home: Path, uri: str) -> Fetched | None:
    """What is noted of a page whose bytes are kept."""
    note = recall(home, uri)
    return note if note and note.sha else None


def noted_head(home: Path, uri: str) -> Head:
    """What the last look at a page told; empty where there is no note of it."""
    note = page_note(home, uri)
    return Head(*map(str, note.more.get("head", ()))) if note else Head()


def noted_validators(note: Fetched | None) -> dict[str, str]:
    """The headers that ask whether a page is still as it was noted."""
    return {str(name): str(value) for name, value in note.more.get("validators", {}).items()} if note else {}


def noted_place(note: Fetched | None) -> str:
    """Where a page stood at last when it was noted; empty where there is no note of it."""
    return str(note.more.get("told", {}).get("url", "")) if note else ""


def note_list(home: Path, uri: str, kind: str) -> None:
    """Note that an address is a sitemap or a feed.

    Raises:
        StoreError: If it cannot be written.
    """
    remember(home, Fetched(uri, "", "", 0, {"list": kind}))


def was_list(home: Path, uri: str) -> bool:
    """Whether an address was a sitemap or a feed when it was listed last."""
    note = recall(home, uri)
    return bool(note and note.more.get("list"))
