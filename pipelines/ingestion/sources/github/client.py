"""Questions to GitHub's REST API through PyGithub: conditional, one at a time, and patient with its rate limits."""

import hashlib
import json
import logging
import math
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pipelines.errors import SourceError
from pipelines.ingestion.sources.base import Access
from pipelines.ingestion.sources.github.bundle import Bundle
from pipelines.ingestion.sources.github.limits import RATE_LIMIT, asked_to_wait, too_long
from pipelines.ingestion.sources.github.refusals import (
    failing,
    refused,
    unreachable,
    unusable,
    wrong_token,
)
from pipelines.ingestion.sources.outages import trying_again, waiting, why_unreached

if TYPE_CHECKING:
    from github.Requester import Requester

_PAUSES = (1.0, 4.0)  # seconds before a server that failed is asked again
_MOST_WAITS = 5  # for one question
_MOST_FAILURES = 3  # questions in a row: then nobody is there


@dataclass(frozen=True, slots=True)
class Reply:
    """What GitHub answered: `status` is 200, 304 or one that the question allowed; `more` = there is a next page.

    `is_cut`: it leaves out what it would show to a token that single sign-on knows.
    """

    status: int
    body: Any = None
    etag: str = ""
    more: bool = False
    is_cut: bool = False


class Client:
    """A connection to GitHub, opened by the first question.

    PyGithub's own retries and its pause before every request are off: they sleep without a word, and cannot be stopped.

    Raises:
        ConfigError: If FOOTNOTE_CA_FILE, or REQUESTS_CA_BUNDLE, cannot be used.
    """

    def __init__(self, access: Access, now: Callable[[], float] = time.time) -> None:
        self._settings = access.settings.github
        self._token = access.settings.github_token
        self._say, self._stop, self._now = access.say, access.stop, now
        self._bundle = Bundle(access.settings.ca_file)
        self._opened: Requester | None = None
        self._until, self._closed_by = 0.0, SourceError("")
        self._failures = 0

    @property
    def has_token(self) -> bool:
        """Whether GitHub knows who asks."""
        return self._token is not None

    @property
    def asker(self) -> str:
        """What tells one token from another without giving it away; empty without one."""
        return hashlib.sha256(self._secret().encode()).hexdigest()[:16] if self._token else ""

    @property
    def ended(self) -> bool:
        """Whether nothing more can be asked for: too long a wait, a server that fails, a person who wants to stop."""
        return self._stop.is_set() or self._now() < self._until

    def get(
        self,
        path: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        etag: str = "",
        allowed: Collection[int] = (),
    ) -> Reply:
        """What is at a path of the API: 304 where it is as it was at that ETag.

        A server that failed at the question before is asked once, and one that failed at three in a row no more.

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
            seconds = asked_to_wait(status, headers, message or "", now=self._now(), before=waits)
            if seconds is not None:
                waits, waited = waits + 1, waited + seconds
                if waited > self._settings.wait_seconds or waits > _MOST_WAITS:
                    raise self._give_up(seconds)
                self._say(waiting("GitHub", seconds, RATE_LIMIT))
                self._stop.wait(seconds)
            elif status == 304 or status in allowed:
                return Reply(status, is_cut=_is_cut(path, headers))
            elif failed and pauses:
                self._say(trying_again(self._error(status, path, message or ""), pauses[0]))
                self._stop.wait(pauses.pop(0))
            elif failed:
                raise self._failed(self._error(status, path, message or ""))
            elif message is None or status < 400:
                raise unusable(self._settings.api_base)
            else:
                raise refused(status, path, message, has_token=self.has_token)

    def close(self) -> None:
        """Let go of the connection."""
        if self._opened is not None:
            self._opened.close()
        self._bundle.close()

    def _reply(self, path: str, headers: Mapping[str, str], text: str) -> Reply:
        body = _parsed(text)
        if body is None:
            raise unusable(self._settings.api_base)
        more = 'rel="next"' in headers.get("link", "")
        return Reply(200, body, headers.get("etag", ""), more, _is_cut(path, headers))

    def _ask(self, path: str, parameters: Mapping[str, Any], etag: str) -> tuple[int, Mapping[str, str], str]:
        """(status, headers by their names in lower case, body); status 0 and why, where no answer came."""
        from requests import RequestException

        requester = self._requester()
        headers = {"Accept": "application/vnd.github+json"} | ({"If-None-Match": etag} if etag else {})
        try:
            return requester.requestJson("GET", path, dict(parameters), headers)
        except RequestException as error:
            return 0, {}, json.dumps({"message": why_unreached(error)})
        except (RuntimeError, AssertionError, ValueError) as error:  # as PyGithub says that the address is a wrong one
            raise unusable(self._settings.api_base) from error

    def _requester(self) -> "Requester":
        if self._opened is None:
            from github import Auth, Github

            logging.getLogger("github").setLevel(logging.ERROR)  # it prints every redirection
            base = self._settings.api_base.rstrip("/")
            if not base.startswith(("https://", "http://")):
                raise unusable(base)
            secret = self._secret()
            if not (secret.isascii() and secret.isprintable()):  # the client's own error would show it
                raise wrong_token()
            self._opened = Github(
                auth=Auth.Token(secret) if secret else None,
                base_url=base,
                timeout=math.ceil(self._settings.timeout_seconds),
                user_agent="Footnote",
                verify=self._bundle.verify(),
                retry=None,
                seconds_between_requests=None,
                seconds_between_writes=None,
            ).requester
        return self._opened

    def _secret(self) -> str:
        """The token without the spaces and the line end that were copied with it; empty without one."""
        return self._token.get_secret_value().strip() if self._token else ""

    def _assert_may_ask(self) -> None:
        if self._stop.is_set():
            raise SourceError("GitHub was not asked any more.", hint="The same command goes on from here.")
        if self._now() < self._until:
            raise self._closed_by

    def _give_up(self, seconds: float) -> SourceError:
        self._until = self._now() + seconds
        self._closed_by = too_long(seconds, has_token=self.has_token)
        return self._closed_by

    def _error(self, status: int, path: str, message: str) -> SourceError:
        if status == 0:
            return unreachable(self._settings.api_base, message)
        return refused(status, path, message, has_token=self.has_token)

    def _failed(self, error: SourceError) -> SourceError:
        self._failures += 1
        if self._failures < _MOST_FAILURES:
            return error
        self._until, self._closed_by = math.inf, failing()
        return SourceError(f"{error.message} {self._closed_by.message}", hint=self._closed_by.hint)


def _is_cut(path: str, headers: Mapping[str, str]) -> bool:
    """Whether an organisation's answer is partial; that of a person says so of organisations that nobody asked for."""
    return path.startswith("/orgs/") and headers.get("x-github-sso", "").startswith("partial-results")


def _parsed(text: str) -> Any:
    """What a JSON text says; None where it is none, or nested beyond reading."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _message(text: str) -> str | None:
    """What an answer that is an error says; None where it is not one of the API."""
    told = _parsed(text)
    return str(told.get("message", "")) if isinstance(told, dict) else None
