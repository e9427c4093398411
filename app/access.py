"""Who may call a server: hosts, origins, bearer tokens with their scopes and audience, sizes and rates.

Every refusal and every failure has one shape, that of the command line: `{"error": {"type", "message", "hint"}}`.
"""

import hmac
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from app.address import is_loopback
from app.serialise import serialise
from app.wording import without_settings
from config.settings import Scope, ServeSettings
from pipelines.errors import (
    ConfigError,
    FootnoteError,
    ModelError,
    NotFound,
    PackError,
    RetrievalError,
    ServiceUnavailable,
    SourceError,
    TooLarge,
)
from pipelines.types import Audience

MOST_CLIENTS = 10_000  # whose rates are remembered
App = Callable[[Any, Any, Any], Awaitable[None]]
_STATUS: tuple[tuple[type[FootnoteError], int], ...] = (  # the first that fits
    (NotFound, 404),
    (TooLarge, 413),
    (RetrievalError, 400),
    (SourceError, 400),
    (PackError, 400),
    (ServiceUnavailable, 503),
    (ModelError, 503),
    (ConfigError, 500),
)


@dataclass(frozen=True, slots=True)
class Grant:
    """The scopes and the audience of a caller; `key` tells callers apart."""

    scopes: frozenset[Scope]
    audience: Audience
    key: str = ""


class RequestRefused(HTTPException):
    """A request that is not served: its status, and the error's type, message and hint."""

    def __init__(self, status: int, kind: str, message: str, hint: str = "", headers: Any = None) -> None:
        super().__init__(status, message, headers)
        self.error = {"type": kind, "message": message, "hint": hint}


def all_scopes(audience: Audience) -> frozenset[Scope]:
    """The scopes of a caller without a token: visitors ingest nothing."""
    return frozenset({"read", "ask", "ingest"} if audience == "owner" else {"read", "ask"})


def need(grant: Grant, scope: Scope) -> None:
    """Refuse a caller whose token lacks a scope."""
    if scope not in grant.scopes:
        raise RequestRefused(403, "Forbidden", f"This token has no scope {scope!r}.", f"Use one with {scope}.")


def error_data(error: FootnoteError, audience: Audience) -> dict[str, Any]:
    """The error's plain data; for a visitor without the names of settings, and without what only the owner mends."""
    if audience == "owner":
        return {"error": serialise(error)}
    message, hint = without_settings(error.message), without_settings(error.hint)
    if not isinstance(error, RetrievalError):
        message, hint = "This cannot be answered now.", "Try again later."
    return {"error": {"type": type(error).__name__, "message": message, "hint": hint}}


def error_response(error: FootnoteError | RequestRefused, audience: Audience = "owner") -> JSONResponse:
    """An error with its status."""
    if isinstance(error, RequestRefused):
        return JSONResponse({"error": error.error}, error.status_code, error.headers)
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
    return JSONResponse(error_data(error, audience), status, {"Retry-After": "5"} if status == 503 else None)


def assert_may_listen(settings: ServeSettings) -> None:
    """Refuse an address that others reach while whoever reaches it would be the owner.

    Raises:
        ConfigError: If the host is no loopback address and there are no tokens.
    """
    if not settings.tokens and not is_loopback(settings.host):
        raise ConfigError(
            f"The server does not listen on {settings.host} without tokens: whoever reaches it would be the owner.",
            hint="Set FOOTNOTE_SERVE__TOKENS, or unset FOOTNOTE_SERVE__HOST.",
        )


class Guard:
    """Lets a request pass with its `Grant` in `scope["state"]["grant"]`, or refuses it.

    Args:
        app: What answers the requests that pass.
        settings: Of the server.
        unguarded: Paths that need no token.
        limits: The most bytes of a body, by the beginning of its path; the longest that fits counts.
        default: Of a caller where there are no tokens.
    """

    def __init__(
        self,
        app: App,
        settings: ServeSettings,
        *,
        unguarded: frozenset[str] = frozenset(),
        limits: Mapping[str, int],
        default: Audience = "owner",
    ) -> None:
        self._app, self._settings, self._unguarded, self._limits = app, settings, unguarded, limits
        self._default = Grant(all_scopes(default), default)
        self._rates = CallerRates(settings.per_minute if settings.tokens else 0)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve or refuse a request; other scopes pass."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin = headers.get("origin", "")
        cross = origin if origin in self._settings.origins else ""
        answer = _with_origin(send, cross) if cross else send
        try:
            self._assert_from_here(headers, origin, cross)
            if scope["method"] == "OPTIONS" and cross:
                await JSONResponse({}, 200, _PREFLIGHT)(scope, receive, answer)
                return
            grant = self._default
            if scope["path"] not in self._unguarded:
                grant = self._granted(headers, (scope.get("client") or ("",))[0])
            limit = self._limits[max((each for each in self._limits if scope["path"].startswith(each)), key=len)]
            if int(headers.get("content-length") or 0) > limit:
                raise _too_large(limit)
        except RequestRefused as refused:
            await error_response(refused)(scope, receive, answer)
            return
        scope.setdefault("state", {})["grant"] = grant
        await self._app(scope, _counted(receive, limit), answer)

    def _assert_from_here(self, headers: Headers, origin: str, cross: str) -> None:
        """Refuse pages of other sites, and names that lead to this address by somebody else's word."""
        host = headers.get("host", "")
        if origin and not cross and origin.partition("://")[2] != host:
            raise RequestRefused(403, "Forbidden", "Pages of this site may not call the server.",
                          "Its owner names it in FOOTNOTE_SERVE__ORIGINS.")  # fmt: skip
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
        if not self._settings.tokens and not is_loopback(name.strip("[]")):
            raise RequestRefused(403, "Forbidden", "Without tokens the server answers under loopback names only.",
                          "Call it by 127.0.0.1 or localhost.")  # fmt: skip

    def _granted(self, headers: Headers, address: str) -> Grant:
        """The grant of a request's token, within its rate."""
        given = headers.get("authorization", "")
        token = given[7:].strip().encode() if given[:7].lower() == "bearer " else b""
        grant = None if self._settings.tokens else self._default
        for number, known in enumerate(self._settings.tokens):
            if hmac.compare_digest(known.token.get_secret_value().encode(), token):
                grant = Grant(known.scopes, known.audience, f"{number} {address}")
        if wait := self._rates.wait(grant.key if grant else address):
            raise RequestRefused(429, "TooManyRequests", "Too many requests in this minute.",
                          f"Try again in {wait:.0f} seconds.", {"Retry-After": f"{wait:.0f}"})  # fmt: skip
        if grant is None:
            raise RequestRefused(401, "Unauthorized", "This server needs a valid token.",
                          "Send it as `Authorization: Bearer TOKEN`.", {"WWW-Authenticate": "Bearer"})  # fmt: skip
        return grant


class CallerRates:
    """At most so many requests a minute of each caller: a bucket that fills again evenly; 0 = no limit."""

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # by caller: (requests left, when)

    def wait(self, caller: str, now: float | None = None) -> float:
        """Count a request; the whole seconds until the caller may send one, 0 if it may now."""
        if not self._per_minute:
            return 0.0
        now = time.monotonic() if now is None else now
        left, then = self._left.pop(caller, (float(self._per_minute), now))
        left = min(left + (now - then) * self._per_minute / 60, self._per_minute)
        self._left[caller] = (left - 1 if left >= 1 else left, now)
        if len(self._left) > MOST_CLIENTS:
            self._left.popitem(last=False)
        return 0.0 if left >= 1 else float(-(-(1 - left) * 60 // self._per_minute))


_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST, DELETE",
    "Access-Control-Allow-Headers": "authorization, content-type",
    "Access-Control-Max-Age": "600",
}


def _with_origin(send: Any, origin: str) -> Any:
    """Sends with the headers that let a page of this origin read the response."""

    async def with_headers(message: Any) -> None:
        if message["type"] == "http.response.start":
            allowed = [(b"access-control-allow-origin", origin.encode()), (b"vary", b"Origin")]
            message = {**message, "headers": [*message["headers"], *allowed]}
        await send(message)

    return with_headers


def _counted(receive: Any, limit: int) -> Any:
    """Receives no more than `limit` bytes of a body."""
    total = 0

    async def counting() -> Any:
        nonlocal total
        message = await receive()
        total += len(message.get("body", b""))
        if total > limit:
            raise _too_large(limit)
        return message

    return counting


def _too_large(limit: int) -> RequestRefused:
    return RequestRefused(413, "TooLarge", f"The request is larger than {limit:,} bytes.", "Send less at once.")
