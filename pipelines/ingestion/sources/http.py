"""HTTP: requests to the JSON API of a source, with one rule of retries, of waits and of when to stop asking."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from pydantic import SecretStr

from pipelines.errors import UNTIL_MENDED, SourceError
from pipelines.ingestion.sources.base import Access, asked_wait, connection_failure
from pipelines.retry import retry_after
from pipelines.tls import CA_FILE_HINT, checked_ca_file, environment_ca_file, is_untrusted, ssl_context
from pipelines.wording import format_duration

if TYPE_CHECKING:
    import httpx

_PAUSES = (1.0, 4.0)  # seconds before a request that failed is sent again, unless the API names a time
_MAX_FAILURES = 3  # requests in a row: then the API is down
_MAX_REDIRECTS = 5
_TIMEOUT = 30.0  # seconds
_RATE_LIMIT = "its rate limit"


class Ended(SourceError):
    """Raised when no further request makes sense: in this run none is sent any more."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: the status, the headers by their names in any case, and the value of its JSON; None if it has none.

    Status 0 means that there was none, and the body is the reason.
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None

    @property
    def failed(self) -> bool:
        """True if the API failed, so that the same request may succeed later."""
        return self.status == 0 or self.status >= 500

    @property
    def retry_after(self) -> float | None:
        """The seconds in its Retry-After header; None where it has none."""
        return retry_after(self.headers.get("retry-after", ""))


class JsonClient(ABC):
    """Sends requests to an API, one at a time; the connection is opened by the first one.

    Attributes:
        name: For a person; in capitals it begins the names of the settings.
        scheme: What stands before the token in the Authorization header.
        headers: Of every request.
        max_waits: How often one request may wait for rate limits.
        retried: Statuses below 500 that are failures too.
        advice: What to do about a wait that is too long.
        base: The address, before the path of a request.
        secret: The token without copied white space; empty without one.

    Raises:
        ConfigError: If the file that FOOTNOTE_CA_FILE or SSL_CERT_FILE names cannot be used.
    """

    name: ClassVar[str]
    scheme: ClassVar[str]
    headers: ClassVar[Mapping[str, str]]
    max_waits: ClassVar[int]
    retried: ClassVar[frozenset[int]] = frozenset()
    advice = ""

    def __init__(self, access: Access, base: str, token: SecretStr | None, wait_seconds: float) -> None:
        self.base = base
        self.secret = token.get_secret_value().strip() if token else ""
        self._wait_seconds = wait_seconds
        self._ca_file, self._say, self._stop = access.settings.ca_file, access.say, access.stop
        environment_ca_file()
        checked_ca_file(self._ca_file)
        self._opened: httpx.Client | None = None
        self._closed_by: Ended | None = None
        self._failures = 0

    @property
    def host(self) -> str:
        """The host of the address, for a message."""
        return urlsplit(self.base).hostname or self.base

    @abstractmethod
    def requested_wait(self, reply: Reply, waits: int) -> float | None:
        """The seconds that an answer asks to wait, after so many waits; None if it asks for none."""

    @abstractmethod
    def failure(self, reply: Reply, path: str) -> SourceError:
        """The error of an answer to a path that failed."""

    @property
    def ended(self) -> bool:
        """True if nothing more can be requested: the wait is too long, the API fails, or the run is stopped."""
        return self._stop.is_set() or self._closed_by is not None

    def send(
        self,
        path: str,
        query: Mapping[str, Any] | None = None,
        *,
        posted: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send a GET, or a POST of what is `posted`; return the answer, unless it is a rate limit or a failure.

        A request that fails is sent up to three times; after one that failed, the next is sent only once; after three
        in a row, none is sent any more.

        Raises:
            Ended: If the API asks for a wait that is too long, has failed too often, or the run is stopped.
            SourceError: If it fails, or cannot be reached.
        """
        waits, waited, pauses = 0, 0.0, [] if self._failures else list(_PAUSES)
        while True:
            if self._stop.is_set():
                hint = "Run the same command again to continue."
                raise Ended(f"Requests to {self.name} were stopped.", hint=hint)
            if self._closed_by is not None:
                raise self._closed_by
            reply = self._ask(path, query, posted, headers or {})
            if (seconds := self.requested_wait(reply, waits)) is not None:
                waits, waited = waits + 1, waited + seconds
                wanted = asked_wait(self.name, seconds, _RATE_LIMIT)
                if waited > self._wait_seconds or waits > self.max_waits:
                    hint = f"Run it again then, or raise FOOTNOTE_{self.name.upper()}__WAIT_SECONDS."
                    message = f"{wanted}; that is left for the next run."
                    self._closed_by = Ended(message, hint=f"{hint} {self.advice}".rstrip(), wait=seconds)
                    raise self._closed_by
                self._say(f"{wanted} ...")
                self._stop.wait(seconds)
            elif reply.failed or reply.status in self.retried:
                error = self.failure(reply, path) if reply.status else self._unreached(str(reply.body))
                if not pauses:
                    raise self._failed(error)
                usual, asked = pauses.pop(0), reply.retry_after
                pause = usual if asked is None else min(asked, self._wait_seconds)
                self._say(f"{error.message.rstrip('.')}; the next try is in {format_duration(pause)} ...")
                self._stop.wait(pause)
            else:
                self._failures = 0
                return reply

    def close(self) -> None:
        """Close the connection."""
        if self._opened is not None:
            self._opened.close()

    def _ask(
        self, path: str, query: Mapping[str, Any] | None, posted: Mapping[str, Any] | None, headers: Mapping[str, str]
    ) -> Reply:
        import httpx

        client, method = self._client(), "GET" if posted is None else "POST"
        try:
            url = httpx.URL(self.base.rstrip("/") + path, params=dict(query or {}))
            for _ in range(_MAX_REDIRECTS):
                answer = client.request(method, url, json=posted, headers=dict(headers))
                onward = url.join(answer.headers.get("location", "")) if answer.is_redirect else url
                if onward == url or (onward.scheme, onward.netloc) != (url.scheme, url.netloc):
                    break  # the token goes to no other host
                url = onward
        except httpx.TransportError as error:
            return Reply(0, body=connection_failure(error))
        except (httpx.HTTPError, httpx.InvalidURL, ValueError):  # its own error may show the request
            raise self._not_a_url() from None
        return Reply(answer.status_code, answer.headers, _parsed(answer.content))

    def _client(self) -> "httpx.Client":
        if self._opened is None:
            import httpx

            try:
                has_host = self.base.startswith(("https://", "http://")) and urlsplit(self.base).hostname
            except ValueError:
                has_host = None
            if not has_host:
                raise self._not_a_url()
            secret = self.secret
            if not (secret.isascii() and secret.isprintable()):  # the client's own error would show it
                raise Ended(
                    f"{self.name.upper()}_TOKEN contains characters that tokens never have.",
                    hint="Copy it again, or unset it.",
                    wait=UNTIL_MENDED,
                )
            token = {"Authorization": f"{self.scheme} {secret}"} if secret else {}
            context = ssl_context(self._ca_file, httpx.create_ssl_context)
            self._opened = httpx.Client(
                verify=context, timeout=_TIMEOUT, headers={"User-Agent": "Footnote", **self.headers, **token}
            )
        return self._opened

    @property
    def _base_setting(self) -> str:
        return f"FOOTNOTE_{self.name.upper()}__API_BASE"

    def _unreached(self, why: str) -> SourceError:
        hint = CA_FILE_HINT if is_untrusted(why) else f"Check the network and {self._base_setting}."
        return SourceError(f"{self.name} cannot be reached at {self.host}: {why}.", hint=hint)

    def _not_a_url(self) -> SourceError:
        return Ended(f"{self._base_setting} is not a URL.", hint="Unset it to use the default.")

    def _failed(self, error: SourceError) -> SourceError:
        self._failures += 1
        if self._failures < _MAX_FAILURES:
            return error
        stopped, hint = f"{self.name} failed repeatedly, so requests to it were stopped.", "Run it again later."
        self._closed_by = Ended(stopped, hint=hint)
        return Ended(f"{error.message} {stopped}", hint=hint)


def _parsed(content: bytes) -> Any:
    """The value of a JSON text; None if it is none, or nested too deeply."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None
