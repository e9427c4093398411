"""Feeds over real HTTP: what the relative links of Atom lead to."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from config.settings import Settings, WebSettings
from pipelines.errors import SourceError
from pipelines.ingestion.sources import Access, Listing
from pipelines.ingestion.sources.web import Web
from tests.fake_web import FakeSite, Served, network, page, rss, website
from tests.unit.ingestion.conftest import Listed

PUBLIC = ["93.184.216.34"]


@pytest.fixture
def site() -> Iterator[FakeSite]:
    with website() as served:
        served.pages |= {f"/{name}": page(name, f"Words of {name}.") for name in ("a", "b", "c", "blog/a", "blog/2/a")}
        yield served


@pytest.fixture
def access(site: FakeSite, tmp_path: Path) -> Access:
    web = WebSettings(delay_seconds=0, timeout_seconds=10, robots=False, private_hosts=(site.host,))
    return Access(Settings(_env_file=None, home=tmp_path, web=web), 10_000_000)


def paths(listing: Listing) -> list[str]:
    return ["/" + item.uri.split("/", 3)[3] for item in listing.items]


def problem(listing: Listing) -> SourceError:
    ((_, error),) = listing.problems
    return error


ATOM = "<feed xmlns='http://www.w3.org/2005/Atom' {base}>{entries}</feed>"


def atom_of(entries: str, base: str = "") -> Served:
    return Served(ATOM.format(base=base and f"xml:base='{base}'", entries=entries).encode(), "application/atom+xml")


def entry(href: str, *, base: str = "", link_base: str = "") -> str:
    bases = [f"xml:base='{one}'" if one else "" for one in (base, link_base)]
    return f"<entry {bases[0]}><link rel='alternate' {bases[1]} href='{href}'/></entry>"


@pytest.mark.parametrize(
    ("feed", "found"),
    [
        (atom_of(entry("a")), "/news/a"),
        (atom_of(entry("a"), base="/blog/"), "/blog/a"),
        (atom_of(entry("a"), base="../blog/x"), "/blog/a"),
        (atom_of(entry("a", base="2/"), base="/blog/"), "/blog/2/a"),
        (atom_of(entry("a", base="./", link_base="2/"), base="/blog/"), "/blog/2/a"),
        (atom_of(entry("a", base="/blog/"), base="http://example.org/elsewhere/"), "http://example.org/blog/a"),
        (atom_of(entry("/a", base="2/"), base="/blog/"), "/a"),
        (atom_of(entry("{site}/a"), base="http://example.org/"), "/a"),
        (atom_of(entry("a", base="{site}/blog/"), base="mailto:ann@example.org"), "/blog/a"),
        (atom_of(entry("{site}/a"), base="mailto:ann@example.org"), "/a"),
        (atom_of(entry("a") + "<link xml:base='c/' href='x'/>"), "/news/a"),
    ],
)
def test_relative_links_of_atom_are_relative_to_the_nearest_base(
    site: FakeSite, access: Access, feed: Served, found: str
) -> None:
    site.pages["/news/feed"] = replace(feed, body=feed.body.replace(b"{site}", site.url.encode()))
    site.pages["/news/a"] = page("A", "Words.")
    web = Web(access, network(site, {"example.org": PUBLIC}))
    listing = web.list(f"{site.url}/news/feed")
    web.close()
    assert ([item.uri.removeprefix(site.url) for item in listing.items], listing.problems) == ([found], ())


@pytest.mark.parametrize(
    ("base", "why"),
    [
        ("file:///etc/", "has the scheme file; only http and https are fetched"),
        ("mailto:ann@example.org", "has the scheme mailto"),
        ("http://ann:secret@example.org/", "contains a user name or a password"),
        ("http://10.0.0.7:9999/", "has port 9999"),
        ("//[/", "is not a URL"),
        ("http://example.org/&#x202f;&#xa0;/", "invisible characters"),
    ],
)
@pytest.mark.parametrize("where", ["feed", "entry", "link"])
def test_a_base_that_is_not_fetched_leads_nowhere(
    site: FakeSite, listed: Listed, base: str, why: str, where: str
) -> None:
    based = {
        "feed": atom_of(entry("a"), base=base),
        "entry": atom_of(entry("a", base=base)),
        "link": atom_of(entry("a", link_base=base)),
    }
    site.pages["/feed"] = based[where]
    listing = listed("/feed")
    assert (listing.items, site.asked_for_pages()) == ((), ["/feed"])
    assert why in problem(listing).message
    assert "secret" not in str(problem(listing))


def test_a_base_of_a_public_feed_does_not_lead_to_a_named_private_host(site: FakeSite, access: Access) -> None:
    site.pages["/feed"] = atom_of(entry("b") + entry("/a", base="http://example.org/"), base=f"{site.url}/blog/")
    web = Web(access, network(site, {"example.org": PUBLIC}))
    listing = web.list("http://example.org/feed")
    web.close()
    assert paths(listing) == ["/a"]
    assert f"lists the private {site.host}/blog/b" in problem(listing).message


def test_a_base_is_refused_when_its_host_leads_to_a_private_address(site: FakeSite, access: Access) -> None:
    site.pages["/feed"] = atom_of(entry("a"), base="http://inside.example/")
    web = Web(access, network(site, {"example.org": PUBLIC, "inside.example": ["10.0.0.7"]}))
    listing = web.list("http://example.org/feed")
    (item,) = listing.items
    with pytest.raises(SourceError, match=r"leads to 10\.0\.0\.7, which is not an address of the public internet"):
        web.read(item)
    web.close()
    assert site.connected == ["93.184.216.34:80"]


def test_the_site_that_an_atom_feed_is_of_is_told_by_its_base(site: FakeSite, access: Access) -> None:
    entries = entry("http://my.example/a") + entry("http://one.example/b") + "<link href='./'/>"
    site.pages["/feed"] = atom_of(entries, base="http://my.example/blog/")
    web = Web(access, network(site, dict.fromkeys(("feeds.example", "my.example", "one.example"), PUBLIC)))
    listing = web.list("http://feeds.example/feed")
    web.close()
    assert [item.name for item in listing.items] == ["my.example/a"]
    assert listing.skipped == (("one.example/b", "it is of another site"),)


def test_relative_links_of_rss_are_relative_to_the_feed(site: FakeSite, listed: Listed) -> None:
    feed = rss(["a", "../b"])
    based = feed.body.replace(b"<rss ", b"<rss xml:base='http://example.org/' ")
    site.pages["/blog/feed"] = replace(feed, body=based)
    assert paths(listed("/blog/feed")) == ["/b", "/blog/a"]
