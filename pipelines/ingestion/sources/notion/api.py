"""Notion's API: what is asked of it, and never a part of an answer for the whole."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from pipelines.errors import UNTIL_MENDED, SourceError
from pipelines.ingestion.sources.base import Access
from pipelines.ingestion.sources.notion.address import digits
from pipelines.ingestion.sources.notion.asking import Asking, Call
from pipelines.trust import trusting, usual_authorities

if TYPE_CHECKING:
    from notion_client import Client

NOTION_VERSION = "2025-09-03"  # since then a database is one or more data sources, each queried by itself

_AT_A_TIME = 100
_BY_AGE = {"timestamp": "created_time", "direction": "ascending"}

Told = dict[str, Any]


def open_api(access: Access) -> "Api":
    """The API for the token of the settings.

    Raises:
        SourceError: If there is none, or none that can be sent.
        ConfigError: If FOOTNOTE_CA_FILE, or SSL_CERT_FILE, cannot be used.
    """
    import logging

    import httpx
    from notion_client import Client

    token = access.settings.notion_token
    held = access.settings.notion
    if token is None:
        raise SourceError(
            "Notion gives nothing without a token.",
            hint="Make an integration at notion.so/my-integrations, share the page with it, and set NOTION_TOKEN.",
            wait=UNTIL_MENDED,
        )
    secret = token.get_secret_value().strip()
    if not (secret.isascii() and secret.isprintable()):  # the client's own error would show it
        raise SourceError("NOTION_TOKEN holds characters that no token has.", hint="Copy it again.", wait=UNTIL_MENDED)
    try:
        asking = Asking(access)
        usual_authorities("SSL_CERT_FILE")
        trusted = trusting(access.settings.ca_file, httpx.create_ssl_context)
        client = Client(
            client=httpx.Client(verify=trusted or True),
            auth=secret,
            base_url=held.api_base.rstrip("/"),
            timeout_ms=round(held.timeout_seconds * 1000),
            notion_version=NOTION_VERSION,
            retry=False,
            logger=logging.getLogger("footnote.notion"),
            log_level=logging.CRITICAL,
        )
    except (httpx.InvalidURL, ValueError) as error:
        raise SourceError("FOOTNOTE_NOTION__API_BASE is no address.", hint="Leave it as it is by default.") from error
    return Api(client, asking)


class Api:
    """What is asked of Notion; every answer is whole or an error.

    Raises:
        SourceError: By every method, as `Asking.ask` says.
    """

    def __init__(self, client: "Client", asking: Asking) -> None:
        self._client, self._asking = client, asking

    def step(self, far: str) -> None:
        """Say how far a look is now; each answer from here on is told with it."""
        self._asking.step(far)

    def page(self, page_id: str) -> Told:
        """What is said of a page, with its properties."""
        return self._one("page", partial(self._client.pages.retrieve, page_id))

    def database(self, database_id: str) -> Told:
        """What is said of a database, with its data sources."""
        return self._one("database", partial(self._client.databases.retrieve, database_id))

    def database_of(self, data_source_id: str) -> Told:
        """The database that a data source belongs to."""
        told = self._one("data_source", partial(self._client.data_sources.retrieve, data_source_id))
        return self.database(digits((told.get("parent") or {}).get("database_id")))

    def block(self, block_id: str) -> Told:
        """What is said of a block, without those below it."""
        return self._one("block", partial(self._client.blocks.retrieve, block_id))

    def children(self, block_id: str) -> Iterator[Told]:
        """The blocks right below a page or a block."""
        return self._all(partial(self._client.blocks.children.list, block_id))

    def rows(self, data_source_id: str) -> Iterator[Told]:
        """The pages that are the rows of a data source, the oldest first, each once.

        A query gives 10,000 rows at most: the next one begins with the time of the last.
        """
        seen, last, cut, narrowed = set[str](), "", True, dict[str, Any]()
        while cut:
            cut, before = False, len(seen)
            query = partial(self._client.data_sources.query, data_source_id, sorts=[_BY_AGE], **narrowed)
            for answer in self._answers(query):
                cut = cut or (answer.get("request_status") or {}).get("type") == "incomplete"
                yield from (row for row in answer["results"] if row.get("id") not in seen)
                seen |= {str(row.get("id")) for row in answer["results"]}
                last = str(answer["results"][-1].get("created_time")) if answer["results"] else last
            if cut and len(seen) == before:
                raise SourceError("Notion does not give all rows of a database.", hint="Split the database.")
            narrowed = {"filter": {"timestamp": "created_time", "created_time": {"on_or_after": last}}}

    def property_items(self, page_id: str, property_id: str) -> Iterator[Told]:
        """All values of a property of which a page itself shows the first 25."""
        return self._all(partial(self._client.pages.properties.retrieve, page_id, property_id))

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()

    def _one(self, kind: str, call: Call) -> Told:
        answer = self._asking.ask(call)
        if not isinstance(answer, dict) or answer.get("object") != kind:
            raise self._asking.nonsense()
        return answer

    def _all(self, call: Call) -> Iterator[Told]:
        return (result for answer in self._answers(call) for result in answer["results"])

    def _answers(self, call: Call) -> Iterator[Told]:
        """Each part of a list, up to the last."""
        cursor, seen = None, set[str]()
        while True:
            answer = self._one("list", partial(call, start_cursor=cursor, page_size=_AT_A_TIME))
            results = answer.get("results")
            if not isinstance(results, list) or not all(isinstance(result, dict) for result in results):
                raise self._asking.nonsense()
            yield answer
            if not answer.get("has_more"):
                return
            cursor = answer.get("next_cursor")
            if not isinstance(cursor, str) or cursor in seen:
                raise self._asking.nonsense()
            seen.add(cursor)
