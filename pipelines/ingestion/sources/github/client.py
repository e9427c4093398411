"""GitHub's REST API: conditional requests, cached answers, rate limits, errors in words."""

import hashlib
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

from pipelines.errors import UNTIL_MENDED, SourceError
from pipelines.ingestion.sources.base import Access
from pipelines.ingestion.sources.http import JsonClient, Reply
from pipelines.retry import seconds_in
from pipelines.store.fetch_cache import Fetched, recall_fetched, remember_fetched
from pipelines.text import one_line

_DEFAULT_WAIT = 60.0  # seconds, doubled each time, where GitHub names no time
_SECONDARY_LIMIT = ("rate limit", "abuse detection")  # the latter on older Enterprise servers
_MAX_MESSAGE = 200  # characters of what GitHub says itself


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """The reduced body of an answer, as JSON; whether another page may follow, and whether this one is partial."""

    body: Any
    more: bool
    is_cut: bool = False


class GitHubApi(JsonClient):
    """Requests to GitHub. Reduced answers are kept, each with its ETag; `verify` ignores those of earlier runs."""

    name, scheme, max_waits = "GitHub", "token", 5
    headers = MappingProxyType({"Accept": "application/vnd.github+json"})

    def __init__(self, access: Access, now: Callable[[], float] = time.time) -> None:
        settings, token = access.settings.github, access.settings.github_token
        super().__init__(access, settings.api_base, token, settings.wait_seconds)
        self._home, self._verify, self._now = access.settings.home.absolute(), access.verify, now
        self._kept: dict[str, Mapping[str, Any]] = {}
        self.has_token = token is not None
        if not token:
            self.advice = "With a GITHUB_TOKEN, GitHub answers 5,000 questions an hour instead of 60."

    @property
    def asker(self) -> str:
        """A digest that distinguishes tokens; empty without one."""
        return hashlib.sha256(self.secret.encode()).hexdigest()[:16] if self.has_token else ""

    def get(
        self,
        path: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        etag: str = "",
        allowed: Collection[int] = (),
    ) -> Reply:
        """Send a GET; the answer is 304 if nothing changed since that ETag, 200 or an allowed status.

        Raises:
            SourceError: If GitHub refuses, fails, cannot be reached, or asks for a wait that is too long.
        """
        reply = self.send(path, parameters, headers={"If-None-Match": etag} if etag else {})
        if reply.status in (304, *allowed) or (reply.status == 200 and reply.body is not None):
            return reply
        raise self.failure(reply, path)

    def cached(
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
        key = f"{self.base.rstrip('/')}{path}?{urlencode(parameters or {})}"
        known = self._known(key)
        if known and state and known["state"] == state:
            return CachedResponse(known["held"], known["next"])
        reply = self.get(path, parameters, etag=known["etag"] if known else "", allowed=allowed)
        # An organisation's answer may be partial; a person's names organisations that nobody asked for.
        is_cut = path.startswith("/orgs/") and reply.headers.get("x-github-sso", "").startswith("partial-results")
        if reply.status == 304:
            if not known:
                raise garbled_error()
            fresh = {**known, "state": state}
        else:
            fresh = {
                "etag": "" if is_cut else reply.headers.get("etag", ""),
                "held": reduce(reply.body if reply.status == 200 else None),
                "next": 'rel="next"' in reply.headers.get("link", ""),
                "state": state,
            }
        self._kept[key] = fresh
        if fresh != known:
            remember_fetched(self._home, Fetched(key, "", "", 0, fresh))
        return CachedResponse(fresh["held"], fresh["next"], is_cut)

    def _known(self, key: str) -> Mapping[str, Any] | None:
        if key in self._kept or self._verify:
            return self._kept.get(key)
        note = recall_fetched(self._home, key)
        return note.more if note and {"etag", "held", "next", "state"} <= note.more.keys() else None

    def requested_wait(self, reply: Reply, waits: int) -> float | None:
        """The seconds for which GitHub asks to wait, after so many waits; None if the answer is of something else.

        A limit that holds although its time is over, because the clock here is fast, counts as one that names no time.

        Source: docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api (Exceeding the rate limit).
        """
        if reply.status not in (403, 429):
            return None
        named, reset = reply.retry_after, seconds_in(reply.headers.get("x-ratelimit-reset"))
        if named is None and reset is not None and reply.headers.get("x-ratelimit-remaining") == "0":
            named = max(0.0, reset - self._now() + 1)  # the reset is a whole second, and may be anywhere in it
        if named is not None:
            return max(named, _DEFAULT_WAIT * 2.0 ** (waits - 1)) if waits and named < 1 else named
        if reply.status == 429 or any(words in _message(reply).lower() for words in _SECONDARY_LIMIT):
            return _DEFAULT_WAIT * 2.0**waits
        return None

    def failure(self, reply: Reply, path: str) -> SourceError:
        """The error of an answer that is not what was asked for."""
        if reply.status < 500 and (reply.status < 400 or not isinstance(reply.body, dict)):
            return SourceError(
                f"{self.host} does not answer as GitHub's API does.",
                hint="Check FOOTNOTE_GITHUB__API_BASE: https://api.github.com, or https://HOST/api/v3.",
            )
        words = one_line(_message(reply))[:_MAX_MESSAGE].rstrip(". ")
        reason, has_token = f" ({words})" if words else "", self.has_token
        refusals = {
            401: (f"GitHub rejects the GITHUB_TOKEN{reason}.", "Make a new one, or unset it."),
            403: (
                f"GitHub does not let {'this GITHUB_TOKEN' if has_token else 'anybody'} read {path}{reason}.",
                "Give it the right to read repositories." if has_token else "Set a GITHUB_TOKEN that may.",
            ),
            404: (
                f"GitHub has nothing at {path}: it does not exist, or is private.",
                "Check the name" + ("." if has_token else "; set GITHUB_TOKEN for what is private."),
            ),
            451: (f"GitHub may not show {path} for legal reasons{reason}.", "Its stored documents are kept."),
        }
        if reply.status in refusals:
            message, hint = refusals[reply.status]
            return SourceError(message, hint=hint, wait=UNTIL_MENDED)
        return SourceError(f"GitHub answered {path} with {reply.status}{reason}.", hint="Try again later.")


def partial_error(what: str) -> SourceError:
    """Return the error of an answer without what a token that single sign-on knows would see."""
    return SourceError(
        f"GitHub shows only part of {what}: this GITHUB_TOKEN is not authorised there by single sign-on.",
        hint="Authorise it on GitHub (Settings, Developer settings, Configure SSO), or take another one.",
        wait=UNTIL_MENDED,
    )


def garbled_error() -> SourceError:
    """Return the error of an answer that is not of GitHub's API."""
    return SourceError("GitHub sent a response that cannot be read.", hint="Try again later.")


def _message(reply: Reply) -> str:
    return str(reply.body.get("message", "")) if isinstance(reply.body, dict) else ""
