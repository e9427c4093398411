"""Notion's API through its client: ids, retries and rate limits, errors in words, and whole lists over all cursors."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from string import hexdigits
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from pipelines.errors import UNTIL_MENDED, SourceError
from pipelines.ingestion.loaders.notion import SITE
from pipelines.ingestion.sources.base import (
    Access,
    Gone,
    Refused,
    connection_failure,
    retry_message,
    wait_message,
    wait_too_long,
)
from pipelines.text import canonical
from pipelines.tls import CA_FILE_HINT, environment_ca_file, is_untrusted, ssl_context

if TYPE_CHECKING:
    from notion_client import Client

NOTION_VERSION = "2025-09-03"  # since then a database is one or more data sources, each queried by itself

_ID_LENGTH = 32
_PAGE_SIZE = 100
_BY_AGE = {"timestamp": "created_time", "direction": "ascending"}
_TIMEOUT_MS = 30_000
_MAX_TRIES = 3  # of a request that fails at Notion's end
_MAX_WAITS = 30
_MAX_FAILURES = 3  # requests in a row that fail: then Notion is down
_MAX_DIGITS = 11  # of seconds to wait; a longer number is nonsense
_RUN_LATER = "Run it again later: what was fetched is kept."
_RATE_LIMIT = "its rate limit"
_LINKED_VIEW = ("data sources accessible by this API bot", "is a linked database")  # the API has no code of its own

Json = Mapping[str, Any]
Call = Callable[..., Any]


class ListingEnded(SourceError):
    """Raised when no further request makes sense."""


def id_of(location: str) -> str:
    """Return the 32 digits in `notion:ID`, or in `notion:` and the address of a page as a browser shows it.

    Raises:
        SourceError: If there is no id in it.
    """
    name = location.partition(":")[2].strip()
    found = _id_in_address(name if "/" in name else f"/{name}")
    if not found:
        raise SourceError(
            f"{location} is not a Notion page or database.",
            hint="Write notion: and the 32 digits at the end of the page's address.",
        )
    return found


def page_address(page_id: str) -> str:
    """Return where a person opens the page; it is the URI of the page."""
    return f"{SITE}/{page_id}"


def checked_id(answered: object) -> str:
    """Return the 32 digits of an id in an answer.

    Raises:
        ValueError: If it is none: nothing else may get into a path.
    """
    found = _plain_id(answered) if isinstance(answered, str) else ""
    if not found:
        raise ValueError("no id")
    return found


def open_api(access: Access) -> "NotionApi":
    """Return the API for the token of the settings.

    Raises:
        SourceError: If there is none, or none that can be sent.
        ConfigError: If FOOTNOTE_CA_FILE, or SSL_CERT_FILE, cannot be used.
    """
    import logging

    import httpx
    from notion_client import Client

    token, settings = access.settings.notion_token, access.settings.notion
    if token is None:
        raise SourceError(
            "Notion needs a token.",
            hint="Make an integration at notion.so/my-integrations, share the page with it, and set NOTION_TOKEN.",
            wait=UNTIL_MENDED,
        )
    secret = token.get_secret_value().strip()
    if not (secret.isascii() and secret.isprintable()):  # the client's own error would show it
        raise SourceError(
            "NOTION_TOKEN contains characters that tokens never have.", hint="Copy it again.", wait=UNTIL_MENDED
        )
    try:
        requests = Requests(access)
        environment_ca_file("SSL_CERT_FILE")
        context = ssl_context(access.settings.ca_file, httpx.create_ssl_context)
        client = Client(
            client=httpx.Client(verify=context or True),
            auth=secret,
            base_url=settings.api_base.rstrip("/"),
            timeout_ms=_TIMEOUT_MS,
            notion_version=NOTION_VERSION,
            retry=False,
            logger=logging.getLogger("footnote.notion"),
            log_level=logging.CRITICAL,
        )
    except (httpx.InvalidURL, ValueError) as error:
        raise SourceError("FOOTNOTE_NOTION__API_BASE is not a URL.", hint="Unset it to use the default.") from error
    return NotionApi(client, requests)


class NotionApi:
    """The requests that a listing makes; every answer is whole or an error.

    Raises:
        SourceError: By every method; see `Requests.send`.
    """

    def __init__(self, client: "Client", requests: "Requests") -> None:
        self._client, self._requests = client, requests
        self.step = requests.step

    def page(self, page_id: str) -> Json:
        """Return a page with its properties, without its blocks."""
        return self._one("page", partial(self._client.pages.retrieve, page_id))

    def database(self, database_id: str) -> Json:
        """Return a database with its data sources."""
        return self._one("database", partial(self._client.databases.retrieve, database_id))

    def database_of(self, data_source_id: str) -> Json:
        """Return the database that a data source belongs to."""
        answer = self._one("data_source", partial(self._client.data_sources.retrieve, data_source_id))
        return self.database(checked_id((answer.get("parent") or {}).get("database_id")))

    def block(self, block_id: str) -> Json:
        """Return a block without those below it."""
        return self._one("block", partial(self._client.blocks.retrieve, block_id))

    def children(self, block_id: str) -> Iterator[Json]:
        """Yield the blocks right below a page or a block."""
        return self._all(partial(self._client.blocks.children.list, block_id))

    def property_items(self, page_id: str, property_id: str) -> Iterator[Json]:
        """Yield all values of a property of which a page itself shows the first 25."""
        return self._all(partial(self._client.pages.properties.retrieve, page_id, property_id))

    def rows(self, data_source_id: str) -> Iterator[Json]:
        """Yield the pages that are the rows of a data source, the oldest first, each once.

        A query gives 10,000 rows at most: the next one begins with the time of the last row.
        """
        seen, last, cut, narrowed = set[str](), "", True, dict[str, Any]()
        while cut:
            cut, before = False, len(seen)
            query = partial(self._client.data_sources.query, data_source_id, sorts=[_BY_AGE], **narrowed)
            for answer in self._parts(query):
                cut = cut or (answer.get("request_status") or {}).get("type") == "incomplete"
                yield from (row for row in answer["results"] if row.get("id") not in seen)
                seen |= {str(row.get("id")) for row in answer["results"]}
                last = str(answer["results"][-1].get("created_time")) if answer["results"] else last
            if cut and len(seen) == before:
                raise SourceError("Notion did not return all rows of a database.", hint="Split the database.")
            narrowed = {"filter": {"timestamp": "created_time", "created_time": {"on_or_after": last}}}

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _one(self, kind: str, call: Call) -> Json:
        answer = self._requests.send(call)
        if not isinstance(answer, dict) or answer.get("object") != kind:
            raise self._requests.malformed()
        return answer

    def _all(self, call: Call) -> Iterator[Json]:
        return (result for answer in self._parts(call) for result in answer["results"])

    def _parts(self, call: Call) -> Iterator[Json]:
        """Yield each part of a list, up to the last."""
        cursor, seen = None, set[str]()
        while True:
            answer = self._one("list", partial(call, start_cursor=cursor, page_size=_PAGE_SIZE))
            results = answer.get("results")
            if not isinstance(results, list) or not all(isinstance(result, dict) for result in results):
                raise self._requests.malformed()
            yield answer
            if not answer.get("has_more"):
                return
            cursor = answer.get("next_cursor")
            if not isinstance(cursor, str) or cursor in seen:
                raise self._requests.malformed()
            seen.add(cursor)


class Requests:
    """Sends requests one after the other, with retries, and waits for rate limits."""

    def __init__(self, access: Access) -> None:
        settings = access.settings.notion
        self._stop, self._say = access.stop, access.say
        self._progress, self._step, self._answers = access.progress, "the beginning", 0
        self._max_wait = settings.wait_seconds
        self._host = urlsplit(settings.api_base).netloc.rpartition("@")[2] or "The address of Notion"
        self._pause = 1.0
        self._failures = 0

    def step(self, progress: str) -> None:
        """Report the progress, now and at each answer: one long page may take hundreds."""
        self._step = progress
        self._progress(f"Notion: {progress} (answer {self._answers:,})")

    def send(self, call: Call) -> Any:
        """Return the answer to a call of the client, after as many retries and waits as are allowed.

        Raises:
            ListingEnded: If the token is refused, Notion cannot be reached or asks to wait for too long, or the run is
                stopped.
            Gone, Refused: If that is what Notion says.
            SourceError: If Notion fails, or its answer is malformed.
        """
        waited, waits, failed = 0.0, 0, 0
        while not self._stop.is_set():
            result, seconds = self._try(call)
            if seconds is None:
                self._answers += 1
                self.step(self._step)
                return result
            if isinstance(result, ListingEnded):  # a rate limit
                waits += 1
                if waited + seconds > self._max_wait or waits > _MAX_WAITS:
                    raise result
                self._say(wait_message("Notion", seconds, _RATE_LIMIT))
                waited += seconds
            else:
                failed += 1
                if failed >= _MAX_TRIES:
                    raise self._failed(result)
                self._say(retry_message(result, seconds))
            self._stop.wait(seconds)
        raise ListingEnded("The listing of Notion was stopped.", hint=_RUN_LATER)

    def malformed(self) -> SourceError:
        """Return the error of an answer that is not of Notion's API."""
        return SourceError(
            f"{self._host} sent an answer that does not follow Notion's API.",
            hint="Try again later, or check FOOTNOTE_NOTION__API_BASE.",
        )

    def _try(self, call: Call) -> tuple[Any, float | None]:
        """Return (the answer, None), or (what went wrong, after how many seconds to try again)."""
        import httpx
        from notion_client.errors import HTTPResponseError, NotionClientErrorBase, RequestTimeoutError

        try:
            answer = call()
        except HTTPResponseError as error:
            pause = _retry_after(error.headers.get("retry-after"))
            if error.status == 429:
                seconds = self._pause if pause is None else pause
                limit = wait_too_long("Notion", seconds, "FOOTNOTE_NOTION__WAIT_SECONDS", why=_RATE_LIMIT)
                return ListingEnded(limit.message, hint=limit.hint, wait=limit.wait), seconds
            if error.status >= 500 or error.status == 409:
                failure = SourceError(f"Notion answered with {error.status}.", hint=_RUN_LATER)
                return failure, self._pause if pause is None else min(pause, self._max_wait)
            raise self._refusal(error) from None
        except (RequestTimeoutError, httpx.TransportError) as error:
            why = connection_failure(error)
            hint = CA_FILE_HINT if is_untrusted(why) else f"{_RUN_LATER} Or check FOOTNOTE_NOTION__API_BASE."
            return SourceError(f"Notion cannot be reached at {self._host}: {why}.", hint=hint), self._pause
        except (NotionClientErrorBase, httpx.HTTPError, httpx.InvalidURL, ValueError):
            raise self.malformed() from None  # the client's error may show the request
        self._failures = 0
        return answer, None

    def _failed(self, error: SourceError) -> SourceError:
        self._failures += 1
        if self._failures < _MAX_FAILURES:
            return error
        return ListingEnded(error.message, hint=error.hint, wait=error.wait)

    def _refusal(self, error: Any) -> SourceError:
        """Return what Notion's own refusal means; that of anything else at its address ends the listing."""
        code = getattr(error.code, "value", error.code)
        words = " ".join(canonical(str(error)).split())
        if error.status == 401:
            return ListingEnded(
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
        return ListingEnded(
            f"{self._host} answered with {error.status}, not as Notion's API does.",
            hint="Check FOOTNOTE_NOTION__API_BASE.",
        )


def _id_in_address(text: str) -> str:
    """Return the digits in the address of a page; empty where there are none."""
    try:
        address = urlsplit(text if "//" in text else f"https://{text}")
    except ValueError:
        return ""
    opened = parse_qs(address.query).get("p", [""])[0]  # a page that is open over the view of a database
    last = address.path.rstrip("/").rpartition("/")[2].lower()
    is_apart = last[:-_ID_LENGTH][-1:] not in tuple(hexdigits)
    ended = last[-_ID_LENGTH:] if is_apart else ""
    return _plain_id(opened) or _plain_id(last[-36:]) or (ended if _is_id(ended) else "")


def _is_id(text: str) -> bool:
    return len(text) == _ID_LENGTH and not text.strip("0123456789abcdef")


def _plain_id(text: str) -> str:
    """Return the digits of an id alone, with or without its hyphens; empty where it is none."""
    found = text.lower().replace("-", "")
    return found if _is_id(found) and text.count("-") in (0, 4) else ""


def _retry_after(value: str | None) -> float | None:
    """Return the seconds in a Retry-After header; None where it has none."""
    return float(value) if value and value.isascii() and value.isdecimal() and len(value) <= _MAX_DIGITS else None
