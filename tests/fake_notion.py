"""A server on the loopback that speaks Notion's API (2025-09-03), with pages, databases, cursors and faults."""

import json
import re
import uuid
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.loopback import Loopback

TOKEN = "ntn_secret-of-the-tests"
VERSION = "2025-09-03"
OLD = "2024-03-01T09:00:00.000Z"
_MOST = 100
_SHOWN = 25

Told = dict[str, Any]


def rich(*said: str | tuple[str, str]) -> list[Told]:
    """Rich text of plain pieces and (text, link) pieces."""
    return [_piece(*((piece, None) if isinstance(piece, str) else piece)) for piece in said]


def _piece(text: str, link: str | None) -> Told:
    marks = {"bold": False, "italic": False, "strikethrough": False, "underline": False, "code": False}
    return {
        "type": "text",
        "text": {"content": text, "link": {"url": link} if link else None},
        "annotations": {**marks, "color": "default"},
        "plain_text": text,
        "href": link,
    }


def mention(text: str, href: str | None = None) -> Told:
    """A piece that mentions a person, a date or a page."""
    return {**_piece(text, None), "type": "mention", "mention": {"type": "page"}, "href": href}


def block(kind: str, text: str | list[Told] = "", *below: Told, **body: Any) -> Told:
    """A block with those below it, as `FakeNotion.page` takes it."""
    said = {"rich_text": rich(text) if isinstance(text, str) and text else text or [], "color": "default"}
    return {"kind": kind, "body": {**(said if text else {}), **body}, "below": list(below)}


def table(*rows: Sequence[str]) -> Told:
    """A table of these rows, the first its head."""
    below = [block("table_row", cells=[rich(cell) for cell in row]) for row in rows]
    return block("table", "", *below, table_width=len(rows[0]), has_column_header=True, has_row_header=False)


@dataclass(frozen=True)
class Fault:
    """What one request meets instead of its answer; with `body` no error of the API, but that text."""

    status: int = 500
    code: str = "internal_server_error"
    retry_after: str = ""
    body: str = ""


@dataclass
class FakeNotion(Loopback):
    """A workspace; `with FakeNotion() as notion:` listens at `notion.url`.

    Attributes:
        pages, databases: What the API says of each, by id.
        blocks: The blocks right below a page or a block, by its id.
        rows: The ids of the pages of each data source, by its id.
        most_rows: How many rows one query gives, over all its cursors.
        refused: Ids whose children the API takes for a wrong request.
        hidden: Ids that are not shared with the integration.
        views: Ids of linked views of databases, which the API does not give.
        faults: By path, what its next requests meet; under "" what any of the next ones does.
        requests: "GET /v1/pages/..." of every request, without its query.
    """

    pages: dict[str, Told] = field(default_factory=dict)
    databases: dict[str, Told] = field(default_factory=dict)
    blocks: dict[str, list[Told]] = field(default_factory=dict)
    rows: dict[str, list[str]] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    hidden: set[str] = field(default_factory=set)
    views: set[str] = field(default_factory=set)
    faults: dict[str, deque[Fault]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    most_rows: int = 10_000

    def handled_by(self) -> type[BaseHTTPRequestHandler]:
        return _Handler

    @property
    def url(self) -> str:
        """The base address, for `api_base`."""
        return f"http://127.0.0.1:{self.port}"

    def counts(self) -> Counter[str]:
        """How many requests there were of each kind, ids apart."""
        return Counter(re.sub(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}", "ID", asked) for asked in self.requests)

    # What the workspace holds

    def page(self, title: str, *blocks: Told, parent: str = "", **said: Any) -> str:
        """The id of a new page; with a parent, that has a block for it."""
        page_id = self._new()
        named = {"title": {"id": "title", "type": "title", "title": rich(title) if title else []}}
        self.pages[page_id] = self._page(page_id, named, {"parent": self._parent(parent), **said})
        self.blocks[page_id] = []
        self.write(page_id, *blocks)
        if parent:
            self._append(parent, "child_page", {"title": title}, page_id, has_children=True)
        return page_id

    def database(self, title: str, parent: str = "", **said: Any) -> str:
        """The id of a new database with one data source; with a parent page, that has a block for it."""
        database_id, source_id = self._new(), self._new()
        self.databases[database_id] = {
            "object": "database", "id": database_id, "title": rich(title), "description": [], "created_time": OLD,
            "last_edited_time": OLD, "archived": False, "in_trash": False, "is_inline": False,
            "parent": self._parent(parent),
            "data_sources": [{"id": source_id, "name": title}], **said,
        }  # fmt: skip
        self.rows[source_id] = []
        if parent:
            self._append(parent, "child_database", {"title": title}, database_id)
        return database_id

    def view(self, parent: str) -> str:
        """The id of a new linked view of a database, which below its page looks like a database."""
        self.views.add(view := self._new())
        return self._append(parent, "child_database", {"title": "Untitled"}, view)

    def row(self, database_id: str, title: str, *blocks: Told, **properties: Told) -> str:
        """The id of a new page in a database; each property is `{type: value}`."""
        row_id = self._new()
        source = self.databases[database_id]["data_sources"][0]["id"]
        named = {"Name": {"id": "title", "type": "title", "title": rich(title)}}
        for name, value in properties.items():
            named[name] = {"id": f"p%3A{name[:3]}", "type": next(iter(value)), **value}
        parent = {"type": "data_source_id", "data_source_id": source, "database_id": database_id}
        self.pages[row_id] = self._page(row_id, named, {"parent": parent})
        self.blocks[row_id] = []
        self.write(row_id, *blocks)
        self.rows[source].append(row_id)
        return row_id

    def write(self, under: str, *blocks: Told) -> list[str]:
        """The ids of these blocks, new below a page or a block."""
        return [self._written(under, told) for told in blocks]

    def edit(self, page_id: str, at: str, *blocks: Told) -> None:
        """Add blocks to a page, which so is edited at that time."""
        self.write(page_id, *blocks)
        self.pages[page_id]["last_edited_time"] = at

    def trash(self, page_id: str) -> None:
        """Put a page or a database into the trash; its block is gone."""
        told = self.pages.get(page_id) or self.databases[page_id]
        told["archived"] = told["in_trash"] = True
        for held in self.blocks.values():
            held[:] = [each for each in held if each["id"] != page_id]

    def move(self, page_id: str, to: str, at: str) -> None:
        """Put a page or a row below another page or a block; only the page where it was is edited at that time."""
        for under, held in self.blocks.items():
            for each in [each for each in held if each["id"] == page_id]:
                held.remove(each)
                self.pages[under]["last_edited_time"] = at
        for rows in self.rows.values():
            rows[:] = [row for row in rows if row != page_id]
        self.pages[page_id]["parent"] = self._parent(to)
        self._append(to, "child_page", {"title": ""}, page_id, has_children=True)

    def fail(self, path: str, *faults: Fault) -> None:
        """Script what the next requests to this path meet; `""` is any path."""
        self.faults.setdefault(path, deque()).extend(faults)

    def _parent(self, parent: str) -> Told:
        kind = "page_id" if parent in self.pages else "block_id"
        return {"type": kind, kind: parent} if parent else {"type": "workspace", "workspace": True}

    def _new(self) -> str:
        self._number = getattr(self, "_number", 0) + 1
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"notion {self._number}"))

    def _page(self, page_id: str, properties: Told, said: Mapping[str, Any]) -> Told:
        return {
            "object": "page", "id": page_id, "created_time": OLD, "last_edited_time": OLD,
            "created_by": {"object": "user", "id": str(uuid.UUID(int=1))}, "archived": False, "in_trash": False,
            "icon": {"type": "emoji", "emoji": "💡"}, "cover": None, "parent": self._parent(""),
            "url": f"https://www.notion.so/{page_id.replace('-', '')}", "properties": properties, **said,
        }  # fmt: skip

    def _written(self, under: str, told: Told) -> str:
        block_id = self._append(under, told["kind"], told["body"], has_children=bool(told["below"]))
        self.blocks[block_id] = []
        self.write(block_id, *told["below"])
        return block_id

    def _append(self, under: str, kind: str, body: Told, block_id: str = "", has_children: bool = False) -> str:
        block_id = block_id or self._new()
        self.blocks[under].append(
            {
                "object": "block", "id": block_id, "type": kind, "has_children": has_children, "archived": False,
                "in_trash": False, "created_time": OLD, "last_edited_time": OLD, kind: body,
            }
        )  # fmt: skip
        for held in self.blocks.values():
            for each in held:
                if each["id"] == under:
                    each["has_children"] = True
        return block_id

    # What it answers

    def answer(self, method: str, path: str, asked: Mapping[str, Any]) -> tuple[int, Told]:
        """(status, body) of a request with a right token."""
        parts = [unquote(part) for part in path.strip("/").split("/")]
        if len(parts) > 2 and re.fullmatch(r"[0-9a-f]{32}", parts[2]):
            parts[2] = str(uuid.UUID(parts[2]))
        if len(parts) > 2 and parts[2] in self.hidden:
            return _refusal(404, "object_not_found", f"Could not find object with ID: {parts[2]}.")
        match [method, *parts]:
            case ["GET", "v1", "pages", page_id] if page_id in self.pages:
                return 200, self._shown(self.pages[page_id])
            case ["GET", "v1", "pages", page_id, "properties", name] if page_id in self.pages:
                return self._property(self.pages[page_id], name, asked)
            case ["GET", "v1", "databases", view] if view in self.views:
                said = f"Database with ID {view} does not contain any data sources accessible by this API bot."
                return _refusal(400, "validation_error", said)
            case ["GET", "v1", "databases", database_id] if database_id in self.databases:
                return 200, self.databases[database_id]
            case ["POST", "v1", "data_sources", source_id, "query"] if source_id in self.rows:
                return self._query(source_id, asked)
            case ["GET", "v1", "data_sources", source_id] if source_id in self.rows:
                return 200, self._source(source_id)
            case ["GET", "v1", "blocks", block_id, "children"] if block_id in self.blocks:
                if block_id in self.refused:
                    return _refusal(400, "validation_error", "Block type ai_block is not supported via the API.")
                return self._part(self.blocks[block_id], asked, "block")
            case ["GET", "v1", "blocks", block_id]:
                for under, held in self.blocks.items():
                    for told in held:
                        if told["id"] == block_id and told["id"] not in self.pages:
                            return 200, {**told, "parent": self._parent(under)}
            case [_, "v1", "databases", _, "query"]:
                return _refusal(400, "invalid_request_url", "Invalid request URL.")
        return _refusal(404, "object_not_found", f"Could not find object with ID: {parts[-1]}.")

    def _source(self, source_id: str) -> Told:
        """What is said of a data source."""
        held = (key for key, told in self.databases.items() if told["data_sources"][0]["id"] == source_id)
        parent = {"type": "database_id", "database_id": next(held)}
        return {
            "object": "data_source", "id": source_id, "parent": parent, "created_time": OLD, "archived": False,
            "in_trash": False, "properties": {},
        }  # fmt: skip

    def _query(self, source_id: str, asked: Mapping[str, Any]) -> tuple[int, Told]:
        """Rows by age, as they are asked for here."""
        since = asked.get("filter", {}).get("created_time", {}).get("on_or_after", "")
        found = (self.pages.get(row) or self._source(row) for row in self.rows[source_id])
        pages = sorted(found, key=lambda page: page["created_time"])
        held = [page for page in pages if not page["in_trash"] and page["created_time"] >= since]
        status, part = self._part([self._shown(page) for page in held[: self.most_rows]], asked, "page_or_data_source")
        if len(held) > self.most_rows:
            part["request_status"] = {"type": "incomplete", "incomplete_reason": "query_result_limit_reached"}
        return status, part

    def _shown(self, page: Told) -> Told:
        """The page with at most 25 values of each relation and rollup."""
        shown = {}
        for name, told in page["properties"].items():
            value = told[told["type"]]
            shown[name] = told
            if told["type"] == "relation" and len(value) > _SHOWN:
                shown[name] = {**told, "relation": value[:_SHOWN], "has_more": True}
            if told["type"] == "rollup" and value["type"] == "array":
                shown[name] = {**told, "rollup": {**value, "array": value["array"][:_SHOWN]}}
        return {**page, "properties": shown}

    def _property(self, page: Told, name: str, asked: Mapping[str, Any]) -> tuple[int, Told]:
        told = next(told for told in page["properties"].values() if unquote(told["id"]) == name)
        kind = told["type"]
        held = [{"type": kind, kind: each} for each in told[kind]]
        items = [{"object": "property_item", "id": told["id"], **each} for each in held]
        return self._part(items, asked, "property_item")

    def _part(self, found: Sequence[Told], asked: Mapping[str, Any], kind: str) -> tuple[int, Told]:
        size = int(asked.get("page_size", _MOST))
        cursor = str(asked.get("start_cursor", ""))
        if size > _MOST or (cursor and not cursor.startswith("cursor-")):
            return _refusal(400, "validation_error", "body failed validation.")
        start = int(cursor.removeprefix("cursor-") or 0)
        more = start + size < len(found)
        return 200, {
            "object": "list", "type": kind, kind: {}, "results": list(found[start : start + size]), "has_more": more,
            "next_cursor": f"cursor-{start + size}" if more else None,
        }  # fmt: skip


def _refusal(status: int, code: str, message: str) -> tuple[int, Told]:
    return status, {"object": "error", "status": status, "code": code, "message": message, "request_id": "r"}


class _Handler(BaseHTTPRequestHandler):
    fake: FakeNotion
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        self._answer("GET", {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()})

    def do_POST(self) -> None:
        self._answer("POST", json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}"))

    def _answer(self, method: str, asked: Mapping[str, Any]) -> None:
        path = urlsplit(self.path).path
        self.fake.requests.append(f"{method} {path}")
        faults = self.fake.faults.get(path) or self.fake.faults.get("")
        if faults:
            fault = faults.popleft()
            _, body = _refusal(fault.status, fault.code, "scripted failure")
            self._send(fault.status, fault.body.encode() or json.dumps(body).encode(), fault.retry_after)
        elif self.headers.get("authorization") != f"Bearer {TOKEN}":
            self._json(*_refusal(401, "unauthorized", "API token is invalid."))
        elif self.headers.get("notion-version") != VERSION:
            self._json(*_refusal(400, "missing_version", "Notion-Version header should be defined."))
        else:
            self._json(*self.fake.answer(method, path, asked))

    def _json(self, status: int, value: Told) -> None:
        self._send(status, json.dumps(value).encode())

    def _send(self, status: int, payload: bytes, retry_after: str = "") -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
            if retry_after:
                self.send_header("Retry-After", retry_after)
            self.end_headers()
            self.wfile.write(payload)
        except OSError:
            self.close_connection = True
