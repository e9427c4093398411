"""FETCH: what an address answers, redirects followed, politely and within limits."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Event

from config.settings import WebSettings
from pipelines.errors import UNTIL_MENDED, SourceError
from pipelines.ingestion.sources.outages import waiting
from pipelines.ingestion.sources.web.address import Address, join, read_address
from pipelines.ingestion.sources.web.media import UNSAID, XML, as_told, charset_of, media_type, told_by
from pipelines.ingestion.sources.web.rest import Rest
from pipelines.ingestion.sources.web.robots import Rules, read_robots
from pipelines.ingestion.sources.web.status import (
    BUSY,
    MOVED,
    Closed,
    Gone,
    Unasked,
    Unreached,
    busy,
    retry_after,
    unanswered,
    validators_of,
)
from pipelines.ingestion.sources.web.unpack import body_of, gunzip, too_large
from pipelines.ingestion.sources.web.wire import Network, Reply, Wire

_LONGEST_WAIT = 60.0  # seconds that a server may ask for and gets
_TRIES = 3
_SUCCESS = range(200, 300)


@dataclass(frozen=True, slots=True)
class Page:
    """What an address answered.

    Attributes:
        address: Where it stood at last.
        type: One that a loader reads, or of `LISTS`; empty of a robots.txt, and when `fresh` is not so.
        charset: As the server named it.
        body: Unpacked.
        validators: What asks next time whether it changed.
        fresh: Whether there is a body: not so when it is as it was.
    """

    address: Address
    type: str = ""
    charset: str = ""
    body: bytes = b""
    validators: Mapping[str, str] = field(default_factory=dict)
    fresh: bool = True


class Fetcher:
    """Fetches pages, each host at its pace."""

    def __init__(
        self,
        settings: WebSettings,
        stop: Event,
        say: Callable[[str], None] = lambda said: None,
        network: Network | None = None,
        ca_file: str = "",
    ) -> None:
        """Nothing is asked yet.

        Raises:
            ConfigError: If `ca_file`, the one of the settings, cannot be used.
        """
        self._settings = settings
        self._stop = stop
        self._say = say
        self._wire = Wire(network or Network(), settings.private_hosts, settings.agent, ca_file)
        self._rules: dict[str, Rules | SourceError] = {}
        self._asked: dict[str, float] = {}
        self._rest = Rest()

    def address(self, url: str, base: Address | None = None) -> Address:
        """An address in one form; a link as it leads from `base`.

        Raises:
            SourceError: If it is one that is not fetched.
        """
        hosts = self._settings.private_hosts
        return join(base, url, hosts) if base else read_address(url, hosts)

    def get(self, address: Address, validators: Mapping[str, str] | None = None, at: str = "") -> Page:
        """What an address answers now; with validators, perhaps only that it is as it was.

        Args:
            address: Of the page.
            validators: As a page told them before.
            at: Where that page stood at last, for they mean nothing elsewhere; empty = at the address.

        Raises:
            Gone: If there is nothing.
            Unasked: If its host asked for rest, was not reached for some pages in a row, or cannot say what it allows.
            SourceError: If it is refused, too large, of a type that is not read, or cannot be reached.
        """
        return self._follow(address, validators or {}, at or address.url)

    def close(self) -> None:
        """Let go of the connections."""
        self._wire.close()

    def _follow(self, address: Address, validators: Mapping[str, str], at: str, *, for_robots: bool = False) -> Page:
        self._wire.deadline.until = time.monotonic() + self._settings.timeout_seconds
        way = [address]
        while True:
            if not for_robots:
                self._assert_allowed(way[-1])
            headers = validators if way[-1].url == at else {}
            found = self._answer(way[-1], headers, for_robots=for_robots)
            if isinstance(found, Page):
                return found
            self._assert_onward(way, found)
            way.append(found)

    def _assert_onward(self, way: list[Address], onward: Address) -> None:
        if onward in way:
            circle = " -> ".join(one.url for one in (*way[way.index(onward) :], onward))
            raise SourceError(f"{way[0].name} goes round in a circle: {circle}.", hint="Tell who runs the site.")
        if len(way) > self._settings.redirects:
            hint = f"Give {onward.url} itself, or raise FOOTNOTE_WEB__REDIRECTS."
            raise SourceError(
                f"{way[0].name} was redirected more than {self._settings.redirects} times.",
                hint=hint,
                wait=UNTIL_MENDED,
            )
        if onward.private and not way[-1].private:
            hint = f"Give {onward.url} itself if it is meant."
            raise SourceError(
                f"{way[0].name} leads from a public host to the private {onward.host}.", hint=hint, wait=UNTIL_MENDED
            )

    def _answer(self, address: Address, headers: Mapping[str, str], *, for_robots: bool) -> Page | Address:
        """The page at an address, or where it is now; a busy host is waited for as long as it asks, within bounds."""
        for left in reversed(range(_TRIES)):
            self._pace(address)
            with self._rest.counted(address.netloc), self._wire.get(address, headers) as reply:
                if reply.status not in BUSY:
                    return self._page(address, reply, asked=bool(headers), for_robots=for_robots)
                status, wait = reply.status, retry_after(reply.headers)
            refusal = busy(address.name if wait is None else address.netloc, status, wait)
            if wait is None or wait > _LONGEST_WAIT or not left:
                break
            self._say(waiting(address.netloc, wait))
            self._wait(wait)
        if status == 429 or wait is not None:  # it is the host that is busy, not a page that fails
            self._rest.begin(address.netloc, refusal)
        raise refusal

    def _page(self, address: Address, reply: Reply, *, asked: bool, for_robots: bool) -> Page | Address:
        told, most = reply.headers, self._settings.max_bytes
        if reply.status in MOVED and told.get("location"):
            return join(address, told["location"], self._settings.private_hosts)
        if reply.status == 304 and asked:
            return Page(address, validators=validators_of(told), fresh=False)
        if reply.status != 200 and not (for_robots and reply.status in _SUCCESS):
            raise unanswered(address.name, reply.status)
        said, length = told.get("content-type", ""), told.get("content-length", "")
        kind = UNSAID if for_robots else media_type(said, address.name)
        if length.isdecimal() and int(length[:18]) > most:
            raise too_large(address.name, most)
        body = body_of(reply.chunks, told.get("content-encoding", ""), most, address.name)
        if kind in (UNSAID, XML) and not for_robots:
            body = gunzip(body, most, address.name)
        if not for_robots:
            kind = told_by(body, address.target, address.name) if kind == UNSAID else as_told(kind, body, address.name)
        return Page(address, kind, charset_of(said), body, validators_of(told))

    def _assert_allowed(self, address: Address) -> None:
        if not self._settings.robots:
            return
        rules = self._robots(address)
        if isinstance(rules, SourceError):
            said = f"{address.netloc} does not say what may be fetched: {rules.message}"
            of_host = isinstance(rules, Unreached | Unasked)
            raise Unasked(rules.message if of_host else said, hint=rules.hint, wait=rules.wait)
        if not rules.allow(address.target):
            hint = "Leave it out, ask who runs the site, or set FOOTNOTE_WEB__ROBOTS=false for a site of your own."
            raise SourceError(
                f"{address.name} is closed to programs by the robots.txt there.", hint=hint, wait=UNTIL_MENDED
            )

    def _robots(self, address: Address) -> Rules | SourceError:
        """What a host allows: all where it has no robots.txt, nothing for now where it cannot tell."""
        origin = _origin(address)
        if origin not in self._rules:
            left = self._wire.deadline.until - time.monotonic()
            try:
                page = self._follow(self.address(f"{origin}/robots.txt"), {}, "", for_robots=True)
                self._rules[origin] = read_robots(page.body, self._settings.agent)
            except (Gone, Closed):
                self._rules[origin] = Rules()
            except SourceError as error:
                self._rules[origin] = error
            self._wire.deadline.until = time.monotonic() + left
        return self._rules[origin]

    def _pace(self, address: Address) -> None:
        """Wait until the host may be asked again."""
        self._rest.assert_awake(address.netloc)
        rules = self._rules.get(_origin(address))
        delay = max(self._settings.delay_seconds, rules.delay if isinstance(rules, Rules) else 0.0)
        if address.netloc in self._asked:
            self._wait(max(self._asked[address.netloc] + delay - time.monotonic(), 0.0))
        self._asked[address.netloc] = time.monotonic()

    def _wait(self, seconds: float) -> None:
        """Wait; that is no time of the fetch.

        Raises:
            SourceError: If the run is stopped meanwhile.
        """
        if self._stop.wait(seconds):
            raise SourceError("The run was stopped.", hint="Run it again to go on.")
        self._wire.deadline.until += seconds


def _origin(address: Address) -> str:
    return f"{address.scheme}://{address.netloc}"
