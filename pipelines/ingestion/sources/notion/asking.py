"""One request to Notion, patient where it asks for that; what it refuses is an error that says what to do."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from pipelines.errors import UNTIL_MENDED, SourceError
from pipelines.ingestion.sources.base import Access
from pipelines.ingestion.sources.outages import too_long, trying_again, waiting, why_unreached
from pipelines.text import canonical
from pipelines.trust import OWN_AUTHORITY, is_unknown

_TRIES = 3  # of a request that fails at Notion's end
_MOST_WAITS = 30
_MOST_FAILURES = 3  # in a row: then nobody is there
_HINT = "Run it again later: what was fetched is kept."
_RATE_LIMIT = "its rate limit"
_MOST_DIGITS = 11  # of seconds to wait; a longer number is nonsense
_NO_TABLE = ("data sources accessible by this API bot", "is a linked database")  # the API has no code of its own for it

Call = Callable[..., Any]


class Ended(SourceError):
    """Raised when no further request makes sense."""


class Gone(SourceError):
    """Raised when Notion says that there is no such thing, or none that the integration may see."""


class Refused(SourceError):
    """Raised when Notion takes this one request for a wrong one."""


class Asking:
    """Sends requests one after the other; `nonsense` is what an answer is that is not of Notion's API."""

    def __init__(self, access: Access) -> None:
        held = access.settings.notion
        self._stop, self._say = access.stop, access.say
        self._far, self._step, self._answers = access.far, "the beginning", 0
        self._patience = held.wait_seconds
        self._host = urlsplit(held.api_base).netloc.rpartition("@")[2] or "The address of Notion"
        self._pause = 1.0
        self._failures = 0

    def step(self, far: str) -> None:
        """Say how far a look is, now and at each answer: that of one long page may take hundreds."""
        self._step = far
        self._far(f"Notion: {far} (answer {self._answers:,})")

    def ask(self, call: Call) -> Any:
        """What a call of the client answers, after as many tries and waits as it takes.

        Raises:
            Ended: If the token is refused, Notion cannot be reached or asks to wait for too long, or the run is
                stopped.
            Gone, Refused: If that is what Notion says.
            SourceError: If Notion fails, or answers nonsense.
        """
        waited, asked, failed = 0.0, 0, 0
        while not self._stop.is_set():
            said, seconds = self._try(call)
            if seconds is None:
                self._answers += 1
                self.step(self._step)
                return said
            if isinstance(said, Ended):  # a rate limit
                asked += 1
                if waited + seconds > self._patience or asked > _MOST_WAITS:
                    raise said
                self._say(waiting("Notion", seconds, _RATE_LIMIT))
                waited += seconds
            else:
                failed += 1
                if failed >= _TRIES:
                    raise self._failed(said)
                self._say(trying_again(said, seconds))
            self._stop.wait(seconds)
        raise Ended("The listing of Notion was stopped.", hint=_HINT)

    def _try(self, call: Call) -> tuple[Any, float | None]:
        """(the answer, None), or (what went wrong, how many seconds later it may go well)."""
        import httpx
        from notion_client.errors import HTTPResponseError, NotionClientErrorBase, RequestTimeoutError

        try:
            answer = call()
        except HTTPResponseError as error:
            pause = _retry_after(error.headers.get("retry-after"))
            if error.status == 429:
                asked = self._pause if pause is None else pause
                return _limited(asked), asked
            if error.status >= 500 or error.status == 409:
                said = SourceError(f"Notion answered with {error.status}.", hint=_HINT)
                return said, self._pause if pause is None else min(pause, self._patience)
            raise self._refusal(error) from None
        except (RequestTimeoutError, httpx.TransportError) as error:
            why = why_unreached(error)
            hint = OWN_AUTHORITY if is_unknown(why) else f"{_HINT} Or check FOOTNOTE_NOTION__API_BASE."
            return SourceError(f"Notion cannot be reached at {self._host}: {why}.", hint=hint), self._pause
        except (NotionClientErrorBase, httpx.HTTPError, httpx.InvalidURL, ValueError):
            raise self.nonsense() from None  # they may show the request
        self._failures = 0
        return answer, None

    def _failed(self, said: SourceError) -> SourceError:
        self._failures += 1
        return Ended(said.message, hint=said.hint, wait=said.wait) if self._failures >= _MOST_FAILURES else said

    def _refusal(self, error: Any) -> SourceError:
        """What Notion's own refusal means; that of anything else at its address ends the listing."""
        code = getattr(error.code, "value", error.code)
        words = " ".join(canonical(str(error)).split())
        if error.status == 401:
            return Ended(
                "Notion refuses the token.", hint="Set NOTION_TOKEN to the secret of an integration.", wait=UNTIL_MENDED
            )
        if code == "restricted_resource":
            said = "Notion does not let the integration read this."
            return SourceError(said, hint="Give it the capability to read content.", wait=UNTIL_MENDED)
        if code == "object_not_found":
            return Gone("Notion knows no such page, or it is not shared with the integration.", wait=UNTIL_MENDED)
        if any(said in words for said in _NO_TABLE):
            return Gone("It is a linked view, or its tables are not shared with the integration.", wait=UNTIL_MENDED)
        if code in ("validation_error", "invalid_request"):
            return Refused(
                f"Notion refuses the request: {words[:200].rstrip('.')}.",
                hint="Take out of the page what it does not give, or leave the page out; what is stored of it stays.",
                wait=UNTIL_MENDED,
            )
        said = f"{self._host} answered with {error.status}, not as Notion's API does."
        return Ended(said, hint="Check FOOTNOTE_NOTION__API_BASE.")

    def nonsense(self) -> SourceError:
        """What is said of an answer that is not of Notion's API."""
        said = f"{self._host} answered something that is not of Notion's API."
        return SourceError(said, hint="Try again later, or check FOOTNOTE_NOTION__API_BASE.")


def _limited(seconds: float) -> Ended:
    error = too_long("Notion", seconds, "FOOTNOTE_NOTION__WAIT_SECONDS", why=_RATE_LIMIT)
    return Ended(error.message, hint=error.hint, wait=error.wait)


def _retry_after(told: str | None) -> float | None:
    """How many seconds a Retry-After header says, None where it says none."""
    return float(told) if told and told.isascii() and told.isdecimal() and len(told) <= _MOST_DIGITS else None
