"""Which IP addresses are of the public internet, and what a host's name leads to."""

import ipaddress
import socket
import threading
from collections.abc import Callable, Sequence

from pipelines.errors import UNTIL_MENDED, SourceError
from pipelines.ingestion.sources.outages import why_unreached
from pipelines.ingestion.sources.web.address import spot
from pipelines.ingestion.sources.web.status import Unreached
from pipelines.wording import lasting

Resolve = Callable[[str, int], Sequence[str]]
IP = ipaddress.IPv4Address | ipaddress.IPv6Address

# Beside what Python's `ipaddress` knows, which differs from one release to the next.
_NEVER = [
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


def is_public(address: str) -> bool:
    """Whether an IP address, and every IPv4 address that is wrapped in it, is of the public internet."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped:
        return is_public(str(ip.ipv4_mapped))
    return _is_open(ip) and all(_is_open(inner) for inner in _wrapped(ip))


def _is_open(ip: IP) -> bool:
    if isinstance(ip, ipaddress.IPv6Address):
        if ip in _NAT64:
            return True  # whatever it wraps is judged by itself
        if ip not in _UNICAST or ip.scope_id or ip.is_site_local:
            return False
    special = ip.is_multicast or ip.is_reserved or ip.is_link_local or ip.is_loopback or ip.is_unspecified
    # Whether 6to4 is global depends on what it wraps, and Python's answer on its release.
    return not special and not any(ip in net for net in _NEVER) and (ip.is_global or ip in _6TO4)


def _wrapped(ip: IP) -> list[ipaddress.IPv4Address]:
    """The IPv4 addresses in an IPv6 address of NAT64, 6to4 or ISATAP; one of Teredo is closed itself."""
    if isinstance(ip, ipaddress.IPv4Address):
        return []
    bits = int(ip)
    if ip in _NAT64:
        return [ipaddress.IPv4Address(bits & 0xFFFFFFFF)]
    if ip in _6TO4:
        return [ipaddress.IPv4Address(bits >> 80 & 0xFFFFFFFF)]
    return [ipaddress.IPv4Address(bits & 0xFFFFFFFF)] if bits >> 32 & 0xFFFFFFFF in _ISATAP else []


def system_resolve(host: str, port: int) -> Sequence[str]:
    """The IP addresses of a host, as this machine finds them out.

    Raises:
        OSError: If it has none.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def addresses_of(host: str, port: int, resolve: Resolve, *, private: bool, seconds: float) -> Sequence[str]:
    """The IP addresses that a host may be connected to: all that it has, or none.

    Args:
        host: A name, or an IP address.
        port: Of the connection.
        resolve: Tells the addresses of a name; asked once.
        private: Whether they need not be public.
        seconds: How long a name may take.

    Raises:
        SourceError: If it has none, they take too long, or one of them is not public.
    """
    try:
        found: Sequence[str] = [str(ipaddress.ip_address(host))]
    except ValueError:
        found = _resolved(host, port, resolve, seconds)
    closed = [address for address in found if not (private or is_public(address))]
    if closed:
        leads = "is" if closed[0] == host else f"leads to {closed[0]}, which is"
        raise SourceError(
            f"{host} {leads} not an address of the public internet.",
            hint=f"Where it is meant, name {spot(host, port)} in FOOTNOTE_WEB__PRIVATE_HOSTS.",
            wait=UNTIL_MENDED,
        )
    return found


def _resolved(host: str, port: int, resolve: Resolve, seconds: float) -> Sequence[str]:
    """What a name leads to; in a thread, for the system's resolver knows no limit of time."""
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
        raise Unreached(f"{host} was not found by its name in {lasting(seconds)}.", hint="Check the network.")
    if not found:
        why = why_unreached(errors[0]) if errors else "its name leads nowhere"
        raise Unreached(f"{host} cannot be reached: {why}.", hint="Check how it is spelt, and the network.")
    return list(found)
