"""GitHub's REST API through PyGithub: conditional requests, cached answers, rate limits, errors in words."""

import hashlib
import json
import logging
import math
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from pipelines.errors import UNTIL_MENDED, ConfigError, SourceError
from pipelines.ingestion.sources.base import Access, connection_failure, retry_message, wait_message, wait_too_long
from pipelines.store.fetch_cache import Fetched, recall_fetched, remember_fetched
from pipelines.text import canonical
from pipelines.tls import CA_FILE_HINT, checked_ca_file, environment_ca_file, is_untrusted

if TYPE_CHECKING:
    from github.Requester import Requester

_RATE_LIMIT = "its rate limit"
_DEFAULT_WAIT = 60.0  # seconds, doubled each time, where GitHub names no time
_SECONDARY_LIMIT = ("rate limit", "abuse detection")  # the latter on older Enterprise servers
_PAUSES = (1.0, 4.0)  # seconds before a server that failed is asked again
_MAX_WAITS = 5  # for one request
_MAX_FAILURES = 3  # requests in a row: then GitHub is down
_TIMEOUT = 30  # seconds
_MAX_MESSAGE = 200  # characters of what GitHub says itself


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of GitHub.

    Attributes:
        status: 200, 304 or one that the request allowed.
        more: True if there is a next page.
        is_cut: True if it lacks what a token that single sign-on knows would see.
    """

    status: int
    body: Any = None
    etag: str = ""
    more: bool = False
    is_cut: bool = False


class Client:
    """Sends requests to GitHub, one at a time; the connection is opened by the first one.

    PyGithub's own retries and its pause before every request are off: they sleep silently, and cannot be stopped.

    Raises:
        ConfigError: If FOOTNOTE_CA_FILE, or REQUESTS_CA_BUNDLE, cannot be used.
    """

    def __init__(self, access: Access, now: Callable[[], float] = time.time) -> None:
        self._settings = access.settings.github
        self._token = access.settings.github_token
        self._say, self._stop, self._now = access.say, access.stop, now
        self._bundle = CaBundle(access.settings.ca_file)
        self._opened: Requester | None = None
        self._until, self._closed_by = 0.0, SourceError("")
        self._failures = 0

    @property
    def has_token(self) -> bool:
        """True if requests carry a token."""
        return self._token is not None

    @property
    def asker(self) -> str:
        """A digest that distinguishes tokens; empty without one."""
        return hashlib.sha256(self._secret().encode()).hexdigest()[:16] if self._token else ""

    @property
    def ended(self) -> bool:
        """True if nothing more can be requested: the wait is too long, the server fails, or the run is stopped."""
        return self._stop.is_set() or self._now() < self._until

    def get(
        self,
        path: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        etag: str = "",
        allowed: Collection[int] = (),
    ) -> Reply:
        """Send a GET; the answer is 304 if nothing changed since that ETag.

        After a request that failed, the next one is sent only once; after three in a row, none is sent any more.

        Raises:
            SourceError: If GitHub refuses, fails, cannot be reached, or asks for a wait that is too long.
        """
        waits, waited = 0, 0.0
        pauses = [] if self._failures else list(_PAUSES)
        while True:
            self._assert_may_ask()
            status, headers, text = self._ask(path, parameters or {}, etag)
            failed = status == 0 or status >= 500
            self._failures = self._failures if failed else 0
            if status == 200:
                return self._reply(path, headers, text)
            message = _message(text)
            seconds = requested_wait(status, headers, message or "", now=self._now(), before=waits)
            if seconds is not None:
                waits, waited = waits + 1, waited + seconds
                if waited > self._settings.wait_seconds or waits > _MAX_WAITS:
                    raise self._give_up(seconds)
                self._say(wait_message("GitHub", seconds, _RATE_LIMIT))
                self._stop.wait(seconds)
            elif status == 304 or status in allowed:
                return Reply(status, is_cut=_is_partial(path, headers))
            elif failed:
                error = self._error(status, path, message or "")
                if not pauses:
                    raise self._failed(error)
                self._say(retry_message(error, pauses[0]))
                self._stop.wait(pauses.pop(0))
            elif message is None or status < 400:
                raise _address_error(self._settings.api_base)
            else:
                raise status_error(status, path, message, has_token=self.has_token)

    def close(self) -> None:
        """Close the connection."""
        if self._opened is not None:
            self._opened.close()
        self._bundle.close()

    def _reply(self, path: str, headers: Mapping[str, str], text: str) -> Reply:
        body = _parsed(text)
        if body is None:
            raise _address_error(self._settings.api_base)
        more = 'rel="next"' in headers.get("link", "")
        return Reply(200, body, headers.get("etag", ""), more, _is_partial(path, headers))

    def _ask(self, path: str, parameters: Mapping[str, Any], etag: str) -> tuple[int, Mapping[str, str], str]:
        """Return (status, headers by names in lower case, body); status 0 and the reason if no answer came."""
        from requests import RequestException

        requester = self._requester()
        headers = {"Accept": "application/vnd.github+json"} | ({"If-None-Match": etag} if etag else {})
        try:
            return requester.requestJson("GET", path, dict(parameters), headers)
        except RequestException as error:
            return 0, {}, json.dumps({"message": connection_failure(error)})
        except (RuntimeError, AssertionError, ValueError) as error:  # how PyGithub reports a wrong address
            raise _address_error(self._settings.api_base) from error

    def _requester(self) -> "Requester":
        if self._opened is None:
            from github import Auth, Github

            logging.getLogger("github").setLevel(logging.ERROR)  # it prints every redirection
            base = self._settings.api_base.rstrip("/")
            if not base.startswith(("https://", "http://")):
                raise _address_error(base)
            secret = self._secret()
            if not (secret.isascii() and secret.isprintable()):  # the client's own error would show it
                hint = "Copy it again, or unset it."
                raise SourceError(
                    "GITHUB_TOKEN contains characters that tokens never have.", hint=hint, wait=UNTIL_MENDED
                )
            self._opened = Github(
                auth=Auth.Token(secret) if secret else None,
                base_url=base,
                timeout=_TIMEOUT,
                user_agent="Footnote",
                verify=self._bundle.verify(),
                retry=None,
                seconds_between_requests=None,
                seconds_between_writes=None,
            ).requester
        return self._opened

    def _secret(self) -> str:
        """Return the token without copied white space; empty without one."""
        return self._token.get_secret_value().strip() if self._token else ""

    def _assert_may_ask(self) -> None:
        if self._stop.is_set():
            raise SourceError("Requests to GitHub were stopped.", hint="Run the same command again to continue.")
        if self._now() < self._until:
            raise self._closed_by

    def _give_up(self, seconds: float) -> SourceError:
        self._until = self._now() + seconds
        self._closed_by = _wait_error(seconds, has_token=self.has_token)
        return self._closed_by

    def _error(self, status: int, path: str, message: str) -> SourceError:
        if status == 0:
            return _unreachable_error(self._settings.api_base, message)
        return status_error(status, path, message, has_token=self.has_token)

    def _failed(self, error: SourceError) -> SourceError:
        self._failures += 1
        if self._failures < _MAX_FAILURES:
            return error
        hint = "The same command goes on from here, later."
        self._until = math.inf
        self._closed_by = SourceError("GitHub failed repeatedly, so requests to it were stopped.", hint=hint)
        return SourceError(f"{error.message} {self._closed_by.message}", hint=self._closed_by.hint)


def _is_partial(path: str, headers: Mapping[str, str]) -> bool:
    """Return True if an organisation's answer is partial; a person's names organisations that nobody asked for."""
    return path.startswith("/orgs/") and headers.get("x-github-sso", "").startswith("partial-results")


def _parsed(text: str) -> Any:
    """Return the value of a JSON text; None if it is none, or nested too deeply."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _message(text: str) -> str | None:
    """Return the message of an error; None if it is not one of the API."""
    body = _parsed(text)
    return str(body.get("message", "")) if isinstance(body, dict) else None


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """The reduced body of an answer, as JSON; whether another page may follow, and whether this one is partial."""

    body: Any
    more: bool
    is_cut: bool = False


class CachedApi:
    """Requests to GitHub whose reduced answers are kept, each with its ETag; `verify` ignores those of earlier runs."""

    def __init__(self, client: Client, home: Path, base: str, *, verify: bool) -> None:
        self._client, self._home, self._base, self._verify = client, home, base.rstrip("/"), verify
        self._now: dict[str, Mapping[str, Any]] = {}

    def get(
        self,
        path: str,
        reduce: Callable[[Any], Any],
        parameters: Mapping[str, Any] | None = None,
        *,
        state: str = "",
        allowed: Collection[int] = (),
    ) -> CachedResponse:
        """Return what `reduce` makes of the body of the answer.

        An answer of the same `state` is not requested again; a partial one is requested without its ETag each time,
        because only then it surely says so. For an `allowed` status `reduce` receives None.

        Raises:
            SourceError: If GitHub refuses or cannot be reached.
            StoreError: If the answer cannot be kept.
        """
        key = f"{self._base}{path}?{urlencode(parameters or {})}"
        known = self._known(key)
        if known and state and known["state"] == state:
            return CachedResponse(known["held"], known["next"])
        reply = self._client.get(path, parameters, etag=known["etag"] if known else "", allowed=allowed)
        if reply.status == 304:
            if not known:
                raise garbled_error()
            fresh = {**known, "state": state}
        else:
            etag = "" if reply.is_cut else reply.etag
            fresh = {"etag": etag, "held": reduce(reply.body), "next": reply.more, "state": state}
        self._now[key] = fresh
        if fresh != known:
            remember_fetched(self._home, Fetched(key, "", "", 0, fresh))
        return CachedResponse(fresh["held"], fresh["next"], reply.is_cut)

    def _known(self, key: str) -> Mapping[str, Any] | None:
        if key in self._now or self._verify:
            return self._now.get(key)
        note = recall_fetched(self._home, key)
        return note.more if note and {"etag", "held", "next", "state"} <= note.more.keys() else None


def status_error(status: int, what: str, message: str, *, has_token: bool) -> SourceError:
    """Return the error of a status other than 200."""
    words = " ".join(canonical(message).split())[:_MAX_MESSAGE].rstrip(". ")
    reason = f" ({words})" if words else ""
    if status == 401:
        return SourceError(
            f"GitHub rejects the GITHUB_TOKEN{reason}.", hint="Make a new one, or unset it.", wait=UNTIL_MENDED
        )
    if status == 404:
        hint = "Check the name" + ("." if has_token else "; set GITHUB_TOKEN for what is private.")
        return SourceError(
            f"GitHub has nothing at {what}: it does not exist, or is private.", hint=hint, wait=UNTIL_MENDED
        )
    if status == 403:
        hint = "Give it the right to read repositories." if has_token else "Set a GITHUB_TOKEN that may."
        who = "this GITHUB_TOKEN" if has_token else "anybody"
        return SourceError(f"GitHub does not let {who} read {what}{reason}.", hint=hint, wait=UNTIL_MENDED)
    if status == 451:
        return SourceError(
            f"GitHub may not show {what} for legal reasons{reason}.",
            hint="Its stored documents are kept.",
            wait=UNTIL_MENDED,
        )
    return SourceError(f"GitHub answered {what} with {status}{reason}.", hint="Try again later.")


def partial_error(what: str) -> SourceError:
    """Return the error of an answer without what a token that single sign-on knows would see."""
    return SourceError(
        f"GitHub shows only part of {what}: this GITHUB_TOKEN is not authorised there by single sign-on.",
        hint="Authorise it on GitHub (Settings, Developer settings, Configure SSO), or take another one.",
        wait=UNTIL_MENDED,
    )


def _unreachable_error(base: str, why: str) -> SourceError:
    host = urlsplit(base).hostname or base
    hint = CA_FILE_HINT if is_untrusted(why) else "Check the network and FOOTNOTE_GITHUB__API_BASE."
    return SourceError(f"GitHub cannot be reached at {host}: {why}.", hint=hint)


def _address_error(base: str) -> SourceError:
    return SourceError(
        f"{urlsplit(base).hostname or base} does not answer as GitHub's API does.",
        hint="Check FOOTNOTE_GITHUB__API_BASE: https://api.github.com, or https://HOST/api/v3.",
    )


def garbled_error() -> SourceError:
    """Return the error of an answer that is not of GitHub's API."""
    return SourceError("GitHub sent a response that cannot be read.", hint="Try again later.")


def requested_wait(
    status: int, headers: Mapping[str, str], message: str, *, now: float, before: int = 0
) -> float | None:
    """Return the seconds for which GitHub asks to wait; None if the answer is about something else.

    A limit that holds although its time is over, because the clock here is fast, counts as one that names no time.

    Args:
        status: Of the answer.
        headers: By their names in lower case.
        message: That of the answer.
        now: Seconds since 1970.
        before: Number of waits before this one.

    Source: docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api (Exceeding the rate limit).
    """
    if status not in (403, 429):
        return None
    named = _named_wait(headers, now)
    if named is not None:
        return max(named, _DEFAULT_WAIT * 2.0 ** (before - 1)) if before and named < 1 else named
    if status == 429 or any(words in message.lower() for words in _SECONDARY_LIMIT):
        return _DEFAULT_WAIT * 2.0**before
    return None


def _wait_error(seconds: float, *, has_token: bool) -> SourceError:
    more = "" if has_token else "With a GITHUB_TOKEN, GitHub answers 5,000 questions an hour instead of 60."
    return wait_too_long("GitHub", seconds, "FOOTNOTE_GITHUB__WAIT_SECONDS", why=_RATE_LIMIT, more=more)


def _named_wait(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds until the time in the headers; None where they have none."""
    after, reset = _seconds(headers.get("retry-after")), _seconds(headers.get("x-ratelimit-reset"))
    if after is None and reset is not None and headers.get("x-ratelimit-remaining") == "0":
        return max(0.0, reset - now + 1)  # the reset is a whole second, and may be anywhere in it
    return after


def _seconds(value: str | None) -> float | None:
    return float(value) if value is not None and value.isascii() and value.isdigit() and len(value) < 12 else None


class CaBundle:
    """The usual TLS authorities, as `requests` finds them, and those of FOOTNOTE_CA_FILE, in one file.

    Raises:
        ConfigError: If that file cannot be used, or the one that the environment names for `requests`.
    """

    def __init__(self, ca_file: str) -> None:
        self._usual = environment_ca_file("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", or_folder=True)
        self._own = checked_ca_file(ca_file)
        self._folder: TemporaryDirectory[str] | None = None

    def verify(self) -> bool | str:
        """Return True if there are only the usual ones; else the path of a file of both, which exists until `close`.

        Raises:
            ConfigError: If a file of certificates cannot be read.
        """
        if self._own is None:
            return True
        self._folder = self._folder or TemporaryDirectory(prefix="footnote-")
        path = Path(self._folder.name) / "authorities.pem"
        try:
            path.write_bytes(b"\n".join(file.read_bytes() for file in (*self._files(), self._own)))
        except OSError as error:
            unread = f"{error.filename}, a file of certificates, cannot be read: {error.strerror}."
            raise ConfigError(unread, hint="Check REQUESTS_CA_BUNDLE and FOOTNOTE_CA_FILE.") from error
        return str(path)

    def close(self) -> None:
        """Remove the file."""
        if self._folder is not None:
            self._folder.cleanup()

    def _files(self) -> list[Path]:
        from requests.utils import DEFAULT_CA_BUNDLE_PATH

        usual = self._usual or Path(DEFAULT_CA_BUNDLE_PATH)
        return sorted(file for file in usual.iterdir() if file.is_file()) if usual.is_dir() else [usual]
