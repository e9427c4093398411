"""Requests to an OpenAI-compatible server: the client, one layer of retries, and an error message for each failure."""

import random
import re
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
import openai
from pydantic import SecretStr

from pipelines.errors import ConfigError, FootnoteError, ModelError, PromptTooLong, ServiceUnavailable
from pipelines.models.cancellation import cancellation_now
from pipelines.observe import log
from pipelines.retry import retry_after
from pipelines.text import word_parts
from pipelines.tls import CA_FILE_HINT, environment_ca_file, is_untrusted, ssl_context

HIDDEN_KEY = "hidden"
LLM_VARIABLE = "FOOTNOTE_LLM__MODEL"
REQUEST_ERRORS = (
    openai.OpenAIError,
    httpx.HTTPError,
    httpx.InvalidURL,
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
)

_LONGEST_WAIT = 60.0
_FIRST_WAIT, _LAST_WAIT = 0.5, 20.0
_OVERFLOWS = (400, 413, 422, 500)  # with which servers refuse a request that is too long
_OVERFLOW = re.compile(
    r"context.{0,60}(?:exceed|length|size|window)|exceed.{0,60}context|too (?:long|many tokens)", re.I
)
_MAX_OPENING = 50  # characters
_NO_PATH = frozenset(f"{code}{what}not found" for code in ("", "404 ") for what in ("", "file ", "page "))
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model on a server, with the environment variables that set its key and its name."""

    url: str
    model: str
    key: SecretStr
    retries: int
    key_variable: str
    model_variable: str
    ca_file: str = ""

    def __post_init__(self) -> None:
        """Refuse a key that cannot be sent in a header; the error of the HTTP client would quote it."""
        key = self.key.get_secret_value()
        if not (key.isascii() and key.isprintable()):
            raise ConfigError(
                f"{self.key_variable} contains characters that keys never have.", hint="Copy the key again."
            )

    @property
    def label(self) -> str:
        """The model and its server."""
        return f"{self.model} at {self.name}"

    @property
    def name(self) -> str:
        """The server's address without credentials or query."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def client_of(endpoint: Endpoint) -> httpx.Client:
    """A client that also trusts the authorities of FOOTNOTE_CA_FILE.

    Raises:
        ConfigError: If that file, or SSL_CERT_FILE, cannot be used.
    """
    return _Client(verify=_authorities(endpoint))


def _authorities(endpoint: Endpoint) -> ssl.SSLContext:
    environment_ca_file()
    return ssl_context(endpoint.ca_file, httpx.create_ssl_context)


def cancellable_client(endpoint: Endpoint) -> httpx.Client:
    """A client whose requests `cancelled_by` can end: each has a connection of its own.

    Raises:
        ConfigError: If FOOTNOTE_CA_FILE, or SSL_CERT_FILE, cannot be used.
    """
    return _Client(verify=_authorities(endpoint), limits=httpx.Limits(max_keepalive_connections=0))


class _Client(openai.DefaultHttpxClient):
    """A client that closes its connections when it is collected, as OpenAI's own does."""

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        if cancellation := cancellation_now():
            request.extensions = {**request.extensions, "trace": cancellation.trace}
        return super().send(request, **options)

    def __del__(self) -> None:
        self.close()


def secret(key: SecretStr | None) -> SecretStr:
    """The key without surrounding spaces, or `none` for servers that need no key."""
    return SecretStr((key.get_secret_value().strip() if key else "") or "none")


def send(endpoint: Endpoint, request: Callable[[], _Answer]) -> _Answer:
    """The result of `request`, which is sent again after 429, 5xx, timeouts and lost connections.

    Raises:
        ServiceUnavailable: If the server cannot be reached or does not answer in time.
        ModelError: If it answers with an error or with nonsense.
    """
    attempt = 0
    while True:
        try:
            return request()
        except REQUEST_ERRORS as error:
            wait = retry_wait(error, attempt)
            if wait is None or attempt >= endpoint.retries:
                raise describe_error(error, endpoint) from None
            log("info", "a model is asked again", server=endpoint.name, seconds=round(wait, 2))
            time.sleep(wait)
            attempt += 1


def retry_wait(error: Exception, attempt: int) -> float | None:
    """Seconds to wait before the next attempt, None if the failure is final; `attempt` counts from 0.

    Doubles from half a second up to 20, with random jitter of a half. Retry-After has precedence; above 60 seconds the
    failure is final.
    """
    if isinstance(error, openai.APIStatusError):
        exhausted = error.code == "insufficient_quota"
        if exhausted or not (error.status_code in (408, 429) or error.status_code >= 500):
            return None
        asked = retry_after(error.response.headers.get("retry-after", ""))
        if asked is not None:
            return asked if asked <= _LONGEST_WAIT else None
    elif not isinstance(error, openai.APIConnectionError | httpx.TransportError):
        return None
    chance = random.uniform(0.5, 1)  # noqa: S311
    return min(_FIRST_WAIT * 2.0**attempt, _LAST_WAIT) * chance


def describe_error(error: Exception, endpoint: Endpoint) -> FootnoteError:
    """Map an exception of a request to an error with a message and a hint, without the key."""
    server, model = endpoint.name, endpoint.model
    if isinstance(error, openai.APITimeoutError | httpx.TimeoutException):
        setting = endpoint.model_variable.replace("__MODEL", "__TIMEOUT_SECONDS")
        return ServiceUnavailable(f"{server} did not answer in time.", hint=f"Try again, or raise {setting}.")
    if isinstance(error, openai.APIConnectionError | httpx.TransportError):
        is_refused = isinstance(error, openai.APIConnectionError | httpx.ConnectError)
        problem = "cannot be reached" if is_refused else "broke off"
        problem += f" ({_detail(error.__cause__ or error, endpoint)})"
        setting = "FOOTNOTE_LLM__API_BASE" if endpoint.model_variable == LLM_VARIABLE else "OPENAI_API_BASE"
        check = f"Check the address ({setting}), the network and whether it runs."
        hint = CA_FILE_HINT if is_untrusted(problem) else check
        return ServiceUnavailable(f"{server} {problem}.", hint=hint)
    detail = _detail(error, endpoint)
    if isinstance(error, httpx.InvalidURL):
        return ServiceUnavailable(f"{server} is no address: {detail}", hint="Check FOOTNOTE_LLM__API_BASE.")
    if not isinstance(error, openai.APIStatusError):
        if isinstance(error, openai.APIError):
            return ModelError(
                f"{model} at {server} returned an error: {detail}", hint="Try again, or choose another model."
            )
        hint = "Check that the address is that of an OpenAI-compatible server."
        return ModelError(f"{server} did not answer in the form of a chat completion.", hint=hint)
    return _describe_status(error, detail, endpoint)


def _describe_status(error: openai.APIStatusError, detail: str, endpoint: Endpoint) -> ModelError:
    server, model, status = endpoint.name, endpoint.model, error.status_code
    if endpoint.model_variable == LLM_VARIABLE and status in _OVERFLOWS and _OVERFLOW.search(detail):
        return PromptTooLong(
            f"The request does not fit into the window of {model} at {server}: {detail}",
            hint="Set FOOTNOTE_LLM__CONTEXT_WINDOW to the window that the server runs with.",
        )
    if status == 404 and (not isinstance(error.body, dict) or _names_no_path(detail)):
        return ModelError(
            f"{server} has no such path.",
            hint="Check the path of the address; of most servers it ends with /v1 (FOOTNOTE_LLM__API_BASE).",
        )
    meanings = {
        401: (f"{server} refuses the key.", f"Set {endpoint.key_variable} to a valid key."),
        402: (f"{server} wants payment: {detail}", f"Add credit to the account of {endpoint.key_variable}."),
        403: (
            f"{server} does not let this key use {model}: {detail}",
            f"Set {endpoint.model_variable} to another model.",
        ),
        404: (f"{server} does not know the model {model}.", f"Check {endpoint.model_variable} and the address."),
        429: (f"{server} takes no more requests for now: {detail}", "Wait, or raise the account's limits."),
    }
    failing = (f"{server} fails with status {status}: {detail}", "Try again later.")
    refused = (f"{server} refuses the request with status {status}: {detail}", f"Check that {model} allows it.")
    message, hint = meanings.get(status, failing if status >= 500 else refused)
    return ModelError(message, hint=hint)


def _detail(error: BaseException, endpoint: Endpoint) -> str:
    body = getattr(error, "body", None)
    message = body.get("message") if isinstance(body, dict) else None
    text = " ".join(str(message or error or type(error).__name__).split())[:300]
    key = endpoint.key.get_secret_value()
    return text.replace(key, "***") if key else text


def _names_no_path(detail: str) -> bool:
    """True if a server says no more than that it has no such path."""
    words = " ".join(word_parts(detail))
    return words in _NO_PATH or "invalid url" in words[:_MAX_OPENING]
