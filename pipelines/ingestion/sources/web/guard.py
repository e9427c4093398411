"""The address guard: HTTP requests that connect to public IP addresses only, within a limit of time."""

import ipaddress
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpcore

from pipelines.errors import UNTIL_MENDED, SourceError
from pipelines.ingestion.sources.base import connection_failure
from pipelines.ingestion.sources.web.address import Address, host_and_port, is_private_host
from pipelines.ingestion.sources.web.responses import Unreached
from pipelines.text import one_line
from pipelines.tls import CA_FILE_HINT, is_untrusted, ssl_context
from pipelines.wording import format_duration

Resolve = Callable[[str, int], Sequence[str]]
Connect = Callable[[str, int, float], httpcore.NetworkStream]
IP = ipaddress.IPv4Address | ipaddress.IPv6Address

# Beside what Python's `ipaddress` knows, which differs from one release to the next.
_CLOSED_NETWORKS = [
    ipaddress.ip_network(net)
    for net in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/3", "2001::/23", "2001:db8::/32", "3ffe::/16", "3fff::/20",
        "168.63.129.16/32",  # gives out the metadata of Azure's machines
    )
]  # fmt: skip
_UNICAST = ipaddress.IPv6Network("2000::/3")  # all that was ever given to anybody
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_6TO4 = ipaddress.IPv6Network("2002::/16")
_ISATAP = (0x00005EFE, 0x02005EFE)
_MAX_ADDRESSES = 3  # addresses of a host


def is_public(address: str) -> bool:
    """Return True if an IP address, and every IPv4 address embedded in it, is public."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped:
        return is_public(str(ip.ipv4_mapped))
    return _is_global(ip) and all(_is_global(inner) for inner in _embedded_ipv4(ip))


def _is_global(ip: IP) -> bool:
    if isinstance(ip, ipaddress.IPv6Address):
        if ip in _NAT64:
            return True  # the embedded address is checked by itself
        if ip not in _UNICAST or ip.scope_id or ip.is_site_local:
            return False
    special = ip.is_multicast or ip.is_reserved or ip.is_link_local or ip.is_loopback or ip.is_unspecified
    # Whether 6to4 is global depends on what it wraps, and Python's answer on its release.
    return not special and not any(ip in net for net in _CLOSED_NETWORKS) and (ip.is_global or ip in _6TO4)


def _embedded_ipv4(ip: IP) -> list[ipaddress.IPv4Address]:
    """Return the IPv4 addresses in an IPv6 address of NAT64, 6to4 or ISATAP; Teredo is a closed network itself."""
    if isinstance(ip, ipaddress.IPv4Address):
        return []
    bits = int(ip)
    if ip in _NAT64:
        return [ipaddress.IPv4Address(bits & 0xFFFFFFFF)]
    if ip in _6TO4:
        return [ipaddress.IPv4Address(bits >> 80 & 0xFFFFFFFF)]
    return [ipaddress.IPv4Address(bits & 0xFFFFFFFF)] if bits >> 32 & 0xFFFFFFFF in _ISATAP else []


def system_resolve(host: str, port: int) -> Sequence[str]:
    """Return the IP addresses of a host, as this machine resolves them.

    Raises:
        OSError: If it has none.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def checked_addresses(host: str, port: int, resolve: Resolve, *, private: bool, seconds: float) -> Sequence[str]:
    """Return the IP addresses that a host may be connected to: all that it has, or none.

    A name is resolved once, within `seconds`; if `private`, its addresses need not be public.

    Raises:
        SourceError: If it has none, they take too long, or one of them is not public.
    """
    try:
        found: Sequence[str] = [str(ipaddress.ip_address(host))]
    except ValueError:
        found = _resolve_within(host, port, resolve, seconds)
    closed = [address for address in found if not (private or is_public(address))]
    if closed:
        raise _not_public(host, port, closed[0])
    return found


def assert_public(address: Address) -> None:
    """Refuse an address whose host is not public whatever a resolver says: `localhost`, or a private IP address.

    Raises:
        SourceError: If the settings do not allow that host.
    """
    host = address.host
    try:
        ip = str(ipaddress.ip_address(host))
    except ValueError:
        ip = "127.0.0.1" if host == "localhost" or host.endswith(".localhost") else ""
    if ip and not (address.private or is_public(ip)):
        raise _not_public(host, address.port, ip)


def _not_public(host: str, port: int, ip: str) -> SourceError:
    leads = "is" if ip == host else f"leads to {ip}, which is"
    return SourceError(
        f"{host} {leads} not an address of the public internet.",
        hint=f"If you mean it, add {host_and_port(host, port)} to FOOTNOTE_WEB__PRIVATE_HOSTS.",
        wait=UNTIL_MENDED,
    )


def _resolve_within(host: str, port: int, resolve: Resolve, seconds: float) -> Sequence[str]:
    """Resolve a name in a thread, because the system's resolver has no timeout."""
    found: list[str] = []
    errors: list[Exception] = []

    def ask() -> None:
        try:
            found.extend(resolve(host, port))
        except (OSError, ValueError, RuntimeError) as error:
            errors.append(error)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise Unreached(f"{host} was not resolved within {format_duration(seconds)}.", hint="Check the network.")
    if not found:
        why = connection_failure(errors[0]) if errors else "its name does not resolve"
        raise Unreached(f"{host} cannot be reached: {why}.", hint="Check how it is spelt, and the network.")
    return list(found)


def connect(ip: str, port: int, seconds: float) -> httpcore.NetworkStream:
    """Connect to an IP address."""
    return httpcore.SyncBackend().connect_tcp(ip, port, timeout=seconds)


@dataclass(frozen=True, slots=True)
class Network:
    """The functions that resolve names and connect to addresses."""

    resolve: Resolve = system_resolve
    dial: Connect = connect


@dataclass(slots=True)
class Deadline:
    """When a fetch has to end, by `time.monotonic`."""

    until: float = field(default_factory=time.monotonic)

    def left(self) -> float:
        """Return the seconds that are left.

        Raises:
            httpcore.ReadTimeout: If there are none.
        """
        left = self.until - time.monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout
        return left


class _DeadlineStream(httpcore.NetworkStream):
    """A connection that ends with the deadline, however slowly data arrives."""

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
        return _DeadlineStream(secure, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _GuardedBackend(httpcore.NetworkBackend):
    """Connects only to addresses that were just checked: a name is resolved once a connection."""

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
        private = is_private_host(host, port, self._private_hosts)
        found = checked_addresses(host, port, self._network.resolve, private=private, seconds=self._deadline.left())
        failed: Exception = httpcore.ConnectError(f"no address of {host}")
        tried = found[:_MAX_ADDRESSES]
        for number, ip in enumerate(tried):
            seconds = self._deadline.left() / (len(tried) - number)
            try:
                return _DeadlineStream(self._network.dial(ip, port, seconds), self._deadline)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failed = error
        raise failed

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore.NetworkStream:
        raise httpcore.ConnectError("no sockets of this machine")


@dataclass(frozen=True, slots=True)
class Response:
    """The status, the headers by their names in small letters, and the body as it arrives."""

    status: int
    headers: Mapping[str, str]
    chunks: Iterator[bytes]


class HttpClient:
    """Sends requests; uses no proxies of the environment, follows no redirects and keeps no cookies."""

    def __init__(self, network: Network, private_hosts: tuple[str, ...], agent: str, ca_file: str = "") -> None:
        """Prepare the connections.

        Raises:
            ConfigError: If `ca_file` cannot be used.
        """
        self.deadline = Deadline()
        self._agent = agent
        backend = _GuardedBackend(network, private_hosts, self.deadline)
        # No connection is used twice: what a server sends too much would be the answer to the next request, and one
        # that it closes after some seconds would be lost in the middle of a polite pause.
        self._pool = httpcore.ConnectionPool(
            ssl_context=ssl_context(ca_file, httpcore.default_ssl_context),
            network_backend=backend,
            max_connections=4,
            max_keepalive_connections=0,
        )

    @contextmanager
    def get(self, address: Address, headers: Mapping[str, str]) -> Iterator[Response]:
        """Send a GET; the body is read inside the context, and what is not read is not fetched.

        Raises:
            SourceError: If its host is refused or cannot be reached, or the connection breaks or takes too long.
        """
        sent = {
            "Host": address.netloc, "User-Agent": self._agent, "Accept-Encoding": "gzip, deflate",
            "Accept": "text/html, application/xhtml+xml, */*;q=0.8", **headers,
        }  # fmt: skip
        url = httpcore.URL(
            scheme=address.scheme.encode(),
            host=address.host.encode(),
            port=address.port,
            target=address.target.encode("ascii"),
        )
        given = [(name.encode("ascii"), value.encode("latin-1", "replace")) for name, value in sent.items()]
        try:
            with self._pool.stream("GET", url, headers=given) as response:
                received = {name.decode("latin-1").lower(): _decoded_header(value) for name, value in response.headers}
                yield Response(response.status, received, response.iter_stream())
        except httpcore.TimeoutException as error:
            hint = "Try again later, or raise FOOTNOTE_WEB__TIMEOUT_SECONDS."
            raise Unreached(f"{address.netloc} took too long to answer.", hint=hint) from error
        except httpcore.NetworkError as error:
            why = one_line(connection_failure(error))[:200]
            raise Unreached(f"{address.netloc} cannot be reached: {why}.", hint=_connection_hint(why)) from error
        except (httpcore.ProtocolError, httpcore.UnsupportedProtocol) as error:
            problem = f"{address.name} cannot be fetched: its answer broke off, or is none of HTTP."
            raise SourceError(problem, hint="Try again later.") from error

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()


def _connection_hint(why: str) -> str:
    if is_untrusted(why):
        return f"Tell the operator of the site. {CA_FILE_HINT}"
    return "Tell the operator of the site." if "certificate" in why else "Try again later."


def _decoded_header(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")
