"""Pages of Notion: their blocks at every depth, reduced to content and stored as envelopes."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pipelines.errors import SourceError, as_source_error
from pipelines.ingestion.envelope import Envelope, keep_envelope
from pipelines.ingestion.loaders.base import parse_datetime
from pipelines.ingestion.loaders.notion import unread_block_types
from pipelines.ingestion.sources.base import Gone, Refused
from pipelines.ingestion.sources.notion.client import Json, NotionApi, checked_id, page_address
from pipelines.store.fetch_cache import Fetched, remember_fetched

_MAX_DEPTH = 100
_MAX_BLOCKS = 50_000
_CHILD_TYPES = {"child_page": "page", "child_database": "database"}
_CLOCK_SLACK = timedelta(minutes=2)


class PageBlocks:
    """All blocks of a page; the content of a synced block is fetched once per page.

    Attributes:
        blocks: Those right below it, each with its `children`.
        fetched: How many there are at all depths.
        below: [`page` or `database`, id] of each child page and database, once each.
        missing: The blocks whose children Notion refuses: id, type, and why.

    Raises:
        SourceError: If one request fails: a part of a page is never taken for the whole.
    """

    def __init__(self, api: NotionApi, page_id: str) -> None:
        self._api = api
        self._opened = {page_id}  # the blocks whose children were asked for
        self._named = set[str]()
        self.fetched = 0
        self.below: list[list[str]] = []
        self.missing: list[dict[str, str]] = []
        self.blocks = self._children(page_id, 0)

    def _children(self, block_id: str, depth: int) -> list[dict[str, Any]]:
        """Fetch the blocks right below a block, each with its own children."""
        found = []
        for answer in self._api.children(block_id):
            if is_trashed(answer):
                continue
            self.fetched += 1
            if self.fetched > _MAX_BLOCKS:
                raise SourceError(f"A page of Notion has more than {_MAX_BLOCKS:,} blocks.", hint="Split it.")
            found.append(self._with_children(answer, depth))
        return found

    def _with_children(self, answer: Json, depth: int) -> dict[str, Any]:
        block = block_of(answer)
        if what := _CHILD_TYPES.get(block["type"]):
            if block["id"] not in self._named:
                self._named.add(block["id"])
                self.below.append([what, block["id"]])
            return block
        if block["type"] == "unsupported":  # of its children, Notion only says whether there are any
            return block
        synced = (answer.get("synced_block") or {}).get("synced_from") if block["type"] == "synced_block" else None
        original = checked_id(synced["block_id"]) if synced else ""
        below = self._below(block, original, depth) if answer.get("has_children") or original else []
        return {**block, "children": below} if below else block

    def _below(self, block: Json, original: str, depth: int) -> list[dict[str, Any]]:
        """Fetch the blocks below one, once a page; a synced block has those of its original, else its own."""
        if (original or block["id"]) in self._opened:
            return []
        self._opened |= {block["id"], original or block["id"]}
        why = f"it lies more than {_MAX_DEPTH} levels deep."
        for parent in dict.fromkeys(filter(None, (original, block["id"]))) if depth < _MAX_DEPTH else ():
            before = self.fetched
            try:
                return self._children(parent, depth + 1)
            except (Gone, Refused) as error:
                if self.fetched != before:  # a cursor is no longer accepted: that may go well the next time
                    raise as_source_error(error) from error
                why = error.message
        self.missing.append({"id": block["id"], "type": block["type"], "why": why})
        return []


def keep_page(home: Path, page: Json, title: str, properties: Sequence[Sequence[str]], content: PageBlocks) -> Fetched:
    """Keep the envelope of a page that was just fetched, and note it.

    A page that was edited a moment ago has no stamp, because Notion's times are whole minutes; nor has one of which
    Notion refused a part. Both are fetched again the next time.

    Raises:
        StoreError: If it cannot be kept.
    """
    facts = facts_of("page", page, title, properties) | {"blocks": content.fetched, "missing": content.missing}
    more = {"below": content.below, "missing": content.missing, "unread": dict(unread_block_types(content.blocks))}
    stamp = _stamp(page, properties) if is_settled(_edited(page)) and not content.missing else ""
    return keep(home, page, Envelope(facts, as_json(content.blocks)), stamp, more)


def is_current(stamp: str, page: Json, properties: Sequence[Sequence[str]] | None) -> bool:
    """Return True if a page is as it was at that stamp: its time, and its properties if they are known.

    Rollups, formulas and relations change with other pages, when the page's own time stays.
    """
    same = stamp.partition(" ")[0] == _edited(page) if properties is None else stamp == _stamp(page, properties)
    return same and stamp != ""


def is_settled(edited: str) -> bool:
    """Return True if a page with that time, a whole minute, cannot be edited in that minute once more."""
    at = parse_datetime(edited)
    return at is not None and datetime.now(UTC) - at > _CLOCK_SLACK


def is_trashed(answer: Json) -> bool:
    """Return True if a page, a database or a block lies in the trash."""
    return bool(answer.get("in_trash") or answer.get("archived"))


def rich_text_pieces(rich_text: object) -> list[list[str]]:
    """Return [text, target] of each piece; a mention of a page has that as its target, an equation its expression."""
    pieces = rich_text if isinstance(rich_text, Sequence) and not isinstance(rich_text, str) else ()
    found = [[str(piece.get("plain_text") or ""), str(piece.get("href") or "")] for piece in pieces]
    return [piece for piece in found if piece[0]]


def block_of(answer: Json) -> dict[str, Any]:
    """Reduce a block, without those below it, to its type, its id and its non-empty content.

    Addresses of files that Notion hosts are left out: they are new at each request.
    """
    kind = answer["type"]
    body = answer.get(kind) or {}
    hosted = body.get("external") or {}
    target = next((body[name] for name in ("page_id", "database_id", "comment_id") if body.get(name)), "")
    found = {
        "text": rich_text_pieces(
            body.get("rich_text") or (body.get("title") if isinstance(body.get("title"), list) else None)
        ),
        "caption": rich_text_pieces(body.get("caption")),
        "cells": [rich_text_pieces(cell) for cell in body.get("cells") or ()],
        "title": body.get("title") if isinstance(body.get("title"), str) else "",
        "url": body.get("url") or hosted.get("url") or "",
        "name": body.get("name") or "",
        "checked": bool(body.get("checked")),
        "language": body.get("language") or "",
        "expression": body.get("expression") or "",
        "to": checked_id(target) if target else "",
    }
    return {
        "id": checked_id(answer["id"]),
        "type": str(kind),
        **{name: value for name, value in found.items() if value},
    }


def facts_of(what: str, answer: Json, title: str, properties: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Return the facts in the envelope of a page or database."""
    return {
        "what": what,
        "id": checked_id(answer["id"]),
        "title": title,
        "by": str((answer.get("created_by") or {}).get("name") or ""),
        "created": str(answer.get("created_time") or ""),
        "edited": _edited(answer),
        "properties": [list(each) for each in properties],
    }


def keep(home: Path, answer: Json, envelope: Envelope, stamp: str, more: Mapping[str, Any]) -> Fetched:
    """Keep an envelope among the originals, and note what was fetched.

    Raises:
        StoreError: If it cannot be kept.
    """
    sha, size = keep_envelope(home, envelope, name=str(envelope.facts["title"]))
    note = Fetched(page_address(checked_id(answer["id"])), stamp, sha, size, more)
    remember_fetched(home, note)
    return note


def as_json(value: Any) -> bytes:
    """Return the same bytes for the same value."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode()


def _stamp(page: Json, properties: Sequence[Sequence[str]]) -> str:
    digest = hashlib.sha256(as_json([list(each) for each in properties])).hexdigest()[:32]
    return f"{_edited(page)} {digest}" if properties else _edited(page)


def _edited(page: Json) -> str:
    return str(page.get("last_edited_time") or "")
