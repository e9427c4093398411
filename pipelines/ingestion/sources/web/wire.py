"""One request over one connection, to an IP address that was judged, within a limit of time."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpcore

from pipelines.errors import SourceError
from pipelines.ingestion.sources.outages import why_unreached
from pipelines.ingestion.sources.web.address import Address, is_named, readable
from pipelines.ingestion.sources.web.public import Resolve, addresses_of, system_resolve
from pipelines.ingestion.sources.web.status import Unreached
from pipelines.trust import OWN_AUTHORITY, is_unknown, trusting

Dial = Callable[[str, int, float], httpcore.NetworkStream]
_TRIED = 3  # addresses of a host


def dial(ip: str, port: int, seconds: float) -> httpcore.NetworkStream:
    """A connection to an IP address."""
    return httpcore.SyncBackend().connect_tcp(ip, port, timeout=seconds)


@dataclass(frozen=True, slots=True)
class Network:
    """How names are resolved and addresses connected to."""

    resolve: Resolve = system_resolve
    dial: Dial = dial


@dataclass(slots=True)
class Deadline:
    """When a fetch has to be done, as `time.monotonic` counts."""

    until: float = field(default_factory=time.monotonic)

    def left(self) -> float:
        """The seconds that are left.

        Raises:
            httpcore.ReadTimeout: If there are none.
        """
        left = self.until - time.monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout
        return left


class _Stream(httpcore.NetworkStream):
    """A connection that is done when the deadline is, however slowly it drips."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, timeout=self._deadline.left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, timeout=self._deadline.left())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        secure = self._stream.start_tls(ssl_context, server_hostname=server_hostname, timeout=self._deadline.left())
        return _Stream(secure, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _Guarded(httpcore.NetworkBackend):
    """Connects to no address but one that was judged a moment before: a name is looked up once a connection."""

    def __init__(self, network: Network, private_hosts: tuple[str, ...], deadline: Deadline) -> None:
        self._network = network
        self._private_hosts = private_hosts
        self._deadline = deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        private = is_named(host, port, self._private_hosts)
        found = addresses_of(host, port, self._network.resolve, private=private, seconds=self._deadline.left())
        failed: Exception = httpcore.ConnectError(f"no address of {host}")
        tried = found[:_TRIED]
        for number, ip in enumerate(tried):
            seconds = self._deadline.left() / (len(tried) - number)
            try:
                return _Stream(self._network.dial(ip, port, seconds), self._deadline)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failed = error
        raise failed

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore.NetworkStream:
        raise httpcore.ConnectError("no sockets of this machine")


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server answers before the body: the status, the headers by their names in small letters, the body."""

    status: int
    headers: Mapping[str, str]
    chunks: Iterator[bytes]


class Wire:
    """Sends requests. The environment's proxies are not used, no redirect is followed, and no cookie is kept."""

    def __init__(self, network: Network, private_hosts: tuple[str, ...], agent: str, ca_file: str = "") -> None:
        """Nothing is asked yet.

        Raises:
            ConfigError: If `ca_file`, the one of the settings, cannot be used.
        """
        self.deadline = Deadline()
        self._agent = agent
        backend = _Guarded(network, private_hosts, self.deadline)
        # No connection is used twice: what a server sends too much would be the answer to the next request, and one
        # that it closes after some seconds would be lost in the middle of a polite pause.
        self._pool = httpcore.ConnectionPool(
            ssl_context=trusting(ca_file, httpcore.default_ssl_context),
            network_backend=backend,
            max_connections=4,
            max_keepalive_connections=0,
        )

    @contextmanager
    def get(self, address: Address, headers: Mapping[str, str]) -> Iterator[Reply]:
        """The answer to a GET, whose body is read inside; what is not read is not fetched.

        Raises:
            SourceError: If its host is refused or cannot be reached, or the connection breaks or takes too long.
        """
        asked = {
            "Host": address.netloc, "User-Agent": self._agent, "Accept-Encoding": "gzip, deflate",
            "Accept": "text/html, application/xhtml+xml, */*;q=0.8", **headers,
        }  # fmt: skip
        url = httpcore.URL(
            scheme=address.scheme.encode(),
            host=address.host.encode(),
            port=address.port,
            target=address.target.encode("ascii"),
        )
        given = [(name.encode("ascii"), value.encode("latin-1", "replace")) for name, value in asked.items()]
        try:
            with self._pool.stream("GET", url, headers=given) as response:
                told = {name.decode("latin-1").lower(): _readable(value) for name, value in response.headers}
                yield Reply(response.status, told, response.iter_stream())
        except httpcore.TimeoutException as error:
            hint = "Try again later, or raise FOOTNOTE_WEB__TIMEOUT_SECONDS."
            raise Unreached(f"{address.netloc} took too long to answer.", hint=hint) from error
        except httpcore.NetworkError as error:
            why = readable(why_unreached(error))[:200]
            raise Unreached(f"{address.netloc} cannot be reached: {why}.", hint=_hint(why)) from error
        except (httpcore.ProtocolError, httpcore.UnsupportedProtocol) as error:
            said = f"{address.name} cannot be fetched: its answer broke off, or is none of HTTP."
            raise SourceError(said, hint="Try again later.") from error

    def close(self) -> None:
        """Let go of the connections."""
        self._pool.close()


def _hint(why: str) -> str:
    if is_unknown(why):
        return f"Tell who runs the site. {OWN_AUTHORITY}"
    return "Tell who runs the site." if "certificate" in why else "Try again later."


def _readable(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")
