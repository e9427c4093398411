"""Pages and databases of Notion: blocks at every depth, rows and properties, reduced and kept as envelopes."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pipelines.errors import SourceError, as_source_error
from pipelines.ingestion.envelope import Envelope, keep_envelope, pack
from pipelines.ingestion.loaders.base import parse_datetime
from pipelines.ingestion.loaders.notion import plain_rich_text, rich_text, unread_block_types
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


_VALUES_SHOWN = 25  # a page shows no more of a property's values; of a rollup, no more is asked for
_LIST_TYPES = frozenset({"title", "rich_text", "relation", "people"})


class Properties:
    """Reads properties; the titles of related pages come from those listed already, else from one request each."""

    def __init__(self, api: NotionApi) -> None:
        self._api = api
        self._titles: dict[str, str] = {}

    def remember_title(self, page: Json) -> str:
        """Return the title of a page, and remember it for relations to the page."""
        title = title_of(page)
        self._titles[checked_id(page["id"])] = title
        return title

    def of(self, page: Json, cached: Mapping[str, str]) -> tuple[list[list[str]], dict[str, str]]:
        """Return the non-empty properties as [name, text], by name; and the texts that took requests of their own.

        `cached` are the texts that took requests the last time, if the page did not change since.
        """
        found, took = [], dict[str, str]()
        for name, value in sorted((page.get("properties") or {}).items()):
            if value["type"] == "title":
                continue
            if self._needs_request(value):
                text = took[name] = cached[name] if name in cached else self._request(page, value)
            else:
                text = property_text(value, self._titles)
            if text.strip():
                found.append([name, " ".join(text.split())])
        return found, took

    def _needs_request(self, value: Json) -> bool:
        """Return True if a property has more than its page shows of it."""
        shown = value.get(value["type"])
        if value["type"] not in _LIST_TYPES or not isinstance(shown, list):
            return False
        unknown = value["type"] == "relation" and any(checked_id(each["id"]) not in self._titles for each in shown)
        return unknown or bool(value.get("has_more")) or len(shown) >= _VALUES_SHOWN

    def _request(self, page: Json, value: Json) -> str:
        kind, shown = value["type"], value[value["type"]]
        if value.get("has_more") or len(shown) >= _VALUES_SHOWN:
            items = self._api.property_items(checked_id(page["id"]), value["id"])
            shown = [item[kind] for item in items if item.get("type") == kind]
        if kind == "relation":
            return ", ".join(filter(None, (self._title(checked_id(each["id"])) for each in shown)))
        return property_text({"type": kind, kind: shown}, self._titles)

    def _title(self, page_id: str) -> str:
        if page_id not in self._titles:
            try:
                self._titles[page_id] = title_of(self._api.page(page_id))
            except (Gone, Refused):
                self._titles[page_id] = ""
        return self._titles[page_id]


@dataclass(slots=True)
class Rows:
    """The rows of a database.

    Attributes:
        tables: A table for each data source.
        pages: The rows with their properties, by age within a data source.
        databases: The ids of the databases among them; a wiki holds some.
        cached: The texts of properties that took requests of their own, by page.
        hidden: The names of the data sources that are not shared with the integration.
    """

    tables: list[dict[str, Any]] = field(default_factory=list)
    pages: list[tuple[Json, list[list[str]]]] = field(default_factory=list)
    databases: list[str] = field(default_factory=list)
    cached: dict[str, Any] = field(default_factory=dict)
    hidden: list[str] = field(default_factory=list)

    @property
    def below(self) -> list[list[str]]:
        """[`page` or `database`, id] of each row."""
        pages = (["page", checked_id(page["id"])] for page, _ in self.pages)
        return [*pages, *(["database", each] for each in self.databases)]


def fetch_rows(api: NotionApi, properties: Properties, database: Json, cached: Mapping[str, Any]) -> Rows:
    """Fetch all rows of a database; `cached` is what `Rows.cached` was the last time.

    Raises:
        SourceError: If one request fails: a part of a table is never taken for the whole.
    """
    found = Rows()
    for source in database["data_sources"]:
        name = str(source.get("name") or "")
        try:
            rows = [row for row in api.rows(checked_id(source["id"])) if not is_trashed(row)]
        except Gone:
            found.hidden.append(name or checked_id(source["id"]))
            continue
        pages = sorted(
            (row for row in rows if row["object"] == "page"),
            key=lambda row: (str(row.get("created_time")), str(row["id"])),
        )
        for page in pages:
            properties.remember_title(page)
        texts = [_row_properties(properties, page, cached, found.cached) for page in pages]
        found.tables.append(_table(name, pages, texts))
        found.pages += zip(pages, texts, strict=True)
        found.databases += [checked_id(row["parent"]["database_id"]) for row in rows if row["object"] == "data_source"]
    return found


def keep_database(home: Path, database: Json, title: str, rows: Rows, below: Sequence[Sequence[str]]) -> Fetched:
    """Keep the envelope of a database with its rows, and note it with what lies below it; its stamp is their hash.

    Raises:
        StoreError: If it cannot be kept.
    """
    description = plain_rich_text(rich_text_pieces(database.get("description")))
    facts = facts_of("database", database, title, ()) | {"description": description}
    envelope = Envelope(facts, as_json(rows.tables))
    stamp = hashlib.sha256(pack(envelope)).hexdigest()[:32]
    return keep(home, database, envelope, stamp, {"asked": rows.cached, "below": below})


def title_of(page: Json) -> str:
    """Return the title of a page on one line; empty where it has none."""
    for value in (page.get("properties") or {}).values():
        if value.get("type") == "title":
            return " ".join(plain_rich_text(rich_text_pieces(value.get("title"))).split())
    return ""


def property_text(value: Json, titles: Mapping[str, str]) -> str:
    """Return the text of a property; empty for one without a value or of a kind without words."""
    kind = str(value.get("type") or "")
    content = value.get(kind)
    if content is None or content == "":
        return ""
    if kind in ("title", "rich_text"):
        return rich_text(rich_text_pieces(content))
    if kind == "relation":
        return ", ".join(filter(None, (titles.get(checked_id(each["id"]), "") for each in content)))
    if kind in ("formula", "rollup", "array"):
        parts = content["array"] if content.get("type") == "array" else [content]
        texts = filter(None, (property_text(each, titles) for each in parts))
        return ", ".join((*texts, "...") if len(parts) >= _VALUES_SHOWN else texts)
    return ", ".join(filter(None, map(_value_text, content if isinstance(content, list) else [content])))


def _row_properties(
    properties: Properties, page: Json, before: Mapping[str, Any], cached: dict[str, Any]
) -> list[list[str]]:
    """Return the properties of a row; note in `cached` what took requests, to be cached again only once it changed."""
    page_id, edited = checked_id(page["id"]), str(page.get("last_edited_time") or "")
    old = before.get(page_id, {})
    found, took = properties.of(page, old.get("texts", {}) if old.get("edited") == edited else {})
    if took and is_settled(edited):
        cached[page_id] = {"edited": edited, "texts": took}
    return found


def _table(name: str, pages: Sequence[Json], properties: Sequence[list[list[str]]]) -> dict[str, Any]:
    """Return the rows of a data source, titles first, with a column for each property that any of them has."""
    columns = sorted({column for row in properties for column, _ in row})
    texts = [{each[0]: each[1] for each in row} for row in properties]
    rows = [
        [title_of(page), *(row.get(column, "") for column in columns)] for page, row in zip(pages, texts, strict=True)
    ]
    named = ((name, value) for page in pages[:1] for name, value in page["properties"].items())
    title = next((name for name, value in named if value["type"] == "title"), "Name")
    return {"name": name, "columns": [title, *columns], "rows": rows}


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, int | float | str):
        return str(value)
    if not isinstance(value, Mapping):
        return ""
    dates = " → ".join(str(value[end]) for end in ("start", "end") if value.get(end))
    named = str(value.get("name") or value.get("address") or value.get("state") or "")
    number = "" if value.get("number") is None else str(value["number"])
    return dates or named or (f"{value['prefix']}-{number}" if number and value.get("prefix") else number)
