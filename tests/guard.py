"""A guard against the network: every socket but loopback and Unix is refused, and what was tried is recorded.

In this process:        with loopback_only() as tried: ...; assert not tried
In another one:         subprocess.run(..., env={**os.environ, **guarded_environment(log)}); assert not read_log(log)

It sees what Python opens. Libraries in C that open sockets of their own (libpq) are not seen.
"""

import ipaddress
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_SITE = """import importlib.util

spec = importlib.util.spec_from_file_location("_guard", {guard!r})
guard = importlib.util.module_from_spec(spec)
spec.loader.exec_module(guard)
guard.install(guard.writer({log!r}))
"""
_METHODS = ("connect", "connect_ex", "sendto", "sendmsg")
_LOOKUPS = ("getaddrinfo", "gethostbyname", "gethostbyname_ex")


class NetworkForbidden(RuntimeError):
    """Raised instead of opening a socket off this machine."""


@contextmanager
def loopback_only() -> Iterator[list[str]]:
    """Forbid the network inside; yields the list of what was tried nevertheless."""
    tried: list[str] = []
    restore = install(tried.append)
    try:
        yield tried
    finally:
        restore()


def guarded_environment(log: Path) -> dict[str, str]:
    """Variables under which any Python forbids the network to itself and writes what it tried to `log`.

    A process that it starts with its module path and nothing else is guarded too.
    """
    folder = log.with_name(f"{log.name}.guard")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sitecustomize.py").write_text(_SITE.format(guard=str(Path(__file__).resolve()), log=str(log)))
    return {"PYTHONPATH": os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])}


def writer(log: str) -> Callable[[str], None]:
    """What adds a line to a file."""

    def write(what: str) -> None:
        with Path(log).open("a") as file:
            file.write(f"{what}\n")

    return write


def read_log(log: Path) -> list[str]:
    """What guarded processes tried."""
    return log.read_text().splitlines() if log.exists() else []


def install(report: Callable[[str], None]) -> Callable[[], None]:
    """Forbid the network from now on; the function that allows it again."""
    lookups = {name: getattr(socket, name) for name in _LOOKUPS}
    for name in _METHODS:
        setattr(socket.socket, name, _guarded_method(name, report))
    for name, lookup in lookups.items():
        setattr(socket, name, _guarded_lookup(name, lookup, report))

    def restore() -> None:
        for name in _METHODS:
            delattr(socket.socket, name)  # the one of the C base class shows again
        for name, lookup in lookups.items():
            setattr(socket, name, lookup)

    return restore


def _guarded_method(name: str, report: Callable[[str], None]) -> Callable[..., Any]:
    def method(self: socket.socket, *args: Any) -> Any:
        address = args[0] if name.startswith("connect") else args[-1]
        if self.family in (socket.AF_INET, socket.AF_INET6) and isinstance(address, tuple) and not _local(address[0]):
            _refuse(f"{name} {address[0]}:{address[1]}", report)
        return getattr(super(socket.socket, self), name)(*args)

    return method


def _guarded_lookup(name: str, lookup: Callable[..., Any], report: Callable[[str], None]) -> Callable[..., Any]:
    def guarded(host: Any, *args: Any, **kwargs: Any) -> Any:
        if not _local(host):
            _refuse(f"{name} {host!r}", report)
        return lookup(host, *args, **kwargs)

    return guarded


def _refuse(what: str, report: Callable[[str], None]) -> None:
    report(what)
    raise NetworkForbidden(f"The network is forbidden here: {what}")


def _local(host: Any) -> bool:
    if host is None or host in ("", b"", "localhost", b"localhost"):
        return True
    try:
        address = ipaddress.ip_address(host.decode() if isinstance(host, bytes) else str(host).partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified
