"""What sitemaps and feeds list, and how the pages of a site become items."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from config.settings import Settings, WebSettings
from config.sources import DeclaredSource
from pipelines.errors import SourceError
from pipelines.ingestion.sources import Access, Listing, kind_of
from pipelines.ingestion.sources.web import Web
from pipelines.ingestion.sources.web.lists import Link, is_named_as_list, read_xml_list, settled_stamp
from pipelines.store.fetch_cache import recall_fetched, remember_fetched
from pipelines.store.originals import original_path
from tests.fake_web import FakeSite, Served, atom, network, packed, page, redirect, rss, sitemap, sitemap_index, website
from tests.unit.ingestion.conftest import Listed


@pytest.fixture
def site() -> Iterator[FakeSite]:
    with website() as served:
        yield served


@pytest.fixture
def access(site: FakeSite, tmp_path: Path) -> Access:
    web = WebSettings(delay_seconds=0, timeout_seconds=10, max_bytes=50_000, private_hosts=(site.host,))
    return Access(Settings(_env_file=None, home=tmp_path, web=web), 10_000_000)


def paths(listing: Listing) -> list[str]:
    return ["/" + item.uri.split("/", 3)[3] for item in listing.items]


@pytest.mark.parametrize("location", ["http://example.org/", "HTTPS://example.org"])
def test_an_address_is_of_the_web(location: str) -> None:
    assert kind_of(location) == "web"


def test_a_page_is_listed_as_itself_and_never_says_that_it_is_all(site: FakeSite, listed: Listed) -> None:
    site.pages["/blog/a"] = page("A", "Words.")
    listing = listed("/blog/a#part")
    assert (listing.source, listing.complete, listing.problems) == (f"{site.url}/blog/a", False, ())
    (item,) = listing.items
    assert (item.uri, item.name, item.source) == (listing.source, f"{site.host}/blog/a", listing.source)
    assert site.asked_for_pages() == ["/blog/a"]


def test_a_sitemap_lists_its_pages_once_by_name_and_is_complete(site: FakeSite, listed: Listed) -> None:
    site.pages |= {f"/{name}": page(name.upper(), f"Words of {name}.") for name in "abc"}
    urls = {f"{site.url}/b": "2025-01-02", "/c": "", f"{site.url}/a": "soon", f"{site.url}/b#again": "2025-01-03"}
    site.pages["/sitemap.xml"] = sitemap(urls)
    listing = listed("/sitemap.xml")
    assert listing.complete
    assert [(item.name, item.stamp) for item in listing.items] == [
        (f"{site.host}/a", ""), (f"{site.host}/b", "2025-01-02"), (f"{site.host}/c", ""),
    ]  # fmt: skip
    assert {item.source for item in listing.items} == {listing.source} == {f"{site.url}/sitemap.xml"}


def test_an_index_of_packed_sitemaps_is_read_to_its_last_and_in_no_circle(site: FakeSite, listed: Listed) -> None:
    site.pages |= {f"/{name}": page(name.upper(), f"Words of {name}.") for name in "ab"}
    site.pages |= {
        "/index.xml": sitemap_index(["/1.xml.gz", "/more.xml", "/index.xml"]),
        "/more.xml": sitemap_index(["/2.xml", "/index.xml"]),
        "/1.xml.gz": Served(packed(sitemap({"/a": ""})).body, "application/gzip"),
        "/2.xml": sitemap({"/b": "", "/a": ""}),
    }
    listing = listed("/index.xml")
    assert (paths(listing), listing.complete) == (["/a", "/b"], True)


def test_a_sitemap_that_cannot_be_read_makes_the_listing_incomplete(site: FakeSite, listed: Listed) -> None:
    site.pages |= {"/a": page("A", "Words."), "/1.xml": sitemap({"/a": ""}), "/2.xml": Served(status=500)}
    site.pages["/index.xml"] = sitemap_index(["/1.xml", "/2.xml", "http://example.org/3.xml"])
    listing = listed("/index.xml")
    assert (paths(listing), listing.complete) == (["/a"], False)
    assert [(name, error.message.partition(": ")[0]) for name, error in listing.problems] == [
        (f"{site.host}/2.xml", f"{site.host}/2.xml answers 500."),
        ("example.org/3.xml", "example.org/3.xml is a sitemap of another site."),
    ]


def test_a_page_that_is_gone_is_left_out_and_the_listing_stays_complete(site: FakeSite, listed: Listed) -> None:
    site.pages |= {"/a": page("A", "Words."), "/b": Served(status=410), "/d": Served(status=500)}
    site.pages["/sitemap.xml"] = sitemap({"/a": "", "/b": "", "/c": "", "/d": ""})
    listing = listed("/sitemap.xml")
    assert (paths(listing), listing.complete) == (["/a", "/d"], True)
    assert set(listing.skipped) == {(f"{site.host}{path}", "it is listed, but gone") for path in ("/b", "/c")}


def test_how_far_a_list_is_looked_at_is_told_before_each_of_its_pages(site: FakeSite, listed: Listed) -> None:
    site.pages |= {"/a": page("A", "Words."), "/b": page("B", "Words."), "/sitemap.xml": sitemap({"/a": "", "/b": ""})}
    far: list[str] = []
    listed("/sitemap.xml", progress=far.append)
    start = f"{site.host}/sitemap.xml"
    assert far == [f"{start}: page {number} of 2" for number in (1, 2)]


def test_pages_of_other_sites_are_skipped_and_refused_addresses_are_problems(site: FakeSite, listed: Listed) -> None:
    site.pages |= {"/a": page("A", "Words.")}
    site.pages["/sitemap.xml"] = sitemap({"/a": "", "http://example.org/b": "", "http://ann:x@127.0.0.1/": ""})
    listing = listed("/sitemap.xml")
    assert (paths(listing), listing.skipped) == (["/a"], (("example.org/b", "it is of another site"),))
    ((name, error),) = listing.problems
    assert "name or a password" in error.message
    assert "ann" not in name + str(error)


def test_more_pages_than_are_wanted_are_a_problem_that_says_so(site: FakeSite, listed: Listed) -> None:
    site.pages |= {f"/{number}": page(str(number), f"Words of {number}.") for number in range(5)}
    site.pages["/sitemap.xml"] = sitemap({f"/{number}": "" for number in range(5)})
    location = f"{site.url}/sitemap.xml"
    listing = listed("/sitemap.xml", declared={location: DeclaredSource(location=location, most_pages=3)})
    assert (paths(listing), listing.complete) == (["/0", "/1", "/2"], False)
    assert "more than 3 pages" in listing.problems[0][1].message


def test_copies_under_one_canonical_address_are_one_page(site: FakeSite, listed: Listed) -> None:
    def canonical(path: str) -> str:
        return f"<link rel='canonical' href='{path}'>"

    site.pages |= {
        "/a": page("A", "Words.", head=canonical("/a")),
        "/a-print": page("A", "Words.", head=canonical("/a")),
        "/a?ref=x": page("A", "Words.", head=canonical("/a")),
        "/moved": redirect("/b"),
        "/b": page("B", "Other words."),
        "/c": page("C", "A mistake of its theme.", head=canonical("/a")),
    }
    site.pages["/sitemap.xml"] = sitemap(dict.fromkeys(["/a-print", "/a", "/a?ref=x", "/moved", "/b", "/c"], ""))
    listing = listed("/sitemap.xml")
    assert paths(listing) == ["/a", "/b", "/c"]
    same = {"/a-print": "/a", "/a?ref=x": "/a", "/moved": "/b"}
    assert dict(listing.skipped) == {
        f"{site.host}{path}": f"it says the same as {site.host}{other}" for path, other in same.items()
    }
    assert listing.complete


@pytest.mark.parametrize(
    "feed",
    [rss(["/a", "http://example.org/elsewhere", "/b"]), atom({"/a": "2025-01-02T10:00:00Z", "/b": "x"})],
)
def test_a_feed_lists_the_pages_of_its_site_and_is_never_complete(site: FakeSite, listed: Listed, feed: Served) -> None:
    site.pages |= {"/a": page("A", "Words."), "/b": page("B", "More words."), "/feed": feed}
    listing = listed("/feed")
    assert (paths(listing), listing.complete, listing.problems) == (["/a", "/b"], False, ())


def test_a_public_feed_does_not_lead_to_a_named_private_host(site: FakeSite, access: Access) -> None:
    site.pages |= {"/feed": rss(["http://intranet/secret", "/a"]), "/a": page("A", "Words.")}
    names = {"example.org": ["93.184.216.34"], "intranet": ["10.0.0.7"]}
    web_settings = access.settings.web.model_copy(update={"private_hosts": ("intranet",)})
    settings = access.settings.model_copy(update={"web": web_settings})
    web = Web(replace(access, settings=settings), network(site, names))
    listing = web.list("http://example.org/feed")
    web.close()
    assert paths(listing) == ["/a"]
    assert "lists the private intranet/secret" in listing.problems[0][1].message
    assert set(site.connected) == {"93.184.216.34:80"}


def test_a_private_list_that_moved_to_a_public_host_does_not_lead_back_to_a_private_one(
    site: FakeSite, access: Access
) -> None:
    site.pages |= {"/feed": redirect("http://example.org/public"), "/public": rss(["http://intranet/secret", "/a"])}
    site.pages["/a"] = page("A", "Words.")
    web_settings = access.settings.web.model_copy(update={"private_hosts": ("intranet",)})
    settings = access.settings.model_copy(update={"web": web_settings})
    web = Web(
        replace(access, settings=settings), network(site, {"example.org": ["93.184.216.34"], "intranet": ["10.0.0.7"]})
    )
    listing = web.list("http://intranet/feed")
    web.close()
    assert [item.uri for item in listing.items] == ["http://example.org/a"]
    assert "lists the private intranet/secret" in listing.problems[0][1].message
    assert "/secret" not in site.asked


def test_a_sitemap_of_an_index_that_moved_to_a_public_host_does_not_lead_back_to_a_private_one(
    site: FakeSite, access: Access
) -> None:
    site.pages["/index.xml"] = sitemap_index(["/1.xml"])
    site.pages["/1.xml"] = redirect("http://example.org/public.xml")
    site.pages["/public.xml"] = sitemap({"http://intranet/secret": ""})
    web_settings = access.settings.web.model_copy(update={"private_hosts": ("intranet",)})
    settings = access.settings.model_copy(update={"web": web_settings})
    names = {"example.org": ["93.184.216.34"], "intranet": ["10.0.0.7"]}
    web = Web(replace(access, settings=settings), network(site, names))
    listing = web.list("http://intranet/index.xml")
    web.close()
    assert listing.items == ()
    assert "example.org/public.xml lists the private intranet/secret" in listing.problems[0][1].message
    assert "/secret" not in site.asked


def test_a_sitemap_that_moved_is_asked_for_once_though_it_lists_itself(site: FakeSite, listed: Listed) -> None:
    site.pages |= {"/old.xml": redirect("/new.xml"), "/new.xml": sitemap_index(["/new.xml", "/1.xml"])}
    site.pages |= {"/1.xml": sitemap({"/a": ""}), "/a": page("A", "Words.")}
    assert paths(listed("/old.xml")) == ["/a"]
    assert site.asked_for_pages() == ["/old.xml", "/new.xml", "/1.xml", "/a"]


def test_a_sitemap_that_moved_with_its_site_lists_the_pages_where_they_are_now(site: FakeSite, access: Access) -> None:
    site.pages |= {"/sitemap.xml": redirect("http://new.example/all.xml", 301), "/a": page("A", "Words.")}
    site.pages["/all.xml"] = sitemap_index(["http://new.example/1.xml"])
    site.pages["/1.xml"] = sitemap({"http://new.example/a": "", "http://third.example/b": ""})
    web = Web(access, network(site, {f"{name}.example": ["93.184.216.34"] for name in ("old", "new")}))
    listing = web.list("http://old.example/sitemap.xml")
    web.close()
    assert ([item.uri for item in listing.items], listing.complete) == (["http://new.example/a"], True)
    assert listing.skipped == (("third.example/b", "it is of another site"),)


@pytest.mark.parametrize("kind", ["text/html; charset=utf-8", "text/plain"])
def test_a_list_is_one_whatever_type_its_server_says(site: FakeSite, listed: Listed, kind: str) -> None:
    site.pages |= {"/a": page("A", "Words."), "/sitemap.xml": replace(sitemap({"/a": ""}), type=kind)}
    site.pages["/news"] = replace(rss(["/a"]), type=kind)
    assert (paths(listed("/sitemap.xml")), paths(listed("/news"))) == (["/a"], ["/a"])


def test_a_feed_of_another_site_lists_that_site() -> None:
    found = read_xml_list(rss(["http://a.example/1", "http://b.example/2"], site="http://a.example/").body, "feed")
    assert (found.kind, found.site) == ("feed", Link("http://a.example/"))
    assert found.links == (Link("http://a.example/1"), Link("http://b.example/2"))


def test_what_the_address_is_may_be_said(site: FakeSite, listed: Listed) -> None:
    site.pages |= {"/list.txt": Served(f"{site.url}/a\nnot one\n".encode(), "text/plain"), "/a": page("A", "Words.")}
    location = f"{site.url}/list.txt"
    as_sitemap = {location: DeclaredSource(location=location, follow="sitemap")}
    assert paths(listed("/list.txt", declared=as_sitemap)) == ["/a"]
    assert paths(listed("/list.txt")) == ["/list.txt"]
    location = f"{site.url}/a"
    wrong = listed("/a", declared={location: DeclaredSource(location=location, follow="feed")})
    assert (wrong.items, wrong.complete) == ((), False)


ENTITIES = (
    b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><urlset><url><loc>&b;</loc></url></urlset>'
)
OUTSIDE = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><urlset><url><loc>&a;</loc></url></urlset>'


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (ENTITIES, "declares entities"),
        (OUTSIDE, "declares entities"),
        (OUTSIDE.decode().encode("utf-16"), "declares entities"),
        (b"<urlset><url>", "is not readable XML"),
        (b"<a>" * 5_000, "is not readable XML"),
        (b"<other/>", "neither a sitemap nor a feed"),
    ],
)
def test_hostile_and_broken_lists_are_refused(site: FakeSite, listed: Listed, body: bytes, why: str) -> None:
    site.pages["/sitemap.xml"] = Served(body, "application/xml")
    listing = listed("/sitemap.xml")
    ((_, error),) = listing.problems
    assert why in error.message
    assert (listing.items, listing.complete) == ((), False)


def test_a_page_that_became_a_feed_is_listed_as_one_from_the_next_run_on(
    site: FakeSite, access: Access, listed: Listed
) -> None:
    site.pages |= {"/x": page("X", "Words."), "/a": page("A", "Words.")}
    listed("/x")
    site.pages["/x"] = rss(["/a"])
    web = Web(access)
    (item,) = web.list(f"{site.url}/x").items
    with pytest.raises(SourceError, match="is XML, not a page"):
        web.read(item)
    web.close()
    assert paths(listed("/x")) == ["/a"]


def test_an_address_that_is_refused_is_a_problem_and_shows_no_password(access: Access) -> None:
    listing = Web(access).list("https://ann:secret@example.org/")
    ((_, error),) = listing.problems
    assert (listing.items, listing.complete) == ((), False)
    assert "secret" not in f"{listing} {error}"


def test_what_was_listed_is_read_without_asking_again_and_kept(site: FakeSite, access: Access) -> None:
    site.pages |= {"/a": page("A", "Words."), "/b": Served(status=500), "/sitemap.xml": sitemap({"/a": "", "/b": ""})}
    web = Web(access)
    first, second = web.list(f"{site.url}/sitemap.xml").items
    site.asked.clear()
    read = web.read(first)
    assert read.kept
    assert b"Words." in original_path(access.settings.home, read.sha).read_bytes()
    with pytest.raises(SourceError, match="answers 500"):
        web.read(second)
    web.close()
    assert site.asked == []


def test_the_next_run_asks_whether_pages_changed_and_not_at_all_where_the_sitemap_says(
    site: FakeSite, listed: Listed
) -> None:
    site.pages |= {"/a": page("A", "Words.", etag='"1"'), "/b": page("B", "Words.")}
    site.pages["/sitemap.xml"] = sitemap({"/a": "", "/b": "2025-01-02"})
    listed("/sitemap.xml")
    site.headers.clear()
    site.asked.clear()
    listed("/sitemap.xml")
    assert site.asked_for_pages() == ["/sitemap.xml", "/a"]
    assert site.headers[-1]["If-None-Match"] == '"1"'
    listed("/sitemap.xml", verify=True)
    assert site.asked_for_pages() == ["/sitemap.xml", "/a", "/b"]
    assert "If-None-Match" not in site.headers[-2]


@pytest.mark.parametrize(("codec", "before", "after"), [("cp1251", "куплено", "продано"), ("latin-1", "é", "è")])
def test_a_word_that_changed_is_seen_in_any_charset(
    site: FakeSite, access: Access, codec: str, before: str, after: str
) -> None:
    def kept(word: str) -> bytes:
        site.pages["/a"] = Served(page("A", word).body.decode().encode(codec), f"text/html; charset={codec}")
        web = Web(access)
        read = web.read(web.list(f"{site.url}/a").items[0])
        web.close()
        return original_path(access.settings.home, read.sha).read_bytes()

    assert before.encode(codec) in kept(before)
    assert after.encode(codec) in kept(after)


def test_copies_that_an_earlier_release_fetched_are_still_one_page(
    site: FakeSite, listed: Listed, access: Access
) -> None:
    head = "<link rel='canonical' href='/a'>"
    site.pages |= {path: page("A", "Words.", head=head, etag='"1"') for path in ("/a", "/b")}
    site.pages["/sitemap.xml"] = sitemap({"/a": "2025-01-02", "/b": ""})
    listed("/sitemap.xml")
    for uri in (f"{site.url}/a", f"{site.url}/b"):
        note = recall_fetched(access.settings.home, uri)
        assert note is not None
        more = {name: value for name, value in note.more.items() if name != "says"}
        remember_fetched(access.settings.home, replace(note, more=more))
    assert paths(listed("/sitemap.xml")) == ["/a"]


def test_a_page_that_is_redirected_is_asked_whether_it_changed_where_it_is_now(site: FakeSite, listed: Listed) -> None:
    site.pages |= {"/sitemap.xml": sitemap({"/a": ""}), "/a": redirect("/b"), "/b": page("B", "Words.", etag='"1"')}
    listed("/sitemap.xml")
    site.headers.clear()
    listed("/sitemap.xml")
    assert [headers.get("If-None-Match") for headers in site.headers[-2:]] == [None, '"1"']


def test_a_page_that_cannot_be_reached_any_more_stays_the_item_that_it_was(site: FakeSite, listed: Listed) -> None:
    site.pages["/a"] = page("A", "Words.")
    listed("/a")
    site.pages["/a"] = Served(status=500)
    assert paths(listed("/a")) == ["/a"]


def test_a_run_that_is_stopped_ends_the_listing_incomplete(site: FakeSite, listed: Listed) -> None:
    site.pages |= {"/a": page("A", "Words.")}
    stop = threading.Event()

    def stopping() -> Served:
        stop.set()
        return sitemap({"/a": ""})

    site.pages["/sitemap.xml"] = stopping
    listing = listed("/sitemap.xml", stop=stop)
    assert (listing.items, listing.complete) == ((), False)
    assert "stopped" in listing.problems[0][1].message


def test_pages_that_say_different_things_stay_under_one_canonical_address_and_one_title(
    site: FakeSite, listed: Listed
) -> None:
    names = [f"/{number}" for number in range(6)]
    head = "<link rel='canonical' href='/'>"
    site.pages |= {name: page("Our site", f"It is page {name}.", head=head) for name in names}
    site.pages["/sitemap.xml"] = sitemap(dict.fromkeys(names, ""))
    listing = listed("/sitemap.xml")
    assert (paths(listing), listing.skipped) == (names, ())


def test_a_page_is_asked_about_again_until_the_day_of_its_stamp_is_over(site: FakeSite, listed: Listed) -> None:
    today = datetime.now(UTC).date()
    site.pages |= {"/a": page("A", "Words.", etag='"1"'), "/b": page("B", "Words.", etag='"1"')}
    site.pages["/sitemap.xml"] = sitemap({"/a": today.isoformat(), "/b": (today - timedelta(days=4)).isoformat()})
    listed("/sitemap.xml")
    site.asked.clear()
    listed("/sitemap.xml")
    assert site.asked_for_pages() == ["/sitemap.xml", "/a"]


@pytest.mark.parametrize(
    ("stamp", "relied_on"),
    [
        ("2025-06-10", False),
        ("2025-06-09", False),  # it is that day still in the west
        ("2025-06-08", True),
        ("2025-06-10T00:00:00+00:00", False),
        ("2025-06-10T10:58:30Z", False),
        ("2025-06-08T23:59:59Z", True),
        ("2025-06-08T23:59:59", True),
        ("2025-05", False),
        ("2024", False),
        ("9999-12-31", False),
        ("2025-13-77", False),
        ("0000", False),
    ],
)
def test_a_stamp_is_relied_on_once_a_later_edit_would_have_another(stamp: str, relied_on: bool) -> None:
    assert settled_stamp(stamp, datetime(2025, 6, 10, 11, tzinfo=UTC)) == (stamp if relied_on else "")


@pytest.mark.parametrize(
    "path",
    [
        "/sitemap.xml",
        "/blog/feed/",
        "/posts.rss?x=1",
        "/sitemap_index.xml.gz",
        "/sitemap.txt",
        "/sitemap",
    ],
)
@pytest.mark.parametrize("kind", ["text/html", "text/plain"])
def test_a_sitemap_that_answers_something_else_never_becomes_a_page(
    site: FakeSite, listed: Listed, path: str, kind: str
) -> None:
    site.pages |= {path: Served(page("Back soon", "We are at work.").body, kind), "/a": page("A", "Words.")}
    listing = listed(path)
    assert (listing.items, listing.complete, len(listing.problems)) == ((), False, 1)
    site.pages[path] = sitemap({"/a": ""})
    assert (paths(listed(path)), listed(path).complete) == (["/a"], True)


@pytest.mark.parametrize("path", ["/blog/index.json", "/feed.json", "/news.html"])
def test_what_has_another_ending_is_no_list_by_its_name(path: str) -> None:
    assert not is_named_as_list(path)


def test_what_was_a_feed_never_becomes_a_page_unless_a_person_says_so(site: FakeSite, listed: Listed) -> None:
    site.pages |= {"/news": rss(["/a"]), "/a": page("A", "Words.")}
    assert paths(listed("/news")) == ["/a"]
    site.pages["/news"] = page("Back soon", "We are at work.")
    ((_, error),) = listed("/news").problems
    assert "returned a page where a sitemap or a feed was expected" in error.message
    location = f"{site.url}/news"
    as_page = {location: DeclaredSource(location=location, follow="page")}
    assert paths(listed("/news", declared=as_page)) == ["/news"]
    assert "file of sources" in error.hint


def test_what_a_host_that_is_not_reached_was_not_asked_for_is_one_problem(site: FakeSite, access: Access) -> None:
    names = [f"/{number}" for number in range(9)]
    site.pages |= {name: Served(b"x" * 400, "text/plain", pause=0.02) for name in names}
    site.pages |= {"/1": page("1", "Words."), "/sitemap.xml": sitemap(dict.fromkeys(names, ""))}
    web_settings = access.settings.web.model_copy(update={"timeout_seconds": 0.15, "robots": False})
    web = Web(replace(access, settings=access.settings.model_copy(update={"web": web_settings})))
    listing = web.list(f"{site.url}/sitemap.xml")
    web.close()
    assert site.asked_for_pages() == ["/sitemap.xml", "/0", "/1", "/2", "/3", "/4"]
    assert (paths(listing), listing.complete) == (["/0", "/1", "/2", "/3", "/4"], False)
    ((_, error),) = listing.problems
    assert error.message.startswith(f"{site.host}/sitemap.xml lists 4 pages that were not asked for: ")
    assert error.message.endswith(f"{site.host} took too long to answer, 3 times in a row.")


def test_addresses_that_cannot_be_fetched_are_counted_past_the_first_few(site: FakeSite, listed: Listed) -> None:
    site.pages |= {
        "/a": page("A", "Words."),
        "/sitemap.xml": sitemap({"/a": ""} | {f"ftp://x/{n}": "" for n in range(300)}),
    }
    listing = listed("/sitemap.xml")
    assert paths(listing) == ["/a"]
    assert len(listing.problems) == 11
    assert "lists 290 more addresses" in listing.problems[-1][1].message
