"""What is noted of addresses that were fetched: of a page its head and validators, of a list that it was one."""

from datetime import datetime, timedelta
from pathlib import Path

from pipelines.ingestion.sources.web.head import Head
from pipelines.store.fetched import Fetched, forget, recall, remember

_RECENT = timedelta(hours=1)


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


def look_at(home: Path, uri: str, now: datetime) -> str:
    """The mark of the look at a list that begins: that of a recent one which did not finish, as this one goes on there.

    Raises:
        StoreError: If it cannot be noted.
    """
    note = recall(home, _look(uri))
    if note and timedelta() <= now - datetime.fromisoformat(note.stamp) < _RECENT:
        return note.stamp
    remember(home, Fetched(_look(uri), now.isoformat(), "", 0))
    return now.isoformat()


def look_ended(home: Path, uri: str) -> None:
    """Note that the look at a list finished: the next one goes on nowhere."""
    forget(home, _look(uri))


def is_of(note: Fetched, look: str, stamp: str) -> bool:
    """Whether a page was fetched by this same look, and nothing would tell cheaply whether it changed since."""
    return bool(look) and note.more.get("look") == look and note.stamp == stamp and not noted_validators(note)


def note_list(home: Path, uri: str, kind: str) -> None:
    """Note that an address is a sitemap or a feed.

    Raises:
        StoreError: If it cannot be written.
    """
    remember(home, Fetched(uri, "", "", 0, {"list": kind}))


def _look(uri: str) -> str:
    return f"look:{uri}"


def was_list(home: Path, uri: str) -> bool:
    """Whether an address was a sitemap or a feed when it was listed last."""
    note = recall(home, uri)
    return bool(note and note.more.get("list"))
