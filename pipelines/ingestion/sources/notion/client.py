"""Notion's API: ids, rate limits, errors in words, and whole lists over all cursors."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qs

from pipelines.errors import UNTIL_MENDED, SourceError
from pipelines.ingestion.loaders.notion import SITE
from pipelines.ingestion.sources.base import Access, Gone, Refused
from pipelines.ingestion.sources.http import Ended, JsonClient, Reply
from pipelines.text import one_line

NOTION_VERSION = "2025-09-03"  # since then a database is one or more data sources, each queried by itself

_ID = r"([0-9a-f]{8}(-?)[0-9a-f]{4}(?:\2[0-9a-f]{4}){2}\2[0-9a-f]{12})"
_AT_END = re.compile(rf"(?:.*[^0-9a-f])?{_ID}", re.DOTALL)
_PAGE_SIZE = 100
_BY_AGE = {"timestamp": "created_time", "direction": "ascending"}
_DEFAULT_WAIT = 1.0  # seconds, where a rate limit names no time
_LINKED_VIEW = ("data sources accessible by this API bot", "is a linked database")  # the API has no code of its own

Json = Mapping[str, Any]
Call = Callable[[Json], Reply]  # of the parameters of a part of a list


def id_of(location: str) -> str:
    """Return the 32 digits in `notion:ID`, or in `notion:` and the address of a page as a browser shows it.

    Raises:
        SourceError: If there is no id in it.
    """
    path, _, query = location.partition(":")[2].strip().partition("#")[0].partition("?")
    opened = parse_qs(query).get("p", [""])[0]  # a page that is open over the view of a database
    found = _AT_END.fullmatch(opened.lower()) or _AT_END.fullmatch(path.rstrip("/").lower())
    if not found:
        raise SourceError(
            f"{location} is not a Notion page or database.",
            hint="Write notion: and the 32 digits at the end of the page's address.",
        )
    return found[1].replace("-", "")


def page_address(page_id: str) -> str:
    """Return where a person opens the page; it is the URI of the page."""
    return f"{SITE}/{page_id}"


def checked_id(answered: object) -> str:
    """Return the 32 digits of an id in an answer.

    Raises:
        ValueError: If it is none: nothing else may get into a path.
    """
    found = re.fullmatch(_ID, answered.lower()) if isinstance(answered, str) else None
    if not found:
        raise ValueError("no id")
    return found[1].replace("-", "")


class NotionApi(JsonClient):
    """The requests that a listing makes; every answer is whole or an error.

    Raises:
        SourceError: If there is no token, or none that can be sent; by every method: Gone and Refused if that is what
            Notion says, Ended if no further request makes sense, else if Notion fails or its answer is malformed.
        ConfigError: If FOOTNOTE_CA_FILE, or SSL_CERT_FILE, cannot be used.
    """

    name, scheme, max_waits = "Notion", "Bearer", 30
    headers = MappingProxyType({"Notion-Version": NOTION_VERSION})
    retried = frozenset({409})

    def __init__(self, access: Access) -> None:
        settings, token = access.settings.notion, access.settings.notion_token
        if token is None:
            raise SourceError(
                "Notion needs a token.",
                hint="Make an integration at notion.so/my-integrations, share the page with it, and set NOTION_TOKEN.",
                wait=UNTIL_MENDED,
            )
        super().__init__(access, settings.api_base, token, settings.wait_seconds)
        self._progress, self._step, self._answers = access.progress, "the beginning", 0

    def step(self, progress: str) -> None:
        """Report the progress, now and at each answer: one long page may take hundreds."""
        self._step = progress
        self._progress(f"Notion: {progress} (answer {self._answers:,})")

    def page(self, page_id: str) -> Json:
        """Return a page with its properties, without its blocks."""
        return self._one("page", self._send(f"/pages/{page_id}"))

    def database(self, database_id: str) -> Json:
        """Return a database with its data sources."""
        return self._one("database", self._send(f"/databases/{database_id}"))

    def database_of(self, data_source_id: str) -> Json:
        """Return the database that a data source belongs to."""
        answer = self._one("data_source", self._send(f"/data_sources/{data_source_id}"))
        return self.database(checked_id((answer.get("parent") or {}).get("database_id")))

    def children(self, block_id: str) -> Iterator[Json]:
        """Yield the blocks right below a page or a block."""
        return self._all(f"/blocks/{block_id}/children")

    def property_items(self, page_id: str, property_id: str) -> Iterator[Json]:
        """Yield all values of a property of which a page itself shows the first 25."""
        return self._all(f"/pages/{page_id}/properties/{property_id}")

    def rows(self, data_source_id: str) -> Iterator[Json]:
        """Yield the pages that are the rows of a data source, the oldest first, each once.

        A query gives 10,000 rows at most: the next one begins with the time of the last row.
        """
        seen, last, cut, narrowed = set[str](), "", True, dict[str, Any]()
        path = f"/data_sources/{data_source_id}/query"
        while cut:
            cut, before, query = False, len(seen), {"sorts": [_BY_AGE], **narrowed}
            for answer in self._parts(partial(self._query, path, query)):
                cut = cut or (answer.get("request_status") or {}).get("type") == "incomplete"
                yield from (row for row in answer["results"] if row.get("id") not in seen)
                seen |= {str(row.get("id")) for row in answer["results"]}
                last = str(answer["results"][-1].get("created_time")) if answer["results"] else last
            if cut and len(seen) == before:
                raise SourceError("Notion did not return all rows of a database.", hint="Split the database.")
            narrowed = {"filter": {"timestamp": "created_time", "created_time": {"on_or_after": last}}}

    def requested_wait(self, reply: Reply, waits: int) -> float | None:
        """The seconds that a rate limit names, else one."""
        if reply.status != 429:
            return None
        return _DEFAULT_WAIT if reply.retry_after is None else reply.retry_after

    def failure(self, reply: Reply, path: str) -> SourceError:
        """The error of an answer that failed."""
        return SourceError(f"Notion answered with {reply.status}.", hint="Run it again later.")

    def _all(self, path: str) -> Iterator[Json]:
        return (result for answer in self._parts(partial(self._send, path)) for result in answer["results"])

    def _parts(self, call: Call) -> Iterator[Json]:
        """Yield each part of a list, up to the last."""
        cursor, seen = dict[str, str](), set[str]()
        while True:
            answer = self._one("list", call({**cursor, "page_size": _PAGE_SIZE}))
            results = answer.get("results")
            if not isinstance(results, list) or not all(isinstance(result, dict) for result in results):
                raise self._malformed()
            yield answer
            if not answer.get("has_more"):
                return
            onward = answer.get("next_cursor")
            if not isinstance(onward, str) or onward in seen:
                raise self._malformed()
            seen.add(onward)
            cursor = {"start_cursor": onward}

    def _query(self, path: str, query: Json, part: Json) -> Reply:
        return self._send(path, posted={**query, **part})

    def _one(self, kind: str, reply: Reply) -> Json:
        if not isinstance(reply.body, dict) or reply.body.get("object") != kind:
            raise self._malformed()
        return reply.body

    def _send(self, path: str, query: Json | None = None, posted: Json | None = None) -> Reply:
        reply = self.send(f"/v1{path}", query, posted=posted)
        if reply.status != 200:
            raise self._refusal(reply)
        self._answers += 1
        self.step(self._step)
        return reply

    def _malformed(self) -> SourceError:
        """Return the error of an answer that is not of Notion's API."""
        return SourceError(
            f"{self.host} sent an answer that does not follow Notion's API.",
            hint="Try again later, or check FOOTNOTE_NOTION__API_BASE.",
        )

    def _refusal(self, reply: Reply) -> SourceError:
        """Return what Notion's own refusal means; that of anything else at its address ends the listing."""
        body = reply.body if isinstance(reply.body, dict) else {}
        code, words = body.get("code"), one_line(str(body.get("message", "")))
        if reply.status == 401:
            return Ended(
                "Notion rejects the token.", hint="Set NOTION_TOKEN to the secret of an integration.", wait=UNTIL_MENDED
            )
        if code == "restricted_resource":
            return SourceError(
                "The Notion integration may not read this.",
                hint="Give it the capability to read content.",
                wait=UNTIL_MENDED,
            )
        if code == "object_not_found":
            return Gone("Notion knows no such page, or it is not shared with the integration.", wait=UNTIL_MENDED)
        if any(phrase in words for phrase in _LINKED_VIEW):
            return Gone("It is a linked view, or its tables are not shared with the integration.", wait=UNTIL_MENDED)
        if code in ("validation_error", "invalid_request"):
            return Refused(
                f"Notion refuses the request: {words[:200].rstrip('.')}.",
                hint="Remove that part from the page, or leave the page out; its stored version is kept.",
                wait=UNTIL_MENDED,
            )
        return Ended(
            f"{self.host} answered with {reply.status}, not as Notion's API does.",
            hint="Check FOOTNOTE_NOTION__API_BASE.",
        )
