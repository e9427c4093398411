"""A page or a database of Notion, fetched and kept."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pipelines.ingestion.envelope import Envelope, pack
from pipelines.ingestion.loaders.front_matter import moment
from pipelines.ingestion.loaders.notion.load import unread
from pipelines.ingestion.loaders.notion.words import bare
from pipelines.ingestion.sources.notion.address import digits, page_address
from pipelines.ingestion.sources.notion.properties import title_of
from pipelines.ingestion.sources.notion.reduce import pieces
from pipelines.ingestion.sources.notion.tree import Tree
from pipelines.store.fetched import Fetched, remember
from pipelines.store.originals import keep_original

_SETTLED = timedelta(minutes=2)

Told = Mapping[str, Any]


def keep_page(home: Path, page: Told, title: str, properties: Sequence[Sequence[str]], tree: Tree) -> Fetched:
    """The note of a page that was just fetched; its envelope is kept.

    A page that was edited a moment ago has no stamp, as Notion's times are whole minutes, and so has one of which
    Notion refused a part: both are fetched again the next time.

    Raises:
        StoreError: If it cannot be kept.
    """
    told = _told("page", page, title, properties) | {"blocks": tree.fetched, "missing": tree.missing}
    below = {"below": tree.below, "left": tree.left}
    more = {**below, "missing": tree.missing, "unread": dict(unread(tree.blocks))}
    stamp = _stamp(page, properties) if is_settled(_edited(page)) and not tree.missing else ""
    return _kept(home, page, Envelope(told, _json(tree.blocks)), stamp, more, name=title)


def is_as(stamp: str, page: Told, properties: Sequence[Sequence[str]] | None) -> bool:
    """Whether a page is as it was at that stamp: its time, and what its properties say, if that is known.

    Rollups, formulas and relations change with other pages, when the page's own time stays.
    """
    known = stamp.partition(" ")[0] == _edited(page) if properties is None else stamp == _stamp(page, properties)
    return known and stamp != ""


def keep_database(home: Path, database: Told, title: str, tables: Sequence[Told], more: Told) -> Fetched:
    """The note of a database with its rows, and with `more`; its envelope is kept, its stamp says whether that changed.

    Raises:
        StoreError: If it cannot be kept.
    """
    description = bare(pieces(database.get("description")))
    told = _told("database", database, title, ()) | {"description": description}
    body = _json(tables)
    stamp = hashlib.sha256(pack(Envelope(told, body))).hexdigest()[:32]
    return _kept(home, database, Envelope(told, body), stamp, more, name=title)


def table_of(name: str, pages: Sequence[Told], found: Sequence[list[list[str]]]) -> dict[str, Any]:
    """The rows of a data source with their titles first, and a column for each property that any of them has."""
    columns = sorted({column for row in found for column, _ in row})
    texts = [{each[0]: each[1] for each in row} for row in found]
    rows = [
        [title_of(page), *(row.get(column, "") for column in columns)] for page, row in zip(pages, texts, strict=True)
    ]
    return {"name": name, "columns": [_title_column(pages), *columns], "rows": rows}


def _stamp(page: Told, properties: Sequence[Sequence[str]]) -> str:
    said = hashlib.sha256(_json([list(each) for each in properties])).hexdigest()[:32]
    return f"{_edited(page)} {said}" if properties else _edited(page)


def _edited(page: Told) -> str:
    return str(page.get("last_edited_time") or "")


def _told(what: str, told: Told, title: str, properties: Sequence[Sequence[str]]) -> dict[str, Any]:
    return {
        "what": what,
        "id": digits(told["id"]),
        "title": title,
        "by": str((told.get("created_by") or {}).get("name") or ""),
        "created": str(told.get("created_time") or ""),
        "edited": str(told.get("last_edited_time") or ""),
        "properties": [list(each) for each in properties],
    }


def _kept(home: Path, told: Told, envelope: Envelope, stamp: str, more: Told, *, name: str) -> Fetched:
    data = pack(envelope)
    sha = hashlib.sha256(data).hexdigest()
    keep_original(home, sha, data, name=name)
    fetched = Fetched(page_address(digits(told["id"])), stamp, sha, len(data), more)
    remember(home, fetched)
    return fetched


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode()


def is_settled(edited: str) -> bool:
    """Whether a page that was edited at that time, a whole minute, cannot have been edited in that minute once more."""
    at = moment(edited)
    return at is not None and datetime.now(UTC) - at > _SETTLED


def _title_column(pages: Sequence[Told]) -> str:
    named = ((name, told) for page in pages[:1] for name, told in page["properties"].items())
    return next((name for name, told in named if told["type"] == "title"), "Name")
