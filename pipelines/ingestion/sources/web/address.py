"""Where on the web something is: an address that was taken apart, judged, and put together in one form."""

import ipaddress
import re
import socket
from dataclasses import dataclass
from functools import cached_property, lru_cache
from urllib.parse import quote, unquote, urljoin, urlsplit

from pipelines.errors import ConfigError, SourceError
from pipelines.text import canonical

_DEFAULT = {"http": 80, "https": 443}
_PORTS = frozenset({80, 443, 8080, 8443})
_LONGEST = 1_800  # characters: an index of Postgres takes no more
_UNSEEN = re.compile("[\x00-\x20\x7f-\xa0\u2028\u2029\\\\]")
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]{2,60}\]|[^\[\]:@%]{1,300})(?::([0-9]{1,5}))?")
_NAME = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*")
_NUMBER = re.compile(r"(?:[0-9]+|0x[0-9a-f]*)")
_PATH = "/%:@!$&'()*+,;=~"
_HINT = "Give an address as https://example.org/page."


@dataclass(frozen=True)
class Address:
    """An address of the web in one form: scheme, host as ASCII (an IP address as people write it), port, and the rest.

    `private` says whether the settings name its host as one that need not be public.
    """

    scheme: str
    host: str
    port: int
    target: str
    private: bool = False

    @cached_property
    def netloc(self) -> str:
        """The host as it is asked for; with its port unless that is the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT[self.scheme] else f"{host}:{self.port}"

    @cached_property
    def url(self) -> str:
        """The whole address; the same page has the same one, as far as an address tells."""
        return f"{self.scheme}://{self.netloc}{self.target}"

    @cached_property
    def name(self) -> str:
        """How a person calls it: `example.org/blog/post`."""
        path = canonical(unquote(self.target, errors="replace")).replace("\n", " ")
        return f"{self.netloc}{path}".rstrip("/")

    @property
    def site(self) -> str:
        """What its pages have in common: the host without `www.`."""
        return self.netloc.removeprefix("www.")


def read_address(url: str, private_hosts: tuple[str, ...] = ()) -> Address:
    """An address in one form. What its host is called is judged here; where that leads is judged on connecting.

    Raises:
        SourceError: If it is no address, or one that is not fetched: of another scheme, with credentials, of a port
            where no web server is expected, or so written that programs would read it differently.
        ConfigError: If `private_hosts`, those of the settings, name what is no host.
    """
    url = url.strip()
    if _UNSEEN.search(url) or len(url) > _LONGEST:
        raise _refused(url, "holds spaces, backslashes or signs that nobody sees, or is too long")
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise _refused(url, "is no address") from error
    scheme = parts.scheme.lower()
    if scheme not in _DEFAULT:
        raise _refused(url, f"is of the scheme {scheme or 'none'}; only http and https are fetched")
    if "@" in parts.netloc:
        raise _refused(url, "holds a name or a password", "Take out what stands before the @.")
    found = _AUTHORITY.fullmatch(parts.netloc)
    if found is None:
        raise _refused(url, "has no host that can be read")
    host = _host(found[1], url)
    port = int(found[2]) if found[2] else _DEFAULT[scheme]
    private = is_named(host, port, private_hosts)
    if not 0 < port < 2**16:
        raise _refused(url, "names a port that there is not")
    if port not in _PORTS and not private:
        hint = f"Where it is meant, name {spot(host, port)} in FOOTNOTE_WEB__PRIVATE_HOSTS."
        raise _refused(url, f"asks for port {port}; only {', '.join(map(str, sorted(_PORTS)))} are asked", hint)
    query = f"?{quote(parts.query, safe=_PATH + '?')}" if parts.query else ""
    address = Address(scheme, host, port, _resolved(quote(parts.path or "/", safe=_PATH)) + query, private)
    if len(address.url) > _LONGEST:
        raise _refused(url, "is too long")
    return address


def join(base: Address, link: str, private_hosts: tuple[str, ...] = ()) -> Address:
    """The address that a link at `base` leads to; spaces in it are escaped, as browsers do.

    Raises:
        SourceError: If it is one that is not fetched; see `read_address`.
    """
    link = link.strip().replace(" ", "%20")
    if _UNSEEN.search(link):
        raise _refused(link, "holds spaces, backslashes or signs that nobody sees")
    try:
        return read_address(urljoin(base.url, link), private_hosts)
    except ValueError as error:
        raise _refused(link, "is no address") from error


def is_named(host: str, port: int, private_hosts: tuple[str, ...]) -> bool:
    """Whether the settings name a host, or this port of it, as one that need not be public.

    Raises:
        ConfigError: If they name what is no host.
    """
    return not {host, spot(host, port)}.isdisjoint(_named(private_hosts))


def spot(host: str, port: int) -> str:
    """`host:port`, as the settings name it."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


@lru_cache(maxsize=8)
def _named(private_hosts: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(_one_named, private_hosts))


def _one_named(written: str) -> str:
    """A host of the settings in its one form, with its port where it has one."""
    text = written.strip()
    found = _AUTHORITY.fullmatch(f"[{text}]" if text.count(":") > 1 and "[" not in text else text)
    try:
        if found is None:
            raise _refused(text, "is no host")
        host = _host(found[1], text)
    except SourceError as error:
        hint = "Write a host or host:port, such as intranet, 192.168.1.10:8080 or [fd00::7]:8080."
        raise ConfigError(f"FOOTNOTE_WEB__PRIVATE_HOSTS names {shown(text)!r}, which is no host.", hint=hint) from error
    return spot(host, int(found[2])) if found[2] else host


def _resolved(path: str) -> str:
    """The path without `.` and `..`, however they are escaped, as browsers send it."""
    parts = list[str]()
    *folders, last = path.removeprefix("/").split("/")
    for part in folders:
        match part.lower().replace("%2e", "."):
            case ".":
                pass
            case "..":
                del parts[-1:]
            case _:
                parts.append(part)
    match last.lower().replace("%2e", "."):
        case ".":
            last = ""
        case "..":
            del parts[-1:]
            last = ""
    return "/" + "/".join([*parts, last])


def _host(written: str, url: str) -> str:
    """The host in ASCII and small letters; an IPv4 address as four decimal numbers, however it was written."""
    if written.startswith("["):
        try:
            return str(ipaddress.IPv6Address(written[1:-1]))
        except ValueError as error:
            raise _refused(url, "has no host that can be read") from error
    host = (written if written.isascii() else _ascii(written, url)).lower().removesuffix(".")
    if _NUMBER.fullmatch(host.rpartition(".")[2]):
        try:
            return socket.inet_ntoa(socket.inet_aton(host))
        except OSError as error:
            raise _refused(url, "has a host that is neither a name nor an IP address") from error
    if len(host) > 253 or not _NAME.fullmatch(host):
        raise _refused(url, "has no host that can be read")
    return host


def _ascii(host: str, url: str) -> str:
    import idna

    try:
        return idna.encode(host, uts46=True).decode("ascii")
    except (idna.IDNAError, UnicodeError) as error:
        raise _refused(url, "has no host that can be read") from error


def readable(said: str) -> str:
    """What somebody said, for a message: in one line, without control characters, which a terminal would obey."""
    return " ".join(canonical(said).split())


def shown(url: str) -> str:
    """An address for a message: in one line, cut, and without what stands before an @ that may end a password."""
    printable = canonical(url.encode("utf-8", "replace").decode()).replace("\n", " ")
    scheme, slashes, rest = printable.partition("://")
    authority = rest.partition("/")[0] if slashes else ""
    if "@" in authority:
        printable = f"{scheme}://...@{rest[authority.rindex('@') + 1 :]}"
    elif not authority and "@" in printable:
        printable = f"...@{printable.rpartition('@')[2]}"
    return printable[:200]


def _refused(url: str, why: str, hint: str = _HINT) -> SourceError:
    return SourceError(f"{shown(url) or 'An empty address'} {why}.", hint=hint)
