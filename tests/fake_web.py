"""A small website on loopback over real HTTP, with all that the web does to who fetches it.

    with website() as site:
        site.pages["/a"] = page("A title", "Some words.")
        site.pages["/b"] = redirect("/a")
        ... fetch site.url + "/b" ...
        assert site.asked == ["/b", "/a"]

It is reached as 127.0.0.1, or, with `network(site, {"example.org": ["93.184.216.34"]})`, as any public host: the
connection is made to the server, and `connected` says to which address it would have gone.
"""

import gzip
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from xml.sax.saxutils import escape

import httpcore

from pipelines.ingestion.sources.web.guard import Network
from tests.loopback import Loopback

FILLER = "Footnotes point from a sentence to the place that bears it out, so that a reader can look there. " * 5


@dataclass(frozen=True)
class Served:
    """What a path answers; with an ETag or a time of its last change, 304 to who has it already."""

    body: bytes = b""
    type: str = "text/html; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    etag: str = ""
    modified: str = ""
    pause: float = 0.0  # seconds between the pieces of the body, which are then a few bytes each
    cut: int = 0  # bytes that it promises and does not send; below 0, that it sends and does not promise


@dataclass
class FakeSite(Loopback):
    """What is served, by path; a function is asked anew each time."""

    pages: dict[str, Served | Callable[[], Served]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    connected: list[str] = field(default_factory=list)

    def handled_by(self) -> type[BaseHTTPRequestHandler]:
        return _Handler

    @property
    def host(self) -> str:
        """As the settings name it: `127.0.0.1:PORT`."""
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """Where it begins, without a slash."""
        return f"http://{self.host}"

    def asked_for_pages(self) -> list[str]:
        """The paths that were asked for since last time, without robots.txt."""
        found = [path for path in self.asked if path != "/robots.txt"]
        self.asked.clear()
        return found


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    fake: FakeSite

    def do_GET(self) -> None:
        self.fake.asked.append(self.path)
        self.fake.headers.append(dict(self.headers))
        found = self.fake.pages.get(self.path, Served(b"nothing here", status=404))
        self._send(found() if callable(found) else found)

    def _send(self, served: Served) -> None:
        held = {"If-None-Match": served.etag, "If-Modified-Since": served.modified}
        if any(value and self.headers.get(name) == value for name, value in held.items()):
            served = Served(status=304, etag=served.etag, modified=served.modified)
        self.send_response(served.status)
        told = {"Content-Type": served.type, "ETag": served.etag, "Last-Modified": served.modified, **served.headers}
        for name, value in told.items():
            if value:
                self.send_header(name, value)
        if served.status != 304:
            self.send_header("Content-Length", str(len(served.body) + served.cut))
        if served.cut > 0:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        if not served.pause:
            self.wfile.write(served.body)
        for at in range(0, len(served.body), 4) if served.pause else ():
            self.wfile.write(served.body[at : at + 4])
            self.wfile.flush()
            time.sleep(served.pause)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def website() -> Iterator[FakeSite]:
    """A running site without pages."""
    with FakeSite() as site:
        yield site


def network(site: FakeSite, names: Mapping[str, Sequence[str] | Iterator[Sequence[str]]]) -> Network:
    """A network of these names, each with its addresses, or with other ones each time it is asked.

    Every connection is made to the site, and noted as the one it would have been.
    """

    def resolve(host: str, port: int) -> Sequence[str]:
        found = names.get(host, ())
        return next(found) if isinstance(found, Iterator) else found

    def dial(ip: str, port: int, seconds: float) -> httpcore.NetworkStream:
        site.connected.append(f"{ip}:{port}")
        return httpcore.SyncBackend().connect_tcp("127.0.0.1", site.port, timeout=seconds)

    return Network(resolve, dial)


def page(title: str, text: str, *, head: str = "", **served: str) -> Served:
    """An article between a menu and a footer; each paragraph of its text is one of HTML."""
    words = "".join(f"<p>{escape(part)}</p>" for part in text.split("\n\n"))
    source = (
        f"<!DOCTYPE html><html><head><title>{escape(title)}</title>{head}</head><body><nav><a href='/'>Home</a>"
        f"<a href='/about'>About</a></nav><article><h1>{escape(title)}</h1>{words}</article>"
        "<footer>All rights reserved.</footer></body></html>"
    )
    return Served(source.encode(), **served)


def redirect(to: str, status: int = 302) -> Served:
    """A redirect."""
    return Served(status=status, headers={"Location": to})


def sitemap(links: Mapping[str, str]) -> Served:
    """A sitemap of these addresses, each with when it changed, or ""."""
    urls = "".join(
        f"<url><loc>{escape(url)}</loc>{f'<lastmod>{stamp}</lastmod>' if stamp else ''}</url>"
        for url, stamp in links.items()
    )
    source = f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'
    return Served(source.encode(), "application/xml")


def sitemap_index(urls: Sequence[str]) -> Served:
    """An index of sitemaps."""
    parts = "".join(f"<sitemap><loc>{escape(url)}</loc></sitemap>" for url in urls)
    source = f'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{parts}</sitemapindex>'
    return Served(source.encode(), "text/xml")


def rss(links: Sequence[str], site: str = "") -> Served:
    """An RSS 2.0 feed of these addresses."""
    items = "".join(
        f"<item><title>T</title><link>{escape(url)}</link><guid isPermaLink='false'>x</guid></item>" for url in links
    )
    source = f"<rss version='2.0'><channel><title>F</title><link>{site}</link>{items}</channel></rss>"
    return Served(source.encode(), "application/rss+xml")


def atom(links: Mapping[str, str]) -> Served:
    """An Atom feed of these addresses, each with when it changed."""
    entries = "".join(
        f"<entry><title>T</title><link rel='edit' href='/no'/><link href='{escape(url)}'/><updated>{stamp}</updated>"
        "</entry>"
        for url, stamp in links.items()
    )
    source = f"<feed xmlns='http://www.w3.org/2005/Atom'><title>F</title>{entries}</feed>"
    return Served(source.encode(), "application/atom+xml")


def packed(served: Served, encoding: str = "gzip") -> Served:
    """The same, packed; a body of millions of the same byte is a bomb."""
    raw = zlib.compressobj(wbits=-15)
    packs: dict[str, Callable[[bytes], bytes]] = {
        "gzip": gzip.compress,
        "deflate": zlib.compress,
        "raw deflate": lambda body: raw.compress(body) + raw.flush(),
    }
    said = encoding.removeprefix("raw ")
    return Served(packs[encoding](served.body), served.type, headers={"Content-Encoding": said}, etag=served.etag)


SCRIPTED = Served(
    b"<!DOCTYPE html><html><head><title>App</title><script src='/app.js'></script></head><body><div id='root'></div>"
    b"<noscript>You need to enable JavaScript to run this app.</noscript></body></html>"
)
