"""Feeds over real HTTP: those in JSON, and what the relative links of Atom lead to."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from config.settings import Settings, WebSettings
from config.sources import DeclaredSource
from pipelines.errors import SourceError
from pipelines.ingestion.sources import Access, Listing
from pipelines.ingestion.sources.web import Web
from pipelines.ingestion.sources.web.lists import Link, read_json_feed
from pipelines.ingestion.sources.web.responses import sniffed_type
from tests.fake_web import FakeSite, Served, json_feed, network, page, rss, website
from tests.linear import assert_linear
from tests.unit.ingestion.conftest import Listed

PUBLIC = ["93.184.216.34"]
VERSION = "https://jsonfeed.org/version/1.1"


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


def test_a_json_feed_lists_the_pages_of_its_site_and_is_never_complete(site: FakeSite, listed: Listed) -> None:
    elsewhere = {"id": "3", "url": "http://example.org/elsewhere"}
    site.pages["/feed"] = json_feed([{"id": "1", "url": f"{site.url}/b"}, {"id": "2", "url": "/a"}, elsewhere])
    listing = listed("/feed")
    assert (paths(listing), listing.complete, listing.problems) == (["/a", "/b"], False, ())
    assert listing.skipped == (("example.org/elsewhere", "it is of another site"),)


@pytest.mark.parametrize(
    "kind",
    ["application/feed+json; charset=utf-8", "application/json", "text/plain", "text/html", "", "binary/octet-stream"],
)
@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"version": VERSION, "items": [{"url": "/a"}]}),
        '\ufeff{"items": [{"url": "\\/a"}], "version" : "https:\\/\\/jsonfeed.org\\/version\\/1"}\n',
    ],
)
def test_a_json_feed_is_one_whatever_type_its_server_says(site: FakeSite, listed: Listed, kind: str, body: str) -> None:
    site.pages["/news"] = Served(body.encode(), kind)
    assert paths(listed("/news")) == ["/a"]


def test_other_json_is_not_read(site: FakeSite, listed: Listed) -> None:
    site.pages["/data"] = Served(json.dumps({"items": [{"url": "/a"}], "version": "1.1"}).encode(), "application/json")
    web = listed("/data")
    assert paths(web) == ["/data"]  # a page that fails
    location = f"{site.url}/data"
    as_feed = {location: DeclaredSource(location=location, follow="feed")}
    assert "is of the type application/json, which is not read" in problem(listed("/data", declared=as_feed)).message


@pytest.mark.parametrize(
    ("item", "link"),
    [
        ({"id": "http://a.example/1", "url": "http://a.example/2"}, Link("http://a.example/2")),
        ({"id": "x", "url": " /2 ", "external_url": "http://b.example/"}, Link("/2")),
        ({"id": "http://a.example/1", "external_url": "http://b.example/"}, Link("http://a.example/1")),
        ({"id": 7, "url": None, "external_url": "http://b.example/"}, Link("http://b.example/")),
        ({"url": "/2", "date_published": "2025-01-01T10:00:00Z"}, Link("/2")),
        ({"url": "/2", "date_modified": "2025-01-02T10:00:00Z"}, Link("/2", "2025-01-02T10:00:00Z")),
        ({"url": "/2", "date_modified": 1735689600}, Link("/2")),
    ],
)
def test_an_item_is_the_page_that_it_stands_for_with_when_that_changed(item: dict[str, object], link: Link) -> None:
    assert read_json_feed(json_feed([{"id": "only"}, item]).body, "feed").links == (link,)


def test_links_to_other_sites_are_taken_of_a_feed_that_has_no_pages_of_its_own(site: FakeSite, access: Access) -> None:
    items = [{"id": "1", "external_url": "http://one.example/a"}, {"id": "2", "external_url": "http://two.example/b"}]
    site.pages |= {"/links": json_feed(items), "/mixed": json_feed([*items, {"id": "3", "url": "/c"}])}
    web = Web(access, network(site, {f"{name}.example": PUBLIC for name in ("my", "one", "two")}))
    links, mixed = (web.list(f"http://my.example/{name}") for name in ("links", "mixed"))
    web.close()
    assert [item.name for item in links.items] == ["one.example/a", "two.example/b"]
    assert [item.name for item in mixed.items] == ["my.example/c"]
    assert {each.name for each in mixed.skipped} == {"one.example/a", "two.example/b"}


def test_a_json_feed_of_another_host_lists_the_site_that_it_names(site: FakeSite, access: Access) -> None:
    items = [{"url": "http://www.my.example/a"}, {"url": "http://one.example/b"}]
    site.pages["/feed"] = json_feed(items, home_page_url="http://my.example/")
    web = Web(access, network(site, dict.fromkeys(("feeds.example", "my.example", "www.my.example"), PUBLIC)))
    listing = web.list("http://feeds.example/feed")
    web.close()
    assert [item.name for item in listing.items] == ["www.my.example/a"]
    assert listing.skipped == (("one.example/b", "it is of another site"),)


def test_a_page_whose_item_says_that_it_did_not_change_is_not_asked_for_again(site: FakeSite, listed: Listed) -> None:
    written = {"date_published": "2025-01-01T10:00:00Z"}
    items = [{"url": "/a", "date_modified": "2025-01-02T10:00:00+02:00"}, {"url": "/b", **written}]
    site.pages["/feed.json"] = json_feed(items)
    listed("/feed.json")
    site.asked.clear()
    listed("/feed.json")
    assert site.asked == ["/feed.json", "/b"]
    site.pages["/feed.json"] = json_feed([{"url": "/a", "date_modified": "2025-01-03T10:00:00Z"}])
    listed("/feed.json")
    assert site.asked[2:] == ["/feed.json", "/a"]


def test_older_entries_of_a_json_feed_are_left_as_those_of_other_feeds_are(site: FakeSite, listed: Listed) -> None:
    site.pages |= {"/feed": json_feed([{"url": "/a"}], next_url="/older"), "/older": json_feed([{"url": "/b"}])}
    listing = listed("/feed")
    assert (site.asked, paths(listing), listing.complete) == (["/feed", "/a"], ["/a"], False)


def test_more_items_than_are_wanted_are_a_problem_that_says_so(site: FakeSite, listed: Listed) -> None:
    site.pages["/feed"] = json_feed([{"url": f"/{name}"} for name in "abc"])
    location = f"{site.url}/feed"
    listing = listed("/feed", declared={location: DeclaredSource(location=location, most_pages=2)})
    assert paths(listing) == ["/a", "/b"]
    assert "more than 2 pages" in problem(listing).message


def feed_of(items: str, rest: str = "") -> str:
    return f'{{"version": "{VERSION}", "items": {items}{rest}}}'


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("[" * 200_000, "it is nested too deeply"),
        (feed_of('[{"a":' * 50_000), "it is nested too deeply"),
        (feed_of("[")[:-1], "it is no JSON"),
        (feed_of("[" + "9" * 5_000 + "]"), "it is no JSON"),
        ("\xff\xfe{", "it is no JSON"),
        ("", "it is no JSON"),
        ("[]", "its version is neither 1 nor 1.1"),
        ('{"items": []}', "its version is neither 1 nor 1.1"),
        ('{"version": "https://jsonfeed.org/version/2", "items": []}', "its version is neither 1 nor 1.1"),
        ('{"version": 1.1, "items": []}', "a `version` in it is not text"),
        (feed_of("{}"), "it has no list of items"),
        (feed_of("null"), "it has no list of items"),
        (feed_of('["/a"]'), "one of its items is no object"),
        (feed_of('[{"url": "/a"}, {"url": ["/b"]}]'), "a `url` in it is not text"),
        (feed_of('[{"url": "/a", "external_url": 5}]'), "a `external_url` in it is not text"),
        (feed_of("[]", ', "home_page_url": {}'), "a `home_page_url` in it is not text"),
    ],
)  # fmt: skip
def test_hostile_and_broken_json_is_an_error_of_the_source(site: FakeSite, listed: Listed, body: str, why: str) -> None:
    site.pages["/feed.json"] = Served(body.encode("latin-1"), "application/feed+json")
    listing = listed("/feed.json")
    assert (listing.items, listing.complete) == ((), False)
    assert problem(listing).message == f"{site.host}/feed.json is not a readable JSON Feed: {why}."


def test_addresses_of_a_json_feed_are_judged_like_any_other(site: FakeSite, listed: Listed) -> None:
    refused = [
        "file:///etc/passwd",
        "javascript:x()",
        "http://ann:x@example.org/",
        "/\ud800",
        "/a\u0000b",
        "http://127.0.0.1:1/",
    ]
    site.pages["/feed"] = json_feed([{"url": url} for url in (*refused, "/a")])
    listing = listed("/feed")
    assert (paths(listing), len(listing.problems)) == (["/a"], len(refused))


def test_a_public_json_feed_does_not_lead_to_a_named_private_host(site: FakeSite, access: Access) -> None:
    site.pages["/feed"] = json_feed([{"url": f"{site.url}/b"}, {"url": "/a"}])
    web = Web(access, network(site, {"example.org": PUBLIC}))
    listing = web.list("http://example.org/feed")
    web.close()
    assert paths(listing) == ["/a"]
    assert f"lists the private {site.host}/b" in problem(listing).message


def test_a_page_that_became_a_json_feed_is_no_page(site: FakeSite, access: Access, listed: Listed) -> None:
    listed("/a")
    site.pages["/a"] = json_feed([{"url": "/b"}])
    web = Web(access)
    (item,) = web.list(f"{site.url}/a").items
    with pytest.raises(SourceError, match="is a JSON Feed, not a page"):
        web.read(item)
    web.close()
    assert paths(listed("/a")) == ["/b"]


def test_telling_a_json_feed_takes_linear_time() -> None:
    assert_linear(lambda size: sniffed_type(b'{"version":' * size, "/x.txt", "x"), 100_000)


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
