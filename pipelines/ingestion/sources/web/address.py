"""Addresses of the web in one form: checked for scheme, credentials, port and hidden characters."""

import ipaddress
import re
import socket
from dataclasses import dataclass
from functools import cached_property, lru_cache
from urllib.parse import quote, unquote, urljoin, urlsplit

from pipelines.errors import ConfigError, SourceError
from pipelines.text import canonical, one_line, printable

_DEFAULT_PORTS = {"http": 80, "https": 443}
_PORTS = frozenset({80, 443, 8080, 8443})
_MAX_URL = 1_800  # characters: an index of Postgres takes no more
_INVISIBLE = re.compile("[\x00-\x20\x7f-\xa0\u2028\u2029\\\\]")
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]{2,60}\]|[^\[\]:@%]{1,300})(?::([0-9]{1,5}))?")
_NAME = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*")
_NUMERIC_LABEL = re.compile(r"(?:[0-9]+|0x[0-9a-f]*)")
_SAFE_IN_PATH = "/%:@!$&'()*+,;=~"
_HINT = "Give an address as https://example.org/page."


@dataclass(frozen=True)
class Address:
    """An address of the web in one form.

    Attributes:
        scheme: http or https.
        host: In ASCII and small letters; an IPv4 address as four decimal numbers.
        port: Of the connection.
        target: Path and query, escaped.
        private: True if the settings allow this host not to be public.
    """

    scheme: str
    host: str
    port: int
    target: str
    private: bool = False

    @cached_property
    def netloc(self) -> str:
        """The value of the Host header: with the port unless it is the default of the scheme."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @cached_property
    def url(self) -> str:
        """The whole address; equal for equal pages, as far as an address tells."""
        return f"{self.scheme}://{self.netloc}{self.target}"

    @cached_property
    def name(self) -> str:
        """The address for a person: `example.org/blog/post`."""
        path = canonical(unquote(self.target, errors="replace")).replace("\n", " ")
        return f"{self.netloc}{path}".rstrip("/")

    @property
    def site(self) -> str:
        """The host without `www.`, with its port."""
        return self.netloc.removeprefix("www.")


def read_address(url: str, private_hosts: tuple[str, ...] = ()) -> Address:
    """Return an address in one form. The host name is checked here, the IP addresses that it has on connecting.

    Raises:
        SourceError: If it is not a URL, or one that is not fetched: another scheme, credentials, a port where no web
            server is expected, or characters that programs read differently.
        ConfigError: If `private_hosts`, those of the settings, contain an invalid host.
    """
    url = url.strip()
    if _INVISIBLE.search(url) or len(url) > _MAX_URL:
        raise _refused(url, "contains spaces, backslashes or invisible characters, or is too long")
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise _refused(url, "is not a URL") from error
    scheme = parts.scheme.lower()
    if scheme not in _DEFAULT_PORTS:
        raise _refused(url, f"has the scheme {scheme or 'none'}; only http and https are fetched")
    if "@" in parts.netloc:
        raise _refused(url, "contains a user name or a password", "Remove everything before the @.")
    found = _AUTHORITY.fullmatch(parts.netloc)
    if found is None:
        raise _refused(url, "has no valid host")
    host = _host(found[1], url)
    port = int(found[2]) if found[2] else _DEFAULT_PORTS[scheme]
    private = is_private_host(host, port, private_hosts)
    if not 0 < port < 2**16:
        raise _refused(url, "has a port outside 1 to 65535")
    if port not in _PORTS and not private:
        hint = f"If you mean it, add {host_and_port(host, port)} to FOOTNOTE_WEB__PRIVATE_HOSTS."
        raise _refused(url, f"has port {port}; only {', '.join(map(str, sorted(_PORTS)))} are allowed", hint)
    query = f"?{quote(parts.query, safe=_SAFE_IN_PATH + '?')}" if parts.query else ""
    address = Address(
        scheme, host, port, _without_dot_segments(quote(parts.path or "/", safe=_SAFE_IN_PATH)) + query, private
    )
    if len(address.url) > _MAX_URL:
        raise _refused(url, "is too long")
    return address


def join(base: Address, link: str, private_hosts: tuple[str, ...] = ()) -> Address:
    """Return the address that a link at `base` leads to; spaces in it are escaped, as browsers do.

    Raises:
        SourceError: If it is not fetched; see `read_address`.
    """
    link = link.strip().replace(" ", "%20")
    if _INVISIBLE.search(link):
        raise _refused(link, "contains spaces, backslashes or invisible characters")
    try:
        return read_address(urljoin(base.url, link), private_hosts)
    except ValueError as error:
        raise _refused(link, "is not a URL") from error


def is_private_host(host: str, port: int, private_hosts: tuple[str, ...]) -> bool:
    """Return True if the settings allow a host, or this port of it, not to be public.

    Raises:
        ConfigError: If they contain an invalid host.
    """
    return not {host, host_and_port(host, port)}.isdisjoint(_parsed_hosts(private_hosts))


def host_and_port(host: str, port: int) -> str:
    """Return `host:port`, as the settings name it."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


@lru_cache(maxsize=8)
def _parsed_hosts(private_hosts: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(_parsed_host, private_hosts))


def _parsed_host(written: str) -> str:
    """Return a host of the settings in one form, with its port if it has one."""
    text = written.strip()
    found = _AUTHORITY.fullmatch(f"[{text}]" if text.count(":") > 1 and "[" not in text else text)
    try:
        if found is None:
            raise _refused(text, "is not a host")
        host = _host(found[1], text)
    except SourceError as error:
        hint = "Write a host or host:port, such as intranet, 192.168.1.10:8080 or [fd00::7]:8080."
        raise ConfigError(
            f"FOOTNOTE_WEB__PRIVATE_HOSTS names {printable_url(text)!r}, which is not a host.", hint=hint
        ) from error
    return host_and_port(host, int(found[2])) if found[2] else host


def _without_dot_segments(path: str) -> str:
    """Return the path without `.` and `..`, however they are escaped, as browsers send it."""
    kept = list[str]()
    for part in path.removeprefix("/").split("/"):
        plain = part.lower().replace("%2e", ".")
        if plain == "..":
            del kept[-1:]
        elif plain != ".":
            kept.append(part)
    return "/" + "/".join([*kept, ""] if plain in (".", "..") else kept)


def _host(written: str, url: str) -> str:
    """Return the host in ASCII and small letters; an IPv4 address as four decimal numbers, however it was written."""
    if written.startswith("["):
        try:
            return str(ipaddress.IPv6Address(written[1:-1]))
        except ValueError as error:
            raise _refused(url, "has no valid host") from error
    host = (written if written.isascii() else _ascii(written, url)).lower().removesuffix(".")
    if _NUMERIC_LABEL.fullmatch(host.rpartition(".")[2]):
        try:
            return socket.inet_ntoa(socket.inet_aton(host))
        except OSError as error:
            raise _refused(url, "has a host that is neither a name nor an IP address") from error
    if len(host) > 253 or not _NAME.fullmatch(host):
        raise _refused(url, "has no valid host")
    return host


def _ascii(host: str, url: str) -> str:
    import idna

    try:
        return idna.encode(host, uts46=True).decode("ascii")
    except (idna.IDNAError, UnicodeError) as error:
        raise _refused(url, "has no valid host") from error


def printable_url(url: str) -> str:
    """Return an address for a message: in one line, cut, and without the credentials before an @."""
    shown = one_line(printable(url))
    scheme, slashes, rest = shown.partition("://")
    authority = rest.partition("/")[0] if slashes else ""
    if "@" in authority:
        shown = f"{scheme}://...@{rest[authority.rindex('@') + 1 :]}"
    elif not authority and "@" in shown:
        shown = f"...@{shown.rpartition('@')[2]}"
    return shown[:200]


def _refused(url: str, why: str, hint: str = _HINT) -> SourceError:
    return SourceError(f"{printable_url(url) or 'An empty address'} {why}.", hint=hint)
