"""Fetching pages: robots.txt, redirects, the pace and the backoff of hosts, limits of size and time."""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event

from protego import Protego

from config.settings import WebSettings
from pipelines.errors import UNTIL_MENDED, SourceError
from pipelines.ingestion.sources.base import RUN_LATER, Gone, Refused, asked_wait
from pipelines.ingestion.sources.web.address import Address, join, read_address
from pipelines.ingestion.sources.web.guard import HttpClient, Network, Response
from pipelines.ingestion.sources.web.responses import (
    BUSY,
    MOVED,
    UNKNOWN_TYPE,
    XML,
    NotAsked,
    Unreached,
    busy_error,
    charset_of,
    corrected_type,
    decoded_body,
    gunzip,
    media_type,
    sniffed_type,
    status_error,
    too_large,
    validators_of,
)
from pipelines.retry import retry_after

_MAX_UNREACHED = 3  # requests in a row
_MAX_WAIT = 60.0  # seconds that a server may ask for and gets
_TRIES = 3
_MAX_REDIRECTS = 5
_SUCCESS = range(200, 300)
_MAX_RULES_BYTES = 500_000
_MAX_DELAY = 60.0  # seconds
_AGENT_LINE = re.compile(r"(\s*user-agent\s*:\s*)([^\s/#]*).*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """The response of an address.

    Attributes:
        address: After redirects.
        type: One that a loader reads, or `XML`; empty for a robots.txt, and if not `fresh`.
        charset: As the server named it.
        body: Unpacked.
        validators: Request headers that ask next time whether it changed.
        fresh: False if the page is unchanged; then there is no body.
    """

    address: Address
    type: str = ""
    charset: str = ""
    body: bytes = b""
    validators: Mapping[str, str] = field(default_factory=dict)
    fresh: bool = True


class Rules:
    """The rules of one robots.txt (RFC 9309) for one agent; without a file everything is allowed.

    Protego reads them: the longest matching rule decides, with `*` and `$`.

    Attributes:
        delay: Seconds between two requests that the file asks for; at most 60.
    """

    def __init__(self, data: bytes = b"", agent: str = "") -> None:
        self._agent = agent.partition("/")[0].strip().lower()
        lines = data[:_MAX_RULES_BYTES].decode("utf-8-sig", "replace").splitlines()
        self._parsed = Protego.parse("\n".join(_AGENT_LINE.sub(self._exact_group, line) for line in lines))
        self.delay = min(self._parsed.crawl_delay(self._agent) or 0.0, _MAX_DELAY)

    def allow(self, target: str) -> bool:
        """Return True if a path with its query may be fetched."""
        return bool(self._parsed.can_fetch(target, self._agent))

    def _exact_group(self, line: re.Match[str]) -> str:
        """Protego matches beginnings of agent names and no versions: name a group as ours, as `*`, or as nobody's."""
        token = line[2].lower()
        return line[1] + (token if token in (self._agent, "*") else "-")


class Fetcher:
    """Fetches pages, each host at its pace."""

    def __init__(
        self,
        settings: WebSettings,
        stop: Event,
        say: Callable[[str], None] = lambda message: None,
        network: Network | None = None,
        ca_file: str = "",
    ) -> None:
        """Prepare the client.

        Raises:
            ConfigError: If `ca_file` cannot be used.
        """
        self._settings = settings
        self._stop = stop
        self._say = say
        self._wire = HttpClient(network or Network(), settings.private_hosts, settings.agent, ca_file)
        self._rules: dict[str, Rules | SourceError] = {}
        self._asked: dict[str, float] = {}
        self._resting: dict[str, SourceError] = {}  # hosts that are left alone for the rest of the run
        self._unreached: dict[str, int] = {}

    def address(self, url: str) -> Address:
        """Return an address in one form.

        Raises:
            SourceError: If it is not fetched.
        """
        return read_address(url, self._settings.private_hosts)

    def get(self, address: Address, validators: Mapping[str, str] | None = None, at: str = "") -> FetchedPage:
        """Fetch an address; with validators, perhaps only to hear that it did not change.

        The validators are those of the page when it was fetched last; they are valid `at` the address after redirects,
        empty for the address itself.

        Raises:
            Gone: If there is nothing.
            NotAsked: If its host asked for rest, was not reached several times, or its robots.txt cannot be read.
            SourceError: If it is refused, too large, of a type that is not read, or cannot be reached.
        """
        return self._follow(address, validators or {}, at or address.url)

    def close(self) -> None:
        """Close the connections."""
        self._wire.close()

    def _follow(
        self, address: Address, validators: Mapping[str, str], at: str, *, for_robots: bool = False
    ) -> FetchedPage:
        self._wire.deadline.until = time.monotonic() + self._settings.timeout_seconds
        way = [address]
        while True:
            if not for_robots:
                self._assert_allowed(way[-1])
            headers = validators if way[-1].url == at else {}
            found = self._answer(way[-1], headers, for_robots=for_robots)
            if isinstance(found, FetchedPage):
                return found
            self._assert_onward(way, found)
            way.append(found)

    def _assert_onward(self, way: list[Address], onward: Address) -> None:
        if onward in way:
            circle = " -> ".join(one.url for one in (*way[way.index(onward) :], onward))
            raise SourceError(f"{way[0].name} redirects in a circle: {circle}.", hint="Tell the operator of the site.")
        if len(way) > _MAX_REDIRECTS:
            many = f"{way[0].name} was redirected more than {_MAX_REDIRECTS} times."
            raise SourceError(many, hint=f"Give {onward.url} itself.", wait=UNTIL_MENDED)
        if onward.private and not way[-1].private:
            hint = f"Give {onward.url} itself if it is meant."
            raise SourceError(
                f"{way[0].name} leads from a public host to the private {onward.host}.", hint=hint, wait=UNTIL_MENDED
            )

    def _answer(self, address: Address, headers: Mapping[str, str], *, for_robots: bool) -> FetchedPage | Address:
        """Return the page, or the address of a redirect; wait for a busy host as long as it asks, within limits."""
        for left in reversed(range(_TRIES)):
            self._pace(address)
            with self._counted(address.netloc), self._wire.get(address, headers) as reply:
                if reply.status not in BUSY:
                    return self._page(address, reply, conditional=bool(headers), for_robots=for_robots)
                status, wait = reply.status, retry_after(reply.headers.get("retry-after", ""))
            refusal = busy_error(address.name if wait is None else address.netloc, status, wait)
            if wait is None or wait > _MAX_WAIT or not left:
                break
            self._say(f"{asked_wait(address.netloc, wait)} ...")
            self._wait(wait)
        if status == 429 or wait is not None:  # it is the host that is busy, not a page that fails
            self._resting[address.netloc] = refusal
        raise refusal

    def _page(self, address: Address, reply: Response, *, conditional: bool, for_robots: bool) -> FetchedPage | Address:
        headers, most = reply.headers, self._settings.max_bytes
        if reply.status in MOVED and headers.get("location"):
            return join(address, headers["location"], self._settings.private_hosts)
        if reply.status == 304 and conditional:
            return FetchedPage(address, validators=validators_of(headers), fresh=False)
        if reply.status != 200 and not (for_robots and reply.status in _SUCCESS):
            raise status_error(address.name, reply.status)
        named_type, length = headers.get("content-type", ""), headers.get("content-length", "")
        kind = UNKNOWN_TYPE if for_robots else media_type(named_type, address.name)
        if length.isdecimal() and int(length[:18]) > most:
            raise too_large(address.name, most)
        body = decoded_body(reply.chunks, headers.get("content-encoding", ""), most, address.name)
        if kind in (UNKNOWN_TYPE, XML) and not for_robots:
            body = gunzip(body, most, address.name)
        if not for_robots:
            kind = (
                sniffed_type(body, address.target, address.name) if kind == UNKNOWN_TYPE else corrected_type(kind, body)
            )
        return FetchedPage(address, kind, charset_of(named_type), body, validators_of(headers))

    def _assert_allowed(self, address: Address) -> None:
        if not self._settings.robots:
            return
        rules = self._robots(address)
        if isinstance(rules, SourceError):
            unreadable = f"{address.netloc} does not say what may be fetched: {rules.message}"
            of_host = isinstance(rules, Unreached | NotAsked)
            raise NotAsked(rules.message if of_host else unreadable, hint=rules.hint, wait=rules.wait)
        if not rules.allow(address.target):
            hint = "Leave it out, ask who runs the site, or set FOOTNOTE_WEB__ROBOTS=false for a site of your own."
            raise SourceError(
                f"{address.name} is disallowed by the robots.txt of its site.", hint=hint, wait=UNTIL_MENDED
            )

    def _robots(self, address: Address) -> Rules | SourceError:
        """Return the rules of a host: everything is allowed without a robots.txt, nothing while it cannot be read."""
        origin = _origin(address)
        if origin not in self._rules:
            left = self._wire.deadline.until - time.monotonic()
            try:
                page = self._follow(self.address(f"{origin}/robots.txt"), {}, "", for_robots=True)
                self._rules[origin] = Rules(page.body, self._settings.agent)
            except (Gone, Refused):
                self._rules[origin] = Rules()
            except SourceError as error:
                self._rules[origin] = error
            self._wire.deadline.until = time.monotonic() + left
        return self._rules[origin]

    def _pace(self, address: Address) -> None:
        """Wait until the host may be asked again."""
        if found := self._resting.get(address.netloc):
            raise NotAsked(found.message, hint=found.hint, wait=found.wait)
        rules = self._rules.get(_origin(address))
        delay = max(self._settings.delay_seconds, rules.delay if isinstance(rules, Rules) else 0.0)
        if address.netloc in self._asked:
            self._wait(max(self._asked[address.netloc] + delay - time.monotonic(), 0.0))
        self._asked[address.netloc] = time.monotonic()

    def _wait(self, seconds: float) -> None:
        """Wait; the deadline of the fetch moves with it.

        Raises:
            SourceError: If the run is stopped meanwhile.
        """
        if self._stop.wait(seconds):
            raise SourceError("The run was stopped.", hint="Run it again to continue.")
        self._wire.deadline.until += seconds

    @contextmanager
    def _counted(self, netloc: str) -> Iterator[None]:
        """Count a request to a host; after three in a row that do not reach it, it is left alone."""
        try:
            yield
        except Unreached as error:
            count = self._unreached[netloc] = self._unreached.get(netloc, 0) + 1
            if count >= _MAX_UNREACHED:
                problem = f"{error.message.removesuffix('.')}, {count} times in a row."
                self._resting[netloc] = SourceError(problem, hint=RUN_LATER)
            raise
        except SourceError:
            self._unreached.pop(netloc, None)
            raise
        self._unreached.pop(netloc, None)


def _origin(address: Address) -> str:
    return f"{address.scheme}://{address.netloc}"
