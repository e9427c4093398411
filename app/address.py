"""The addresses that a server listens on."""

import errno
import ipaddress
import socket

from pipelines.errors import ConfigError, ServiceUnavailable

PORTS_TRIED = 20


def is_loopback(host: str) -> bool:
    """True if only this machine reaches the address: `localhost`, 127.0.0.0/8 or ::1."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def free_port(host: str, port: int) -> int:
    """`port` when nothing listens there, else the next free one after it."""
    for candidate in range(port, min(port + PORTS_TRIED, 65536)) if port else (0,):
        try:
            return _bind(host, candidate)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                continue
            raise ConfigError(
                f"A server cannot listen on {host} port {candidate}: {error.strerror or error}.",
                hint="Set FOOTNOTE_CHAT__HOST or FOOTNOTE_SERVE__HOST to an address of this machine, and its port "
                "above 1023.",
            ) from error
    raise ServiceUnavailable(
        f"No port from {port} to {port + PORTS_TRIED - 1} is free on {host}.", hint="Choose another one with --port."
    )


def _bind(host: str, port: int) -> int:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host, port))
        return int(probe.getsockname()[1])
